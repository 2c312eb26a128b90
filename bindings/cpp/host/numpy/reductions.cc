// Reductions with the axes and dtypes of jax.numpy.
#include "ricci/reductions.hpp"

#include <algorithm>
#include <cmath>

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 {

using namespace plain;

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
  const Value wide = lax::convert_element_type(v, IsNarrowFloat(dtype) ? DType::kF32 : dtype);
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

namespace {

// x with the options' dtype, and `neutral` where the mask is false.
Operand Masked(std::string_view name, const Operand& x, const ReduceOptions& o, double neutral) {
  Value v = Use(name, x);
  if (o.dtype != DType::kNone) v = To(v, o.dtype);
  if (!o.where) return Operand(v, x.at);
  const Operand fill(neutral, x.at);
  return Operand(To(where(*o.where, Operand(v, x.at), fill), v.dtype()), x.at);
}
Value WithInitial(const Value& v, const ReduceOptions& o, const Location& at, Value (*f)(const Value&, const Value&)) {
  if (!o.initial) return v;
  const Operand both[] = {Operand(v, at), *o.initial};
  const CallSite site = SiteOf("initial", both);
  return Both(f, site.Lift(both[0], v.dtype()), To(site.Lift(*o.initial, v.dtype()), v.dtype()));
}
// The least or the greatest value of the dtype.
double Neutral(DType d, bool greatest) {
  d = PartOf(d);
  if (IsFloat(d)) return greatest ? GreatestFloat(d) : LeastFloat(d);
  if (d == DType::kBool) return greatest ? 1 : 0;
  if (In(d, kUnsigned)) return greatest ? std::ldexp(1.0, static_cast<int>(BitsOf(d))) - 1 : 0;
  return greatest ? std::ldexp(1.0, static_cast<int>(BitsOf(d)) - 1) - 1
                  : -std::ldexp(1.0, static_cast<int>(BitsOf(d)) - 1);
}
// An extremum in which `initial` takes part, so that there may be no elements.
Value ExtremumWith(std::string_view name, ReduceFunction* f, const Operand& x, const Axes& axes, bool keepdims,
                   const ReduceOptions& o, bool least) {
  if (o.where && !o.initial) FailAt(x.at, name, ": a mask needs `initial`, the result where it is false");
  const DType dtype = o.dtype != DType::kNone ? o.dtype : x.dtype();
  const Operand masked = Masked(name, x, o, Neutral(dtype, least));
  if (!o.initial) return Extremum(name, f, masked, axes, keepdims);
  const Shape list = axes.Of(name, x.at, masked.value.rank());
  const Value out = KeepDims(f(masked.value, list), list, keepdims);
  return WithInitial(out, o, x.at, least ? lax::min : lax::max);
}

}  // namespace

Value sum(const Operand& x, const Axes& axes, bool keepdims, const ReduceOptions& o) {
  return WithInitial(sum(Masked("reduce_sum", x, o, 0), axes, keepdims), o, x.at, lax::add);
}
Value prod(const Operand& x, const Axes& axes, bool keepdims, const ReduceOptions& o) {
  return WithInitial(prod(Masked("reduce_prod", x, o, 1), axes, keepdims), o, x.at, lax::mul);
}
Value max(const Operand& x, const Axes& axes, bool keepdims, const ReduceOptions& o) {
  return ExtremumWith("reduce_max", lax::reduce_max, x, axes, keepdims, o, /*least=*/false);
}
Value min(const Operand& x, const Axes& axes, bool keepdims, const ReduceOptions& o) {
  return ExtremumWith("reduce_min", lax::reduce_min, x, axes, keepdims, o, /*least=*/true);
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
  const Value wide = Wide(v);
  const Value average = lax::div(lax::reduce_sum(wide, list), static_cast<double>(CountAlong(v, list)));
  return KeepDims(lax::convert_element_type(average, v.dtype()), list, keepdims);
}
Value mean(const Operand& x, const Axes& axes, bool keepdims, const Operand& where) {
  const Value v = UseInexact("mean", x), wide = Wide(v);
  const Operand some = Masked("mean", Operand(wide, x.at), {.where = where}, 0);
  const Operand count = Masked("mean", Operand(lax::ones_like(wide), x.at), {.where = where}, 0);
  return To(sum(some, axes, keepdims) / sum(count, axes, keepdims), v.dtype());
}

namespace {

Value AbsSquare(const Value& v) { return IsComplex(v.dtype()) ? lax::real(lax::mul(v, lax::conj(v))) : lax::square(v); }

}  // namespace

Value var(const Operand& x, const Axes& axes, int64_t ddof, bool keepdims) {
  const Value v = UseInexact("var", x);
  const Shape list = axes.Of("var", x.at, v.rank());
  const Value wide = Wide(v);
  const auto count = static_cast<double>(CountAlong(v, list));
  const Value average = lax::expand_dims(lax::div(lax::reduce_sum(wide, list), count), list);
  const Value centered = lax::sub(wide, BroadcastValue(average, wide.shape()));
  const Value out = lax::div(lax::reduce_sum(AbsSquare(centered), list), count - static_cast<double>(ddof));
  return KeepDims(lax::convert_element_type(out, PartOf(v.dtype())), list, keepdims);
}
Value std(const Operand& x, const Axes& axes, int64_t ddof, bool keepdims) {
  return lax::sqrt(var(x, axes, ddof, keepdims));
}
Value norm(const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = UseInexact("norm", x);
  return lax::sqrt(sum(Operand(lax::mul(v, v), x.at), axes, keepdims));
}

namespace {

Value ArgExtremum(std::string_view name, const Operand& x, int64_t axis, bool keepdims,
                  Value (*f)(const Value&, int64_t, DType)) {
  const Value v = Use(name, x);
  const int64_t count = v.type().elements();
  if (count == 0) FailAt(x.at, name, ": ", v.type(), " has no elements");
  if (axis == kFlat) {
    const Value out = f(lax::reshape(v, {&count, 1}), 0, kDefaultInt);
    return keepdims ? lax::reshape(out, Shape(static_cast<size_t>(v.rank()), 1)) : out;
  }
  axis = Axis(name, x.at, axis, v.rank());
  const Value out = f(v, axis, kDefaultInt);
  return keepdims ? lax::expand_dims(out, {&axis, 1}) : out;
}
// f along `axis`, or of the flattened array. Without a dtype that of x stays, but bool becomes i32.
Value Cumulate(std::string_view name, const Operand& x, int64_t axis, bool reverse, DType dtype,
               Value (*f)(const Value&, int64_t, bool)) {
  Value v = Use(name, x);
  const DType own = v.dtype() == DType::kBool ? kDefaultInt : v.dtype();
  v = To(v, dtype == DType::kNone ? own : dtype);
  const int64_t count = v.type().elements();
  if (axis == kFlat) return f(lax::reshape(v, {&count, 1}), 0, reverse);
  return f(v, Axis(name, x.at, axis, v.rank()), reverse);
}
// The same with `initial` before the first element.
Value CumulateFrom(std::string_view name, const Operand& x, int64_t axis, DType dtype, bool include_initial,
                   double initial, Value (*f)(const Value&, int64_t, bool)) {
  const int64_t rank = Use(name, x).rank();
  if (axis == kFlat && rank != 1) FailAt(x.at, name, ": axis must be given for ", Count(rank, "dimension"));
  if (axis == kFlat) axis = 0;
  const Value out = Cumulate(name, x, axis, false, dtype, f);
  axis = Axis(name, x.at, axis, rank);
  if (!include_initial) return out;
  Shape first = ShapeOfValue(out);
  first[static_cast<size_t>(axis)] = 1;
  return Join({BroadcastValue(Scalar(out, initial), first), out}, axis);
}

}  // namespace

Value argmax(const Operand& x, AxisNumber axis, bool keepdims) {
  return ArgExtremum("argmax", x, axis, keepdims, lax::argmax);
}
Value argmin(const Operand& x, AxisNumber axis, bool keepdims) {
  return ArgExtremum("argmin", x, axis, keepdims, lax::argmin);
}
Value cumsum(const Operand& x, AxisNumber axis, bool reverse) {
  return Cumulate("cumsum", x, axis, reverse, DType::kNone, lax::cumsum);
}
Value cumprod(const Operand& x, AxisNumber axis, bool reverse) {
  return Cumulate("cumprod", x, axis, reverse, DType::kNone, lax::cumprod);
}
Value cumulative_sum(const Operand& x, AxisNumber axis, DType dtype, bool include_initial) {
  const DType wide = dtype == DType::kNone ? SumDType(Use("cumulative_sum", x).dtype()) : dtype;
  return CumulateFrom("cumulative_sum", x, axis, wide, include_initial, 0, lax::cumsum);
}
Value cumulative_prod(const Operand& x, AxisNumber axis, DType dtype, bool include_initial) {
  return CumulateFrom("cumulative_prod", x, axis, dtype, include_initial, 1, lax::cumprod);
}
Value count_nonzero(const Operand& x, const Axes& axes, bool keepdims) {
  return sum(Operand(ToBool(Use("count_nonzero", x)), x.at), axes, keepdims);
}
Value ptp(const Operand& x, const Axes& axes, bool keepdims) { return max(x, axes, keepdims) - min(x, axes, keepdims); }
Value logsumexp(const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = UseInexact("logsumexp", x);
  const Shape list = axes.Of("logsumexp", x.at, v.rank());
  const Value size = IsComplex(v.dtype()) ? lax::real(v) : v, top = lax::expand_dims(lax::reduce_max(size, list), list);
  const Value finite = lax::select(lax::is_finite(top), top, lax::zeros_like(top));
  const Value shift = lax::stop_gradient(To(finite, v.dtype()));
  const Value total = lax::reduce_sum(lax::exp(Wide(lax::sub(v, BroadcastValue(shift, v.shape())))), list);
  const Value out = lax::add(lax::log(total), lax::reshape(Wide(shift), total.shape()));
  return KeepDims(To(out, v.dtype()), list, keepdims);
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
