// Orders of elements along one axis.
#include "ricci/sorting.hpp"

#include "host/core/numpy_steps.h"

namespace ricci { inline namespace v0 {

Value sort(const Operand& x, AxisNumber given) {
  const Value v = Use("sort", x);
  return lax::sort({&v, 1}, Axis("sort", x.at, given, v.rank()))[0];
}
Value argsort(const Operand& x, AxisNumber given) {
  const Value v = Use("argsort", x);
  const int64_t axis = Axis("argsort", x.at, given, v.rank());
  const Value both[] = {v, Iota(Operand(v, x.at), kDefaultInt, ShapeOfValue(v), axis)};
  return lax::sort(both, axis)[1];
}
std::pair<Value, Value> top_k(const Operand& x, int64_t k, AxisNumber given) {
  const Value v = Use("top_k", x);
  const int64_t axis = Axis("top_k", x.at, given, v.rank());
  if (k < 0 || k > v.dim(axis))
    FailAt(x.at, "top_k: k ", k, " must be from 0 to ", v.dim(axis), ", the size of axis ", axis);
  Values out = lax::top_k(v, k, axis);
  return {std::move(out[0]), std::move(out[1])};
}

}}  // namespace ricci::v0
