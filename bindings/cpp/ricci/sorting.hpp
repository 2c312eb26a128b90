// ricci/sorting.hpp: sort, argsort and top_k along one axis, as in numpy and jax.lax. NaN comes last; -0 equals 0.
#ifndef RICCI_SORTING_HPP_
#define RICCI_SORTING_HPP_
#include <utility>

#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 {

// The elements along `axis` in increasing order.
Value sort(const Operand& x, AxisNumber axis = -1);
// The i32 indices along `axis` that sort x; equal elements keep their order.
Value argsort(const Operand& x, AxisNumber axis = -1);
// The k greatest elements along `axis`, the greatest first, and their i32 indices.
std::pair<Value, Value> top_k(const Operand& x, int64_t k, AxisNumber axis = -1);

}}  // namespace ricci::v0
#endif
