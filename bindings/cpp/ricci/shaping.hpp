// ricci/shaping.hpp: functions of jax.numpy that rearrange elements, and those that make arrays from nothing.
//
// A function that makes an array from nothing takes a Value first: the array goes to its program. Its dtype and shape
// do not matter.
#ifndef RICCI_SHAPING_HPP_
#define RICCI_SHAPING_HPP_
#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 {

// ---- rearranging ----
// One size may be -1: whatever is left.
Value reshape(const Operand& x, Shape sizes);
Value ravel(const Operand& x);
// Reverses the dimensions, or puts them in the order of `axes`.
Value transpose(const Operand& x, const Shape& axes = {});
Value swapaxes(const Operand& x, AxisNumber a, AxisNumber b);
Value moveaxis(const Operand& x, AxisNumber from, AxisNumber to);
// Drops these dimensions of size 1, or all of them.
Value squeeze(const Operand& x, const Axes& axes = {});
// A new dimension of size 1 at position `axis` of the result.
Value expand_dims(const Operand& x, AxisNumber axis);
Value broadcast_to(const Operand& x, const Shape& shape);
Value flip(const Operand& x, const Axes& axes = {});
// Moves elements by `shift` positions around the axis; without one, around the flattened array.
Value roll(const Operand& x, int64_t shift, AxisNumber axis = kFlat);
Value roll(const Operand& x, const Shape& shifts, const Shape& axes);
// Zeros (or `value`) before and after each dimension.
Value pad(const Operand& x, const std::vector<std::pair<int64_t, int64_t>>& widths, const Operand& value = 0);
// Repeats `reps` times along each dimension.
Value tile(const Operand& x, Shape reps);

// ---- several arrays ----
Value concatenate(std::span<const Operand> xs, AxisNumber axis = 0);
Value stack(std::span<const Operand> xs, AxisNumber axis = 0);
Value concatenate(std::initializer_list<Operand> xs, AxisNumber axis = 0);
Value stack(std::initializer_list<Operand> xs, AxisNumber axis = 0);
Value concatenate(const Values& xs, AxisNumber axis = 0, Location at = Location::Here());
Value stack(const Values& xs, AxisNumber axis = 0, Location at = Location::Here());
// `parts` pieces of one size.
Values split(const Operand& x, int64_t parts, AxisNumber axis = 0);

// ---- from nothing, into the program of `in` ----
// `value` everywhere: a number (bool, i32 or f32 unless `dtype` is given), or what broadcasts to the shape.
Value full(const Operand& in, const Shape& shape, const Operand& value, DType dtype = DType::kNone);
Value zeros(const Operand& in, const Shape& shape, DType dtype = kDefaultFloat);
Value ones(const Operand& in, const Shape& shape, DType dtype = kDefaultFloat);
// A number, Array or Value as a Value of the program of `in`.
Value constant(const Operand& in, const Operand& x, DType dtype = DType::kNone);
Value zeros_like(const Operand& x);
Value ones_like(const Operand& x);
// `value` in the shape and dtype of x.
Value full_like(const Operand& x, const Operand& value);
// start, start + step, ... below stop (above, if step is negative): numbers; from 0 by 1 if these are not given. i32,
// or f32 if one of them is floating, unless `dtype` is given.
Value arange(const Operand& in, const Operand& stop, DType dtype = DType::kNone);
Value arange(const Operand& in, const Operand& start, const Operand& stop, DType dtype = DType::kNone);
Value arange(const Operand& in, const Operand& start, const Operand& stop, const Operand& step,
             DType dtype = DType::kNone);
// `n` numbers from `start` to `stop`, which is the last one unless `endpoint` is false.
Value linspace(const Operand& in, double start, double stop, int64_t n = 50, bool endpoint = true,
               DType dtype = kDefaultFloat);
// The same between Values, along a new dimension `axis`.
Value linspace(const Operand& start, const Operand& stop, int64_t n = 50, bool endpoint = true,
               DType dtype = DType::kNone, AxisNumber axis = 0);
// n x m, 1 on diagonal k.
Value eye(const Operand& in, int64_t n, DType dtype = kDefaultFloat);
Value eye(const Operand& in, int64_t n, int64_t m, int64_t k = 0, DType dtype = kDefaultFloat);
// 1 where the class is `x`, along a new last dimension.
Value one_hot(const Operand& x, int64_t classes, DType dtype = kDefaultFloat);
// Keeps the lower triangle (on and below diagonal k) of the last two dimensions.
Value tril(const Operand& x, int64_t k = 0);
Value triu(const Operand& x, int64_t k = 0);

}}  // namespace ricci::v0
#endif
