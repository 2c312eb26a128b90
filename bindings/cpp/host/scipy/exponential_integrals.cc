// The exponential integrals of jax.scipy.special, by series and continued fractions with a fixed number of terms.
//
// Abramowitz and Stegun, "Handbook of mathematical functions", 1964, 5.1.10 to 5.1.12, 5.1.22 and 5.1.51.
#include <limits>

#include "host/core/plain_math.h"
#include "ricci/loops.hpp"
#include "ricci/scipy_special.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

using namespace plain;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

template <typename Step>
Value Repeated(const Operand& at, int64_t count, const Value& init, const Step& step) {
  return fori_loop(Operand(0, at.at), Operand(count, at.at), step, init, at.at);
}
// E_n(x) for x > 1: exp(-x) / (x + n - 1 n / (x + n + 2 - 2 (n + 1) / (x + n + 4 - ...))), from its 100th term back.
Value ByFraction(const Operand& at, const Value& n, const Value& x) {
  constexpr int64_t kTerms = 100;  // what is left out is below exp(-4 sqrt(100))
  const Value first = x + n;
  const Value out = Repeated(at, kTerms, first + 2.0 * kTerms, [&](const Value& k, const Value& f) {
    const Value i = static_cast<double>(kTerms) - To(k, x.dtype());
    return first + (i - 1) * 2 - i * (i + n - 1) / f;
  });
  return lax::exp(-x) / out;
}
// E_n(x) for 0 < x <= 1 and n >= 1: a logarithm, and the powers of -x but that of n - 1.
Value BySeries(const Operand& at, const Value& n, const Value& x) {
  constexpr int64_t kTerms = 24;  // 1 / 24! is below a rounding
  const Value last = n - 1, factor = lax::pow(-x, last) * lax::exp(-lax::lgamma(n));
  const Value log = factor * (lax::digamma(n) - lax::log(x));
  const auto step = [&](const Value& k, const Value& term_and_sum) {
    const Value m = To(k, x.dtype()), term = Cut(term_and_sum, 0, 1, 0), sum = Cut(term_and_sum, 1, 2, 0);
    const Value left_out = lax::expand_dims(last, Shape{0}) == m;
    const Value divisor = Where(left_out, 1, m - lax::expand_dims(last, Shape{0}));
    const Value next = term * lax::expand_dims(-x, Shape{0}) / (m + 1);
    return Join({next, sum + Where(left_out, 0, term / divisor)}, 0);
  };
  const Value one = lax::expand_dims(lax::ones_like(x), Shape{0});
  const Value sum = Cut(Repeated(at, kTerms, Join({one, lax::zeros_like(one)}, 0), step), 1, 2, 0);
  return log - lax::squeeze(sum, Shape{0});
}
Value Expn(const Operand& at, const Value& n, const Value& x) {
  const Value large = x > 1, small = (x > 0) & (x <= 1) & (n >= 1);
  const Value fraction = ByFraction(at, n, Where(large, x, 2)),
              series = BySeries(at, Where(small, n, 1), Where(small, x, 1));
  const Value positive = Where(n == 0, lax::exp(-x) / x, Where(large, fraction, series));
  const Value at_zero = Where(n < 2, kInf, 1 / Where(n < 2, 1, n - 1));
  return Where((n < 0) | (x < 0) | IsNaN(n) | IsNaN(x), kNaN, Where(x == 0, at_zero, positive));
}

// Ei(x) for 0 < x <= 40: euler's constant + log(x) + sum of x^k / (k k!), whose terms are positive.
Value EiBySeries(const Operand& at, const Value& x) {
  constexpr int64_t kTerms = 140;  // 40^140 / 140! is below a rounding of exp(40)
  const auto step = [&](const Value& k, const Value& term_and_sum) {
    const Value i = To(k, x.dtype()) + 1;
    const Value term = Cut(term_and_sum, 0, 1, 0) * lax::expand_dims(x, Shape{0}) / i;
    return Join({term, Cut(term_and_sum, 1, 2, 0) + term / i}, 0);
  };
  const Value one = lax::expand_dims(lax::ones_like(x), Shape{0});
  const Value sum = Cut(Repeated(at, kTerms, Join({one, lax::zeros_like(one)}, 0), step), 1, 2, 0);
  return lax::squeeze(sum, Shape{0}) + lax::log(x) + std::numbers::egamma;
}
// Ei(x) for x > 40: exp(x) / x (1 + 1 / x (1 + 2 / x (1 + ...))).
Value EiFarOut(const Operand& at, const Value& x) {
  constexpr int64_t kTerms = 40;  // the least term of the asymptotic series
  const Value sum = Repeated(at, kTerms, lax::ones_like(x), [&](const Value& k, const Value& f) {
    return (static_cast<double>(kTerms) - To(k, x.dtype())) / x * f + 1;
  });
  return lax::exp(x) / x * sum;
}

}  // namespace

Value expn(const Operand& n, const Operand& x) {
  const Operand in[] = {n, x};
  const Values v = UseTogether("expn", in, /*inexact=*/true);
  return Expn(x, v[0], v[1]);
}
Value exp1(const Operand& x) {
  const Value v = UseInexact("exp1", x);
  return Expn(x, lax::ones_like(v), v);
}
Value expi(const Operand& x) {
  const Value v = UseInexact("expi", x);
  const Value below = v<0, far = v> 40, near = (v > 0) & (v <= 40);
  const Value negative = -Expn(x, lax::ones_like(v), Where(below, -v, 1));
  const Value positive = Where(far, EiFarOut(x, Where(far, v, 50)), EiBySeries(x, Where(near, v, 1)));
  return Where(IsNaN(v), kNaN, Where(v == 0, -kInf, Where(below, negative, positive)));
}

}}}}  // namespace ricci::v0::scipy::special
