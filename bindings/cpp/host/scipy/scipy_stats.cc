// Densities of jax.scipy.stats: the operands together, the standard form, and what lies outside of the support.
#include "host/scipy/distribution.h"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {

namespace norm {
Value logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("norm.logpdf", {x, loc, scale});
  const Value scale2 = lax::square(v[2]);
  return (lax::log(2 * kPi * scale2) + lax::square(v[0] - v[1]) / scale2) / -2;
}
Value pdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logpdf(x, loc, scale)); }
Value cdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return special::ndtr(At(Standard(Use("norm.cdf", {x, loc, scale})), x));
}
Value logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return special::log_ndtr(At(Standard(Use("norm.logcdf", {x, loc, scale})), x));
}
Value sf(const Operand& x, const Operand& loc, const Operand& scale) {
  return special::ndtr(At(-Standard(Use("norm.sf", {x, loc, scale})), x));
}
Value logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  return special::log_ndtr(At(-Standard(Use("norm.logsf", {x, loc, scale})), x));
}
Value ppf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("norm.ppf", {q, loc, scale});
  return special::ndtri(At(v[0], q)) * v[2] + v[1];
}
Value isf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("norm.isf", {q, loc, scale});
  return special::ndtri(At(1 - v[0], q)) * v[2] + v[1];
}
}  // namespace norm

namespace expon {
Value logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("expon.logpdf", {x, loc, scale});
  return Where(v[0] < v[1], -kInf, -(lax::log(v[2]) + Standard(v)));
}
Value pdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logpdf(x, loc, scale)); }
Value cdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("expon.cdf", {x, loc, scale});
  return Where(v[0] < v[1], 0, -lax::expm1(-Standard(v)));
}
Value sf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("expon.sf", {x, loc, scale});
  return Where(v[0] < v[1], 1, lax::exp(-Standard(v)));
}
Value ppf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("expon.ppf", {q, loc, scale});
  const Value out = v[1] - v[2] * lax::log1p(-v[0]);
  return Where((v[0] < 0) | (v[0] > 1) | IsNaN(v[0]), kNaN, out);
}
}  // namespace expon

namespace uniform {
Value logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("uniform.logpdf", {x, loc, scale});
  return Where((v[0] > v[1] + v[2]) | (v[0] < v[1]), -kInf, -lax::log(v[2]));
}
Value pdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logpdf(x, loc, scale)); }
Value cdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Value u = Standard(Use("uniform.cdf", {x, loc, scale}));
  return lax::clamp(Scalar(u, 0), u, Scalar(u, 1));
}
}  // namespace uniform

namespace laplace {
Value logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("laplace.logpdf", {x, loc, scale});
  return -(lax::abs(Standard(v)) + lax::log(2 * v[2]));
}
Value pdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logpdf(x, loc, scale)); }
Value cdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Value d = Standard(Use("laplace.cdf", {x, loc, scale})), half = lax::exp(-lax::abs(d)) * 0.5;
  return Where(d <= 0, half, 1 - half);
}
}  // namespace laplace

namespace logistic {
Value logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("logistic.logpdf", {x, loc, scale});
  const Value half = Standard(v) / 2;
  return -2 * logaddexp(At(half, x), At(-half, x)) - lax::log(v[2]);
}
Value pdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logpdf(x, loc, scale)); }
Value cdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return lax::logistic(Standard(Use("logistic.cdf", {x, loc, scale})));
}
Value sf(const Operand& x, const Operand& loc, const Operand& scale) {
  return lax::logistic(-Standard(Use("logistic.sf", {x, loc, scale})));
}
Value ppf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("logistic.ppf", {q, loc, scale});
  return special::logit(At(v[0], q)) * v[2] + v[1];
}
}  // namespace logistic

namespace cauchy {
Value logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("cauchy.logpdf", {x, loc, scale});
  return -(lax::log(kPi * v[2]) + lax::log1p(lax::square(Standard(v))));
}
Value pdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logpdf(x, loc, scale)); }
Value cdf(const Operand& x, const Operand& loc, const Operand& scale) {
  return lax::atan(Standard(Use("cauchy.cdf", {x, loc, scale}))) / kPi + 0.5;
}
}  // namespace cauchy

namespace gamma {
Value logpdf(const Operand& x, const Operand& a, const Operand& loc, const Operand& scale) {
  const Values v = Use("gamma.logpdf", {x, a, loc, scale});
  const Value inside = v[0] >= v[2], y = Where(inside, (v[0] - v[2]) / v[3], 1);
  const Value terms = special::xlogy(At(v[1] - 1, x), At(y, x)) - y;
  return Where(inside, terms - lax::lgamma(v[1]) - lax::log(v[3]), -kInf);
}
Value pdf(const Operand& x, const Operand& a, const Operand& loc, const Operand& scale) {
  return lax::exp(logpdf(x, a, loc, scale));
}
}  // namespace gamma

namespace beta {
Value logpdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("beta.logpdf", {x, a, b, loc, scale});
  const Value inside = (v[0] >= v[3]) & (v[0] <= v[3] + v[4]), y = Where(inside, (v[0] - v[3]) / v[4], 0.5);
  const Value shape = special::xlogy(At(v[1] - 1, x), At(y, x)) + special::xlog1py(At(v[2] - 1, x), At(-y, x));
  const Value constant = special::betaln(At(v[1], x), At(v[2], x)) + lax::log(v[4]);
  return Where(inside, shape - constant, -kInf);
}
Value pdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  return lax::exp(logpdf(x, a, b, loc, scale));
}
}  // namespace beta

