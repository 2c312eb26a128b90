// What is known while one kernel is emitted: values as code has them, private arrays, the open scan, and what the
// regions of a large kernel read of each other.
//
// Only data, separate from the emitter (kernel_emitter.h), whose functions change it.
#ifndef RICCI_CPU_KERNEL_STATE_H_
#define RICCI_CPU_KERNEL_STATE_H_
#include <map>
#include <vector>

#include "llvm_builder.h"

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
  struct Place {  // in scratch
    uint64_t at = 0, bytes = 0;
  };
  struct Import {  // what a region reads, and that value in the kernel's own function
    uint32_t id;
    Value value;
    uint32_t home;
  };
  static constexpr uint32_t kFrame = UINT32_MAX;

  std::vector<uint32_t> last;       // the end of the region that begins at an instruction; empty: there are no regions
  std::vector<uint32_t> home;       // the function that made a value: 0 the kernel's own; kFrame: it lies in the frame
  std::vector<uint32_t> last_read;  // of a value
  std::vector<uint8_t> shared;      // private arrays of several functions
  std::vector<Place> place;         // of a value
  std::multimap<uint32_t, Place> taken;            // by the last read
  std::map<uint64_t, std::vector<uint64_t>> free;  // by bytes
  std::vector<Import> imports;                     // of the region that is being made
  uint32_t number = 0, count = 0;                  // the function that is being made; all
};

}  // namespace ricci::cpu
#endif
