#include "cuda/driver/timer.h"

#include <time.h>

namespace ricci::cuda {

uint64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

Timer::~Timer() {
  for (CuEvent event : {begin_, end_}) {
    if (event != nullptr) device_.Note(device_.driver().cuEventDestroy(event));
  }
}

ricci_status* Timer::Record(CuStream stream, CuEvent& event) const {
  const Driver& driver = device_.driver();
  if (ricci_status* failed = device_.Check("cuEventCreate", driver.cuEventCreate(&event, 0))) return failed;
  return device_.Check("cuEventRecord", driver.cuEventRecord(event, stream));
}

ricci_status* Timer::Begin(CuStream stream) { return Record(stream, begin_); }

ricci_status* Timer::End(CuStream stream, uint64_t& taken_ns) {
  const Driver& driver = device_.driver();
  if (ricci_status* failed = Record(stream, end_)) return failed;
  if (ricci_status* failed = device_.Check("cuEventSynchronize", driver.cuEventSynchronize(end_))) return failed;
  float milliseconds = 0;
  const CuResult result = driver.cuEventElapsedTime(&milliseconds, begin_, end_);
  taken_ns = milliseconds > 0 ? static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6) : 0;
  return device_.Check("cuEventElapsedTime", result);
}

}  // namespace ricci::cuda
