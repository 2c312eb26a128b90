// Inputs for tests of generated code: sines on a grid of 1 / 64, exact in every float.
#ifndef RICCI_TESTS_CPU_SINE_VALUES_H_
#define RICCI_TESTS_CPU_SINE_VALUES_H_
#include <cmath>

#include "support/program_runner.h"

namespace ricci::testing {

inline Numbers Values(size_t n) {
  Numbers x(n);
  for (size_t i = 0; i < n; ++i) x[i] = std::round(64 * std::sin(static_cast<double>(i))) / 64;
  return x;
}

}  // namespace ricci::testing
#endif
