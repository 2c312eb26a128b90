// custom_vjp: a held program `call` with its own reverse mode: fwd gives results and residuals, bwd takes residuals and
// cotangents of the results that have one and gives cotangents of the parameters that have one.
//
// Its jvp runs fwd and emits custom_linear{bwd}: an operation for the unknown linear map, defined only under transpose,
// where it becomes bwd.
//
// Both rules may apply the function again; there `self=1` stands for it, see control/self_rule.
#include "control/self_rule.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

constexpr std::string_view kRules[] = {"fwd", "bwd"};

std::vector<TypeId> Differentiable(const types::TypeTable& table, std::span<const TypeId> from) {
  std::vector<TypeId> out;
  for (TypeId t : from) {
    if (types::IsDifferentiable(table.Get(t).dtype)) out.push_back(t);
  }
  return out;
}

absl::Status Type(Builder& b, const StructuralOp& h) {
  const Program& call = h.program("call");
  RICCI_TRY(CheckParams(b, "custom_vjp", "call", call, h.in_types()));
  RICCI_TRY(CheckSelfRule(b, h, kRules, ResultTypes(call)));
  if (StandsForOther(h)) return SetOutTypes(b, ResultTypes(call));
  const Program &fwd = h.program("fwd"), &bwd = h.program("bwd");
  RICCI_TRY(CheckParams(b, "custom_vjp", "fwd", fwd, h.in_types()));
  const uint32_t n = call.n_results();
  if (fwd.n_results() < n) {
    return base::InvalidArgument("custom_vjp: fwd gives ", base::Count(fwd.n_results(), "result"), ", fewer than the ",
                                 n, " of call");
  }
  std::vector<TypeId> fwd_results(ResultTypes(call).begin(), ResultTypes(call).end());
  fwd_results.insert(fwd_results.end(), fwd.result_types.begin() + n, fwd.result_types.end());
  RICCI_TRY(CheckResults(b, "custom_vjp", "fwd", fwd, fwd_results));
  std::vector<TypeId> bwd_params(fwd.result_types.begin() + n, fwd.result_types.end());
  const std::vector<TypeId> cts = Differentiable(b.types(), ResultTypes(call));
  bwd_params.insert(bwd_params.end(), cts.begin(), cts.end());
  RICCI_TRY(CheckParams(b, "custom_vjp", "bwd", bwd, bwd_params));
  RICCI_TRY(CheckResults(b, "custom_vjp", "bwd", bwd, Differentiable(b.types(), h.in_types())));
  return SetOutTypes(b, ResultTypes(call));
}

absl::StatusOr<Vals> EmitLinear(Builder& b, const Program& bwd, int64_t n_residuals, std::span<const Val> in) {
  ricci_program* slot;
  const ricci_attr attrs[] = {trace::ProgramAttr("bwd", bwd, slot), trace::IntAttr("num_residuals", n_residuals)};
  return b.Emit("custom_linear", attrs, in);
}

absl::Status Jvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  RICCI_ASSIGN(ProgramRef fwd, Released(h, "fwd"));
  RICCI_ASSIGN(ProgramRef bwd, Released(h, "bwd"));
  RICCI_ASSIGN(Vals in, b.Inline(*fwd, {a.primals, h.op.n_in}));
  std::copy(in.begin(), in.begin() + h.op.n_out, a.out_primals);
  in.erase(in.begin(), in.begin() + h.op.n_out);
  const auto n_residuals = static_cast<int64_t>(in.size());
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (!types::IsDifferentiable(b.types().Get(h.op.in_types[i]).dtype)) continue;
    RICCI_ASSIGN(Val t, b.Instantiate(a.tangents[i], h.op.in_types[i]));
    in.push_back(t);
  }
  RICCI_ASSIGN(Vals out, EmitLinear(b, *bwd, n_residuals, in));
  Scatter(HasTangent(b, h.out_types()), out, a.out_tangents);
  return absl::OkStatus();
}

absl::StatusOr<Vals> InlineCall(Builder& b, const StructuralOp& h, std::span<const Val> in) {
  RICCI_ASSIGN(ProgramRef call, Released(h, "call"));
  return b.Inline(*call, in);
}

// ---- custom_linear: residuals, tangents of parameters -> tangents of results ----

