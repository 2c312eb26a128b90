// ricci/scipy_stats.hpp: jax.scipy.stats, as far as it follows from the built-in primitives. Include it next to
// ricci.hpp.
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
}  // namespace expon
namespace uniform {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
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
}  // namespace logistic
namespace cauchy {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace cauchy
namespace gamma {
Value logpdf(const Operand& x, const Operand& a, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& a, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace gamma
namespace beta {
Value logpdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& a, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace beta
namespace chi2 {
Value logpdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace chi2
namespace t {
Value logpdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& df, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace t
namespace pareto {
Value logpdf(const Operand& x, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& b, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace pareto
namespace gumbel_r {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace gumbel_r
namespace gumbel_l {
Value logpdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value pdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
Value cdf(const Operand& x, const Operand& loc = 0, const Operand& scale = 1);
}  // namespace gumbel_l
namespace gennorm {
Value logpdf(const Operand& x, const Operand& beta);
Value pdf(const Operand& x, const Operand& beta);
}  // namespace gennorm
// Of integers k.
namespace nbinom {
Value logpmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& n, const Operand& p, const Operand& loc = 0);
}  // namespace nbinom
namespace bernoulli {
Value logpmf(const Operand& k, const Operand& p, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& p, const Operand& loc = 0);
}  // namespace bernoulli
namespace geom {
Value logpmf(const Operand& k, const Operand& p, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& p, const Operand& loc = 0);
}  // namespace geom
namespace poisson {
Value logpmf(const Operand& k, const Operand& mu, const Operand& loc = 0);
Value pmf(const Operand& k, const Operand& mu, const Operand& loc = 0);
}  // namespace poisson

}}}}  // namespace ricci::v0::scipy::stats
#endif
