// Special functions as LLVM IR: polynomials in f32 for what inner loops are full of (exp, log, sin, cos, tanh,
// logistic, and those of math_error.cc), the C library for everything else, lane by lane.
//
// The polynomials are evaluated the same way on one value and on a vector, so results have the same bits at any width
// and position. Coefficients: minimax fits on the reduced interval (Moshier's Cephes, single precision); reduction by
// Cody and Waite (1980) in parts with fused multiply-add. Errors against a correctly rounded reference are tested at <=
// 2 ulp.
#include <cmath>
#include <cstring>

#include "math_f32.h"
#include "ricci/kernel.h"
#include "scalar_codegen.h"

namespace ricci::cpu {
namespace {

using V = LLVMValueRef;

// ---- the C library ----

double Logistic(double x) { return 1 / (1 + std::exp(-x)); }
float LogisticF(float x) { return static_cast<float>(Logistic(x)); }

// Giles (2010), "Approximating the erfinv function", then two Newton steps.
double ErfInv(double x) {
  if (std::isnan(x) || std::fabs(x) > 1) return NAN;
  if (std::fabs(x) == 1) return std::copysign(INFINITY, x);
  const double w = -std::log((1 - x) * (1 + x));
  double p;
  if (w < 5) {
    const double u = w - 2.5;
    p = 2.81022636e-08;
    for (double c : {3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
                     0.246640727, 1.50140941}) {
      p = p * u + c;
    }
  } else {
    const double u = std::sqrt(w) - 3;
    p = -0.000200214257;
    for (double c : {0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
                     1.00167406, 2.83297682}) {
      p = p * u + c;
    }
  }
  double y = p * x;
  for (int i = 0; i < 2; ++i) {
    const double error = x >= 0.5 ? -(std::erfc(y) - (1 - x)) : x <= -0.5 ? std::erfc(-y) - (1 + x) : std::erf(y) - x;
    y -= error / (M_2_SQRTPI * std::exp(-y * y));
  }
  return y;
}
float ErfInvF(float x) { return static_cast<float>(ErfInv(x)); }

double LGamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
float LGammaF(float x) { return static_cast<float>(LGamma(x)); }

// Recurrence up to 10, then the asymptotic series (Abramowitz and Stegun 6.3.18); reflection below 0.
double Digamma(double x) {
  if (std::isnan(x) || x == -INFINITY) return NAN;
  if (x == INFINITY) return x;
  if (x <= 0 && x == std::floor(x)) return NAN;
  double r = 0;
  if (x < 0) {
    const double f = x - std::floor(x);
    r = -M_PI / std::tan(M_PI * f);
    x = 1 - x;
  }
  for (; x < 10; x += 1) r -= 1 / x;
  const double i = 1 / (x * x);
  return r + std::log(x) - 0.5 / x -
         i * (1.0 / 12 - i * (1.0 / 120 - i * (1.0 / 252 - i * (1.0 / 240 - i * (1.0 / 132 - i * 691.0 / 32760)))));
}
float DigammaF(float x) { return static_cast<float>(Digamma(x)); }

struct Library {
  uint32_t op, arity;
  const char* f32_name;
  void* f32;
  const char* f64_name;
  void* f64;
};
template <typename F>
void* Address(F f) {
  void* p;
  std::memcpy(&p, &f, sizeof p);
  return p;
}
using F1 = float (*)(float);
using F2 = float (*)(float, float);
using D1 = double (*)(double);
using D2 = double (*)(double, double);
#define RICCI_UNARY(OP, name)                                                                 \
  {                                                                                           \
    RICCI_S_##OP, 1, "ricci_" #name "f", Address(static_cast<F1>(::name##f)), "ricci_" #name, \
        Address(static_cast<D1>(::name))                                                      \
  }
#define RICCI_BINARY(OP, name)                                                                \
  {                                                                                           \
    RICCI_S_##OP, 2, "ricci_" #name "f", Address(static_cast<F2>(::name##f)), "ricci_" #name, \
        Address(static_cast<D2>(::name))                                                      \
  }
#define RICCI_OWN(OP, name, f, d) \
  { RICCI_S_##OP, 1, "ricci_" name "f", Address(f), "ricci_" name, Address(d) }

const Library* LibraryTable(size_t* n) {
  static const Library table[] = {RICCI_UNARY(EXP, exp),
                                  RICCI_UNARY(EXP2, exp2),
                                  RICCI_UNARY(EXPM1, expm1),
                                  RICCI_UNARY(LOG, log),
                                  RICCI_UNARY(LOG1P, log1p),
                                  RICCI_UNARY(LOG2, log2),
                                  RICCI_UNARY(SIN, sin),
                                  RICCI_UNARY(COS, cos),
                                  RICCI_UNARY(TAN, tan),
                                  RICCI_UNARY(ASIN, asin),
                                  RICCI_UNARY(ACOS, acos),
                                  RICCI_UNARY(ATAN, atan),
                                  RICCI_UNARY(SINH, sinh),
                                  RICCI_UNARY(COSH, cosh),
                                  RICCI_UNARY(TANH, tanh),
                                  RICCI_UNARY(ASINH, asinh),
                                  RICCI_UNARY(ACOSH, acosh),
                                  RICCI_UNARY(ATANH, atanh),
                                  RICCI_UNARY(CBRT, cbrt),
                                  RICCI_UNARY(ERF, erf),
                                  RICCI_UNARY(ERFC, erfc),
                                  RICCI_BINARY(ATAN2, atan2),
                                  RICCI_BINARY(POW, pow),
                                  RICCI_BINARY(REM, fmod),
                                  RICCI_OWN(LOGISTIC, "logistic", &LogisticF, &Logistic),
                                  RICCI_OWN(ERF_INV, "erf_inv", &ErfInvF, &ErfInv),
                                  RICCI_OWN(LGAMMA, "lgamma", &LGammaF, &LGamma),
                                  RICCI_OWN(DIGAMMA, "digamma", &DigammaF, &Digamma)};
  *n = std::size(table);
  return table;
}

const Library* Find(uint32_t op) {
  size_t n;
  const Library* t = LibraryTable(&n);
  for (size_t i = 0; i < n; ++i) {
    if (t[i].op == op) return &t[i];
  }
  return nullptr;
}

bool IsF64(const LlvmBuilder& l, V v) {
  return (LlvmBuilder::IsVector(v) ? LLVMGetElementType(LLVMTypeOf(v)) : LLVMTypeOf(v)) == l.f64();
}

V CallOne(const LlvmBuilder& l, const Library& lib, bool f64, std::span<const V> in) {
  const LLVMTypeRef t = f64 ? l.f64() : l.f32();
  LLVMTypeRef params[2] = {t, t};
  const LLVMTypeRef ft = LLVMFunctionType(t, params, lib.arity, 0);
  const char* name = f64 ? lib.f64_name : lib.f32_name;
  V f = LLVMGetNamedFunction(l.module, name);
  if (f == nullptr) f = LLVMAddFunction(l.module, name, ft);
  return LLVMBuildCall2(l.b, ft, f, const_cast<V*>(in.data()), lib.arity, "");
}

// Each lane through the C library.
V CallLibrary(const LlvmBuilder& l, uint32_t op, std::span<const V> in) {
  const Library* lib = Find(op);
  if (lib == nullptr) return nullptr;
  const bool f64 = IsF64(l, in[0]);
  if (!LlvmBuilder::IsVector(in[0])) return CallOne(l, *lib, f64, in);
  V out = LLVMGetUndef(LLVMTypeOf(in[0]));
  for (unsigned i = 0; i < l.lanes; ++i) {
    V one[2] = {};
    for (uint32_t a = 0; a < lib->arity; ++a)
      one[a] = LLVMBuildExtractElement(l.b, in[a], l.I32(static_cast<int>(i)), "");
    V r = CallOne(l, *lib, f64, {one, lib->arity});
    out = LLVMBuildInsertElement(l.b, out, r, l.I32(static_cast<int>(i)), "");
  }
  return out;
}

// ---- f32 polynomials ----

V Fma(const LlvmBuilder& l, V a, V b, V c) { return l.Intrinsic("llvm.fma", {LLVMTypeOf(a)}, {a, b, c}); }
V Horner(const LlvmBuilder& l, V x, std::initializer_list<double> coefficients) {
  V r = nullptr;
  for (double c : coefficients) r = r == nullptr ? l.RealLike(x, c) : Fma(l, r, x, l.RealLike(x, c));
  return r;
}
LLVMTypeRef BitsOf(const LlvmBuilder& l, V v) { return LlvmBuilder::IsVector(v) ? l.vec(l.i32()) : l.i32(); }

// x * 2^n for n in [-252, 254], in two factors so that results may be subnormal.
V Scale(const LlvmBuilder& l, V x, V n) {
  const V half = LLVMBuildAShr(l.b, n, l.IntLike(n, 1), ""), rest = LLVMBuildSub(l.b, n, half, "");
  for (V part : {half, rest}) {
    V bits = LLVMBuildShl(l.b, LLVMBuildAdd(l.b, part, l.IntLike(part, 127), ""), l.IntLike(part, 23), "");
    x = LLVMBuildFMul(l.b, x, LLVMBuildBitCast(l.b, bits, LLVMTypeOf(x), ""), "");
  }
  return x;
}

// exp(x) for x = n ln2 + r, |r| <= ln2 / 2.
V Exp(const LlvmBuilder& l, V x) {
  V c = l.Fn("llvm.minnum", l.Fn("llvm.maxnum", x, l.RealLike(x, -104.0)), l.RealLike(x, 89.0));
  V n = l.Fn("llvm.roundeven", LLVMBuildFMul(l.b, c, l.RealLike(x, 1.44269504088896341), ""));
  V r = Fma(l, n, l.RealLike(x, -0.693359375), c);
  r = Fma(l, n, l.RealLike(x, 2.12194440e-4), r);
  V p = Horner(l, r,
               {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  p = Fma(l, p, LLVMBuildFMul(l.b, r, r, ""), LLVMBuildFAdd(l.b, r, l.RealLike(x, 1), ""));
  V y = Scale(l, p, LLVMBuildFPToSI(l.b, n, BitsOf(l, x), ""));
  return LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealUNO, x, x, ""), x, y, "");
}

// log(m 2^e) with m in [sqrt(1/2), sqrt(2)).
V Log(const LlvmBuilder& l, V x) {
  const LLVMTypeRef bits_type = BitsOf(l, x);
  const V subnormal = LLVMBuildFCmp(l.b, LLVMRealOLT, x, l.RealLike(x, 0x1p-126), "");
  V s = LLVMBuildSelect(l.b, subnormal, LLVMBuildFMul(l.b, x, l.RealLike(x, 0x1p23), ""), x, "");
  V bits = LLVMBuildBitCast(l.b, s, bits_type, "");
  V shifted = LLVMBuildSub(l.b, bits, l.IntLike(bits, 0x3f3504f3), "");  // bits of sqrt(1/2)
  V e = LLVMBuildAShr(l.b, shifted, l.IntLike(bits, 23), "");
  V mantissa = LLVMBuildSub(l.b, bits, LLVMBuildShl(l.b, e, l.IntLike(bits, 23), ""), "");
  V m = LLVMBuildFSub(l.b, LLVMBuildBitCast(l.b, mantissa, LLVMTypeOf(x), ""), l.RealLike(x, 1), "");
  e = LLVMBuildSelect(l.b, subnormal, LLVMBuildSub(l.b, e, l.IntLike(e, 23), ""), e, "");
  V n = LLVMBuildSIToFP(l.b, e, LLVMTypeOf(x), "");
  V z = LLVMBuildFMul(l.b, m, m, "");
  V p = Horner(l, m,
               {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  V y = LLVMBuildFMul(l.b, LLVMBuildFMul(l.b, p, m, ""), z, "");
  y = Fma(l, n, l.RealLike(x, -2.12194440e-4), y);
  y = Fma(l, z, l.RealLike(x, -0.5), y);
  y = LLVMBuildFAdd(l.b, m, y, "");
  y = Fma(l, n, l.RealLike(x, 0.693359375), y);
  const V inf = l.RealLike(x, INFINITY);
  y = LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealOEQ, x, inf, ""), inf, y, "");
  y = LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealOEQ, x, l.RealLike(x, 0), ""), l.RealLike(x, -INFINITY), y, "");
  return LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealULT, x, l.RealLike(x, 0), ""), l.RealLike(x, NAN), y, "");
}

