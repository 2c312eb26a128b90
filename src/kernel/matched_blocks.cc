#include "kernel/matched_blocks.h"

namespace ricci { inline namespace v0 { namespace kernel {

MatchedBlocks::MatchedBlocks(std::span<const ricci_plan_step> steps) : blocks_(steps.size()), loops_(steps.size()) {
  ricci_match_blocks(steps.data(), static_cast<uint32_t>(steps.size()), blocks_.data());
  for (uint32_t s = 0; s < steps.size(); ++s) {
    const uint32_t around = blocks_[s].around;
    loops_[s] = steps[s].kind == RICCI_STEP_WHILE ? s : around == kNoStep ? kNoStep : loops_[around];
  }
}

// Inner loops begin later.
StepInterval MatchedBlocks::OverLoops(StepInterval steps) const {
  uint32_t a = loops_[steps.first], b = loops_[steps.last];
  while (a != b) {
    const bool leave_first = b == kNoStep || (a != kNoStep && a > b);
    uint32_t& left = leave_first ? a : b;
    (leave_first ? steps.first : steps.last) = leave_first ? left : blocks_[left].end;
    const uint32_t around = blocks_[left].around;
    left = around == kNoStep ? kNoStep : loops_[around];
  }
  return steps;
}

}}}  // namespace ricci::v0::kernel
