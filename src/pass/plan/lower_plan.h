// The plan stages: from the last program to kernels and a plan, and the stages that change those. pipeline.cc lists
// them.
#ifndef RICCI_PASS_LOWER_PLAN_H_
#define RICCI_PASS_LOWER_PLAN_H_
#include "pass/plan/lowered.h"
#include "pass/target/pass_options.h"
#include "prim/row.h"

namespace ricci { inline namespace v0 { namespace pass {

// lower_plan.cc: one step per equation of out.optimized; fills kernels, plan and constants. Intermediate values have
// buffers of their own, still without offsets: PlanBuffers assigns them.
absl::Status LowerPlan(const Options& options, Lowered& out);

// lower_call.cc: what the library says of a call, equation `eqn` of `f`, whose state the caller owns. Failures of its
// runs name the equation. A plan that was saved is given its calls again by the same function.
absl::StatusOr<ricci_plan_library> PlanLibrary(const Options& options, const prim::Row& row, const ir::Program& f,
                                               const ir::Equation& eqn, const ricci_op& op, const ricci_lowering& l);

// coalesce_copies.cc: buffers that a copy joins become one if nothing prevents it, in loops and branches too.
absl::Status CoalesceCopies(const Options& options, Lowered& out);

// take_turns.cc: two trips in one iteration where a large carry would be copied at the end of each.
absl::Status TakeTurns(const Options& options, Lowered& out);

// in_place.cc: results take the memory of an operand; donated parameters become results.
absl::Status ShareInPlace(const Options& options, Lowered& out);

// merge_kernels.cc: equal kernels become one, and each has a name of its own.
absl::Status MergeKernels(const Options& options, Lowered& out);

// buffers.cc: offsets in the arena by lifetime.
absl::Status PlanBuffers(const Options& options, Lowered& out);

}}}  // namespace ricci::v0::pass
#endif
