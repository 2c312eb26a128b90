// Distributions of integers, of the truncated normal and of angles.
#include <cmath>

#include "host/scipy/distribution.h"
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {

namespace {

Value LogBeta(const Value& a, const Value& b, const Operand& x) { return special::betaln(At(a, x), At(b, x)); }
// y log(p) + (n - y) log(1 - p).
Value LogTrials(const Value& y, const Value& n, const Value& p, const Operand& k) {
  return special::xlogy(At(y, k), At(p, k)) + special::xlog1py(At(n - y, k), At(-p, k));
}

}  // namespace

namespace bernoulli {
Value cdf(const Operand& k, const Operand& p) {
  const Values v = Use("bernoulli.cdf", {k, p});
  const Value below_one = Where(v[0] < 0, 0, 1 - v[1]);
  return Where(IsNaN(v[0]) | NoProbability(v[1]), kNaN, Where(v[0] < 1, below_one, 1));
}
Value ppf(const Operand& q, const Operand& p) {
  const Values v = Use("bernoulli.ppf", {q, p});
  return Where(NoProbability(v[0]) | NoProbability(v[1]), kNaN, To(v[0] > 1 - v[1], v[0].dtype()));
}
}  // namespace bernoulli

namespace poisson {
Value cdf(const Operand& k, const Operand& mu, const Operand& loc) {
  const Values v = Use("poisson.cdf", {k, mu, loc});
  const Value x = v[0] - v[2];
  return Where(x < 0, 0, lax::igammac(Where(x < 0, 1, lax::floor(x + 1)), v[1]));
}
Value entropy(const Operand& mu, const Operand& loc) {
  constexpr int64_t kTerms = 250;  // for mu < 100 the others are less than a rounding
  const Values v = Use("poisson.entropy", {mu, loc});
  const Value few = Where(v[0] < 100, v[0], 1), rate = lax::expand_dims(few, Shape{0});
  Shape shape = ShapeOfValue(rate);
  shape[0] = kTerms;
  const Value all = BroadcastValue(rate, shape), k = Positions(all, all.dtype(), 0);
  const Value terms = special::entr(At(pmf(At(k, mu), At(all, mu), 0), mu)), sum = lax::reduce_sum(terms, Shape{0});
  const Value series = lax::log(2 * kPi * std::numbers::e * v[0]) * 0.5 - 1 / (v[0] * 12);
  return Where(v[0] == 0, 0, Where(v[0] < 100, sum, series));
}
}  // namespace poisson

namespace binom {
Value logpmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc) {
  const Values v = Use("binom.logpmf", {k, n, p, loc});
  const Value y = v[0] - v[3], inside = (y >= 0) & (y < v[1] + 1);
  const Value ways = -(lax::log(v[1] + 1) + LogBeta(y + 1, v[1] - y + 1, k));
  const Value trials = LogTrials(y, v[1], v[2], k);
  const Value certain = ((y == 0) & (v[1] == 0)) | (trials == 0);
  return Where(inside, Where(certain, 0, ways + trials), -kInf);
}
Value pmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc) {
  return lax::exp(logpmf(k, n, p, loc));
}
}  // namespace binom

namespace betabinom {
Value logpmf(const Operand& k, const Operand& n, const Operand& a, const Operand& b, const Operand& loc) {
  const Values v = Use("betabinom.logpmf", {k, n, a, b, loc});
  const Value y = lax::floor(v[0]) - v[4], rest = v[1] - y;
  const Value ways = -(lax::log1p(v[1]) + LogBeta(rest + 1, y + 1, k));
  const Value terms = ways + LogBeta(y + v[2], rest + v[3], k) - LogBeta(v[2], v[3], k);
  const Value outside = (y < -v[4]) | (y > v[1]) | (y + v[2] <= 0);
  const Value log = Where(outside, -kInf, Where((y == 0) & (v[1] == 0), 0, terms));
  return Where((v[1] < 0) | (v[2] <= 0) | (v[3] <= 0), kNaN, log);
}
Value pmf(const Operand& k, const Operand& n, const Operand& a, const Operand& b, const Operand& loc) {
  return lax::exp(logpmf(k, n, a, b, loc));
}
}  // namespace betabinom

