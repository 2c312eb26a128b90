// The passes: each is one function from program to program in the file of its name; pipeline.cc lists them in order.
#ifndef RICCI_PASS_PASS_H_
#define RICCI_PASS_PASS_H_
#include "pass/pipeline.h"
#include "trace/builder.h"

namespace ricci::inline v0::pass {

using trace::Builder;
using trace::Vals;

// inline_calls.cc: replaces equations whose best lowering is a decomposition by it, nested programs too.
absl::StatusOr<ir::ProgramRef> InlineCalls(const ir::Program& f, const Options& options);
// schedule_vmap.cc: decides for each vmap equation between array operations (batched) and lanes; expands the batched
// ones.
absl::StatusOr<ir::ProgramRef> ScheduleVmap(const ir::Program& f, const Options& options);
// simplify.cc: algebra, views of views, identity operations.
absl::StatusOr<ir::ProgramRef> Simplify(const ir::Program& f, const Options& options);
// fold.cc: equations on constants become constants, up to 1 MB.
absl::StatusOr<ir::ProgramRef> Fold(const ir::Program& f, const Options& options);
// hoist.cc: moves equations that do not depend on the loop out of scan, while and vmap bodies.
absl::StatusOr<ir::ProgramRef> Hoist(const ir::Program& f, const Options& options);
// cse.cc: equal pure equations become one.
absl::StatusOr<ir::ProgramRef> Cse(const ir::Program& f, const Options& options);
// barriers.cc: constants and broadcasts pass optimization barriers, so that they need not be stored for them.
absl::StatusOr<ir::ProgramRef> Barriers(const ir::Program& f, const Options& options);
// dce.cc: drops what no result needs.
absl::StatusOr<ir::ProgramRef> Dce(const ir::Program& f, const Options& options);
// fuse.cc: groups equations into fusion equations, one kernel each.
absl::StatusOr<ir::ProgramRef> Fuse(const ir::Program& f, const Options& options);

// Rebuilds `f` equation by equation: `step` appends what stands for an equation to the builder and returns its results.
// Nested programs are left as they are; see RebuildNested.
using RebuildStep = std::function<absl::StatusOr<Vals>(Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                                       std::span<const trace::Val> in)>;
absl::StatusOr<ir::ProgramRef> Rebuild(const ir::Program& f, const RebuildStep& step);
// The same, appended to `b` with these values for the parameters; gives the results.
absl::StatusOr<Vals> AppendRebuilt(Builder& b, const ir::Program& f, std::span<const trace::Val> params,
                                   const RebuildStep& step);

// Appends `eqn` with each nested program replaced by `pass` of it.
absl::StatusOr<Vals> CopyWithNested(Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                    std::span<const trace::Val> in,
                                    const std::function<absl::StatusOr<ir::ProgramRef>(const ir::Program&)>& pass);

}  // namespace ricci::inline v0::pass
#endif
