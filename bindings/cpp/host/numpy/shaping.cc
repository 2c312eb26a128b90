// Rearranging and making arrays as in jax.numpy.
#include "ricci/shaping.hpp"

#include <algorithm>

#include "host/core/numpy_steps.h"

namespace ricci { inline namespace v0 {

Value reshape(const Operand& x, Shape sizes) {
  const Value v = Use("reshape", x);
  const int64_t total = v.type().elements();
  const auto unknown = std::find(sizes.begin(), sizes.end(), -1);
  if (std::count(sizes.begin(), sizes.end(), -1) > 1)
    FailAt(x.at, "reshape: only one size may be -1; sizes are ", sizes);
  if (unknown != sizes.end()) {
    *unknown = 1;
    const int64_t rest = Narrow(ExactCount(sizes)).value_or(0);  // a count beyond 64 bits fits no data
    if (rest <= 0 || total % rest != 0) FailAt(x.at, "reshape: ", v.type(), " does not fill sizes ", sizes);
    *unknown = total / rest;
  }
  return lax::reshape(v, sizes);
}
Value ravel(const Operand& x) { return reshape(x, {-1}); }
Value transpose(const Operand& x, const Shape& axes) {
  const Value v = Use("transpose", x);
  Shape order;
  for (int64_t a : axes) order.push_back(Axis("transpose", x.at, a, v.rank()));
  for (int64_t i = v.rank(); axes.empty() && i > 0; --i) order.push_back(i - 1);
  return lax::transpose(v, order);
}
Value swapaxes(const Operand& x, AxisNumber a, AxisNumber b) {
  const Value v = Use("transpose", x);
  Shape order = CountFrom(0, v.rank());
  std::swap(order[static_cast<size_t>(Axis("swapaxes", x.at, a, v.rank()))],
            order[static_cast<size_t>(Axis("swapaxes", x.at, b, v.rank()))]);
  return lax::transpose(v, order);
}
Value moveaxis(const Operand& x, AxisNumber first, AxisNumber second) {
  const Value v = Use("transpose", x);
  const int64_t from = Axis("moveaxis", x.at, first, v.rank()), to = Axis("moveaxis", x.at, second, v.rank());
  Shape order;
  for (int64_t i = 0; i < v.rank(); ++i) {
    if (i != from) order.push_back(i);
  }
  order.insert(order.begin() + to, from);
  return lax::transpose(v, order);
}
Value squeeze(const Operand& x, const Axes& axes) {
  const Value v = Use("squeeze", x);
  Shape list = axes.Of("squeeze", x.at, v.rank());
  // Of all axes those of size 1 are meant.
  if (axes.all()) std::erase_if(list, [&](int64_t a) { return v.dim(a) != 1; });
  for (int64_t a : list) {
    if (v.dim(a) != 1) FailAt(x.at, "squeeze: axis ", a, " of ", v.type(), " has size ", v.dim(a), ", not 1");
  }
  return lax::squeeze(v, list);
}
Value expand_dims(const Operand& x, AxisNumber axis) {
  const Value v = Use("expand_dims", x);
  const Shape list{Axis("expand_dims", x.at, axis, v.rank() + 1)};
  return lax::expand_dims(v, list);
}
Value broadcast_to(const Operand& x, const Shape& shape) {
  const Value v = Use("broadcast_to", x);
  Shape common = shape;
  if (!BroadcastInto(common, v.shape()) || common != shape) {
    FailAt(x.at, "broadcast_to: shape ", v.shape(), " does not broadcast to ", shape);
  }
  return BroadcastValue(v, shape);
}
Value flip(const Operand& x, const Axes& axes) {
  const Value v = Use("rev", x);
  return lax::rev(v, axes.Of("rev", x.at, v.rank()));
}
Value roll(const Operand& x, int64_t shift, AxisNumber given) {
  const Value v = Use("roll", x);
  if (given == kFlat) return reshape(Operand(roll(ravel(x), shift, 0), x.at), ShapeOfValue(v));
  const int64_t axis = Axis("roll", x.at, given, v.rank());
  const int64_t n = v.dim(axis);
  if (n == 0) return v;
  const int64_t by = shift % n, cut = by > 0 ? n - by : -by;  // from 0 to n - 1
  if (cut == 0) return v;
  const Value parts[] = {lax::slice_in_dim(v, cut, n, axis), lax::slice_in_dim(v, 0, cut, axis)};
  return lax::concatenate(parts, axis);
}
Value roll(const Operand& x, const Shape& shifts, const Shape& axes) {
  if (shifts.size() != axes.size())
    FailAt(x.at, "roll: ", Count(shifts.size(), "shift"), " for ", axes.size(), axes.size() == 1 ? " axis" : " axes");
  Value v = Use("roll", x);
  for (size_t i = 0; i < axes.size(); ++i) v = roll(Operand(v, x.at), shifts[i], axes[i]);
  return v;
}
Value pad(const Operand& x, const std::vector<std::pair<int64_t, int64_t>>& widths, const Operand& value) {
  const Operand both[] = {x, value};
  const CallSite site = SiteOf("pad", both);
  const Value v = site.Lift(x, DType::kNone);
  Shape low, high;
  for (const auto& [before, after] : widths) {
    if (before < 0 || after < 0) site.Fail("widths ", before, " and ", after, " must not be negative");
    low.push_back(before);
    high.push_back(after);
  }
  if (static_cast<int64_t>(low.size()) != v.rank()) site.Fail(low.size(), " widths given for ", v.type());
  const Value fill = lax::convert_element_type(site.Lift(value, v.dtype()), v.dtype());
  return lax::pad(v, fill, low, high, Shape(low.size(), 0));
}
Value tile(const Operand& x, Shape reps) {
  Value v = Use("tile", x);
  while (static_cast<int64_t>(reps.size()) < v.rank()) reps.insert(reps.begin(), 1);
  Shape shape(v.shape().begin(), v.shape().end());
  while (shape.size() < reps.size()) shape.insert(shape.begin(), 1);
  return Emit1("tile", {lax::reshape(v, shape)}, {{"reps", reps}});
}
Values UseList(std::string_view name, std::span<const Operand> xs) {
  if (xs.empty()) Fail(name, ": needs at least one array");
  const CallSite site = SiteOf(name, xs);
  const DType dtype = PromotedDType(site, xs);
  Values out;
  for (const Operand& x : xs) out.push_back(lax::convert_element_type(site.Lift(x, dtype), dtype));
  return out;
}
Value concatenate(std::span<const Operand> xs, AxisNumber axis) {
  const Values v = UseList("concatenate", xs);
  return lax::concatenate(v, Axis("concatenate", xs[0].at, axis, v[0].rank()));
}
Value stack(std::span<const Operand> xs, AxisNumber axis) {
  Values v = UseList("stack", xs);
  const Dims first = v[0].shape();
  axis = Axis("stack", xs[0].at, axis, v[0].rank() + 1);
  for (Value& x : v) {
    if (!SameDims(x.shape(), first)) FailAt(xs[0].at, "stack: shapes ", first, " and ", x.shape(), " differ");
    x = lax::expand_dims(x, Shape{axis});
  }
  return lax::concatenate(v, axis);
}
Value concatenate(std::initializer_list<Operand> xs, AxisNumber axis) {
  return concatenate(std::span(xs.begin(), xs.size()), axis);
}
Value stack(std::initializer_list<Operand> xs, AxisNumber axis) {
  return stack(std::span(xs.begin(), xs.size()), axis);
}

namespace {

std::vector<Operand> OperandsOf(const Values& xs, const Location& at) {
  std::vector<Operand> out;
  for (const Value& x : xs) out.emplace_back(x, at);
  return out;
}

}  // namespace

Value concatenate(const Values& xs, AxisNumber axis, Location at) {
  return concatenate(std::span<const Operand>(OperandsOf(xs, at)), axis);
}
Value stack(const Values& xs, AxisNumber axis, Location at) {
  return stack(std::span<const Operand>(OperandsOf(xs, at)), axis);
}
Values split(const Operand& x, int64_t parts, AxisNumber axis) {
  const Value v = Use("split", x);
  axis = Axis("split", x.at, axis, v.rank());
  const int64_t n = v.dim(axis);
  if (parts < 1 || n % parts != 0)
    FailAt(x.at, "split: axis of size ", n, " cannot be split into ", parts, " equal parts");
  return lax::split(v, Shape(static_cast<size_t>(parts), n / parts), axis);
}
Value full(const Operand& in, const Shape& shape, const Operand& value, DType dtype) {
  const Operand both[] = {in, value};
  const CallSite site = SiteOf("full", both);
  if (value.is_number()) {
    return site.Lift(value, dtype == DType::kNone ? PromoteWeak(DType::kNone, value.weak) : dtype, shape);
  }
  const Value v = broadcast_to(value, shape);
  return dtype == DType::kNone ? v : lax::convert_element_type(v, dtype);
}
Value zeros(const Operand& in, const Shape& shape, DType dtype) {
  return SiteOf("full", {&in, 1}).Constant(Operand(0, in.at), dtype, shape);
}
Value ones(const Operand& in, const Shape& shape, DType dtype) {
  return SiteOf("full", {&in, 1}).Constant(Operand(1, in.at), dtype, shape);
}
Value constant(const Operand& in, const Operand& x, DType dtype) {
  const Operand both[] = {in, x};
  const CallSite site = SiteOf("constant", both);
  const DType d = dtype == DType::kNone ? PromoteWeak(DType::kNone, x.weak) : dtype;
  const Value v = site.Lift(x, d);
  return dtype == DType::kNone ? v : lax::convert_element_type(v, dtype);
}
Value zeros_like(const Operand& x) { return lax::zeros_like(Use("zeros_like", x)); }
Value ones_like(const Operand& x) { return lax::ones_like(Use("ones_like", x)); }
Value full_like(const Operand& x, const Operand& value) {
  const Value v = Use("full_like", x);
  return full(Operand(v, x.at), ShapeOfValue(v), value, v.dtype());
}
Value Iota(const Operand& in, DType dtype, const Shape& shape, int64_t dimension) {
  const CallSite site = SiteOf("iota", {&in, 1});
  Value v = lax::iota(site.builder, dtype, shape, dimension);
  v.scope = site.scope;
  return v;
}
Value one_hot(const Operand& x, int64_t classes, DType dtype) {
  const Value v = Use("one_hot", x);
  const Shape last{v.rank()};
  Shape shape(v.shape().begin(), v.shape().end());
  shape.push_back(classes);
  const Value numbers = Iota(Operand(v, x.at), v.dtype(), shape, v.rank());
  return lax::convert_element_type(lax::eq(BroadcastValue(lax::expand_dims(v, last), shape), numbers), dtype);
}

namespace {

// x where the mask of the last two dimensions, column minus row at most k, is as wanted, else zeros.
Value Triangle(std::string_view name, const Operand& x, int64_t k, bool lower) {
  const Value v = Use(name, x);
  if (v.rank() < 2) FailAt(x.at, name, ": ", v.type(), " has fewer than 2 dimensions");
  const Shape shape(v.shape().end() - 2, v.shape().end());
  const Value rows = Iota(x, kDefaultInt, shape, 0), columns = Iota(x, kDefaultInt, shape, 1);
  const int64_t diagonal = std::clamp(k, -shape[0], shape[1]);  // beyond: all or nothing; k may be any number
  const Value border = lax::add(rows, lax::full_like(rows, diagonal));
  const Value mask = BroadcastValue(lower ? lax::ge(border, columns) : lax::le(border, columns), v.shape());
  return lax::select(mask, v, lax::zeros_like(v));
}

}  // namespace

Value tril(const Operand& x, int64_t k) { return Triangle("tril", x, k, /*lower=*/true); }
Value triu(const Operand& x, int64_t k) { return Triangle("triu", x, k, /*lower=*/false); }

}}  // namespace ricci::v0
