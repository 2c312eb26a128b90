// One kernel as an LLVM function: void kernel(ptr buffers[], i64 begin, i64 end, ptr scratch).
//
// Our own SPMD vectoriser instead of LLVM's: one loop level is spread over the lanes of vectors, everything below runs
// once for all lanes, values that are the same for all lanes stay scalar, and branches and loops on values that are not
// run under a mask. begin and end count units: points of a one-dimensional domain, rows of a larger one; none for rank
// 0.
#ifndef RICCI_CPU_KERNEL_CODEGEN_H_
#define RICCI_CPU_KERNEL_CODEGEN_H_
#include <string>

#include "codegen/cost.h"
#include "llvm_builder.h"

namespace ricci::cpu {

struct KernelCode {
  LLVMValueRef function;
  int64_t units = 1;           // 0 .. units - 1 may run on any threads
  int64_t grain = 1;           // units of one task; by shape, but where tasks own elements to update
  uint64_t scratch_bytes = 0;  // per worker
  // A long reduction for few points: `partial` computes chunks of it (units: chunks of rows) into partial results that
  // `function` combines; they lie in the buffer after the kernel's own, at most 8 bytes each.
  LLVMValueRef partial = nullptr;
  int64_t partial_chunks = 0, partials = 0;
  bool checks = false;  // it holds checks: behind all buffers it gets the pointer to the number of the failed one
  std::string error;    // empty: fine
};

// What schedules need to know of a processor with so many lanes of 32 bits.
ricci_target TargetOf(unsigned lanes);
// As ScheduleKernel says; for so many workers, on which nothing depends that is computed.
KernelCode EmitKernel(const LlvmBuilder& builder, const ricci_kernel_table& k, const std::string& name,
                      uint32_t workers);

}  // namespace ricci::cpu
#endif
