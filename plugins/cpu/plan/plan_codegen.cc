#include "cpu/plan/plan_codegen.h"

#include <algorithm>
#include <utility>

#include "cpu/kernel/polls.h"
#include "cpu/llvm/jit.h"
#include "cpu/plan/plan_emitter.h"
#include "ricci/exact.h"

namespace ricci::cpu {
namespace {

constexpr uint64_t kBehindPartials = 256;  // bytes that the last vector of partial results may read past their end

uint64_t InLines(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

uint64_t Limited(ricci_exact n) { return static_cast<uint64_t>(ricci_exact_clamp(n, 0, RICCI_MAX_DIM)); }

}  // namespace

PlanCode PlanEmitter::Emit() {
  if (!EmitKernels() || !EmitSources()) return out_;
  LayOutScratch();
  Function(kEntryName, [&] {
    for (uint32_t s = 0; s < plan_.n_steps;) {
      const uint32_t straight = Straight(s);
      straight == 0 ? Step(plan_.steps[s]) : Sequence(s, straight);
      s += std::max(straight, 1u);
    }
  });
  return out_;
}

bool PlanEmitter::EmitKernels() {
  for (uint32_t i = 0; i < n_kernels_; ++i) {
    const std::string name(kernels_[i]->name.ptr, kernels_[i]->name.len);
    code_.push_back(EmitKernel(l_, *kernels_[i], "kernel." + name, workers_));
    if (code_.back().error.empty()) continue;
    out_.error = name + ": " + code_.back().error;
    return false;
  }
  return true;
}

// Partial results first, then a part for each worker.
void PlanEmitter::LayOutScratch() {
  for (const KernelCode& k : code_) {
    per_worker_ = std::max(per_worker_, InLines(k.scratch_bytes));
    const auto partials = static_cast<uint64_t>(k.partials);
    if (partials != 0) partials_ = std::max(partials_, InLines(partials * 8) + kBehindPartials);
  }
  for (uint32_t i = 0; i < plan_.n_libraries; ++i) {
    per_worker_ = std::max(per_worker_, InLines(plan_.libraries[i].scratch_bytes));
  }
  per_worker_ = Limited(ricci_exact_of(static_cast<int64_t>(per_worker_)));
  out_.scratch_bytes = Limited(ricci_exact_of(static_cast<int64_t>(per_worker_)) * workers_ +
                               static_cast<int64_t>(std::min<uint64_t>(partials_, RICCI_MAX_DIM)));
}

V PlanEmitter::Function(const std::string& name, const std::function<void()>& body, bool piece) {
  LLVMTypeRef params[] = {l_.ptr(), l_.ptr(), l_.ptr(), l_.ptr(), l_.ptr()};
  LLVMTypeRef type = LLVMFunctionType(l_.i32(), params, piece ? 5 : 4, 0);
  V function = LLVMAddFunction(l_.module, name.c_str(), type);
  const V outer = std::exchange(function_, function);
  const LLVMBasicBlockRef outer_end = std::exchange(end_, nullptr);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(l_.ctx, function, "entry");
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l_.ctx, function, "start");
  LLVMPositionBuilderAtEnd(l_.b, start);
  body();
  LLVMBuildRet(l_.b, l_.I32(0));
  if (end_ != nullptr) {
    LLVMPositionBuilderAtEnd(l_.b, end_);
    LLVMBuildRet(l_.b, l_.I32(1));
  }
  LLVMPositionBuilderAtEnd(l_.b, entry);
  LLVMBuildBr(l_.b, start);
  function_ = outer, end_ = outer_end;
  return function;
}

void PlanEmitter::EndIf(V ended) {
  LLVMBasicBlockRef next = l_.NewBlock("next");
  LLVMBuildCondBr(l_.b, LLVMBuildICmp(l_.b, LLVMIntNE, ended, l_.I32(0), ""), End(), next);
  LLVMPositionBuilderAtEnd(l_.b, next);
  work_ = 0;
}

void PlanEmitter::Poll(uint32_t step, const std::function<V()>& trips) {
  V run = LLVMGetParam(function_, 3);
  EmitPoll(l_, run, End(), {0, [&] {
                              EmitStepNumber(l_, run, step);
                              return trips ? trips() : l_.I64(0);
                            }});
  work_ = 0;
}

void PlanEmitter::PollBefore(double work) {
  if (work_ + work > kPollWork) Poll(step_);
  work_ += work;
}

V PlanEmitter::Offset(V base, uint64_t bytes) {
  V index = l_.I64(static_cast<int64_t>(bytes));
  return LLVMBuildGEP2(l_.b, l_.i8(), base, &index, 1, "");
}

PlanCode EmitPlan(const LlvmBuilder& l, const ricci_kernel_table* const* kernels, uint32_t n_kernels,
                  const ricci_plan& plan, uint32_t workers, Constants constants, bool profiled) {
  return PlanEmitter(l, kernels, n_kernels, plan, workers, constants, profiled).Emit();
}

}  // namespace ricci::cpu
