// triangular_solve of f32 and f64 by blocks, as code of its own: what a program in an object has instead of
// plugins/cpu's blocked_triangular_solve.
#ifndef RICCI_OBJECT_SOLVE_CODE_H_
#define RICCI_OBJECT_SOLVE_CODE_H_
#include <string>

#include "cpu/library/product.h"
#include "cpu/llvm/llvm_builder.h"
#include "processor_names.h"

namespace ricci::object {

// op(a) x = b, or from the right x op(a) = b, for `lines` columns or rows of b.
struct Solution {
  cpu::GemmType type{};
  int64_t batch = 1, n = 0, lines = 0;
  bool left = false, lower = false, transposed = false, unit = false;
};
// False: the generated loops are as good, or its numbers are complex.
bool PlanSolution(const ricci_op* op, Solution& s);
uint64_t SolutionFlops(const Solution& s);
// Bytes of scratch memory, aligned to 64, whatever the processor.
uint64_t SolutionScratch(const Solution& s);
// Emits `void name(ptr buffers, ptr scratch)`: buffers are a, b and x.
LLVMValueRef EmitSolution(const cpu::LlvmBuilder& l, const Solution& s, const Processor& processor,
                          const std::string& name);

}  // namespace ricci::object
#endif
