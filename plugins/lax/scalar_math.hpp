// Functions of one Scalar in a kernel, named as in mathematics, so that formulas of special functions read as such.
#ifndef RICCI_LAX_SCALAR_MATH_HPP_
#define RICCI_LAX_SCALAR_MATH_HPP_
#include <numbers>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace scalar {

inline Scalar Abs(Scalar x) { return Apply(RICCI_S_ABS, {x}); }
inline Scalar Exp(Scalar x) { return Apply(RICCI_S_EXP, {x}); }
inline Scalar Log(Scalar x) { return Apply(RICCI_S_LOG, {x}); }
inline Scalar Log1p(Scalar x) { return Apply(RICCI_S_LOG1P, {x}); }
inline Scalar Sqrt(Scalar x) { return Apply(RICCI_S_SQRT, {x}); }
inline Scalar Pow(Scalar x, Scalar y) { return Apply(RICCI_S_POW, {x, y}); }
inline Scalar ErfInv(Scalar x) { return Apply(RICCI_S_ERF_INV, {x}); }
inline Scalar Erfc(Scalar x) { return Apply(RICCI_S_ERFC, {x}); }
inline Scalar Lgamma(Scalar x) { return Apply(RICCI_S_LGAMMA, {x}); }
inline Scalar Digamma(Scalar x) { return Apply(RICCI_S_DIGAMMA, {x}); }

// The number where the condition holds.
inline Scalar Where(Scalar condition, double number, Scalar otherwise) {
  return Select(condition, Like(otherwise, number), otherwise);
}

// The polynomial with these coefficients, that of the highest power first.
inline Scalar Polynomial(std::span<const double> coefficients, Scalar x) {
  Scalar sum = Like(x, coefficients[0]);
  for (double c : coefficients.subspan(1)) sum = sum * x + c;
  return sum;
}

// ---- parts of gamma functions with large arguments, in f64 ----

inline constexpr double kNear = 0.3;  // |x| below which Bend is accurate

// (x - log(1 + x)) / x^2, which is 1/2 at 0, for |x| < kNear: with t = x / (2 + x), log(1 + x) is 2 atanh(t).
inline Scalar Bend(Scalar x) {
  static constexpr double kAtanh[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                                      1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
  const Scalar w = 1.0 / (x + 2.0), t = x * w;
  const Scalar series = Polynomial(kAtanh, t * t);
  return w - 2.0 * (x * w * w * w) * series;
}
// x - log(y) with y = 1 + x, without cancellation for small x; y is given because next to 0 it has more digits.
inline Scalar LessItsLog(Scalar x, Scalar y) {
  const Scalar is_small = Abs(x) < kNear, near = Select(is_small, x, Like(x, 0.0));
  const Scalar far_result = x - Log(y), bend = Bend(near), near_result = x * x * bend;
  return Select(is_small, near_result, far_result);
}
// The logarithm of gamma(a) / (sqrt(2 pi / a) (a / e)^a), for a of kStirling and more (DLMF 5.11.1).
inline constexpr double kStirling = 10;
inline Scalar StirlingRest(Scalar a) {
  static constexpr double kTerms[] = {-691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12};
  const Scalar inverse = 1.0 / a;
  return inverse * Polynomial(kTerms, inverse * inverse);
}

}}}}  // namespace ricci::v0::lax::scalar
#endif
