// Real, Bits and Mask: arithmetic on the values of a MathEmitter, written as formulas.
//
// Plain numbers take the type of the other operand, so one formula serves both widths, any number of lanes and each
// target.
#ifndef RICCI_CODEGEN_MATH_VALUE_H_
#define RICCI_CODEGEN_MATH_VALUE_H_
#include <initializer_list>

#include "codegen/math/math_emitter.h"

namespace ricci::codegen {

// Where something holds.
struct Mask {
  const MathEmitter* e;
  MathEmitter::Value v;
};
inline Mask operator&(Mask a, Mask b) { return {a.e, a.e->Emit(MathOp::kMaskAnd, {a.v, b.v})}; }
inline Mask operator|(Mask a, Mask b) { return {a.e, a.e->Emit(MathOp::kMaskOr, {a.v, b.v})}; }
inline Mask operator^(Mask a, Mask b) { return {a.e, a.e->Emit(MathOp::kMaskXor, {a.v, b.v})}; }
inline Mask operator!(Mask a) { return {a.e, a.e->Emit(MathOp::kMaskNot, {a.v})}; }

struct Real {
  const MathEmitter* e;
  MathEmitter::Value v;

  bool is_f64() const { return e->IsF64(v); }
  // A constant of this width.
  Real operator()(double c) const { return {e, e->RealLike(v, c)}; }
  // `narrow` for f32, `wide` for f64.
  Real operator()(double narrow, double wide) const { return (*this)(is_f64() ? wide : narrow); }
};
inline Real Apply(MathOp op, Real a) { return {a.e, a.e->Emit(op, {a.v})}; }
inline Real Apply(MathOp op, Real a, Real b) { return {a.e, a.e->Emit(op, {a.v, b.v})}; }
inline Mask Test(MathOp op, Real a, Real b) { return {a.e, a.e->Emit(op, {a.v, b.v})}; }

inline Real operator+(Real a, Real b) { return Apply(MathOp::kAdd, a, b); }
inline Real operator-(Real a, Real b) { return Apply(MathOp::kSub, a, b); }
// A product, which an addition or subtraction in the same expression takes in before it is rounded, where the target
// has fused multiply-adds. Kept as a Real it is rounded: `const Real p = a * b`.
struct RealProduct {
  Real x, y;
  operator Real() const { return Apply(MathOp::kMul, x, y); }  // NOLINT: a product is a number
};
inline RealProduct operator*(Real a, Real b) { return {a, b}; }
inline Real operator/(Real a, Real b) { return Apply(MathOp::kDiv, a, b); }
inline Real operator-(Real a) { return Apply(MathOp::kNeg, a); }
// a * b + c rounded once.
inline Real Fma(Real a, Real b, Real c) { return {a.e, a.e->Emit(MathOp::kFma, {a.v, b.v, c.v})}; }
// The same where products are contracted; else rounded twice.
inline Real MultiplyAdd(Real a, Real b, Real c) {
  return a.e->Contracts() ? Fma(a, b, c) : Apply(MathOp::kAdd, Apply(MathOp::kMul, a, b), c);
}
inline Real operator+(const RealProduct& p, Real c) { return MultiplyAdd(p.x, p.y, c); }
inline Real operator+(Real c, const RealProduct& p) { return MultiplyAdd(p.x, p.y, c); }
inline Real operator+(const RealProduct& p, const RealProduct& q) { return p + static_cast<Real>(q); }
inline Real operator-(const RealProduct& p, Real c) { return MultiplyAdd(p.x, p.y, -c); }
inline Real operator-(Real c, const RealProduct& p) { return MultiplyAdd(-p.x, p.y, c); }
inline Real operator-(const RealProduct& p, const RealProduct& q) { return static_cast<Real>(p) - q; }
inline Real operator+(Real a, double b) { return a + a(b); }
inline Real operator+(const RealProduct& p, double b) { return p + p.x(b); }
inline Real operator-(Real a, double b) { return a - a(b); }
inline Real operator-(const RealProduct& p, double b) { return p - p.x(b); }
inline RealProduct operator*(Real a, double b) { return a * a(b); }
inline Real operator+(double a, Real b) { return b(a) + b; }
inline Real operator+(double a, const RealProduct& p) { return p.x(a) + p; }
inline Real operator-(double a, Real b) { return b(a) - b; }
inline Real operator-(double a, const RealProduct& p) { return p.x(a) - p; }
inline RealProduct operator*(double a, Real b) { return b(a) * b; }
inline Real operator/(double a, Real b) { return b(a) / b; }

inline Real Fma(Real a, double b, Real c) { return Fma(a, a(b), c); }
inline Real Fma(Real a, Real b, double c) { return Fma(a, b, a(c)); }
inline Real Fma(Real a, double b, double c) { return Fma(a, a(b), a(c)); }
inline Real Abs(Real x) { return Apply(MathOp::kAbs, x); }
inline Real Sqrt(Real x) { return Apply(MathOp::kSqrt, x); }
inline Real Trunc(Real x) { return Apply(MathOp::kTrunc, x); }
inline Real RoundEven(Real x) { return Apply(MathOp::kRoundEven, x); }
inline Real CopySign(Real magnitude, Real sign) { return Apply(MathOp::kCopySign, magnitude, sign); }
inline Real CopySign(double magnitude, Real sign) { return CopySign(sign(magnitude), sign); }

inline Mask operator<(Real a, Real b) { return Test(MathOp::kLess, a, b); }
inline Mask operator>(Real a, Real b) { return Test(MathOp::kGreater, a, b); }
inline Mask operator>=(Real a, Real b) { return Test(MathOp::kGreaterEqual, a, b); }
inline Mask operator==(Real a, Real b) { return Test(MathOp::kEqual, a, b); }
inline Mask operator<(Real a, double b) { return a < a(b); }
inline Mask operator>(Real a, double b) { return a > a(b); }
inline Mask operator>=(Real a, double b) { return a >= a(b); }
inline Mask operator==(Real a, double b) { return a == a(b); }
// a <= b fails: above it or a NaN.
inline Mask NotWithin(Real a, double b) { return Test(MathOp::kGreaterOrNan, a, a(b)); }
// a >= b fails: below it or a NaN.
inline Mask NotAtLeast(Real a, double b) { return Test(MathOp::kLessOrNan, a, a(b)); }
inline Mask IsNan(Real a) { return {a.e, a.e->Emit(MathOp::kIsNan, {a.v})}; }
inline Real Select(Mask m, Real a, Real b) { return {a.e, a.e->Emit(MathOp::kSelect, {m.v, a.v, b.v})}; }
inline Real Select(Mask m, double a, Real b) { return Select(m, b(a), b); }
// Limits that keep NaN.
inline Real AtMost(Real x, Real bound) { return Select(x > bound, bound, x); }
inline Real AtLeast(Real x, Real bound) { return Select(x < bound, bound, x); }

struct Bits {
  const MathEmitter* e;
  MathEmitter::Value v;

