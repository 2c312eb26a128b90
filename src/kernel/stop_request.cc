#include "kernel/stop_request.h"

#include <time.h>

#include <atomic>

namespace ricci::inline v0::kernel {
namespace {

bool IsSet(const uint32_t* word) {
  return word != nullptr && std::atomic_ref(const_cast<uint32_t&>(*word)).load(std::memory_order_relaxed) != 0;
}

bool HasPassed(uint64_t deadline_ns) {
  if (deadline_ns == 0) return false;
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec) >= deadline_ns;
}

}  // namespace

absl::Status StopRequest::Look() const {
  if (IsSet(cancel)) return absl::CancelledError("ref: run cancelled by the host");
  if (HasPassed(deadline_ns)) return absl::DeadlineExceededError("ref: run passed its deadline");
  return absl::OkStatus();
}

}  // namespace ricci::inline v0::kernel
