// Combiners: the operations by which reductions and updates make one value of two, and their initial values.
//
// narrow floats are summed in f32. This code works on values and knows nothing of kernels.
#ifndef RICCI_CPU_COMBINER_H_
#define RICCI_CPU_COMBINER_H_
#include "codegen/identity.h"
#include "cpu/llvm/llvm_builder.h"

namespace ricci::cpu {

using V = LLVMValueRef;

using codegen::AccumulatorDType;
// The identity of the combiner.
V EmitIdentity(const LlvmBuilder& l, uint32_t op, uint32_t dtype);
V EmitCombine(const LlvmBuilder& l, uint32_t op, uint32_t dtype, V a, V b);
// `v` of dtype `from` as one of `to`.
V EmitWiden(const LlvmBuilder& l, uint32_t from, uint32_t to, V v);
// The lanes of `v` combined, halves first.
V EmitAcross(const LlvmBuilder& l, uint32_t op, uint32_t dtype, V v);

// ---- extrema among integers ----

// The greatest and the least of floats are found among integers of the same order: the bits, inverted except for the
// sign if the number is negative, and shifted so that NaNs of either sign come to the end that wins. This takes four
// instructions, one of them in the chain from element to element; on floats, where NaNs must win and +0 is greater than
// -0, it takes six. The identity among integers represents the infinity.
bool InKeys(uint32_t op, uint32_t dtype);
V EmitToKey(const LlvmBuilder& l, uint32_t op, V v);
V EmitFromKey(const LlvmBuilder& l, uint32_t op, V key);

}  // namespace ricci::cpu
#endif
