// ricci/joining.hpp: functions of jax.numpy that join, split, repeat and pad arrays.
#ifndef RICCI_JOINING_HPP_
#define RICCI_JOINING_HPP_
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 {

// Several operands: {x, y, 1.0}, or a list of Values.
class OperandList {
 public:
  OperandList(std::initializer_list<Operand> xs);                 // NOLINT: `hstack({x, y})`
  OperandList(const Values& xs, Location at = Location::Here());  // NOLINT
  OperandList(std::vector<Operand> xs) : list_(std::move(xs)) {}  // NOLINT
  std::span<const Operand> view() const { return list_; }

 private:
  std::vector<Operand> list_;
};

// ---- joining ----
// Along the second axis (the only one of vectors), the first, the third; vectors as columns.
Value hstack(const OperandList& xs);
Value vstack(const OperandList& xs);
Value dstack(const OperandList& xs);
Value column_stack(const OperandList& xs);
// Rows of blocks.
Value block(std::initializer_list<OperandList> rows);
// The values after x; without an axis both are flattened.
Value append(const Operand& x, const Operand& values, AxisNumber axis = kFlat);
Values broadcast_arrays(const OperandList& xs);
// One array per vector: its elements along their dimension. With indexing "xy" the first two dimensions change places;
// `sparse` leaves the other dimensions at size 1.
Values meshgrid(const OperandList& xs, std::string_view indexing = "xy", bool sparse = false);
// Each vector along a dimension of its own, as indices.
Values ix_(const OperandList& xs);
Value atleast_1d(const Operand& x);
Value atleast_2d(const Operand& x);
Value atleast_3d(const Operand& x);

// ---- splitting ----
// Before these indices: split(x, {2, 5}) gives x[:2], x[2:5], x[5:]. One index is Shape{2}, because {2} is a number of
// parts.
Values split(const Operand& x, const Shape& indices, AxisNumber axis = 0);
// Like split, but the parts may differ in size by one.
Values array_split(const Operand& x, int64_t parts, AxisNumber axis = 0);
Values hsplit(const Operand& x, int64_t parts);
Values vsplit(const Operand& x, int64_t parts);
Values dsplit(const Operand& x, int64_t parts);
Values unstack(const Operand& x, AxisNumber axis = 0);

// ---- single elements along an axis; without one, of the flattened array ----
// The values before the element at `index`, or one before each of several indices.
Value insert(const Operand& x, int64_t index, const Operand& values, AxisNumber axis = kFlat);
Value insert(const Operand& x, const Shape& indices, const Operand& values, AxisNumber axis = kFlat);
// Without these elements. numpy's `delete`, which is a word of C++.
Value delete_(const Operand& x, int64_t index, AxisNumber axis = kFlat);
Value delete_(const Operand& x, const Shape& indices, AxisNumber axis = kFlat);

// ---- repeating ----
Value repeat(const Operand& x, int64_t repeats, AxisNumber axis = kFlat);
// Element i repeats[i] times; the result has `total_repeat_length` elements, the last one again if there are too few.
Value repeat(const Operand& x, const Operand& repeats, AxisNumber axis, int64_t total_repeat_length);
// The elements of x, again and again, in that shape.
Value resize(const Operand& x, const Shape& shape);
Value rot90(const Operand& x, int64_t k = 1, AxisNumber from = 0, AxisNumber to = 1);
Value fliplr(const Operand& x);
Value flipud(const Operand& x);
Value rollaxis(const Operand& x, AxisNumber axis, AxisNumber start = 0);
// The last two dimensions swapped.
Value matrix_transpose(const Operand& x);

// ---- padding ----
// How many elements before and after each dimension.
using PadWidths = std::vector<std::pair<int64_t, int64_t>>;
struct PadOptions {
  PadWidths stat_length = {};                 // how many elements at the edge maximum, mean, median, minimum use; all
  std::pair<double, double> end_values = {};  // of linear_ramp, before and after
  bool odd = false;                           // reflect and symmetric: twice the edge minus the mirrored element
};
// `mode`: constant (0), edge, reflect, symmetric, wrap, linear_ramp, maximum, mean, median, minimum, empty.
Value pad(const Operand& x, const PadWidths& widths, std::string_view mode, const PadOptions& options = {});

}}  // namespace ricci::v0
#endif
