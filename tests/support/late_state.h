// LateState: what all devices of one LateDevices share, and the checks at the start of each call of a device.
#ifndef RICCI_TESTS_SUPPORT_LATE_STATE_H_
#define RICCI_TESTS_SUPPORT_LATE_STATE_H_
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/late_backend.h"
#include "support/late_memory.h"
#include "support/late_queues.h"

namespace ricci::testing {

struct LateDevice {
  LateDevice(uint32_t number, uint64_t memory_bytes) : number(number), memory(memory_bytes) {}

  const uint32_t number;
  LateMemory memory;
  std::atomic<int64_t> codes{0};  // not dropped
};

struct LateState {
  explicit LateState(const LateOptions& o);

  // The start of a call that returns a status.
  absl::Status Enter(std::string_view call);
  // The start of a call that returns none.
  void EnterVoid(std::string_view call);
  // Keeps a mistake that no status can report.
  void Complain(const absl::Status& status);
  // The device whose reservation has `p`, or NULL.
  const LateDevice* DeviceAt(const void* p) const;

  const LateOptions options;
  LateQueues queues;
  std::vector<std::unique_ptr<LateDevice>> devices;
  std::atomic<bool> fail_run{false}, fail_copy{false};

  mutable std::mutex mutex;  // of the members below; nothing is called under it
  int64_t calls = 0, failing_call = 0;
  uint32_t failing_code = RICCI_INTERNAL;
  std::string complaints;
};

// `self` of a backend.
struct LateSelf {
  std::shared_ptr<LateState> state;
  LateDevice& device;
};

// ---- late_table.cc ----
ricci_backend LateTable(std::shared_ptr<LateState> state, uint32_t device);

}  // namespace ricci::testing
#endif
