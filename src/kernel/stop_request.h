// StopRequest: whether the host wants a run to end early, by its word `cancel` or because its deadline has passed.
//
// It is read between steps and every kTripsBetweenPolls trips of loops, which is often enough to end within about a
// millisecond and costs nothing compared with the trips.
#ifndef RICCI_KERNEL_STOP_REQUEST_H_
#define RICCI_KERNEL_STOP_REQUEST_H_
#include <cstdint>

#include "absl/status/status.h"

namespace ricci { inline namespace v0 { namespace kernel {

// CLOCK_MONOTONIC in nanoseconds.
uint64_t MonotonicNow();

// Whether a run on `ref` ended at the host's request, and in which loop.
struct HostStop {
  bool happened = false;
  uint64_t location = 0;  // of the loop; 0: in none whose location is known
  uint64_t trips = 0;     // that have ended; 0: they are not counted either
};

struct StopRequest {
  static constexpr uint32_t kTripsBetweenPolls = 1024;

  const uint32_t* cancel = nullptr;  // of ricci_run_args, like the deadline
  uint64_t deadline_ns = 0;

  // RICCI_CANCELLED, RICCI_DEADLINE_EXCEEDED, or 0: the run goes on. Any thread.
  uint32_t Code() const;
  // The same as a status, for runs on `ref`.
  absl::Status Poll() const;
};

}}}  // namespace ricci::v0::kernel
#endif
