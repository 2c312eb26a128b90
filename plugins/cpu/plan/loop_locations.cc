#include "cpu/plan/loop_locations.h"

#include <algorithm>
#include <cstring>

#include "codegen/analysis.h"
#include "codegen/loop_text.h"
#include "cpu/kernel/polls.h"
#include "ricci/api_table.h"
#include "ricci/step_blocks.h"

namespace ricci::cpu {
namespace {

constexpr size_t kNumbers = 5;  // of a location: the fields, the last of them the length of the file's name

bool IsLong(const ricci_kernel_table& k, uint32_t i) {
  if (k.insts[i].op == RICCI_K_WHILE) return true;
  if (k.insts[i].op != RICCI_K_FOR) return false;
  const auto trips = codegen::TripsOf(k, i);
  return trips && static_cast<double>(*trips) > kPollTrips;
}

// The innermost of the long loops around an instruction of a kernel; NULL: there is none.
const LoopLocation* Around(const std::vector<LoopLocation>& loops, uint32_t kernel, uint32_t instruction) {
  const auto last = std::find_if(loops.rbegin(), loops.rend(), [&](const LoopLocation& p) {
    return p.kernel == kernel && p.begin <= instruction && instruction < p.end;
  });
  return last == loops.rend() ? nullptr : &*last;
}

// The innermost loop of the plan around a step, or the step itself; NULL: there is none.
const ricci_plan_step* Around(const ricci_plan& plan, uint32_t step) {
  std::vector<ricci_step_block> blocks(plan.n_steps);
  ricci_match_blocks(plan.steps, plan.n_steps, blocks.data());
  while (step != RICCI_NO_STEP && plan.steps[step].kind != RICCI_STEP_WHILE) step = blocks[step].around;
  return step == RICCI_NO_STEP ? nullptr : &plan.steps[step];
}

}  // namespace

std::vector<LoopLocation> LocationsOfLoops(const ricci_ctx* ctx, const ricci_compile_args& a) {
  std::vector<LoopLocation> loops;
  for (uint32_t n = 0; n < a.n_kernels; ++n) {
    const ricci_kernel_table& k = *a.kernels[n];
    if (k.locations == nullptr) continue;
    std::optional<codegen::Blocks> blocks;
    for (uint32_t i = 1; i < k.n_insts; ++i) {
      if (k.locations[i] == 0 || !IsLong(k, i)) continue;
      if (!blocks) blocks.emplace(k);
      LoopLocation& loop = loops.emplace_back(LoopLocation{n, i, blocks->close[i], 0, {}});
      ricci_str file{};
      ricci_location_get(ctx, k.locations[i], &file, &loop.line, nullptr);
      loop.file.assign(file.ptr, file.len);
    }
  }
  return loops;
}

std::string WhereStopped(const ricci_ctx* ctx, const ricci_compile_args& a, const std::vector<LoopLocation>& loops,
                         const StopPoint& at) {
  const ricci_plan& plan = *a.plan;
  if (at.step >= plan.n_steps) return {};
  const ricci_plan_step& step = plan.steps[at.step];
  if (step.kind == RICCI_STEP_KERNEL && at.instruction != 0) {
    const LoopLocation* loop = Around(loops, step.index, at.instruction);
    if (loop != nullptr)
      return codegen::InTheLoop(loop->file, loop->line, loop->begin == at.instruction ? at.trips : 0);
  }
  const ricci_plan_step* loop = Around(plan, at.step);
  if (loop == nullptr) return {};
  ricci_str file{};
  uint32_t line = 0;
  ricci_location_get(ctx, loop->location, &file, &line, nullptr);
  // Several trips of a scan may be one of the plan's.
  const bool is_counted = step.kind == RICCI_STEP_COND && loop->index == 0;
  return codegen::InTheLoop({file.ptr, file.len}, line, is_counted ? at.trips : 0);
}

void AppendTo(std::string& bytes, const std::vector<LoopLocation>& loops) {
  const auto count = static_cast<uint32_t>(loops.size());
  bytes.append(reinterpret_cast<const char*>(&count), sizeof count);
  for (const LoopLocation& p : loops) {
    const uint32_t numbers[kNumbers] = {p.kernel, p.begin, p.end, p.line, static_cast<uint32_t>(p.file.size())};
    bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    bytes += p.file;
  }
}

bool TakeFrom(std::string_view& bytes, std::vector<LoopLocation>& loops) {
  const auto take = [&](void* to, size_t n) {
    if (bytes.size() < n) return false;
    std::memcpy(to, bytes.data(), n);
    bytes.remove_prefix(n);
    return true;
  };
  uint32_t count = 0;
  if (!take(&count, sizeof count)) return false;
  for (; count > 0; --count) {
    uint32_t numbers[kNumbers];
    if (!take(numbers, sizeof numbers) || bytes.size() < numbers[4]) return false;
    loops.push_back({numbers[0], numbers[1], numbers[2], numbers[3], std::string(bytes.substr(0, numbers[4]))});
    bytes.remove_prefix(numbers[4]);
  }
  return true;
}

}  // namespace ricci::cpu
