// gaussian_kde of jax.scipy.stats.
//
// A triangular factor of the covariance turns all kernels into standard normal ones: the points are transformed once,
// and every integral is a sum over pairs of exp(-distance^2 / 2).
#include "ricci/scipy_kde.hpp"

#include <cmath>

#include "host/scipy/distribution.h"
#include "ricci/creation.hpp"
#include "ricci/joining.hpp"
#include "ricci/linalg.hpp"
#include "ricci/products.hpp"
#include "ricci/random.hpp"
#include "ricci/statistics.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {
namespace {

// [d, m] and [d, n] -> [m, n]: half of the squares of the distances.
Value HalfSquares(const Value& a, const Value& b) {
  const Value difference = lax::expand_dims(a, Shape{2}) - lax::expand_dims(b, Shape{1});
  return lax::reduce_sum(lax::square(difference), Shape{0}) / 2;
}
Value LogOfDiagonal(const Value& l, const Location& at) {
  return lax::reduce_sum(lax::log(diagonal(Operand(l, at))), Shape{0});
}
// The points as columns, in the dtype of the data.
Value Points(std::string_view name, const GaussianKde& kde, const Operand& points) {
  const Operand both[] = {Operand(kde.dataset, points.at), points};
  const CallSite site = SiteOf(name, both);
  const int64_t d = kde.dataset.dim(0);
  Value v = atleast_2d(Operand(To(site.Lift(points, kde.dataset.dtype()), kde.dataset.dtype()), points.at));
  if (v.rank() == 2 && v.dim(0) == 1 && v.dim(1) == d) v = lax::reshape(v, Shape{d, 1});
  if (v.rank() != 2 || v.dim(0) != d) {
    site.Fail("points are ", v.type(), "; they must be columns of ", Count(d, "element"));
  }
  return v;
}
// The logarithms of the kernels: [points, data].
Value LogKernels(const GaussianKde& kde, const Value& points, const Location& at) {
  const Value l = ricci::linalg::cholesky(Operand(kde.inv_cov, at));
  const Operand turn(lax::transpose(l, Shape{1, 0}), at);
  const Value x = matmul(turn, Operand(points, at)), y = matmul(turn, Operand(kde.dataset, at));
  const double constant = static_cast<double>(l.dim(0)) / 2 * std::log(2 * kPi);
  return LogOfDiagonal(l, at) - constant - HalfSquares(x, y);
}
// The sum over all pairs of points of the weights times the normal density of their difference.
Value Convolved(const GaussianKde& kde, const Value& points, const Value& weights, const Value& cov,
                const Location& at) {
  const Value l = ricci::linalg::cholesky(Operand(kde.covariance + cov, at));
  const auto white = [&](const Value& x) {
    return lax::linalg::triangular_solve(l, x, {.left_side = true, .lower = true});
  };
  const double constant = static_cast<double>(l.dim(0)) / 2 * std::log(2 * kPi);
  const Value kernels = lax::exp(-HalfSquares(white(points), white(kde.dataset)) - constant - LogOfDiagonal(l, at));
  return lax::reduce_sum(lax::expand_dims(weights, Shape{1}) * kernels * kde.weights, Shape{0, 1});
}
Value FactorOf(const Operand& in, const KdeOptions& options, const Value& neff, int64_t d) {
  if (options.factor) {
    const Operand both[] = {Operand(neff, in.at), *options.factor};
    const Value v = To(SiteOf("gaussian_kde", both).Lift(*options.factor, neff.dtype()), neff.dtype());
    if (v.rank() != 0) FailAt(in.at, "gaussian_kde: factor is ", v.type(), "; it must be a scalar");
    return v;
  }
  const bool silverman = options.bw_method == "silverman";
  if (!silverman && options.bw_method != "scott") {
    FailAt(in.at, "gaussian_kde: bw_method is ", options.bw_method, "; it must be scott or silverman");
  }
  const Value count = silverman ? neff * (static_cast<double>(d + 2) / 4) : neff;
  return lax::pow(count, Num(count, -1 / static_cast<double>(d + 4)));
}
// Scaled to a sum of 1.
Value WeightsOf(const Operand& in, const KdeOptions& options, const Value& data) {
  const int64_t n = data.dim(1);
  const Value ones = BroadcastValue(Scalar(data, 1), Shape{n});
  if (!options.weights) return ones / static_cast<double>(n);
  const Operand both[] = {Operand(data, in.at), *options.weights};
  const Value w = To(SiteOf("gaussian_kde", both).Lift(*options.weights, data.dtype()), data.dtype());
  if (w.rank() != 1 || w.dim(0) != n) {
    FailAt(in.at, "gaussian_kde: weights are ", w.type(), "; they must be a vector of ", Count(n, "element"));
  }
  return w / lax::reduce_sum(w, Shape{0});
}

}  // namespace

