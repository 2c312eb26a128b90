// PlanLowering: turns the equations of a program into steps of a plan. One equation is a kernel (lower_plan.cc)
// or a call (lower_call.cc); large loops and branches are steps around the steps of their bodies (plan_loops.cc).
//
// Inside a scan, the slice of an x or y for one trip has no buffer of its own: kernels read and write the stack at the
// loop's counter, so nothing is copied.
#ifndef RICCI_PASS_PLAN_LOWERING_H_
#define RICCI_PASS_PLAN_LOWERING_H_
#include "control/parts.h"
#include "pass/plan/plan_writer.h"
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace pass {

class PlanLowering {
 public:
  PlanLowering(const ir::Program& f, const Options& options, Lowered& out)
      : options_(options), registry_(prim::Registry::Of(f)), writer_(registry_, options.target, out) {}

  // Parameters and results of `f` are bound by the caller of the plan.
  absl::Status Run(const ir::Program& f, kernel::Plan& plan);

 private:
  // The values of one program.
  struct Frame {
    const ir::Program& f;
    BufferRefs refs;
  };
  // What the trips of a scan read and write. in: consts, carry, xs; out: the next carry, ys.
  struct ScanTrips {
    const control::ScanParts& parts;
    BufferRefs in, out, carry;
    uint32_t counter;
  };

  // ---- lower_plan.cc ----
  absl::Status Body(const ir::Program& f, const BufferRefs& params, const BufferRefs& results);
  absl::Status Move(Frame& frame, ir::ValueId v, const BufferRef& to);
  absl::StatusOr<BufferRef> StorageOf(Frame& frame, ir::ValueId v);
  absl::StatusOr<BufferRefs> StorageOfAll(Frame& frame, std::span<const ir::ValueId> values);
  absl::StatusOr<BufferRefs> Results(Frame& frame, const ir::Equation& eqn);
  absl::StatusOr<BufferRef> Whole(Frame& frame, ir::ValueId v);
  absl::Status Fill(uint32_t buffer, const ir::ArrayType& t, const ir::Constant& c);
  absl::Status Equation(Frame& frame, const ir::Equation& eqn);
  absl::Status Kernel(Frame& frame, const ir::Equation& eqn, const ricci_lowering* l);

  // ---- lower_call.cc ----
  struct Callee {
    uint32_t step;                  // RICCI_STEP_*
    std::vector<uint32_t> numbers;  // of the calls, in their order
    uint64_t workspace;             // bytes
  };
  absl::Status Call(Frame& frame, const ir::Equation& eqn, const trace::Op& op, const ricci_lowering& l);
  absl::StatusOr<Callee> Source(Frame& frame, const ir::Equation& eqn, const trace::Op& op, const ricci_lowering& l);
  absl::StatusOr<Callee> Library(Frame& frame, const ir::Equation& eqn, const trace::Op& op, const ricci_lowering& l);

  // ---- plan_loops.cc ----
  absl::Status LoopOrBranch(Frame& frame, const ir::Equation& eqn);
  absl::StatusOr<BufferRefs> StartCarry(Frame& frame, std::span<const ir::ValueId> init, const BufferRefs& results);
  absl::StatusOr<BufferRefs> NextCarry(const ir::Program& body, size_t n_consts, const BufferRefs& carry);
  absl::StatusOr<bool> IsUpdated(const ir::Program& body, uint32_t i, ir::ValueId p);
  absl::Status CopyAll(const ir::Program& body, const BufferRefs& from, const BufferRefs& to, size_t n);
  absl::Status While(Frame& frame, const ir::Equation& eqn);
  absl::Status Scan(Frame& frame, const ir::Equation& eqn);
  BufferRefs Stacks(const ir::Program& f, const ir::Equation& eqn, const BufferRefs& results, size_t n_carry);
  absl::Status ScanLoop(const ir::Equation& eqn, const ScanTrips& s, uint32_t predicate);
  absl::Status Trips(const ScanTrips& s, int64_t n);
  absl::Status Cond(Frame& frame, const ir::Equation& eqn);
  void ControlStep(uint32_t kind, uint32_t index, const std::vector<uint32_t>& buffers, const ir::Equation& eqn) {
    writer_.Step(kind, index, buffers, eqn.location);
  }

  const Options& options_;
  prim::Registry& registry_;
  PlanWriter writer_;
  uint32_t depth_ = 0;  // of loops and branches in the plan
};

}}}  // namespace ricci::v0::pass
#endif
