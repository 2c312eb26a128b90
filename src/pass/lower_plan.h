// From the last program to kernels and a plan.
#ifndef RICCI_PASS_LOWER_PLAN_H_
#define RICCI_PASS_LOWER_PLAN_H_
#include "pass/pipeline.h"

namespace ricci::inline v0::pass {

// One step per equation; fills kernels, plan and constants of `out`. Intermediate values have buffers of their own
// without an offset yet: PlanBuffers gives them one.
absl::Status LowerPlan(const ir::Program& f, const Options& options, Lowered& out);

// in_place.cc: results that take the memory of an operand; donated parameters become results.
absl::Status ShareInPlace(const Options& options, Lowered& out);

// merge_kernels.cc: equal kernels become one.
absl::Status MergeKernels(Lowered& out);

// buffers.cc: offsets in the arena by lifetime.
absl::Status PlanBuffers(Lowered& out);

}  // namespace ricci::inline v0::pass
#endif
