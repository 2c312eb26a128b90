// RunTimes: how long runs of a bound call take: alone or several in flight, by the host's clock and by events of the
// device.
#ifndef RICCI_CLI_RUN_TIMES_H_
#define RICCI_CLI_RUN_TIMES_H_
#include <chrono>
#include <cstdint>
#include <vector>

#include "cli/session.h"

namespace ricci { inline namespace v0 { namespace cli {

using Clock = std::chrono::steady_clock;
inline double Seconds(Clock::time_point from) { return std::chrono::duration<double>(Clock::now() - from).count(); }

constexpr int64_t kMostInFlight = 1024;

struct RunTimeOptions {
  double seconds = 1;     // to measure for
  int64_t in_flight = 1;  // the host enqueues so many runs before it waits for the first of them
  bool events = false;    // measures the time on the device too
};
// Seconds per run, each the mean of so many runs as take at least a millisecond.
struct RunTimes {
  std::vector<double> host;    // until the host has waited for it
  std::vector<double> device;  // of single runs, if one is in flight; else from the beginning of the first of them to
                               // the end of the last one; empty if they were not wanted
};
// The call is bound and of this device.
RunTimes MeasureRuns(ricci_call* call, ricci_device* device, const RunTimeOptions& options);

}}}  // namespace ricci::v0::cli
#endif
