// What generated code calls in a host of Ricci, as LLVM assembly, for code that has no host.
//
// The code generator of plugins/cpu declares these functions by name, and finds those that the module has already
// (plan_calls.cc, math_library.cc there). Here tasks run in sequence, and what the formulas leave to the C library is
// called by its standard names.
//
// digamma of f64, and sines of arguments too large for a formula, go through 80-bit floats on x86. On AArch64 they are
// computed in f64, which costs digits near the zeros of digamma.
#ifndef RICCI_OBJECT_RUNTIME_TEXT_H_
#define RICCI_OBJECT_RUNTIME_TEXT_H_
#include <string>

namespace ricci::object {

// A module of internal functions. `extended`: `long double` is the 80-bit format of x86, else it is as double.
std::string RuntimeText(bool extended);

}  // namespace ricci::object
#endif
