// TransformTest: programs as text, and what the transforms of src/transform make of them: as text, as the primitives in
// it, and as values on `ref`.
#ifndef RICCI_TESTS_TRANSFORM_TRANSFORM_FIXTURE_H_
#define RICCI_TESTS_TRANSFORM_TRANSFORM_FIXTURE_H_
#include <functional>

#include "base/status_abi.h"
#include "ir/print.h"
#include "support/program_runner.h"
#include "trace/attrs.h"
#include "transform/rules.h"

namespace ricci::testing {

using transform::Mask;

// What a transform has made; the test fails with the message of an error.
template <typename T>
T Get(absl::StatusOr<T> made) {
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *std::move(made) : T{};
}
// The message of the error that a transform must end with.
template <typename T>
std::string ErrorOf(const absl::StatusOr<T>& made, absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
  EXPECT_EQ(made.status().code(), code) << made.status();
  return std::string(made.status().message());
}

class TransformTest : public ::testing::Test {
 protected:
  ir::ProgramRef Parse(std::string_view text) { return ir::ProgramRef(ir::FromAbi(r.Parse(text).get())); }
  // In the form of a raw string that begins with a line break.
  static std::string Text(const ir::ProgramRef& p) {
    std::string text = "\n" + ir::Print(*p);
    text.pop_back();
    return text;
  }
  // The primitives of the equations in order, without those of nested programs: "sin mul".
  static std::string Prims(const ir::ProgramRef& p) {
    std::string text;
    for (const ir::Equation& eqn : p->equations) {
      text += (text.empty() ? "" : " ") + p->vocabulary()->PrimName(eqn.prim);
    }
    return text;
  }
  std::vector<Numbers> Run(const ir::ProgramRef& p, const std::vector<Numbers>& args) {
    return r.Run(Program(ricci_program_retain(ir::Abi(p.get()))), args);
  }
  prim::Registry& registry() { return prim::Registry::Of(*Parse("program none() { return }")); }

  // A row of any number of operands whose one result has the type of operand 0, with what `change` sets.
  ir::PrimId AddRow(std::string_view name, const std::function<void(ricci_prim_def&)>& change = {}) {
    ricci_prim_def def{};
    def.hdr.size = sizeof def;
    def.name = {name.data(), name.size()};
    def.abstract_eval = [](void*, ricci_builder* b, const ricci_op* op) {
      return ricci_builder_set_out_types(b, op->in_types, 1);
    };
    if (change) change(def);
    ir::PrimId id = 0;
    EXPECT_TRUE(Ok(ricci_prim_register(r.ctx(), &def, &id)));
    return id;
  }
  std::unique_ptr<trace::Builder> New(std::span<const ir::TypeId> params, std::string_view name = "f") {
    return Get(trace::Builder::Create(registry(), name, params));
  }
  // The program `f` applied `n` times, each time by an equation `call` that holds `f` itself; f: one type to itself.
  ir::ProgramRef Calls(const ir::ProgramRef& f, int n) {
    auto b = New({f->param_types.data(), 1}, "calls");
    trace::Val v = b->param(0);
    for (int i = 0; i < n; ++i) {
      ricci_program* slot;
      const ricci_attr body = trace::ProgramAttr("body", *f, slot);
      v = Get(b->Emit1("call", {&body, 1}, {&v, 1}));
    }
    return Get(b->Finish({&v, 1}));
  }
  // `n` equations `prim` in a row, on f32[].
  ir::ProgramRef Chain(std::string_view prim, int n) {
    const ir::TypeId type = Get(registry().vocabulary().types.Intern(RICCI_F32, {}));
    auto b = New({&type, 1}, "chain");
    trace::Val v = b->param(0);
    for (int i = 0; i < n; ++i) v = Get(b->Emit1(prim, {}, {&v, 1}));
    return Get(b->Finish({&v, 1}));
  }
  // The program that equation `e` holds as `name`.
  static const ir::Program* Held(const ir::ProgramRef& f, size_t e, std::string_view name = "body") {
    return &trace::ProgramOf(f->equations[e].attrs, name);
  }
  uint64_t Uses(std::string_view prim, prim::Rule rule) {
    return registry().Uses(registry().vocabulary().FindPrim(prim), rule);
  }

  ProgramRunner r;
};

}  // namespace ricci::testing
#endif
