// RaceLog: who has read and written each byte of memory in a launch, so that two threads that are not in order show.
//
// Threads of a block are in order where a barrier lies between them; lanes of a warp also where they met at a
// __syncwarp, directly or through others; threads of different blocks never. What a byte remembers is exact and small:
// the last write, and of the reads (and of the atomic operations) since then as much as the next write can race with:
// one, or those of each lane of a warp, or that several warps or several blocks have read.
#ifndef RICCI_TESTS_CUDA_RACE_LOG_H_
#define RICCI_TESTS_CUDA_RACE_LOG_H_
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ricci::cuda::standin {

enum class Access : uint8_t { kRead, kWrite, kAtomic };
constexpr uint32_t kLanes = 32;

// A thread of the block that runs.
struct Thread {
  uint32_t number = 0;        // in its block
  uint32_t segment = 0;       // what it has done since it last met others; 0: nothing yet
  uint32_t epoch = 1;         // counts the times that it has met others of its warp
  std::vector<uint32_t> met;  // of each lane of its warp the epoch up to which it is in order; empty: it has met none
  std::vector<uint32_t> hidden;  // segments since it has last shown what it wrote to tensor cores
};

// Of each byte: numbers of segments, or sets of them.
struct Cell {
  uint32_t write = 0, reads = 0;
};
struct Page {
  static constexpr uint64_t kBytes = 1024;
  Cell cells[kBytes];
  std::unique_ptr<std::array<uint32_t, kBytes>> atomics;  // sets
  uint64_t launch = 0;                                    // that has used it last
};
// What is remembered of a piece of memory; pages appear as they are used.
struct Shadow {
  std::vector<std::unique_ptr<Page>> pages;  // by number; null: not used

  Page& At(uint64_t offset) {
    const uint64_t number = offset / Page::kBytes;
    return number < pages.size() && pages[number] != nullptr ? *pages[number] : NewPage(number);
  }

 private:
  Page& NewPage(uint64_t number);
};

class RaceLog {
 public:
  struct Race {
    uint64_t byte = 0;
    uint64_t block = 0;
    uint32_t thread = 0;
    Access earlier = Access::kRead;
  };
  static constexpr uint32_t kMostSegments = 1u << 29;

  void BeginLaunch();
  void BeginBlock(uint64_t block);
  // All threads of the block have met.
  void Barrier(std::vector<Thread*>& threads);
  // These lanes of a warp have met.
  void SyncWarp(const std::vector<Thread*>& lanes);
  // What the thread has written until now may be read by tensor cores (fence.proxy.async).
  void Show(Thread& t);
  // Whether all these bytes, which the block has written, were shown by who has written them last.
  bool IsShown(Shadow& shadow, uint64_t offset, uint64_t bytes, Race& out) const;
  // An access of memory of the device, or of the block alone. True, with the first one, if it races.
  bool Note(Thread& t, Shadow& shadow, uint64_t offset, uint64_t bytes, Access access, bool of_block, Race& out);
  // Whether this block has written all these bytes of its memory. If not, `missing` is the first that it has not.
  bool IsWritten(Shadow& shadow, uint64_t offset, uint64_t bytes, uint64_t& missing) const;
  // The bytes of memory that this launch has written, or read, as ranges.
  std::vector<std::pair<uint64_t, uint64_t>> Touched(const Shadow& shadow, bool written) const;
  bool IsFull() const { return segments_.size() + first_segment_ > kMostSegments; }
  void Forget();  // shadows must be new then

 private:
  struct Segment {
    uint64_t block = 0;
    uint32_t interval = 0, thread = 0, epoch = 0;
    bool is_shown = false;
  };
  struct LanesOfWarp {
    uint64_t block;
    uint32_t interval, warp, epochs[kLanes];
  };

  uint32_t SegmentOf(Thread& t);
  const Segment& At(uint32_t segment) const { return segments_[segment - first_segment_]; }
  bool InOrder(const Segment& earlier, const Thread& t) const;
  bool IsFresh(uint32_t set, bool of_block) const;
  void Add(uint32_t& set, Thread& t, bool of_block);
  // Whether all of a set are in order before `t`; if not, who is not.
  bool AllInOrder(uint32_t set, const Thread& t, bool of_block, Race& out) const;
  bool Fail(const Segment& s, Race& out) const;

  uint64_t launch_ = 0, block_ = 0;
  uint32_t interval_ = 0;
  uint32_t first_segment_ = 1, first_of_block_ = 1;  // older numbers belong to the past
  uint32_t first_lanes_ = 0, first_lanes_of_block_ = 0;
  std::vector<Segment> segments_;
  std::vector<LanesOfWarp> lanes_;
};

}  // namespace ricci::cuda::standin
#endif
