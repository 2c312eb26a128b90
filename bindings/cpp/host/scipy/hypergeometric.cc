// The hypergeometric functions 1F1 and 2F1 of jax.scipy.special, for real arguments.
//
// J. W. Pearson, S. Olver and M. A. Porter, "Numerical methods for the computation of the confluent and Gauss
// hypergeometric functions", Numer. Algorithms 74, 2017; Abramowitz and Stegun, 13.1.27, 13.5.1 and 15.3.3 to 15.3.12.
// All elements run in one loop, and each ends by itself. Where JAX sums Taylor's series outside of its range, the
// reflections here are used instead: of 1F1 for negative x, of 2F1 for negative x and for x near 1.
#include <cmath>
#include <limits>

#include "host/scipy/special_steps.h"
#include "ricci/loops.hpp"
#include "ricci/scipy_special.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

using namespace plain;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMaxTerms = 1000;
constexpr double kNearOne = 0.9;  // 2F1 at larger x is computed by series in 1 - x

double Rounding(const Value& like) {
  return like.dtype() == DType::kF64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}
bool IsF64(const Value& v) { return v.dtype() == DType::kF64; }
Value AnyOf(const Value& p) { return lax::reduce_or(p, CountFrom(0, p.rank())); }
// 0, -1, -2, ...: as a parameter of the numerator such a number ends the series.
Value EndsSeries(const Value& a) { return (a <= 0) & (lax::floor(a) == a); }

// init + the sum of term_k * weight(k, more) for k = from, from + 1, ...; the next term is term_k * ratio(k), and what
// the weights need of the step before is next(k, more). An element ends when its term is below a rounding of its sum,
// all of them after kMaxTerms.
template <typename More, typename Weight, typename Ratio, typename Next>
Value SumCarrying(double init, double from, const Value& first, const More& begin, const Weight& weight,
                  const Ratio& ratio, const Next& next) {
  using State = std::tuple<Value, Value, Value, More>;  // sum, term, k, more
  const auto open = [](const Value& sum, const Value& term) { return lax::abs(term) > lax::abs(sum) * Rounding(sum); };
  const auto goes_on = [&](const State& s) {
    const auto& [sum, term, k, more] = s;
    return AnyOf(open(sum, term)) & (k < kMaxTerms);
  };
  const auto step = [&](const State& s) -> State {
    const auto& [sum, term, k, more] = s;
    const Value active = open(sum, term);
    return {Where(active, sum + term * weight(k, more), sum), Where(active, term * ratio(k), term), k + 1,
            next(k, more)};
  };
  return std::get<0>(while_loop(goes_on, step, State(Num(first, init), first, Scalar(first, from), begin)));
}
template <typename Weight, typename Ratio>
Value SumTerms(double init, double from, const Value& first, const Weight& weight, const Ratio& ratio) {
  return SumCarrying(
      init, from, first, None{}, [&](const Value& k, const None&) { return weight(k); }, ratio,
      [](const Value&, const None&) { return None{}; });
}
const auto kUnweighted = [](const Value& k) { return lax::ones_like(k); };
// The logarithmic derivative of (a + 0)(a + 1)...(a + k - 1) in a.
auto RisingSlope(const Value& a) {
  return [a](const Value& k) { return lax::digamma(a + k) - lax::digamma(a); };
}
auto FallingSlope(const Value& b) {
  return [b](const Value& k) { return lax::digamma(b) - lax::digamma(b + k); };
}

// 1 / gamma(x), which is 0 at the poles.
Value ReciprocalGamma(const Value& x) {
  const Value pole = EndsSeries(x), safe = Where(pole, 1, x);
  const Value odd = (safe < 0) & (lax::rem(lax::floor(safe), Num(safe, 2)) != 0);
  const Value size = lax::exp(-lax::lgamma(safe));
  return Where(pole, 0, Where(odd, -size, size));
}
Value Gamma(const Value& x) { return 1 / ReciprocalGamma(x); }

// ---- 1F1 ----

