// Hyperbolic functions and their inverses, and the logistic function.
//
// With E = e^(2|x|) - 1, tanh is E / (E + 2): an error of E matters less the larger E is. sinh near 0 is (E + E / (E +
// 1)) / 2 with E = e^|x| - 1 (in f32 an odd polynomial), elsewhere, like cosh, e^|x| / 2 and its inverse. The inverses
// are log1p of what keeps digits near 0, and log x + log 2 where a square would overflow or add nothing.
//
// Over all f32 the errors are at most 1.5 ulp for cosh, 1.7 for sinh, 1.8 for asinh, 2.1 for acosh and atanh. The
// polynomial of sinh is our own least-squares fit, reweighted towards equal ripple, its coefficients rounded
// individually, lowest powers first, with the others fitted again each time; its error is at most 0.4 * 2^-24 of the
// result.
#include <cmath>

#include "codegen/math/math_functions.h"

namespace ricci::codegen {
namespace {

// e^x / 2 for x >= 0, and e^x - 1 if that is moderate.
struct HalfExp {
  Real half, less_one;
};
HalfExp SplitHalf(Real x) {
  const ExpParts e = SplitExp(AtMost(x, x(90, 712)));
  const Real s = PowerOfTwo(e.n, x);
  return {ScaleBy(e.p + 1, e.n - 1, e.value - 1), Fma(s, e.p, s - 1)};
}

}  // namespace

// With e = exp(-|x|): 1 / (1 + e) for x >= 0, e / (1 + e) below.
Real Logistic(Real x) {
  const Real e = Exp(-Abs(x));
  return Select(x < 0, e, x(1)) / (e + 1);
}

Real Tanh(Real x) {
  const Real a = Abs(x);
  const ExpParts e = SplitExp(AtMost(a + a, x(20, 40)));
  const Real s = PowerOfTwo(e.n, x), less_one = Fma(s, e.p, s - 1);
  // The quotient is corrected for its own rounding and that of the divisor, whose inverse is (1 - tanh) / 2.
  const Real divisor = less_one + 2, quotient = less_one / divisor;
  const Real lost = Select(less_one > 0x1p20, 0, less_one - (divisor - 2));
  const Real rest = Fma(-quotient, lost, Fma(-quotient, divisor, less_one));
  return CopySign(Fma(rest, Fma(quotient, -0.5, 0.5), quotient), x);
}

Real Sinh(Real x) {
  const Real a = Abs(x), square = a * a;
  const HalfExp e = SplitHalf(a);
  const Real near = x.is_f64() ? (e.less_one + e.less_one / (e.less_one + 1)) * 0.5
                               : Fma(Horner(square, {0x1.ab3fdp-13, 0x1.10f768p-7, 0x1.555598p-3}) * square, a, a);
  return CopySign(Select(a < 1, near, e.half - 0.25 / e.half), x);
}

Real Cosh(Real x) {
  const Real half = SplitHalf(Abs(x)).half;
  return half + 0.25 / half;
}

Real Asinh(Real x) {
  const Real a = Abs(x);
  const Mask large = a > 0x1p28;
  const Real t = Select(large, a - 1, a + a * a / (Sqrt(Fma(a, a, 1)) + 1));
  return CopySign(Log1p(t) + Select(large, M_LN2, x(0)), x);
}

Real Acosh(Real x) {
  const Real t = x - 1;
  const Mask large = x > 0x1p28;
  const Real y = Log1p(Select(large, t, t + Sqrt(Fma(t, t, t + t)))) + Select(large, M_LN2, x(0));
  return Select(x < 1, NAN, y);
}

Real Atanh(Real x) {
  const Real a = Abs(x);
  return CopySign(Log1p((a + a) / (1 - a)) * 0.5, x);
}

}  // namespace ricci::codegen