namespace chi2 {
Value logpdf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  const Values v = Use("chi2.logpdf", {x, df, loc, scale});
  const Value half = v[1] / 2, y = (v[0] - v[2]) / v[3], safe = Where(v[0] < v[2], 1, y);
  const Value kernel = (half - 1) * lax::log(safe) - safe / 2;
  return Where(v[0] < v[2], -kInf, kernel - lax::lgamma(half) - std::numbers::ln2 * half - lax::log(v[3]));
}
Value pdf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  return lax::exp(logpdf(x, df, loc, scale));
}
}  // namespace chi2

namespace t {
Value logpdf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  const Values v = Use("t.logpdf", {x, df, loc, scale});
  const Value y = (v[0] - v[2]) / v[3], half = v[1] / 2;
  const Value constant = special::betaln(At(half, x), Operand(0.5, x.at)) + 0.5 * lax::log(v[1]) + lax::log(v[3]);
  return -(constant + (half + 0.5) * lax::log1p(lax::square(y) / v[1]));
}
Value pdf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  return lax::exp(logpdf(x, df, loc, scale));
}
}  // namespace t

namespace pareto {
Value logpdf(const Operand& x, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("pareto.logpdf", {x, b, loc, scale});
  const Value y = (v[0] - v[2]) / v[3], outside = v[0] < v[2] + v[3];
  return Where(outside, -kInf, lax::log(v[1] / v[3]) - (v[1] + 1) * lax::log(Where(outside, 1, y)));
}
Value pdf(const Operand& x, const Operand& b, const Operand& loc, const Operand& scale) {
  return lax::exp(logpdf(x, b, loc, scale));
}
}  // namespace pareto

namespace gumbel_r {
Value logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_r.logpdf", {x, loc, scale});
  const Value z = Standard(v);
  return -(lax::log(v[2]) + z + lax::exp(-z));
}
Value pdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logpdf(x, loc, scale)); }
}  // namespace gumbel_r

namespace gumbel_l {
Value logpdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_l.logpdf", {x, loc, scale});
  const Value z = Standard(v);
  return z - lax::log(v[2]) - lax::exp(z);
}
Value pdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logpdf(x, loc, scale)); }
}  // namespace gumbel_l

namespace gennorm {
Value logpdf(const Operand& x, const Operand& beta) {
  const Values v = Use("gennorm.logpdf", {x, beta});
  return lax::log(v[1] * 0.5) - lax::lgamma(1 / v[1]) - lax::pow(lax::abs(v[0]), v[1]);
}
Value pdf(const Operand& x, const Operand& beta) { return lax::exp(logpdf(x, beta)); }
}  // namespace gennorm

namespace nbinom {
Value logpmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc) {
  const Values v = Use("nbinom.logpmf", {k, n, p, loc});
  const Value y = v[0] - v[3];
  const Value ways = -(lax::log(y + v[1]) + special::betaln(At(v[1], k), At(y + 1, k)));
  const Value terms = v[1] * lax::log(v[2]) + y * lax::log1p(-v[2]);
  return Where(y < 0, -kInf, ways + terms);
}
Value pmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc) {
  return lax::exp(logpmf(k, n, p, loc));
}
}  // namespace nbinom

namespace bernoulli {
Value logpmf(const Operand& k, const Operand& p, const Operand& loc) {
  const Values v = Use("bernoulli.logpmf", {k, p, loc});
  const Value n = v[0] - v[2];
  const Value terms = special::xlogy(At(n, k), At(v[1], k)) + special::xlog1py(At(1 - n, k), At(-v[1], k));
  return Where((n == 0) | (n == 1), terms, -kInf);
}
Value pmf(const Operand& k, const Operand& p, const Operand& loc) { return lax::exp(logpmf(k, p, loc)); }
}  // namespace bernoulli

namespace geom {
Value logpmf(const Operand& k, const Operand& p, const Operand& loc) {
  const Values v = Use("geom.logpmf", {k, p, loc});
  const Value n = v[0] - v[2];
  const Value terms = special::xlog1py(At(n - 1, k), At(-v[1], k)) + lax::log(v[1]);
  return Where(n <= 0, -kInf, terms);
}
Value pmf(const Operand& k, const Operand& p, const Operand& loc) { return lax::exp(logpmf(k, p, loc)); }
}  // namespace geom

namespace poisson {
Value logpmf(const Operand& k, const Operand& mu, const Operand& loc) {
  const Values v = Use("poisson.logpmf", {k, mu, loc});
  const Value n = v[0] - v[2];
  const Value terms = special::xlogy(At(n, k), At(v[1], k)) - lax::lgamma(n + 1) - v[1];
  return Where((n < 0) | (lax::floor(n) != n), -kInf, terms);
}
Value pmf(const Operand& k, const Operand& mu, const Operand& loc) { return lax::exp(logpmf(k, mu, loc)); }
}  // namespace poisson

}}}}  // namespace ricci::v0::scipy::stats
