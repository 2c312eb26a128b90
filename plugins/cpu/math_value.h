// Real and Bits: arithmetic on LLVM values written as formulas, for the files that emit special functions.
//
// A Real is an f32 or f64 (one value or one per lane), Bits an integer of the same width; plain numbers take the type
// of the other operand, so one formula serves both widths and any number of lanes. The compiler may fuse a product
// and a sum that follows it; where a rounding matters the formula says Fma.
#ifndef RICCI_CPU_MATH_VALUE_H_
#define RICCI_CPU_MATH_VALUE_H_
#include <initializer_list>

#include "llvm_builder.h"

namespace ricci::cpu {

// Lanes in which something holds.
struct Mask {
  const LlvmBuilder* l;
  LLVMValueRef v;
};
inline Mask operator&(Mask a, Mask b) { return {a.l, LLVMBuildAnd(a.l->b, a.v, b.v, "")}; }
inline Mask operator|(Mask a, Mask b) { return {a.l, LLVMBuildOr(a.l->b, a.v, b.v, "")}; }
inline Mask operator!(Mask a) { return {a.l, LLVMBuildNot(a.l->b, a.v, "")}; }
// Whether it holds in any lane, as one bool.
inline LLVMValueRef Any(Mask m) {
  return LlvmBuilder::IsVector(m.v) ? m.l->Intrinsic("llvm.vector.reduce.or", {LLVMTypeOf(m.v)}, {m.v}) : m.v;
}

struct Real {
  const LlvmBuilder* l;
  LLVMValueRef v;

  bool is_f64() const { return LlvmBuilder::ElementType(v) == l->f64(); }
  // A constant of this width.
  Real operator()(double c) const { return {l, l->RealLike(v, c)}; }
  // `narrow` for f32, `wide` for f64.
  Real operator()(double narrow, double wide) const { return (*this)(is_f64() ? wide : narrow); }
};

inline Real operator+(Real a, Real b) { return {a.l, LLVMBuildFAdd(a.l->b, a.v, b.v, "")}; }
inline Real operator-(Real a, Real b) { return {a.l, LLVMBuildFSub(a.l->b, a.v, b.v, "")}; }
inline Real operator*(Real a, Real b) { return {a.l, LLVMBuildFMul(a.l->b, a.v, b.v, "")}; }
inline Real operator/(Real a, Real b) { return {a.l, LLVMBuildFDiv(a.l->b, a.v, b.v, "")}; }
inline Real operator-(Real a) { return {a.l, LLVMBuildFNeg(a.l->b, a.v, "")}; }
inline Real operator+(Real a, double b) { return a + a(b); }
inline Real operator-(Real a, double b) { return a - a(b); }
inline Real operator*(Real a, double b) { return a * a(b); }
inline Real operator+(double a, Real b) { return b(a) + b; }
inline Real operator-(double a, Real b) { return b(a) - b; }
inline Real operator*(double a, Real b) { return b(a) * b; }
inline Real operator/(double a, Real b) { return b(a) / b; }

// a * b + c rounded once.
inline Real Fma(Real a, Real b, Real c) {
  return {a.l, a.l->Intrinsic("llvm.fma", {LLVMTypeOf(a.v)}, {a.v, b.v, c.v})};
}
inline Real Fma(Real a, double b, Real c) { return Fma(a, a(b), c); }
inline Real Fma(Real a, Real b, double c) { return Fma(a, b, a(c)); }
inline Real Fma(Real a, double b, double c) { return Fma(a, a(b), a(c)); }
inline Real Abs(Real x) { return {x.l, x.l->Fn("llvm.fabs", x.v)}; }
inline Real Sqrt(Real x) { return {x.l, x.l->Fn("llvm.sqrt", x.v)}; }
inline Real Trunc(Real x) { return {x.l, x.l->Fn("llvm.trunc", x.v)}; }
inline Real RoundEven(Real x) { return {x.l, x.l->Fn("llvm.roundeven", x.v)}; }
inline Real CopySign(Real magnitude, Real sign) { return {sign.l, sign.l->Fn("llvm.copysign", magnitude.v, sign.v)}; }
inline Real CopySign(double magnitude, Real sign) { return CopySign(sign(magnitude), sign); }

inline Mask Compare(LLVMRealPredicate p, Real a, Real b) { return {a.l, LLVMBuildFCmp(a.l->b, p, a.v, b.v, "")}; }
inline Mask operator<(Real a, Real b) { return Compare(LLVMRealOLT, a, b); }
inline Mask operator>(Real a, Real b) { return Compare(LLVMRealOGT, a, b); }
inline Mask operator==(Real a, Real b) { return Compare(LLVMRealOEQ, a, b); }
inline Mask operator<(Real a, double b) { return a < a(b); }
inline Mask operator>(Real a, double b) { return a > a(b); }
inline Mask operator==(Real a, double b) { return a == a(b); }
// a <= b fails: above it or a NaN.
inline Mask NotWithin(Real a, double b) { return Compare(LLVMRealUGT, a, a(b)); }
inline Mask IsNan(Real a) { return Compare(LLVMRealUNO, a, a); }
inline Real Select(Mask m, Real a, Real b) { return {a.l, LLVMBuildSelect(a.l->b, m.v, a.v, b.v, "")}; }
inline Real Select(Mask m, double a, Real b) { return Select(m, b(a), b); }
// Limits that keep NaN.
inline Real AtMost(Real x, Real bound) { return Select(x > bound, bound, x); }
inline Real AtLeast(Real x, Real bound) { return Select(x < bound, bound, x); }

struct Bits {
  const LlvmBuilder* l;
  LLVMValueRef v;

