// What is known while one kernel is emitted: values as code has them, private arrays, the open scan, and what the
// regions of a large kernel read of each other.
//
// Only data, separate from the emitter (kernel_emitter.h), whose functions change it.
#ifndef RICCI_CPU_KERNEL_STATE_H_
#define RICCI_CPU_KERNEL_STATE_H_
#include <deque>
#include <map>
#include <vector>

#include "cpu/llvm/llvm_builder.h"

namespace ricci::cpu {

using V = LLVMValueRef;

// A kernel value: the same for all lanes (`one`), or linear in the lane (`one` + stride * lane), or one per lane
// (`each`).
struct Value {
  V one = nullptr, each = nullptr;
  int64_t stride = 0;

  bool uniform() const { return one != nullptr && stride == 0; }
  bool linear() const { return one != nullptr; }
};

inline V Content(const Value& v) { return v.linear() ? v.one : v.each; }

inline constexpr uint64_t kSlotAlign = 64;  // of values in scratch

struct Postponed {  // a store and what its operands were
  uint32_t store;
  Value index, value;
};

// A private array: on the stack, or in scratch.
struct Local {
  bool declared = false, per_lane = false;
  V stack = nullptr;
  uint64_t scratch = 0;  // offset
};

// How a loop polls whether the run is to end (polls.h).
struct LoopPoll {
  uint32_t every = 0;  // trips; 0: it does not
  uint32_t loop = 0;   // the instruction that opens it; 0: a loop over points
};

// In memory, for a loop that polls: how many trips are left until it does, and how many have ended by its last poll.
struct CountedTrips {
  LLVMValueRef left = nullptr, ended = nullptr;
};

// The prefix scan whose code is being emitted.
struct RunningScan {
  uint32_t id = 0;
  std::vector<V> states;      // the memory that holds the result so far from trip to trip
  std::vector<V> identities;  // in all lanes
  bool in_lanes = false;      // its trips are spread over the lanes
};

enum class Part : uint8_t { kWhole, kPartial };

// What the regions of a kernel read of each other.
struct Regions {
  struct SpillSlot {  // in scratch
    uint64_t at = 0, bytes = 0;
  };
  struct Import {  // what a region reads, and that value in the kernel's own function
    uint32_t id;
    Value value;
    uint32_t home;
  };
  // A function that equal parts call. Arguments and results have slots of their own in scratch, to and from which
  // each call copies.
  struct Code {
    struct Argument {  // a value, or the address of a private array
      uint32_t id;     // in the part that the code was made for
      Value like;
      bool is_address, per_lane;
      uint64_t at;  // in scratch
    };
    struct Result {
      uint32_t number;  // of the instruction within the part
      Value like;
      uint64_t at;
    };
    uint32_t first = 0;  // of the part that the code was made for
    V function = nullptr;
    bool has_mask = false, is_masked = false, spreading = false;  // the state of the emitter there
    std::vector<uint8_t> varying;
    std::vector<Argument> arguments;
    std::vector<Result> results;
    std::map<uint32_t, V> addresses;  // of private arrays, while the code is made
  };
  static constexpr uint32_t kFrame = UINT32_MAX;

  std::vector<uint32_t> last;       // the end of the region that begins at an instruction; empty: without regions
  std::vector<uint32_t> home;       // the function that made a value: 0 the kernel's own; kFrame: it is in the frame
  std::vector<uint32_t> last_read;  // of a value
  std::vector<uint8_t> shared;      // private arrays of several functions
  std::vector<uint32_t> part_end;   // of the part that begins at an instruction and is a call
  std::vector<uint32_t> same;       // the first of the parts that are equal to that one
  std::vector<uint8_t> results;     // by instruction of such a first part: others read it, there or in an equal part
  std::vector<SpillSlot> slot;      // of a value
  std::multimap<uint32_t, SpillSlot> taken;        // by the last read
  std::map<uint64_t, std::vector<uint64_t>> free;  // by bytes
  std::vector<Import> imports;                     // of the region that is being made
  std::map<uint32_t, std::deque<Code>> codes;      // by the first of equal parts
  Code* code = nullptr;                            // that is being made, if parts share it
  std::vector<uint32_t> stored;                    // what it has computed for others
  uint32_t first = 0;                              // its first instruction
  LLVMBasicBlockRef block = nullptr;               // where the code of its current item begins: after `before`,
  V before = nullptr;                              // or at the beginning of the block
  uint32_t number = 0, count = 0;                  // the function that is being made; all
};

}  // namespace ricci::cpu
#endif
