// The steps of a plan that are sources (source_code.h): the tasks of a launch, in parallel like those of a kernel.
#include <algorithm>

#include "cpu/llvm/source_code.h"
#include "cpu/plan/plan_emitter.h"
#include "ricci/api_table.h"

namespace ricci::cpu {
namespace {

// What a launch asks for that this backend does not have; empty: nothing.
std::string LaunchError(const ricci_plan_source& s) {
  const auto is_one = [](int64_t n) { return n == 1; };
  if (!std::all_of(std::begin(s.block), std::end(s.block), is_one)) {
    return "its block is " + std::to_string(s.block[0]) + " x " + std::to_string(s.block[1]) + " x " +
           std::to_string(s.block[2]) + "; a block is one thread here";
  }
  if (s.shared_bytes == 0) return {};
  return "it wants " + std::to_string(s.shared_bytes) + " bytes of shared memory; a block is one thread here";
}

V ScalarOf(const LlvmBuilder& l, const ricci_source_scalar& s) {
  const unsigned bits = 8 * ricci_dtype_size(s.dtype);
  V number = LLVMConstInt(LLVMIntTypeInContext(l.ctx, bits), s.bits, 0);
  if (s.dtype != RICCI_F32 && s.dtype != RICCI_F64) return number;
  return LLVMConstBitCast(number, s.dtype == RICCI_F32 ? l.f32() : l.f64());
}

}  // namespace

bool PlanEmitter::EmitSources() {
  for (uint32_t i = 0; i < plan_.n_sources; ++i) {
    const ricci_plan_source& s = plan_.sources[i];
    out_.error = LaunchError(s);
    V entry = out_.error.empty() ? LinkSource(l_.module, s, i, *l_.processor, out_.error) : nullptr;
    if (entry == nullptr) {
      out_.wrong_source = i + 1;
      return false;
    }
    sources_.push_back({Tasks(s, entry, "tasks" + std::to_string(i)), s.grid[0] * s.grid[1] * s.grid[2]});
  }
  return true;
}

// A function with the parameters of a kernel that runs tasks `begin` to `end` - 1, at least one.
V PlanEmitter::Tasks(const ricci_plan_source& s, V entry, const std::string& name) {
  LLVMTypeRef params[] = {l_.ptr(), l_.i64(), l_.i64(), l_.ptr()};
  V tasks = LLVMAddFunction(l_.module, name.c_str(), LLVMFunctionType(LLVMVoidTypeInContext(l_.ctx), params, 4, 0));
  LLVMSetLinkage(tasks, LLVMInternalLinkage);
  LLVMBasicBlockRef start = LLVMAppendBasicBlockInContext(l_.ctx, tasks, "start");
  LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(l_.ctx, tasks, "task");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(l_.ctx, tasks, "done");
  LLVMPositionBuilderAtEnd(l_.b, start);
  V buffers = LLVMGetParam(tasks, 0);
  V workspace = s.workspace_bytes != 0 ? Entry(buffers, s.n_in + s.n_out) : LLVMConstNull(l_.ptr());
  LLVMBuildBr(l_.b, loop);
  LLVMPositionBuilderAtEnd(l_.b, loop);
  V task = LLVMBuildPhi(l_.b, l_.i64(), "task");
  std::vector<V> args = {buffers, workspace, task};
  for (uint32_t i = 0; i < s.n_scalars; ++i) args.push_back(ScalarOf(l_, s.scalars[i]));
  LLVMBuildCall2(l_.b, LLVMGlobalGetValueType(entry), entry, args.data(), static_cast<unsigned>(args.size()), "");
  V next[] = {LLVMGetParam(tasks, 1), LLVMBuildAdd(l_.b, task, l_.I64(1), "")};
  LLVMBasicBlockRef from[] = {start, loop};
  LLVMAddIncoming(task, next, from, 2);
  LLVMBuildCondBr(l_.b, LLVMBuildICmp(l_.b, LLVMIntSLT, next[1], LLVMGetParam(tasks, 2), ""), loop, done);
  LLVMPositionBuilderAtEnd(l_.b, done);
  LLVMBuildRetVoid(l_.b);
  return tasks;
}

void PlanEmitter::SourceStep(const ricci_plan_step& step) {
  const LinkedSource& source = sources_[step.index];
  if (source.tasks == 0) return;
  KernelCode code{};
  code.poll_work = static_cast<double>(plan_.sources[step.index].flops);
  RunUnits(code, source.function, Arguments(step), source.tasks, 1, IsLast(step));
}

}  // namespace ricci::cpu
