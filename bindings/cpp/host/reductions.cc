// Reductions with the axes and dtypes of jax.numpy.
#include "ricci/reductions.hpp"

#include <algorithm>

#include "numpy_steps.h"

namespace ricci { inline namespace v0 {

Axes::Axes(std::initializer_list<int64_t> axes) : all_(false), list_(axes) {}
Shape Axes::Of(std::string_view name, const Location& at, int64_t rank) const {
  if (all_) return CountFrom(0, rank);
  Shape out;
  for (int64_t a : list_) out.push_back(Axis(name, at, a, rank));
  std::sort(out.begin(), out.end());
  if (std::adjacent_find(out.begin(), out.end()) != out.end()) FailAt(at, name, ": an axis occurs twice in ", list_);
  return out;
}

namespace {

Value KeepDims(const Value& x, const Shape& axes, bool keepdims) { return keepdims ? lax::expand_dims(x, axes) : x; }
DType SumDType(DType d) {
  if (d == DType::kBool || d == DType::kI8 || d == DType::kI16) return DType::kI32;
  return d == DType::kU8 || d == DType::kU16 ? DType::kU32 : d;
}
using ReduceFunction = Value(const Value&, Dims);
Value Accumulate(std::string_view name, ReduceFunction* f, const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = Use(name, x);
  const Shape list = axes.Of(name, x.at, v.rank());
  const DType dtype = SumDType(v.dtype());
  const Value wide = lax::convert_element_type(v, IsHalf(dtype) ? DType::kF32 : dtype);
  return KeepDims(lax::convert_element_type(f(wide, list), dtype), list, keepdims);
}
Value Extremum(std::string_view name, ReduceFunction* f, const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = Use(name, x);
  const Shape list = axes.Of(name, x.at, v.rank());
  for (int64_t a : list) {
    if (v.dim(a) == 0) FailAt(x.at, name, ": axis ", a, " of ", v.type(), " has no elements");
  }
  return KeepDims(f(v, list), list, keepdims);
}

}  // namespace

Value sum(const Operand& x, const Axes& axes, bool keepdims) {
  return Accumulate("reduce_sum", lax::reduce_sum, x, axes, keepdims);
}
Value prod(const Operand& x, const Axes& axes, bool keepdims) {
  return Accumulate("reduce_prod", lax::reduce_prod, x, axes, keepdims);
}
Value max(const Operand& x, const Axes& axes, bool keepdims) {
  return Extremum("reduce_max", lax::reduce_max, x, axes, keepdims);
}
Value min(const Operand& x, const Axes& axes, bool keepdims) {
  return Extremum("reduce_min", lax::reduce_min, x, axes, keepdims);
}
Value all(const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = ToBool(Use("reduce_and", x));
  const Shape list = axes.Of("reduce_and", x.at, v.rank());
  return KeepDims(lax::reduce_and(v, list), list, keepdims);
}
Value any(const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = ToBool(Use("reduce_or", x));
  const Shape list = axes.Of("reduce_or", x.at, v.rank());
  return KeepDims(lax::reduce_or(v, list), list, keepdims);
}

namespace {

int64_t CountAlong(const Value& v, const Shape& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= v.dim(a);
  return n;
}

}  // namespace

Value mean(const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = UseInexact("mean", x);
  const Shape list = axes.Of("mean", x.at, v.rank());
  const Value wide = IsHalf(v.dtype()) ? lax::convert_element_type(v, DType::kF32) : v;
  const Value average = lax::div(lax::reduce_sum(wide, list), static_cast<double>(CountAlong(v, list)));
  return KeepDims(lax::convert_element_type(average, v.dtype()), list, keepdims);
}
Value var(const Operand& x, const Axes& axes, int64_t ddof, bool keepdims) {
  const Value v = UseInexact("var", x);
  const Shape list = axes.Of("var", x.at, v.rank());
  const Value wide = IsHalf(v.dtype()) ? lax::convert_element_type(v, DType::kF32) : v;
  const auto count = static_cast<double>(CountAlong(v, list));
  const Value average = lax::expand_dims(lax::div(lax::reduce_sum(wide, list), count), list);
  const Value centered = lax::sub(wide, BroadcastValue(average, wide.shape()));
  const Value out = lax::div(lax::reduce_sum(lax::square(centered), list), count - static_cast<double>(ddof));
  return KeepDims(lax::convert_element_type(out, v.dtype()), list, keepdims);
}
Value std(const Operand& x, const Axes& axes, int64_t ddof, bool keepdims) {
  return lax::sqrt(var(x, axes, ddof, keepdims));
}
Value norm(const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = UseInexact("norm", x);
  return lax::sqrt(sum(Operand(lax::mul(v, v), x.at), axes, keepdims));
}

namespace {

Value ArgExtremum(std::string_view name, const Operand& x, int64_t axis, Value (*f)(const Value&, int64_t, DType)) {
  const Value v = Use(name, x);
  const int64_t count = v.type().elements();
  if (axis == kFlat) return f(lax::reshape(v, {&count, 1}), 0, kDefaultInt);
  return f(v, Axis(name, x.at, axis, v.rank()), kDefaultInt);
}

}  // namespace

Value argmax(const Operand& x, AxisNumber axis) { return ArgExtremum("argmax", x, axis, lax::argmax); }
Value argmin(const Operand& x, AxisNumber axis) { return ArgExtremum("argmin", x, axis, lax::argmin); }
Value cumsum(const Operand& x, AxisNumber axis, bool reverse) {
  const Value v = Use("cumsum", x);
  return lax::cumsum(lax::convert_element_type(v, SumDType(v.dtype())), Axis("cumsum", x.at, axis, v.rank()), reverse);
}
Value cumprod(const Operand& x, AxisNumber axis, bool reverse) {
  const Value v = Use("cumprod", x);
  return lax::cumprod(lax::convert_element_type(v, SumDType(v.dtype())), Axis("cumprod", x.at, axis, v.rank()),
                      reverse);
}
Value logsumexp(const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = UseInexact("logsumexp", x);
  const Shape list = axes.Of("logsumexp", x.at, v.rank());
  const Value top = lax::expand_dims(lax::reduce_max(v, list), list);
  const Value shift = lax::stop_gradient(lax::select(lax::is_finite(top), top, lax::zeros_like(top)));
  const Value total = lax::reduce_sum(lax::exp(lax::sub(v, BroadcastValue(shift, v.shape()))), list);
  const Value out = lax::add(lax::log(total), lax::reshape(shift, total.shape()));
  return KeepDims(out, list, keepdims);
}

namespace {

// x minus its greatest element along `axis`; derivatives treat that element as a constant.
Value ShiftedByMax(const Value& v, Dims axis) {
  const Value top = lax::stop_gradient(lax::expand_dims(lax::reduce_max(v, axis), axis));
  return lax::sub(v, BroadcastValue(top, v.shape()));
}

}  // namespace

Value softmax(const Operand& x, AxisNumber axis) {
  const Value v = UseInexact("softmax", x);
  const Shape list{Axis("softmax", x.at, axis, v.rank())};
  const Value e = lax::exp(ShiftedByMax(v, list));
  return lax::div(e, BroadcastValue(lax::expand_dims(lax::reduce_sum(e, list), list), v.shape()));
}
Value log_softmax(const Operand& x, AxisNumber axis) {
  const Value v = UseInexact("log_softmax", x);
  const Shape list{Axis("log_softmax", x.at, axis, v.rank())};
  const Value shifted = ShiftedByMax(v, list);
  const Value total = lax::expand_dims(lax::log(lax::reduce_sum(lax::exp(shifted), list)), list);
  return lax::sub(shifted, BroadcastValue(total, v.shape()));
}

}}  // namespace ricci::v0
