// ricci/indexing.hpp: x[i], slices, take, and updates at an index.
//
// Numbers index when the program is traced and must be in bounds. Traced indices may be negative, and are clamped as in
// JAX's x[i]; `take` fills instead, and updates drop what is out of bounds.
#ifndef RICCI_INDEXING_HPP_
#define RICCI_INDEXING_HPP_
#include <optional>

#include "ricci/axes.hpp"

namespace ricci { inline namespace v0 {

// start : stop : step of one dimension, as in Python.
struct Slice {
  std::optional<int64_t> start = {}, stop = {};
  int64_t step = 1;
};
inline constexpr Slice kAll{};

// Elements at `indices` of any shape; out of bounds gives NaN, the lowest signed or highest unsigned integer, or true.
Value take(const Operand& x, const Operand& indices, AxisNumber axis = 0, std::string_view mode = "fill");
// out[..., j, ...] = x[..., indices[..., j, ...], ...]: x and indices have the same dimensions except for `axis`.
Value take_along_axis(const Operand& x, const Operand& indices, AxisNumber axis);

// One entry of an index list: a Slice, a number, integer Value or Array, kNewAxis or kEllipsis.
struct IndexItem {
  enum class Kind : uint8_t { kSlice, kAt, kNewAxis, kEllipsis };
  IndexItem(const Slice& s) : kind(Kind::kSlice), slice(s) {}                                     // NOLINT
  IndexItem(Kind k) : kind(k) {}                                                                  // NOLINT
  IndexItem(const Operand& i) : kind(Kind::kAt), at(i) {}                                         // NOLINT
  IndexItem(const Value& v, Location where = Location::Here()) : IndexItem(Operand(v, where)) {}  // NOLINT
  IndexItem(const Array& a, Location where = Location::Here()) : IndexItem(Operand(a, where)) {}  // NOLINT
  template <AxisInteger T>
  IndexItem(T i, Location where = Location::Here()) : IndexItem(Operand(i, where)) {}  // NOLINT
  Kind kind;
  Slice slice;
  std::optional<Operand> at;
};
using IndexItems = std::initializer_list<IndexItem>;
inline constexpr auto kNewAxis = IndexItem::Kind::kNewAxis;
inline constexpr auto kEllipsis = IndexItem::Kind::kEllipsis;

// x[items...] of Python: `index(x, {Slice{1, -1}, 0})`. As in NumPy, arrays of integers broadcast together with the
// other indices; their dimensions take the place of the indices, or come first if a slice is between them. A copy, so
// nothing can be assigned to it.
const Value index(const Operand& x, IndexItems items);
// start : stop : step along one axis.
const Value slice(const Operand& x, int64_t start, int64_t stop, AxisNumber axis = 0, int64_t step = 1);

// ---- updates: a copy of x in which the elements at an index are changed ----
// `indices` index axis 0 and have any shape; a list of items indexes several axes, as in `index`:
// set_at(x, {i, j}, 0.0), add_at(x, {kAll, Slice{0, 2}}, y). `updates` broadcast to the shape of the elements. An
// element that occurs several times gets every update, with set_at one of them.
Value set_at(const Operand& x, const Operand& indices, const Operand& updates);
Value set_at(const Operand& x, IndexItems items, const Operand& updates);
Value add_at(const Operand& x, const Operand& indices, const Operand& updates);
Value add_at(const Operand& x, IndexItems items, const Operand& updates);
Value sub_at(const Operand& x, const Operand& indices, const Operand& updates);
Value sub_at(const Operand& x, IndexItems items, const Operand& updates);
Value mul_at(const Operand& x, const Operand& indices, const Operand& updates);
Value mul_at(const Operand& x, IndexItems items, const Operand& updates);
Value min_at(const Operand& x, const Operand& indices, const Operand& updates);
Value min_at(const Operand& x, IndexItems items, const Operand& updates);
Value max_at(const Operand& x, const Operand& indices, const Operand& updates);
Value max_at(const Operand& x, IndexItems items, const Operand& updates);

}}  // namespace ricci::v0
#endif
