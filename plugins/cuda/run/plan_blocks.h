// PlanBlocks: the loops and branches of a plan as ranges of steps, and what a graph needs to know of them. A function
// of the steps alone (ricci/step_blocks.h).
#ifndef RICCI_CUDA_PLAN_BLOCKS_H_
#define RICCI_CUDA_PLAN_BLOCKS_H_
#include <vector>

#include "ricci/backend.h"
#include "ricci/step_blocks.h"

namespace ricci::cuda {

// Steps first to last - 1.
struct StepRange {
  uint32_t first = 0, last = 0;
};

class PlanBlocks {
 public:
  explicit PlanBlocks(const ricci_plan& plan);

  // Does the plan have loops or branches? Does it have loops?
  bool any() const { return depth_ != 0; }
  bool has_loops() const { return has_loops_; }
  // True if some CASE has more than one branch with steps.
  bool has_choices() const { return has_choices_; }
  // How many of them are in each other at most.
  uint32_t depth() const { return depth_; }
  // The step after this one, with all that is within it.
  uint32_t After(uint32_t step) const { return blocks_[step].end + 1; }
  // Of a WHILE: the steps that compute its predicate, and its body.
  StepRange Condition(uint32_t loop) const { return {loop + 1, blocks_[loop].next}; }
  StepRange Body(uint32_t loop) const { return {blocks_[loop].next + 1, blocks_[loop].end}; }
  // Of a CASE: true if more than one branch has steps.
  bool IsChoice(uint32_t step) const;
  // Of a CASE, in order.
  std::vector<StepRange> Branches(uint32_t step) const;

 private:
  std::vector<ricci_step_block> blocks_;  // by step
  uint32_t depth_ = 0;
  bool has_loops_ = false, has_choices_ = false;
};

}  // namespace ricci::cuda
#endif
