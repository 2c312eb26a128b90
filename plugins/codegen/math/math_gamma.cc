// Logarithm and logarithmic derivative of the gamma function for f32 operands, and the cube root.
//
// lgamma and digamma: Stirling's series (Abramowitz and Stegun 6.1.41 and 6.3.18) above 8, below it 8 steps of the
// recurrence gathered into one product, for negative arguments the reflection formula. f64 has enough digits for the
// cancellation near their zeros in f32 results, not in f64 results. cbrt: a line for the first guess of the mantissa's
// root, then steps of Halley's iteration, each of which triples the digits; the last one works on the exact residual.
#include <cmath>

#include "codegen/math/math_functions.h"

namespace ricci::codegen {
namespace {

constexpr int kSteps = 8;

// x shifted to where the series holds, and the product of what was passed with its derivative.
struct Shifted {
  Real x, product, slope;
};
Shifted Shift(Real x) {
  Real product = x, slope = x(1);
  for (int i = 1; i < kSteps; ++i) {
    const Real factor = x + i;
    slope = Fma(slope, factor, product);
    product = product * factor;
  }
  const Mask large = x >= kSteps;
  return {Select(large, x, x + kSteps), Select(large, 1, product), Select(large, 0, slope)};
}

// lgamma and digamma of x >= 1/2.
Real UpperLgamma(Real x) {
  const Shifted s = Shift(x);
  const Real inverse = 1 / s.x, z = inverse * inverse;
  const Real series =
      Horner(z, {1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12});
  const Real log = Log(s.x);
  return Fma(s.x - 0.5, log, -s.x) + (0.91893853320467274178 + series * inverse) - Log(s.product);
}
Real UpperDigamma(Real x) {
  const Shifted s = Shift(x);
  const Real inverse = 1 / s.x, z = inverse * inverse;
  const Real series = Horner(z, {1.0 / 12, -691.0 / 32760, 1.0 / 132, -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12});
  return Log(s.x) - Fma(series, z, 0.5 * inverse) - s.slope / s.product;
}

}  // namespace

Real LgammaOfNarrow(Real x) {
  const Mask reflect = x < 0.5;
  const Real upper = UpperLgamma(Select(reflect, 1 - x, x));
  const Real sine = Abs(SineOfHalfTurns(x - RoundEven(x)));
  const Real y = Select((x == 1) | (x == 2), 0, Select(reflect, Log(M_PI / sine) - upper, upper));
  return Select(Abs(x) == INFINITY, INFINITY, y);
}

Real DigammaOfNarrow(Real x) {
  const Mask reflect = x < 0.5;
  const Real upper = UpperDigamma(Select(reflect, 1 - x, x));
  const Real r = x - RoundEven(x), half = r(0.5);
  // cot (pi r) = sin (pi (1/2 - |r|)) / sin (pi r), up to the sign of r
  const Real cotangent = SineOfHalfTurns(half - Abs(r)) / SineOfHalfTurns(r);
  const Real y = Select(reflect, Fma(cotangent, -M_PI, upper), upper);
  return Select(x == INFINITY, x, Select((x < 0.5) & (r == 0), NAN, y));
}

// x = m 2^(3 q) with m in [1/4, 2).
Real Cbrt(Real x) {
  const Real a = Abs(x);
  const Mask subnormal = a < x(0x1p-126, 0x1p-1022);
  const Real scaled = Select(subnormal, a * x(0x1p24, 0x1p54), a);
  const unsigned digits = x.is_f64() ? 52 : 23;
  const Bits bits = BitsOf(scaled), exponent = (bits >> digits) - (x.is_f64() ? 1022 : 126);
  const Rounded q = Nearest(RealFrom(exponent, x), 1.0 / 3);
  const Real m = RealOf(bits - ((q.bits + q.bits + q.bits) << digits));
  Real y = Fma(m, Fma(m, -0.140625, x(0.75)), x(0.421875));
  for (int i = x.is_f64() ? 3 : 2; i > 0; --i) {
    const Real square = y * y, rest = Fma(square, y, -m);
    y = y - y * rest / Fma(square * 2, y, m);
  }
  const Real result = Scale(y, Select(subnormal, q.bits - (x.is_f64() ? 18 : 8), q.bits));
  const Mask itself = (x == 0) | !(a < INFINITY);
  return Select(itself, x, CopySign(result, x));
}

}  // namespace ricci::codegen
