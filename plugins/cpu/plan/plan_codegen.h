// A plan as one native function: kernels, copies, library calls, sources, loops and branches over inputs, outputs and
// one arena.
#ifndef RICCI_CPU_PLAN_CODEGEN_H_
#define RICCI_CPU_PLAN_CODEGEN_H_
#include <string>

#include "cpu/llvm/llvm_builder.h"
#include "ricci/backend.h"

namespace ricci::cpu {

struct PlanCode {
  uint64_t scratch_bytes = 0;  // after the arena
  std::string error;
  uint32_t wrong_source = 0;  // 1 + the number of the source that the error is about, or 0
};

enum class Constants {
  kOfRun,  // the run has their addresses
  kData,   // they are in the code, for an object to be written to a file
};

// Emits `i32 ricci_entry(ptr inputs, ptr outputs, ptr arena, ptr run_state)` and the kernels it calls. It returns 1 if
// a library call has failed or the run is to end, which ends the plan at once. At most `workers` run a kernel that
// needs scratch. The code holds no addresses: it finds library calls and, with kOfRun, constants through the run state.
// With `profiled` each step is reported to the run; without, the code has nothing of that.
PlanCode EmitPlan(const LlvmBuilder& l, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                  const ricci_plan& plan, uint32_t workers, Constants constants, bool profiled = false);

}  // namespace ricci::cpu
#endif
