// Distribution functions of jax.scipy.stats: cdf, its complement sf, their logarithms, and the inverses ppf and isf.
#include "host/scipy/distribution.h"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {

namespace expon {
Value logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("expon.logsf", {x, loc, scale});
  return Where(v[0] < v[1], 0, -Standard(v));
}
Value logcdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::log1p(-sf(x, loc, scale)); }
}  // namespace expon

namespace uniform {
Value ppf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("uniform.ppf", {q, loc, scale});
  return Where(NoProbability(v[0]), kNaN, v[1] + v[2] * v[0]);
}
}  // namespace uniform

namespace logistic {
Value isf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("logistic.isf", {q, loc, scale});
  return v[1] - special::logit(At(v[0], q)) * v[2];
}
}  // namespace logistic

namespace cauchy {
Value logcdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::log(cdf(x, loc, scale)); }
Value sf(const Operand& x, const Operand& loc, const Operand& scale) {
  return lax::atan(-Standard(Use("cauchy.sf", {x, loc, scale}))) / kPi + 0.5;
}
Value logsf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::log(sf(x, loc, scale)); }
Value ppf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("cauchy.ppf", {q, loc, scale});
  return lax::tan(v[0] * kPi - kPi / 2) * v[2] + v[1];
}
Value isf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("cauchy.isf", {q, loc, scale});
  return lax::tan(kPi / 2 - v[0] * kPi) * v[2] + v[1];
}
}  // namespace cauchy

namespace gamma {
Value cdf(const Operand& x, const Operand& a, const Operand& loc, const Operand& scale) {
  const Values v = Use("gamma.cdf", {x, a, loc, scale});
  return lax::igamma(v[1], AtLeastZero((v[0] - v[2]) / v[3]));
}
Value sf(const Operand& x, const Operand& a, const Operand& loc, const Operand& scale) {
  const Values v = Use("gamma.sf", {x, a, loc, scale});
  return lax::igammac(v[1], AtLeastZero((v[0] - v[2]) / v[3]));
}
Value logcdf(const Operand& x, const Operand& a, const Operand& loc, const Operand& scale) {
  return lax::log(cdf(x, a, loc, scale));
}
Value logsf(const Operand& x, const Operand& a, const Operand& loc, const Operand& scale) {
  return lax::log(sf(x, a, loc, scale));
}
}  // namespace gamma

namespace beta {
namespace {
// (x - loc) / scale, inside of the support.
Value Inside(const Values& v) {
  const Value y = (v[0] - v[3]) / v[4];
  return lax::clamp(Scalar(y, 0), y, Scalar(y, 1));
}
}  // namespace
Value cdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("beta.cdf", {x, a, b, loc, scale});
  return lax::betainc(v[1], v[2], Inside(v));
}
Value sf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("beta.sf", {x, a, b, loc, scale});
  return lax::betainc(v[2], v[1], 1 - Inside(v));
}
Value logcdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  return lax::log(cdf(x, a, b, loc, scale));
}
Value logsf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc, const Operand& scale) {
  return lax::log(sf(x, a, b, loc, scale));
}
}  // namespace beta

namespace chi2 {
Value cdf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  const Values v = Use("chi2.cdf", {x, df, loc, scale});
  return lax::igamma(v[1] / 2, AtLeastZero((v[0] - v[2]) / (v[3] * 2)));
}
Value sf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  const Values v = Use("chi2.sf", {x, df, loc, scale});
  return lax::igammac(v[1] / 2, AtLeastZero((v[0] - v[2]) / (v[3] * 2)));
}
Value logcdf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  return lax::log(cdf(x, df, loc, scale));
}
Value logsf(const Operand& x, const Operand& df, const Operand& loc, const Operand& scale) {
  return lax::log(sf(x, df, loc, scale));
}
}  // namespace chi2

