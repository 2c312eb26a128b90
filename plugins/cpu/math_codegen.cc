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
#include "math_functions.h"
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

// Any argument with the same sine does: where the arc sine is inexact the sine hardly depends on it.
double ReduceSine(double x) { return static_cast<double>(std::asin(std::sin(static_cast<long double>(x)))); }
double ReduceCosine(double x) { return static_cast<double>(std::asin(std::cos(static_cast<long double>(x)))); }
float ReduceSineF(float x) { return static_cast<float>(ReduceSine(x)); }
float ReduceCosineF(float x) { return static_cast<float>(ReduceCosine(x)); }

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
  { OP, 1, "ricci_" name "f", Address(f), "ricci_" name, Address(d) }

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
                                  RICCI_OWN(RICCI_S_LOGISTIC, "logistic", &LogisticF, &Logistic),
                                  RICCI_OWN(RICCI_S_ERF_INV, "erf_inv", &ErfInvF, &ErfInv),
                                  RICCI_OWN(RICCI_S_LGAMMA, "lgamma", &LGammaF, &LGamma),
                                  RICCI_OWN(RICCI_S_DIGAMMA, "digamma", &DigammaF, &Digamma),
                                  RICCI_OWN(kReduceSine, "reduce_sine", &ReduceSineF, &ReduceSine),
                                  RICCI_OWN(kReduceCosine, "reduce_cosine", &ReduceCosineF, &ReduceCosine)};
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

// The declaration of a C function of the module.
V Declared(const LlvmBuilder& l, const char* name, LLVMTypeRef type) {
  V f = LLVMGetNamedFunction(l.module, name);
  return f != nullptr ? f : LLVMAddFunction(l.module, name, type);
}

// f of every lane: x[i] = f(x[i]), or f(x[i], y[i]).
template <typename T>
void EachLane1(T (*f)(T), T* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = f(x[i]);
}
template <typename T>
void EachLane2(T (*f)(T, T), T* x, int64_t n, const T* y) {
  for (int64_t i = 0; i < n; ++i) x[i] = f(x[i], y[i]);
}
const MathSymbol kEachLane[2][2] = {
    {{"ricci_each_lane1f", Address(&EachLane1<float>)}, {"ricci_each_lane2f", Address(&EachLane2<float>)}},
    {{"ricci_each_lane1", Address(&EachLane1<double>)}, {"ricci_each_lane2", Address(&EachLane2<double>)}}};

// Each lane through the C library. Lanes go through memory and one call, which keeps the code short.
V CallLibrary(const LlvmBuilder& l, uint32_t op, std::span<const V> in) {
  const Library* lib = Find(op);
  if (lib == nullptr) return nullptr;
  const bool f64 = IsF64(l, in[0]);
  const LLVMTypeRef t = f64 ? l.f64() : l.f32(), type = LLVMTypeOf(in[0]);
  LLVMTypeRef params[] = {t, t};
  const LLVMTypeRef one = LLVMFunctionType(t, params, lib->arity, 0);
  V f = Declared(l, f64 ? lib->f64_name : lib->f32_name, one);
  if (!LlvmBuilder::IsVector(in[0])) return LLVMBuildCall2(l.b, one, f, const_cast<V*>(in.data()), lib->arity, "");
  V slots[2] = {};
  for (uint32_t a = 0; a < lib->arity; ++a) {
    slots[a] = l.Alloca(type, "lanes");
    LLVMBuildStore(l.b, in[a], slots[a]);
  }
  LLVMTypeRef each_params[] = {l.ptr(), l.ptr(), l.i64(), l.ptr()};
  const LLVMTypeRef each = LLVMFunctionType(LLVMVoidTypeInContext(l.ctx), each_params, lib->arity + 2, 0);
  V args[] = {f, slots[0], l.I64(l.lanes), slots[1]};
  LLVMBuildCall2(l.b, each, Declared(l, kEachLane[f64][lib->arity - 1].name, each), args, lib->arity + 2, "");
  return LLVMBuildLoad2(l.b, type, slots[0], "");
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

Real CallLibrary(uint32_t op, Real x) { return {x.l, CallLibrary(*x.l, op, {&x.v, 1})}; }

LLVMValueRef ExpF32(const LlvmBuilder& l, V x) { return Exp(l, x); }
LLVMValueRef LogF32(const LlvmBuilder& l, V x) { return Log(l, x); }
LLVMValueRef FmaF32(const LlvmBuilder& l, V a, V b, V c) { return Fma(l, a, b, c); }
LLVMValueRef HornerF32(const LlvmBuilder& l, V x, std::initializer_list<double> coefficients) {
  return Horner(l, x, coefficients);
}

LLVMValueRef EmitMath(const LlvmBuilder& l, uint32_t op, std::span<const LLVMValueRef> in) {
  const V x = in[0];
  if (op == RICCI_S_SIN || op == RICCI_S_COS) return Sine({&l, x}, op).v;
  if (!IsF64(l, x)) {
    switch (op) {
      case RICCI_S_EXP:
        return Exp(l, x);
      case RICCI_S_LOG:
        return Log(l, x);
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
    for (const auto& by_width : kEachLane) out.insert(out.end(), std::begin(by_width), std::end(by_width));
    return out;
  }();
  return symbols;
}

}  // namespace ricci::cpu
