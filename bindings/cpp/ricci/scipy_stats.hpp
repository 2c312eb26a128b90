// ricci/scipy_stats.hpp: jax.scipy.stats, distributions and samples. Include it next to ricci.hpp.
//
// One namespace per distribution. `loc` moves it and `scale` stretches it; all operands broadcast.
#ifndef RICCI_SCIPY_STATS_HPP_
#define RICCI_SCIPY_STATS_HPP_
#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {

namespace norm {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value ppf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
Value isf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace norm
namespace expon {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value ppf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace expon
namespace uniform {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value ppf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace uniform
namespace laplace {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace laplace
namespace logistic {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value ppf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
Value isf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace logistic
namespace cauchy {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value ppf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
Value isf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace cauchy
namespace gamma {
Value logpdf(const Operand& x, const Operand& a, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& a, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& a, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& a, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& a, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& a, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace gamma
namespace beta {
Value logpdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace beta
namespace chi2 {
Value logpdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace chi2
namespace t {
Value logpdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace t
namespace pareto {
Value logpdf(const Operand& x, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value ppf(const Operand& q, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace pareto
namespace gumbel_r {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value ppf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace gumbel_r
namespace gumbel_l {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value ppf(const Operand& q, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace gumbel_l
namespace gennorm {
Value logpdf(const Operand& x, const Operand& beta);
Value pdf(const Operand& x, const Operand& beta);
Value cdf(const Operand& x, const Operand& beta);
}  // namespace gennorm
// Normal, cut off below a and above b, which count in units of scale from loc.
namespace truncnorm {
Value logpdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value logcdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value sf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value logsf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace truncnorm
// On a circle, of angles x.
namespace vonmises {
Value logpdf(const Operand& x, const Operand& kappa);
Value pdf(const Operand& x, const Operand& kappa);
}  // namespace vonmises
namespace wrapcauchy {
Value logpdf(const Operand& x, const Operand& c);
Value pdf(const Operand& x, const Operand& c);
}  // namespace wrapcauchy
// Points x of the simplex along the first dimension, of which the last coordinate may be left out; alpha is a vector.
namespace dirichlet {
Value logpdf(const Operand& x, const Operand& alpha);
Value pdf(const Operand& x, const Operand& alpha);
}  // namespace dirichlet
// `mean` is a scalar or [..., n], `cov` a scalar variance or [..., n, n], x is [..., n].
namespace multivariate_normal {
Value logpdf(const Operand& x, const Operand& mean, const Operand& cov);
Value pdf(const Operand& x, const Operand& mean, const Operand& cov);
}  // namespace multivariate_normal
// Of integers k.
namespace binom {
Value logpmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc = 0);
}  // namespace binom
namespace betabinom {
Value logpmf(const Operand& k, const Operand& n, const Operand& a, const Operand& b, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& n, const Operand& a, const Operand& b, const Operand& loc = 0);
}  // namespace betabinom
// Counts x of each outcome along the last dimension, n in all, with probabilities p.
namespace multinomial {
Value logpmf(const Operand& x, const Operand& n, const Operand& p);
Value pmf(const Operand& x, const Operand& n, const Operand& p);
}  // namespace multinomial
namespace nbinom {
Value logpmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc = 0);
}  // namespace nbinom
namespace bernoulli {
Value logpmf(const Operand& k, const Operand& p, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& p, const Operand& loc = 0);
Value cdf(const Operand& k, const Operand& p);
Value ppf(const Operand& q, const Operand& p);
}  // namespace bernoulli
namespace geom {
Value logpmf(const Operand& k, const Operand& p, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& p, const Operand& loc = 0);
}  // namespace geom
namespace poisson {
Value logpmf(const Operand& k, const Operand& mu, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& mu, const Operand& loc = 0);
Value cdf(const Operand& k, const Operand& mu, const Operand& loc = 0);
// By sums of terms for mu below 100, by its asymptotic series above.
Value entropy(const Operand& mu, const Operand& loc = 0);
}  // namespace poisson

// ---- samples ----
// The standard error of the mean.
Value sem(const Operand& x, const Axes& axes = 0, int64_t ddof = 1, bool keepdims = false);
// The position of each element in the sorted order, from 1, as f32; of all elements flattened. `method` says what equal
// elements get: average, min, max, dense (as min, without gaps after it) or ordinal (in their order). NaN anywhere
// makes all NaN.
Value rankdata(const Operand& x, std::string_view method = "average");
struct ModeResult {
  Value mode, count;
};
// The element that occurs most often along `axis`, the least of several, and how often (i32).
ModeResult mode(const Operand& x, AxisNumber axis = 0, bool keepdims = false);

}}}}  // namespace ricci::v0::scipy::stats
#endif
