// The special functions as formulas, each of f32 and of f64, on one value or on all lanes.
#ifndef RICCI_CODEGEN_MATH_FUNCTIONS_H_
#define RICCI_CODEGEN_MATH_FUNCTIONS_H_
#include "codegen/math/math_value.h"

namespace ricci::codegen {

// What a target must compute exactly besides RICCI_S_* operations.
enum : uint32_t {
  kReduceSine = 1000,  // the argument within pi / 2 that has the sine of x
  kReduceCosine,       // the argument within pi / 2 whose sine is the cosine of x
};
// Without a formula: a RICCI_S_* operation or one of the above.
inline Real Exact(uint32_t op, Real x) { return {x.e, x.e->Exact(op, {&x.v, 1})}; }
inline Real Exact(uint32_t op, Real x, Real y) {
  const MathEmitter::Value in[] = {x.v, y.v};
  return {x.e, x.e->Exact(op, in)};
}

// `otherwise`, or what `then` gives for all lanes if the mask holds for any.
template <typename Then>
Real IfAny(Mask any, Real otherwise, Then then) {
  return {any.e, any.e->IfAny(any.v, otherwise.v, [&] { return then().v; })};
}
// `near`, or the result of `exact` where `rare` holds; that is separate code, run only if a lane needs it.
template <typename Then>
Real WhereRare(Mask rare, Real near, Then exact) {
  return IfAny(rare, near, [&] { return Select(rare, exact(), near); });
}

// The formula of a special function: operation RICCI_S_* of one or two reals of one width; 0 if it is none
// (math_formulas.cc).
MathEmitter::Value EmitFormula(const MathEmitter& e, uint32_t op, std::span<const MathEmitter::Value> in);

// ---- math_exponential.cc ----

// e^x = 2^n (1 + p) with |p| below 1 / 2, for x whose e^x is neither 0 nor infinite when rounded.
struct ExpParts {
  Real p;
  Bits n;
  Real value;  // of n
};
ExpParts SplitExp(Real x);
ExpParts SplitExp(Real x, Real low);  // of x + low, where x alone lacks digits
// x * 2^n, rounded once; `value` is n.
Real ScaleBy(Real x, Bits n, Real value);
Real Exp(Real x);
Real Exp2(Real x);
Real Expm1(Real x);
Real Log(Real x);
Real Log1p(Real x);
Real Log2(Real x);
Real Pow(Real x, Real y);  // of f64
// x^y in f64 for operands that were f32: without the digits that only f64 results need.
Real PowOfNarrow(Real x, Real y);

// ---- math_hyperbolic.cc ----

Real Logistic(Real x);
Real Tanh(Real x);
Real Sinh(Real x);
Real Cosh(Real x);
Real Asinh(Real x);
Real Acosh(Real x);
Real Atanh(Real x);

// ---- math_trigonometric.cc ----

// RICCI_S_SIN or RICCI_S_COS.
Real Sine(Real x, uint32_t op);
// sin (pi r), |r| <= 1/2.
Real SineOfHalfTurns(Real r);
Real Tan(Real x);  // of f64, as all below
Real Atan2(Real y, Real x);
Real Atan(Real x);
Real Asin(Real x);
Real Acos(Real x);

// ---- math_remainder.cc ----

Real Rem(Real x, Real y);

// ---- math_gamma.cc ----

Real Cbrt(Real x);
Real LgammaOfNarrow(Real x);  // of f32 values in f64
Real DigammaOfNarrow(Real x);

// ---- math_error.cc ----

Real Erf(Real x);
Real Erfc(Real x);
Real ErfInv(Real x);

}  // namespace ricci::codegen
#endif