// Whether any lane of a bool holds.
V Any(const LlvmBuilder& l, V mask) {
  return LlvmBuilder::IsVector(mask) ? l.Intrinsic("llvm.vector.reduce.or", {LLVMTypeOf(mask)}, {mask}) : mask;
}

// `fast` where the reduction holds; the C library on all lanes if any lane is beyond it.
V OrLibrary(const LlvmBuilder& l, uint32_t op, V x, V beyond, V fast) {
  LLVMBasicBlockRef from = LLVMGetInsertBlock(l.b), slow = l.NewBlock("beyond"), join = l.NewBlock("reduced");
  LLVMBuildCondBr(l.b, Any(l, beyond), slow, join);
  LLVMPositionBuilderAtEnd(l.b, slow);
  V exact = CallLibrary(l, op, {&x, 1});
  exact = LLVMBuildSelect(l.b, beyond, exact, fast, "");  // a lane's value does not depend on its neighbours
  slow = LLVMGetInsertBlock(l.b);
  LLVMBuildBr(l.b, join);
  LLVMPositionBuilderAtEnd(l.b, join);
  V phi = LLVMBuildPhi(l.b, LLVMTypeOf(x), "");
  V values[] = {fast, exact};
  LLVMBasicBlockRef blocks[] = {from, slow};
  LLVMAddIncoming(phi, values, blocks, 2);
  return phi;
}

