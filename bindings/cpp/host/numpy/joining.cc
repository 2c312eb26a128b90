// Joining, splitting and repeating arrays.
#include "ricci/joining.hpp"

#include <algorithm>

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 {

using namespace plain;

OperandList::OperandList(std::initializer_list<Operand> xs) : list_(xs) {}
OperandList::OperandList(const Values& xs, Location at) {
  for (const Value& x : xs) list_.emplace_back(x, at);
}

namespace {

Location LocationOf(const OperandList& xs) { return xs.view().empty() ? Location() : xs.view()[0].at; }
// The operands in one program and dtype, each with at least `rank` dimensions.
template <typename Raise>
Value Joined(std::string_view name, const OperandList& xs, int64_t axis, Raise raise) {
  Values list;
  for (const Value& v : UseList(name, xs.view())) list.push_back(raise(Operand(v, LocationOf(xs))));
  axis = list[0].rank() == 1 ? 0 : axis;
  for (const Value& v : list) {
    if (v.rank() != list[0].rank())
      FailAt(LocationOf(xs), name, ": ", list[0].type(), " and ", v.type(), " differ in dimensions");
  }
  return lax::concatenate(list, axis);
}
Value AsColumn(const Operand& x) {
  const Value v = atleast_1d(x);
  return v.rank() == 1 ? lax::expand_dims(v, Shape{1}) : v;
}
// x, or the flattened one without an axis.
Value AlongAxis(std::string_view name, const Operand& x, AxisNumber given, int64_t& axis) {
  const Value v = Use(name, x);
  axis = given == kFlat ? 0 : Axis(name, x.at, given, v.rank());
  return given == kFlat ? ravel(Operand(v, x.at)) : v;
}

}  // namespace

Value hstack(const OperandList& xs) { return Joined("hstack", xs, 1, atleast_1d); }
Value vstack(const OperandList& xs) { return Joined("vstack", xs, 0, atleast_2d); }
Value dstack(const OperandList& xs) { return Joined("dstack", xs, 2, atleast_3d); }
Value column_stack(const OperandList& xs) { return Joined("column_stack", xs, 1, AsColumn); }
Value block(std::initializer_list<OperandList> rows) {
  if (rows.size() == 0) Fail("block: needs at least one row");
  std::vector<Operand> all;
  for (const OperandList& row : rows) all.insert(all.end(), row.view().begin(), row.view().end());
  if (all.empty()) Fail("block: needs at least one array");
  const Location at = all[0].at;
  int64_t rank = 2;
  const Values values = UseList("block", all);
  for (const Value& v : values) rank = std::max(rank, v.rank());
  Values out;
  size_t next = 0;
  for (const OperandList& row : rows) {
    Values parts;
    for (size_t i = 0; i < row.view().size(); ++i) {
      const Value& v = values[next++];
      parts.push_back(lax::expand_dims(v, CountFrom(0, rank - v.rank())));
    }
    if (parts.empty()) FailAt(at, "block: a row is empty");
    out.push_back(lax::concatenate(parts, rank - 1));
  }
  return lax::concatenate(out, rank - 2);
}
Value append(const Operand& x, const Operand& values, AxisNumber axis) {
  const Operand in[] = {x, values};
  if (axis != kFlat) return concatenate(std::span<const Operand>(in), axis);
  Values flat;
  for (const Value& v : UseList("append", in)) flat.push_back(ravel(Operand(v, x.at)));
  return lax::concatenate(flat, 0);
}
Values broadcast_arrays(const OperandList& xs) {
  if (xs.view().empty()) return {};
  const CallSite site = SiteOf("broadcast_arrays", xs.view());
  const Shape shape = BroadcastShape(site, xs.view());
  Values out;
  for (const Operand& x : xs.view()) {
    out.push_back(BroadcastValue(site.Lift(x, PromoteWeak(DType::kNone, x.weak)), shape));
  }
  return out;
}

namespace {

// Each vector along its own dimension of as many.
Values Spread(std::string_view name, const OperandList& xs, bool exchanged) {
  if (xs.view().empty()) return {};
  const CallSite site = SiteOf(name, xs.view());
  const size_t n = xs.view().size();
  Values out;
  for (size_t i = 0; i < n; ++i) {
    const Operand& x = xs.view()[i];
    const Value v = atleast_1d(Operand(site.Lift(x, PromoteWeak(DType::kNone, x.weak)), x.at));
    if (v.rank() != 1) site.Fail("operand ", i, " is ", v.type(), "; it must be a vector");
    Shape shape(n, 1);
    shape[exchanged && n > 1 && i < 2 ? 1 - i : i] = v.dim(0);
    out.push_back(lax::reshape(v, shape));
  }
  return out;
}

}  // namespace

Values meshgrid(const OperandList& xs, std::string_view indexing, bool sparse) {
  if (indexing != "xy" && indexing != "ij") {
    FailAt(LocationOf(xs), "meshgrid: indexing is ", indexing, "; it must be xy or ij");
  }
  const Values out = Spread("meshgrid", xs, indexing == "xy");
  return sparse ? out : broadcast_arrays(OperandList(out, LocationOf(xs)));
}
Values ix_(const OperandList& xs) { return Spread("ix_", xs, false); }
Value atleast_1d(const Operand& x) {
  const Value v = Use("atleast_1d", x);
  return v.rank() == 0 ? lax::expand_dims(v, Shape{0}) : v;
}
Value atleast_2d(const Operand& x) {
  const Value v = atleast_1d(x);
  return v.rank() == 1 ? lax::expand_dims(v, Shape{0}) : v;
}
Value atleast_3d(const Operand& x) {
  const Value v = atleast_2d(x);
  return v.rank() == 2 ? lax::expand_dims(v, Shape{2}) : v;
}

Values split(const Operand& x, const Shape& indices, AxisNumber given) {
  const Value v = Use("split", x);
  const int64_t axis = Axis("split", x.at, given, v.rank()), n = v.dim(axis);
  Shape ends;
  for (int64_t index : indices) ends.push_back(std::clamp<int64_t>(index < 0 ? index + n : index, 0, n));
  ends.push_back(n);
  Shape sizes;
  for (size_t i = 0; i < ends.size(); ++i) sizes.push_back(ends[i] - (i == 0 ? 0 : ends[i - 1]));
  if (std::is_sorted(ends.begin(), ends.end())) return lax::split(v, sizes, axis);
  Values out;  // an index before the last one makes an empty piece, and the next one begins there
  for (size_t i = 0; i < ends.size(); ++i) {
    const int64_t from = i == 0 ? 0 : ends[i - 1];
    out.push_back(Cut(v, from, std::max(from, ends[i]), axis));
  }
  return out;
}
Values array_split(const Operand& x, int64_t parts, AxisNumber given) {
  const Value v = Use("array_split", x);
  const int64_t axis = Axis("array_split", x.at, given, v.rank()), n = v.dim(axis);
  if (parts < 1) FailAt(x.at, "array_split: ", parts, " parts; there must be at least 1");
  Shape sizes;
  for (int64_t i = 0; i < parts; ++i) sizes.push_back(n / parts + (i < n % parts ? 1 : 0));
  return lax::split(v, sizes, axis);
}
Values hsplit(const Operand& x, int64_t parts) { return split(x, parts, x.shape().size() < 2 ? 0 : 1); }
Values vsplit(const Operand& x, int64_t parts) { return split(x, parts, 0); }
Values dsplit(const Operand& x, int64_t parts) { return split(x, parts, 2); }
Values unstack(const Operand& x, AxisNumber axis) {
  const Value v = Use("unstack", x);
  return lax::unstack(v, Axis("unstack", x.at, axis, v.rank()));
}

Value insert(const Operand& x, int64_t index, const Operand& values, AxisNumber given) {
  const Operand in[] = {x, values};
  const CallSite site = SiteOf("insert", in);
  int64_t axis = 0;
  const Value v = AlongAxis("insert", Operand(site.Lift(x, DType::kNone), x.at), given, axis);
  const int64_t n = v.dim(axis);
  if (index < -n || index > n) site.Fail("index ", index, " is out of range for axis ", axis, " of ", v.type());
  if (index < 0) index += n;
  Value u = To(site.Lift(values, v.dtype()), v.dtype());
  // A single index takes what fits one slice, or several slices.
  if (u.rank() < v.rank() && u.rank() > 0 && v.rank() > 1) u = lax::expand_dims(u, {&axis, 1});
  Shape shape = ShapeOfValue(v);
  shape[static_cast<size_t>(axis)] = u.rank() == v.rank() ? u.dim(axis) : 1;
  return Join({Cut(v, 0, index, axis), broadcast_to(Operand(u, x.at), shape), Cut(v, index, n, axis)}, axis);
}
Value insert(const Operand& x, const Shape& indices, const Operand& values, AxisNumber given) {
  const Operand in[] = {x, values};
  const CallSite site = SiteOf("insert", in);
  int64_t axis = 0;
  const Value v = AlongAxis("insert", Operand(site.Lift(x, DType::kNone), x.at), given, axis);
  const int64_t n = v.dim(axis), count = static_cast<int64_t>(indices.size());
  Shape shape = ShapeOfValue(v);
  shape[static_cast<size_t>(axis)] = count;
  const Value u = broadcast_to(Operand(To(site.Lift(values, v.dtype()), v.dtype()), x.at), shape);
  std::vector<std::pair<int64_t, int64_t>> order;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = indices[static_cast<size_t>(i)];
    if (at < -n || at > n) site.Fail("index ", at, " is out of range for axis ", axis, " of ", v.type());
    order.emplace_back(at < 0 ? at + n : at, i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Values parts;
  int64_t from = 0;
  for (const auto& [at, i] : order) {
    parts.push_back(Cut(v, from, at, axis));
    parts.push_back(Cut(u, i, i + 1, axis));
    from = at;
  }
  parts.push_back(Cut(v, from, n, axis));
  return lax::concatenate(parts, axis);
}
Value delete_(const Operand& x, int64_t index, AxisNumber axis) { return delete_(x, Shape{index}, axis); }
Value delete_(const Operand& x, const Shape& indices, AxisNumber given) {
  int64_t axis = 0;
  const Value v = AlongAxis("delete_", x, given, axis);
  const CallSite site = SiteOf("delete_", {&x, 1});
  const int64_t n = v.dim(axis);
  Shape gone;
  for (int64_t i : indices) gone.push_back(InBounds(site, i, axis, v));
  std::sort(gone.begin(), gone.end());
  gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
  Values parts;
  int64_t from = 0;
  for (int64_t i : gone) {
    parts.push_back(Cut(v, from, i, axis));
    from = i + 1;
  }
  parts.push_back(Cut(v, from, n, axis));
  return lax::concatenate(parts, axis);
}

Value repeat(const Operand& x, int64_t repeats, AxisNumber given) {
  if (repeats < 0) FailAt(x.at, "repeat: repeats is ", repeats, "; it must not be negative");
  int64_t axis = 0;
  const Value v = AlongAxis("repeat", x, given, axis);
  Shape wide = ShapeOfValue(v), shape = wide, positions;
  wide.insert(wide.begin() + axis + 1, repeats);
  shape[static_cast<size_t>(axis)] = AsDimension(Exact(v.dim(axis)) * Exact(repeats), "repeat: size ");
  for (int64_t d = 0; d < v.rank(); ++d) positions.push_back(d + (d > axis));
  return lax::reshape(lax::broadcast_in_dim(v, wide, positions), shape);
}
Value repeat(const Operand& x, const Operand& repeats, AxisNumber given, int64_t total) {
  const Operand in[] = {x, repeats};
  const CallSite site = SiteOf("repeat", in);
  int64_t axis = 0;
  const Value v = AlongAxis("repeat", Operand(site.Lift(x, DType::kNone), x.at), given, axis);
  Value r = site.Lift(repeats, kDefaultInt);
  if (!IsInt(r.dtype()) || r.rank() > 1) site.Fail("repeats are ", r.type(), "; they must be a vector of integers");
  r = broadcast_to(Operand(r, x.at), Shape{v.dim(axis)});
  if (total < 0) site.Fail("total_repeat_length is ", total, "; it must not be negative");
  // The element that position i holds: how many elements end at or before it.
  const Value ends = lax::cumsum(r, 0);
  const Value positions = lax::convert_element_type(arange(Operand(r, x.at), total), r.dtype());
  const Value row = lax::expand_dims(ends, Shape{0}), column = lax::expand_dims(positions, Shape{1});
  const Value element = lax::reduce_sum(To(row <= column, DType::kI32), Shape{1});
  return GatherAlong(v, element, axis, "clip");
}
Value resize(const Operand& x, const Shape& shape) {
  const Value v = ravel(x);
  const int64_t want = ElementCount(shape), have = v.dim(0);
  if (want == 0 || have == 0) return lax::reshape(BroadcastValue(Scalar(v, 0), Shape{want}), shape);
  const Value many = Emit1("tile", {v}, {{"reps", Shape{(want + have - 1) / have}}});
  return lax::reshape(Cut(many, 0, want, 0), shape);
}
Value rot90(const Operand& x, int64_t k, AxisNumber from, AxisNumber to) {
  const Value v = Use("rot90", x);
  const int64_t a = Axis("rot90", x.at, from, v.rank()), b = Axis("rot90", x.at, to, v.rank());
  if (a == b) FailAt(x.at, "rot90: both axes are ", a);
  k = (k % 4 + 4) % 4;
  if (k == 0) return v;
  if (k == 2) return lax::rev(v, Shape{a, b});
  const int64_t first = k == 1 ? b : a;
  return swapaxes(Operand(lax::rev(v, {&first, 1}), x.at), a, b);
}
Value fliplr(const Operand& x) { return flip(x, 1); }
Value flipud(const Operand& x) { return flip(x, 0); }
Value rollaxis(const Operand& x, AxisNumber given, AxisNumber start) {
  const int64_t rank = Use("rollaxis", x).rank(), axis = Axis("rollaxis", x.at, given, rank);
  int64_t to = start == rank ? rank : Axis("rollaxis", x.at, start, rank);
  if (axis < to) --to;
  return moveaxis(x, axis, to);
}
Value matrix_transpose(const Operand& x) {
  const int64_t rank = Use("matrix_transpose", x).rank();
  if (rank < 2) FailAt(x.at, "matrix_transpose: operand has ", Count(rank, "dimension"), "; it must have at least 2");
  return swapaxes(x, -1, -2);
}

}}  // namespace ricci::v0
