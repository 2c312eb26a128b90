// What the code of a plan calls: kernels in parallel, the tasks of library calls, and reports of steps.
//
// Profiled code calls functions of its own, so that others have nothing to ask.
// It is called by name (code_symbols.h), so no header declares it. A call returns 1 where the plan must end.
//
// A library call that fails ends the plan at once. Of its tasks, the lowest one that failed is reported, so the error
// does not depend on threads.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "cpu/llvm/code_symbols.h"
#include "cpu/run/pool.h"
#include "cpu/run/run_state.h"
#include "ricci/api_table.h"

namespace ricci::cpu {
namespace {

using KernelFn = void (*)(void* const* buffers, int64_t begin, int64_t end, void* scratch);

uint64_t Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

extern "C" uint64_t RicciCpuStepBegin(RunState* run, uint32_t step) {
  run->step = step;
  return Now();
}
extern "C" void RicciCpuStepEnd(RunState* run, uint32_t step, uint64_t begin) {
  const ricci_run_args& a = *run->args;
  if (a.span != nullptr) a.span(a.span_self, step, /*thread=*/0, begin, Now());
}

// Runs a task; profiled, reports it as a part of the step.
template <bool kProfiled, typename Task>
void RunPart(RunState* run, uint32_t worker, Task&& task) {
  if constexpr (!kProfiled) return task();
  const uint64_t begin = Now();
  task();
  const ricci_run_args& a = *run->args;
  if (a.span != nullptr) a.span(a.span_self, run->step, worker + 1, begin, Now());
}

struct ParallelKernel {
  RunState* run;
  KernelFn fn;
  void* const* buffers;
  int64_t units, grain;
  char* scratch;
  uint64_t scratch_stride;
};

// 1: the run is to end.
template <bool kProfiled>
uint32_t Parallel(RunState* run, KernelFn fn, void* const* buffers, int64_t units, int64_t grain, char* scratch,
                  uint64_t scratch_stride, uint32_t scratch_parts) {
  ParallelKernel k{run, fn, buffers, units, grain, scratch, scratch_stride};
  run->pool->Run((units + grain - 1) / grain,
                 [](void* arg, int64_t task, uint32_t worker) {
                   const auto& p = *static_cast<ParallelKernel*>(arg);
                   if (IsStopped(*p.run)) return;
                   RunPart<kProfiled>(p.run, worker, [&] {
                     p.fn(p.buffers, task * p.grain, std::min(p.units, (task + 1) * p.grain),
                          p.scratch + worker * p.scratch_stride);
                   });
                 },
                 &k, scratch_parts);
  return run->stopped.load(std::memory_order_relaxed) == 0 ? 0 : 1;
}

// The tasks of a library call. Once one fails, later ones are skipped while those before it still run, so the failure
// with the lowest number is always the one reported, whichever thread comes first.
struct LibraryTasks {
  RunState* run;
  const ricci_plan_library* call;
  const ricci_launch* launch;
  char* scratch;
  uint64_t scratch_stride;
  std::atomic<int64_t> failed_task{INT64_MAX};
  std::mutex mutex;
  ricci_status* status = nullptr;  // of failed_task

  void Run(int64_t task, uint32_t worker) {
    if (task > failed_task.load(std::memory_order_relaxed) || IsStopped(*run)) return;
    ricci_launch mine = *launch;
    mine.task = task;
    if (call->scratch_bytes != 0) mine.scratch = scratch + worker * scratch_stride;
    if (ricci_status* s = call->library->launch(call->state, &mine)) Keep(task, s);
  }
  void Keep(int64_t task, ricci_status* s) {
    {
      std::lock_guard lock(mutex);
      if (task < failed_task.load(std::memory_order_relaxed)) {
        failed_task.store(task, std::memory_order_relaxed);
        std::swap(status, s);
      }
    }
    if (s != nullptr) ricci_status_free(s);
  }
};

// Returns 1 if a task has failed, and its status is that of the run, or if the run is to end.
template <bool kProfiled>
uint32_t Library(RunState* run, const ricci_plan_library* call, void* const* buffers, char* scratch,
                 uint64_t scratch_stride, uint32_t scratch_parts) {
  ricci_launch launch{};
  launch.hdr.size = sizeof launch;
  launch.n_in = call->n_in;
  launch.n_out = call->n_out;
  launch.in = buffers;
  launch.out = buffers + call->n_in;
  launch.workspace = call->workspace_bytes != 0 ? buffers[call->n_in + call->n_out] : nullptr;
  LibraryTasks tasks{run, call, &launch, scratch, scratch_stride, INT64_MAX, {}, nullptr};
  run->pool->Run(
      call->tasks,
      [](void* arg, int64_t task, uint32_t worker) {
        auto& all = *static_cast<LibraryTasks*>(arg);
        RunPart<kProfiled>(all.run, worker, [&] { all.Run(task, worker); });
      },
      &tasks, scratch_parts);
  run->status = tasks.status;
  return run->status == nullptr && run->stopped.load(std::memory_order_relaxed) == 0 ? 0 : 1;
}

template <typename F>
void* Address(F* f) {
  void* p;
  static_assert(sizeof p == sizeof f);
  std::memcpy(&p, &f, sizeof p);
  return p;
}
}  // namespace

std::span<const CodeSymbol> RuntimeSymbols() {
  static const CodeSymbol symbols[] = {
      {"ricci_cpu_parallel", Address(&Parallel<false>)},     {"ricci_cpu_parallel_profiled", Address(&Parallel<true>)},
      {"ricci_cpu_library", Address(&Library<false>)},       {"ricci_cpu_library_profiled", Address(&Library<true>)},
      {"ricci_cpu_step_begin", Address(&RicciCpuStepBegin)}, {"ricci_cpu_step_end", Address(&RicciCpuStepEnd)},
      {"ricci_cpu_stopped", Address(&RicciCpuStopped)}};
  return symbols;
}

}  // namespace ricci::cpu
