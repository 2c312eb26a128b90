// The C library, lane by lane, for special functions and arguments that have no formula.
//
// In f64 only lgamma and digamma come from here (digamma in long double, near its zeros within 1e-16). So do sin, cos
// and tan of arguments too large to reduce by a formula, and rem where the quotient is 2^23 (2^52) or more.
#include <cmath>
#include <cstring>

#include "codegen/math/math_functions.h"
#include "cpu/llvm/code_symbols.h"
#include "cpu/scalar/scalar_codegen.h"

namespace ricci::cpu {
namespace {

using V = LLVMValueRef;

using codegen::kReduceCosine;
using codegen::kReduceSine;

double LGamma(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
float LGammaF(float x) { return static_cast<float>(LGamma(x)); }

// Recurrence up to 16, then the asymptotic series (Abramowitz and Stegun 6.3.18); reflection below 0. In long double,
// because terms cancel near the zeros, of which there is one between each two poles.
long double UpperDigamma(long double x) {
  long double r = 0;
  for (; x < 16; x += 1) r -= 1 / x;
  const long double i = 1 / (x * x);
  long double series = 0;
  for (long double c :
       {-3617.0L / 8160, 1.0L / 12, -691.0L / 32760, 1.0L / 132, -1.0L / 240, 1.0L / 252, -1.0L / 120, 1.0L / 12}) {
    series = series * i + c;
  }
  return r + std::log(x) - 0.5L / x - series * i;
}
double Digamma(double x) {
  if (std::isnan(x) || x == -INFINITY) return NAN;
  if (x == INFINITY) return x;
  if (x > 0) return static_cast<double>(UpperDigamma(x));
  const long double f = x - std::nearbyint(x);
  if (f == 0) return NAN;
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  return static_cast<double>(UpperDigamma(1 - static_cast<long double>(x)) - kPi / std::tan(kPi * f));
}
float DigammaF(float x) { return static_cast<float>(Digamma(x)); }

// Any argument with the same sine will do: where the arc sine is inexact, the sine hardly depends on it.
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
  static const Library table[] = {RICCI_UNARY(TAN, tan),
                                  RICCI_BINARY(REM, fmod),
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
const CodeSymbol kEachLane[2][2] = {
    {{"ricci_each_lane1f", Address(&EachLane1<float>)}, {"ricci_each_lane2f", Address(&EachLane2<float>)}},
    {{"ricci_each_lane1", Address(&EachLane1<double>)}, {"ricci_each_lane2", Address(&EachLane2<double>)}}};

}  // namespace

// Each lane through the C library. Lanes go through memory and one call, which keeps the code short.
LLVMValueRef CallMathLibrary(const LlvmBuilder& l, uint32_t op, std::span<const LLVMValueRef> in) {
  const Library* lib = Find(op);
  if (lib == nullptr) return nullptr;
  const bool f64 = LlvmBuilder::ElementType(in[0]) == l.f64();
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

std::span<const CodeSymbol> MathSymbols() {
  static const std::vector<CodeSymbol> symbols = [] {
    std::vector<CodeSymbol> out;
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
