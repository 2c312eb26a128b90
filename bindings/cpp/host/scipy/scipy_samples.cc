// Statistics of samples: sem, rankdata, mode. Equal elements of a sorted array are a run.
#include <cmath>

#include "host/scipy/distribution.h"
#include "ricci/sorting.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {
namespace {

// True where a run begins along the last axis of sorted elements; NaN equals NaN.
Value RunStarts(const Value& sorted) {
  const int64_t last = sorted.rank() - 1, n = sorted.dim(last);
  const Value head = Cut(sorted, 0, 1, last), before = Cut(sorted, 0, n - 1, last), after = Cut(sorted, 1, n, last);
  const Value differs = IsFloat(sorted.dtype()) ? (before != after) & ~(IsNaN(before) & IsNaN(after)) : before != after;
  return Join({lax::ones_like(head == head), differs}, last);
}
// The position at which the run of each element begins.
Value RunStart(const Value& starts) {
  const int64_t last = starts.rank() - 1;
  const Value i = Positions(starts, DType::kI32, last);
  return lax::cummax(Where(starts, i, 0), last);
}
// The position at which it ends.
Value RunEnd(const Value& starts) {
  const int64_t last = starts.rank() - 1, n = starts.dim(last);
  const Value i = Positions(starts, DType::kI32, last), one = lax::ones_like(Cut(starts, 0, 1, last));
  const Value ends = Join({Cut(starts, 1, n, last), one}, last);
  return lax::cummin(Where(ends, i, static_cast<double>(n - 1)), last, /*reverse=*/true);
}

}  // namespace

Value sem(const Operand& x, const Axes& axes, int64_t ddof, bool keepdims) {
  const Value v = UseInexact("sem", x);
  double n = 1;
  for (int64_t d : axes.Of("sem", x.at, v.rank())) n *= static_cast<double>(v.dim(d));
  return std(At(v, x), axes, ddof, keepdims) / std::sqrt(n);
}

Value rankdata(const Operand& x, std::string_view method) {
  const Value given = Use("rankdata", x), v = lax::reshape(given, Shape{ElementCount(given.shape())});
  const Value operands[] = {v, Positions(v, DType::kI32, 0)};
  const Values sorted = lax::sort(operands, 0);
  const Value starts = RunStarts(sorted[0]);
  Value rank = To(Positions(v, DType::kI32, 0) + 1, kDefaultFloat);
  const auto from_one = [](const Value& position) { return To(position + 1, kDefaultFloat); };
  if (method == "average") {
    rank = (from_one(RunStart(starts)) + from_one(RunEnd(starts))) * 0.5;
  } else if (method == "min") {
    rank = from_one(RunStart(starts));
  } else if (method == "max") {
    rank = from_one(RunEnd(starts));
  } else if (method == "dense") {
    rank = To(lax::cumsum(To(starts, DType::kI32), 0), kDefaultFloat);
  } else if (method != "ordinal") {
    FailAt(x.at, "rankdata: method is ", method, "; it must be average, min, max, dense or ordinal");
  }
  const Value back[] = {sorted[1], rank};
  rank = lax::sort(back, 0)[1];
  return IsFloat(v.dtype()) ? Where(lax::reduce_or(IsNaN(v), Shape{0}), kNaN, rank) : rank;
}

ModeResult mode(const Operand& x, AxisNumber axis, bool keepdims) {
  Value v = Use("mode", x);
  if (v.rank() == 0) v = lax::reshape(v, Shape{1});
  const int64_t dim = axis == kFlat ? kFlat : Axis("mode", x.at, axis, v.rank());
  const Shape ones(static_cast<size_t>(v.rank()), 1);
  const Value rows = dim == kFlat ? lax::reshape(v, Shape{ElementCount(v.shape())}) : AxisToEnd(v, dim);
  const int64_t last = rows.rank() - 1, n = rows.dim(last);
  const auto shaped = [&](const Value& r) {
    if (!keepdims) return r;
    return dim == kFlat ? lax::reshape(r, ones) : lax::expand_dims(r, {&dim, 1});
  };
  if (n == 0) FailAt(x.at, "mode: operand is ", v.type(), "; it needs elements along the axis");
  const Value sorted = sort(At(rows, x));
  const Value length = Positions(sorted, DType::kI32, last) - RunStart(RunStarts(sorted)) + 1;
  const Value count = lax::reduce_max(length, Shape{last});
  // The end of the first of the longest runs, which is that of the least element.
  const Value end = argmax(At(length, x), last, /*keepdims=*/true);
  const Value element = take_along_axis(At(sorted, x), At(end, x), last);
  return {shaped(lax::squeeze(element, Shape{last})), shaped(count)};
}

}}}}  // namespace ricci::v0::scipy::stats
