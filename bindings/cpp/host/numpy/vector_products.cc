// Products of vectors, of vectors with matrices, and by blocks.
#include "host/core/plain_math.h"
#include "ricci/joining.hpp"
#include "ricci/products.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

Value Conjugate(const Value& v) { return IsComplex(v.dtype()) ? lax::conj(v) : v; }
Values UsePair(std::string_view name, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  return UseList(name, in);
}

}  // namespace

Value tensordot(const Operand& a, const Operand& b, int64_t axes) {
  const auto rank_a = static_cast<int64_t>(a.shape().size()), rank_b = static_cast<int64_t>(b.shape().size());
  if (axes < 0 || axes > rank_a || axes > rank_b) {
    FailAt(a.at, "tensordot: ", axes, " axes of operands with ", rank_a, " and ", Count(rank_b, "dimension"));
  }
  return tensordot(a, b, CountFrom(rank_a - axes, axes), CountFrom(0, axes));
}
Value vdot(const Operand& a, const Operand& b) {
  const Values v = UsePair("vdot", a, b);
  const int64_t n = v[0].type().elements(), m = v[1].type().elements();
  if (n != m) FailAt(a.at, "vdot: operands have ", n, " and ", m, " elements");
  return dot(Operand(lax::reshape(Conjugate(v[0]), {&n, 1}), a.at), Operand(lax::reshape(v[1], {&n, 1}), a.at));
}
Value vecdot(const Operand& a, const Operand& b, AxisNumber axis) {
  const Values v = UsePair("vecdot", a, b);
  const int64_t i = Axis("vecdot", a.at, axis, v[0].rank()), k = Axis("vecdot", a.at, axis, v[1].rank());
  if (v[0].dim(i) != v[1].dim(k)) FailAt(a.at, "vecdot: sizes ", v[0].dim(i), " and ", v[1].dim(k), " differ");
  const Value row = AxisToEnd(Conjugate(v[0]), i), column = AxisToEnd(v[1], k);
  const int64_t before = row.rank() - 1, after = column.rank();
  const Value out =
      matmul(Operand(lax::expand_dims(row, {&before, 1}), a.at), Operand(lax::expand_dims(column, {&after, 1}), a.at));
  return lax::squeeze(out, Shape{out.rank() - 2, out.rank() - 1});
}
Value matvec(const Operand& a, const Operand& b) {
  const Values v = UsePair("matvec", a, b);
  if (v[0].rank() < 2 || v[1].rank() < 1) FailAt(a.at, "matvec: operands are ", v[0].type(), " and ", v[1].type());
  const int64_t last = v[1].rank();
  const Value out = matmul(Operand(v[0], a.at), Operand(lax::expand_dims(v[1], {&last, 1}), a.at));
  return lax::squeeze(out, Shape{out.rank() - 1});
}
Value vecmat(const Operand& a, const Operand& b) {
  const Values v = UsePair("vecmat", a, b);
  if (v[0].rank() < 1 || v[1].rank() < 2) FailAt(a.at, "vecmat: operands are ", v[0].type(), " and ", v[1].type());
  const int64_t before = v[0].rank() - 1;
  const Value out = matmul(Operand(lax::expand_dims(Conjugate(v[0]), {&before, 1}), a.at), Operand(v[1], a.at));
  return lax::squeeze(out, Shape{out.rank() - 2});
}
Value kron(const Operand& a, const Operand& b) {
  const Values v = UsePair("kron", a, b);
  const int64_t rank = std::max(v[0].rank(), v[1].rank());
  Shape left, right, shape;
  for (int64_t d = 0; d < rank; ++d) {
    const auto size = [&](const Value& x) { return d < rank - x.rank() ? 1 : x.dim(d - (rank - x.rank())); };
    const int64_t n = size(v[0]), m = size(v[1]);
    left.insert(left.end(), {n, 1});
    right.insert(right.end(), {1, m});
    shape.push_back(AsDimension(Exact(n) * Exact(m), "kron: size "));
  }
  return lax::reshape(lax::reshape(v[0], left) * lax::reshape(v[1], right), shape);
}
Value cross(const Operand& a, const Operand& b, AxisNumber axis) { return cross(a, b, axis, axis, axis); }
Value cross(const Operand& a, const Operand& b, AxisNumber axisa, AxisNumber axisb, AxisNumber axisc) {
  const Values in = UsePair("cross", a, b);
  const Value x = AxisToEnd(in[0], Axis("cross", a.at, axisa, in[0].rank()));
  const Value y = AxisToEnd(in[1], Axis("cross", a.at, axisb, in[1].rank()));
  const int64_t n = x.dim(x.rank() - 1), m = y.dim(y.rank() - 1);
  if (n < 2 || n > 3 || m < 2 || m > 3)
    FailAt(a.at, "cross: vectors have ", n, " and ", m, " elements; they must have 2 or 3");
  const auto part = [](const Value& v, int64_t i) {
    const int64_t last = v.rank() - 1;
    if (i >= v.dim(last)) return lax::zeros_like(lax::squeeze(Cut(v, 0, 1, last), {&last, 1}));
    return lax::squeeze(Cut(v, i, i + 1, last), {&last, 1});
  };
  const auto minor = [&](int64_t i, int64_t k) { return part(x, i) * part(y, k) - part(x, k) * part(y, i); };
  if (n == 2 && m == 2) return minor(0, 1);
  const Value out = stack(Values{minor(1, 2), minor(2, 0), minor(0, 1)}, -1, a.at);
  return EndToAxis(out, Axis("cross", a.at, axisc, out.rank()));
}

}}  // namespace ricci::v0
