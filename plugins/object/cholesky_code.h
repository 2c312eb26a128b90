// cholesky of f32 and f64 by blocks, as code of its own: what a program in an object has instead of plugins/cpu's
// blocked_cholesky.
//
// As a program of halves, which concatenate their results, it took 1.3 to 2.0 times as long as a host.
#ifndef RICCI_OBJECT_CHOLESKY_CODE_H_
#define RICCI_OBJECT_CHOLESKY_CODE_H_
#include <string>

#include "cpu/library/product.h"
#include "cpu/llvm/llvm_builder.h"
#include "processor_names.h"

namespace ricci::object {

struct Cholesky {
  cpu::GemmType type{};
  int64_t batch = 1, n = 0;
};
// False: the generated loops are as good, or its numbers are complex.
bool PlanCholesky(const ricci_op* op, Cholesky& c);
uint64_t CholeskyFlops(const Cholesky& c);
// Bytes of scratch memory, aligned to 64, whatever the processor.
uint64_t CholeskyScratch(const Cholesky& c);
// Emits `void name(ptr buffers, ptr scratch)`: buffers are the matrices and their factors.
LLVMValueRef EmitCholesky(const cpu::LlvmBuilder& l, const Cholesky& c, const Processor& processor,
                          const std::string& name);

}  // namespace ricci::object
#endif
