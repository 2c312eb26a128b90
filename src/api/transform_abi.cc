// ricci/transform.h: programs from programs.
#include "ricci/transform.h"

#include "api/arguments.h"
#include "transform/dead_code.h"
#include "transform/grad.h"
#include "transform/jvp.h"
#include "transform/partial_eval.h"
#include "transform/remat.h"
#include "transform/transpose.h"
#include "transform/vmap.h"

using namespace ricci;
using api::Arguments;
using api::Border;
using api::Span;
using api::View;
using ir::FromAbi;
using transform::Mask;

namespace {

// A mask of the host; NULL means that all `n` entries are `missing`.
Mask CopyMask(const uint8_t* mask, uint32_t n, uint8_t missing) {
  return mask == nullptr ? Mask(n, missing) : Mask(mask, mask + n);
}

absl::Status PerParam(Arguments args, const char* name, const void* mask, uint32_t n, const ricci_program* f) {
  RICCI_TRY(args.Count("n", n, FromAbi(f)->n_params(), "one per parameter"));
  return args.Array(name, mask, n);
}

absl::Status Give(absl::StatusOr<ir::ProgramRef> made, ricci_program** out) {
  RICCI_ASSIGN(ir::ProgramRef program, std::move(made));
  *out = ir::Abi(program.Detach());
  return absl::OkStatus();
}

}  // namespace

extern "C" {

ricci_status* ricci_grad(const ricci_program* f, const uint32_t* argnums, uint32_t n, uint32_t with_value,
                         ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    RICCI_TRY(args.Array("argnums", argnums, n));
    return Give(transform::Grad(*FromAbi(f), Span(argnums, n), with_value != 0), out);
  });
}

ricci_status* ricci_jvp(const ricci_program* f, const uint8_t* active, uint32_t n, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    RICCI_TRY(PerParam(args, "active", active, n, f));
    const Mask all(FromAbi(f)->n_results(), 1);
    RICCI_ASSIGN(auto made, transform::Jvp(*FromAbi(f), Span(active, n), all));
    return Give(std::move(made.program), out);
  });
}

ricci_status* ricci_jvp_sparse(const ricci_program* f, const uint8_t* active, uint32_t n, uint8_t* out_nonzero,
                               ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    RICCI_TRY(PerParam(args, "active", active, n, f));
    RICCI_TRY(args.Array("out_nonzero", out_nonzero, FromAbi(f)->n_results()));
    RICCI_ASSIGN(auto made, transform::Jvp(*FromAbi(f), Span(active, n), Span(out_nonzero, FromAbi(f)->n_results())));
    std::copy(made.nonzero.begin(), made.nonzero.end(), out_nonzero);
    return Give(std::move(made.program), out);
  });
}

ricci_status* ricci_vjp(const ricci_program* f, const uint8_t* wanted, uint32_t n, ricci_program** fwd,
                        ricci_program** bwd) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"fwd", fwd}, {"bwd", bwd}}));
    RICCI_TRY(PerParam(args, "wanted", wanted, n, f));
    RICCI_ASSIGN(auto made, transform::Vjp(*FromAbi(f), Span(wanted, n)));
    *fwd = ir::Abi(made.fwd.Detach());
    *bwd = ir::Abi(made.bwd.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_partial_eval(const ricci_program* f, const uint8_t* known, uint32_t n,
                                 const ricci_partial_eval_opts* o, uint8_t* out_known, uint32_t* n_residuals,
                                 ricci_program** known_out, ricci_program** unknown_out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(
        args.NotNull({{"f", f}, {"n_residuals", n_residuals}, {"known_out", known_out}, {"unknown_out", unknown_out}}));
    RICCI_TRY(PerParam(args, "known", known, n, f));
    RICCI_TRY(args.Array("out_known", out_known, FromAbi(f)->n_results()));
    RICCI_ASSIGN(const ricci_partial_eval_opts given,
                 api::ReadOptions(o, ricci_partial_eval_opts_default(), "partial_eval options",
                                  {RICCI_FLAG(RICCI_PARTIAL_EVAL_APART)}));
    RICCI_TRY(args.Array("policy", given.policy.ptr, given.policy.len));
    const Mask force = CopyMask(given.force_unknown, FromAbi(f)->n_results(), 0);
    const std::string_view policy = given.policy.len == 0 ? "everything" : View(given.policy);
    const bool apart = (given.hdr.flags & RICCI_PARTIAL_EVAL_APART) != 0;
    RICCI_ASSIGN(auto made, transform::PartialEval(*FromAbi(f), Span(known, n), force, {policy, apart}));
    std::copy(made.out_known.begin(), made.out_known.end(), out_known);
    *n_residuals = made.n_residuals;
    *known_out = ir::Abi(made.known.Detach());
    *unknown_out = ir::Abi(made.unknown.Detach());
    return absl::OkStatus();
  });
}

ricci_status* ricci_linear_transpose(const ricci_program* f, const uint8_t* linear, uint32_t n,
                                     const uint8_t* ct_nonzero, uint8_t* in_nonzero, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    RICCI_TRY(PerParam(args, "linear", linear, n, f));
    const Mask cts = CopyMask(ct_nonzero, FromAbi(f)->n_results(), 1);
    RICCI_ASSIGN(auto made,
                 transform::Transpose(*FromAbi(f), Span(linear, n), cts, /*instantiate=*/in_nonzero == nullptr));
    if (in_nonzero != nullptr) std::copy(made.nonzero.begin(), made.nonzero.end(), in_nonzero);
    return Give(std::move(made.program), out);
  });
}

