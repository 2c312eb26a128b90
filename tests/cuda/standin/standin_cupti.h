// A stand-in for libcupti: it records what the stand-in driver runs, and delivers the records in buffers that it asks
// for, by the callbacks and layouts of CUPTI 13.0. Its clock is another one than the host's; each kernel takes
// kKernelNs of it, each copy kCopyNs and each memset kSetNs, in sequence.
#ifndef RICCI_TESTS_CUDA_STANDIN_CUPTI_H_
#define RICCI_TESTS_CUDA_STANDIN_CUPTI_H_
#include "standin.h"

namespace ricci::cuda::standin {

inline constexpr uint64_t kKernelNs = 7000, kCopyNs = 3000, kSetNs = 2000;

// The work that `call` of this thread pushes to a stream, which is recorded when it runs if that is asked for now.
Work Recorded(const char* call, const std::string& name, Work work);

}  // namespace ricci::cuda::standin

// All is as at first: nothing fails, and no kind is enabled.
extern "C" void ricci_standin_cupti_reset();
// From now on: `version`: what cuptiGetVersion says, first 130001. `bytes`: so many of a buffer are used, first all.
// `dropped`: so many of the next kernels, copies and memsets are not recorded, but counted; `untimed`: so many have the
// times 0. `order`: buffers with kernels, copies and memsets come after (0) or before (1) those with calls.
extern "C" void ricci_standin_cupti_set(const char* what, uint64_t value);
// This function gives that CUptiResult from now on; what gives something back does so even then. Empty: none does.
extern "C" void ricci_standin_cupti_fails(const char* function, int result);
// How many kinds are enabled, and ids of this thread not popped.
extern "C" int ricci_standin_cupti_open();
// How many buffers were given back since the reset.
extern "C" uint64_t ricci_standin_cupti_buffers();
#endif
