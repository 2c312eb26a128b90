// RunState: what one run hands to the generated code, and how the run ends early.
//
// The host asks for that by a word in memory or a deadline. Code polls between steps, between the tasks of a step and
// in loops (polls.h): it reads `watched`, which is 0 if the host has given neither, and asks RicciCpuStopped if it is
// not. The thread that sees the request first keeps it in `stopped`, and everything later in the run obeys that, not
// the host's word, which may change back: a run that has left a kernel half done must not go on. It also keeps where it
// polled (`stop_point`), so that the host learns which loop was running (loop_locations.h).
//
// A check is a load and a branch unless the host has given a word or a deadline. The function called then preserves
// registers: an ordinary one moved values that live through a loop to memory, and made `rk4_scan_grad` 7 % slower.
// Loops count their trips, and name themselves, only where the host can end the run. A step that polls stores its
// number; other steps pay nothing.
#ifndef RICCI_CPU_RUN_STATE_H_
#define RICCI_CPU_RUN_STATE_H_
#include <atomic>
#include <functional>

#include "cpu/llvm/llvm_builder.h"
#include "cpu/run/pool.h"
#include "ricci/backend.h"

namespace ricci::cpu {

inline constexpr uint32_t kNoStep = UINT32_MAX;  // before the first one that polls

// Where a run was when it saw the request.
struct StopPoint {
  uint32_t step;         // of the plan
  uint32_t instruction;  // that opens the loop of that step's kernel; 0: the step itself polled
  uint64_t trips;        // of that loop that have ended; 0: it does not count
};

struct RunState {
  Pool* pool;
  const ricci_run_args* args;
  ricci_status* status;           // of the first library call that failed
  uint32_t watched;               // nonzero if the host has given a word or a deadline
  std::atomic<uint32_t> stopped;  // RICCI_CANCELLED or RICCI_DEADLINE_EXCEEDED once the run is to end, until then 0
  uint32_t step = kNoStep;        // that runs now, where it is reported or polls
  StopPoint stop_point;           // written by the thread that sets `stopped`, read when the run has ended
};

// The value of `stopped`, after a poll of the host's word and the clock from a loop of the kernel that runs, or, with
// 0, from elsewhere. Any thread.
extern "C" uint32_t RicciCpuStopped(RunState* run, uint32_t instruction, uint64_t trips);
inline bool IsStopped(RunState& run) { return run.watched != 0 && RicciCpuStopped(&run, 0, 0) != 0; }

// ---- generation ----

// A pointer in the arguments of the run.
LLVMValueRef EmitLoadOfArgs(const LlvmBuilder& l, LLVMValueRef run, uint64_t offset, const char* name);
// The run is in this step from now on.
void EmitStepNumber(const LlvmBuilder& l, LLVMValueRef run, uint32_t step);
// Where a poll is. `trips`, of the loop of that instruction, is emitted where the host can end the run and nowhere
// else; empty: they are not known.
struct PollSite {
  uint32_t instruction = 0;
  std::function<LLVMValueRef()> trips = {};
};
// A poll of the request: jumps to `end` if the run is to end, else to a new block, where it leaves the builder.
void EmitPoll(const LlvmBuilder& l, LLVMValueRef run, LLVMBasicBlockRef end, const PollSite& at = {});
// The same after code that may have seen the request itself.
void EmitEndIfStopped(const LlvmBuilder& l, LLVMValueRef run, LLVMBasicBlockRef end);

}  // namespace ricci::cpu
#endif