namespace truncnorm {
namespace {

// log(exp(a) - exp(b)).
Value LogDifference(const Value& a, const Value& b, const Operand& x) {
  const Value both = stack({At(a, x), At(b, x)});
  const Value sign = Where(Positions(both, DType::kI32, 0) == 0, lax::ones_like(both), -1);
  return special::logsumexp(At(both, x), 0, At(sign, x));
}
// The logarithm of the normal probability of [a, b]. In the right tail that of [-b, -a], which loses less; around 0 one
// minus both tails.
Value LogMass(const Value& a, const Value& b, const Operand& x) {
  const Value right = a > 0, central = (a <= 0) & (b > 0);
  const Value low = Where(right, -b, a), high = Where(right, -a, b);
  const Value tail = LogDifference(special::log_ndtr(At(high, x)), special::log_ndtr(At(low, x)), x);
  return Where(central, lax::log1p(-special::ndtr(At(a, x)) - special::ndtr(At(-b, x))), tail);
}
// The logarithm of the probability of at most y, in the standard form.
Value LogCdf(const Value& y, const Value& a, const Value& b, const Operand& x) {
  const Value mass = LogMass(a, b, x), below = LogMass(a, y, x) - mass, above = LogMass(y, b, x) - mass;
  // Near 1 the complement is more exact.
  const Value inside = Where(below > -0.1, lax::log1p(-lax::exp(above)), below);
  return Where(a >= b, kNaN, Where(y >= b, 0, Where(y <= a, -kInf, inside)));
}

}  // namespace

Value logpdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("truncnorm.logpdf", {x, a, b, loc, scale});
  const Value y = (v[0] - v[3]) / v[4];
  const Value log = norm::logpdf(At(v[0], x), At(v[3], x), At(v[4], x)) - LogMass(v[1], v[2], x);
  return Where(v[1] >= v[2], kNaN, Where((y < v[1]) | (y > v[2]), -kInf, log));
}
Value pdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  return lax::exp(logpdf(x, a, b, loc, scale));
}
Value logcdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("truncnorm.logcdf", {x, a, b, loc, scale});
  return LogCdf((v[0] - v[3]) / v[4], v[1], v[2], x);
}
Value cdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  return lax::exp(logcdf(x, a, b, loc, scale));
}
Value logsf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("truncnorm.logsf", {x, a, b, loc, scale});
  return LogCdf((v[3] - v[0]) / v[4], -v[2], -v[1], x);
}
Value sf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  return lax::exp(logsf(x, a, b, loc, scale));
}
}  // namespace truncnorm

namespace vonmises {
Value logpdf(const Operand& x, const Operand& kappa) {
  const Values v = Use("vonmises.logpdf", {x, kappa});
  return Where(v[1] > 0, v[1] * (lax::cos(v[0]) - 1) - lax::log(2 * kPi * lax::bessel_i0e(v[1])), kNaN);
}
Value pdf(const Operand& x, const Operand& kappa) { return lax::exp(logpdf(x, kappa)); }
}  // namespace vonmises

namespace wrapcauchy {
Value logpdf(const Operand& x, const Operand& c) {
  const Values v = Use("wrapcauchy.logpdf", {x, c});
  const Value square = v[1] * v[1];
  const Value log = lax::log(1 - square) - std::log(2 * kPi) - lax::log(square + 1 - 2 * v[1] * lax::cos(v[0]));
  const Value inside = (v[0] >= 0) & (v[0] <= 2 * kPi);
  return Where((v[1] > 0) & (v[1] < 1), Where(inside, log, -kInf), kNaN);
}
Value pdf(const Operand& x, const Operand& c) { return lax::exp(logpdf(x, c)); }
}  // namespace wrapcauchy

}}}}  // namespace ricci::v0::scipy::stats
