// ricci/debug.h: what is wrong with a program.
#include "ricci/debug.h"

#include "api/arguments.h"
#include "pass/reduce/program_reduction.h"
#include "runtime/fault/finite_check.h"

using namespace ricci;
using api::Arguments;
using api::Border;

namespace {

absl::Status CheckArray(Arguments args, uint32_t i, ricci_array* a, const ir::Program& f, runtime::Context* context) {
  RICCI_TRY(args.NotNull({{"in[i]", a}}));
  const runtime::Array& array = *runtime::FromAbi(a);
  if (array.device()->context != context) return args.Wrong("in[", i, "] and f belong to different contexts");
  if (array.type_id() == f.param_types[i]) return absl::OkStatus();
  return args.Wrong("in[", i, "] is ", ToText(array.type()), ", parameter ", i, " of program ", f.name, " is ",
                    ToText(f.type(i)));
}

}  // namespace

extern "C" {

ricci_status* ricci_check_finite(const ricci_program* f, ricci_device* d, ricci_array* const* in, uint32_t n_in) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}}));
    RICCI_TRY(args.Array("in", in, n_in));
    const ir::Program& program = *ir::FromAbi(f);
    runtime::Context* context = runtime::FromAbi(program.vocabulary()->abi);
    runtime::Device* device = d == nullptr ? context->device(0) : runtime::FromAbi(d);
    if (device->context != context) return args.Wrong("f and d belong to different contexts");
    RICCI_TRY(args.Count("n_in", n_in, program.n_params(), "one per parameter"));
    for (uint32_t i = 0; i < n_in; ++i) RICCI_TRY(CheckArray(args, i, in[i], program, context));
    return runtime::CheckFinite(program, device, {in, n_in});
  });
}

ricci_status* ricci_program_reduce(const ricci_program* f, const ricci_reduction* how, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"how", how}, {"out", out}}));
    RICCI_ASSIGN(const ricci_reduction r, base::ReadStruct(how, "reduction"));
    RICCI_TRY(args.NotNull({{"how->fails", reinterpret_cast<const void*>(r.fails)}}));
    const auto fails = [&](const ir::Program& p) { return r.fails(r.self, ir::Abi(&p)) != 0; };
    const ir::Program& program = *ir::FromAbi(f);
    if (!fails(program)) {
      return absl::FailedPreconditionError(base::Cat("reduce: program ", program.name, " does not fail"));
    }
    *out = ir::Abi(pass::Reduce(ir::ProgramRef(&program), fails, {r.tries, r.seconds}).Detach());
    return absl::OkStatus();
  });
}
}
