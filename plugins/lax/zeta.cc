// zeta(x, q), the sum over k of (q + k)^-x (Hurwitz), and polygamma(m, x), the derivative of order m of digamma.
//
// zeta is summed by the Euler-Maclaurin formula: kTerms terms, then the integral and its corrections with Bernoulli
// numbers. For a whole x it is also defined for negative q: the sum over all k, positive and negative, is taken around
// the terms nearest to 0, and the sum over the k that do not belong to it is a zeta of 1 - q. (JAX adds up kTerms terms
// there as well, which is wrong below -kTerms.) Everything is computed in f64 for every dtype and rounded once.
// polygamma is (-1)^(m+1) m! zeta(m+1, x). Neither has a derivative with respect to its first operand.
#include <limits>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr int kTerms = 9;
// B(2j) / (2j)!
constexpr double kCorrections[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000,
                                   1.0 / 74724249600,
                                   -3617.0 / 10670622842880000,
                                   43867.0 / 5109094217170944000,
                                   -174611.0 / 802857662698291200000.0};
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

Value Where(const Value& defined, const Value& x) { return select(defined, x, full_like(x, kNaN)); }
Value Is(const Value& x, double number) { return eq(x, full_like(x, number)); }
Value IsWhole(const Value& x) { return eq(x, floor(x)); }
Value IsEven(const Value& x) { return IsWhole(mul(0.5, x)); }
Value Wide(const Value& x) { return convert_element_type(x, DType::kF64); }

// Operands in f64, q > 0.
Value Sum(const Value& x, const Value& q) {
  const Value minus = neg(x);
  Value sum = pow(q, minus);
  for (int k = 1; k < kTerms; ++k) sum = add(sum, pow(add(q, k), minus));
  const Value a = add(q, kTerms), last = pow(a, minus);
  const Value half = mul(0.5, last), less = sub(x, 1.0), integral = div(mul(last, a), less);
  sum = add(sum, add(integral, half));
  Value factor = div(mul(x, last), a);
  const Value square = mul(a, a);
  for (int j = 1; j <= static_cast<int>(std::size(kCorrections)); ++j) {
    sum = add(sum, mul(kCorrections[j - 1], factor));
    const Value even = add(x, 2 * j), pair = mul(add(x, 2 * j - 1), even);
    factor = div(mul(factor, pair), square);
  }
  return sum;
}

// Operands in f64.
Value Zeta(const Value& x, const Value& q) {
  const Value negative = lt(q, zeros_like(q)), even = IsEven(x);
  const Value r = sub(q, round(q, /*rounding_method=*/1));
  // The terms at r and beside it come first: of an odd x two of them may be opposite, and dwarf all others.
  const Value minus = neg(x), minus_one = full_like(x, -1.0), signed_one = select(even, ones_like(x), minus_one);
  const Value left = mul(signed_one, pow(sub(1.0, r), minus)), right = pow(add(1.0, r), minus);
  const Value left_first = add(add(pow(r, minus), left), right), right_first = add(add(pow(r, minus), right), left);
  const Value nearest = select(lt(r, zeros_like(r)), right_first, left_first);
  const Value side = Sum(x, select(negative, sub(1.0, q), q)), below = sub(Sum(x, sub(2.0, r)), side);
  const Value reflected = mul(signed_one, below), around = add(add(nearest, Sum(x, add(2.0, r))), reflected);
  Value sum = select(negative, Where(IsWhole(x), around), side);
  sum = Where(ge(x, ones_like(x)), sum);
  // At a pole of even order the sum is infinite; at one of odd order it has no sign.
  const Value whole = IsWhole(q), pole = bitwise_and(le(q, zeros_like(q)), whole), none = full_like(sum, kNaN);
  sum = select(pole, select(even, full_like(sum, kInfinity), none), sum);
  const Value infinity = full_like(sum, kInfinity);
  return select(Is(x, 1), infinity, sum);
}

Values ZetaDecompose(const Eqn& e, std::span<const Value> in) {
  const Value q = Wide(in[1]);
  return {convert_element_type(Zeta(Wide(in[0]), q), e.in(0).dtype())};
}

Values PolygammaDecompose(const Eqn& e, std::span<const Value> in) {
  const Value m = Wide(in[0]), x = Wide(in[1]), next = add(m, 1.0);
  const Value terms = Zeta(next, x), size = mul(exp(lgamma(next)), terms), opposite = neg(size);
  const Value of_more = select(IsEven(m), opposite, size), of_none = digamma(x);
  const Value y = select(Is(m, 0), of_none, of_more);
  const Value whole = IsWhole(m), defined = bitwise_and(ge(m, zeros_like(m)), whole);
  return {convert_element_type(Where(defined, y), e.in(0).dtype())};
}

Value ZetaByShift(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  return mul(t, neg(mul(in[0], zeta(add(in[0], 1.0), in[1]))));
}
Value PolygammaByArgument(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  return mul(t, polygamma(add(in[0], 1.0), in[1]));
}

constexpr std::string_view kZetaExamples =
    "program (%q: f64[2,3] in 0.5..3) { %x: f64[2,3] = constant 3.0 %y: f64[2,3] = zeta(%x, %q) return %y }; "
    "order=0 (f64[4] in 1.5..5, f64[4] in 0.5..3)";
constexpr std::string_view kPolygammaExamples =
    "program (%q: f64[2,3] in 0.5..3) { %m: f64[2,3] = constant 2.0 %y: f64[2,3] = polygamma(%m, %q) return %y }; "
    "program (%q: f64[2,3] in 0.5..3) { %m: f64[2,3] = constant 0.0 %y: f64[2,3] = polygamma(%m, %q) return %y }";

template <DecomposeRule decompose>
constexpr Row Special(std::string_view name, std::string_view doc, JvpRule jvp, std::string_view examples) {
  return {.name = name,
          .doc = doc,
          .flags = RICCI_PRIM_TRANSCENDENTAL,
          .type = rules::Same<2, kFloats>,
          .jvp = jvp,
          .batch = rules::kElementwise,
          .lowerings = lower::Decompose<decompose>,
          .missing = rules::kNotLinear,
          .examples = examples};
}

constexpr Row kRows[] = {
    Special<ZetaDecompose>("zeta", "z = zeta(x, q): the Hurwitz zeta function, the sum of (q + k)^-x over k >= 0",
                           rules::Terms<rules::NoDerivative<0>, ZetaByShift>, kZetaExamples),
    Special<PolygammaDecompose>("polygamma", "y = polygamma(m, x): the derivative of order m of digamma at x",
                                rules::Terms<rules::NoDerivative<0>, PolygammaByArgument>, kPolygammaExamples),
};

}  // namespace

RowList zeta_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
