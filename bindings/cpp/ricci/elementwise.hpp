// ricci/elementwise.hpp: the elementwise functions of jax.numpy.
#ifndef RICCI_ELEMENTWISE_HPP_
#define RICCI_ELEMENTWISE_HPP_
#include "ricci/operators.hpp"

namespace ricci { inline namespace v0 {

// ---- floating results: integers and bool become f32 ----
Value acos(const Operand& x);
Value acosh(const Operand& x);
Value asin(const Operand& x);
Value asinh(const Operand& x);
Value atan(const Operand& x);
Value atanh(const Operand& x);
Value cbrt(const Operand& x);
Value cos(const Operand& x);
Value cosh(const Operand& x);
Value digamma(const Operand& x);
Value erf(const Operand& x);
Value erfc(const Operand& x);
Value erf_inv(const Operand& x);
Value exp(const Operand& x);
Value exp2(const Operand& x);
Value expm1(const Operand& x);
Value lgamma(const Operand& x);
Value log(const Operand& x);
Value log1p(const Operand& x);
Value log2(const Operand& x);
Value log10(const Operand& x);
Value rsqrt(const Operand& x);
Value sigmoid(const Operand& x);
Value sin(const Operand& x);
Value sinh(const Operand& x);
Value sqrt(const Operand& x);
Value tan(const Operand& x);
Value tanh(const Operand& x);
Value reciprocal(const Operand& x);
Value arctan2(const Operand& a, const Operand& b);
Value hypot(const Operand& a, const Operand& b);
Value logaddexp(const Operand& a, const Operand& b);
Value logaddexp2(const Operand& a, const Operand& b);
Value float_power(const Operand& a, const Operand& b);
Value degrees(const Operand& x);
Value radians(const Operand& x);
// sin(pi x) / (pi x), 1 at 0.
Value sinc(const Operand& x);
// 0 for negative x, 1 for positive, `at_zero` at 0.
Value heaviside(const Operand& x, const Operand& at_zero);
Value fabs(const Operand& x);
// The modified Bessel function of the first kind of order 0.
Value i0(const Operand& x);

// ---- the dtype stays ----
Value abs(const Operand& x);
// The parts of a complex number, and its conjugate. A real number is its own real part and conjugate; its imag is 0.
Value real(const Operand& x);
Value imag(const Operand& x);
Value conj(const Operand& x);
// The argument of a complex number, in radians or degrees.
Value angle(const Operand& z, bool deg = false);
Value positive(const Operand& x);
Value sign(const Operand& x);
Value square(const Operand& x);
Value floor(const Operand& x);
Value ceil(const Operand& x);
// To nearest, halves to even, at that decimal place.
Value round(const Operand& x, int64_t decimals = 0);
Value stop_gradient(const Operand& x);
Value astype(const Operand& x, DType dtype);

// The greater and the lesser of two values, elementwise; max and min reduce. Complex numbers are ordered by their real
// parts, equal ones by their imaginary parts; so they are in comparisons and sort.
Value maximum(const Operand& a, const Operand& b);
Value minimum(const Operand& a, const Operand& b);
// The same, but NaN only where both are.
Value fmax(const Operand& a, const Operand& b);
Value fmin(const Operand& a, const Operand& b);
Value clip(const Operand& x, const Operand& low, const Operand& high);
// An integer number as exponent stays exact: x * x * ... Integers to integer powers are integers.
Value pow(const Operand& a, const Operand& b);
Value floor_divide(const Operand& a, const Operand& b);

// ---- logic ----
Value logical_not(const Operand& x);
Value logical_and(const Operand& a, const Operand& b);
Value logical_or(const Operand& a, const Operand& b);
Value logical_xor(const Operand& a, const Operand& b);
Value isnan(const Operand& x);
Value isfinite(const Operand& x);
Value isinf(const Operand& x);

// pred ? a : b, elementwise, all three broadcast.
Value where(const Operand& pred, const Operand& a, const Operand& b);

// ---- activations ----
// max(x, 0) whose derivative at 0 is 0.
Value relu(const Operand& x);
Value silu(const Operand& x);
Value softplus(const Operand& x);
// The tanh form unless `approximate` is false.
Value gelu(const Operand& x, bool approximate = true);

}}  // namespace ricci::v0
#endif
