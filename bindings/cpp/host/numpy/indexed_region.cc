#include "host/numpy/indexed_region.h"

#include <algorithm>

#include "host/core/numpy_steps.h"

namespace ricci { inline namespace v0 {

SliceBounds BoundsOf(const Slice& s, int64_t n, const Location& at) {
  if (s.step == 0) FailAt(at, "slice: step is 0");
  const bool back = s.step < 0;
  const auto bound = [&](const std::optional<int64_t>& i, int64_t otherwise) {
    return i ? std::clamp<int64_t>(*i < 0 ? *i + n : *i, back ? -1 : 0, back ? n - 1 : n) : otherwise;
  };
  const int64_t start = bound(s.start, back ? n - 1 : 0), stop = bound(s.stop, back ? -1 : n);
  // A step beyond the size leaves only the first element, however large the step is.
  const int64_t most = std::max<int64_t>(n, 1), step = std::clamp(s.step, -most, most);
  const int64_t length = back ? start - stop : stop - start;
  return {start, length > 0 ? (length - 1) / (back ? -step : step) + 1 : 0, step};
}

CallSite SiteOfIndex(std::string_view name, const Operand& x, IndexList items, std::span<const Operand> others) {
  std::vector<Operand> all{x};
  for (const IndexItem& i : items) {
    if (i.at) all.push_back(*i.at);
  }
  all.insert(all.end(), others.begin(), others.end());
  return SiteOf(name, all);
}

int64_t AxesUsed(const CallSite& site, const Value& v, IndexList items) {
  const auto used = std::count_if(items.begin(), items.end(), [](const IndexItem& i) {
    return i.kind == IndexItem::Kind::kSlice || i.kind == IndexItem::Kind::kAt;
  });
  if (used > v.rank()) site.Fail(used, used == 1 ? " index for " : " indices for ", v.type());
  const auto dots = std::count_if(items.begin(), items.end(),
                                  [](const IndexItem& i) { return i.kind == IndexItem::Kind::kEllipsis; });
  if (dots > 1) site.Fail("kEllipsis occurs ", dots, " times; it may occur once");
  return used;
}

bool HoldsArray(IndexList items) {
  return std::any_of(items.begin(), items.end(), [](const IndexItem& i) { return i.at && !i.at->shape().empty(); });
}

namespace {

// What one item, or one axis without an item, becomes in the result.
enum class Part { kBlock, kOwn, kWindow, kNew };
struct Entry {
  Part part;
  int64_t axis;
  Value index;  // of kBlock and kOwn
};

// Wide enough for every index of v.
DType IndexDType(const Value& v) {
  const Dims dims = v.shape();
  return std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d > INT32_MAX; }) ? DType::kI64 : DType::kI32;
}
Value IndexOfItem(const CallSite& site, const Value& v, const Operand& item, int64_t axis) {
  if (item.weak == Weak::kInt) return site.Lift(Operand(InBounds(site, item.int64(site.name), axis, v)), IndexDType(v));
  const Value i = site.Lift(item, kDefaultInt);
  WantIndex(site.name, site.at, v, i);
  return FromEnd(i, v.dim(axis));
}
// The numbers that a slice holds.
Value IndexOfSlice(const CallSite& site, const Value& v, const SliceBounds& b) {
  const Value i = Iota(Operand(v, site.at), IndexDType(v), {b.count}, 0);
  return lax::add(lax::mul(i, lax::full_like(i, b.step)), lax::full_like(i, b.start));
}
Entry EntryOfSlice(const CallSite& site, const Value& v, const Slice& s, int64_t axis) {
  const SliceBounds b = BoundsOf(s, v.dim(axis), site.at);
  if (b.step == 1 && b.count == v.dim(axis)) return {Part::kWindow, axis, {}};
  return {Part::kOwn, axis, IndexOfSlice(site, v, b)};
}
// One entry per item and axis, in the order of the axes; at least one of them has an index.
std::vector<Entry> EntriesOf(const CallSite& site, const Value& v, IndexList items) {
  std::vector<Entry> out;
  int64_t axis = 0, skipped = v.rank() - AxesUsed(site, v, items);
  const auto skip = [&] {
    for (; skipped > 0; --skipped) out.push_back({Part::kWindow, axis++, {}});
  };
  for (const IndexItem& item : items) {
    if (item.kind == IndexItem::Kind::kEllipsis) skip();
    if (item.kind == IndexItem::Kind::kNewAxis) out.push_back({Part::kNew, -1, {}});
    if (item.kind == IndexItem::Kind::kSlice) out.push_back(EntryOfSlice(site, v, item.slice, axis++));
    if (item.kind != IndexItem::Kind::kAt) continue;
    out.push_back({Part::kBlock, axis, IndexOfItem(site, v, *item.at, axis)});
    ++axis;
  }
  skip();
  const auto indexed = [](const Entry& e) { return e.part == Part::kBlock || e.part == Part::kOwn; };
  if (std::none_of(out.begin(), out.end(), indexed)) {
    Entry& first = *std::find_if(out.begin(), out.end(), [](const Entry& e) { return e.part == Part::kWindow; });
    first = {Part::kOwn, first.axis, IndexOfSlice(site, v, {0, v.dim(first.axis), 1})};
  }
  return out;
}

// The shape that the indices of the block broadcast to.
Shape BlockShape(const CallSite& site, const std::vector<Entry>& entries) {
  Shape shape;
  for (const Entry& e : entries) {
    const Shape before = shape;
    if (e.part != Part::kBlock || BroadcastInto(shape, e.index.shape())) continue;
    site.Fail("indices of shapes ", before, " and ", e.index.shape(), " do not broadcast");
  }
  return shape;
}
// The entry before which the dimensions of the block come.
size_t PositionOfBlock(const std::vector<Entry>& entries) {
  const auto in_block = [](const Entry& e) { return e.part == Part::kBlock; };
  const auto first = std::find_if(entries.begin(), entries.end(), in_block);
  const auto end = std::find_if_not(first, entries.end(), in_block);
  const bool together = std::none_of(end, entries.end(), in_block);
  return together ? static_cast<size_t>(first - entries.begin()) : 0;
}

}  // namespace

