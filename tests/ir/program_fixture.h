// A registry with three made-up primitives, and programs as text, for the tests of text, hash and verifier.
//
// The rows accept anything, so that every kind of attribute, result count and nesting can be written.
#ifndef RICCI_TESTS_IR_PROGRAM_FIXTURE_H_
#define RICCI_TESTS_IR_PROGRAM_FIXTURE_H_
#include <cstdlib>

#include "base/status_abi.h"
#include "gtest/gtest.h"
#include "trace/parse_program.h"

namespace ricci { inline namespace v0 { namespace testing {

// Lives as long as programs need it: the owner of the vocabulary.
class Owner final : public base::Shared {
 public:
  Owner() : registry(&memory, this, nullptr) {}
  base::HostMemory memory = {nullptr, [](void*, size_t size, size_t) { return std::malloc(size); },
                             [](void*, void* p, size_t, size_t) { std::free(p); }};
  prim::Registry registry;
};

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() : owner_(base::Ref<Owner>::Adopt(new Owner)) {
    Add("mix", SameAsFirst,
        {{"n", RICCI_ATTR_INT},
         {"eps", RICCI_ATTR_FLOAT},
         {"flag", RICCI_ATTR_BOOL},
         {"new_dtype", RICCI_ATTR_DTYPE},
         {"mode", RICCI_ATTR_STRING},
         {"axes", RICCI_ATTR_INTS},
         {"weights", RICCI_ATTR_FLOATS},
         {"body", RICCI_ATTR_PROGRAM},
         {"branches", RICCI_ATTR_PROGRAMS}});
    Add("mix-two.parts", Twice, {});
    Add("note", Nothing, {{"text", RICCI_ATTR_STRING}});
  }

  prim::Registry& registry() { return owner_->registry; }
  absl::StatusOr<ir::ProgramRef> TryParse(std::string_view text, std::string_view origin = "t") {
    return trace::ParseProgram(registry(), text, origin);
  }
  ir::ProgramRef Parse(std::string_view text) {
    auto p = TryParse(text);
    EXPECT_TRUE(p.ok()) << p.status();
    return p.ok() ? *p : ir::ProgramRef();
  }
  std::string ErrorOf(std::string_view text) { return std::string(TryParse(text).status().message()); }

 private:
  static ricci_status* Set(ricci_builder* b, const ricci_op* op, uint32_t copies) {
    const std::vector<ir::TypeId> types(copies, copies == 0 ? 0 : op->in_types[0]);
    return base::ToAbi(trace::FromAbi(b)->SetOutTypes(types));
  }
  static ricci_status* SameAsFirst(void*, ricci_builder* b, const ricci_op* op) { return Set(b, op, op->n_in != 0); }
  static ricci_status* Twice(void*, ricci_builder* b, const ricci_op* op) { return Set(b, op, op->n_in != 0 ? 2 : 0); }
  static ricci_status* Nothing(void*, ricci_builder* b, const ricci_op* op) { return Set(b, op, 0); }

  void Add(std::string_view name, decltype(ricci_prim_def::abstract_eval) eval,
           std::vector<std::pair<std::string_view, uint32_t>> attrs) {
    std::vector<ricci_attr_spec> specs;
    for (const auto& [attr, kind] : attrs) specs.push_back({{attr.data(), attr.size()}, kind, RICCI_ATTR_OPTIONAL});
    ricci_prim_def def{};
    def.hdr.size = sizeof def;
    def.name = {name.data(), name.size()};
    def.abstract_eval = eval;
    def.attr_specs = specs.data();
    def.n_attr_specs = static_cast<uint32_t>(specs.size());
    ASSERT_TRUE(registry().Add(def).ok());
  }

  base::Ref<Owner> owner_;
};

}}}  // namespace ricci::v0::testing
#endif
