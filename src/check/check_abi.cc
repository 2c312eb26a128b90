// ricci/check.h: examples are turned into programs of one equation, and the laws are run on them.
#include "ricci/check.h"

#include "api/arguments.h"
#include "check/law_checks.h"
#include "ir/program.h"

using namespace ricci;
using api::Arguments;
using api::Border;

namespace {

// The first status that is an error, with what it is about in front.
absl::Status About(std::string_view what, const absl::Status& s) {
  if (s.ok()) return s;
  return absl::Status(s.code(), base::Cat(what, ": ", std::string_view(s.message().data(), s.message().size())));
}

absl::StatusOr<check::Program> OneEquation(ricci_ctx* c, ricci_prim prim, const ricci_check_example& e) {
  std::vector<ricci_type> types;
  for (uint32_t i = 0; i < e.n_operands; ++i) types.push_back(e.operands[i].type);
  std::vector<ricci_val> params(types.size());
  ricci_builder* b = nullptr;
  RICCI_TRY(base::FromAbi(
      ricci_builder_create(c, "checked", 7, types.data(), static_cast<uint32_t>(types.size()), &b, params.data())));
  std::unique_ptr<ricci_builder, void (*)(ricci_builder*)> guard(b, ricci_builder_abandon);
  uint32_t n = 0;
  const auto n_in = static_cast<uint32_t>(params.size());
  RICCI_TRY(base::FromAbi(ricci_builder_infer(b, prim, e.attrs, e.n_attrs, params.data(), n_in, nullptr, 0, &n)));
  std::vector<ricci_val> results(n);
  RICCI_TRY(base::FromAbi(ricci_builder_emit(b, prim, e.attrs, e.n_attrs, params.data(), n_in, results.data(), n)));
  ricci_program* p = nullptr;
  RICCI_TRY(base::FromAbi(ricci_builder_finish(b, results.data(), n, &p)));
  (void)guard.release();
  return check::Own(p);
}

}  // namespace

extern "C" {

ricci_status* ricci_check_primitive(ricci_ctx* c, const char* name, size_t len, const ricci_check_example* examples,
                                    uint32_t n, uint64_t* laws) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"c", c}, {"name", name}}));
    RICCI_TRY(args.Array("examples", examples, n));
    if (n == 0) return args.Wrong("n is 0; a primitive without examples is not checked");
    ricci_prim prim = 0;
    RICCI_TRY(base::FromAbi(ricci_prim_find(c, name, len, &prim)));
    uint64_t count = 0;
    for (uint32_t i = 0; i < n; ++i) {
      RICCI_TRY(args.Array("operands", examples[i].operands, examples[i].n_operands));
      RICCI_TRY(args.Array("attrs", examples[i].attrs, examples[i].n_attrs));
      const std::string what = base::Cat(api::View(name, len), ": example ", i);
      absl::StatusOr<check::Program> f = OneEquation(c, prim, examples[i]);
      RICCI_TRY(About(what, f.status()));
      RICCI_TRY(About(what, check::CheckLaws(c, *f, examples[i], &count)));
    }
    if (laws != nullptr) *laws = count;
    return absl::OkStatus();
  });
}

ricci_status* ricci_check_program(const ricci_program* f, const ricci_check_example* example, uint64_t* laws) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"example", example}}));
    const ir::Program& p = *ir::FromAbi(f);
    RICCI_TRY(args.Count("n_operands", example->n_operands, p.n_params(), "one per parameter"));
    RICCI_TRY(args.Array("operands", example->operands, example->n_operands));
    uint64_t count = 0;
    const check::Program owned = check::Own(ricci_program_retain(const_cast<ricci_program*>(f)));
    RICCI_TRY(About(p.name, check::CheckLaws(p.vocabulary()->abi, owned, *example, &count)));
    if (laws != nullptr) *laws = count;
    return absl::OkStatus();
  });
}
}
