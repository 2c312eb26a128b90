// Operators with promotion and broadcasting.
#include "ricci/operators.hpp"

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 {

Value RemainderOrZero(const Value& x, const Value& y) {
  const Value r = lax::rem(x, y);
  if (IsFloat(r.dtype())) return r;
  const Value zero = lax::zeros_like(r);
  return lax::select(lax::eq(y, zero), zero, r);
}

Values UseNumbers(std::string_view name, std::span<const Operand> xs) {
  Values v = UseTogether(name, xs);
  for (Value& x : v) x = x.dtype() == DType::kBool ? lax::convert_element_type(x, kDefaultInt) : x;
  return v;
}

namespace {

// `prim` of both, or if they are bool `of_bools`.
Value Arithmetic(std::string_view prim, std::string_view of_bools, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether(prim, in);
  return Emit1(v[0].dtype() == DType::kBool ? of_bools : prim, v);
}
Value Comparison(std::string_view name, plain::Binary2* f, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether(name, in);
  return plain::InOrder(f, v[0], v[1]);
}

}  // namespace

Value add(const Operand& a, const Operand& b) { return Arithmetic("add", "or", a, b); }
Value subtract(const Operand& a, const Operand& b) { return Binary("sub", "sub", a, b); }
Value multiply(const Operand& a, const Operand& b) { return Arithmetic("mul", "and", a, b); }
Value divide(const Operand& a, const Operand& b) { return Binary("div", "div", a, b, /*inexact=*/true); }
Value remainder(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseNumbers("remainder", in);
  const Value r = RemainderOrZero(v[0], v[1]);
  if (In(r.dtype(), kUnsigned)) return r;
  const Value zero = lax::zeros_like(r);
  const Value other_sign = lax::ne(lax::lt(r, zero), lax::lt(v[1], zero));
  return lax::select(lax::bitwise_and(other_sign, lax::ne(r, zero)), lax::add(r, v[1]), r);
}
Value bitwise_and(const Operand& a, const Operand& b) { return Binary("and", "and", a, b); }
Value bitwise_or(const Operand& a, const Operand& b) { return Binary("or", "or", a, b); }
Value bitwise_xor(const Operand& a, const Operand& b) { return Binary("xor", "xor", a, b); }
Value left_shift(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  return Emit1("shift_left", UseNumbers("shift_left", in));
}
Value right_shift(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseNumbers("shift_right", in);
  return In(v[0].dtype(), kUnsigned) ? lax::shift_right_logical(v[0], v[1]) : lax::shift_right_arithmetic(v[0], v[1]);
}
Value negative(const Operand& x) { return lax::neg(Use("neg", x)); }
Value bitwise_not(const Operand& x) { return lax::bitwise_not(Use("not", x)); }
Value equal(const Operand& a, const Operand& b) { return Binary("eq", "eq", a, b); }
Value not_equal(const Operand& a, const Operand& b) { return Binary("ne", "ne", a, b); }
Value less(const Operand& a, const Operand& b) { return Comparison("lt", lax::lt, a, b); }
Value less_equal(const Operand& a, const Operand& b) { return Comparison("le", lax::le, a, b); }
Value greater(const Operand& a, const Operand& b) { return Comparison("gt", lax::gt, a, b); }
Value greater_equal(const Operand& a, const Operand& b) { return Comparison("ge", lax::ge, a, b); }
Value operator+(const Operand& a, const Operand& b) { return add(a, b); }
Value operator-(const Operand& a, const Operand& b) { return subtract(a, b); }
Value operator*(const Operand& a, const Operand& b) { return multiply(a, b); }
Value operator/(const Operand& a, const Operand& b) { return divide(a, b); }
Value operator%(const Operand& a, const Operand& b) { return remainder(a, b); }
Value operator&(const Operand& a, const Operand& b) { return bitwise_and(a, b); }
Value operator|(const Operand& a, const Operand& b) { return bitwise_or(a, b); }
Value operator^(const Operand& a, const Operand& b) { return bitwise_xor(a, b); }
Value operator<<(const Operand& a, const Operand& b) { return left_shift(a, b); }
Value operator>>(const Operand& a, const Operand& b) { return right_shift(a, b); }
Value operator==(const Operand& a, const Operand& b) { return equal(a, b); }
Value operator!=(const Operand& a, const Operand& b) { return not_equal(a, b); }
Value operator<(const Operand& a, const Operand& b) { return less(a, b); }
Value operator<=(const Operand& a, const Operand& b) { return less_equal(a, b); }
Value operator>(const Operand& a, const Operand& b) { return greater(a, b); }
Value operator>=(const Operand& a, const Operand& b) { return greater_equal(a, b); }
Value operator-(const Operand& x) { return negative(x); }
Value operator~(const Operand& x) { return bitwise_not(x); }
Value operator+(const Value& x) { return x; }
Value& operator+=(Value& a, const Operand& b) { return a = add(Operand(a, b.at), b); }
Value& operator-=(Value& a, const Operand& b) { return a = subtract(Operand(a, b.at), b); }
Value& operator*=(Value& a, const Operand& b) { return a = multiply(Operand(a, b.at), b); }
Value& operator/=(Value& a, const Operand& b) { return a = divide(Operand(a, b.at), b); }

}}  // namespace ricci::v0
