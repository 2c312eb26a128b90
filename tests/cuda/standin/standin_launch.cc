// Launches of kernels: threads one after the other, in an order that the seed decides; as fibers where they meet.
#include <cstring>
#include <vector>

#include "fibers.h"

namespace ricci::cuda::standin {
namespace {

// The place of number `i` of these sizes, counted along x first.
void PlaceAt(uint64_t i, const unsigned (&sizes)[3], unsigned (&out)[3]) {
  for (int d = 0; d < 3; ++d) {
    out[d] = static_cast<unsigned>(i % sizes[d]);
    i /= sizes[d];
  }
}

void RunGrid(Kernel kernel, bool meets, std::vector<CuPointer>& values, Place place, uint64_t blocks,
             uint64_t threads) {
  std::vector<void*> arguments;
  for (CuPointer& v : values) arguments.push_back(&v);
  const uint64_t seed = Machine::Get().seed;
  const auto turn = [seed](uint64_t i, uint64_t n) { return seed % 2 == 0 ? n - 1 - i : i; };
  for (uint64_t b = 0; b < blocks; ++b) {
    PlaceAt(turn(b, blocks), place.blocks, place.block);
    if (meets) {
      const std::string fault = RunBlock(kernel, arguments.data(), place, seed);
      if (fault.empty()) continue;
      Machine& m = Machine::Get();
      const std::lock_guard lock(m.mutex);
      return m.Complain(fault);
    }
    for (uint64_t t = 0; t < threads; ++t) {
      PlaceAt(turn(t, threads), place.threads, place.thread);
      kernel(arguments.data(), &place);
    }
  }
}

}  // namespace

CuResult MakeLaunch(CuFunction f, const unsigned (&grid)[3], const unsigned (&block)[3], void** arguments,
                    std::function<void()>& out) {
  Place place{};
  uint64_t blocks = 1, threads = 1;
  for (int d = 0; d < 3; ++d) {
    blocks *= place.blocks[d] = grid[d];
    threads *= place.threads[d] = block[d];
  }
  if (blocks == 0 || threads == 0 || threads > 1024) return kInvalidValue;
  Kernel kernel;
  std::memcpy(&kernel, &f, sizeof kernel);
  std::vector<CuPointer> values;
  const uint64_t about = kernel(nullptr, nullptr);
  for (uint64_t i = 0; i < (about & (kMeets - 1)); ++i) values.push_back(*static_cast<CuPointer*>(arguments[i]));
  out = [=]() mutable { RunGrid(kernel, (about & kMeets) != 0, values, place, blocks, threads); };
  return kCuSuccess;
}

CuResult cuLaunchKernel(CuFunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned, CuStream stream, void** arguments, void**) {
  std::function<void()> launch;
  const CuResult result = MakeLaunch(f, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, arguments, launch);
  return result != kCuSuccess ? result : Push("cuLaunchKernel", stream, std::move(launch));
}

}  // namespace ricci::cuda::standin
