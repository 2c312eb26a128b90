// The special functions, each of f32 and of f64, on one value or on all lanes.
#ifndef RICCI_CPU_MATH_FUNCTIONS_H_
#define RICCI_CPU_MATH_FUNCTIONS_H_
#include "math_value.h"

namespace ricci::cpu {

// What the table of C functions holds beside RICCI_S_* operations.
enum : uint32_t {
  kReduceSine = 1000,  // the argument within pi / 2 that has the sine of x
  kReduceCosine,       // the argument within pi / 2 whose sine is the cosine of x
};
// Each lane through the C function for a RICCI_S_* operation or one of the above.
Real CallLibrary(uint32_t op, Real x);

// RICCI_S_SIN or RICCI_S_COS (math_trigonometric.cc).
Real Sine(Real x, uint32_t op);

}  // namespace ricci::cpu
#endif
