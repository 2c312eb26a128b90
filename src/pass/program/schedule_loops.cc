// schedule_loops: decides for each scan and while where it runs.
//
// kernel: the loop is one kernel; its values live in registers or private memory, and a trip costs its arithmetic.
// plan: trips are steps of the plan, kernels and library calls over whole arrays; a trip costs their calls and the
//   traffic between them, but products reach the tiles and many threads can share the work.
// Tiny values belong in a kernel and large ones in the plan. Between these sizes both are lowered and the backend
// estimates what each costs, bodies first. The decision is written to the attribute `run_in`; a loop that has it
// already keeps it.
#include "ir/walk.h"
#include "pass/cost/body_cost.h"
#include "pass/cost/decision.h"
#include "pass/program/pass.h"
#include "trace/attrs.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr int64_t kTiny = 16;          // elements of the largest value of a body without products
constexpr int64_t kLarge = 4096;       // with more elements a loop is in the plan,
constexpr size_t kMostEquations = 64;  // and so are more equations over more than kTiny elements
constexpr double kEqual = 1.1;         // if estimates differ by less: a kernel, which needs no calls

class LoopScheduler {
 public:
  LoopScheduler(const ir::Program& f, const ir::Equation& eqn, const Options& options)
      : f_(f), eqn_(eqn), options_(options), registry_(prim::Registry::Of(f)), attrs_(eqn.attrs) {}

  absl::StatusOr<Vals> Run(Builder& b, std::span<const trace::Val> in) {
    RICCI_ASSIGN(bool in_plan, RunsInPlan(f_, eqn_, options_));
    const bool open = IsLoop() && options_.estimate && ir::FindAttr(eqn_.attrs, "run_in") == nullptr;
    const bool both = open && MayBeEither();
    if (!both && !in_plan) return b.Copy(f_, eqn_, in);
    auto nested = [&](const ir::Program& q) { return ScheduleLoops(q, options_); };
    for (ricci_attr& a : attrs_.list) RICCI_TRY(attrs_.Map(a, nested).status());
    if (both) {
      RICCI_ASSIGN(const std::string_view run_in, Cheaper());
      return Emit(b, run_in, in);
    }
    b.SetLocation(eqn_.location);
    return b.Emit(eqn_.prim, attrs_.list, in);
  }

 private:
  bool IsLoop() const {
    const prim::Flow flow = registry_.Get(eqn_.prim).flow;
    return flow == prim::Flow::kScan || flow == prim::Flow::kWhile;
  }

  bool MayBeEither() const {
    int64_t largest = 0;
    size_t equations = 0;
    bool product = false;
    for (const ricci_attr& a : eqn_.attrs) {
      for (ricci_program* p : ir::Programs(a)) {
        const auto cost = Measure(*ir::FromAbi(p), options_);
        if (!cost.ok() || !cost->kernel_possible) return false;
        largest = std::max(largest, cost->largest);
        product |= cost->product;
        for (const ir::Program* q : ir::NestedFirst(*ir::FromAbi(p))) equations += q->equations.size();
      }
    }
    return (product || largest > kTiny) && largest <= kLarge && equations <= kMostEquations;
  }

  absl::StatusOr<Vals> Emit(Builder& b, std::string_view run_in, std::span<const trace::Val> in) const {
    std::vector<ricci_attr> attrs = attrs_.list;
    attrs.push_back(trace::StringAttr("run_in", run_in));
    b.SetLocation(eqn_.location);
    return b.Emit(eqn_.prim, attrs, in);
  }

  absl::StatusOr<Estimate> EstimateAt(std::string_view run_in) const {
    std::vector<ir::TypeId> types;
    for (ir::ValueId v : eqn_.operands) types.push_back(f_.type_id(v));
    RICCI_ASSIGN(auto b, Builder::Create(registry_, f_.name, types));
    RICCI_ASSIGN(const Vals out, Emit(*b, run_in, b->params()));
    RICCI_ASSIGN(const ir::ProgramRef alone, b->Finish(out));
    return EstimateScheduled(*alone, options_, "schedule_loops");
  }

  absl::StatusOr<std::string_view> Cheaper() const {
    const auto kernel = EstimateAt("kernel"), plan = EstimateAt("plan");
    if (!plan.ok() && !kernel.ok()) return plan.status();
    const bool in_kernel = !plan.ok() || (kernel.ok() && kernel->cycles <= plan->cycles * kEqual);
    if (options_.decisions != nullptr) {
      options_.decisions->push_back(base::Cat(TitleOf(f_, eqn_), in_kernel ? "kernel" : "plan",
                                              TextOf("kernel", kernel), TextOf("plan", plan), "\n"));
    }
    return in_kernel ? "kernel" : "plan";
  }

  const ir::Program& f_;
  const ir::Equation& eqn_;
  const Options& options_;
  prim::Registry& registry_;
  transform::NewAttributes attrs_;  // bodies, with the loops in them scheduled
};

}  // namespace

absl::StatusOr<ir::ProgramRef> ScheduleLoops(const ir::Program& f, const Options& options) {
  return Rebuild(f, [&](Builder& b, const ir::Program& p, const ir::Equation& eqn, std::span<const trace::Val> in) {
    return LoopScheduler(p, eqn, options).Run(b, in);
  });
}

}}}  // namespace ricci::v0::pass
