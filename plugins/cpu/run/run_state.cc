#include "cpu/run/run_state.h"

#include <cstddef>
#include <string_view>

#include "ricci/api_table.h"

namespace ricci::cpu {
namespace {

using V = LLVMValueRef;

V FieldAt(const LlvmBuilder& l, V base, uint64_t offset) {
  V index = l.I64(static_cast<int64_t>(offset));
  return LLVMBuildGEP2(l.b, l.i8(), base, &index, 1, "");
}

V Load(const LlvmBuilder& l, LLVMTypeRef type, V base, uint64_t offset, const char* name) {
  return LLVMBuildLoad2(l.b, type, FieldAt(l, base, offset), name);
}

void AddAttribute(const LlvmBuilder& l, V f, std::string_view name, uint64_t value) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name.data(), name.size());
  LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(l.ctx, kind, value));
}

// States that `f` touches no memory that kernels access, and hardly ever runs, so that LLVM keeps the invariants of a
// loop with a call of it in registers.
void StateColdness(const LlvmBuilder& l, V f) {
  constexpr uint64_t kInaccessibleMemory = 3 << 2;  // read and written; nothing else
  AddAttribute(l, f, "cold", 0);
  AddAttribute(l, f, "willreturn", 0);
  AddAttribute(l, f, "memory", kInaccessibleMemory);
}

// A function of the module around RicciCpuStopped that preserves registers, of vectors the lower 128 bits: loops of
// scalars stay as they are, and others save no register unless they poll. (LLVM 19 has a convention for 256 bits too,
// but its functions end with vzeroupper, which undoes it.)
V AskFunction(const LlvmBuilder& l) {
  if (V known = LLVMGetNamedFunction(l.module, "ask")) return known;
  LLVMTypeRef params[] = {l.ptr(), l.i32(), l.i64()};
  LLVMTypeRef type = LLVMFunctionType(l.i32(), params, 3, 0);
  V ask = LLVMAddFunction(l.module, "ask", type), asked = LLVMAddFunction(l.module, "ricci_cpu_stopped", type);
  LLVMSetLinkage(ask, LLVMInternalLinkage);
  LLVMSetFunctionCallConv(ask, LLVMColdCallConv);
  StateColdness(l, ask);
  LLVMBasicBlockRef here = LLVMGetInsertBlock(l.b);
  LLVMPositionBuilderAtEnd(l.b, LLVMAppendBasicBlockInContext(l.ctx, ask, "entry"));
  V args[] = {LLVMGetParam(ask, 0), LLVMGetParam(ask, 1), LLVMGetParam(ask, 2)};
  LLVMBuildRet(l.b, LLVMBuildCall2(l.b, type, asked, args, 3, ""));
  LLVMPositionBuilderAtEnd(l.b, here);
  return ask;
}

V CallAsk(const LlvmBuilder& l, V run, const PollSite& at) {
  V ask = AskFunction(l);
  V args[] = {run, l.I32(static_cast<int32_t>(at.instruction)), at.trips ? at.trips() : l.I64(0)};
  V call = LLVMBuildCall2(l.b, LLVMGlobalGetValueType(ask), ask, args, 3, "");
  LLVMSetInstructionCallConv(call, LLVMColdCallConv);
  return call;
}

V IsNotZero(const LlvmBuilder& l, V v) { return LLVMBuildICmp(l.b, LLVMIntNE, v, l.I32(0), ""); }

}  // namespace

extern "C" uint32_t RicciCpuStopped(RunState* run, uint32_t instruction, uint64_t trips) {
  uint32_t code = run->stopped.load(std::memory_order_relaxed);
  if (code != 0) return code;
  const uint32_t seen = ricci_stop_requested(run->args);
  if (seen == 0) return 0;
  if (!run->stopped.compare_exchange_strong(code, seen, std::memory_order_relaxed)) return code;
  run->stop_point = {run->step, instruction, trips};
  return seen;
}

V EmitLoadOfArgs(const LlvmBuilder& l, V run, uint64_t offset, const char* name) {
  return Load(l, l.ptr(), Load(l, l.ptr(), run, offsetof(RunState, args), "args"), offset, name);
}

void EmitStepNumber(const LlvmBuilder& l, V run, uint32_t step) {
  if (!l.stoppable) return;
  V store = LLVMBuildStore(l.b, l.I32(static_cast<int32_t>(step)), FieldAt(l, run, offsetof(RunState, step)));
  LLVMSetVolatile(store, 1);  // polls are said to read no memory (StateColdness)
}

void EmitPoll(const LlvmBuilder& l, V run, LLVMBasicBlockRef end, const PollSite& at) {
  if (!l.stoppable) return;
  LLVMBasicBlockRef ask = l.NewBlock("ask"), next = l.NewBlock("next");
  V watched = Load(l, l.i32(), run, offsetof(RunState, watched), "watched");
  LLVMBuildCondBr(l.b, IsNotZero(l, watched), ask, next);
  LLVMPositionBuilderAtEnd(l.b, ask);
  LLVMBuildCondBr(l.b, IsNotZero(l, CallAsk(l, run, at)), end, next);
  LLVMPositionBuilderAtEnd(l.b, next);
}

void EmitEndIfStopped(const LlvmBuilder& l, V run, LLVMBasicBlockRef end) {
  if (!l.stoppable) return;
  LLVMBasicBlockRef next = l.NewBlock("next");
  V stopped = Load(l, l.i32(), run, offsetof(RunState, stopped), "stopped");
  LLVMSetOrdering(stopped, LLVMAtomicOrderingMonotonic);
  LLVMSetAlignment(stopped, alignof(uint32_t));
  LLVMBuildCondBr(l.b, IsNotZero(l, stopped), end, next);
  LLVMPositionBuilderAtEnd(l.b, next);
}

}  // namespace ricci::cpu
