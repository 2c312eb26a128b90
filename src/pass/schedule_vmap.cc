// schedule_vmap: decides for each vmap equation how it runs.
//
// batched: the batching rules turn the body into operations on whole batches; right where products are large, because
//   libraries and tiles want big operands.
// lanes: the equation stays and becomes one kernel whose points are the elements of the batch; right for small arrays,
//   loops and branches, because everything stays in registers and each element takes its own branches and trip counts.
// The first cost model is a threshold: a body goes in lanes if what one element holds is small, and it gains by it (a
// loop or a branch, or no product at all).
#include "pass/body_cost.h"
#include "pass/kernel_builder.h"
#include "pass/pass.h"
#include "trace/attrs.h"
#include "transform/rules.h"

namespace ricci::inline v0::pass {
namespace {

constexpr int64_t kLaneElements = 4096;  // of one value of the body, outside of stacked loop operands
constexpr int64_t kLaneTotal = 1 << 20;  // of all of them, stacked residuals included

absl::StatusOr<bool> InLanes(const ir::Program& body, const Options& options) {
  RICCI_ASSIGN(BodyCost cost, Measure(body, options));
  // Batched, all branches run on all elements, and an element could fail in a branch that it does not take.
  if (cost.guards_failure && cost.kernel_possible) return true;
  if (options.vmap == VmapMode::kBatched || !cost.kernel_possible) return false;
  if (options.vmap == VmapMode::kLanes) return true;
  const bool small = cost.largest <= kLaneElements && cost.total <= kLaneTotal;
  return small && (cost.control || (cost.product && cost.largest <= 64));
}

}  // namespace

absl::StatusOr<ir::ProgramRef> ScheduleVmap(const ir::Program& f, const Options& options) {
  return Rebuild(f,
                 [&](Builder& b, const ir::Program& p, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   const prim::Row& row = b.registry().Get(eqn.prim);
                   auto nested = [&](const ir::Program& q) { return ScheduleVmap(q, options); };
                   if (row.flow != prim::Flow::kVmap) return CopyWithNested(b, p, eqn, in, nested);
                   const trace::Op op(p, eqn);
                   RICCI_ASSIGN(const ricci_lowering* batched,
                                ChooseLowering(row, *op.get(), options.target, 1u << RICCI_LOWER_DECOMPOSE));
                   RICCI_ASSIGN(bool lanes, InLanes(trace::ProgramOf(eqn.attrs, "body"), options));
                   if (lanes) return CopyWithNested(b, p, eqn, in, nested);
                   auto body = transform::Decompose(b.registry(), *op.get(), *batched, b.depth());
                   if (!body.ok()) return transform::AtEquation(body.status(), p, eqn, "vmap");
                   RICCI_ASSIGN(ir::ProgramRef inner, ScheduleVmap(**body, options));
                   return b.Inline(*inner, in);
                 });
}

}  // namespace ricci::inline v0::pass
