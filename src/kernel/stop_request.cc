#include "kernel/stop_request.h"

#include <time.h>

#include <atomic>

#include "ricci/backend.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

bool IsSet(const uint32_t* word) {
  return word != nullptr && std::atomic_ref(const_cast<uint32_t&>(*word)).load(std::memory_order_relaxed) != 0;
}

bool HasPassed(uint64_t deadline_ns) { return deadline_ns != 0 && MonotonicNow() >= deadline_ns; }

}  // namespace

uint64_t MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

uint32_t StopRequest::Code() const {
  if (IsSet(cancel)) return RICCI_CANCELLED;
  return HasPassed(deadline_ns) ? RICCI_DEADLINE_EXCEEDED : 0;
}

absl::Status StopRequest::Poll() const {
  switch (Code()) {
    case RICCI_CANCELLED:
      return absl::CancelledError("ref: run cancelled by the host");
    case RICCI_DEADLINE_EXCEEDED:
      return absl::DeadlineExceededError("ref: run passed its deadline");
    default:
      return absl::OkStatus();
  }
}

}}}  // namespace ricci::v0::kernel
