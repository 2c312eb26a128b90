// ricci/reductions.hpp: sums, extrema, statistics and cumulative operations of jax.numpy.
//
// As in JAX, small integers are summed in 32 bits and narrow floats in f32. Without axes, all axes are reduced.
#ifndef RICCI_REDUCTIONS_HPP_
#define RICCI_REDUCTIONS_HPP_
#include <optional>

#include "ricci/axes.hpp"
#include "ricci/elementwise.hpp"

namespace ricci { inline namespace v0 {

// What jax.numpy's reductions take by name: sum(x, 0, false, {.where = mask}).
struct ReduceOptions {
  DType dtype = DType::kNone;           // x is converted to it first
  std::optional<Operand> initial = {};  // a number or scalar that takes part; max and min of no elements need one
  std::optional<Operand> where = {};    // a mask that broadcasts to x: only those elements count
};

Value sum(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value sum(const Operand& x, const Axes& axes, bool keepdims, const ReduceOptions& options);
Value prod(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value prod(const Operand& x, const Axes& axes, bool keepdims, const ReduceOptions& options);
// The greatest and the least element along `axes`. As in NumPy an integer is an axis: max(x, 0) reduces along axis 0,
// and the greater of x and 0 is maximum(x, 0).
Value max(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value max(const Operand& x, const Axes& axes, bool keepdims, const ReduceOptions& options);
Value min(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value min(const Operand& x, const Axes& axes, bool keepdims, const ReduceOptions& options);
Value all(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value any(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value mean(const Operand& x, const Axes& axes = {}, bool keepdims = false);
// The mean of the elements where the mask is true.
Value mean(const Operand& x, const Axes& axes, bool keepdims, const Operand& where);
// `ddof` is subtracted from the number of elements.
Value var(const Operand& x, const Axes& axes = {}, int64_t ddof = 0, bool keepdims = false);
Value std(const Operand& x, const Axes& axes = {}, int64_t ddof = 0, bool keepdims = false);
// Euclidean length.
Value norm(const Operand& x, const Axes& axes = {}, bool keepdims = false);

// ---- index of an extremum: i32; without an axis, into the flattened array ----
inline constexpr int64_t kFlat = INT64_MIN;
Value argmax(const Operand& x, AxisNumber axis = kFlat, bool keepdims = false);
Value argmin(const Operand& x, AxisNumber axis = kFlat, bool keepdims = false);

// Without an axis, of the flattened array. The dtype stays, but bool becomes i32.
Value cumsum(const Operand& x, AxisNumber axis = kFlat, bool reverse = false);
Value cumprod(const Operand& x, AxisNumber axis = kFlat, bool reverse = false);
// The same as the array API names them, sums of narrow integers in 32 bits; `include_initial` puts the 0 or 1 before
// the first.
Value cumulative_sum(const Operand& x, AxisNumber axis = kFlat, DType dtype = DType::kNone,
                     bool include_initial = false);
Value cumulative_prod(const Operand& x, AxisNumber axis = kFlat, DType dtype = DType::kNone,
                      bool include_initial = false);
// i32: how many elements are not 0.
Value count_nonzero(const Operand& x, const Axes& axes = {}, bool keepdims = false);
// The greatest minus the least.
Value ptp(const Operand& x, const Axes& axes = {}, bool keepdims = false);

// ---- the same without the elements that are NaN ----
Value nansum(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value nanprod(const Operand& x, const Axes& axes = {}, bool keepdims = false);
// NaN if all elements are.
Value nanmax(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value nanmin(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value nanmean(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value nanvar(const Operand& x, const Axes& axes = {}, int64_t ddof = 0, bool keepdims = false);
Value nanstd(const Operand& x, const Axes& axes = {}, int64_t ddof = 0, bool keepdims = false);
// -1 if all elements are.
Value nanargmax(const Operand& x, AxisNumber axis = kFlat, bool keepdims = false);
Value nanargmin(const Operand& x, AxisNumber axis = kFlat, bool keepdims = false);
Value nancumsum(const Operand& x, AxisNumber axis = kFlat);
Value nancumprod(const Operand& x, AxisNumber axis = kFlat);

// ---- softmax and logsumexp ----
Value logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value softmax(const Operand& x, AxisNumber axis = -1);
Value log_softmax(const Operand& x, AxisNumber axis = -1);

}}  // namespace ricci::v0
#endif
