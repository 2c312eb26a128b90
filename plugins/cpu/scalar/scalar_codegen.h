// Scalar operations of kernels (RICCI_S_*) as LLVM IR, on one value or on a vector of lanes.
//
// Floats follow IEEE, without flags. LLVM contracts nothing, so bits depend on no kernel, lane or tail. Fused
// multiply-adds come from the passes, for processors that have them (RICCI_TARGET_FMA), and from formulas
// (codegen/math/math_value.h). f16 and bf16 are computed in f32 and rounded once per operation.
#ifndef RICCI_CPU_SCALAR_CODEGEN_H_
#define RICCI_CPU_SCALAR_CODEGEN_H_
#include <span>

#include "cpu/llvm/llvm_builder.h"

namespace ricci::cpu {

// The LLVM type of a dtype as a value (bool is i1) and in memory (bool is i8).
LLVMTypeRef ValueType(const LlvmBuilder& l, uint32_t dtype);
LLVMTypeRef MemoryType(const LlvmBuilder& l, uint32_t dtype);

// Emits operation `op`. `from` is the dtype of operand 0 (operand 1 for SELECT), `to` that of the result. Operands are
// all scalars or all vectors. NULL: the operation is not known.
LLVMValueRef EmitScalar(const LlvmBuilder& l, uint32_t op, uint32_t from, uint32_t to,
                        std::span<const LLVMValueRef> in);

// Special functions of f32 and f64 (math_codegen.cc): formulas where they are the common case, the C library's function
// for each lane otherwise.
LLVMValueRef EmitMath(const LlvmBuilder& l, uint32_t op, std::span<const LLVMValueRef> in);
// Each lane through the C library: a RICCI_S_* operation or one of codegen/math/math_functions.h (math_library.cc).
// NULL: it has none for it.
LLVMValueRef CallMathLibrary(const LlvmBuilder& l, uint32_t op, std::span<const LLVMValueRef> in);

}  // namespace ricci::cpu
#endif
