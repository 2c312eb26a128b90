// Conversions between dtypes as LLVM IR, on one value or on a vector of lanes.
//
// Floats become integers, saturating, by comparisons and one conversion. LLVM 19 expands its own form lane by lane:
// f32[1000000] to i32, after two operations, took 1.47 ms and takes 0.29.
#ifndef RICCI_CPU_CONVERSION_CODEGEN_H_
#define RICCI_CPU_CONVERSION_CODEGEN_H_
#include "codegen/dtypes.h"
#include "cpu/llvm/llvm_builder.h"

namespace ricci::cpu {

using V = LLVMValueRef;

using codegen::IsFloat;
using codegen::IsNarrow;
using codegen::IsSigned;
using codegen::IsTiny;

// A narrow float of `dtype` in f32. bf16 are the upper 16 bits of an f32, and are carried as such: with LLVM's own type
// a mere copy goes through vcvtneps2bf16, which turns subnormal numbers into zero. Tiny ones are carried as a byte.
V EmitToF32(const LlvmBuilder& l, V v, uint32_t dtype);
// f32 rounded to the narrow `dtype`.
V EmitFromF32(const LlvmBuilder& l, V v, uint32_t dtype);
V EmitConvert(const LlvmBuilder& l, uint32_t from, uint32_t to, V v);

}  // namespace ricci::cpu
#endif