namespace pareto {
namespace {
struct Standardized {
  Value y, below;  // (x - loc) / scale, 1 below the support; and what is below
};
Standardized Of(const Values& v) {
  const Value below = v[0] < v[2] + v[3];
  return {Where(below, 1, (v[0] - v[2]) / v[3]), below};
}
}  // namespace
Value cdf(const Operand& x, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("pareto.cdf", {x, b, loc, scale});
  const Standardized s = Of(v);
  return Where(s.below, 0, 1 - lax::pow(s.y, -v[1]));
}
Value logcdf(const Operand& x, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("pareto.logcdf", {x, b, loc, scale});
  const Standardized s = Of(v);
  return Where(s.below, -kInf, lax::log1p(-lax::pow(s.y, -v[1])));
}
Value logsf(const Operand& x, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("pareto.logsf", {x, b, loc, scale});
  const Standardized s = Of(v);
  return Where(s.below, 0, -(v[1] * lax::log(s.y)));
}
Value sf(const Operand& x, const Operand& b, const Operand& loc, const Operand& scale) {
  return lax::exp(logsf(x, b, loc, scale));
}
Value ppf(const Operand& q, const Operand& b, const Operand& loc, const Operand& scale) {
  const Values v = Use("pareto.ppf", {q, b, loc, scale});
  return Where(NoProbability(v[0]), kNaN, v[2] + v[3] * lax::pow(1 - v[0], -1 / v[1]));
}
}  // namespace pareto

namespace {

// log(1 - exp(-x)) for x > 0, without loss on either side of log(2).
Value Log1mExp(const Value& x) {
  return Where(x < std::numbers::ln2, lax::log(-lax::expm1(-x)), lax::log1p(-lax::exp(-x)));
}
Value IfScaled(const Values& v, const Value& out) { return Where(v[2] > 0, out, kNaN); }
Value IfInside(const Value& q, const Value& out) { return Where((q > 0) & (q < 1), out, kNaN); }

}  // namespace

// Of the greatest of many numbers; gumbel_l is that of the least, with -x in place of x.
namespace gumbel_r {
Value logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_r.logcdf", {x, loc, scale});
  return IfScaled(v, -lax::exp(-Standard(v)));
}
Value cdf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logcdf(x, loc, scale)); }
Value sf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_r.sf", {x, loc, scale});
  return IfScaled(v, -lax::expm1(-lax::exp(-Standard(v))));
}
Value logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_r.logsf", {x, loc, scale});
  return IfScaled(v, Log1mExp(lax::exp(-Standard(v))));
}
Value ppf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_r.ppf", {q, loc, scale});
  return IfInside(v[0], v[1] - v[2] * lax::log(-lax::log(v[0])));
}
}  // namespace gumbel_r

namespace gumbel_l {
Value logsf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_l.logsf", {x, loc, scale});
  return IfScaled(v, -lax::exp(Standard(v)));
}
Value sf(const Operand& x, const Operand& loc, const Operand& scale) { return lax::exp(logsf(x, loc, scale)); }
Value cdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_l.cdf", {x, loc, scale});
  return IfScaled(v, -lax::expm1(-lax::exp(Standard(v))));
}
Value logcdf(const Operand& x, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_l.logcdf", {x, loc, scale});
  return IfScaled(v, Log1mExp(lax::exp(Standard(v))));
}
Value ppf(const Operand& q, const Operand& loc, const Operand& scale) {
  const Values v = Use("gumbel_l.ppf", {q, loc, scale});
  return IfInside(v[0], v[1] + v[2] * lax::log(-lax::log1p(-v[0])));
}
}  // namespace gumbel_l

namespace gennorm {
Value cdf(const Operand& x, const Operand& beta) {
  const Values v = Use("gennorm.cdf", {x, beta});
  return (lax::sign(v[0]) * lax::igamma(1 / v[1], lax::pow(lax::abs(v[0]), v[1])) + 1) * 0.5;
}
}  // namespace gennorm

}}}}  // namespace ricci::v0::scipy::stats
