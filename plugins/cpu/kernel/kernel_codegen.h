// One kernel as an LLVM function: void kernel(ptr buffers[], i64 begin, i64 end, ptr scratch).
//
// Our own SPMD vectoriser instead of LLVM's: one loop level is spread over the lanes of vectors, everything inside it
// runs once for all lanes, values that are the same for all lanes stay scalar, and branches and loops on values that
// differ run under a mask. begin and end count units: points of a one-dimensional domain, rows of a larger one; none
// for rank 0.
//
// There are 16 lanes with AVX-512, 8 otherwise. LLVM's vectorisers are off, which keeps compilation short.
#ifndef RICCI_CPU_KERNEL_CODEGEN_H_
#define RICCI_CPU_KERNEL_CODEGEN_H_
#include <optional>
#include <string>

#include "codegen/cost.h"
#include "cpu/llvm/llvm_builder.h"

namespace ricci::cpu {

struct KernelCode {
  LLVMValueRef function;
  int64_t units = 1;           // 0 .. units - 1 may run on any threads
  int64_t grain = 1;           // units of one task; fixed by shape, except if tasks own elements to update
  uint64_t scratch_bytes = 0;  // per worker
  // A long reduction for few points: `partial` computes chunks of it (units: chunks of rows) into partial results that
  // `function` combines; the buffer after the kernel's own holds them, at most 8 bytes each.
  LLVMValueRef partial = nullptr;
  int64_t partial_chunks = 0, partials = 0;
  bool run_state = false;  // after all buffers it gets the pointer to the run state: it has RICCI_K_CHECKs, or polls
  bool polls = false;      // it polls whether the run is to end, and if so returns with its work half done
  double poll_work = 0;    // of a task after the last poll (polls.h)
  std::string error;       // empty: fine
};

// The accumulators of a REDUCE of `length` instructions, which hide the latency of the sum: in lanes, and element by
// element.
inline constexpr int64_t kManyElements = 16;  // from which on several are worthwhile
inline constexpr uint32_t kShortBody = 32;    // instructions, at most, to be repeated for it
uint32_t SumsInLanes(uint32_t length);
uint32_t SumsInOrder(std::optional<int64_t> trips, uint32_t length);

// What passes and schedules need to know about a processor with this many lanes of 32 bits; `contracts`: it has fused
// multiply-adds.
ricci_target TargetOf(unsigned lanes, bool contracts);
// Follows ScheduleKernel. The number of workers affects only the size of tasks, not results.
KernelCode EmitKernel(const LlvmBuilder& builder, const ricci_kernel_table& k, const std::string& name,
                      uint32_t workers);

}  // namespace ricci::cpu
#endif
