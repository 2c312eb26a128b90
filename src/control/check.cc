// check(pred, x) -> x: x itself, with a check that `pred` holds; if it does not, the run fails with `code` and
// `message`.
//
// It is tied to a value instead of being an effect, so it needs no order: it may move, fuse and run in lanes, and is
// removed if nothing uses the value. Its tangent and its cotangent pass through checks of their own, so what is derived
// from the value fails with it. Under batching, one element that fails makes all fail.
#include "control/structural_row.h"

namespace ricci { inline namespace v0 { namespace control {
namespace {

absl::Status Type(Builder& b, const StructuralOp& h) {
  const types::ArrayType& pred = b.types().Get(h.op.in_types[0]);
  if (pred.dtype != RICCI_BOOL || pred.rank() != 0) {
    return base::InvalidArgument("check: the condition is ", ToText(pred), ", not bool[]");
  }
  if (h.integer("code") <= 0 || h.integer("code") > 16) {
    return base::InvalidArgument("check: ", h.integer("code"), " is not the code of a failure; give one from 1 to 16");
  }
  return SetOutTypes(b, h.in_types().subspan(1));
}

absl::StatusOr<Val> Again(Builder& b, const StructuralOp& h, Val pred, Val x) {
  const Val in[] = {pred, x};
  RICCI_ASSIGN(Vals out, b.Emit(h.op.prim, h.attrs, in));
  return out[0];
}

absl::Status Jvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a) {
  RICCI_ASSIGN(a.out_primals[0], Again(b, h, a.primals[0], a.primals[1]));
  if (a.tangents[1] == kZero) return absl::OkStatus();
  RICCI_ASSIGN(a.out_tangents[0], Again(b, h, a.primals[0], a.tangents[1]));
  return absl::OkStatus();
}

absl::Status Transpose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a) {
  if (a.cts[0] == kZero) return absl::OkStatus();
  RICCI_ASSIGN(a.in_cts[1], Again(b, h, a.operands[0], a.cts[0]));
  return absl::OkStatus();
}

absl::Status Batch(Builder& b, const StructuralOp& h, const ricci_batch_args& a) {
  RICCI_ASSIGN(Val pred, trace::ReduceAll(b, a.in[0]));
  RICCI_ASSIGN(a.out[0], Again(b, h, pred, a.in[1]));
  a.out_dims[0] = a.in_dims[1];
  return absl::OkStatus();
}

absl::Status Lower(ricci_kernel_builder* k, const StructuralOp& h, const ricci_sval* index, ricci_sval* out) {
  const auto code = static_cast<uint32_t>(h.integer("code"));  // exact: from 1 to 16
  const std::string_view message = h.text("message");
  ricci_type_desc type = ricci_type_desc_default();
  ricci_sval pred;
  RICCI_TRY(base::FromAbi(ricci_type_get(h.op.ctx, h.op.in_types[1], &type)));
  RICCI_TRY(base::FromAbi(ricci_kernel_load(k, ricci_kernel_operand(k, 0), nullptr, 0, &pred)));
  RICCI_TRY(base::FromAbi(ricci_kernel_check(k, pred, code, message.data(), message.size())));
  return base::FromAbi(ricci_kernel_load(k, ricci_kernel_operand(k, 1), index, type.rank, out));
}

constexpr std::string_view kExamples =
    "program (%x: f64[3]) {\n"
    "  %bound: f64[3] = constant 9.0\n"
    "  %each: bool[3] = lt(%x, %bound)\n"
    "  %all: bool[] = reduce_and(%each) axes=[0]\n"
    "  %y: f64[3] = check(%all, %x) code=3 message=\"x must be below 9\"\n"
    "  return %y\n"
    "}";
constexpr ricci_attr_spec kAttrs[] = {Spec("code", RICCI_ATTR_INT), Spec("message", RICCI_ATTR_STRING)};
constexpr ricci_lowering kIndexed = Indexed<Lower>();
constexpr const ricci_lowering* kLowerings[] = {&kIndexed};

}  // namespace

absl::StatusOr<Val> EmitCheck(Builder& b, Val pred, Val x, uint32_t code, std::string_view message) {
  const Val in[] = {pred, x};
  const ricci_attr attrs[] = {trace::IntAttr("code", code), trace::StringAttr("message", message)};
  return b.Emit1("check", attrs, in);
}

constinit const StructuralRow kCheckRow = {
    .name = "check",
    .doc = "y = check(pred, x): x; the run fails with `code` and `message` if `pred` is false",
    .flags = RICCI_PRIM_MAY_FAIL,
    .attrs = kAttrs,
    .lowerings = kLowerings,
    .type = Type,
    .jvp = Jvp,
    .transpose = Transpose,
    .batch = Batch,
    .examples = kExamples,
};

}}}  // namespace ricci::v0::control
