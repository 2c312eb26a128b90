// Polls: how often the loops of a kernel poll whether the host wants the run to end (run_state.h).
//
// The measure is work, counted in instructions: about kPollWork of them run between two polls, and at most kPollTrips
// trips of a loop inside a point. A loop that does less in total has no poll of its own: the code around it has one, or
// the code after it. A loop of unknown length counts as kLikelyTrips trips in the loops around it, so the time between
// polls may be longer in nested loops of that kind. A loop that polls runs as blocks of trips with a poll between two
// blocks, which leaves the code of a block unchanged.
#ifndef RICCI_CPU_POLLS_H_
#define RICCI_CPU_POLLS_H_
#include <vector>

#include "codegen/schedule.h"

namespace ricci::cpu {

inline constexpr double kPollWork = 1 << 18;
inline constexpr double kPollTrips = 1024;
inline constexpr double kLikelyTrips = 64;

struct Polls {
  // Trips of a loop's code, which may be over lanes, between two polls; 0: it needs none.
  std::vector<uint32_t> every;      // by the instruction that opens it
  uint32_t columns = 0, units = 0;  // of the loops over points, in the innermost dimension, and over units
  bool any = false;
  double work = 0;  // between the last poll and the end

  bool IsIn(uint32_t first, uint32_t last) const;  // loops that poll are among these instructions
};

// `grain`: units of one task.
Polls FindPolls(const ricci_kernel_table& k, const codegen::Blocks& blocks, const codegen::KernelSchedule& schedule,
                int64_t grain);

}  // namespace ricci::cpu
#endif
