// ricci/reductions.hpp: sums, extrema, statistics and cumulative operations of jax.numpy.
//
// As in JAX, small integers add up in 32 bits and 16-bit floats in f32. An empty list of axes means all.
#ifndef RICCI_REDUCTIONS_HPP_
#define RICCI_REDUCTIONS_HPP_
#include "ricci/elementwise.hpp"

namespace ricci::inline v0 {

// Which axes to reduce: all of them, one, or several; negative ones count from the end.
class Axes {
 public:
  Axes() = default;
  Axes(int64_t axis) : all_(false), list_{axis} {}  // NOLINT: `sum(x, -1)`
  Axes(std::initializer_list<int64_t> axes) : all_(false), list_(axes) {}

  Shape Of(std::string_view name, const Location& at, int64_t rank) const {
    Shape out;
    for (int64_t i = 0; i < rank; ++i) out.push_back(i);
    if (all_) return out;
    out.clear();
    for (int64_t a : list_) out.push_back(Axis(name, at, a, rank));
    std::sort(out.begin(), out.end());
    if (std::adjacent_find(out.begin(), out.end()) != out.end()) FailAt(at, name, ": an axis occurs twice in ", list_);
    return out;
  }

 private:
  bool all_ = true;
  Shape list_;
};

inline Value KeepDims(const Value& x, const Shape& axes, bool keepdims) {
  return keepdims ? lax::expand_dims(x, axes) : x;
}
inline DType SumDType(DType d) {
  if (d == DType::kBool || d == DType::kI8 || d == DType::kI16) return DType::kI32;
  return d == DType::kU8 || d == DType::kU16 ? DType::kU32 : d;
}
inline bool IsHalf(DType d) { return d == DType::kF16 || d == DType::kBF16; }

using ReduceFunction = Value(const Value&, Dims);
inline Value Accumulate(std::string_view name, ReduceFunction* f, const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = Use(name, x);
  const Shape list = axes.Of(name, x.at, v.rank());
  const DType dtype = SumDType(v.dtype());
  const Value wide = lax::convert_element_type(v, IsHalf(dtype) ? DType::kF32 : dtype);
  return KeepDims(lax::convert_element_type(f(wide, list), dtype), list, keepdims);
}
inline Value Extremum(std::string_view name, ReduceFunction* f, const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = Use(name, x);
  const Shape list = axes.Of(name, x.at, v.rank());
  for (int64_t a : list) {
    if (v.dim(a) == 0) FailAt(x.at, name, ": axis ", a, " of ", v.type(), " has no element");
  }
  return KeepDims(f(v, list), list, keepdims);
}

inline Value sum(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  return Accumulate("reduce_sum", lax::reduce_sum, x, axes, keepdims);
}
inline Value prod(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  return Accumulate("reduce_prod", lax::reduce_prod, x, axes, keepdims);
}
inline Value max(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  return Extremum("reduce_max", lax::reduce_max, x, axes, keepdims);
}
inline Value min(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  return Extremum("reduce_min", lax::reduce_min, x, axes, keepdims);
}
inline Value all(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  const Value v = ToBool(Use("reduce_and", x));
  const Shape list = axes.Of("reduce_and", x.at, v.rank());
  return KeepDims(lax::reduce_and(v, list), list, keepdims);
}
inline Value any(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  const Value v = ToBool(Use("reduce_or", x));
  const Shape list = axes.Of("reduce_or", x.at, v.rank());
  return KeepDims(lax::reduce_or(v, list), list, keepdims);
}
inline int64_t CountAlong(const Value& v, const Shape& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= v.dim(a);
  return n;
}
inline Value mean(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  const Value v = UseInexact("mean", x);
  const Shape list = axes.Of("mean", x.at, v.rank());
  const Value wide = IsHalf(v.dtype()) ? lax::convert_element_type(v, DType::kF32) : v;
  const Value average = lax::div(lax::reduce_sum(wide, list), static_cast<double>(CountAlong(v, list)));
  return KeepDims(lax::convert_element_type(average, v.dtype()), list, keepdims);
}
// `ddof` is subtracted from the number of elements.
inline Value var(const Operand& x, const Axes& axes = {}, int64_t ddof = 0, bool keepdims = false) {
  const Value v = UseInexact("var", x);
  const Shape list = axes.Of("var", x.at, v.rank());
  const Value wide = IsHalf(v.dtype()) ? lax::convert_element_type(v, DType::kF32) : v;
  const auto count = static_cast<double>(CountAlong(v, list));
  const Value average = lax::expand_dims(lax::div(lax::reduce_sum(wide, list), count), list);
  const Value centered = lax::sub(wide, BroadcastValue(average, wide.shape()));
  const Value out = lax::div(lax::reduce_sum(lax::square(centered), list), count - static_cast<double>(ddof));
  return KeepDims(lax::convert_element_type(out, v.dtype()), list, keepdims);
}
inline Value std(const Operand& x, const Axes& axes = {}, int64_t ddof = 0, bool keepdims = false) {
  return lax::sqrt(var(x, axes, ddof, keepdims));
}
// Euclidean length.
inline Value norm(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  const Value v = UseInexact("norm", x);
  return lax::sqrt(sum(Operand(lax::mul(v, v), x.at), axes, keepdims));
}

// ---- index of an extremum: i32; without an axis, into the flattened array ----
inline constexpr int64_t kFlat = INT64_MIN;
inline Value ArgExtremum(std::string_view name, const Operand& x, int64_t axis,
                         Value (*f)(const Value&, int64_t, DType)) {
  const Value v = Use(name, x);
  const int64_t count = v.type().elements();
  if (axis == kFlat) return f(lax::reshape(v, {&count, 1}), 0, kDefaultInt);
  return f(v, Axis(name, x.at, axis, v.rank()), kDefaultInt);
}
inline Value argmax(const Operand& x, int64_t axis = kFlat) { return ArgExtremum("argmax", x, axis, lax::argmax); }
inline Value argmin(const Operand& x, int64_t axis = kFlat) { return ArgExtremum("argmin", x, axis, lax::argmin); }

inline Value cumsum(const Operand& x, int64_t axis, bool reverse = false) {
  const Value v = Use("cumsum", x);
  return lax::cumsum(lax::convert_element_type(v, SumDType(v.dtype())), Axis("cumsum", x.at, axis, v.rank()), reverse);
}
inline Value cumprod(const Operand& x, int64_t axis, bool reverse = false) {
  const Value v = Use("cumprod", x);
  return lax::cumprod(lax::convert_element_type(v, SumDType(v.dtype())), Axis("cumprod", x.at, axis, v.rank()),
                      reverse);
}

// ---- softmax and its kin ----
inline Value logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false) {
  const Value v = UseInexact("logsumexp", x);
  const Shape list = axes.Of("logsumexp", x.at, v.rank());
  const Value top = lax::expand_dims(lax::reduce_max(v, list), list);
  const Value shift = lax::stop_gradient(lax::select(lax::is_finite(top), top, lax::zeros_like(top)));
  const Value total = lax::reduce_sum(lax::exp(lax::sub(v, BroadcastValue(shift, v.shape()))), list);
  const Value out = lax::add(lax::log(total), lax::reshape(shift, total.shape()));
  return KeepDims(out, list, keepdims);
}
// x minus its greatest element along `axis`, which does not count for derivatives.
inline Value ShiftedByMax(const Value& v, Dims axis) {
  const Value top = lax::stop_gradient(lax::expand_dims(lax::reduce_max(v, axis), axis));
  return lax::sub(v, BroadcastValue(top, v.shape()));
}
inline Value softmax(const Operand& x, int64_t axis = -1) {
  const Value v = UseInexact("softmax", x);
  const Shape list{Axis("softmax", x.at, axis, v.rank())};
  const Value e = lax::exp(ShiftedByMax(v, list));
  return lax::div(e, BroadcastValue(lax::expand_dims(lax::reduce_sum(e, list), list), v.shape()));
}
inline Value log_softmax(const Operand& x, int64_t axis = -1) {
  const Value v = UseInexact("log_softmax", x);
  const Shape list{Axis("log_softmax", x.at, axis, v.rank())};
  const Value shifted = ShiftedByMax(v, list);
  const Value total = lax::expand_dims(lax::log(lax::reduce_sum(lax::exp(shifted), list)), list);
  return lax::sub(shifted, BroadcastValue(total, v.shape()));
}

}  // namespace ricci::inline v0
#endif
