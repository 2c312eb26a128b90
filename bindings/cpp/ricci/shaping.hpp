// ricci/shaping.hpp: functions of jax.numpy that rearrange elements, and those that make arrays from nothing.
//
// What makes an array from nothing takes a Value as first argument: the program that the array goes to. Its dtype and
// shape do not matter.
#ifndef RICCI_SHAPING_HPP_
#define RICCI_SHAPING_HPP_
#include "ricci/reductions.hpp"

namespace ricci::inline v0 {

// ---- rearranging ----
// One size may be -1: whatever is left.
inline Value reshape(const Operand& x, Shape sizes) {
  const Value v = Use("reshape", x);
  const int64_t total = v.type().elements();
  const auto unknown = std::find(sizes.begin(), sizes.end(), -1);
  if (std::count(sizes.begin(), sizes.end(), -1) > 1)
    FailAt(x.at, "reshape: only one size may be -1, not those of ", sizes);
  if (unknown != sizes.end()) {
    *unknown = 1;
    const int64_t rest = ElementCount(sizes);
    if (rest == 0 || total % rest != 0) FailAt(x.at, "reshape: ", v.type(), " does not fill sizes ", sizes);
    *unknown = total / rest;
  }
  return lax::reshape(v, sizes);
}
inline Value ravel(const Operand& x) { return reshape(x, {-1}); }
// Reverses the dimensions, or puts them in the order of `axes`.
inline Value transpose(const Operand& x, const Shape& axes = {}) {
  const Value v = Use("transpose", x);
  Shape order;
  for (int64_t a : axes) order.push_back(Axis("transpose", x.at, a, v.rank()));
  for (int64_t i = v.rank(); axes.empty() && i > 0; --i) order.push_back(i - 1);
  return lax::transpose(v, order);
}
inline Value swapaxes(const Operand& x, int64_t a, int64_t b) {
  const Value v = Use("transpose", x);
  Shape order = CountFrom(0, v.rank());
  std::swap(order[static_cast<size_t>(Axis("swapaxes", x.at, a, v.rank()))],
            order[static_cast<size_t>(Axis("swapaxes", x.at, b, v.rank()))]);
  return lax::transpose(v, order);
}
inline Value moveaxis(const Operand& x, int64_t from, int64_t to) {
  const Value v = Use("transpose", x);
  from = Axis("moveaxis", x.at, from, v.rank());
  to = Axis("moveaxis", x.at, to, v.rank());
  Shape order;
  for (int64_t i = 0; i < v.rank(); ++i) {
    if (i != from) order.push_back(i);
  }
  order.insert(order.begin() + to, from);
  return lax::transpose(v, order);
}
// Drops these dimensions of size 1, or all of them.
inline Value squeeze(const Operand& x, const Axes& axes = {}) {
  const Value v = Use("squeeze", x);
  Shape list;
  for (int64_t a : axes.Of("squeeze", x.at, v.rank())) {
    if (v.dim(a) == 1) list.push_back(a);
  }
  return lax::squeeze(v, list);
}
// A new dimension of size 1 at place `axis` of the result.
inline Value expand_dims(const Operand& x, int64_t axis) {
  const Value v = Use("expand_dims", x);
  const Shape list{Axis("expand_dims", x.at, axis, v.rank() + 1)};
  return lax::expand_dims(v, list);
}
inline Value broadcast_to(const Operand& x, const Shape& shape) {
  const Value v = Use("broadcast_to", x);
  Shape common = shape;
  if (!BroadcastInto(common, v.shape()) || common != shape) {
    FailAt(x.at, "broadcast_to: shape ", v.shape(), " does not broadcast to ", shape);
  }
  return BroadcastValue(v, shape);
}
inline Value flip(const Operand& x, const Axes& axes = {}) {
  const Value v = Use("rev", x);
  return lax::rev(v, axes.Of("rev", x.at, v.rank()));
}
inline Value roll(const Operand& x, int64_t shift, int64_t axis) {
  const Value v = Use("roll", x);
  axis = Axis("roll", x.at, axis, v.rank());
  const int64_t n = v.dim(axis);
  if (n == 0) return v;
  const int64_t cut = ((-shift) % n + n) % n;
  if (cut == 0) return v;
  const Value parts[] = {lax::slice_in_dim(v, cut, n, axis), lax::slice_in_dim(v, 0, cut, axis)};
  return lax::concatenate(parts, axis);
}
// Zeros (or `value`) before and after each dimension.
inline Value pad(const Operand& x, const std::vector<std::pair<int64_t, int64_t>>& widths, const Operand& value = 0) {
  const Operand both[] = {x, value};
  const Place p = PlaceOf("pad", both);
  const Value v = p.Lift(x, DType::kNone);
  Shape low, high;
  for (const auto& [before, after] : widths) {
    low.push_back(before);
    high.push_back(after);
  }
  if (static_cast<int64_t>(low.size()) != v.rank()) p.Fail(low.size(), " widths given for ", v.type());
  const Value fill = lax::convert_element_type(p.Lift(value, v.dtype()), v.dtype());
  return lax::pad(v, fill, low, high, Shape(low.size(), 0));
}
// Repeats `reps` times along each dimension.
inline Value tile(const Operand& x, Shape reps) {
  Value v = Use("tile", x);
  while (static_cast<int64_t>(reps.size()) < v.rank()) reps.insert(reps.begin(), 1);
  Shape shape(v.shape().begin(), v.shape().end());
  while (shape.size() < reps.size()) shape.insert(shape.begin(), 1);
  return Emit1("tile", {lax::reshape(v, shape)}, {{"reps", reps}});
}

// ---- several arrays ----
inline Values UseList(std::string_view name, std::span<const Operand> xs) {
  if (xs.empty()) Fail(name, ": needs at least one array");
  const Place p = PlaceOf(name, xs);
  const DType dtype = PromotedDType(p, xs);
  Values out;
  for (const Operand& x : xs) out.push_back(lax::convert_element_type(p.Lift(x, dtype), dtype));
  return out;
}
inline Value concatenate(std::span<const Operand> xs, int64_t axis = 0) {
  const Values v = UseList("concatenate", xs);
  return lax::concatenate(v, Axis("concatenate", xs[0].at, axis, v[0].rank()));
}
inline Value stack(std::span<const Operand> xs, int64_t axis = 0) {
  Values v = UseList("stack", xs);
  const Dims first = v[0].shape();
  axis = Axis("stack", xs[0].at, axis, v[0].rank() + 1);
  for (Value& x : v) {
    if (!SameDims(x.shape(), first)) FailAt(xs[0].at, "stack: shapes ", first, " and ", x.shape(), " differ");
    x = lax::expand_dims(x, {&axis, 1});
  }
  return lax::concatenate(v, axis);
}
inline Value concatenate(std::initializer_list<Operand> xs, int64_t axis = 0) {
  return concatenate(std::span(xs.begin(), xs.size()), axis);
}
inline Value stack(std::initializer_list<Operand> xs, int64_t axis = 0) {
  return stack(std::span(xs.begin(), xs.size()), axis);
}
inline std::vector<Operand> OperandsOf(const Values& xs, const Location& at) {
  std::vector<Operand> out;
  for (const Value& x : xs) out.emplace_back(x, at);
  return out;
}
inline Value concatenate(const Values& xs, int64_t axis = 0, Location at = Location::Here()) {
  return concatenate(std::span<const Operand>(OperandsOf(xs, at)), axis);
}
inline Value stack(const Values& xs, int64_t axis = 0, Location at = Location::Here()) {
  return stack(std::span<const Operand>(OperandsOf(xs, at)), axis);
}
// `parts` pieces of one size.
inline Values split(const Operand& x, int64_t parts, int64_t axis = 0) {
  const Value v = Use("split", x);
  axis = Axis("split", x.at, axis, v.rank());
  const int64_t n = v.dim(axis);
  if (parts < 1 || n % parts != 0) FailAt(x.at, "split: axis of size ", n, " has no ", parts, " equal parts");
  Values out;
  for (int64_t i = 0; i < parts; ++i) out.push_back(lax::slice_in_dim(v, i * (n / parts), (i + 1) * (n / parts), axis));
  return out;
}

// ---- from nothing, into the program of `in` ----
template <Number T>
Value full(const Operand& in, const Shape& shape, T value, DType dtype = kDefaultDType<T>) {
  const Place p = PlaceOf("full", {&in, 1});
  return p.Constant(Operand(value, in.at), dtype, shape);
}
inline Value zeros(const Operand& in, const Shape& shape, DType dtype = kDefaultFloat) {
  return full(in, shape, 0, dtype);
}
inline Value ones(const Operand& in, const Shape& shape, DType dtype = kDefaultFloat) {
  return full(in, shape, 1, dtype);
}
// A number, array or value as a value of the program of `in`.
inline Value constant(const Operand& in, const Operand& x, DType dtype = DType::kNone) {
  const Operand both[] = {in, x};
  const Place p = PlaceOf("constant", both);
  const DType d = dtype == DType::kNone ? PromoteWeak(DType::kNone, x.weak) : dtype;
  const Value v = p.Lift(x, d);
  return dtype == DType::kNone ? v : lax::convert_element_type(v, dtype);
}
inline Value zeros_like(const Operand& x) { return lax::zeros_like(Use("zeros_like", x)); }
inline Value ones_like(const Operand& x) { return lax::ones_like(Use("ones_like", x)); }
template <Number T>
Value full_like(const Operand& x, T value) {
  return lax::full_like(Use("full_like", x), value);
}
inline Value Iota(const Operand& in, DType dtype, const Shape& shape, int64_t dimension) {
  const Place p = PlaceOf("iota", {&in, 1});
  Value v = lax::iota(p.builder, dtype, shape, dimension);
  v.scope = p.scope;
  return v;
}
// 0, 1, ..., n - 1.
inline Value arange(const Operand& in, int64_t n, DType dtype = kDefaultInt) { return Iota(in, dtype, {n}, 0); }
// `n` numbers from `start` to `stop`, both included.
inline Value linspace(const Operand& in, double start, double stop, int64_t n, DType dtype = kDefaultFloat) {
  const Value i = Iota(in, dtype, {n}, 0);
  if (n < 2) return lax::full_like(i, start);
  const Value step = lax::div(i, static_cast<double>(n - 1));
  const Value line = lax::add(lax::mul(lax::sub(1.0, step), start), lax::mul(step, stop));
  return lax::select(lax::eq(i, lax::full_like(i, n - 1)), lax::full_like(i, stop), line);
}
inline Value eye(const Operand& in, int64_t n, DType dtype = kDefaultFloat) {
  const Value rows = Iota(in, kDefaultInt, {n, n}, 0), columns = Iota(in, kDefaultInt, {n, n}, 1);
  return lax::convert_element_type(lax::eq(rows, columns), dtype);
}
// 1 where the class is `x`, along a new last dimension.
inline Value one_hot(const Operand& x, int64_t classes, DType dtype = kDefaultFloat) {
  const Value v = Use("one_hot", x);
  const Shape last{v.rank()};
  Shape shape(v.shape().begin(), v.shape().end());
  shape.push_back(classes);
  const Value numbers = Iota(Operand(v, x.at), v.dtype(), shape, v.rank());
  return lax::convert_element_type(lax::eq(BroadcastValue(lax::expand_dims(v, last), shape), numbers), dtype);
}
// Keeps the lower triangle (on and below diagonal k) of the last two dimensions.
inline Value tril(const Operand& x, int64_t k = 0) {
  const Value v = Use("tril", x);
  if (v.rank() < 2) FailAt(x.at, "tril: ", v.type(), " has less than 2 dimensions");
  const Shape shape(v.shape().end() - 2, v.shape().end());
  const Value rows = Iota(x, kDefaultInt, shape, 0), columns = Iota(x, kDefaultInt, shape, 1);
  const Value mask = lax::ge(lax::add(rows, lax::full_like(rows, k)), columns);
  return lax::select(BroadcastValue(mask, v.shape()), v, lax::zeros_like(v));
}
inline Value triu(const Operand& x, int64_t k = 0) {
  const Value v = Use("triu", x);
  return lax::sub(v, tril(Operand(v, x.at), k - 1));
}

}  // namespace ricci::inline v0
#endif
