// Shrinking: finds a smaller program that still fails, by dropping results, equations (runs of them first) and
// attributes, replacing equations by the bodies they hold, making dimensions smaller and constants simple; in nested
// programs too.
#ifndef RICCI_TESTS_FUZZ_SHRINK_H_
#define RICCI_TESTS_FUZZ_SHRINK_H_
#include <functional>

#include "fuzz/subject.h"

namespace ricci::testing {

// `fails` says whether a candidate still fails in the same way. At most `tries` candidates are tried, none after
// `seconds`.
Program Shrink(Program p, const std::function<bool(const Program&)>& fails, int tries, double seconds);

}  // namespace ricci::testing
#endif
