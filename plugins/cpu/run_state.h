// RunState: what one run hands to the generated code, and how the run ends early.
//
// The host asks for that by a word in memory or a deadline. Code looks between steps, between the tasks of a step and
// in loops (looks.h): it reads `watched`, which is 0 if the host has given neither, and asks RicciCpuStopped if it is
// not. Whoever sees the request first keeps it in `stopped`, and everything later in the run obeys that, not the host's
// word, which may change back: a run that has left a kernel half done must not go on.
#ifndef RICCI_CPU_RUN_STATE_H_
#define RICCI_CPU_RUN_STATE_H_
#include <atomic>

#include "llvm_builder.h"
#include "pool.h"
#include "ricci/backend.h"

namespace ricci::cpu {

struct RunState {
  Pool* pool;
  const ricci_run_args* args;
  ricci_status* status;           // of the first library call that failed
  uint32_t watched;               // nonzero if the host has given a word or a deadline
  std::atomic<uint32_t> stopped;  // RICCI_CANCELLED or RICCI_DEADLINE_EXCEEDED once the run is to end, until then 0
  uint32_t step = 0;              // that runs now, for profiled code
};

// The value of `stopped`, after a look at the host's word and the clock. Any thread.
extern "C" uint32_t RicciCpuStopped(RunState* run);
inline bool IsStopped(RunState& run) { return run.watched != 0 && RicciCpuStopped(&run) != 0; }

// ---- generation ----

// A pointer in the arguments of the run.
LLVMValueRef EmitLoadOfArgs(const LlvmBuilder& l, LLVMValueRef run, uint64_t offset, const char* name);
// A look at the request: jumps to `end` if the run is to end, else to a new block, where it leaves the builder.
void EmitLook(const LlvmBuilder& l, LLVMValueRef run, LLVMBasicBlockRef end);
// The same after code that may have seen the request itself.
void EmitEndIfStopped(const LlvmBuilder& l, LLVMValueRef run, LLVMBasicBlockRef end);

}  // namespace ricci::cpu
#endif
