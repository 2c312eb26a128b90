// What the stand-in counts of the accesses of warps (access_figures.h).
#ifndef RICCI_TESTS_CUDA_STANDIN_FIGURES_H_
#define RICCI_TESTS_CUDA_STANDIN_FIGURES_H_
#include <cstdint>

// Requests to memory of the device, sectors of 32 bytes that they touch and the least that their bytes need; requests
// to shared memory, and how many more turns than one they took.
struct ricci_standin_figures {
  uint64_t requests, sectors, least_sectors, shared_requests, conflicts;
};
#endif
