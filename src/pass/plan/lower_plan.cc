// Lowering: each equation becomes a kernel, a call (lower_call.cc), or, for large loops and branches, steps around the
// steps of its bodies; each value has a buffer.
//
// Parameters, results and constants are bound by the caller; intermediate values are in the arena.
#include "pass/plan/lower_plan.h"
#include "pass/target/choose_lowering.h"

#include "control/parts.h"
#include "pass/cost/body_cost.h"
#include "pass/kernel/fusion.h"
#include "pass/plan/plan_lowering.h"
#include "trace/attrs.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {

absl::Status PlanLowering::Run(const ir::Program& f, kernel::Plan& plan) {
  plan.n_inputs = f.n_params();
  plan.n_outputs = f.n_results();
  BufferRefs params, results;
  for (uint32_t i = 0; i < f.n_params(); ++i) {
    params.push_back({writer_.AddBuffer(RICCI_BUFFER_INPUT, i, f.type(i).bytes), {}});
  }
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    results.push_back({writer_.AddBuffer(RICCI_BUFFER_OUTPUT, i, f.type(f.results[i]).bytes), {}});
  }
  return Body(f, params, results);
}

// Steps for all equations of `f`; result i ends up in results[i].
absl::Status PlanLowering::Body(const ir::Program& f, const BufferRefs& params, const BufferRefs& results) {
  Frame frame{f, BufferRefs(f.values.size())};
  std::copy(params.begin(), params.end(), frame.refs.begin());
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    BufferRef& ref = frame.refs[f.results[i]];
    if (f.definition(f.results[i]) != nullptr && !ref.known()) ref = results[i];
  }
  // Stacking an old carry comes first: then a kernel of the trip may write over it.
  const auto early = [&](uint32_t i) { return f.results[i] < f.n_params() && !results[i].whole(); };
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    if (early(i)) RICCI_TRY(Move(frame, f.results[i], results[i]));
  }
  for (const ir::Equation& eqn : f.equations) RICCI_TRY(Equation(frame, eqn));
  for (uint32_t i = 0; i < f.n_results(); ++i) {
    if (!early(i)) RICCI_TRY(Move(frame, f.results[i], results[i]));
  }
  return absl::OkStatus();
}

// ---- storage of values ----

// Copies value v to `to`, unless it is there already.
absl::Status PlanLowering::Move(Frame& frame, ir::ValueId v, const BufferRef& to) {
  if (const ir::Constant* c = frame.f.constant(v); c != nullptr && c->splat && to.whole()) {
    return Fill(to.buffer, frame.f.type(v), *c);
  }
  RICCI_ASSIGN(BufferRef from, StorageOf(frame, v));
  return from == to ? absl::OkStatus() : writer_.Copy(frame.f.type_id(v), from, to);
}

// The storage of value `v`; constants and values not yet computed get a buffer.
absl::StatusOr<BufferRef> PlanLowering::StorageOf(Frame& frame, ir::ValueId v) {
  BufferRef& ref = frame.refs[v];
  if (ref.known()) return ref;
  const ir::Constant* c = frame.f.constant(v);
  if (c != nullptr && (!c->splat || frame.f.type(v).elements == 1)) {
    ref = {writer_.AddConstant(c->data, frame.f.type(v).dtype), {}};
  } else {
    ref = writer_.InArena(frame.f.type_id(v));
    if (c != nullptr) RICCI_TRY(Fill(ref.buffer, frame.f.type(v), *c));
    if (c != nullptr && depth_ > 0)
      return std::exchange(ref, BufferRef{});  // filled on one path only: fill again elsewhere
  }
  return ref;
}

absl::StatusOr<BufferRefs> PlanLowering::StorageOfAll(Frame& frame, std::span<const ir::ValueId> values) {
  BufferRefs refs;
  for (ir::ValueId v : values) {
    RICCI_ASSIGN(BufferRef r, StorageOf(frame, v));
    refs.push_back(r);
  }
  return refs;
}

absl::StatusOr<BufferRefs> PlanLowering::Results(Frame& frame, const ir::Equation& eqn) {
  std::vector<ir::ValueId> values;
  for (uint32_t i = 0; i < eqn.n_results; ++i) values.push_back(eqn.result(i));
  return StorageOfAll(frame, values);
}

// Value `v` in a buffer of its own, copied there if it is a slice.
absl::StatusOr<BufferRef> PlanLowering::Whole(Frame& frame, ir::ValueId v) {
  RICCI_ASSIGN(BufferRef r, StorageOf(frame, v));
  if (r.whole()) return r;
  const BufferRef copy = writer_.InArena(frame.f.type_id(v));
  RICCI_TRY(writer_.Copy(frame.f.type_id(v), r, copy));
  return copy;
}

absl::Status PlanLowering::Fill(uint32_t buffer, const ir::ArrayType& t, const ir::Constant& c) {
  return writer_.Fill("fill", buffer, t.dtype, t.elements, c.data->bytes.data());
}

// ---- one equation ----

absl::Status PlanLowering::Equation(Frame& frame, const ir::Equation& eqn) {
  const trace::Op op(frame.f, eqn);
  RICCI_ASSIGN(bool in_plan, RunsInPlan(frame.f, eqn, options_));
  if (in_plan) return LoopOrBranch(frame, eqn);
  RICCI_ASSIGN(const ricci_lowering* l,
               ChooseLowering(registry_.Get(eqn.prim), *op.get(), options_.target, kKernelKinds | kCallKinds));
  return l != nullptr && IsCall(*l) ? Call(frame, eqn, op, *l) : Kernel(frame, eqn, l);
}

absl::Status PlanLowering::Kernel(Frame& frame, const ir::Equation& eqn, const ricci_lowering* l) {
  const prim::Row& row = registry_.Get(eqn.prim);
  RICCI_ASSIGN(BufferRefs results, Results(frame, eqn));
  if (l != nullptr && IsUpdate(*l)) RICCI_TRY(Move(frame, eqn.operands[0], results[0]));
  std::vector<KernelBuilder::Slot> slots;
  for (ir::ValueId v : eqn.operands) slots.push_back(frame.refs[v].slot);
  for (uint32_t i = 0; i < eqn.n_results; ++i) slots.push_back(frame.refs[eqn.result(i)].slot);
  const bool fusion = row.flow == prim::Flow::kFusion;
  const std::string_view name = fusion ? FusionParts(eqn.attrs).body->name : row.name;
  KernelBuilder k(registry_, name, options_.target);
  RICCI_ASSIGN(KernelBuilder::Result lowered, k.Lower(frame.f, eqn, slots));
  BufferRefs operands(eqn.operands.size());
  for (const KernelBuilder::Binding& binding : lowered.bindings) {
    if (binding.kind != KernelBuilder::Binding::Kind::kOperand) continue;
    RICCI_ASSIGN(operands[binding.index], StorageOf(frame, eqn.operands[binding.index]));
  }
  return writer_.Kernel(std::move(lowered), operands, results, eqn.location);
}

absl::Status LowerPlan(const Options& options, Lowered& out) {
  return PlanLowering(*out.optimized, options, out).Run(*out.optimized, out.plan);
}

}}}  // namespace ricci::v0::pass
