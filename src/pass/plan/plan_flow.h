// PlanFlow: in which order the steps of a plan may run, and where the value of a buffer is still needed.
//
// A buffer of the arena begins at its first step, in the innermost list of steps (of a loop or a branch) that holds all
// its steps: what only the steps within a loop use is made again in each trip (verify_values checks that). From there
// on its value is needed up to the last step that reads it, on each path through the loops and branches, unless a copy
// replaces it in between. A kernel may write only a part, so a write by a kernel does not end the need for the old
// value.
#ifndef RICCI_PASS_PLAN_FLOW_H_
#define RICCI_PASS_PLAN_FLOW_H_
#include <span>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/matched_blocks.h"

namespace ricci { inline namespace v0 { namespace pass {

// What one step does to one buffer.
struct Access {
  uint32_t step;
  bool read = false, write = false;
  bool replaced = false;  // all of it is written: the destination of a copy
};

// Per buffer, in the order of the steps. A predicate is read by the COND of its loop.
std::vector<std::vector<Access>> AccessesOf(const kernel::Plan& plan, const kernel::MatchedBlocks& blocks,
                                            std::span<const kernel::Kernel> kernels);

class PlanFlow {
 public:
  // `blocks` are those of the plan.
  PlanFlow(const kernel::Plan& plan, const kernel::MatchedBlocks& blocks);

  // Loops around step `s`.
  uint32_t Depth(uint32_t s) const { return depth_[s]; }
  // Is step `s` outside all loops and branches?
  bool Outermost(uint32_t s) const { return list_of_[s] == kNone; }

  // Marks the steps after which the value of a buffer with these accesses is needed: live[step] = mark. `at_end`: it is
  // a result of the plan. Returns the number of marks.
  size_t MarkLive(std::span<const Access> accesses, bool at_end, uint32_t mark, std::vector<uint32_t>& live) const;

 private:
  static constexpr uint32_t kNone = kernel::kNoStep;

  // The list of a step that follows `s`.
  uint32_t ListAfter(uint32_t s) const;
  // The WHILE or CASE whose list it is.
  uint32_t BlockOf(uint32_t list) const;
  // The step that contains `first` in the innermost list around both.
  uint32_t Begin(uint32_t first, uint32_t last) const;
  // Calls f with each step that may run just before `s`; the end of the plan is step plan.steps.size().
  template <typename F>
  void Before(uint32_t s, const F& f) const;

  const kernel::Plan& plan_;
  const kernel::MatchedBlocks& blocks_;
  std::vector<uint32_t> list_of_;  // of a step: the WHILE, CASE or NEXT after which its list begins; kNone: the plan
  std::vector<uint32_t> depth_;
};

}}}  // namespace ricci::v0::pass
#endif
