// Products of two arrays as dot_general.
#include "ricci/products.hpp"

#include <algorithm>

#include "host/core/numpy_steps.h"

namespace ricci { inline namespace v0 {
namespace {

// The two operands in their promoted dtype; neither may be a number or scalar.
Values UseFactors(std::string_view name, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseList(name, in);
  if (v[0].rank() == 0 || v[1].rank() == 0)
    FailAt(a.at, name, ": operands are ", v[0].type(), " and ", v[1].type(), "; both need a dimension");
  return v;
}
void WantSameSize(std::string_view name, const Location& at, const Value& a, int64_t i, const Value& b, int64_t j) {
  if (a.dim(i) == b.dim(j)) return;
  FailAt(at, name, ": ", a.type(), " and ", b.type(), " have contracting sizes ", a.dim(i), " and ", b.dim(j));
}

}  // namespace

Value dot(const Operand& a, const Operand& b) {
  if (a.shape().empty() || b.shape().empty()) return multiply(a, b);
  const Values v = UseFactors("dot", a, b);
  const int64_t i = v[0].rank() - 1, j = std::max<int64_t>(v[1].rank() - 2, 0);
  WantSameSize("dot", a.at, v[0], i, v[1], j);
  return lax::dot_general(v[0], v[1], {{i}, {j}, {}, {}});
}
Value matmul(const Operand& a, const Operand& b) {
  const Values v = UseFactors("matmul", a, b);
  Value x = v[0], y = v[1];
  const int64_t i = x.rank() - 1, j = std::max<int64_t>(y.rank() - 2, 0);
  WantSameSize("matmul", a.at, x, i, y, j);
  if (x.rank() <= 2 && y.rank() <= 2) return lax::dot_general(x, y, {{i}, {j}, {}, {}});
  if (y.rank() <= 2) return lax::dot_general(x, y, {{i}, {j}, {}, {}});
  const Dims x_batch = x.shape().first(static_cast<size_t>(std::max<int64_t>(x.rank() - 2, 0)));
  const Dims y_batch = y.shape().first(static_cast<size_t>(y.rank() - 2));
  Shape batch(x_batch.begin(), x_batch.end());
  if (!BroadcastInto(batch, y_batch)) {
    FailAt(a.at, "matmul: batch dimensions ", x_batch, " and ", y_batch, " do not broadcast");
  }
  auto widen = [&](const Value& z, int64_t kept) {
    Shape shape = batch;
    shape.insert(shape.end(), z.shape().end() - kept, z.shape().end());
    return BroadcastValue(z, shape);
  };
  const bool vector = x.rank() == 1;
  x = widen(x, vector ? 1 : 2);
  y = widen(y, 2);
  const Shape dims = CountFrom(0, static_cast<int64_t>(batch.size()));
  return lax::dot_general(x, y, {{x.rank() - 1}, {y.rank() - 2}, dims, dims});
}
Value inner(const Operand& a, const Operand& b) {
  const Values v = UseFactors("inner", a, b);
  WantSameSize("inner", a.at, v[0], v[0].rank() - 1, v[1], v[1].rank() - 1);
  return lax::dot_general(v[0], v[1], {{v[0].rank() - 1}, {v[1].rank() - 1}, {}, {}});
}
Value outer(const Operand& a, const Operand& b) {
  const Values v = UseFactors("outer", a, b);
  return multiply(reshape(Operand(v[0], a.at), {-1, 1}), reshape(Operand(v[1], a.at), {1, -1}));
}
Value tensordot(const Operand& a, const Operand& b, const Shape& axes_a, const Shape& axes_b) {
  const Values v = UseFactors("tensordot", a, b);
  Shape i, j;
  for (int64_t d : axes_a) i.push_back(Axis("tensordot", a.at, d, v[0].rank()));
  for (int64_t d : axes_b) j.push_back(Axis("tensordot", a.at, d, v[1].rank()));
  return lax::dot_general(v[0], v[1], {i, j, {}, {}});
}

}}  // namespace ricci::v0
