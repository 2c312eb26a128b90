// Code around code: the loops, branches and functions of a kernel, around what a callable emits.
//
// Templates, so that a body may be a lambda; separate from the class (kernel_emitter.h), which thus stays a plain list.
// Each leaves the builder where the next code goes.
#ifndef RICCI_CPU_KERNEL_BLOCKS_H_
#define RICCI_CPU_KERNEL_BLOCKS_H_
#include "cpu/kernel/kernel_emitter.h"
#include "cpu/llvm/llvm_blocks.h"

namespace ricci::cpu {

inline constexpr uint32_t kHeldBuffers = 32;  // whose addresses a kernel loads once; with more, at each use

// ---- loops ----

template <typename Body>
void KernelEmitter::Loop(V lo, V hi, int64_t step, Body body) {
  EmitLoop(l_, lo, hi, step, body);
}

template <typename Body>
void KernelEmitter::Loop(V lo, V hi, int64_t step, LoopPoll poll, Body body) {
  if (poll.every == 0) return Loop(lo, hi, step, body);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(l_.b), head = l_.NewBlock("block"), between = l_.NewBlock("look"),
                    after = l_.NewBlock("done");
  LLVMBuildBr(l_.b, head);
  LLVMPositionBuilderAtEnd(l_.b, head);
  V from = LLVMBuildPhi(l_.b, l_.i64(), "from");
  V to = l_.Fn("llvm.smin", l_.Fn("llvm.sadd.sat", from, l_.I64(poll.every * step)), hi);
  Loop(from, to, step, body);
  LLVMBuildCondBr(l_.b, LLVMBuildICmp(l_.b, LLVMIntSLT, to, hi, ""), between, after);
  LLVMPositionBuilderAtEnd(l_.b, between);
  PollRun({poll.loop, [&] { return LLVMBuildSub(l_.b, to, lo, ""); }});
  V next[] = {lo, to};
  LLVMBasicBlockRef blocks[] = {before, LLVMGetInsertBlock(l_.b)};
  LLVMAddIncoming(from, next, blocks, 2);
  LLVMBuildBr(l_.b, head);
  LLVMPositionBuilderAtEnd(l_.b, after);
}

template <typename Condition, typename Body>
void KernelEmitter::WhileActive(LoopPoll poll, Condition condition, Body body) {
  V outer = mask_, active = l_.Alloca(l_.vec(l_.i1()), "active");
  const CountedTrips trips = BeginTrips(poll);
  LLVMBuildStore(l_.b, MaskOrAll(), active);
  LLVMBasicBlockRef head = l_.NewBlock("while"), inside = l_.NewBlock("body"), after = l_.NewBlock("done");
  LLVMBuildBr(l_.b, head);
  LLVMPositionBuilderAtEnd(l_.b, head);
  ++masked_depth_;
  mask_ = LLVMBuildLoad2(l_.b, l_.vec(l_.i1()), active, "");
  V on = LLVMBuildAnd(l_.b, mask_, condition(), "");
  LLVMBuildStore(l_.b, on, active);
  LLVMBuildCondBr(l_.b, Any(on), inside, after);
  LLVMPositionBuilderAtEnd(l_.b, inside);
  mask_ = on;
  body();
  EndTrip(trips, poll);
  LLVMBuildBr(l_.b, head);
  --masked_depth_;
  LLVMPositionBuilderAtEnd(l_.b, after);
  mask_ = outer;
}

// ---- branches ----

template <typename Then, typename Else>
void KernelEmitter::Branch(V condition, Then then, Else otherwise) {
  EmitBranch(l_, condition, then, otherwise);
}

// ---- functions ----

template <typename Body>
void KernelEmitter::Function(const std::string& name, Body body) {
  function_ = LLVMAddFunction(l_.module, name.c_str(), FunctionType());
  LLVMSetLinkage(function_, LLVMInternalLinkage);
  LLVMAppendBasicBlockInContext(l_.ctx, function_, "entry");
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l_.ctx, function_, "start");
  LLVMPositionBuilderAtEnd(l_.b, start);
  exit_ = nullptr;
  buffers_.clear();
  const size_t held = CountBuffers() - (out_.run_state ? 1 : 0);
  for (size_t i = 0; held <= kHeldBuffers && i < held; ++i) buffers_.push_back(LoadBuffer(i));
  body();
  LLVMBuildRetVoid(l_.b);
  if (exit_ != nullptr) {
    LLVMPositionBuilderAtEnd(l_.b, exit_);
    LLVMBuildRetVoid(l_.b);
  }
  LLVMPositionBuilderAtEnd(l_.b, LLVMGetEntryBasicBlock(function_));
  LLVMBuildBr(l_.b, start);
}

}  // namespace ricci::cpu
#endif