// The terms of 1F1 but the first, each times its weight.
template <typename Weight>
Value Terms1F1(double init, const Value& a, const Value& b, const Value& x, const Weight& weight) {
  return SumTerms(init, 1, a / b * x, weight, [&](const Value& k) { return (a + k) / (b + k) * (x / (k + 1)); });
}
// gamma(b) / gamma(a) x^(a - b) (1 + (b - a)(1 - a) / x + ...), without the factor exp(x), for large x.
Value FarTerms1F1(const Value& a, const Value& b, const Value& x) {
  const Value terms = SumTerms(1, 1, (b - a) * (1 - a) / x, kUnweighted,
                               [&](const Value& k) { return (b - a + k) * (1 - a + k) / ((k + 1) * x); });
  return Gamma(b) * ReciprocalGamma(a) * lax::pow(x, a - b) * terms;
}
// For negative x it is exp(x) 1F1(b - a, b, -x), whose terms do not cancel.
Value Hyp1F1(const Value& a, const Value& b, const Value& x) {
  const Value negative = x < 0, size = lax::abs(x), a1 = Where(negative, b - a, a);
  const Value far = (size > (IsF64(x) ? 100 : 50)) & ~EndsSeries(a1);
  const Value near = Terms1F1(1, a1, b, Where(far, 1, size), kUnweighted) * Where(negative, lax::exp(x), 1);
  const Value outer = FarTerms1F1(Where(far, a1, 1), Where(far, b, 1), Where(far, size, 100));
  const Value out = Where(far, outer * Where(negative, 1, lax::exp(x)), near);
  return Where(a == 0, 1, Where(b == 0, kInf, Where(a == b, lax::exp(x), out)));
}

// Where the slopes in a and b come from: 1F1(a, b, x), or for negative x factor 1F1(b - a, b, -x).
struct Reflected1F1 {
  Value reflects, factor, a, x;
};
Reflected1F1 Reflect1F1(const Value& a, const Value& b, const Value& x) {
  const Value reflects = (x < 0) & ~EndsSeries(b - a);
  return {reflects, Where(reflects, lax::exp(x), 1), Where(reflects, b - a, a), Where(reflects, -x, x)};
}
Value SlopeOfA1F1(const Value& a, const Value& b, const Value& x) {
  const Reflected1F1 r = Reflect1F1(a, b, x);
  const Value slope = r.factor * Terms1F1(0, r.a, b, r.x, RisingSlope(r.a));
  return Where(r.reflects, -slope, slope);
}
Value SlopeOfB1F1(const Value& a, const Value& b, const Value& x) {
  const Reflected1F1 r = Reflect1F1(a, b, x);
  const Value of_b = Terms1F1(0, r.a, b, r.x, FallingSlope(b));
  const Value of_a = Terms1F1(0, r.a, b, Where(r.reflects, r.x, 0), RisingSlope(Where(r.reflects, r.a, 1)));
  return r.factor * (of_b + of_a);
}
Value Hyp1F1WithSlopes(const Value& a, const Value& b, const Value& x);
Value SlopeOfX1F1(const Value& a, const Value& b, const Value& x) { return a / b * Hyp1F1WithSlopes(a + 1, b + 1, x); }
Value Hyp1F1WithSlopes(const Value& a, const Value& b, const Value& x) {
  return WithSlopes<Hyp1F1, SlopeOfA1F1, SlopeOfB1F1, SlopeOfX1F1>(a, b, x);
}

// ---- 2F1 ----

struct Args2F1 {
  Value a, b, c, x, s;  // s = 1 - x
};
Args2F1 Choose(const Value& p, const Args2F1& u, const Args2F1& v) {
  return {Where(p, u.a, v.a), Where(p, u.b, v.b), Where(p, u.c, v.c), Where(p, u.x, v.x), Where(p, u.s, v.s)};
}
// Arguments at which every series ends at once.
Args2F1 Idle(const Value& like) {
  return {Num(like, 1.5), Num(like, 1.5), Num(like, 4.5), lax::zeros_like(like), lax::ones_like(like)};
}
Value EndsSeries(const Args2F1& r) { return EndsSeries(r.a) | EndsSeries(r.b); }

