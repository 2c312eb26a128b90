// The switch and the counter of this test binary's `operator new`.
#ifndef RICCI_TESTS_API_FAILING_NEW_H_
#define RICCI_TESTS_API_FAILING_NEW_H_
#include <atomic>
#include <cstdint>

#include "support/counting_host.h"

namespace ricci::testing {

extern FailureSwitch g_new_failure;
extern std::atomic<int64_t> g_new_blocks;

}  // namespace ricci::testing
#endif
