// Threads of a block. If they wait for each other, each is a fiber of the thread that runs the kernel; if not, they all
// run in sequence in one fiber, so that a fault can end them.
#ifndef RICCI_TESTS_CUDA_FIBERS_H_
#define RICCI_TESTS_CUDA_FIBERS_H_
#include <string>

#include "launch_check.h"

namespace ricci::cuda::standin {

// A launch of a kernel, block after block.
struct Launch {
  const Function& function;
  void** arguments = nullptr;
  Place place{};  // with the sizes of grid and blocks
  uint64_t seed = 1;
  LaunchCheck* check = nullptr;  // of checked code
};
// Runs the threads of the block `launch.place.block`, in an order that the seed decides. Returns what they did that a
// GPU forbids, which ended the launch: a barrier that some never reach, lanes that meet at different operations or that
// a mask names but that do not come, what the check does not let pass, too many basic blocks. Empty if there is
// nothing.
std::string RunBlock(const Launch& launch);

}  // namespace ricci::cuda::standin
#endif