// The terms of 2F1 but the first, each times its weight.
template <typename Weight>
Value Terms2F1(double init, const Value& a, const Value& b, const Value& c, const Value& x, const Weight& weight) {
  return SumTerms(init, 1, a * b / c * x, weight,
                  [&](const Value& k) { return (a + k) * (b + k) / ((c + k) * (k + 1)) * x; });
}
Value Series2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  return Terms2F1(1, a, b, c, x, kUnweighted);
}
// For small s by two series in s (15.3.6); d = c - a - b is not whole.
Value NearOne(const Args2F1& r) {
  const Value d = r.c - r.a - r.b;
  const Value first = Gamma(d) * ReciprocalGamma(r.c - r.a) * ReciprocalGamma(r.c - r.b);
  const Value second = Gamma(-d) * ReciprocalGamma(r.a) * ReciprocalGamma(r.b) * lax::pow(r.s, d);
  return Gamma(r.c) * (first * Series2F1(r.a, r.b, 1 - d, r.s) + second * Series2F1(r.c - r.a, r.c - r.b, 1 + d, r.s));
}
// The sum of the m first powers of s, all of 15.3.6 that is finite where d is m (15.3.11).
Value FirstPowers(const Args2F1& r, const Value& m, const Value& d) {
  const auto ratio = [&](const Value& k) {
    const Value last = k + 1 >= m, divisor = (k + 1) * (k + 1 - d);
    return Where(last, 0, (r.a + k) * (r.b + k) / Where(last, 1, divisor) * r.s);
  };
  const Value any = m > 0;
  const Value sum = SumTerms(0, 0, To(any, m.dtype()), kUnweighted, ratio);
  return Gamma(Where(any, d, 1)) * ReciprocalGamma(r.a + d) * ReciprocalGamma(r.b + d) * sum;
}

// ---- 2F1 where d = c - a - b = m + e is near a whole number ----
//
// Both series of 15.3.6 are infinite at e = 0. Their terms differ by factors gamma(z + e) / gamma(z) = exp(e l), whose
// l are found without a difference of large numbers, so that the quotient of e and the difference of two terms is one
// expm1. W. Buehring, "An analytic continuation of the hypergeometric series", SIAM J. Math. Anal. 18, 1987, and N.
// Michel and M. V. Stoitsov, "Fast computation of the Gauss hypergeometric function with all its parameters complex",
// Comput. Phys. Commun. 178, 2008, treat the same limit.

constexpr double kNearWhole = 0.1;  // the greatest |e|