IndexedRegion RegionOf(const CallSite& site, const Value& v, IndexList items) {
  const std::vector<Entry> entries = EntriesOf(site, v, items);
  const Shape block = BlockShape(site, entries);
  const size_t block_at = PositionOfBlock(entries);
  IndexedRegion region;
  Shape batch;                              // the dimensions of the result that are not the window's
  std::vector<size_t> own(entries.size());  // for each kOwn: its dimension among them
  size_t block_first = 0;
  for (size_t i = 0; i <= entries.size(); ++i) {
    if (i == block_at) {
      block_first = batch.size();
      batch.insert(batch.end(), block.begin(), block.end());
      region.shape.insert(region.shape.end(), block.begin(), block.end());
    }
    if (i == entries.size() || entries[i].part == Part::kBlock) continue;
    const Entry& e = entries[i];
    if (e.part == Part::kNew) {
      region.new_dims.push_back(static_cast<int64_t>(region.shape.size() + region.new_dims.size()));
      continue;
    }
    if (e.part == Part::kWindow) region.window_dims.push_back(static_cast<int64_t>(region.shape.size()));
    own[i] = batch.size();
    region.shape.push_back(e.part == Part::kOwn ? e.index.dim(0) : v.dim(e.axis));
    if (e.part == Part::kOwn) batch.push_back(e.index.dim(0));
  }
  // One column of indices per indexed axis.
  DType dtype = IndexDType(v);
  for (const Entry& e : entries) {
    const bool has_index = e.part == Part::kBlock || e.part == Part::kOwn;
    if (has_index && (SizeOf(e.index.dtype()) == 8 || e.index.dtype() == DType::kU32)) dtype = DType::kI64;
  }
  Values columns;
  const Shape last{static_cast<int64_t>(batch.size())};
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    if (e.part == Part::kNew || e.part == Part::kWindow) continue;
    region.axes.push_back(e.axis);
    const int64_t rank = e.index.rank();
    const auto first = static_cast<int64_t>(e.part == Part::kOwn ? own[i] : block_first + block.size()) -
                       (e.part == Part::kOwn ? 0 : rank);
    const Value index = lax::convert_element_type(e.index, dtype);
    columns.push_back(lax::expand_dims(lax::broadcast_in_dim(index, batch, CountFrom(first, rank)), last));
  }
  region.indices = lax::concatenate(columns, last[0]);
  return region;
}

Value GatherRegion(const Value& v, const IndexedRegion& region, std::string_view mode,
                   std::optional<double> fill_value) {
  Shape sizes = ShapeOfValue(v);
  for (int64_t a : region.axes) sizes[static_cast<size_t>(a)] = 1;
  const lax::GatherDims d{region.window_dims, region.axes, region.axes, {}, {}};
  const Value out = lax::gather(v, region.indices, d, sizes, mode, fill_value);
  return lax::expand_dims(out, region.new_dims);
}

}}  // namespace ricci::v0
