// ricci/sorting.hpp: sort, argsort and top_k along one axis, as in numpy and jax.lax. NaN comes last; -0 equals 0.
#ifndef RICCI_SORTING_HPP_
#define RICCI_SORTING_HPP_
#include <utility>

#include "ricci/shaping.hpp"

namespace ricci::inline v0 {

// The elements along `axis` in increasing order.
inline Value sort(const Operand& x, int64_t axis = -1) {
  const Value v = Use("sort", x);
  return lax::sort({&v, 1}, Axis("sort", x.at, axis, v.rank()))[0];
}
// The i32 indices along `axis` that sort x; equal elements keep their order.
inline Value argsort(const Operand& x, int64_t axis = -1) {
  const Value v = Use("argsort", x);
  axis = Axis("argsort", x.at, axis, v.rank());
  const Value both[] = {v, Iota(Operand(v, x.at), kDefaultInt, Shape(v.shape().begin(), v.shape().end()), axis)};
  return lax::sort(both, axis)[1];
}
// The k greatest elements along `axis`, the greatest first, and their i32 indices.
inline std::pair<Value, Value> top_k(const Operand& x, int64_t k, int64_t axis = -1) {
  const Value v = Use("top_k", x);
  axis = Axis("top_k", x.at, axis, v.rank());
  if (k < 0 || k > v.dim(axis))
    FailAt(x.at, "top_k: k ", k, " must be from 0 to ", v.dim(axis), ", the size of axis ", axis);
  Values out = lax::top_k(v, k, axis);
  return {std::move(out[0]), std::move(out[1])};
}

}  // namespace ricci::inline v0
#endif
