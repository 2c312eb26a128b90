// Conversions between dtypes as LLVM IR, on one value or on a vector of lanes.
#ifndef RICCI_CPU_CONVERSION_CODEGEN_H_
#define RICCI_CPU_CONVERSION_CODEGEN_H_
#include "llvm_builder.h"
#include "ricci/base.h"

namespace ricci::cpu {

using V = LLVMValueRef;

inline bool IsSigned(uint32_t dtype) { return dtype >= RICCI_I8 && dtype <= RICCI_I64; }
inline bool IsFloat(uint32_t dtype) { return dtype >= RICCI_F16 && dtype <= RICCI_F64; }
inline bool IsNarrow(uint32_t dtype) { return dtype == RICCI_F16 || dtype == RICCI_BF16; }

// f16 or bf16 in f32. bf16 are the upper 16 bits of an f32, and are carried as such: with LLVM's own type a mere copy
// goes through vcvtneps2bf16, which turns subnormal numbers into zero.
V EmitToF32(const LlvmBuilder& l, V v);
// f32 rounded to `dtype`, f16 or bf16.
V EmitFromF32(const LlvmBuilder& l, V v, uint32_t dtype);
V EmitConvert(const LlvmBuilder& l, uint32_t from, uint32_t to, V v);

}  // namespace ricci::cpu
#endif
