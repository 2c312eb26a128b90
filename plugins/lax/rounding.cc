// floor, ceil, round, nextafter, reduce_precision: from a floating number to one near it.
//
// reduce_precision to the precision that x has changes nothing and costs nothing, but no pass removes it before
// products are contracted with sums (src/pass/program/contract.cc): a product that it reads is rounded by itself. So a
// row or a program asks for an exact sequence of operations (`r = x - reduce_precision(x * y, 8, 23)`), as in jax.lax.
//
// reduce_precision rounds the mantissa to nearest even, and turns numbers that overflow the smaller exponent range into
// infinity and those that underflow it into zero; NaN stays. Floats of 8 and 4 bits are rounded as f16 (f8e5m2) or f32,
// as XLA does, and the result to their dtype, in which infinity may be NaN. It counts as linear, as in jax.lax.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

// ---- round ----
constexpr AttrSpec kRoundAttrs[] = {{"rounding_method", AttrKind::kInt}};

ArrayTypes RoundType(const Eqn& e) {
  const int64_t method = e.integer("rounding_method");
  if (method != 0 && method != 1) {
    e.Fail("rounding_method ", method, " must be 0 (away from zero) or 1 (to nearest even)");
  }
  return rules::Same<1, kFloats>(e);
}
Scalar RoundScalar(KernelBuilder&, const Eqn& e, std::span<const Scalar> in) {
  return Apply(e.integer("rounding_method") == 0 ? RICCI_S_ROUND : RICCI_S_ROUND_EVEN, {in[0]});
}

// ---- reduce_precision ----
constexpr AttrSpec kPrecisionAttrs[] = {{"exponent_bits", AttrKind::kInt}, {"mantissa_bits", AttrKind::kInt}};

ArrayTypes PrecisionType(const Eqn& e) {
  if (e.integer("exponent_bits") < 1) e.Fail("exponent_bits ", e.integer("exponent_bits"), " must be positive");
  if (e.integer("mantissa_bits") < 0) e.Fail("mantissa_bits ", e.integer("mantissa_bits"), " must not be negative");
  return rules::Same<1, kFloats>(e);
}

DType UnsignedOfSize(DType d) {
  constexpr DType kBySize[] = {DType::kNone, DType::kNone, DType::kU16,  DType::kNone, DType::kU32,
                               DType::kNone, DType::kNone, DType::kNone, DType::kU64};
  return kBySize[SizeOf(d)];
}
Scalar Bits(Scalar like, uint64_t v) { return Like(like, static_cast<int64_t>(v)); }

Scalar RoundMantissa(Scalar bits, int dropped) {
  const Scalar last = ShiftRightLogical(bits, Bits(bits, dropped)) & Bits(bits, 1);
  const Scalar rounded = bits + last + Bits(bits, (uint64_t{1} << (dropped - 1)) - 1);
  return rounded & Bits(bits, ~((uint64_t{1} << dropped) - 1));
}
Scalar ClampExponent(Scalar bits, const FloatInfo& from, int64_t exponent_bits) {
  const int mantissa = from.mantissa_bits;
  const uint64_t bias = (uint64_t{1} << (from.exponent_bits - 1)) - 1;
  const uint64_t range = (uint64_t{1} << (exponent_bits - 1)) - 1;
  const uint64_t infinity = ((uint64_t{1} << from.exponent_bits) - 1) << mantissa;
  const Scalar sign = bits & Bits(bits, uint64_t{1} << (mantissa + from.exponent_bits));
  const Scalar exponent = bits & Bits(bits, infinity);
  const Scalar infinite = sign | Bits(bits, infinity);
  const Scalar upper = Select(exponent > Bits(bits, (bias + range) << mantissa), infinite, bits);
  return Select(exponent <= Bits(bits, (bias - range) << mantissa), sign, upper);
}
Scalar Reduced(const Eqn& e, Scalar x) {
  const FloatInfo from = InfoOf(x.dtype());
  const int64_t exponent_bits = e.integer("exponent_bits"), mantissa_bits = e.integer("mantissa_bits");
  if (mantissa_bits >= from.mantissa_bits && exponent_bits >= from.exponent_bits) return x;
  Scalar bits = Bitcast(x, UnsignedOfSize(x.dtype()));
  if (mantissa_bits < from.mantissa_bits) {
    const int kept = static_cast<int>(mantissa_bits);  // exact: fewer than there are
    bits = RoundMantissa(bits, from.mantissa_bits - kept);
  }
  if (exponent_bits < from.exponent_bits) bits = ClampExponent(bits, from, exponent_bits);
  const Scalar rounded = Bitcast(bits, x.dtype());
  return Select(x != x, x, rounded);
}
Scalar PrecisionScalar(KernelBuilder&, const Eqn& e, std::span<const Scalar> in) {
  const DType dtype = in[0].dtype();
  if (!In(dtype, kTinyFloats)) return Reduced(e, in[0]);
  const DType wide = dtype == DType::kF8E5M2 ? DType::kF16 : DType::kF32;  // f16 has the same exponents
  return Convert(Reduced(e, Convert(in[0], wide)), dtype);
}
Value PrecisionCt(const Eqn& e, const Value& ct) { return e.Emit({ct}); }

constexpr std::string_view kNoStep = "(f64[2,3] in 0.1..0.9)";
constexpr Row kRows[] = {
    rules::DiscreteFunction<1, kFloats, RICCI_S_FLOOR>("floor", "y = floor(x): x rounded down to an integer", kNoStep),
    rules::DiscreteFunction<1, kFloats, RICCI_S_CEIL>("ceil", "y = ceil(x): x rounded up to an integer", kNoStep),
    {.name = "round",
     .doc =
         "y = round(x): x rounded to the nearest integer; halves away from zero (`rounding_method` 0) or to even (1)",
     .attrs = kRoundAttrs,
     .type = RoundType,
     .jvp = rules::ZeroTangent,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<RoundScalar>,
     .missing = rules::kDiscrete,
     .examples = "(f64[2,3] in 0.6..0.9) rounding_method=0; "
                 "(f64[2,3] in -0.4..0.4) rounding_method=1"},
    {.name = "nextafter",
     .doc = "z = nextafter(x, y): the next float after x in the direction of y",
     .type = rules::Same<2, kFloats>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_NEXTAFTER>>,
     .missing = "jvp: jax.lax has none; transpose: not linear",
     .examples = rules::kTwoReals},
    {.name = "reduce_precision",
     .doc = "y = reduce_precision(x): x rounded to a float of `exponent_bits` and `mantissa_bits`",
     .attrs = kPrecisionAttrs,
     .type = PrecisionType,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeFirst<PrecisionCt>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<PrecisionScalar>,
     .examples = "(f64[2,3]) exponent_bits=11 mantissa_bits=52; "
                 "(f32[2,3]) exponent_bits=5 mantissa_bits=10"},
};

}  // namespace

RowList rounding_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
