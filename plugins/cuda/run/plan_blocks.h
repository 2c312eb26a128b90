// PlanBlocks: where the loops and branches of a plan begin and end. A function of the steps alone.
#ifndef RICCI_CUDA_PLAN_BLOCKS_H_
#define RICCI_CUDA_PLAN_BLOCKS_H_
#include <vector>

#include "ricci/backend.h"

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
  uint32_t After(uint32_t step) const { return (Opens(step) ? end_[step] : step) + 1; }
  // Of a WHILE: the steps that compute its predicate, and its body.
  StepRange Condition(uint32_t loop) const { return {loop + 1, next_[loop]}; }
  StepRange Body(uint32_t loop) const { return {next_[loop] + 1, end_[loop]}; }
  // Of a CASE: true if more than one branch has steps.
  bool IsChoice(uint32_t step) const;
  // Of a CASE, in order.
  std::vector<StepRange> Branches(uint32_t step) const;

 private:
  bool Opens(uint32_t step) const { return end_[step] != 0; }

  std::vector<uint32_t> end_;   // by step: of WHILE and CASE the END; of others 0
  std::vector<uint32_t> next_;  // by step: of WHILE the COND, of CASE and NEXT the next NEXT or the END
  uint32_t depth_ = 0;
  bool has_loops_ = false, has_choices_ = false;
};

}  // namespace ricci::cuda
#endif
