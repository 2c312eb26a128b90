#include "cuda/run/plan_blocks.h"

#include <algorithm>

namespace ricci::cuda {

PlanBlocks::PlanBlocks(const ricci_plan& plan) : end_(plan.n_steps), next_(plan.n_steps) {
  struct Open {
    uint32_t begin, latest;  // latest: the step whose `next_` is wanted
    uint32_t with_steps;     // parts that have some
  };
  std::vector<Open> open;
  const auto end_part = [&](uint32_t i) {
    next_[open.back().latest] = i;
    if (i != open.back().latest + 1) ++open.back().with_steps;
    open.back().latest = i;
  };
  for (uint32_t i = 0; i < plan.n_steps; ++i) {
    switch (plan.steps[i].kind) {
      case RICCI_STEP_WHILE:
      case RICCI_STEP_CASE:
        has_loops_ = has_loops_ || plan.steps[i].kind == RICCI_STEP_WHILE;
        open.push_back({i, i, 0});
        depth_ = std::max(depth_, static_cast<uint32_t>(open.size()));
        break;
      case RICCI_STEP_COND:
      case RICCI_STEP_NEXT:
        end_part(i);
        break;
      case RICCI_STEP_END:
        end_part(i);
        end_[open.back().begin] = i;
        if (plan.steps[open.back().begin].kind == RICCI_STEP_CASE && open.back().with_steps > 1) has_choices_ = true;
        open.pop_back();
        break;
      default:
        break;
    }
  }
}

bool PlanBlocks::IsChoice(uint32_t step) const {
  const std::vector<StepRange> branches = Branches(step);
  return std::count_if(branches.begin(), branches.end(), [](const StepRange& b) { return b.first != b.last; }) > 1;
}

std::vector<StepRange> PlanBlocks::Branches(uint32_t step) const {
  std::vector<StepRange> out;
  for (uint32_t at = step; at != end_[step]; at = next_[at]) out.push_back({at + 1, next_[at]});
  return out;
}

}  // namespace ricci::cuda
