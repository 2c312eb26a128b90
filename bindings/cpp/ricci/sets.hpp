// ricci/sets.hpp: functions of jax.numpy that find, choose and sort elements, and that treat arrays as sets.
//
// A shape cannot depend on data, so what finds elements takes the number of results, `size`: if there are more they are
// cut off, if there are fewer the rest is filled.
#ifndef RICCI_SETS_HPP_
#define RICCI_SETS_HPP_
#include "ricci/joining.hpp"
#include "ricci/sorting.hpp"

namespace ricci { inline namespace v0 {

// ---- where elements are ----
// i32 indices of the first `size` elements that are not 0, one array per dimension; then `fill_value`.
Values nonzero(const Operand& x, int64_t size, int64_t fill_value = 0);
// The same as rows, and of the flattened array.
Value argwhere(const Operand& x, int64_t size, int64_t fill_value = 0);
Value flatnonzero(const Operand& x, int64_t size, int64_t fill_value = 0);
// The slices of x along `axis` (without one, the elements) where the condition, a vector, is true.
Value compress(const Operand& condition, const Operand& x, AxisNumber axis, int64_t size,
               const Operand& fill_value = 0);
Value extract(const Operand& condition, const Operand& x, int64_t size, const Operand& fill_value = 0);

// ---- choice ----
// Where the first condition that holds is i: choices[i]; where none holds: `otherwise`.
Value select(const OperandList& conditions, const OperandList& choices, const Operand& otherwise = 0);
// choices[which], elementwise. `mode` says what becomes of other numbers: wrap or clip.
Value choose(const Operand& which, const OperandList& choices, std::string_view mode = "wrap");
// A copy of x with the elements where the mask is true taken from `values`, in order, again and again.
Value place(const Operand& x, const Operand& mask, const Operand& values);
// A copy of x in which the elements at these indices of the flattened array are `values`, again and again. `mode`:
// clip or wrap.
Value put(const Operand& x, const Operand& indices, const Operand& values, std::string_view mode = "clip");
// A copy of x with out[..., indices[..., j, ...], ...] = values[..., j, ...].
Value put_along_axis(const Operand& x, const Operand& indices, const Operand& values, AxisNumber axis);

// ---- order ----
// i32 indices that sort by the last key, then by the one before, ...
Value lexsort(const OperandList& keys, AxisNumber axis = -1);
// The element at position `kth` of the sorted array is there, smaller ones are before it, greater ones after it. As it
// is done by sorting, all elements are in order.
Value partition(const Operand& x, int64_t kth, AxisNumber axis = -1);
Value argpartition(const Operand& x, int64_t kth, AxisNumber axis = -1);
// By the real part, then the imaginary part; c64 or c128.
Value sort_complex(const Operand& x);

// ---- sets: of flattened arrays, sorted ----
// The first `size` different elements in order; then `fill_value`, by default the first of them.
Value unique(const Operand& x, int64_t size, const std::optional<Operand>& fill_value = {});
struct Unique {
  Value values;
  Value indices;  // i32: where each occurs first in the flattened x
  Value inverse;  // i32, in the shape of x: which of the values each element is
  Value counts;   // i32: how often each occurs
};
Unique unique_all(const Operand& x, int64_t size, const std::optional<Operand>& fill_value = {});
std::pair<Value, Value> unique_counts(const Operand& x, int64_t size, const std::optional<Operand>& fill_value = {});
std::pair<Value, Value> unique_inverse(const Operand& x, int64_t size, const std::optional<Operand>& fill_value = {});
Value unique_values(const Operand& x, int64_t size, const std::optional<Operand>& fill_value = {});
Value union1d(const Operand& a, const Operand& b, int64_t size, const std::optional<Operand>& fill_value = {});
// Those in both, in a alone, in one alone.
Value intersect1d(const Operand& a, const Operand& b, int64_t size, const std::optional<Operand>& fill_value = {});
Value setdiff1d(const Operand& a, const Operand& b, int64_t size, const std::optional<Operand>& fill_value = {});
Value setxor1d(const Operand& a, const Operand& b, int64_t size, const std::optional<Operand>& fill_value = {});
// Whether each element of x is one of `test`.
Value isin(const Operand& x, const Operand& test, bool invert = false);

// ---- bits ----
// The bits of 8 elements as one u8, along an axis or of the flattened array.
Value packbits(const Operand& x, AxisNumber axis = kFlat, std::string_view bitorder = "big");
Value unpackbits(const Operand& x, AxisNumber axis = kFlat, std::optional<int64_t> count = {},
                 std::string_view bitorder = "big");

}}  // namespace ricci::v0
#endif