  Bits operator()(uint64_t c) const { return {l, l->IntLike(v, c)}; }
};
inline Bits operator+(Bits a, Bits b) { return {a.l, LLVMBuildAdd(a.l->b, a.v, b.v, "")}; }
inline Bits operator-(Bits a, Bits b) { return {a.l, LLVMBuildSub(a.l->b, a.v, b.v, "")}; }
inline Bits operator&(Bits a, Bits b) { return {a.l, LLVMBuildAnd(a.l->b, a.v, b.v, "")}; }
inline Bits operator^(Bits a, Bits b) { return {a.l, LLVMBuildXor(a.l->b, a.v, b.v, "")}; }
inline Bits operator+(Bits a, uint64_t b) { return a + a(b); }
inline Bits operator-(Bits a, uint64_t b) { return a - a(b); }
inline Bits operator&(Bits a, uint64_t b) { return a & a(b); }
inline Bits operator<<(Bits a, unsigned n) { return {a.l, LLVMBuildShl(a.l->b, a.v, a(n).v, "")}; }
inline Bits operator>>(Bits a, unsigned n) { return {a.l, LLVMBuildAShr(a.l->b, a.v, a(n).v, "")}; }  // keeps the sign
inline Mask operator==(Bits a, uint64_t b) { return {a.l, LLVMBuildICmp(a.l->b, LLVMIntEQ, a.v, a(b).v, "")}; }
inline Bits Select(Mask m, Bits a, Bits b) { return {a.l, LLVMBuildSelect(a.l->b, m.v, a.v, b.v, "")}; }

inline LLVMTypeRef BitsType(Real x) {
  const LLVMTypeRef one = x.is_f64() ? x.l->i64() : x.l->i32();
  return LlvmBuilder::IsVector(x.v) ? x.l->vec(one) : one;
}
inline Bits BitsOf(Real x) { return {x.l, LLVMBuildBitCast(x.l->b, x.v, BitsType(x), "")}; }
inline Real RealOf(Bits b, Real like) { return {b.l, LLVMBuildBitCast(b.l->b, b.v, LLVMTypeOf(like.v), "")}; }

// The polynomial with these coefficients, highest power first.
inline Real Horner(Real x, std::initializer_list<double> coefficients) {
  Real r{x.l, nullptr};
  for (double c : coefficients) r = r.v == nullptr ? x(c) : Fma(r, x, x(c));
  return r;
}
// The same with even and odd powers apart: their chains run in parallel, which takes half the time to the result.
inline Real HornerByHalves(Real x, std::initializer_list<double> coefficients) {
  const Real square = x * x;
  Real halves[2] = {{x.l, nullptr}, {x.l, nullptr}};
  size_t power = coefficients.size();
  for (double c : coefficients) {
    Real& r = halves[--power % 2];
    r = r.v == nullptr ? x(c) : Fma(r, square, x(c));
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
  return RealOf(n + BitsOf(like(magic)), like) - magic;
}
inline Real PowerOfTwo(Bits n, Real like) {
  return RealOf((n + (like.is_f64() ? 1023 : 127)) << (like.is_f64() ? 52 : 23), like);
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
inline Real Widen(Real x) {
  const LLVMTypeRef t = LlvmBuilder::IsVector(x.v) ? x.l->vec(x.l->f64()) : x.l->f64();
  return {x.l, LLVMBuildFPExt(x.l->b, x.v, t, "")};
}
inline Real Narrow(Real x) {
  const LLVMTypeRef t = LlvmBuilder::IsVector(x.v) ? x.l->vec(x.l->f32()) : x.l->f32();
  return {x.l, LLVMBuildFPTrunc(x.l->b, x.v, t, "")};
}

}  // namespace ricci::cpu
#endif
