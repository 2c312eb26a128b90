// lu of f32 and f64 by blocks, as code of its own: what a program in an object has instead of plugins/cpu's blocked_lu.
#ifndef RICCI_OBJECT_LU_CODE_H_
#define RICCI_OBJECT_LU_CODE_H_
#include <string>

#include "cpu/library/product.h"
#include "cpu/llvm/llvm_builder.h"
#include "processor_names.h"

namespace ricci::object {

struct Lu {
  cpu::GemmType type{};
  int64_t batch = 1, rows = 0, columns = 0, steps = 0;
};
// False: the generated loops are as good, or its numbers are complex.
bool PlanLu(const ricci_op* op, Lu& lu);
uint64_t LuFlops(const Lu& lu);
// Bytes of scratch memory, aligned to 64, whatever the processor.
uint64_t LuScratch(const Lu& lu);
// Emits `void name(ptr buffers, ptr scratch)`: buffers are the matrices, their factors, pivots and permutations.
LLVMValueRef EmitLu(const cpu::LlvmBuilder& l, const Lu& lu, const Processor& processor, const std::string& name);

}  // namespace ricci::object
#endif
