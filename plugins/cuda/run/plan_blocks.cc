#include "cuda/run/plan_blocks.h"

#include <algorithm>

namespace ricci::cuda {

PlanBlocks::PlanBlocks(const ricci_plan& plan) : blocks_(plan.n_steps) {
  ricci_match_blocks(plan.steps, plan.n_steps, blocks_.data());
  std::vector<uint32_t> depths(plan.n_steps);  // of loops and branches, themselves included
  for (uint32_t s = 0; s < plan.n_steps; ++s) {
    if (!ricci_step_opens(&plan.steps[s])) continue;
    depths[s] = (blocks_[s].around == RICCI_NO_STEP ? 0 : depths[blocks_[s].around]) + 1;
    depth_ = std::max(depth_, depths[s]);
    has_loops_ = has_loops_ || plan.steps[s].kind == RICCI_STEP_WHILE;
    has_choices_ = has_choices_ || (plan.steps[s].kind == RICCI_STEP_CASE && IsChoice(s));
  }
}

bool PlanBlocks::IsChoice(uint32_t step) const {
  const std::vector<StepRange> branches = Branches(step);
  return std::count_if(branches.begin(), branches.end(), [](const StepRange& b) { return b.first != b.last; }) > 1;
}

std::vector<StepRange> PlanBlocks::Branches(uint32_t step) const {
  std::vector<StepRange> out;
  for (uint32_t at = step; at != blocks_[step].end; at = blocks_[at].next) out.push_back({at + 1, blocks_[at].next});
  return out;
}

}  // namespace ricci::cuda
