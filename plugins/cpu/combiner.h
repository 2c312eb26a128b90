// Combiners: the operations by which reductions and updates make one value of two, and what they begin with.
//
// 16-bit floats are summed in f32. All of this is code for values alone and knows no kernel.
#ifndef RICCI_CPU_COMBINER_H_
#define RICCI_CPU_COMBINER_H_
#include "llvm_builder.h"

namespace ricci::cpu {

using V = LLVMValueRef;

// In which values of `dtype` are accumulated.
uint32_t AccumulatorDType(uint32_t dtype);
// What changes nothing when it is combined.
V EmitIdentity(const LlvmBuilder& l, uint32_t op, uint32_t dtype);
V EmitCombine(const LlvmBuilder& l, uint32_t op, uint32_t dtype, V a, V b);
// `v` of dtype `from` as one of `to`.
V EmitWiden(const LlvmBuilder& l, uint32_t from, uint32_t to, V v);
// The lanes of `v` combined, halves first.
V EmitAcross(const LlvmBuilder& l, uint32_t op, uint32_t dtype, V v);

// ---- extrema among integers ----

// The greatest of floats, and the least, is found among integers of the same order: the bits, of negative numbers all
// but the sign turned over, moved so that NaNs of either sign come to the end that wins. That is four instructions for
// what takes six on floats, where NaNs win and +0 is greater than -0, and one of them in the chain from element to
// element. The identity among integers stands for the infinity.
bool InKeys(uint32_t op, uint32_t dtype);
V EmitToKey(const LlvmBuilder& l, uint32_t op, V v);
V EmitFromKey(const LlvmBuilder& l, uint32_t op, V key);

}  // namespace ricci::cpu
#endif
