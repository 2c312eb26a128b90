// Threads of a block that wait for each other: each is a fiber of the thread that runs the kernel.
#ifndef RICCI_TESTS_CUDA_FIBERS_H_
#define RICCI_TESTS_CUDA_FIBERS_H_
#include "standin.h"

namespace ricci::cuda::standin {

// Runs one block whose threads meet at shuffles and barriers; in an order that `seed` decides. What threads do that a
// GPU forbids (a barrier or a shuffle that some have left) is a complaint, and ends the block.
void RunBlock(Kernel kernel, void** arguments, const Place& launch, uint64_t seed);

}  // namespace ricci::cuda::standin
#endif
