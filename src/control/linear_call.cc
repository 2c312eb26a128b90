// linear_call: a held program `call`, linear in the operands after its residuals, with a program `transpose` that is
// its transpose, as JAX's linear_call.
//
// The transpose of the operation is the operation with both programs exchanged, so neither is ever transposed itself;
// nothing checks that they are what they say. Residuals (the first `num_residuals` operands) are constants of the map:
// they must have no tangent, as a term for them cannot be had from a program that is only known to be linear.
#include "control/structural_row.h"
#include "transform/vmap.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

uint32_t NumResiduals(const StructuralOp& h) {
  return static_cast<uint32_t>(h.integer("num_residuals"));  // exact: checked by Type
}

absl::Status Type(Builder& b, const StructuralOp& h) {
  RICCI_TRY(CheckCounts("linear_call", h, {"num_residuals"}));
  const Program &call = h.program("call"), &transpose = h.program("transpose");
  RICCI_TRY(CheckParams(b, "linear_call", "call", call, h.in_types()));
  const uint32_t n = NumResiduals(h);
  std::vector<TypeId> params(h.in_types().begin(), h.in_types().begin() + n);
  params.insert(params.end(), call.result_types.begin(), call.result_types.end());
  RICCI_TRY(CheckParams(b, "linear_call", "transpose", transpose, params));
  RICCI_TRY(CheckResults(b, "linear_call", "transpose", transpose, h.in_types().subspan(n)));
  return SetOutTypes(b, ResultTypes(call));
}

absl::StatusOr<Vals> Emit(Builder& b, const Program& call, const Program& transpose, int64_t n_residuals,
                          std::span<const Val> in) {
  ricci_program *call_slot, *transpose_slot;
  const ricci_attr attrs[] = {trace::ProgramAttr("call", call, call_slot),
                              trace::ProgramAttr("transpose", transpose, transpose_slot),
                              trace::IntAttr("num_residuals", n_residuals)};
  return b.Emit("linear_call", attrs, in);
}

absl::Status Jvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  const uint32_t n = NumResiduals(h);
  RICCI_ASSIGN(Vals out, b.Emit(h.op.prim, h.attrs, {a.primals, h.op.n_in}));
  std::copy(out.begin(), out.end(), a.out_primals);
  Vals in(a.primals, a.primals + n);
  bool any = false;
  for (uint32_t i = 0; i < h.op.n_in; ++i) {
    if (i < n && a.tangents[i] != kZero) {
      return absl::UnimplementedError(
          base::Cat("linear_call: residual ", i,
                    " has a tangent; give what is differentiated as linear operands, or use stop_gradient"));
    }
    if (i < n) continue;
    any |= a.tangents[i] != kZero;
    RICCI_ASSIGN(Val t, b.Instantiate(a.tangents[i], h.op.in_types[i]));
    in.push_back(t);
  }
  if (!any) return absl::OkStatus();
  RICCI_ASSIGN(Vals tangents, b.Emit(h.op.prim, h.attrs, in));
  const Mask has = HasTangent(b, h.out_types());
  Scatter(has, Where(tangents, has), a.out_tangents);
  return absl::OkStatus();
}

absl::Status Transpose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  const uint32_t n = NumResiduals(h);
  for (uint32_t i = 0; i < n; ++i) {
    if (a.linear[i]) return absl::UnimplementedError(base::Cat("linear_call: it is not linear in residual ", i));
  }
  Vals in(a.operands, a.operands + n);
  for (uint32_t i = 0; i < h.op.n_out; ++i) {
    RICCI_ASSIGN(Val ct, b.Instantiate(a.cts[i], h.op.out_types[i]));
    in.push_back(ct);
  }
  RICCI_ASSIGN(Vals out, Emit(b, h.program("transpose"), h.program("call"), n, in));
  for (uint32_t i = n; i < h.op.n_in; ++i) {
    if (a.linear[i]) a.in_cts[i] = out[i - n];
  }
  return absl::OkStatus();
}

// Every linear operand and result is batched, in both programs; a residual only if it is.
absl::Status Batch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  const uint32_t n = NumResiduals(h);
  RICCI_ASSIGN(const Vals in, BatchAll(b, a, h.op.n_in, /*first=*/n));
  const auto batched = [&](const Program& p) {
    Mask params = IsBatched(a, n);
    params.resize(p.n_params(), 1);
    return transform::Batch(p, params, a.axis_size, base::View(a.axis_name), Mask(p.n_results(), 1));
  };
  RICCI_ASSIGN(auto call, batched(h.program("call")));
  RICCI_ASSIGN(auto transpose, batched(h.program("transpose")));
  RICCI_ASSIGN(Vals out, Emit(b, *call.program, *transpose.program, n, in));
  std::copy(out.begin(), out.end(), a.out);
  return absl::OkStatus();
}

absl::StatusOr<Vals> InlineCall(Builder& b, const StructuralOp& h, std::span<const Val> in) {
  return b.Inline(h.program("call"), in);
}

constexpr std::string_view kExamples =
    "order=0 (f64[3], f64[3]) num_residuals=1 call=program(%r: f64[3], %x: f64[3]) {\n"
    "  %y: f64[3] = mul(%r, %x)\n"
    "  %s: f64[] = reduce_sum(%y) axes=[0]\n"
    "  return %y, %s\n"
    "} transpose=program(%r: f64[3], %a: f64[3], %b: f64[]) {\n"
    "  %c: f64[3] = broadcast_in_dim(%b) shape=[3] broadcast_dimensions=[]\n"
    "  %s: f64[3] = add(%a, %c)\n"
    "  %x: f64[3] = mul(%r, %s)\n"
    "  return %x\n"
    "};\n"
    "(f64[2]) num_residuals=0 call=program(%x: f64[2]) {\n"
    "  %y: f64[2] = add(%x, %x)\n"
    "  return %y\n"
    "} transpose=program(%y: f64[2]) {\n"
    "  %x: f64[2] = add(%y, %y)\n"
    "  return %x\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {Spec("call", RICCI_ATTR_PROGRAM), Spec("transpose", RICCI_ATTR_PROGRAM),
                                      Spec("num_residuals", RICCI_ATTR_INT)};
constexpr ricci_lowering kInline = Decomposition<InlineCall>();
constexpr const ricci_lowering* kLowerings[] = {&kInline};

}  // namespace

constinit const StructuralRow kLinearCallRow = {
    .name = "linear_call",
    .doc =
        "ys... = linear_call(xs...): the results of `call`, linear in the operands after the first `num_residuals`; "
        "`transpose` takes these residuals and cotangents of the results",
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = Jvp,
    .transpose = Transpose,
    .batch = Batch,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
