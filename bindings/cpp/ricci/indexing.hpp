// ricci/indexing.hpp: x[i], slices, take, and updates at an index.
//
// Numbers index when the program is traced and must be in bounds. Traced indices may be negative, and are clamped as in
// JAX's x[i]; `take` fills with NaN (or 0) instead, and updates drop what is out of bounds.
#ifndef RICCI_INDEXING_HPP_
#define RICCI_INDEXING_HPP_
#include <optional>

#include "ricci/products.hpp"

namespace ricci::inline v0 {

// start : stop : step of one dimension, as in Python.
struct Slice {
  std::optional<int64_t> start, stop;
  int64_t step = 1;
};
inline constexpr Slice kAll{};

// Traced indices with negative ones counted from the end.
inline Value FromEnd(const Value& i, int64_t size) {
  if (In(i.dtype(), kUnsigned)) return i;
  return lax::select(lax::lt(i, lax::zeros_like(i)), lax::add(i, lax::full_like(i, size)), i);
}
inline void WantIndex(std::string_view name, const Location& at, const Value& x, const Value& i) {
  if (x.rank() == 0) FailAt(at, name, ": a scalar has no elements to index");
  if (!IsInt(i.dtype())) FailAt(at, name, ": the index is ", i.type(), "; it must be an integer");
}
// The slices of x along `axis` at indices of any shape, which takes the place of the axis.
inline Value GatherAlong(const Value& x, const Value& indices, int64_t axis, std::string_view mode) {
  const int64_t n = indices.rank();
  const Shape one{axis}, last{n};
  lax::GatherDims d{{}, one, one, {}, {}};
  for (int64_t i = 0; i < x.rank() + n - 1; ++i) {
    if (i < axis || i >= axis + n) d.offset_dims.push_back(i);
  }
  Shape sizes(x.shape().begin(), x.shape().end());
  sizes[static_cast<size_t>(axis)] = 1;
  const double fill = IsFloat(x.dtype()) ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  return lax::gather(x, lax::expand_dims(FromEnd(indices, x.dim(axis)), last), d, sizes, mode, fill);
}
// Elements at `indices` of any shape; out of bounds gives NaN, or 0 for integers.
inline Value take(const Operand& x, const Operand& indices, int64_t axis = 0, std::string_view mode = "fill") {
  const Operand both[] = {x, indices};
  const Place p = PlaceOf("take", both);
  const Value v = p.Lift(x, DType::kNone), i = p.Lift(indices, kDefaultInt);
  WantIndex("take", p.at, v, i);
  return GatherAlong(v, i, Axis("take", p.at, axis, v.rank()), mode);
}
// out[..., j, ...] = x[..., indices[..., j, ...], ...]: both have the same dimensions but for `axis`.
inline Value take_along_axis(const Operand& x, const Operand& indices, int64_t axis) {
  const Operand both[] = {x, indices};
  const Place p = PlaceOf("take_along_axis", both);
  const Value v = p.Lift(x, DType::kNone), i = p.Lift(indices, kDefaultInt);
  WantIndex("take_along_axis", p.at, v, i);
  if (v.rank() != i.rank()) p.Fail("operands are ", v.type(), " and ", i.type(), "; they need the same dimensions");
  axis = Axis("take_along_axis", p.at, axis, v.rank());
  const Shape one{axis}, last{v.rank()};
  Shape batch, sizes(static_cast<size_t>(v.rank()), 1);
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (d != axis) batch.push_back(d);
  }
  const double fill = IsFloat(v.dtype()) ? std::numeric_limits<double>::quiet_NaN() : 0.0;
  return lax::gather(v, lax::expand_dims(FromEnd(i, v.dim(axis)), last), {{}, one, one, batch, batch}, sizes, "fill",
                     fill);
}
inline Value TakeSlice(const Value& v, const Slice& s, int64_t axis, const Location& at) {
  const int64_t n = v.dim(axis);
  if (s.step == 0) FailAt(at, "slice: step is 0");
  auto bound = [&](const std::optional<int64_t>& i, int64_t otherwise) {
    if (!i) return otherwise;
    return std::clamp<int64_t>(*i < 0 ? *i + n : *i, s.step < 0 ? -1 : 0, s.step < 0 ? n - 1 : n);
  };
  const Shape dims{axis};
  if (s.step < 0) {  // the same elements forward, then reversed
    const int64_t first = bound(s.start, n - 1), end = bound(s.stop, -1), step = -s.step;
    const int64_t count = first > end ? (first - end + step - 1) / step : 0;
    const int64_t low = count == 0 ? 0 : first - (count - 1) * step;
    return lax::rev(TakeSlice(v, {low, count == 0 ? 0 : first + 1, step}, axis, at), dims);
  }
  Shape starts(static_cast<size_t>(v.rank()), 0), limits(v.shape().begin(), v.shape().end());
  Shape strides(static_cast<size_t>(v.rank()), 1);
  const auto a = static_cast<size_t>(axis);
  starts[a] = bound(s.start, 0);
  limits[a] = std::max(starts[a], bound(s.stop, n));
  strides[a] = s.step;
  if (starts[a] == 0 && limits[a] == n && s.step == 1) return v;
  return lax::slice(v, starts, limits, s.step == 1 ? Dims() : Dims(strides));
}
// x[i] along `axis`: a number or scalar drops the axis, an array of integers replaces it.
inline Value IndexAlong(const Value& v, const Operand& index, int64_t axis, const Place& p) {
  const int64_t n = v.dim(axis);
  const Shape dims{axis};
  if (index.weak == Weak::kInt) {
    if (index.integer < -n || index.integer >= n) {
      p.Fail("index ", index.integer, " is out of range for axis ", axis, " of ", v.type());
    }
    const int64_t at = index.integer < 0 ? index.integer + n : index.integer;
    return lax::squeeze(lax::slice_in_dim(v, at, at + 1, axis), dims);
  }
  const Value i = p.Lift(index, kDefaultInt);
  WantIndex(p.name, p.at, v, i);
  if (i.rank() > 0) return GatherAlong(v, i, axis, "clip");
  Values starts(static_cast<size_t>(v.rank()), lax::full_like(i, 0));
  starts[static_cast<size_t>(axis)] = FromEnd(i, n);
  Shape sizes(v.shape().begin(), v.shape().end());
  sizes[static_cast<size_t>(axis)] = 1;
  return lax::squeeze(lax::dynamic_slice(v, starts, sizes), dims);
}
inline Value Value::operator[](const Operand& index) const {
  const Operand both[] = {index.is_value() ? index : Operand(*this, index.at), Operand(*this, index.at)};
  const Place p = PlaceOf("index", both);
  const Value v = p.Lift(both[1], DType::kNone);
  if (v.rank() == 0) p.Fail("a scalar has no elements to index");
  return IndexAlong(v, index, 0, p);
}

