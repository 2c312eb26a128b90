// Functions of complex numbers, on their principal branches (ISO C, Annex G), as XLA has them.
#ifndef RICCI_PASS_COMPLEX_FUNCTIONS_H_
#define RICCI_PASS_COMPLEX_FUNCTIONS_H_
#include "pass/kernel/complex_arithmetic.h"

namespace ricci { inline namespace v0 { namespace pass {

Pair Exp(const Parts& p, Pair z);
Pair Exp2(const Parts& p, Pair z);
Pair Expm1(const Parts& p, Pair z);
Pair Log(const Parts& p, Pair z);
Pair Log1p(const Parts& p, Pair z);
Pair Logistic(const Parts& p, Pair z);
Pair Sqrt(const Parts& p, Pair z);
Pair Rsqrt(const Parts& p, Pair z);
Pair Pow(const Parts& p, Pair x, Pair y);
Pair Sin(const Parts& p, Pair z);
Pair Cos(const Parts& p, Pair z);
Pair Tan(const Parts& p, Pair z);
Pair Sinh(const Parts& p, Pair z);
Pair Cosh(const Parts& p, Pair z);
Pair Tanh(const Parts& p, Pair z);

}}}  // namespace ricci::v0::pass
#endif