ricci_status* ricci_vmap(const ricci_program* f, const int32_t* in_axes, uint32_t n_in, const int32_t* out_axes,
                         uint32_t n_out, int64_t size, const ricci_vmap_opts* options, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    RICCI_TRY(args.Count("n_in", n_in, FromAbi(f)->n_params(), "one per parameter"));
    RICCI_TRY(args.Count("n_out", n_out, FromAbi(f)->n_results(), "one per result"));
    RICCI_TRY(args.Array("in_axes", in_axes, n_in));
    RICCI_TRY(args.Array("out_axes", out_axes, n_out));
    RICCI_ASSIGN(const ricci_vmap_opts given, api::ReadOptions(options, ricci_vmap_opts_default(), "vmap options"));
    RICCI_TRY(args.Array("axis_name", given.axis_name.ptr, given.axis_name.len));
    if (given.schedule >= std::size(transform::kScheduleNames)) {
      return args.Wrong(base::Cat("schedule ", given.schedule, " is not one of RICCI_SCHEDULE_AUTO, BATCHED, LANES"));
    }
    return Give(transform::Vmap(*FromAbi(f), Span(in_axes, n_in), Span(out_axes, n_out), size, View(given.axis_name),
                                static_cast<transform::Schedule>(given.schedule)),
                out);
  });
}

ricci_status* ricci_batch(const ricci_program* f, const uint8_t* in_batched, uint32_t n, int64_t size,
                          const ricci_batch_opts* o, uint8_t* out_batched, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    RICCI_TRY(PerParam(args, "in_batched", in_batched, n, f));
    RICCI_ASSIGN(const ricci_batch_opts given, api::ReadOptions(o, ricci_batch_opts_default(), "batch options"));
    RICCI_TRY(args.Array("axis_name", given.axis_name.ptr, given.axis_name.len));
    RICCI_TRY(args.Array("out_batched", out_batched, FromAbi(f)->n_results()));
    RICCI_ASSIGN(auto made, transform::Batch(*FromAbi(f), Span(in_batched, n), size, View(given.axis_name),
                                             Span(out_batched, FromAbi(f)->n_results())));
    std::copy(made.out_batched.begin(), made.out_batched.end(), out_batched);
    return Give(std::move(made.program), out);
  });
}

ricci_status* ricci_checkpoint(const ricci_program* f, const ricci_checkpoint_opts* options, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    RICCI_ASSIGN(const ricci_checkpoint_opts given,
                 api::ReadOptions(options, ricci_checkpoint_opts_default(), "checkpoint options",
                                  {RICCI_FLAG(RICCI_CHECKPOINT_ALLOW_CSE)}));
    RICCI_TRY(args.Array("policy", given.policy.ptr, given.policy.len));
    const std::string_view policy = given.policy.len == 0 ? "nothing" : View(given.policy);
    const bool prevent_cse = (given.hdr.flags & RICCI_CHECKPOINT_ALLOW_CSE) == 0;
    return Give(transform::Checkpoint(*FromAbi(f), policy, prevent_cse), out);
  });
}

ricci_status* ricci_custom_jvp(const ricci_program* f, const ricci_program* rule, ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"rule", rule}, {"out", out}}));
    return Give(transform::CustomJvp(*FromAbi(f), *FromAbi(rule)), out);
  });
}

ricci_status* ricci_custom_vjp(const ricci_program* f, const ricci_program* fwd, const ricci_program* bwd,
                               ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"fwd", fwd}, {"bwd", bwd}, {"out", out}}));
    return Give(transform::CustomVjp(*FromAbi(f), *FromAbi(fwd), *FromAbi(bwd)), out);
  });
}

ricci_status* ricci_custom_linear_solve(const ricci_program* matvec, const ricci_program* vecmat,
                                        const ricci_program* solve, const ricci_program* transpose_solve,
                                        ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"matvec", matvec}, {"solve", solve}, {"out", out}}));
    const ir::Program* transposed = vecmat == nullptr ? nullptr : FromAbi(vecmat);
    const ir::Program* back = transpose_solve == nullptr ? nullptr : FromAbi(transpose_solve);
    return Give(transform::CustomLinearSolve(*FromAbi(matvec), transposed, *FromAbi(solve), back), out);
  });
}

ricci_status* ricci_dce(const ricci_program* f, const uint8_t* used, uint32_t n, uint8_t* used_params,
                        ricci_program** out) {
  return Border(__func__, [&](Arguments args) -> absl::Status {
    RICCI_TRY(args.NotNull({{"f", f}, {"out", out}}));
    RICCI_TRY(args.Count("n", n, FromAbi(f)->n_results(), "one per result"));
    RICCI_TRY(args.Array("used", used, n));
    RICCI_TRY(args.Array("used_params", used_params, FromAbi(f)->n_params()));
    RICCI_ASSIGN(auto made, transform::Prune(*FromAbi(f), Span(used, n)));
    std::copy(made.used_params.begin(), made.used_params.end(), used_params);
    return Give(std::move(made.program), out);
  });
}
}
