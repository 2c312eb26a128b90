// eq, ne, lt, le, gt, ge, the total-order comparisons eq_to, le_to, lt_to, and is_finite: results are bool.
//
// The total order puts -NaN < -inf < ... < -0 < +0 < ... < inf < NaN: the bits of a number, with all but the sign
// flipped where it is negative, compare as signed integers.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr std::string_view kBoolResult = "transpose: the result is bool";

DType SignedOfSize(DType d) {
  constexpr DType kBySize[] = {DType::kNone, DType::kI8,   DType::kI16,  DType::kNone, DType::kI32,
                               DType::kNone, DType::kNone, DType::kNone, DType::kI64};
  return kBySize[SizeOf(d)];
}
// f8e8m0fnu has no sign, and that of f4e2m1fn is moved to the top.
Scalar OrderKey(Scalar x) {
  if (!IsFloat(x.dtype())) return x;
  if (x.dtype() == DType::kF8E8M0FNU) return Bitcast(x, DType::kU8);
  Scalar bits = Bitcast(x, SignedOfSize(x.dtype()));
  if (x.dtype() == DType::kF4E2M1FN) bits = Apply(RICCI_S_SHL, {bits, Like(bits, 4)});
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
  const Scalar y = OrderKey(in[1]);
  return Compare(op, OrderKey(in[0]), y);
}

template <ScalarRule scalar, DTypeSet set = kOrdered>
constexpr Row Comparison(std::string_view name, std::string_view doc, uint32_t flags = 0) {
  return {.name = name,
          .doc = doc,
          .flags = flags,
          .type = rules::Predicate<2, set>,
          .jvp = rules::ZeroTangent,
          .batch = rules::kElementwise,
          .lowerings = lower::Scalar<scalar>,
          .missing = kBoolResult,
          .examples = "(f64[2,3], f64[2,3]); (i32[5] in 0..3, i32[5] in 0..3)"};
}

constexpr Row kRows[] = {
    Comparison<Plain<RICCI_S_EQ>, kAny>("eq", "p = eq(x, y): x == y", RICCI_PRIM_COMMUTATIVE),
    Comparison<Plain<RICCI_S_NE>, kAny>("ne", "p = ne(x, y): x != y; true if either is NaN", RICCI_PRIM_COMMUTATIVE),
    Comparison<Plain<RICCI_S_LT>>("lt", "p = lt(x, y): x < y"),
    Comparison<Plain<RICCI_S_LE>>("le", "p = le(x, y): x <= y"),
    Comparison<Plain<RICCI_S_GT>>("gt", "p = gt(x, y): x > y"),
    Comparison<Plain<RICCI_S_GE>>("ge", "p = ge(x, y): x >= y"),
    Comparison<Total<RICCI_S_EQ>>(
        "eq_to", "p = eq_to(x, y): x == y in the total order of floats: -NaN < -inf < ... < -0 < 0 < ... < inf < NaN",
        RICCI_PRIM_COMMUTATIVE),
    Comparison<Total<RICCI_S_LE>>(
        "le_to", "p = le_to(x, y): x <= y in the total order of floats: -NaN < -inf < ... < -0 < 0 < ... < inf < NaN"),
    Comparison<Total<RICCI_S_LT>>(
        "lt_to", "p = lt_to(x, y): x < y in the total order of floats: -NaN < -inf < ... < -0 < 0 < ... < inf < NaN"),
    {.name = "is_finite",
     .doc = "p = is_finite(x): true unless x is infinite or NaN",
     .type = rules::Predicate<1, kFloats>,
     .jvp = rules::ZeroTangent,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_IS_FINITE>>,
     .missing = kBoolResult,
     .examples = rules::kOneReal},
};

}  // namespace

RowList comparison_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
