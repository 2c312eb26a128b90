// The passes: each is one function from program to program in the file of its name; pipeline.cc lists them in order.
#ifndef RICCI_PASS_PASS_H_
#define RICCI_PASS_PASS_H_
#include "pass/target/pass_options.h"
#include "transform/rebuild.h"

namespace ricci { inline namespace v0 { namespace pass {

using trace::Builder;
using trace::Vals;
using transform::AppendRebuilt;
using transform::CopyWithNested;
using transform::Rebuild;

// inline_calls.cc: replaces equations whose best lowering is a decomposition by that, in nested programs too.
absl::StatusOr<ir::ProgramRef> InlineCalls(const ir::Program& f, const Options& options);
// schedule_vmap.cc: decides for each vmap equation between array operations (batched) and lanes; expands the batched
// ones. BatchEffects does so only for those that hold an effect.
absl::StatusOr<ir::ProgramRef> BatchEffects(const ir::Program& f, const Options& options);
absl::StatusOr<ir::ProgramRef> ScheduleVmap(const ir::Program& f, const Options& options);
// simplify.cc: algebra, views of views, identity operations.
absl::StatusOr<ir::ProgramRef> Simplify(const ir::Program& f, const Options& options);
// sink_constants.cc: small constants that loops and branches take become constants of what they hold.
absl::StatusOr<ir::ProgramRef> SinkConstants(const ir::Program& f, const Options& options);
// fold.cc: equations on constants become constants, up to 1 MB. FoldExact leaves functions that backends approximate,
// so that bits do not depend on what only a schedule has made known.
absl::StatusOr<ir::ProgramRef> Fold(const ir::Program& f, const Options& options);
absl::StatusOr<ir::ProgramRef> FoldExact(const ir::Program& f, const Options& options);
// hoist.cc: moves equations that do not depend on the loop out of scan, while and vmap bodies.
absl::StatusOr<ir::ProgramRef> Hoist(const ir::Program& f, const Options& options);
// cse.cc: equal pure equations become one.
absl::StatusOr<ir::ProgramRef> Cse(const ir::Program& f, const Options& options);
// contract.cc: products that only a sum reads become fused multiply-adds with it, where the target has them.
absl::StatusOr<ir::ProgramRef> Contract(const ir::Program& f, const Options& options);
// barriers.cc: constants and broadcasts bypass optimization barriers, so that they need not be stored for them.
absl::StatusOr<ir::ProgramRef> Barriers(const ir::Program& f, const Options& options);
// dce.cc: drops what no result needs.
absl::StatusOr<ir::ProgramRef> Dce(const ir::Program& f, const Options& options);
// schedule_loops.cc: decides for each scan and while whether it is a loop of one kernel or of the plan.
absl::StatusOr<ir::ProgramRef> ScheduleLoops(const ir::Program& f, const Options& options);
// fuse.cc: groups equations into fusion equations, one kernel each.
absl::StatusOr<ir::ProgramRef> Fuse(const ir::Program& f, const Options& options);

// pipeline.cc: the cost of a program that has gone through all stages up to `after`, schedule_vmap or schedule_loops;
// those that follow are run. INVALID_ARGUMENT without an estimate.
absl::StatusOr<Estimate> EstimateScheduled(const ir::Program& f, const Options& options, std::string_view after);

}}}  // namespace ricci::v0::pass
#endif
