// Arithmetic that broadcasts, and moves of one axis, that files of host/ share.
#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 { namespace plain {

namespace {

Shape Common(Dims a, Dims b) {
  Shape shape(a.begin(), a.end());
  if (!BroadcastInto(shape, b)) Fail("shapes ", a, " and ", b, " do not broadcast");
  return shape;
}

}  // namespace

Value Both(Binary2* f, const Value& a, const Value& b) {
  if (SameDims(a.shape(), b.shape())) return f(a, b);
  const Shape shape = Common(a.shape(), b.shape());
  return f(BroadcastValue(a, shape), BroadcastValue(b, shape));
}
Value InOrder(Binary2* f, const Value& a, const Value& b) {
  if (!IsComplex(a.dtype())) return Both(f, a, b);
  const Value re = lax::real(a), re_b = lax::real(b);
  return Where(re == re_b, Both(f, lax::imag(a), lax::imag(b)), Both(f, re, re_b));
}
void WantReal(std::string_view name, const Location& at, const Value& v) {
  if (IsComplex(v.dtype())) FailAt(at, name, ": operand is ", v.type(), "; it must be real");
}
void WantReal(std::string_view name, const Location& at, std::span<const Value> vs) {
  if (IsComplex(vs[0].dtype())) FailAt(at, name, ": operands are ", vs[0].type(), "; they must be real");
}
Value UseRealInexact(std::string_view name, const Operand& x) {
  const Value v = UseInexact(name, x);
  WantReal(name, x.at, v);
  return v;
}
Value Where(const Value& p, const Value& a, const Value& b) {
  const Shape shape = Common(Common(a.shape(), b.shape()), p.shape());
  return lax::select(BroadcastValue(p, shape), BroadcastValue(a, shape), BroadcastValue(b, shape));
}
Value KeptSum(const Value& v, Dims axes) { return lax::expand_dims(lax::reduce_sum(v, axes), axes); }
Value Positions(const Value& v, DType dtype, int64_t axis) {
  Value out = lax::iota(v.builder, dtype, v.shape(), axis);
  out.scope = v.scope;
  return out;
}
Value Join(std::initializer_list<Value> parts, int64_t axis) {
  return lax::concatenate({parts.begin(), parts.size()}, axis);
}
Value Polynomial(const Value& x, std::span<const double> coefficients) {
  Value out = lax::zeros_like(x);
  for (double c : coefficients) out = out * x + c;
  return out;
}
Value Cosines(const Value& i, double period, std::span<const double> c) {
  Value out = lax::zeros_like(i);
  int k = 0;
  for (double factor : c) out = out + lax::cos(i * (2 * std::numbers::pi * k++ / period)) * factor;
  return out;
}
Value AxisToEnd(const Value& v, int64_t axis) {
  Shape order;
  for (int64_t d = 0; d < v.rank(); ++d) {
    if (d != axis) order.push_back(d);
  }
  order.push_back(axis);
  return lax::transpose(v, order);
}
Value EndToAxis(const Value& v, int64_t axis) {
  Shape order = CountFrom(0, v.rank() - 1);
  order.insert(order.begin() + axis, v.rank() - 1);
  return lax::transpose(v, order);
}

}}}  // namespace ricci::v0::plain
