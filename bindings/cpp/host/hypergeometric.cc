// The hypergeometric functions 1F1 and 2F1 of jax.scipy.special, for real arguments.
//
// J. W. Pearson, S. Olver and M. A. Porter, "Numerical methods for the computation of the confluent and Gauss
// hypergeometric functions", Numer. Algorithms 74, 2017; Abramowitz and Stegun, 13.1.27, 13.5.1 and 15.3.3 to 15.3.12.
// All elements run in one loop, and each ends by itself. Where JAX sums Taylor's series outside of its range, the
// reflections here are used instead: of 1F1 for negative x, of 2F1 for negative x and for x near 1.
#include <limits>

#include "ricci/loops.hpp"
#include "ricci/scipy_special.hpp"
#include "special_steps.h"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

using namespace plain;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMaxTerms = 1000;

double Rounding(const Value& like) {
  return like.dtype() == DType::kF64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}
bool IsF64(const Value& v) { return v.dtype() == DType::kF64; }
Value AnyOf(const Value& p) { return lax::reduce_or(p, CountFrom(0, p.rank())); }
// 0, -1, -2, ...: as a parameter of the numerator such a number ends the series.
Value EndsSeries(const Value& a) { return (a <= 0) & (lax::floor(a) == a); }

// init + the sum of term_k * weight(k) for k = from, from + 1, ...; the next term is term_k * ratio(k). An element ends
// when its term is below a rounding of its sum, all of them after kMaxTerms.
template <typename Weight, typename Ratio>
Value SumTerms(double init, double from, const Value& first, const Weight& weight, const Ratio& ratio) {
  using State = std::tuple<Value, Value, Value>;  // sum, term, k
  const auto open = [](const Value& sum, const Value& term) { return lax::abs(term) > lax::abs(sum) * Rounding(sum); };
  const auto more = [&](const Value& sum, const Value& term, const Value& k) {
    return AnyOf(open(sum, term)) & (k < kMaxTerms);
  };
  const auto step = [&](const Value& sum, const Value& term, const Value& k) -> State {
    const Value active = open(sum, term);
    return {Where(active, sum + term * weight(k), sum), Where(active, term * ratio(k), term), k + 1};
  };
  const State init_state{Num(first, init), first, Scalar(first, from)};
  return std::get<0>(while_loop([&](const State& s) { return std::apply(more, s); },
                                [&](const State& s) { return std::apply(step, s); }, init_state));
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
// The sum of the m first powers of s in 15.3.11.
Value FirstPowers(const Args2F1& r, const Value& m) {
  const auto ratio = [&](const Value& k) {
    const Value last = k + 1 >= m, divisor = (k + 1) * (k + 1 - m);
    return Where(last, 0, (r.a + k) * (r.b + k) / Where(last, 1, divisor) * r.s);
  };
  const Value any = m > 0;
  const Value sum = SumTerms(0, 0, To(any, m.dtype()), kUnweighted, ratio);
  return Gamma(Where(any, m, 1)) * ReciprocalGamma(r.a + m) * ReciprocalGamma(r.b + m) * sum;
}
// For small s where d = c - a - b is the whole number m >= 0: powers of s and, from s^m on, a logarithm (15.3.10, 11).
Value NearOneWhole(const Args2F1& r) {
  const Value m = lax::floor(r.c - r.a - r.b + 0.5), log = lax::log(r.s);
  const auto weight = [&](const Value& k) {
    return log - lax::digamma(k + 1) - lax::digamma(k + m + 1) + lax::digamma(r.a + m + k) + lax::digamma(r.b + m + k);
  };
  const auto ratio = [&](const Value& k) { return (r.a + m + k) * (r.b + m + k) / ((k + 1) * (k + m + 1)) * r.s; };
  const Value sum = SumTerms(0, 0, Where(r.x == 0, 0, ReciprocalGamma(m + 1)), weight, ratio);
  const Value odd = lax::rem(m, Num(m, 2)) != 0, power = lax::pow(r.s, m);
  const Value second = Where(odd, power, -power) * ReciprocalGamma(r.a) * ReciprocalGamma(r.b) * sum;
  return Gamma(r.c) * (FirstPowers(r, m) + second);
}
// For 0 <= x < 1, with d > -1 unless a series ends.
Value Inner2F1(const Args2F1& r) {
  const Value d = r.c - r.a - r.b, away = lax::abs(d - lax::floor(d + 0.5));
  const Value close = (r.x > 0.9) & ~EndsSeries(r), whole = close & (away < 50 * Rounding(d)) & (d > -0.5);
  // Between the two the gamma functions cancel, and Taylor's series is better.
  const Value apart = close & (away > (IsF64(r.x) ? 1e-4 : 1e-2));
  const Args2F1 idle = Idle(r.x);
  const Args2F1 taylor = Choose(whole | apart, idle, r);
  const Value series = Series2F1(taylor.a, taylor.b, taylor.c, taylor.x);
  const Args2F1 unequal{idle.a, idle.b, Num(r.x, 3.25), idle.x, Num(r.x, 0.05)};
  return Where(whole, NearOneWhole(Choose(whole, r, idle)), Where(apart, NearOne(Choose(apart, r, unequal)), series));
}
// A negative x becomes x / (x - 1), with the factor s^-a (15.3.4), and d <= -1 becomes -d, with the factor s^d
// (15.3.3).
Value Transformed2F1(const Value& a, const Value& b, const Value& c, const Value& x) {
  const Value small = Min(a, b), large = Max(a, b), s = 1 - x;
  const Args2F1 given{small, large, c, x, s}, turned{small, c - large, c, -x / s, 1 / s};
  const Value ends = EndsSeries(given), d = c - a - b, negative = ~ends & (x < 0), flip = ~ends & ~negative & (d <= -1);
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
