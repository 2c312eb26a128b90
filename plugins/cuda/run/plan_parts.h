// PlanParts: which steps of a plan run as graphs of the device, and why the host takes part between them, if it does. A
// function of the steps alone.
//
// The host is needed for library calls that may do more than enqueue, for a loop whose predicate takes loops or
// branches to compute, for loops and branches where the driver has no nodes for them, and for those that hold something
// that needs it. What is between two such steps of one list (the plan, a body, a branch) is a part: one graph, so one
// launch. A part of a single launch would gain nothing as a graph.
#ifndef RICCI_CUDA_PLAN_PARTS_H_
#define RICCI_CUDA_PLAN_PARTS_H_
#include <algorithm>
#include <string>
#include <vector>

#include "cuda/run/plan_blocks.h"

namespace ricci::cuda {

// Is the call part of a graph, by what it enqueues? Others are the host's.
inline bool IsNode(const ricci_plan_library& call) {
  return (call.flags & (RICCI_CALL_ONLY_ENQUEUES | RICCI_CALL_ON_HOST)) == RICCI_CALL_ONLY_ENQUEUES;
}

struct PlanPart {
  StepRange steps;
  bool has_blocks = false, has_loops = false;  // loops or branches; loops
  bool has_choices = false;                    // a CASE of which several branches have steps
};

struct PlanParts {
  std::vector<PlanPart> parts;    // in the order of their steps
  std::string why_not_one = {};   // why the plan is not one graph; empty: it is one, and so one part
  std::string for_captures = {};  // then: why a host cannot capture a run, and what it does instead

  bool is_one() const { return why_not_one.empty(); }
  bool Any(bool PlanPart::*has) const {
    return std::any_of(parts.begin(), parts.end(), [=](const PlanPart& p) { return p.*has; });
  }
};

// `why_no_conditions`: why the driver has no nodes for loops and branches; empty: it has.
PlanParts PartsOf(const ricci_plan& plan, const PlanBlocks& blocks, const std::string& why_no_conditions);
// No parts.
PlanParts StepByStep(std::string why, std::string for_captures);

}  // namespace ricci::cuda
#endif
