// ricci/operators.hpp: + - * / % comparison and bit operators on Values, with promotion and broadcasting as in
// jax.numpy.
//
// `/` is true division (integers become f32), `%` has the sign of the divisor, `>>` is arithmetic on signed integers,
// and ! && || stay the language's own: logical_not, logical_and and logical_or are functions. On bool, + is or, * is
// and; %, //, powers and shifts take it as i32.
#ifndef RICCI_OPERATORS_HPP_
#define RICCI_OPERATORS_HPP_
#include "ricci/operand.hpp"

namespace ricci { inline namespace v0 {

Value add(const Operand& a, const Operand& b);
Value subtract(const Operand& a, const Operand& b);
Value multiply(const Operand& a, const Operand& b);
Value divide(const Operand& a, const Operand& b);
// Remainder with the sign of the divisor, as Python's %.
Value remainder(const Operand& a, const Operand& b);
Value bitwise_and(const Operand& a, const Operand& b);
Value bitwise_or(const Operand& a, const Operand& b);
Value bitwise_xor(const Operand& a, const Operand& b);
Value left_shift(const Operand& a, const Operand& b);
Value right_shift(const Operand& a, const Operand& b);
Value negative(const Operand& x);
Value bitwise_not(const Operand& x);

Value equal(const Operand& a, const Operand& b);
Value not_equal(const Operand& a, const Operand& b);
Value less(const Operand& a, const Operand& b);
Value less_equal(const Operand& a, const Operand& b);
Value greater(const Operand& a, const Operand& b);
Value greater_equal(const Operand& a, const Operand& b);

Value operator+(const Operand& a, const Operand& b);
Value operator-(const Operand& a, const Operand& b);
Value operator*(const Operand& a, const Operand& b);
Value operator/(const Operand& a, const Operand& b);
Value operator%(const Operand& a, const Operand& b);
Value operator&(const Operand& a, const Operand& b);
Value operator|(const Operand& a, const Operand& b);
Value operator^(const Operand& a, const Operand& b);
Value operator<<(const Operand& a, const Operand& b);
Value operator>>(const Operand& a, const Operand& b);
Value operator==(const Operand& a, const Operand& b);
Value operator!=(const Operand& a, const Operand& b);
Value operator<(const Operand& a, const Operand& b);
Value operator<=(const Operand& a, const Operand& b);
Value operator>(const Operand& a, const Operand& b);
Value operator>=(const Operand& a, const Operand& b);
Value operator-(const Operand& x);
Value operator~(const Operand& x);
Value operator+(const Value& x);

Value& operator+=(Value& a, const Operand& b);
Value& operator-=(Value& a, const Operand& b);
Value& operator*=(Value& a, const Operand& b);
Value& operator/=(Value& a, const Operand& b);

// x[i] is a temporary copy.
template <typename T>
void operator+=(const Value&&, const T&) {
  static_assert(kNoElement<T>, "the left side is a temporary copy; to change an element write x = add_at(x, i, value)");
}
template <typename T>
void operator-=(const Value&&, const T&) {
  static_assert(kNoElement<T>, "the left side is a temporary copy; to change an element write x = sub_at(x, i, value)");
}
template <typename T>
void operator*=(const Value&&, const T&) {
  static_assert(kNoElement<T>, "the left side is a temporary copy; to change an element write x = mul_at(x, i, value)");
}
template <typename T>
void operator/=(const Value&&, const T&) {
  static_assert(kNoElement<T>,
                "the left side is a temporary copy; to change an element write x = set_at(x, i, x[i] / value)");
}

}}  // namespace ricci::v0
#endif