  Bits operator()(uint64_t c) const { return {e, e->BitsLike(v, c)}; }
};
inline Bits Apply(MathOp op, Bits a, Bits b) { return {a.e, a.e->Emit(op, {a.v, b.v})}; }
inline Bits operator+(Bits a, Bits b) { return Apply(MathOp::kBitsAdd, a, b); }
inline Bits operator-(Bits a, Bits b) { return Apply(MathOp::kBitsSub, a, b); }
inline Bits operator&(Bits a, Bits b) { return Apply(MathOp::kBitsAnd, a, b); }
inline Bits operator^(Bits a, Bits b) { return Apply(MathOp::kBitsXor, a, b); }
inline Bits operator+(Bits a, uint64_t b) { return a + a(b); }
inline Bits operator-(Bits a, uint64_t b) { return a - a(b); }
inline Bits operator&(Bits a, uint64_t b) { return a & a(b); }
inline Bits operator<<(Bits a, unsigned n) { return Apply(MathOp::kBitsShiftLeft, a, a(n)); }
inline Bits operator>>(Bits a, unsigned n) { return Apply(MathOp::kBitsShiftRight, a, a(n)); }
inline Mask operator==(Bits a, uint64_t b) { return {a.e, a.e->Emit(MathOp::kBitsEqual, {a.v, a(b).v})}; }
inline Bits Select(Mask m, Bits a, Bits b) { return {a.e, a.e->Emit(MathOp::kSelect, {m.v, a.v, b.v})}; }

inline Bits BitsOf(Real x) { return {x.e, x.e->Emit(MathOp::kBitsOf, {x.v})}; }
inline Real RealOf(Bits b) { return {b.e, b.e->Emit(MathOp::kRealOf, {b.v})}; }

// The polynomial with these coefficients, highest power first.
inline Real Horner(Real x, std::initializer_list<double> coefficients) {
  Real r{x.e, 0};
  for (double c : coefficients) r = r.v == 0 ? x(c) : Fma(r, x, x(c));
  return r;
}
// The same with even and odd powers apart: their chains run in parallel, which takes half the time to the result.
inline Real HornerByHalves(Real x, std::initializer_list<double> coefficients) {
  const Real square = x * x;
  Real halves[2] = {{x.e, 0}, {x.e, 0}};
  size_t power = coefficients.size();
  for (double c : coefficients) {
    Real& r = halves[--power % 2];
    r = r.v == 0 ? x(c) : Fma(r, square, x(c));
  }
  return Fma(halves[1], x, halves[0]);
}
// `narrow` for f32, `wide` for f64.
inline Real Horner(Real x, std::initializer_list<double> narrow, std::initializer_list<double> wide) {
  return Horner(x, x.is_f64() ? wide : narrow);
}

// A small integer as a Real, and the exponent field of 2^n for one.
inline Real RealFrom(Bits n, Real like) {
  const double magic = like.is_f64() ? 0x1.8p52 : 0x1.8p23;
  return RealOf(n + BitsOf(like(magic))) - magic;
}
inline Real PowerOfTwo(Bits n, Real like) {
  return RealOf((n + (like.is_f64() ? 1023 : 127)) << (like.is_f64() ? 52 : 23));
}
// x * 2^n for n whose halves are exponents, in two factors so that results may be subnormal.
inline Real Scale(Real x, Bits n) {
  const Bits half = n >> 1;
  return x * PowerOfTwo(half, x) * PowerOfTwo(n - half, x);
}

// The integer nearest to x * scale, below 2^22 (2^51 for f64), as a Real and in two's complement.
struct Rounded {
  Real value;
  Bits bits;
};
// Adding 1.5 times the power of two at which fractions vanish rounds, and leaves the integer in the low bits.
inline Rounded Nearest(Real x, double scale) {
  const Real magic = x(0x1.8p23, 0x1.8p52), sum = Fma(x, x(scale), magic);
  return {sum - magic, BitsOf(sum) - BitsOf(magic)};
}

// An f32 as f64 and back: functions that are rare in f32 are computed in f64.
inline Real Widen(Real x) { return Apply(MathOp::kWiden, x); }
inline Real Narrow(Real x) { return Apply(MathOp::kNarrow, x); }

}  // namespace ricci::codegen
#endif