GaussianKde gaussian_kde(const Operand& dataset, const KdeOptions& options) {
  const Value data = atleast_2d(Operand(UseInexact("gaussian_kde", dataset), dataset.at));
  if (IsComplex(data.dtype()) || data.rank() != 2 || data.type().elements() < 2) {
    FailAt(dataset.at, "gaussian_kde: dataset is ", data.type(), "; it must be real, [d, n], with at least 2 elements");
  }
  const int64_t d = data.dim(0);
  const Value weights = WeightsOf(dataset, options, data);
  const Value neff = 1 / lax::reduce_sum(lax::square(weights), Shape{0});
  const Value factor = lax::square(FactorOf(dataset, options, neff, d));
  const Operand counts(weights, dataset.at);
  const Value spread = cov(Operand(data, dataset.at), {.aweights = counts});
  const Value matrix = lax::reshape(spread, Shape{d, d});
  const Value inverse = ricci::linalg::inv(Operand(matrix, dataset.at));
  return {data, weights, neff, matrix * factor, inverse / factor};
}

Value GaussianKde::evaluate(const Operand& points) const {
  const Value x = Points("evaluate", *this, points);
  return lax::reduce_sum(lax::exp(LogKernels(*this, x, points.at)) * weights, Shape{1});
}
Value GaussianKde::logpdf(const Operand& points) const {
  const Value x = Points("logpdf", *this, points);
  const Value terms = LogKernels(*this, x, points.at) + lax::log(weights);
  return special::logsumexp(Operand(terms, points.at), 1);
}
Value GaussianKde::integrate_gaussian(const Operand& mean, const Operand& cov) const {
  const Value center = Points("integrate_gaussian", *this, mean);
  const Operand both[] = {Operand(dataset, mean.at), cov};
  const CallSite site = SiteOf("integrate_gaussian", both);
  const Value matrix = atleast_2d(Operand(To(site.Lift(cov, dataset.dtype()), dataset.dtype()), mean.at));
  if (center.dim(1) != 1 || !SameDims(matrix.shape(), covariance.shape())) {
    site.Fail("mean is ", center.type(), " and cov ", matrix.type(), "; they must be one point and ",
              covariance.type());
  }
  return Convolved(*this, center, BroadcastValue(Scalar(center, 1), Shape{1}), matrix, mean.at);
}
Value GaussianKde::integrate_kde(const GaussianKde& other, Location at) const {
  if (other.dataset.dim(0) != dataset.dim(0)) {
    FailAt(at, "integrate_kde: the estimates have ", dataset.dim(0), " and ", other.dataset.dim(0), " dimensions");
  }
  return Convolved(*this, other.dataset, other.weights, other.covariance, at);
}
Value GaussianKde::integrate_box_1d(const Operand& low, const Operand& high) const {
  const Operand all[] = {Operand(dataset, low.at), low, high};
  const CallSite site = SiteOf("integrate_box_1d", all);
  if (dataset.dim(0) != 1) site.Fail("the estimate has ", dataset.dim(0), " dimensions; it must have 1");
  const Value x = lax::reshape(dataset, Shape{dataset.dim(1)}), sigma = lax::sqrt(lax::reshape(covariance, Shape{}));
  const auto below = [&](const Operand& edge) {
    const Value v = To(site.Lift(edge, x.dtype()), x.dtype());
    if (v.rank() != 0) site.Fail("a limit is ", v.type(), "; it must be a scalar");
    return special::ndtr(Operand((v - x) / sigma, low.at));
  };
  return lax::reduce_sum(weights * (below(high) - below(low)), Shape{0});
}
Value GaussianKde::resample(const Operand& key, int64_t count) const {
  const Values keys = random::split(key);
  const int64_t d = dataset.dim(0), n = dataset.dim(1);
  const Operand weight(weights, key.at), mean(BroadcastValue(Scalar(dataset, 0), Shape{d}), key.at);
  const Value which = random::choice(Operand(keys[0], key.at), n, {count}, {.p = weight});
  const Value noise = random::multivariate_normal(Operand(keys[1], key.at), mean, Operand(covariance, key.at), {count},
                                                  dataset.dtype());
  return GatherAlong(dataset, which, 1, "clip") + lax::transpose(noise, Shape{1, 0});
}

}}}}  // namespace ricci::v0::scipy::stats
