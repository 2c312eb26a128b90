// eq, ne, lt, le, gt, ge, the total-order comparisons eq_to, le_to, lt_to, and is_finite: results are bool.
//
// The total order puts -NaN < -inf < ... < -0 < +0 < ... < inf < NaN: the bits of a number, with all but the sign
// flipped where it is negative, compare as signed integers.
#include "ricci/plugin.hpp"

namespace ricci::inline v0::lax::rows {
namespace {

constexpr std::string_view kBoolResult = "transpose: the result is bool";

DType SignedOfSize(DType d) {
  constexpr DType kBySize[] = {DType::kNone, DType::kI8,   DType::kI16,  DType::kNone, DType::kI32,
                               DType::kNone, DType::kNone, DType::kNone, DType::kI64};
  return kBySize[SizeOf(d)];
}
Scalar OrderKey(Scalar x) {
  if (!IsFloat(x.dtype())) return x;
  const Scalar bits = Bitcast(x, SignedOfSize(x.dtype()));
  const int64_t top = BitsOf(x.dtype()) - 1;
  const Scalar sign = Apply(RICCI_S_SAR, {bits, Like(bits, top)});
  return bits ^ (sign & Like(bits, static_cast<int64_t>((uint64_t{1} << top) - 1)));
}
// Comparison `op`; bool is ordered false < true.
Scalar Compare(uint32_t op, Scalar x, Scalar y) {
  if (x.dtype() == DType::kBool) return Apply(op, {Convert(x, DType::kU8), Convert(y, DType::kU8)});
  return Apply(op, {x, y});
}
template <uint32_t op>
Scalar Plain(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  return Compare(op, in[0], in[1]);
}
template <uint32_t op>
Scalar Total(KernelBuilder&, const Eqn&, std::span<const Scalar> in) {
  return Compare(op, OrderKey(in[0]), OrderKey(in[1]));
}

template <ScalarRule scalar, DTypeSet set = kOrdered>
constexpr Row Comparison(std::string_view name, uint32_t flags = 0) {
  return {.name = name,
          .flags = flags,
          .type = rules::Predicate<2, set>,
          .jvp = rules::ZeroTangent,
          .batch = rules::kElementwise,
          .lowerings = lower::Scalar<scalar>,
          .missing = kBoolResult,
          .examples = "(f64[2,3], f64[2,3]); (i32[5] in 0..3, i32[5] in 0..3)"};
}

constexpr Row kRows[] = {
    Comparison<Plain<RICCI_S_EQ>, kAny>("eq", RICCI_PRIM_COMMUTATIVE),
    Comparison<Plain<RICCI_S_NE>, kAny>("ne", RICCI_PRIM_COMMUTATIVE),
    Comparison<Plain<RICCI_S_LT>>("lt"),
    Comparison<Plain<RICCI_S_LE>>("le"),
    Comparison<Plain<RICCI_S_GT>>("gt"),
    Comparison<Plain<RICCI_S_GE>>("ge"),
    Comparison<Total<RICCI_S_EQ>>("eq_to", RICCI_PRIM_COMMUTATIVE),
    Comparison<Total<RICCI_S_LE>>("le_to"),
    Comparison<Total<RICCI_S_LT>>("lt_to"),
    {.name = "is_finite",
     .type = rules::Predicate<1, kFloats>,
     .jvp = rules::ZeroTangent,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_IS_FINITE>>,
     .missing = kBoolResult,
     .examples = rules::kOneReal},
};

}  // namespace

RowList comparison_rows() { return kRows; }

}  // namespace ricci::inline v0::lax::rows