// sin(x + quarter pi/2): x = n pi/2 + r; n modulo 4 picks sine or cosine of r and the sign.
V SinCos(const LlvmBuilder& l, uint32_t op, V x) {
  V n = l.Fn("llvm.roundeven", LLVMBuildFMul(l.b, x, l.RealLike(x, 0.63661977236758134), ""));
  V r = x;
  for (double part : {-1.57079601287841796875, -3.1391647326017846e-07, -5.3903025299577648e-15}) {
    r = Fma(l, n, l.RealLike(x, part), r);
  }
  V z = LLVMBuildFMul(l.b, r, r, "");
  V s = Horner(l, z, {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1});
  s = Fma(l, LLVMBuildFMul(l.b, s, z, ""), r, r);
  V c = Horner(l, z, {2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2});
  c = Fma(l, c, LLVMBuildFMul(l.b, z, z, ""), Fma(l, z, l.RealLike(x, -0.5), l.RealLike(x, 1)));
  V limited = l.Fn("llvm.minnum", l.Fn("llvm.maxnum", n, l.RealLike(x, -1e9)), l.RealLike(x, 1e9));
  V q = LLVMBuildFPToSI(l.b, limited, BitsOf(l, x), "");
  if (op == RICCI_S_COS) q = LLVMBuildAdd(l.b, q, l.IntLike(q, 1), "");
  const V odd = LLVMBuildICmp(l.b, LLVMIntNE, LLVMBuildAnd(l.b, q, l.IntLike(q, 1), ""), l.IntLike(q, 0), "");
  const V sign = LLVMBuildShl(l.b, LLVMBuildAnd(l.b, q, l.IntLike(q, 2), ""), l.IntLike(q, 30), "");
  V y = LLVMBuildSelect(l.b, odd, c, s, "");
  y = LLVMBuildBitCast(l.b, LLVMBuildXor(l.b, LLVMBuildBitCast(l.b, y, LLVMTypeOf(q), ""), sign, ""), LLVMTypeOf(x),
                       "");
  const V beyond = LLVMBuildFCmp(l.b, LLVMRealUGT, l.Fn("llvm.fabs", x), l.RealLike(x, 20000), "");
  return OrLibrary(l, op, x, beyond, y);
}

