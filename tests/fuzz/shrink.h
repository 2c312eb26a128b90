// Shrinking: the smallest program found that still fails, by dropping results and equations, making dimensions smaller
// and constants simple.
#ifndef RICCI_TESTS_FUZZ_SHRINK_H_
#define RICCI_TESTS_FUZZ_SHRINK_H_
#include <functional>

#include "fuzz/subject.h"

namespace ricci::testing {

// `fails` says whether a candidate still fails in the same way. At most `tries` candidates are looked at.
Program Shrink(ricci_ctx* ctx, Program p, const std::function<bool(const Program&)>& fails, int tries);

}  // namespace ricci::testing
#endif
