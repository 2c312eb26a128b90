// Weighted means, covariances, searches and histograms, with the formulas of jax.numpy.
#include "ricci/statistics.hpp"

#include <limits>

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 {

using namespace plain;

Value average(const Operand& x, const Axes& axes, bool keepdims) { return mean(x, axes, keepdims); }
Value average(const Operand& x, const Axes& axes, const Operand& weights, bool keepdims) {
  const Operand both[] = {x, weights};
  const CallSite site = SiteOf("average", both);
  const DType dtype = ToInexact(PromotedDType(site, both));
  const Value v = To(site.Lift(x, dtype), dtype);
  Value w = To(site.Lift(weights, dtype), dtype);
  const Shape list = axes.Of("average", x.at, v.rank());
  if (!SameDims(v.shape(), w.shape())) {
    if (list.size() != 1 || w.rank() != 1 || w.dim(0) != v.dim(list[0])) {
      site.Fail("weights are ", w.type(), " for ", v.type(), "; they need its shape, or to be a vector along one axis");
    }
    w = lax::broadcast_in_dim(w, v.shape(), list);
  }
  return sum(Operand(v * w, x.at), axes, keepdims) / sum(Operand(w, x.at), axes, keepdims);
}

namespace {

// Observations along the second dimension.
Value Observations(const Operand& x, bool rowvar, std::string_view name) {
  const Value v = UseInexact(name, x);
  if (v.rank() > 2) FailAt(x.at, name, ": operand is ", v.type(), "; it must have at most 2 dimensions");
  const Value rows = v.rank() == 2 ? v : lax::reshape(v, Shape{1, v.type().elements()});
  return rowvar || rows.dim(0) == 1 ? rows : lax::transpose(rows, Shape{1, 0});
}
Value Transposed(const Value& v) { return lax::transpose(v, Shape{1, 0}); }
Value CovOf(const Operand& x, const Value& rows, const CovOptions& o) {
  const int64_t columns = 1;
  std::optional<Value> weights;
  const auto weigh = [&](const std::optional<Operand>& given) {
    if (!given) return;
    const Operand both[] = {Operand(rows, x.at), *given};
    const CallSite site = SiteOf("cov", both);
    const Value w = To(site.Lift(*given, rows.dtype()), rows.dtype());
    if (w.rank() != 1 || w.dim(0) != rows.dim(1))
      site.Fail("weights are ", w.type(), " for ", rows.dim(1), " observations");
    weights = weights ? *weights * w : w;
  };
  weigh(o.fweights);
  weigh(o.aweights);
  const auto ddof = static_cast<double>(o.ddof.value_or(o.bias ? 0 : 1));
  const auto n = static_cast<double>(rows.dim(1));
  const Value total = weights ? lax::reduce_sum(*weights, Shape{0}) : Scalar(rows, n);
  const Value weighted = weights ? rows * *weights : rows;
  const Value centered = rows - KeptSum(weighted, {&columns, 1}) / total;
  Value factor = total - ddof;
  if (o.aweights && ddof != 0) {
    const Operand both[] = {Operand(rows, x.at), *o.aweights};
    const Value a = To(SiteOf("cov", both).Lift(*o.aweights, rows.dtype()), rows.dtype());
    factor = total - ddof * lax::reduce_sum(*weights * a, Shape{0}) / total;
  }
  const Value other = weights ? centered * *weights : centered;
  const Value right = Transposed(IsComplex(other.dtype()) ? lax::conj(other) : other);
  const Value out = lax::dot_general(centered, right, {{1}, {0}, {}, {}}) / factor;
  return rows.dim(0) == 1 ? lax::reshape(out, Shape{}) : out;
}
Value CorrelationOf(const Value& c) {
  if (c.rank() == 0) return c / c;
  const Value i = Positions(c, DType::kI32, 0), j = Positions(c, DType::kI32, 1);
  const Value spread = lax::sqrt(lax::reduce_sum(Where(i == j, c, 0), Shape{1}));
  const Value scaled = c / lax::expand_dims(spread, Shape{1}) / lax::expand_dims(spread, Shape{0});
  return IsComplex(c.dtype()) ? scaled : lax::clamp(Scalar(c, -1), scaled, Scalar(c, 1));
}
Value Both2(const Operand& x, const Operand& y, bool rowvar, std::string_view name) {
  const Operand rows[] = {Operand(Observations(x, rowvar, name), x.at), Operand(Observations(y, rowvar, name), x.at)};
  return concatenate(std::span<const Operand>(rows), 0);
}

}  // namespace

Value cov(const Operand& x, const CovOptions& o) { return CovOf(x, Observations(x, o.rowvar, "cov"), o); }
Value cov(const Operand& x, const Operand& y, const CovOptions& o) { return CovOf(x, Both2(x, y, o.rowvar, "cov"), o); }
Value corrcoef(const Operand& x, bool rowvar) { return CorrelationOf(cov(x, {.rowvar = rowvar})); }
Value corrcoef(const Operand& x, const Operand& y, bool rowvar) { return CorrelationOf(cov(x, y, {.rowvar = rowvar})); }

namespace {

// Whether an element of a sorted array comes before where v is inserted; NaN is last.
Value ComesBefore(const Value& a, const Value& v, bool right) {
  const Value before = right ? a <= v : a < v;
  if (!IsInexact(v.dtype())) return before;
  const Value last = IsNaN(v);
  return before | (right ? last : last & ~IsNaN(a));
}

}  // namespace

Value searchsorted(const Operand& a, const Operand& v, std::string_view side) {
  const Operand in[] = {a, v};
  const CallSite site = SiteOf("searchsorted", in);
  if (side != "left" && side != "right") site.Fail("side is ", side, "; it must be left or right");
  const DType dtype = PromotedDType(site, in);
  const Value sorted = To(site.Lift(a, dtype), dtype), x = To(site.Lift(v, dtype), dtype);
  if (sorted.rank() != 1) site.Fail("the sorted array is ", sorted.type(), "; it must be a vector");
  const int64_t n = sorted.dim(0);
  Value low = To(lax::zeros_like(x), DType::kI32), high = Num(low, static_cast<double>(n));
  // Halves the interval until it is empty.
  for (int64_t left = n; left > 0; left /= 2) {
    const Value middle = lax::shift_right_logical(low + high, lax::ones_like(low));
    const Value open = low < high;
    const Value before = ComesBefore(GatherAlong(sorted, middle, 0, "clip"), x, side == "right") & open;
    low = Where(before, middle + 1, low);
    high = Where(open & ~before, middle, high);
  }
  return low;
}
Value digitize(const Operand& x, const Operand& bins, bool right) {
  const Operand in[] = {x, bins};
  const CallSite site = SiteOf("digitize", in);
  const Value edges = site.Lift(bins, kDefaultFloat);
  if (edges.rank() != 1) site.Fail("bins are ", edges.type(), "; they must be a vector");
  const int64_t n = edges.dim(0), axis = 0;
  if (n == 0) return To(lax::zeros_like(site.Lift(x, kDefaultFloat)), DType::kI32);
  const Value up = lax::reshape(Cut(edges, n - 1, n, 0), Shape{}) >= lax::reshape(Cut(edges, 0, 1, 0), Shape{});
  const Value rising = searchsorted(Operand(edges, x.at), x, right ? "left" : "right");
  const Value falling = searchsorted(Operand(lax::rev(edges, {&axis, 1}), x.at), x, right ? "left" : "right");
  return Where(up, rising, static_cast<double>(n) - falling);
}

namespace {

Value Counts(const Operand& x, const Value& weights, const Value& index, int64_t length) {
  const Value none = BroadcastValue(Scalar(weights, 0), Shape{length});
  return add_at(Operand(none, x.at), Operand(index, x.at), Operand(weights, x.at));
}
Value Flat(const Value& v) {
  const int64_t n = v.type().elements();
  return lax::reshape(v, {&n, 1});
}
// Index of each element among bins of which the last one holds its upper edge; 0 and beyond: none.
std::pair<Value, Value> CountedIn(const Operand& x, const Value& data, const Value& edges, const HistogramOptions& o) {
  const int64_t n = edges.dim(0);
  const Value last = lax::reshape(Cut(edges, n - 1, n, 0), Shape{});
  const Value bin = searchsorted(Operand(edges, x.at), Operand(data, x.at), "right");
  const Value index = Where(data == last, static_cast<double>(n - 1), bin);
  Value weights = lax::ones_like(data);
  if (o.weights) {
    const Operand both[] = {Operand(data, x.at), *o.weights};
    const Value w = SiteOf("histogram", both).Lift(*o.weights, data.dtype());
    if (w.type().elements() != data.dim(0))
      FailAt(x.at, "histogram: weights are ", w.type(), " for ", data.dim(0), " elements");
    weights = Flat(w);
  }
  const Value counts = Cut(Counts(x, weights, index, n), 1, n, 0);
  if (!o.density) return {counts, edges};
  const Value width = To(Cut(edges, 1, n, 0) - Cut(edges, 0, n - 1, 0), counts.dtype());
  return {counts / width / lax::reduce_sum(counts, Shape{0}), edges};
}

}  // namespace

Value bincount(const Operand& x, int64_t length) {
  const Value v = Use("bincount", x);
  return bincount(Operand(v, x.at), Operand(To(lax::ones_like(v), kDefaultInt), x.at), length);
}
Value bincount(const Operand& x, const Operand& weights, int64_t length) {
  const Operand in[] = {x, weights};
  const CallSite site = SiteOf("bincount", in);
  const Value v = site.Lift(x, kDefaultInt), w = site.Lift(weights, kDefaultInt);
  if (v.rank() != 1 || !(IsInt(v.dtype()) || v.dtype() == DType::kBool))
    site.Fail("operand is ", v.type(), "; it must be a vector of integers");
  if (!SameDims(v.shape(), w.shape())) site.Fail("weights are ", w.type(), " for ", v.type());
  if (length < 0) site.Fail("length is ", length, "; it must not be negative");
  const Value index = v.dtype() == DType::kBool ? To(v, DType::kI32) : v;
  return Counts(x, w, In(index.dtype(), kUnsigned) ? index : Max(index, lax::zeros_like(index)), length);
}
Value histogram_bin_edges(const Operand& x, int64_t bins, const HistogramRange& range) {
  const Value v = UseInexact("histogram_bin_edges", x);
  if (bins < 1) FailAt(x.at, "histogram_bin_edges: bins is ", bins, "; it must be at least 1");
  Value low = Scalar(v, 0), high = Scalar(v, 1);
  if (range) {
    low = Scalar(v, range->first);
    high = Scalar(v, range->second);
  } else if (v.type().elements() > 0) {
    const Shape all = CountFrom(0, v.rank());
    low = lax::reduce_min(v, all);
    high = lax::reduce_max(v, all);
  }
  const Value same = low == high;
  const Value from = Where(same, low - 0.5, low), to = Where(same, high + 0.5, high);
  return linspace(Operand(from, x.at), Operand(to, x.at), bins + 1);
}
std::pair<Value, Value> histogram(const Operand& x, int64_t bins, const HistogramOptions& o) {
  const Value v = UseInexact("histogram", x);
  return CountedIn(x, Flat(v), histogram_bin_edges(Operand(v, x.at), bins, o.range), o);
}
std::pair<Value, Value> histogram(const Operand& x, const Operand& edges, const HistogramOptions& o) {
  const Operand in[] = {x, edges};
  const CallSite site = SiteOf("histogram", in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  const Value e = To(site.Lift(edges, dtype), dtype);
  if (e.rank() != 1 || e.dim(0) < 2) site.Fail("edges are ", e.type(), "; they must be a vector of at least 2");
  return CountedIn(x, Flat(To(site.Lift(x, dtype), dtype)), e, o);
}

}}  // namespace ricci::v0
