// RaceLog: who has read and written each byte of memory in a launch, so that two threads that are not in order show.
//
// Threads of a block are in order where a barrier is between them; lanes of a warp also where they met at a __syncwarp,
// and threads where one has waited for an mbarrier at which the other has arrived, directly or through others; threads
// of different blocks never. What tensor cores read and what the GPU copies by itself counts as done by agents, who
// begin when a thread asks for it and of whose end threads get to know. What a byte remembers is exact and small: the
// last write, and of the reads (and of the atomic operations) since then as much as the next write can race with: one,
// or those of each of a family (lanes of a warp; agents of tensor cores that read the same), or that several warps or
// several blocks have read.
//
// Two threads race if they access the same byte, one of them to write it, without order. Shuffles order nothing. Atomic
// operations race only with others than atomic ones. Fences give no order here, so what blocks tell each other within a
// launch is a race. A GPU may allow that, but no kernel of ours does it.
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
// Numbers below the first are threads of the block; from there on agents, each with epochs of its own: as whom tensor
// cores read for a thread, by the groups of products that it has committed; and as whom bytes come that count at an
// mbarrier, by its phases; and two for each thread that stores boxes, as whom these are read and written, by the
// groups that it has committed.
constexpr uint32_t kReaders = 1024, kCopiers = 2048, kStorers = kCopiers + 256;

// By number, the epoch up to which somebody is in order; 0, or beyond the end: not at all.
using Epochs = std::vector<uint32_t>;

// A thread of the block that runs, or an agent.
struct Thread {
  uint32_t number = 0;   // in its block
  uint32_t segment = 0;  // what it has done since it last met others; 0: nothing yet
  uint32_t epoch = 1;    // counts the times that it has met others
  Epochs met;
  std::vector<uint32_t> hidden;   // segments since it has last shown what it did to tensor cores
  const Thread* asked = nullptr;  // of an agent: by whom, before whose doing it does not begin
};

// Of each byte: numbers of segments, or sets of them.
struct Cell {
  uint32_t write = 0, reads = 0;

  bool operator==(const Cell&) const = default;
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
  // As SyncWarp, but only what they know of agents: work that they have waited for together.
  static void SyncAgents(const std::vector<Thread*>& lanes);
  // The work of the thread until now comes before every thread that acquires these epochs.
  void Release(Thread& t, Epochs& to);
  static void Acquire(Thread& t, const Epochs& from);
  static void Acquire(Thread& t, uint32_t number, uint32_t epoch);
  // What the thread has done until now is before what tensor cores and copies of the GPU do (fence.proxy.async).
  void Show(Thread& t);
  // Whether all these bytes, which the block has written, were shown by who has written them last; and, if they are to
  // be written over, by who has read them since.
  bool IsShown(Shadow& shadow, uint64_t offset, uint64_t bytes, bool also_reads, Race& out) const;
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
  struct OfFamily {
    uint64_t block;
    uint32_t interval, family, epochs[kLanes];
  };

  uint32_t SegmentOf(Thread& t);
  const Segment& At(uint32_t segment) const { return segments_[segment - first_segment_]; }
  bool InOrder(const Segment& earlier, const Thread& t) const;
  bool IsFresh(uint32_t set, bool of_block) const;
  bool IsSeen(uint32_t set, uint64_t byte, Access access, Race& out) const;
  void AddToFamily(uint32_t& set, const Thread& t, uint32_t mine);
  void Add(uint32_t& set, Thread& t, bool of_block);
  // Whether all of a set are in order before `t`; if not, who is not.
  bool AllInOrder(uint32_t set, const Thread& t, bool of_block, Race& out) const;
  bool Fail(const Segment& s, Race& out) const;

  uint64_t launch_ = 0, block_ = 0;
  uint32_t interval_ = 0;
  uint32_t first_segment_ = 1, first_of_block_ = 1;  // older numbers belong to the past
  uint32_t first_family_ = 0, first_family_of_block_ = 0;
  std::vector<Segment> segments_;
  std::vector<OfFamily> families_;
};

}  // namespace ricci::cuda::standin
#endif