Value SafeDivisor(const Value& e) { return Where(e == 0, 1, e); }
// log(1 + x e) / e and (exp(x e) - 1) / e, x in the limit.
Value LogSlope(const Value& x, const Value& e) { return Where(e == 0, x, lax::log1p(x * e) / SafeDivisor(e)); }
Value ExpSlope(const Value& x, const Value& e) { return Where(e == 0, x, lax::expm1(x * e) / SafeDivisor(e)); }
// The mean of digamma between z and z + e for z >= 1, by Gauss's rule of 5 points.
Value MeanDigamma(const Value& z, const Value& e) {
  const double root = 2 * std::sqrt(10.0 / 7), weight = 13 * std::sqrt(70.0);
  const auto pair = [&](double square, double w) {
    const Value middle = z + e * 0.5, offset = e * (std::sqrt(square) / 6);
    return (lax::digamma(middle + offset) + lax::digamma(middle - offset)) * (w / 1800);
  };
  return lax::digamma(z + e * 0.5) * (64.0 / 225) + pair(5 - root, 322 + weight) + pair(5 + root, 322 - weight);
}
// (log gamma(z + e) - log gamma(z)) / e, digamma(z) in the limit. A negative z is reflected, another moved up by 1.
Value GammaSlope(const Value& z, const Value& e) {
  const double pi = std::numbers::pi;
  const Value below = z < 0, angle = Where(below, z - lax::floor(z + 0.5), 0.25) * pi;
  const Value mean = MeanDigamma(Where(below, 1 - z, z + 1), Where(below, -e, e));
  // The sines of both reflections have the quotient 1 + e x.
  const Value cot = lax::cos(angle) / lax::sin(angle), half = lax::sin(e * (pi / 2)), whole = lax::sin(e * pi);
  const Value turn = (cot * whole - 2 * lax::square(half)) / SafeDivisor(e);
  const Value reflected = Where(e == 0, cot * pi, turn);
  return mean - LogSlope(Where(below, reflected, 1 / Where(below, 1, z)), e);
}
// Whether gamma has a pole between z and z + e, or at z + e.
Value HasPole(const Value& z, const Value& e) {
  const Value moved = z + e, low = Min(z, moved) <= 0, floor = lax::floor(moved);
  return low & ((lax::floor(z) != floor) | (floor == moved));
}
// The whole number m next to d, and e; 0 if it is so small that its square vanishes.
ValuePair SplitWhole(const Value& d) {
  const Value m = lax::floor(d + 0.5), e = d - m;
  return {m, Where(lax::abs(e) < Rounding(d) * Rounding(d), 0, e)};
}
// For small s, m >= 0 and no pole between a + m or b + m and that plus e.
Value NearOneWhole(const Args2F1& r) {
  const ValuePair d = SplitWhole(r.c - r.a - r.b);
  const Value &m = d.first, &e = d.second;
  const Value a = r.a + m, b = r.b + m, of_a = GammaSlope(a, e), of_b = GammaSlope(b, e), one = lax::ones_like(m);
  // The first terms of both series are exp(e first) and exp(e second), but for a common factor.
  const ValuePair begin{MeanDigamma(one, -e), lax::log(r.s) + of_a + of_b - MeanDigamma(m + 1, e)};
  const auto weight = [&](const Value&, const ValuePair& l) {
    return lax::exp(l.second * e) * ExpSlope(l.first - l.second, e);
  };
  const auto next = [&](const Value& k, const ValuePair& l) -> ValuePair {
    const Value change = LogSlope(1 / (a + k), e) + LogSlope(1 / (b + k), e) - LogSlope(1 / (m + 1 + k), e);
    return {l.first - LogSlope(-1 / (k + one), e), l.second + change};
  };
  const auto ratio = [&](const Value& k) { return (a + k) * (b + k) / ((k + 1) * (k + m + 1)) * r.s; };
  const Value sum = SumCarrying(0, 0, Where(r.x == 0, 0, ReciprocalGamma(m + 1)), begin, weight, ratio, next);
  const Value odd = lax::rem(m, Num(m, 2)) != 0, power = lax::pow(r.s, m), turn = e * std::numbers::pi;
  const Value sinc = Where(e == 0, 1, turn / lax::sin(SafeDivisor(turn))), scale = lax::exp(-e * (of_a + of_b)) * sinc;
  const Value second = Where(odd, -power, power) * ReciprocalGamma(r.a) * ReciprocalGamma(r.b) * scale * sum;
  return Gamma(r.c) * (FirstPowers(r, m, m + e) + second);
}
// For 0 <= x < 1, with d > -1, and above -1/2 if x is near 1, unless a series ends.
Value Inner2F1(const Args2F1& r) {
  const auto [m, e] = SplitWhole(r.c - r.a - r.b);
  const Value close = (r.x > kNearOne) & ~EndsSeries(r), away = lax::abs(e);
  const Value whole = close & (away <= kNearWhole) & (m >= 0) & ~HasPole(r.a + m, e) & ~HasPole(r.b + m, e);
  // Where the gamma functions cancel, Taylor's series is better.
  const Value apart = close & ~whole & (away > (IsF64(r.x) ? 1e-4 : 1e-2));
  const Args2F1 idle = Idle(r.x);
  const Args2F1 taylor = Choose(whole | apart, idle, r);
  const Value series = Series2F1(taylor.a, taylor.b, taylor.c, taylor.x);
  const Args2F1 unequal{idle.a, idle.b, Num(r.x, 3.25), idle.x, Num(r.x, 0.05)};
  return Where(whole, NearOneWhole(Choose(whole, r, idle)), Where(apart, NearOne(Choose(apart, r, unequal)), series));
}
// A negative x becomes x / (x - 1), with the factor s^-a (15.3.4), and d <= -1, if x is near 1 d < -1/2, becomes -d,
// with the factor s^d (15.3.3).
Value Transformed2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  const Value small = Min(a, b), large = Max(a, b), s = 1 - x;
  const Args2F1 given{small, large, c, x, s}, turned{small, c - large, c, -x / s, 1 / s};
  const Value ends = EndsSeries(given), d = c - a - b, negative = ~ends & (x < 0);
  const Value flip = ~ends & ~negative & ((d <= -1) | ((d < -0.5) & (x > kNearOne)));
  const Args2F1 flipped{c - small, c - large, c, x, s};
  const Value power = Where(negative, -small, Where(flip, d, 0));
  return lax::pow(s, power) * Inner2F1(Choose(negative, turned, Choose(flip, flipped, given)));
}
Value Hyp2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  const Value ends = EndsSeries(a) | EndsSeries(b), d = c - a - b, inside = x < 1;
  const Value one = (x == 0) | (((a == 0) | (b == 0)) & (c != 0)), pole = EndsSeries(c);
  const Value safe = ~one & ~pole & (ends | inside);
  const Value general =
      Transformed2F1(Where(safe, a, 1.5), Where(safe, b, 1.5), Where(safe, c, 4.5), Where(safe, x, 0));
  const Value at_one = Gamma(c) * Gamma(d) * ReciprocalGamma(c - a) * ReciprocalGamma(c - b);
  const Value outside = Where((x == 1) & (d > 0), at_one, kInf);
  const Value all = IsNaN(a) | IsNaN(b) | IsNaN(c) | IsNaN(x);
  const Value out = Where(one, 1, Where(pole, kInf, Where(safe, general, outside)));
  return Where(all, std::numeric_limits<double>::quiet_NaN(), out);
}

