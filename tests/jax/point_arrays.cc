// Functions of vectors and of matrices.
#include <cmath>

#include "point_functions.h"
#include "ricci/lax.hpp"
#include "ricci/nn.hpp"
#include "ricci/scipy_special.hpp"

namespace points {
namespace {

using namespace ricci;

// The greatest element of each of two segments: of the first and the last, and of the others.
Value SegmentMax(const Values& x) {
  const Value lowest = full(x[0], {2}, -INFINITY, x[0].dtype());
  const Value place = arange(x[0], 4);
  return max_at(lowest, minimum(place, 3 - place), x[0]);
}

const Function kOfVectors[] = {
    {"norm", [](const Values& x) { return linalg::norm(x[0]); }},
    {"plain_norm", [](const Values& x) { return norm(x[0]); }},
    {"norm_0", [](const Values& x) { return linalg::norm(x[0], 0.0); }},
    {"norm_1", [](const Values& x) { return linalg::norm(x[0], 1.0); }},
    {"norm_2", [](const Values& x) { return linalg::norm(x[0], 2.0); }},
    {"norm_3", [](const Values& x) { return linalg::norm(x[0], 3.0); }},
    {"norm_0.5", [](const Values& x) { return linalg::norm(x[0], 0.5); }},
    {"norm_-1", [](const Values& x) { return linalg::norm(x[0], -1.0); }},
    {"norm_inf", [](const Values& x) { return linalg::norm(x[0], INFINITY); }},
    {"norm_-inf", [](const Values& x) { return linalg::norm(x[0], -INFINITY); }},
    {"logsumexp", [](const Values& x) { return logsumexp(x[0]); }},
    {"logsumexp_weights", [](const Values& x) { return scipy::special::logsumexp(x[0], Axes{}, Operand(abs(x[0]))); }},
    {"logmeanexp", [](const Values& x) { return nn::logmeanexp(x[0]); }},
    {"softmax", [](const Values& x) { return softmax(x[0]); }},
    {"log_softmax", [](const Values& x) { return log_softmax(x[0]); }},
    {"standardize", [](const Values& x) { return nn::standardize(x[0]); }},
    {"mean", [](const Values& x) { return mean(x[0]); }},
    {"var", [](const Values& x) { return var(x[0]); }},
    {"std", [](const Values& x) { return ricci::std(x[0]); }},
    {"std_1", [](const Values& x) { return ricci::std(x[0], {}, 1); }},
    {"sum", [](const Values& x) { return sum(x[0]); }},
    {"prod", [](const Values& x) { return prod(x[0]); }},
    {"max", [](const Values& x) { return max(x[0]); }},
    {"min", [](const Values& x) { return min(x[0]); }},
    {"ptp", [](const Values& x) { return ptp(x[0]); }},
    {"nanmax", [](const Values& x) { return nanmax(x[0]); }},
    {"nanmin", [](const Values& x) { return nanmin(x[0]); }},
    {"nansum", [](const Values& x) { return nansum(x[0]); }},
    {"nanmean", [](const Values& x) { return nanmean(x[0]); }},
    {"nanstd", [](const Values& x) { return nanstd(x[0]); }},
    {"sort", [](const Values& x) { return sort(x[0]); }},
    {"top_k", [](const Values& x) { return top_k(x[0], 2).first; }},
    {"argmax_gather", [](const Values& x) { return take(x[0], argmax(x[0])); }},
    {"argmin_gather", [](const Values& x) { return take(x[0], argmin(x[0])); }},
    {"median", [](const Values& x) { return median(x[0]); }},
    {"quantile", [](const Values& x) { return quantile(x[0], 0.3); }},
    {"nanmedian", [](const Values& x) { return nanmedian(x[0]); }},
    {"cumsum", [](const Values& x) { return cumsum(x[0]); }},
    {"cumprod", [](const Values& x) { return cumprod(x[0]); }},
    {"cummax", [](const Values& x) { return lax::cummax(x[0], 0); }},
    {"cummin", [](const Values& x) { return lax::cummin(x[0], 0); }},
    {"cumlogsumexp", [](const Values& x) { return lax::cumlogsumexp(x[0], 0); }},
    {"segment_max", SegmentMax},
    {"interp", [](const Values& x) { return interp(x[0], x[1], x[2]); }},
};

const Function kOfMatrices[] = {
    {"matrix_norm", [](const Values& x) { return linalg::matrix_norm(x[0]); }},
    {"matrix_norm_nuc", [](const Values& x) { return linalg::matrix_norm(x[0], "nuc"); }},
    {"matrix_norm_1", [](const Values& x) { return linalg::matrix_norm(x[0], 1.0); }},
    {"matrix_norm_-1", [](const Values& x) { return linalg::matrix_norm(x[0], -1.0); }},
    {"matrix_norm_2", [](const Values& x) { return linalg::matrix_norm(x[0], 2.0); }},
    {"matrix_norm_-2", [](const Values& x) { return linalg::matrix_norm(x[0], -2.0); }},
    {"matrix_norm_inf", [](const Values& x) { return linalg::matrix_norm(x[0], INFINITY); }},
    {"matrix_norm_-inf", [](const Values& x) { return linalg::matrix_norm(x[0], -INFINITY); }},
    {"cholesky", [](const Values& x) { return linalg::cholesky(x[0]); }},
    {"det", [](const Values& x) { return linalg::det(x[0]); }},
    {"slogdet", [](const Values& x) { return linalg::slogdet(x[0]).logabsdet; }},
    {"inv", [](const Values& x) { return linalg::inv(x[0]); }},
};

}  // namespace

std::span<const Function> OfVectors() { return kOfVectors; }
std::span<const Function> OfMatrices() { return kOfMatrices; }

}  // namespace points
