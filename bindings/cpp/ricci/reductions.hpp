// ricci/reductions.hpp: sums, extrema, statistics and cumulative operations of jax.numpy.
//
// As in JAX, small integers are summed in 32 bits and 16-bit floats in f32. Without axes, all axes are reduced.
#ifndef RICCI_REDUCTIONS_HPP_
#define RICCI_REDUCTIONS_HPP_
#include "ricci/axes.hpp"
#include "ricci/elementwise.hpp"

namespace ricci { inline namespace v0 {

Value sum(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value prod(const Operand& x, const Axes& axes = {}, bool keepdims = false);
// The greatest and the least element along `axes`. As in NumPy an integer is an axis: max(x, 0) reduces along axis 0,
// and the greater of x and 0 is maximum(x, 0).
Value max(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value min(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value all(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value any(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value mean(const Operand& x, const Axes& axes = {}, bool keepdims = false);
// `ddof` is subtracted from the number of elements.
Value var(const Operand& x, const Axes& axes = {}, int64_t ddof = 0, bool keepdims = false);
Value std(const Operand& x, const Axes& axes = {}, int64_t ddof = 0, bool keepdims = false);
// Euclidean length.
Value norm(const Operand& x, const Axes& axes = {}, bool keepdims = false);

// ---- index of an extremum: i32; without an axis, into the flattened array ----
inline constexpr int64_t kFlat = INT64_MIN;
Value argmax(const Operand& x, AxisNumber axis = kFlat);
Value argmin(const Operand& x, AxisNumber axis = kFlat);

Value cumsum(const Operand& x, AxisNumber axis, bool reverse = false);
Value cumprod(const Operand& x, AxisNumber axis, bool reverse = false);

// ---- softmax and logsumexp ----
Value logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value softmax(const Operand& x, AxisNumber axis = -1);
Value log_softmax(const Operand& x, AxisNumber axis = -1);

}}  // namespace ricci::v0
#endif