// One entry of an index list: a Slice, a number or integer Value, kNewAxis or kEllipsis.
struct IndexItem {
  enum class Kind : uint8_t { kSlice, kAt, kNewAxis, kEllipsis };
  IndexItem(const Slice& s) : kind(Kind::kSlice), slice(s) {}                                               // NOLINT
  IndexItem(Kind k) : kind(k) {}                                                                            // NOLINT
  IndexItem(const Value& v, Location at = Location::Here()) : kind(Kind::kAt), at(std::in_place, v, at) {}  // NOLINT
  template <std::integral T>
  IndexItem(T i, Location where = Location::Here()) : kind(Kind::kAt), at(std::in_place, i, where) {}  // NOLINT
  Kind kind;
  Slice slice;
  std::optional<Operand> at;
};
inline constexpr auto kNewAxis = IndexItem::Kind::kNewAxis;
inline constexpr auto kEllipsis = IndexItem::Kind::kEllipsis;

// x[items...] of Python for numbers, scalars and slices: `index(x, {Slice{1, -1}, 0})`.
inline Value index(const Operand& x, std::initializer_list<IndexItem> items) {
  Place p = PlaceOf("index", {&x, 1});
  Value v = p.Lift(x, DType::kNone);
  const auto used = std::count_if(items.begin(), items.end(), [](const IndexItem& i) {
    return i.kind == IndexItem::Kind::kSlice || i.kind == IndexItem::Kind::kAt;
  });
  if (used > v.rank()) p.Fail(used, " indices for ", v.type());
  int64_t axis = 0;
  const int64_t skipped = v.rank() - used;
  for (const IndexItem& item : items) {
    const Shape dims{axis};
    switch (item.kind) {
      case IndexItem::Kind::kSlice:
        v = TakeSlice(v, item.slice, axis++, p.at);
        break;
      case IndexItem::Kind::kAt: {
        const Operand both[] = {Operand(v, p.at), *item.at};
        if (item.at->is_value()) p = PlaceOf("index", both);
        v = IndexAlong(p.Lift(both[0], DType::kNone), *item.at, axis, p);
        break;
      }
      case IndexItem::Kind::kNewAxis:
        v = lax::expand_dims(v, dims);
        ++axis;
        break;
      case IndexItem::Kind::kEllipsis:
        axis += skipped;
        break;
    }
  }
  return v;
}
// start : stop : step along one axis.
inline Value slice(const Operand& x, int64_t start, int64_t stop, int64_t axis = 0, int64_t step = 1) {
  const Value v = Use("slice", x);
  return TakeSlice(v, {start, stop, step}, Axis("slice", x.at, axis, v.rank()), x.at);
}

// ---- updates: x with the slices at `indices` of axis 0 changed ----
inline Value Update(std::string_view name, std::string_view prim, const Operand& x, const Operand& indices,
                    const Operand& updates) {
  const Operand in[] = {x, indices, updates};
  const Place p = PlaceOf(name, in);
  const Value v = p.Lift(x, DType::kNone), i = p.Lift(indices, kDefaultInt);
  WantIndex(name, p.at, v, i);
  Shape window(i.shape().begin(), i.shape().end());
  window.insert(window.end(), v.shape().begin() + 1, v.shape().end());
  const Value u = BroadcastValue(lax::convert_element_type(p.Lift(updates, v.dtype(), window), v.dtype()), window);
  lax::ScatterDims d{{}, {0}, {0}, {}, {}};
  for (int64_t k = i.rank(); k < static_cast<int64_t>(window.size()); ++k) d.update_window_dims.push_back(k);
  const Shape last{i.rank()};
  return lax::scatter_named(prim, v, lax::expand_dims(FromEnd(i, v.dim(0)), last), u, d);
}
inline Value set_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return Update("set_at", "scatter", x, indices, updates);
}
inline Value add_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return Update("add_at", "scatter-add", x, indices, updates);
}
inline Value sub_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return Update("sub_at", "scatter-sub", x, indices, updates);
}
inline Value mul_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return Update("mul_at", "scatter-mul", x, indices, updates);
}
inline Value min_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return Update("min_at", "scatter-min", x, indices, updates);
}
inline Value max_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return Update("max_at", "scatter-max", x, indices, updates);
}

}  // namespace ricci::inline v0
#endif
