// Quantiles: the reduced axes as one last dimension, sorted, and the two nearest elements of each fraction.
#include <algorithm>
#include <limits>

#include "host/core/plain_math.h"
#include "ricci/statistics.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// x with the axes `list` as one last dimension.
Value ReducedLast(const Value& v, const Shape& list) {
  Shape order, shape;
  int64_t n = 1;
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (std::find(list.begin(), list.end(), d) != list.end()) continue;
    order.push_back(d);
    shape.push_back(v.dim(d));
  }
  for (int64_t d : list) {
    order.push_back(d);
    n *= v.dim(d);
  }
  shape.push_back(n);
  return lax::reshape(lax::transpose(v, order), shape);
}

enum class Method { kLinear, kLower, kHigher, kNearest, kMidpoint };
Method MethodOf(std::string_view name, const Location& at, std::string_view method) {
  static constexpr std::string_view kNames[] = {"linear", "lower", "higher", "nearest", "midpoint"};
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == method) return static_cast<Method>(i);
  }
  FailAt(at, name, ": method is ", method, "; it must be linear, lower, higher, nearest or midpoint");
}
Value Chosen(Method method, const Value& low, const Value& high, const Value& weight) {
  switch (method) {
    case Method::kLinear:
      return low * (1 - weight) + high * weight;
    case Method::kLower:
      return low;
    case Method::kHigher:
      return high;
    case Method::kNearest:
      return Where(weight <= 0.5, low, high);
    case Method::kMidpoint:
      return (low + high) * 0.5;
  }
  return low;
}

struct Question {
  std::string_view name;
  std::string_view method;
  bool skip_nan;
  double scale;  // of the fractions
};

// sorted [..., n] and fractions [k]: the quantiles [..., k].
Value OfSorted(const Question& ask, const Location& at, const Value& sorted, const Value& last, const Value& q) {
  const Value position = q * last, low = lax::floor(position), high = lax::ceil(position);
  const Value zero = Scalar(position, 0);
  const auto at_index = [&](const Value& i) {
    const Value index = To(Max(Min(i, last), zero), DType::kI32);
    Shape shape(sorted.shape().begin(), sorted.shape().end() - 1);
    shape.push_back(q.dim(0));
    return take_along_axis(Operand(sorted, at), Operand(BroadcastValue(index, shape), at), -1);
  };
  return Chosen(MethodOf(ask.name, at, ask.method), at_index(low), at_index(high), position - low);
}

Value Quantile(const Question& ask, const Operand& x, const Operand& q, const Axes& axes, bool keepdims) {
  const Operand both[] = {x, q};
  const CallSite site = SiteOf(ask.name, both);
  const DType dtype = ToInexact(PromotedDType(site, both));
  if (IsComplex(dtype)) site.Fail("operands are of ", dtype, "; they must be real");
  const Value v = To(site.Lift(x, dtype), dtype), fractions = To(site.Lift(q, dtype), dtype);
  if (fractions.rank() > 1) site.Fail("q is ", fractions.type(), "; it must be a scalar or a vector");
  const Shape list = axes.Of(ask.name, x.at, v.rank());
  const Value rows = ReducedLast(v, list);
  const int64_t n = rows.dim(rows.rank() - 1), last_axis = rows.rank() - 1, k = fractions.type().elements();
  if (n == 0) site.Fail(v.type(), " has no elements along the axes");
  const Value is_nan = IsNaN(rows);
  const Value spoiled = lax::expand_dims(lax::reduce_or(is_nan, {&last_axis, 1}), {&last_axis, 1});
  const Value clean =
      Where(ask.skip_nan ? is_nan : BroadcastValue(spoiled, rows.shape()), kNaN, rows);  // NaN sorts last
  const Value last =
      ask.skip_nan ? KeptSum(To(~is_nan, dtype), {&last_axis, 1}) - 1 : Scalar(rows, static_cast<double>(n - 1));
  const Value sorted = lax::sort({&clean, 1}, last_axis)[0];
  const Value out = OfSorted(ask, x.at, sorted, last, lax::reshape(fractions * ask.scale, {&k, 1}));
  // The fractions' dimension comes first or goes.
  Shape order = CountFrom(0, last_axis), shape(rows.shape().begin(), rows.shape().end() - 1);
  if (keepdims) {
    shape = ShapeOfValue(v);
    for (int64_t d : list) shape[static_cast<size_t>(d)] = 1;
  }
  order.insert(order.begin(), last_axis);
  if (fractions.rank() == 1) shape.insert(shape.begin(), k);
  return lax::reshape(lax::transpose(out, order), shape);
}

}  // namespace

Value median(const Operand& x, const Axes& axes, bool keepdims) {
  return Quantile({"median", "midpoint", false, 1}, x, Operand(0.5, x.at), axes, keepdims);
}
Value quantile(const Operand& x, const Operand& q, const Axes& axes, std::string_view method, bool keepdims) {
  return Quantile({"quantile", method, false, 1}, x, q, axes, keepdims);
}
Value percentile(const Operand& x, const Operand& q, const Axes& axes, std::string_view method, bool keepdims) {
  return Quantile({"percentile", method, false, 0.01}, x, q, axes, keepdims);
}
Value nanmedian(const Operand& x, const Axes& axes, bool keepdims) {
  return Quantile({"nanmedian", "midpoint", true, 1}, x, Operand(0.5, x.at), axes, keepdims);
}
Value nanquantile(const Operand& x, const Operand& q, const Axes& axes, std::string_view method, bool keepdims) {
  return Quantile({"nanquantile", method, true, 1}, x, q, axes, keepdims);
}
Value nanpercentile(const Operand& x, const Operand& q, const Axes& axes, std::string_view method, bool keepdims) {
  return Quantile({"nanpercentile", method, true, 0.01}, x, q, axes, keepdims);
}

}}  // namespace ricci::v0
