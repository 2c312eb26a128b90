// Floating operations of a kernel and of a plan, for the statistics of an executable.
//
// Sums, products, quotients and special functions count 1, a fused multiply-add 2, moves, comparisons and integers
// nothing. A loop counts as often as it runs if that is known, and once if it is not; both sides of a branch count.
// More than 2^64 - 1 is reported as 2^64 - 1.
#include <algorithm>
#include <span>

#include "base/saturating.h"
#include "kernel/kernel.h"
#include "kernel/matched_blocks.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

using base::AddUpToMost;
using base::MulUpToMost;

uint64_t Weight(uint16_t op) {
  switch (op) {
    case RICCI_S_ADD:
    case RICCI_S_SUB:
    case RICCI_S_MUL:
    case RICCI_S_DIV:
    case RICCI_S_REM:
    case RICCI_S_ERF:
    case RICCI_S_ERFC:
    case RICCI_S_ERF_INV:
    case RICCI_S_LOGISTIC:
    case RICCI_S_LGAMMA:
    case RICCI_S_DIGAMMA:
      return 1;
    case RICCI_S_FMA:
      return 2;
    default:
      return op >= RICCI_S_EXP && op <= RICCI_S_CBRT;
  }
}

uint64_t Trips(const ricci_kernel_table& k, const ricci_inst& loop) {
  const ricci_inst &lo = k.insts[loop.a], &hi = k.insts[loop.b];
  if (lo.op != RICCI_K_CONST || hi.op != RICCI_K_CONST) return 1;
  return hi.imm > lo.imm ? static_cast<uint64_t>(hi.imm) - static_cast<uint64_t>(lo.imm) : 0;
}

}  // namespace

uint64_t CountFlops(const ricci_kernel_table& k) {
  uint64_t points = 1, sum = 0;
  for (const int64_t extent : std::span(k.domain, k.domain_rank)) {
    points = MulUpToMost(points, static_cast<uint64_t>(extent));
  }
  std::vector<uint64_t> runs{points};  // how often the instructions of each open block run
  const auto count = [&](uint16_t dtype, uint64_t weight) {
    if (types::IsFloating(dtype)) sum = AddUpToMost(sum, MulUpToMost(runs.back(), weight));
  };
  for (uint32_t i = 1; i < k.n_insts; ++i) {
    const ricci_inst& inst = k.insts[i];
    switch (inst.op) {
      case RICCI_K_FOR:
      case RICCI_K_REDUCE:
      case RICCI_K_SCAN:
        runs.push_back(MulUpToMost(runs.back(), Trips(k, inst)));
        break;
      case RICCI_K_WHILE:
      case RICCI_K_IF:
        runs.push_back(runs.back());
        break;
      case RICCI_K_COMBINE:
        count(k.insts[inst.b].dtype, Weight(static_cast<uint16_t>(RICCI_COMBINER_OF(inst.imm))));
        break;
      case RICCI_K_YIELD:
        count(inst.dtype, Weight(static_cast<uint16_t>(k.insts[inst.a].imm)));
        runs.pop_back();
        break;
      case RICCI_K_END:
        runs.pop_back();
        break;
      default:
        count(inst.dtype, Weight(inst.op));
    }
  }
  return sum;
}

uint64_t CountFlops(const Plan& plan, std::span<const Kernel> kernels) {
  uint64_t sum = 0;
  const MatchedBlocks blocks(plan.steps);
  std::vector<uint64_t> runs_within(plan.steps.size(), 1);  // of a loop or branch
  std::vector<uint64_t> of_kernel;                          // each is computed once, however often the plan runs it
  for (const Kernel& k : kernels) of_kernel.push_back(CountFlops(k.View()));
  for (uint32_t s = 0; s < plan.steps.size(); ++s) {
    const ricci_plan_step& step = plan.steps[s];
    const uint64_t runs = blocks.Outermost(s) ? 1 : runs_within[blocks[s].around];
    switch (step.kind) {
      case RICCI_STEP_KERNEL:
        sum = AddUpToMost(sum, MulUpToMost(runs, of_kernel[step.index]));
        break;
      case RICCI_STEP_LIBRARY:
        sum = AddUpToMost(sum, MulUpToMost(runs, plan.libraries[step.index].flops));
        break;
      case RICCI_STEP_SOURCE:
        sum = AddUpToMost(sum, MulUpToMost(runs, plan.sources[step.index].flops));
        break;
      case RICCI_STEP_WHILE:
        runs_within[s] = MulUpToMost<uint64_t>(runs, std::max(step.index, 1u));
        break;
      case RICCI_STEP_CASE:
        runs_within[s] = runs;
        break;
      default:
        break;
    }
  }
  return sum;
}

}}}  // namespace ricci::v0::kernel
