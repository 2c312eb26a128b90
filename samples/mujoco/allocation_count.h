// allocation_count: counts what the process takes from the heap through C++, Ricci's host allocator and MuJoCo's.
#ifndef SAMPLES_MUJOCO_ALLOCATION_COUNT_H_
#define SAMPLES_MUJOCO_ALLOCATION_COUNT_H_
#include <cstdint>

#include "ricci/ricci.h"

namespace engine {

// How many blocks have been taken so far, on all threads.
int64_t AllocationCount();
// Options of a context that counts; the allocator of MuJoCo counts from then on too. Call it before both are used.
const ricci_context_opts& CountingOptions();

}  // namespace engine
#endif
