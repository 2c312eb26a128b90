// Further names of functions.
#include "ricci/aliases.hpp"

namespace ricci { inline namespace v0 {

Value absolute(const Operand& x) { return abs(x); }
Value amax(const Operand& x, const Axes& axes, bool keepdims) { return max(x, axes, keepdims); }
Value amin(const Operand& x, const Axes& axes, bool keepdims) { return min(x, axes, keepdims); }
Value arccos(const Operand& x) { return acos(x); }
Value arccosh(const Operand& x) { return acosh(x); }
Value arcsin(const Operand& x) { return asin(x); }
Value arcsinh(const Operand& x) { return asinh(x); }
Value arctan(const Operand& x) { return atan(x); }
Value arctanh(const Operand& x) { return atanh(x); }
Value atan2(const Operand& a, const Operand& b) { return arctan2(a, b); }
Value around(const Operand& x, int64_t decimals) { return round(x, decimals); }
Value bitwise_invert(const Operand& x) { return bitwise_not(x); }
Value bitwise_left_shift(const Operand& a, const Operand& b) { return left_shift(a, b); }
Value bitwise_right_shift(const Operand& a, const Operand& b) { return right_shift(a, b); }
Value concat(std::initializer_list<Operand> xs, AxisNumber axis) { return concatenate(xs, axis); }
Value conjugate(const Operand& x) { return conj(x); }
Value deg2rad(const Operand& x) { return radians(x); }
Value invert(const Operand& x) { return bitwise_not(x); }
Value mod(const Operand& a, const Operand& b) { return remainder(a, b); }
Value permute_dims(const Operand& x, const Shape& axes) { return transpose(x, axes); }
Value power(const Operand& a, const Operand& b) { return pow(a, b); }
Value rad2deg(const Operand& x) { return degrees(x); }
Value true_divide(const Operand& a, const Operand& b) { return divide(a, b); }

}}  // namespace ricci::v0
