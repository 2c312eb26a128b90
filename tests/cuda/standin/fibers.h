// Threads of a block that wait for each other: each is a fiber of the thread that runs the kernel.
#ifndef RICCI_TESTS_CUDA_FIBERS_H_
#define RICCI_TESTS_CUDA_FIBERS_H_
#include <string>

#include "standin.h"

namespace ricci::cuda::standin {

// Runs one block whose threads meet at barriers and at operations of warps, in an order that `seed` decides. Returns
// what its threads did that a GPU forbids, which ended the block: a barrier that some never reach, lanes that meet at
// different operations or that a mask names but that do not come. Empty if there is nothing.
std::string RunBlock(Kernel kernel, void** arguments, const Place& launch, uint64_t seed);

}  // namespace ricci::cuda::standin
#endif
