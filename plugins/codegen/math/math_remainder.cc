// rem: the exact remainder of a division rounded towards zero, as fmod of the C library gives it.
//
// With n the quotient without its fraction, x - n y is exact in one fused operation: it is below y and a multiple of
// the last place of x or y. Rounding may have made the quotient a whole number too large by one; then y is added again.
// A quotient of 2^23 or more (2^52) has no fraction left that would give n, so there it is divided bit by bit.
#include <cmath>

#include "codegen/math/math_functions.h"
#include "ricci/kernel.h"

namespace ricci::codegen {

Real Rem(Real x, Real y) {
  const Real a = Abs(x), b = Abs(y), quotient = a / b, rest = Fma(-Trunc(quotient), b, a);
  const Real near = Select(a < b, a, Select(rest < 0, rest + b, rest));
  const Mask none = IsNan(quotient) | (a == INFINITY) | (b == 0);
  const Mask beyond = (!none) & NotWithin(quotient, x.is_f64() ? 0x1p52 : 0x1p23);
  const Real r = WhereRare(beyond, near, [&] { return Exact(RICCI_S_REM, a, b); });
  return Select(none, NAN, CopySign(r, x));
}

}  // namespace ricci::codegen