V Tanh(const LlvmBuilder& l, V x) {
  V a = l.Fn("llvm.fabs", x);
  V z = LLVMBuildFMul(l.b, x, x, "");
  V small = Horner(l, z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  small = Fma(l, LLVMBuildFMul(l.b, small, z, ""), x, x);
  V e = Exp(l, LLVMBuildFAdd(l.b, a, a, ""));
  V large = LLVMBuildFSub(l.b, l.RealLike(x, 1),
                          LLVMBuildFDiv(l.b, l.RealLike(x, 2), LLVMBuildFAdd(l.b, e, l.RealLike(x, 1), ""), ""), "");
  large = l.Fn("llvm.copysign", large, x);
  return LLVMBuildSelect(l.b, LLVMBuildFCmp(l.b, LLVMRealULT, a, l.RealLike(x, 0.625), ""), small, large, "");
}

}  // namespace

LLVMValueRef ExpF32(const LlvmBuilder& l, V x) { return Exp(l, x); }
LLVMValueRef LogF32(const LlvmBuilder& l, V x) { return Log(l, x); }
LLVMValueRef FmaF32(const LlvmBuilder& l, V a, V b, V c) { return Fma(l, a, b, c); }
LLVMValueRef HornerF32(const LlvmBuilder& l, V x, std::initializer_list<double> coefficients) {
  return Horner(l, x, coefficients);
}

