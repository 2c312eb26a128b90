// Polynomials in f32 that other functions are built of, on one value or a vector.
#ifndef RICCI_CPU_MATH_F32_H_
#define RICCI_CPU_MATH_F32_H_
#include <initializer_list>

#include "llvm_builder.h"

namespace ricci::cpu {

LLVMValueRef ExpF32(const LlvmBuilder& l, LLVMValueRef x);
LLVMValueRef LogF32(const LlvmBuilder& l, LLVMValueRef x);
// a * b + c rounded once.
LLVMValueRef FmaF32(const LlvmBuilder& l, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
// The polynomial with these coefficients, highest power first.
LLVMValueRef HornerF32(const LlvmBuilder& l, LLVMValueRef x, std::initializer_list<double> coefficients);

// erf, erf_inv, expm1 and log1p (math_error.cc); NULL for another operation.
LLVMValueRef EmitErrorFunction(const LlvmBuilder& l, uint32_t op, LLVMValueRef x);

}  // namespace ricci::cpu
#endif