// Where the slopes in a, b and c come from: 2F1(a, b, c, x), or for negative x s^-a 2F1(a, c - b, c, x / (x - 1)).
struct Reflected2F1 {
  Value reflects, factor, b, x;
};
Reflected2F1 Reflect2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  const Value reflects = (x < 0) & ~(EndsSeries(a) | EndsSeries(b) | EndsSeries(c - b)), s = 1 - Where(reflects, x, 0);
  return {reflects, lax::pow(s, -a), Where(reflects, c - b, b), Where(reflects, -x / s, x)};
}
Value SlopeOfA2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  const Reflected2F1 r = Reflect2F1(a, b, c, x);
  const Value of_factor = lax::log1p(Where(r.reflects, -x, 0)) * Hyp2F1(a, b, c, x);
  return r.factor * Terms2F1(0, a, r.b, c, r.x, RisingSlope(a)) - Where(r.reflects, of_factor, 0);
}
Value SlopeOfB2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  const Reflected2F1 r = Reflect2F1(a, b, c, x);
  const Value slope = r.factor * Terms2F1(0, a, r.b, c, r.x, RisingSlope(r.b));
  return Where(r.reflects, -slope, slope);
}
Value SlopeOfC2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  const Reflected2F1 r = Reflect2F1(a, b, c, x);
  const Value of_c = Terms2F1(0, a, r.b, c, r.x, FallingSlope(c));
  const Value of_b = Terms2F1(0, a, r.b, c, Where(r.reflects, r.x, 0), RisingSlope(Where(r.reflects, r.b, 1)));
  return r.factor * (of_c + of_b);
}
Value Hyp2F1WithSlopes(const Value& a, const Value& b, const Value& c, const Value& x);
Value SlopeOfX2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  return a * b / c * Hyp2F1WithSlopes(a + 1, b + 1, c + 1, x);
}
Value Hyp2F1WithSlopes(const Value& a, const Value& b, const Value& c, const Value& x) {
  return WithSlopes<Hyp2F1, SlopeOfA2F1, SlopeOfB2F1, SlopeOfC2F1, SlopeOfX2F1>(a, b, c, x);
}

}  // namespace

Value hyp1f1(const Operand& a, const Operand& b, const Operand& x) {
  const Operand xs[] = {a, b, x};
  const RealOperands in("hyp1f1", xs);
  return in.Narrowed(Hyp1F1WithSlopes(in.wide[0], in.wide[1], in.wide[2]));
}
Value hyp2f1(const Operand& a, const Operand& b, const Operand& c, const Operand& x) {
  const Operand xs[] = {a, b, c, x};
  const RealOperands in("hyp2f1", xs);
  return in.Narrowed(Hyp2F1WithSlopes(in.wide[0], in.wide[1], in.wide[2], in.wide[3]));
}

}}}}  // namespace ricci::v0::scipy::special
