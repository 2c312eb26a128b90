// ricci/float_parts.hpp: functions of jax.numpy that take floating numbers apart, round them, compare them up to a
// tolerance, and divide with a remainder.
#ifndef RICCI_FLOAT_PARTS_HPP_
#define RICCI_FLOAT_PARTS_HPP_
#include <optional>
#include <utility>

#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 {

// ---- bits of a number ----
Value signbit(const Operand& x);
// The magnitude of a with the sign of b.
Value copysign(const Operand& a, const Operand& b);
Value nextafter(const Operand& a, const Operand& b);
// The distance to the next number away from 0.
Value spacing(const Operand& x);
// x = first * 2^second with 0.5 <= |first| < 1; the exponent is i32.
std::pair<Value, Value> frexp(const Operand& x);
// a * 2^b; b is an integer.
Value ldexp(const Operand& a, const Operand& b);
// The fractional and the whole part, both with the sign of x.
std::pair<Value, Value> modf(const Operand& x);
// How many bits of the magnitude are 1, as u8.
Value bitwise_count(const Operand& x);

// ---- rounding ----
Value trunc(const Operand& x);
// To nearest, halves to even; integers become f32.
Value rint(const Operand& x);

// ---- division ----
// Remainder with the sign of the dividend, as C's %.
Value fmod(const Operand& a, const Operand& b);
// floor_divide and remainder.
std::pair<Value, Value> divmod(const Operand& a, const Operand& b);
Value gcd(const Operand& a, const Operand& b);
Value lcm(const Operand& a, const Operand& b);

// ---- tests ----
Value isneginf(const Operand& x);
Value isposinf(const Operand& x);
Value isreal(const Operand& x);
Value iscomplex(const Operand& x);
// |a - b| <= atol + rtol |b|, elementwise.
Value isclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
Value allclose(const Operand& a, const Operand& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false);
// A scalar: false also if the shapes differ.
Value array_equal(const Operand& a, const Operand& b, bool equal_nan = false);
// The same for shapes that broadcast.
Value array_equiv(const Operand& a, const Operand& b);
// NaN and infinities replaced; without numbers the infinities become the greatest and the least number of the dtype.
Value nan_to_num(const Operand& x, double nan = 0, std::optional<double> posinf = {},
                 std::optional<double> neginf = {});

}}  // namespace ricci::v0
#endif
