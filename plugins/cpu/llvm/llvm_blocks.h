// Loops and branches of any emitter, around what a callable emits; each leaves the builder where the next code goes.
#ifndef RICCI_CPU_LLVM_BLOCKS_H_
#define RICCI_CPU_LLVM_BLOCKS_H_
#include "cpu/llvm/llvm_builder.h"

namespace ricci::cpu {

// body(i) for i = lo, lo + step, ... below hi, all i64.
template <typename Body>
void EmitLoop(const LlvmBuilder& l, LLVMValueRef lo, LLVMValueRef hi, int64_t step, Body body) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(l.b), head = l.NewBlock("loop"), inside = l.NewBlock("body"),
                    after = l.NewBlock("done");
  LLVMBuildBr(l.b, head);
  LLVMPositionBuilderAtEnd(l.b, head);
  LLVMValueRef i = LLVMBuildPhi(l.b, l.i64(), "i");
  LLVMBuildCondBr(l.b, LLVMBuildICmp(l.b, LLVMIntSLT, i, hi, ""), inside, after);
  LLVMPositionBuilderAtEnd(l.b, inside);
  body(i);
  LLVMValueRef from[] = {lo, LLVMBuildNSWAdd(l.b, i, l.I64(step), "")};
  LLVMBasicBlockRef blocks[] = {before, LLVMGetInsertBlock(l.b)};
  LLVMBuildBr(l.b, head);
  LLVMAddIncoming(i, from, blocks, 2);
  LLVMPositionBuilderAtEnd(l.b, after);
}

template <typename Then, typename Else>
void EmitBranch(const LlvmBuilder& l, LLVMValueRef condition, Then then, Else otherwise) {
  LLVMBasicBlockRef yes = l.NewBlock("then"), no = l.NewBlock("else"), join = l.NewBlock("join");
  LLVMBuildCondBr(l.b, condition, yes, no);
  LLVMPositionBuilderAtEnd(l.b, yes);
  then();
  LLVMBuildBr(l.b, join);
  LLVMPositionBuilderAtEnd(l.b, no);
  otherwise();
  LLVMBuildBr(l.b, join);
  LLVMPositionBuilderAtEnd(l.b, join);
}

}  // namespace ricci::cpu
#endif
