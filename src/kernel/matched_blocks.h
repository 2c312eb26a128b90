// MatchedBlocks: the loops and branches of a list of steps, matched once (ricci/step_blocks.h) and handed to all that
// walk over the list. A value of its own, which changes of the steps do not change.
#ifndef RICCI_KERNEL_MATCHED_BLOCKS_H_
#define RICCI_KERNEL_MATCHED_BLOCKS_H_
#include <cstdint>
#include <span>
#include <vector>

#include "ricci/step_blocks.h"

namespace ricci { inline namespace v0 { namespace kernel {

constexpr uint32_t kNoStep = RICCI_NO_STEP;

// The steps from first to last.
struct StepInterval {
  uint32_t first, last;
};

class MatchedBlocks {
 public:
  // Of a plan that kernel::Verify refuses, the numbers mean nothing.
  explicit MatchedBlocks(std::span<const ricci_plan_step> steps);

  const ricci_step_block& operator[](uint32_t s) const { return blocks_[s]; }
  // Is the step, or the loop or branch that begins with it, within no other?
  bool Outermost(uint32_t s) const { return blocks_[s].around == kNoStep; }
  // The innermost loop around step `s`, of a WHILE, COND and END that itself; or kNoStep.
  uint32_t LoopAround(uint32_t s) const { return loops_[s]; }
  // With all steps of each loop that holds one end of it, but not the other.
  StepInterval OverLoops(StepInterval steps) const;

 private:
  std::vector<ricci_step_block> blocks_;
  std::vector<uint32_t> loops_;
};

}}}  // namespace ricci::v0::kernel
#endif
