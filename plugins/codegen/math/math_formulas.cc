// The formula for each operation that is a special function.
//
// Formulas are evaluated the same way on one value and on a vector, so results have the same bits at any width and
// position. Errors against a correctly rounded reference are tested.
//
// exp, log, log1p, expm1, sin, cos, cbrt, erf, erfc, logistic, the hyperbolic functions and their inverses have
// formulas in both widths. The others are formulas in f64: f32 operands are widened, and the result is rounded once.
// Bounds are 2 to 4 units in the last place (tests/cpu/accuracy_test.cc, measured values in tests/cpu/ACCURACY.md).
#include <array>

#include "codegen/by_operation.h"
#include "codegen/math/math_functions.h"

namespace ricci::codegen {
namespace {

using V = MathEmitter::Value;
using FormulaFn = V (*)(const MathEmitter& e, std::span<const V> in);

// Those that have a form in both widths.
template <Real (*kFunction)(Real)>
V InBothWidths(const MathEmitter& e, std::span<const V> in) {
  return kFunction({&e, in[0]}).v;
}
template <Real (*kFunction)(Real, Real)>
V InBothWidths(const MathEmitter& e, std::span<const V> in) {
  return kFunction({&e, in[0]}, {&e, in[1]}).v;
}
template <uint32_t kOp>
V SineOrCosine(const MathEmitter& e, std::span<const V> in) {
  return Sine({&e, in[0]}, kOp).v;
}
// Those that are rare enough in f32 to be computed in f64; with a form for that, or one of f64 alone.
template <Real (*kFunction)(Real), Real (*kOfNarrow)(Real) = kFunction>
V InF64(const MathEmitter& e, std::span<const V> in) {
  const Real x{&e, in[0]};
  return x.is_f64() ? kFunction(x).v : Narrow(kOfNarrow(Widen(x))).v;
}
template <Real (*kFunction)(Real, Real), Real (*kOfNarrow)(Real, Real) = kFunction>
V InF64(const MathEmitter& e, std::span<const V> in) {
  const Real x{&e, in[0]}, y{&e, in[1]};
  return x.is_f64() ? kFunction(x, y).v : Narrow(kOfNarrow(Widen(x), Widen(y))).v;
}
template <uint32_t kOp>
Real Exactly(Real x) {
  return Exact(kOp, x);
}

// By number of the operation; null: not a special function.
constexpr std::array<FormulaFn, RICCI_S_COUNT> kFormulas = ByOperation<FormulaFn>({
    {RICCI_S_REM, InBothWidths<Rem>},
    {RICCI_S_EXP, InBothWidths<Exp>},
    {RICCI_S_EXP2, InBothWidths<Exp2>},
    {RICCI_S_EXPM1, InBothWidths<Expm1>},
    {RICCI_S_LOG, InBothWidths<Log>},
    {RICCI_S_LOG1P, InBothWidths<Log1p>},
    {RICCI_S_LOG2, InBothWidths<Log2>},
    {RICCI_S_SIN, SineOrCosine<RICCI_S_SIN>},
    {RICCI_S_COS, SineOrCosine<RICCI_S_COS>},
    {RICCI_S_TAN, InF64<Tan>},
    {RICCI_S_ASIN, InF64<Asin>},
    {RICCI_S_ACOS, InF64<Acos>},
    {RICCI_S_ATAN, InF64<Atan>},
    {RICCI_S_ATAN2, InF64<Atan2>},
    {RICCI_S_SINH, InBothWidths<Sinh>},
    {RICCI_S_COSH, InBothWidths<Cosh>},
    {RICCI_S_TANH, InBothWidths<Tanh>},
    {RICCI_S_ASINH, InBothWidths<Asinh>},
    {RICCI_S_ACOSH, InBothWidths<Acosh>},
    {RICCI_S_ATANH, InBothWidths<Atanh>},
    {RICCI_S_POW, InF64<Pow, PowOfNarrow>},
    {RICCI_S_CBRT, InBothWidths<Cbrt>},
    {RICCI_S_ERF, InBothWidths<Erf>},
    {RICCI_S_ERFC, InBothWidths<Erfc>},
    {RICCI_S_ERF_INV, InBothWidths<ErfInv>},
    {RICCI_S_LOGISTIC, InBothWidths<Logistic>},
    {RICCI_S_LGAMMA, InF64<Exactly<RICCI_S_LGAMMA>, LgammaOfNarrow>},
    {RICCI_S_DIGAMMA, InF64<Exactly<RICCI_S_DIGAMMA>, DigammaOfNarrow>},
});

}  // namespace

MathEmitter::Value EmitFormula(const MathEmitter& e, uint32_t op, std::span<const MathEmitter::Value> in) {
  return op < kFormulas.size() && kFormulas[op] != nullptr ? kFormulas[op](e, in) : 0;
}

}  // namespace ricci::codegen
