// ricci/scipy_kde.hpp: gaussian_kde of jax.scipy.stats. Include it next to ricci.hpp.
#ifndef RICCI_SCIPY_KDE_HPP_
#define RICCI_SCIPY_KDE_HPP_
#include <optional>
#include <string>

#include "ricci/operand.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {

struct KdeOptions {
  std::string bw_method = "scott";  // the rule for the width of the kernels: scott or silverman
  std::optional<Operand> factor;    // instead of the rule: a scalar
  std::optional<Operand> weights;   // of the points: [n], scaled to a sum of 1
};
// A density made of a normal kernel at each point of a data set (D. W. Scott, "Multivariate density estimation", 1992).
// Points are columns, [d, n]; a vector is a row. It holds Values, so it is for the trace, or the thread, it was made
// in.
struct GaussianKde {
  Value dataset, weights, neff;  // [d, n], [n], and the number of points that count
  Value covariance, inv_cov;     // of a kernel: [d, d]

  // The density and its logarithm at the points [d, m] or, for one point, [d]: [m].
  Value evaluate(const Operand& points) const;
  Value pdf(const Operand& points) const { return evaluate(points); }
  Value logpdf(const Operand& points) const;
  // The integral of the product with a normal density, with the density of another estimate, and, for d = 1, of the
  // density alone between two scalars.
  Value integrate_gaussian(const Operand& mean, const Operand& cov) const;
  Value integrate_kde(const GaussianKde& other, Location at = Location::Here()) const;
  Value integrate_box_1d(const Operand& low, const Operand& high) const;
  // `count` random points: [d, count].
  Value resample(const Operand& key, int64_t count) const;
};
GaussianKde gaussian_kde(const Operand& dataset, const KdeOptions& options = {});

}}}}  // namespace ricci::v0::scipy::stats
#endif
