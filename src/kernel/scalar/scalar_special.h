// Special functions in double that the C library lacks, and thread-safe forms of those it has.
//
// Accurate to a few units in the last place of a double, so that rounding to f32 is nearly always correct.
#ifndef RICCI_KERNEL_SCALAR_SPECIAL_H_
#define RICCI_KERNEL_SCALAR_SPECIAL_H_

namespace ricci { inline namespace v0 { namespace kernel {

double ErfInv(double x);   // NaN outside [-1, 1], infinite at its ends
double Digamma(double x);  // NaN at 0 and the negative integers
double Cbrt(double x);
double LogGamma(double x);  // log |gamma(x)|
double Logistic(double x);  // 1 / (1 + exp(-x))
double SignOf(double x);    // NaN and zeros stay as they are

}}}  // namespace ricci::v0::kernel
#endif
