// Index lists as slices, gathers and scatters.
#include "ricci/indexing.hpp"

#include <algorithm>

#include "host/core/numpy_steps.h"
#include "host/numpy/indexed_region.h"

namespace ricci { inline namespace v0 {

Value FromEnd(const Value& index, int64_t size) {
  if (In(index.dtype(), kUnsigned)) return index;
  // A narrow integer may not hold the size.
  const DType least = size > INT32_MAX ? DType::kI64 : DType::kI32;
  const Value i = SizeOf(index.dtype()) < SizeOf(least) ? lax::convert_element_type(index, least) : index;
  return lax::select(lax::lt(i, lax::zeros_like(i)), lax::add(i, lax::full_like(i, size)), i);
}
void WantIndex(std::string_view name, const Location& at, const Value& x, const Value& i) {
  if (x.rank() == 0) FailAt(at, name, ": a scalar has no elements to index");
  if (!IsInt(i.dtype())) FailAt(at, name, ": the index is ", i.type(), "; it must be an integer");
}
int64_t InBounds(const CallSite& site, int64_t i, int64_t axis, const Value& x) {
  const int64_t n = x.dim(axis);
  if (i < -n || i >= n) site.Fail("index ", i, " is out of range for axis ", axis, " of ", x.type());
  return i < 0 ? i + n : i;
}
Value GatherAlong(const Value& x, const Value& indices, int64_t axis, std::string_view mode) {
  const int64_t n = indices.rank();
  const Shape one{axis}, last{n};
  lax::GatherDims d{{}, one, one, {}, {}};
  for (int64_t i = 0; i < x.rank() + n - 1; ++i) {
    if (i < axis || i >= axis + n) d.offset_dims.push_back(i);
  }
  Shape sizes(x.shape().begin(), x.shape().end());
  sizes[static_cast<size_t>(axis)] = 1;
  return lax::gather(x, lax::expand_dims(FromEnd(indices, x.dim(axis)), last), d, sizes, mode);
}
Value take(const Operand& x, const Operand& indices, AxisNumber given, std::string_view mode) {
  const Operand both[] = {x, indices};
  const CallSite site = SiteOf("take", both);
  const Value v = site.Lift(x, DType::kNone), i = site.Lift(indices, kDefaultInt);
  WantIndex("take", site.at, v, i);
  return GatherAlong(v, i, Axis("take", site.at, given, v.rank()), mode);
}
Value take_along_axis(const Operand& x, const Operand& indices, AxisNumber given) {
  const Operand both[] = {x, indices};
  const CallSite site = SiteOf("take_along_axis", both);
  const Value v = site.Lift(x, DType::kNone), i = site.Lift(indices, kDefaultInt);
  WantIndex("take_along_axis", site.at, v, i);
  if (v.rank() != i.rank()) site.Fail("operands are ", v.type(), " and ", i.type(), "; they need the same dimensions");
  const int64_t axis = Axis("take_along_axis", site.at, given, v.rank());
  const Shape one{axis}, last{v.rank()};
  Shape batch, sizes(static_cast<size_t>(v.rank()), 1);
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (d != axis) batch.push_back(d);
  }
  return lax::gather(v, lax::expand_dims(FromEnd(i, v.dim(axis)), last), {{}, one, one, batch, batch}, sizes);
}

namespace {

IndexList ListOf(IndexItems items) { return {items.begin(), items.size()}; }
// Elements low, low + step, ...
Value Strided(const Value& v, int64_t low, int64_t count, int64_t step, int64_t axis) {
  if (low == 0 && count == v.dim(axis) && step == 1) return v;
  Shape starts(static_cast<size_t>(v.rank()), 0), limits = ShapeOfValue(v), strides(starts.size(), 1);
  const auto a = static_cast<size_t>(axis);
  starts[a] = low;
  limits[a] = count == 0 ? low : low + (count - 1) * step + 1;
  strides[a] = step;
  return lax::slice(v, starts, limits, step == 1 ? Dims() : Dims(strides));
}
Value TakeSlice(const Value& v, const Slice& s, int64_t axis, const Location& at) {
  const SliceBounds b = BoundsOf(s, v.dim(axis), at);
  if (b.step > 0) return Strided(v, b.start, b.count, b.step, axis);
  // The same elements forward, then reversed.
  const int64_t low = b.count == 0 ? 0 : b.start + (b.count - 1) * b.step;
  return lax::rev(Strided(v, low, b.count, -b.step, axis), {&axis, 1});
}
// The element number `start`, a scalar, along `axis`, which is dropped.
Value ElementAlong(const Value& v, const Value& start, int64_t axis) {
  Values starts(static_cast<size_t>(v.rank()), lax::full_like(start, 0));
  starts[static_cast<size_t>(axis)] = start;
  Shape sizes(v.shape().begin(), v.shape().end());
  sizes[static_cast<size_t>(axis)] = 1;
  return lax::squeeze(lax::dynamic_slice(v, starts, sizes), {&axis, 1});
}
// x[i] along `axis`: a number or scalar drops the axis, an array of integers replaces it. Outside of a trace a number
// is an operand, so that one program serves for all elements.
Value IndexAlong(const Value& v, const Operand& index, int64_t axis, const CallSite& site) {
  const int64_t n = v.dim(axis);
  const Shape dims{axis};
  if (index.weak == Weak::kInt) {
    const int64_t at = InBounds(site, index.int64(site.name), axis, v);
    if (site.is_outside())
      return ElementAlong(v, site.Lift(Operand(at, index.at), n > INT32_MAX ? DType::kI64 : DType::kI32), axis);
    return lax::squeeze(lax::slice_in_dim(v, at, at + 1, axis), dims);
  }
  const Value i = site.Lift(index, kDefaultInt);
  WantIndex(site.name, site.at, v, i);
  if (i.rank() > 0) return GatherAlong(v, i, axis, "clip");
  return ElementAlong(v, FromEnd(i, n), axis);
}

}  // namespace

const Value Value::operator[](const Operand& index) const {
  const Operand both[] = {index.is_value() ? index : Operand(*this, index.at), Operand(*this, index.at)};
  const CallSite site = SiteOf("index", both);
  const Value v = site.Lift(both[1], DType::kNone);
  if (v.rank() == 0) site.Fail("a scalar has no elements to index");
  return IndexAlong(v, index, 0, site);
}

const Value index(const Operand& x, IndexItems given) {
  const IndexList items = ListOf(given);
  const CallSite site = SiteOfIndex("index", x, items, {});
  Value v = site.Lift(x, DType::kNone);
  if (HoldsArray(items)) return GatherRegion(v, RegionOf(site, v, items));
  int64_t axis = 0;
  const int64_t skipped = v.rank() - AxesUsed(site, v, items);
  for (const IndexItem& item : items) {
    const Shape dims{axis};
    switch (item.kind) {
      case IndexItem::Kind::kSlice:
        v = TakeSlice(v, item.slice, axis++, site.at);
        break;
      case IndexItem::Kind::kAt:
        v = IndexAlong(v, *item.at, axis, site);
        break;
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
const Value slice(const Operand& x, int64_t start, int64_t stop, AxisNumber axis, int64_t step) {
  const Value v = Use("slice", x);
  return TakeSlice(v, {start, stop, step}, Axis("slice", x.at, axis, v.rank()), x.at);
}

Value set_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return set_at(x, {IndexItem(indices)}, updates);
}
Value set_at(const Operand& x, IndexItems items, const Operand& updates) {
  return UpdateRegion("set_at", "scatter", x, ListOf(items), updates);
}

Value add_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return add_at(x, {IndexItem(indices)}, updates);
}
Value add_at(const Operand& x, IndexItems items, const Operand& updates) {
  return UpdateRegion("add_at", "scatter-add", x, ListOf(items), updates);
}

Value sub_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return sub_at(x, {IndexItem(indices)}, updates);
}
Value sub_at(const Operand& x, IndexItems items, const Operand& updates) {
  return UpdateRegion("sub_at", "scatter-sub", x, ListOf(items), updates);
}

Value mul_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return mul_at(x, {IndexItem(indices)}, updates);
}
Value mul_at(const Operand& x, IndexItems items, const Operand& updates) {
  return UpdateRegion("mul_at", "scatter-mul", x, ListOf(items), updates);
}

Value min_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return min_at(x, {IndexItem(indices)}, updates);
}
Value min_at(const Operand& x, IndexItems items, const Operand& updates) {
  return UpdateRegion("min_at", "scatter-min", x, ListOf(items), updates);
}

Value max_at(const Operand& x, const Operand& indices, const Operand& updates) {
  return max_at(x, {IndexItem(indices)}, updates);
}
Value max_at(const Operand& x, IndexItems items, const Operand& updates) {
  return UpdateRegion("max_at", "scatter-max", x, ListOf(items), updates);
}

}}  // namespace ricci::v0
