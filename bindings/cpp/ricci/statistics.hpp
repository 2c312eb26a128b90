// ricci/statistics.hpp: order statistics, weighted means, covariances, histograms and searches of jax.numpy.
#ifndef RICCI_STATISTICS_HPP_
#define RICCI_STATISTICS_HPP_
#include "ricci/sorting.hpp"

namespace ricci { inline namespace v0 {

// ---- quantiles: NaN if an element is; the nan functions leave those out ----
Value median(const Operand& x, const Axes& axes = {}, bool keepdims = false);
// The q-quantiles, 0 <= q <= 1, a scalar or a vector, whose dimension comes first. `method` chooses between the two
// nearest elements: linear, lower, higher, nearest, midpoint.
Value quantile(const Operand& x, const Operand& q, const Axes& axes = {}, std::string_view method = "linear",
               bool keepdims = false);
// The same with q from 0 to 100.
Value percentile(const Operand& x, const Operand& q, const Axes& axes = {}, std::string_view method = "linear",
                 bool keepdims = false);
Value nanmedian(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value nanquantile(const Operand& x, const Operand& q, const Axes& axes = {}, std::string_view method = "linear",
                  bool keepdims = false);
Value nanpercentile(const Operand& x, const Operand& q, const Axes& axes = {}, std::string_view method = "linear",
                    bool keepdims = false);

// ---- means and covariances ----
// The mean weighted by `weights`, of the shape of x or a vector along the only axis.
Value average(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value average(const Operand& x, const Axes& axes, const Operand& weights, bool keepdims = false);
// What cov takes by name.
struct CovOptions {
  bool rowvar = true;  // rows are variables, columns are observations
  bool bias = false;   // divides by the number of observations, else by one less
  std::optional<int64_t> ddof = {};
  std::optional<Operand> fweights = {}, aweights = {};  // how often an observation occurs; how much it counts
};
Value cov(const Operand& x, const CovOptions& options = {});
Value cov(const Operand& x, const Operand& y, const CovOptions& options = {});
Value corrcoef(const Operand& x, bool rowvar = true);
Value corrcoef(const Operand& x, const Operand& y, bool rowvar = true);

// ---- searches in sorted arrays; i32 ----
// Where `v` would be inserted into the sorted vector a: before (`left`) or after (`right`) equal elements.
Value searchsorted(const Operand& a, const Operand& v, std::string_view side = "left");
// The bin of each element; `bins` increase or decrease.
Value digitize(const Operand& x, const Operand& bins, bool right = false);

// ---- histograms ----
// How often each integer from 0 to length - 1 occurs in x, i32 or the sum of its weights; negative ones count as 0,
// and greater ones not at all.
Value bincount(const Operand& x, int64_t length);
Value bincount(const Operand& x, const Operand& weights, int64_t length);
using HistogramRange = std::optional<std::pair<double, double>>;  // without: from the least element to the greatest
Value histogram_bin_edges(const Operand& x, int64_t bins = 10, const HistogramRange& range = {});
// What histogram takes by name.
struct HistogramOptions {
  HistogramRange range = {};
  std::optional<Operand> weights = {};
  bool density = false;  // a probability density: its integral is 1
};
// Counts and the edges of the bins, of equal width or as given.
std::pair<Value, Value> histogram(const Operand& x, int64_t bins = 10, const HistogramOptions& options = {});
std::pair<Value, Value> histogram(const Operand& x, const Operand& edges, const HistogramOptions& options = {});

struct HistogramddOptions {
  std::vector<HistogramRange> range = {};  // one per dimension, or none at all
  std::optional<Operand> weights = {};
  bool density = false;
};
struct Histogramdd {
  Value histogram;  // counts of each box, i32, or sums of weights
  Values edges;     // of each dimension
};
// How many rows of `sample`, [n, dimensions], are in each box. An entry of `bins` is the number of bins of a dimension,
// or their edges; a single number counts for all.
Histogramdd histogramdd(const Operand& sample, int64_t bins = 10, const HistogramddOptions& options = {});
Histogramdd histogramdd(const Operand& sample, std::initializer_list<Operand> bins,
                        const HistogramddOptions& options = {});
struct Histogram2d {
  Value histogram, x_edges, y_edges;
};
// Of points with these coordinates, two vectors.
Histogram2d histogram2d(const Operand& x, const Operand& y, int64_t bins = 10, const HistogramddOptions& options = {});
Histogram2d histogram2d(const Operand& x, const Operand& y, std::initializer_list<Operand> bins,
                        const HistogramddOptions& options = {});

}}  // namespace ricci::v0
#endif
