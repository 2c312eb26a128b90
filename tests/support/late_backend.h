// The backend `late`: a stand-in for a device with memory and time of its own, which exposes mistakes of its user.
//
// It computes what `ref` computes, but all passes run for it. The host cannot touch its memory (late_memory.h);
// enqueued work runs only when somebody waits, and then in any legal order (late_queues.h); steps of a plan run in any
// order that ricci_plan_edges allows (late_runs.h). Results are poison until they are computed. Each call that returns
// a status can be made to fail. What is never given back or never run is listed at the end.
//
// With a context: LateDevices late({.seed = 7}); late.AddTo(ctx); ... release the context ... EXPECT_EQ(late.Report(),
// ""). Without one: late.Backend(0) is the table of the first device.
#ifndef RICCI_TESTS_SUPPORT_LATE_BACKEND_H_
#define RICCI_TESTS_SUPPORT_LATE_BACKEND_H_
#include <memory>
#include <string>

#include "ricci/backend.h"

namespace ricci::testing {

struct LateOptions {
  uint64_t seed = 1;
  uint32_t devices = 2;
  uint64_t memory_bytes = uint64_t{1} << 30;  // of each device
  uint64_t scratch_bytes = 320;               // that each run must bring after its arena
  int64_t failing_call = 0;                   // as LateDevices::FailCall; 0: none
  bool reports_when_asked = false;            // ends of runs: RICCI_BACKEND_REPORTS_WHEN_ASKED
};

struct LateState;  // what the devices share; alive until the last of them is dropped

class LateDevices {
 public:
  explicit LateDevices(const LateOptions& options = {});
  ~LateDevices();
  LateDevices(const LateDevices&) = delete;

  // Adds the plugin whose devices these are. Call it once.
  [[nodiscard]] ricci_status* AddTo(ricci_ctx* ctx);
  // Device `i`, with its own `self` for its drop_self; call it once for each device.
  ricci_backend Backend(uint32_t i);

  // ---- failures; each comes once ----
  // The k-th call from now on of a function that returns a status fails, with `code` and
  // `late: call 17 (stream_wait) fails as requested`; k = 1 is the next one.
  void FailCall(int64_t k, uint32_t code = RICCI_INTERNAL);
  // Calls since FailCall, or since the beginning.
  int64_t calls() const;
  // The next run, or copy, fails when its turn comes. A copy's failure is that of what reads its destination later.
  void FailNextRun();
  void FailNextCopy();

  // ---- what happened ----
  uint64_t executed() const;  // operations
  // What was not given back or never executed, by device, and mistakes in calls that return no status: a line each;
  // empty if there are none.
  std::string Report() const;

 private:
  const std::shared_ptr<LateState> state_;
};

}  // namespace ricci::testing

// With LateDevices of its own and default options, unless LateDevices::AddTo calls it.
extern "C" ricci_status* ricci_plugin_query_late(const ricci_host_info* host, const ricci_plugin** out);
#endif
