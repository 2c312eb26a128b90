// StepTimes: when the steps of one profiled run began and ended, by the records of CUPTI (recorder.h).
//
// Steps are enqueued in order, without waiting in between, so the GPU runs them as it would without a profile, but for
// the graph. Collect waits for them and reads what CUPTI has recorded. Events are around each step as well. They give
// the times of what CUPTI does not know, a function of the host, and of steps whose records are missing (CUPTI drops
// some when memory is scarce, or when a tool of the host takes them): these are reported to the host.
//
// A span is from the first beginning to the last end of the step's kernels, copies and memsets. The time to launch them
// is not in it. Times are moved from CUPTI's clock to CLOCK_MONOTONIC by readings of both at each collection. They may
// be off by the time between two readings; durations are CUPTI's.
#ifndef RICCI_CUDA_STEP_TIMES_H_
#define RICCI_CUDA_STEP_TIMES_H_
#include <functional>
#include <string>
#include <vector>

#include "cuda/driver/gpu.h"
#include "cuda/profile/recorder.h"

namespace ricci::cuda {

struct StepSpan {
  uint32_t step;
  uint64_t begin_ns, end_ns;  // of CLOCK_MONOTONIC
};

// Of one thread. The device's context is current, also at the end; the device has a recorder.
class StepTimes {
 public:
  // Of a step: how many kernels, copies and memsets it enqueues. 0: nothing that CUPTI knows; kAnyNumber: that is the
  // affair of a library.
  static constexpr uint32_t kAnyNumber = ~0u;

  StepTimes(const Gpu& device, CuStream stream) : device_(device), recorder_(*device.recorder()), stream_(stream) {}
  ~StepTimes();
  StepTimes(const StepTimes&) = delete;

  // First.
  ricci_status* Begin();
  // Steps must be collected before the next one, so that their events and records stay few.
  bool is_full() const { return steps_.size() == kMostSteps; }
  // Calls `enqueue`, for the step of that number.
  ricci_status* Time(uint32_t step, uint32_t records, const std::function<ricci_status*()>& enqueue);
  // Waits for all steps since the last time. Their spans in the order of their calls; if some of them have no records,
  // `note` says of how many. After a failure both mean nothing.
  ricci_status* Collect(std::vector<StepSpan>& out, std::string& note);

 private:
  static constexpr size_t kMostSteps = 256;
  struct Step {
    uint32_t step, records;
    uint64_t number;  // of the recorder; 0: none
  };

  ricci_status* Record(size_t event);
  ricci_status* BeginStep(uint32_t step, uint32_t records);
  ricci_status* EndStep(bool is_enqueued);
  bool HasAll(const Step& s, uint32_t records) const;
  ricci_status* ReadRecords();
  ricci_status* ByEvents(size_t i, uint64_t last_end_ns, StepSpan& out) const;

  const Gpu& device_;
  Recorder& recorder_;
  const CuStream stream_;
  bool has_begun_ = false;
  std::vector<Step> steps_;      // since the last time
  std::vector<CuEvent> events_;  // before and after each of them
};

}  // namespace ricci::cuda
#endif
