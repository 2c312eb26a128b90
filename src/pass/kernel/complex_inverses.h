// Inverse trigonometric and hyperbolic functions of complex numbers, on their principal branches, as XLA has them: on a
// branch cut that is a line of real numbers, the value is that of the numbers above it, also for an imaginary part of
// -0.
#ifndef RICCI_PASS_COMPLEX_INVERSES_H_
#define RICCI_PASS_COMPLEX_INVERSES_H_
#include "pass/kernel/complex_arithmetic.h"

namespace ricci { inline namespace v0 { namespace pass {

Pair Asin(const Parts& p, Pair z);
Pair Acos(const Parts& p, Pair z);
Pair Atan(const Parts& p, Pair z);
Pair Asinh(const Parts& p, Pair z);
Pair Acosh(const Parts& p, Pair z);
Pair Atanh(const Parts& p, Pair z);
// -i log((x + i y) / sqrt(x^2 + y^2))
Pair Atan2(const Parts& p, Pair y, Pair x);

}}}  // namespace ricci::v0::pass
#endif
