#include "cuda/schedule/launch_shape.h"

#include <algorithm>

#include "cuda/schedule/team.h"

namespace ricci::cuda {
namespace {

constexpr int64_t kThreads = kBlock;         // of a block
constexpr int64_t kBlocksPerProcessor = 32;  // more points than that take several turns of a thread
constexpr int64_t kMostBlocks = INT32_MAX;   // of a launch
// Of the private arrays of all threads, where they are in memory, for each processor: what the driver would keep for
// arrays that just fit into a thread.
constexpr int64_t kArrayBytes = kResidentThreads * kMostLocalBytes;
constexpr int64_t kUsualProcessors = 32;  // where they are not known

}  // namespace

// Threads that need much memory are few.
LaunchShape ShapeOf(int64_t threads, uint64_t thread_bytes, int64_t processors) {
  int64_t block = kThreads, most = processors == 0 ? kMostBlocks : kBlocksPerProcessor * processors;
  if (thread_bytes != 0) {
    const int64_t bytes = kArrayBytes * (processors == 0 ? kUsualProcessors : processors);
    const int64_t room = std::max<int64_t>(bytes / static_cast<int64_t>(thread_bytes), 1);
    block = std::clamp<int64_t>(std::min(room, threads), 1, kThreads);
    most = std::min(most, room / block);
  }
  const int64_t turns = (threads + block - 1) / block;
  return {static_cast<unsigned>(std::clamp<int64_t>(turns, 0, most)), static_cast<unsigned>(block)};
}

}  // namespace ricci::cuda