absl::Status LinearType(Builder& b, const StructuralOp& h) {
  const Program& bwd = h.program("bwd");
  RICCI_TRY(CheckCounts("custom_linear", h, {"num_residuals"}));
  const auto n = static_cast<uint32_t>(h.integer("num_residuals"));  // exact: checked
  RICCI_TRY(CheckResults(b, "custom_linear", "bwd", bwd, h.in_types().subspan(n)));
  if (bwd.n_params() < n) return base::InvalidArgument("custom_linear: bwd takes fewer than ", n, " residuals");
  std::vector<TypeId> params(h.in_types().begin(), h.in_types().begin() + n);
  params.insert(params.end(), bwd.param_types.begin() + n, bwd.param_types.end());
  RICCI_TRY(CheckParams(b, "custom_linear", "bwd", bwd, params));
  return SetOutTypes(b, std::span<const TypeId>(bwd.param_types.data(), bwd.param_types.size()).subspan(n));
}

absl::Status LinearTranspose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  const auto n = static_cast<uint32_t>(h.integer("num_residuals"));  // exact: checked
  Vals in(a.operands, a.operands + n);
  for (uint32_t i = 0; i < n; ++i) {
    if (a.linear[i]) {
      return absl::UnimplementedError(
          "custom_vjp: its derivative is taken with respect to the residuals of a linear map; "
          "write the function with custom_jvp to differentiate it twice");
    }
  }
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    RICCI_ASSIGN(Val ct, b.Instantiate(a.cts[i], h.op.out_types[i]));
    in.push_back(ct);
  }
  RICCI_ASSIGN(Vals out, b.Inline(h.program("bwd"), in));
  std::copy(out.begin(), out.end(), a.in_cts + n);
  return absl::OkStatus();
}

absl::Status LinearBatch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(const Vals in, BatchAll(b, a, h.op.n_in));
  const Program& bwd = h.program("bwd");
  const Mask params(bwd.n_params(), 1), results(bwd.n_results(), 1);
  const std::string_view axis(a.axis_name.ptr, a.axis_name.len);
  RICCI_ASSIGN(auto batched, transform::Batch(bwd, params, a.axis_size, axis, results));
  RICCI_ASSIGN(Vals out, EmitLinear(b, *batched.program, h.integer("num_residuals"), in));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}

absl::StatusOr<Vals> NoForwardMode(Builder&, const StructuralOp&, std::span<const Val>) {
  return absl::UnimplementedError(
      "custom_vjp: a function with only a reverse rule has no forward mode; give it a custom_jvp");
}

constexpr std::string_view kExamples =
    "order=0 (f64[3], f64[3]) call=program(%a: f64[3], %b: f64[3]) {\n"
    "  %m: f64[3] = mul(%a, %b)\n"
    "  return %m\n"
    "} fwd=program(%a: f64[3], %b: f64[3]) {\n"
    "  %m: f64[3] = mul(%a, %b)\n"
    "  return %m, %a, %b\n"
    "} bwd=program(%a: f64[3], %b: f64[3], %ct: f64[3]) {\n"
    "  %da: f64[3] = mul(%ct, %b)\n"
    "  %db: f64[3] = mul(%ct, %a)\n"
    "  return %da, %db\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {
    Spec("call", RICCI_ATTR_PROGRAM), Spec("fwd", RICCI_ATTR_PROGRAM, "that of the rule named by `self`"),
    Spec("bwd", RICCI_ATTR_PROGRAM, "that of the rule named by `self`"), Spec(ir::kSelf, RICCI_ATTR_INT, "none")};
constexpr ricci_attr_spec kLinearAttrs[] = {Spec("bwd", RICCI_ATTR_PROGRAM), Spec("num_residuals", RICCI_ATTR_INT)};
constexpr ricci_lowering kInline = Decomposition<InlineCall>();
constexpr ricci_lowering kNoForwardMode = Decomposition<NoForwardMode>();
constexpr const ricci_lowering* kLowerings[] = {&kInline};
constexpr const ricci_lowering* kLinearLowerings[] = {&kNoForwardMode};

}  // namespace

constinit const StructuralRow kCustomVjpRow = {
    .name = "custom_vjp",
    .doc = "ys... = custom_vjp(xs...): the results of `call`, whose reverse mode is the programs `fwd` and `bwd`",
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = Jvp,
    .batch = BatchWhole,
    .missing = "transpose: differentiation replaces it by custom_linear first",
    .examples = kExamples,
};

constinit const StructuralRow kCustomLinearRow = {
    .name = "custom_linear",
    .doc = "ys... = custom_linear(xs...): a linear map of which only the transpose, `bwd`, is known",
    .flow = prim::Flow::kLinearMap,
    .attrs = kLinearAttrs,
    .lowerings = kLinearLowerings,
    .type = LinearType,
    .transpose = LinearTranspose,
    .batch = LinearBatch,
    .missing = "jvp: stands for an unknown linear map",
};

}}}  // namespace ricci::v0::control
