// What apply_along_axis and piecewise do besides calling the host's function.
#include "ricci/applied.hpp"

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 {

using namespace plain;

AxisRows RowsAlong(const Operand& x, AxisNumber given) {
  const Value v = Use("apply_along_axis", x);
  const int64_t axis = Axis("apply_along_axis", x.at, given, v.rank()), n = v.dim(axis);
  const Value last = AxisToEnd(v, axis);
  AxisRows out{last, Shape(last.shape().begin(), last.shape().end() - 1), axis};
  out.rows = lax::reshape(last, Shape{ElementCount(out.before), n});
  return out;
}
Value Restored(const AxisRows& like, const Value& results) {
  Shape shape = like.before;
  const int64_t more = results.rank() - 1;
  shape.insert(shape.end(), results.shape().begin() + 1, results.shape().end());
  const Value last = lax::reshape(results, shape);
  Shape order = CountFrom(0, static_cast<int64_t>(like.before.size()));
  const Shape moved = CountFrom(static_cast<int64_t>(like.before.size()), more);
  order.insert(order.begin() + like.axis, moved.begin(), moved.end());
  return lax::transpose(last, order);
}
Value PiecewiseOf(const Value& x, const OperandList& conditions, std::vector<Operand> values, const Location& at) {
  const size_t n = conditions.view().size();
  if (values.size() == n) values.emplace_back(0, at);
  if (values.size() != n + 1) FailAt(at, "piecewise: ", values.size(), " choices for ", n, " conditions");
  const Operand otherwise = values.back();
  values.pop_back();
  return To(select(conditions, OperandList(values), otherwise), x.dtype());
}

}}  // namespace ricci::v0
