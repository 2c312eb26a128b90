// Histograms of points of several dimensions.
#include "host/core/plain_math.h"
#include "ricci/creation.hpp"
#include "ricci/statistics.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

// The edges of dimension `d`, whose points are `x`.
Value EdgesOf(const Operand& sample, const Value& x, const Operand& bins, const HistogramddOptions& o, size_t d) {
  if (bins.is_number()) {
    if (bins.weak != Weak::kInt) FailAt(sample.at, "histogramdd: the number of bins is not an integer");
    return histogram_bin_edges(Operand(x, sample.at), bins.int64("histogramdd"),
                               o.range.empty() ? HistogramRange() : o.range[d]);
  }
  const Operand both[] = {Operand(x, sample.at), bins};
  const CallSite site = SiteOf("histogramdd", both);
  const Value edges = To(site.Lift(bins, x.dtype()), x.dtype());
  if (edges.rank() != 1 || edges.dim(0) < 2)
    site.Fail("edges are ", edges.type(), "; they must be a vector of at least 2");
  return edges;
}
// The bin of each point: 0 below all, n - 1 above, where n counts edges. The last bin holds its upper edge.
Value BinOf(const Operand& sample, const Value& x, const Value& edges) {
  const int64_t n = edges.dim(0);
  const Value last = lax::reshape(Cut(edges, n - 1, n, 0), Shape{});
  const Value bin = searchsorted(Operand(edges, sample.at), Operand(x, sample.at), "right");
  return Where(x == last, static_cast<double>(n - 1), bin);
}
Value Counted(const Operand& sample, const Value& index, const Value& points, const HistogramddOptions& o,
              int64_t length) {
  if (!o.weights) return bincount(Operand(index, sample.at), length);
  const Operand both[] = {Operand(points, sample.at), *o.weights};
  const CallSite site = SiteOf("histogramdd", both);
  const Value w = To(site.Lift(*o.weights, points.dtype()), points.dtype());
  if (!SameDims(w.shape(), index.shape())) site.Fail("weights are ", w.type(), " for ", points.dim(0), " points");
  return bincount(Operand(index, sample.at), Operand(w, sample.at), length);
}
// Divided by the total and by the size of each box.
Value Density(Value counts, const Values& edges, DType dtype) {
  counts = To(counts, dtype);
  counts = counts / lax::reduce_sum(counts, CountFrom(0, counts.rank()));
  for (size_t d = 0; d < edges.size(); ++d) {
    const int64_t n = edges[d].dim(0), axis = static_cast<int64_t>(d);
    const Value width = Cut(edges[d], 1, n, 0) - Cut(edges[d], 0, n - 1, 0);
    counts = counts / lax::broadcast_in_dim(width, counts.shape(), {&axis, 1});
  }
  return counts;
}
Histogramdd Count(const Operand& sample, std::span<const Operand> bins, const HistogramddOptions& o) {
  const Value points = UseInexact("histogramdd", sample);
  if (points.rank() != 2)
    FailAt(sample.at, "histogramdd: sample is ", points.type(), "; it must be [points, dimensions]");
  const auto dimensions = static_cast<size_t>(points.dim(1));
  if (bins.size() != dimensions || (!o.range.empty() && o.range.size() != dimensions)) {
    FailAt(sample.at, "histogramdd: ", ricci::Count(bins.size(), "number"), " of bins",
           o.range.empty() ? "" : Text(" and ", ricci::Count(o.range.size(), "range")), " for ",
           ricci::Count(dimensions, "dimension"), "; give one for each");
  }
  Values edges, index;
  Shape shape, start, stop;
  for (size_t d = 0; d < dimensions; ++d) {
    const int64_t i = static_cast<int64_t>(d), second = 1;
    const Value x = lax::squeeze(Cut(points, i, i + 1, 1), {&second, 1});
    edges.push_back(EdgesOf(sample, x, bins[d], o, d));
    index.push_back(BinOf(sample, x, edges.back()));
    const int64_t n = edges.back().dim(0);
    shape.push_back(n + 1), start.push_back(1), stop.push_back(n);
  }
  const int64_t length = ElementCount(shape);
  const Value flat = ravel_multi_index(index, shape, "clip", sample.at);
  const Value all = lax::reshape(Counted(sample, flat, points, o, length), shape);
  const Value inner = lax::slice(all, start, stop);
  return {o.density ? Density(inner, edges, points.dtype()) : inner, edges};
}
Value Columns(const Operand& x, const Operand& y) {
  const Operand both[] = {x, y};
  const Values v = UseTogether("histogram2d", both, /*inexact=*/true);
  if (v[0].rank() != 1) FailAt(x.at, "histogram2d: coordinates are ", v[0].type(), "; they must be vectors");
  return stack(v, 1, x.at);
}
Histogram2d Two(const Histogramdd& h) { return {h.histogram, h.edges[0], h.edges[1]}; }

}  // namespace

Histogramdd histogramdd(const Operand& sample, int64_t bins, const HistogramddOptions& o) {
  const Dims shape = sample.shape();
  return Count(sample, std::vector(shape.size() == 2 ? static_cast<size_t>(shape[1]) : 0, Operand(bins, sample.at)), o);
}
Histogramdd histogramdd(const Operand& sample, std::initializer_list<Operand> bins, const HistogramddOptions& o) {
  return Count(sample, {bins.begin(), bins.size()}, o);
}
Histogram2d histogram2d(const Operand& x, const Operand& y, int64_t bins, const HistogramddOptions& o) {
  return Two(histogramdd(Operand(Columns(x, y), x.at), bins, o));
}
Histogram2d histogram2d(const Operand& x, const Operand& y, std::initializer_list<Operand> bins,
                        const HistogramddOptions& o) {
  return Two(histogramdd(Operand(Columns(x, y), x.at), bins, o));
}

}}  // namespace ricci::v0
