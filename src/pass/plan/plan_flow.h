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

namespace ricci { inline namespace v0 { namespace pass {

// What one step does to one buffer.
struct Access {
  uint32_t step;
  bool read = false, write = false;
  bool replaced = false;  // all of it is written: the destination of a copy
};

// Per buffer, in the order of the steps. A predicate is read by the COND of its loop.
std::vector<std::vector<Access>> AccessesOf(const kernel::Plan& plan, std::span<const kernel::Kernel> kernels);

class PlanFlow {
 public:
  explicit PlanFlow(const kernel::Plan& plan);

  // Loops around step `s`.
  uint32_t Depth(uint32_t s) const { return depth_[s]; }
  // Is step `s` outside all loops and branches?
  bool Outermost(uint32_t s) const { return list_of_[s] == 0; }

  // Marks the steps after which the value of a buffer with these accesses is needed: live[step] = mark. `at_end`: it is
  // a result of the plan. Returns the number of marks.
  size_t MarkLive(std::span<const Access> accesses, bool at_end, uint32_t mark, std::vector<uint32_t>& live) const;

 private:
  static constexpr uint32_t kNone = ~0u;
  struct List {
    uint32_t parent, opener;  // list and step around it
  };

  // The step that contains `first` in the innermost list around both.
  uint32_t Begin(uint32_t first, uint32_t last) const;
  // Calls f with each step that may run just before `s`; the end of the plan is step plan.steps.size().
  template <typename F>
  void Before(uint32_t s, const F& f) const;

  const kernel::Plan& plan_;
  std::vector<List> lists_;        // 0: the whole plan; inner ones have larger numbers
  std::vector<uint32_t> list_of_;  // of a step
  std::vector<uint32_t> depth_;
  std::vector<uint32_t> begin_, middle_, end_;  // of the block of a WHILE, COND, CASE, NEXT, END; middle: its COND
  std::vector<uint32_t> previous_next_;         // of a NEXT or END: the NEXT before in the same CASE, or kNone
};

}}}  // namespace ricci::v0::pass
#endif
