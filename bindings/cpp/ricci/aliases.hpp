// ricci/aliases.hpp: further names that jax.numpy has for one function.
#ifndef RICCI_ALIASES_HPP_
#define RICCI_ALIASES_HPP_
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 {

Value absolute(const Operand& x);
Value amax(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value amin(const Operand& x, const Axes& axes = {}, bool keepdims = false);
Value arccos(const Operand& x);
Value arccosh(const Operand& x);
Value arcsin(const Operand& x);
Value arcsinh(const Operand& x);
Value arctan(const Operand& x);
Value arctanh(const Operand& x);
Value atan2(const Operand& a, const Operand& b);
Value around(const Operand& x, int64_t decimals = 0);
Value bitwise_invert(const Operand& x);
Value bitwise_left_shift(const Operand& a, const Operand& b);
Value bitwise_right_shift(const Operand& a, const Operand& b);
Value concat(std::initializer_list<Operand> xs, AxisNumber axis = 0);
Value conjugate(const Operand& x);
Value deg2rad(const Operand& x);
Value invert(const Operand& x);
Value mod(const Operand& a, const Operand& b);
Value permute_dims(const Operand& x, const Shape& axes);
Value power(const Operand& a, const Operand& b);
Value rad2deg(const Operand& x);
Value true_divide(const Operand& a, const Operand& b);

}}  // namespace ricci::v0
#endif
