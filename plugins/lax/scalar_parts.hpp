// Scalars of a kernel that are real or complex numbers: formulas that hold for both.
#ifndef RICCI_LAX_SCALAR_PARTS_HPP_
#define RICCI_LAX_SCALAR_PARTS_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline bool IsComplex(const Scalar& z) { return ricci::IsComplex(z.dtype()); }
inline Scalar RealPart(Scalar z) { return IsComplex(z) ? Real(z) : z; }
inline Scalar Conj(Scalar z) { return IsComplex(z) ? Complex(Real(z), -Imag(z)) : z; }
// The real number `r` as one of the dtype of `like`.
inline Scalar AsKind(Scalar like, Scalar r) { return IsComplex(like) ? Complex(r, Like(r, 0)) : r; }
inline Scalar TimesReal(Scalar z, Scalar r) {
  if (!IsComplex(z)) return z * r;
  const Scalar im = Imag(z) * r;
  return Complex(Real(z) * r, im);
}
inline Scalar OverReal(Scalar z, Scalar r) {
  if (!IsComplex(z)) return z / r;
  const Scalar im = Imag(z) / r;
  return Complex(Real(z) / r, im);
}
inline Scalar Magnitude(Scalar r) { return Apply(RICCI_S_ABS, {r}); }
inline Scalar SquareRoot(Scalar r) { return Apply(RICCI_S_SQRT, {r}); }
// |z|^2
inline Scalar SquaredMagnitude(Scalar z) { return IsComplex(z) ? Real(z) * Real(z) + Imag(z) * Imag(z) : z * z; }
// The larger part of z, without its sign.
inline Scalar LargerPart(Scalar z) {
  if (!IsComplex(z)) return Magnitude(z);
  const Scalar im = Magnitude(Imag(z));
  return Max(Magnitude(Real(z)), im);
}
// |re| + |im|, by which LAPACK compares complex numbers.
inline Scalar SumOfParts(Scalar z) {
  if (!IsComplex(z)) return Magnitude(z);
  const Scalar im = Magnitude(Imag(z));
  return Magnitude(Real(z)) + im;
}

// The layout of a real floating dtype.
struct FloatBits {
  DType integer;
  int64_t fraction, bias;
  static FloatBits Of(DType d) {
    return d == DType::kF32 ? FloatBits{DType::kI32, 23, 127} : FloatBits{DType::kI64, 52, 1023};
  }
};
// Its sign bit is set: negative numbers and -0.
inline Scalar HasMinus(Scalar r) { return Bitcast(r, FloatBits::Of(r.dtype()).integer) < 0; }

// The exponent of a magnitude as its bits have it, biased: 0 if it is subnormal. Of dtype FloatBits::integer.
inline Scalar ExponentOf(Scalar magnitude) {
  const FloatBits f = FloatBits::Of(magnitude.dtype());
  const Scalar bits = Bitcast(Magnitude(magnitude), f.integer);
  return ShiftRightLogical(bits, Like(bits, f.fraction));
}
// 2^exponent as a number of the dtype `real`, where it is normal.
inline Scalar PowerOf(Scalar exponent, DType real) {
  const FloatBits f = FloatBits::Of(real);
  return Bitcast((exponent + f.bias) << Like(exponent, f.fraction), real);
}

// A power of two and its inverse, both normal numbers.
struct PowerOfTwo {
  Scalar value, inverse;
};
// The power that brings `largest`, a magnitude, close to 1, so that squares neither overflow nor vanish; 1 if it is not
// finite. Products with it are exact.
inline PowerOfTwo ScaleFor(Scalar largest) {
  const DType real = largest.dtype();
  const FloatBits f = FloatBits::Of(real);
  const Scalar exponent = ExponentOf(largest);
  const Scalar wanted = Max(Like(exponent, f.bias - 1) - exponent, Like(exponent, 1 - f.bias));
  const Scalar power = Select(exponent == 2 * f.bias + 1, Like(exponent, 0), wanted);
  return {PowerOf(power, real), PowerOf(-power, real)};
}

}}}  // namespace ricci::v0::lax
#endif