LLVMValueRef EmitMath(const LlvmBuilder& l, uint32_t op, std::span<const LLVMValueRef> in) {
  const V x = in[0];
  if (!IsF64(l, x)) {
    switch (op) {
      case RICCI_S_EXP:
        return Exp(l, x);
      case RICCI_S_LOG:
        return Log(l, x);
      case RICCI_S_SIN:
      case RICCI_S_COS:
        return SinCos(l, op, x);
      case RICCI_S_TANH:
        return Tanh(l, x);
      case RICCI_S_LOGISTIC: {  // with e = exp(-|x|): 1 / (1 + e) for x >= 0, e / (1 + e) below
        V e = Exp(l, LLVMBuildFNeg(l.b, l.Fn("llvm.fabs", x), ""));
        V below = LLVMBuildFCmp(l.b, LLVMRealOLT, x, l.RealLike(x, 0), "");
        V top = LLVMBuildSelect(l.b, below, e, l.RealLike(x, 1), "");
        return LLVMBuildFDiv(l.b, top, LLVMBuildFAdd(l.b, e, l.RealLike(x, 1), ""), "");
      }
      default:
        if (V v = EmitErrorFunction(l, op, x)) return v;
        break;
    }
  }
  return CallLibrary(l, op, in);
}

std::span<const MathSymbol> MathSymbols() {
  static const std::vector<MathSymbol> symbols = [] {
    std::vector<MathSymbol> out;
    size_t n;
    const Library* t = LibraryTable(&n);
    for (size_t i = 0; i < n; ++i) {
      out.push_back({t[i].f32_name, t[i].f32});
      out.push_back({t[i].f64_name, t[i].f64});
    }
    return out;
  }();
  return symbols;
}

}  // namespace ricci::cpu
