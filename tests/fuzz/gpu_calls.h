// GpuCalls: on a GPU, library calls in place of some kernels, so that drawn programs have them: in loops, branches and
// batches, beside kernels and functions of the host.
//
// `copy`, `reshape`, `expand_dims` and `squeeze` become copies by the driver, where they are not part of a kernel
// anyway. In a quarter of the programs they promise to do nothing but enqueue, so they are nodes of graphs. In another
// quarter they divide plans.
#ifndef RICCI_TESTS_FUZZ_GPU_CALLS_H_
#define RICCI_TESTS_FUZZ_GPU_CALLS_H_
#include <string>

#include "ricci/ricci.h"

namespace ricci::testing {

enum class GpuCalls { kNone, kDividePlans, kAreNodes };
GpuCalls SomeGpuCalls(uint64_t seed);
// `driver`: the path of libcuda, or of what stands in for it.
void AddGpuCalls(ricci_ctx* ctx, const std::string& driver, GpuCalls calls);

}  // namespace ricci::testing
#endif
