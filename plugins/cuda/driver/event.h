// GpuEvent: a point in a stream as the core holds it. That of a run also reports the end of the run.
//
// The end is reported by the thread that first sees that the event has completed: one that waits for it, or one that
// polls it. A function of the host in the run's stream would do it without being asked, but the GPU stands still until
// a thread of the host has called it: some microseconds between any two runs, however many are in flight.
//
// A function in a second stream that waits for the event would not hold up the first one, but would wake a thread for
// each run. That is not needed: memory goes in the order of streams, and graphs of a run are wanted again when another
// one is enqueued. That one asks about the oldest run in flight.
//
// `ricci_stream_record_timed` gives events with times. Those of runs have none, since noting one is work of the device.
#ifndef RICCI_CUDA_EVENT_H_
#define RICCI_CUDA_EVENT_H_
#include <mutex>
#include <utility>

#include "cuda/driver/driver.h"

namespace ricci::cuda {

struct GpuEvent {
  // What is called once, when it has completed; of a run that has been enqueued. Before the core has the event.
  void OnCompleted(void (*report)(void* arg), void* arg) { report_ = report, arg_ = arg; }
  // It has completed. Returns once that has been reported, by whichever thread; the caller keeps the event meanwhile.
  void Completed() {
    const std::lock_guard lock(mutex_);
    if (report_ != nullptr) std::exchange(report_, nullptr)(arg_);
  }

  CuEvent handle = nullptr;

 private:
  std::mutex mutex_;
  void (*report_)(void* arg) = nullptr;
  void* arg_ = nullptr;
};

}  // namespace ricci::cuda
#endif
