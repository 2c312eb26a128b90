// What one run of a held program costs, and, from that, where it runs: inside a kernel, or as steps of the plan.
#ifndef RICCI_PASS_BODY_COST_H_
#define RICCI_PASS_BODY_COST_H_
#include "ir/program.h"
#include "pass/target/pass_options.h"

namespace ricci { inline namespace v0 { namespace pass {

struct BodyCost {
  int64_t largest = 0;          // elements of the largest value, stacks of inner loops not counted
  int64_t total = 0;            // of all values, stacks included
  bool control = false;         // holds a loop or branch
  int32_t map_levels = 0;       // of vmap within vmap that it holds
  bool product = false;         // holds an expensive primitive
  bool may_fail = false;        // holds an operation that may fail
  bool guards_failure = false;  // holds one that may fail within a branch or while
  bool kernel_possible = true;  // every equation has a lowering within a kernel, and no effect
  std::string_view no_kernel;   // the primitive of an equation without one
};
// Each program is measured once for as long as `options.costs` lives.
absl::StatusOr<BodyCost> Measure(const ir::Program& body, const Options& options);

// Does this while, scan or cond become steps of the plan? The attribute `run_in` decides or, without it, the size:
// small bodies stay in one kernel, where their values live in registers; large ones get kernels and library calls of
// their own. On the reference device only if no kernel can hold its body; not for other equations. INVALID_ARGUMENT if
// `run_in` asks for something impossible.
absl::StatusOr<bool> RunsInPlan(const ir::Program& f, const ir::Equation& eqn, const Options& options);

}}}  // namespace ricci::v0::pass
#endif
