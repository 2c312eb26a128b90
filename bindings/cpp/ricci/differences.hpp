// ricci/differences.hpp: differences, integrals, interpolation, convolution and polynomials of jax.numpy.
#ifndef RICCI_DIFFERENCES_HPP_
#define RICCI_DIFFERENCES_HPP_
#include "ricci/joining.hpp"

namespace ricci { inline namespace v0 {

// ---- differences and integrals ----
// Neighbours subtracted, n times.
Value diff(const Operand& x, int64_t n = 1, AxisNumber axis = -1);
// The same with values joined before and after.
Value diff(const Operand& x, int64_t n, AxisNumber axis, const std::optional<Operand>& prepend,
           const std::optional<Operand>& append = {});
Value ediff1d(const Operand& x, const std::optional<Operand>& to_end = {}, const std::optional<Operand>& to_begin = {});
// Central differences, one-sided at the ends, of points at equal distances or at these coordinates (a vector).
Value gradient(const Operand& x, const Operand& spacing, AxisNumber axis);
// One array per axis.
Values gradient(const Operand& x);
// The integral by the trapezoidal rule, of points at these coordinates or, without any, at distance dx.
Value trapezoid(const Operand& y, const std::optional<Operand>& x = {}, double dx = 1, AxisNumber axis = -1);
// Jumps of more than `discont` (half a period by default) replaced by their complement.
Value unwrap(const Operand& p, std::optional<double> discont = {}, AxisNumber axis = -1,
             double period = 6.283185307179586);

// ---- interpolation ----
// What interp takes by name: the value outside of the points (by default that of the first and the last), or a period.
struct InterpOptions {
  std::optional<Operand> left = {}, right = {};
  std::optional<double> period = {};
};
// The values at x of the lines between the points (xp, fp); xp increases.
Value interp(const Operand& x, const Operand& xp, const Operand& fp, const InterpOptions& options = {});

// ---- convolution ----
// Of vectors. `mode`: full, same (as long as the longer one) or valid (where they overlap completely).
Value convolve(const Operand& a, const Operand& v, std::string_view mode = "full");
Value correlate(const Operand& a, const Operand& v, std::string_view mode = "valid");

// ---- polynomials: vectors of coefficients, the highest power first ----
Value polyval(const Operand& p, const Operand& x);
Value polyadd(const Operand& a, const Operand& b);
Value polysub(const Operand& a, const Operand& b);
Value polymul(const Operand& a, const Operand& b);
// Quotient and remainder.
std::pair<Value, Value> polydiv(const Operand& u, const Operand& v);
Value polyder(const Operand& p, int64_t m = 1);
// The m-th integral, with these constants of integration (0 by default).
Value polyint(const Operand& p, int64_t m = 1, const std::optional<Operand>& k = {});
// The coefficients of the polynomial with these roots.
Value poly(const Operand& roots);
// The roots of the polynomial, complex, as eigenvalues; for each 0 before the first other coefficient one of them is
// NaN.
Value roots(const Operand& p);
struct PolyfitOptions {
  std::optional<double> rcond = {};  // singular values below it times the largest do not count
  std::optional<Operand> w = {};     // a weight for each point
};
// The polynomial of degree `deg` that is nearest to the points (x, y) in the sense of least squares; y is a vector, or
// has one column per polynomial.
Value polyfit(const Operand& x, const Operand& y, int64_t deg, const PolyfitOptions& options = {});

}}  // namespace ricci::v0
#endif
