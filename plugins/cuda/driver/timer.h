// Timer: how long the device takes for what is enqueued between two events. Only profiled runs use it.
#ifndef RICCI_CUDA_TIMER_H_
#define RICCI_CUDA_TIMER_H_
#include "cuda/driver/gpu.h"

namespace ricci::cuda {

uint64_t MonotonicNow();  // ns of CLOCK_MONOTONIC, as spans of profiles have them

// The device's context is current.
class Timer {
 public:
  explicit Timer(const Gpu& device) : device_(device) {}
  ~Timer();
  Timer(const Timer&) = delete;
  ricci_status* Begin(CuStream stream);
  // Waits until the device is done.
  ricci_status* End(CuStream stream, uint64_t& taken_ns);

 private:
  ricci_status* Record(CuStream stream, CuEvent& event) const;

  const Gpu& device_;
  CuEvent begin_ = nullptr, end_ = nullptr;
};

}  // namespace ricci::cuda
#endif
