#include "pass/cost/body_cost.h"

#include "base/hash_map.h"
#include "control/structural_row.h"
#include "pass/target/choose_lowering.h"
#include "ricci/exact.h"
#include "trace/attrs.h"
#include "trace/builder.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

absl::StatusOr<BodyCost> CostOf(const ir::Program& f, const Options& options) {
  prim::Registry& registry = prim::Registry::Of(f);
  BodyCost cost;
  for (const ir::Equation& eqn : f.equations) {
    const trace::Op op(f, eqn);
    const prim::Row& row = registry.Get(eqn.prim);
    RICCI_ASSIGN(const ricci_lowering* l,
                 ChooseLowering(row, *op.get(), options.target, kKernelKinds | 1u << RICCI_LOWER_DECOMPOSE));
    if (l == nullptr || row.effectful()) {
      cost.kernel_possible = false;
      cost.no_kernel = row.name;
    }
    cost.product |= row.has(RICCI_PRIM_EXPENSIVE);
    cost.may_fail |= control::MayFail(row, eqn.attrs);
    const bool guards = row.flow == prim::Flow::kCond || row.flow == prim::Flow::kWhile;
    bool holds = false;
    for (const ricci_attr& a : eqn.attrs) {
      for (ricci_program* p : ir::Programs(a)) {
        holds = true;
        RICCI_ASSIGN(const BodyCost inner, Measure(*ir::FromAbi(p), options));
        cost.largest = std::max(cost.largest, inner.largest);
        cost.total = ricci_exact_clamp(ricci_exact_of(cost.total) + inner.total, 0, INT64_MAX);
        cost.product |= inner.product;
        cost.map_levels = std::max(cost.map_levels, inner.map_levels + (row.flow == prim::Flow::kVmap ? 1 : 0));
        cost.kernel_possible &= inner.kernel_possible;
        if (!inner.kernel_possible) cost.no_kernel = inner.no_kernel;
        cost.may_fail |= inner.may_fail;
        cost.guards_failure |= guards ? inner.may_fail : inner.guards_failure;
      }
    }
    cost.control |= holds;
    for (uint32_t i = 0; i < eqn.n_results; ++i) {
      const int64_t n = f.type(eqn.result(i)).elements;
      cost.total = ricci_exact_clamp(ricci_exact_of(cost.total) + n, 0, INT64_MAX);
      if (!holds) cost.largest = std::max(cost.largest, n);
    }
  }
  return cost;
}

}  // namespace

class BodyCosts {
 public:
  base::HashMap<const ir::Program*, BodyCost> of;
  std::vector<ir::ProgramRef> programs;  // keeps them alive, so that no other program gets the same address
};

std::shared_ptr<BodyCosts> NewBodyCosts() { return std::make_shared<BodyCosts>(); }

absl::StatusOr<BodyCost> Measure(const ir::Program& body, const Options& options) {
  if (options.costs == nullptr) {
    Options remembering = options;
    remembering.costs = NewBodyCosts();
    return Measure(body, remembering);
  }
  BodyCosts& known = *options.costs;
  if (const auto it = known.of.find(&body); it != known.of.end()) return it->second;
  RICCI_ASSIGN(const BodyCost cost, CostOf(body, options));
  known.programs.emplace_back(&body);
  known.of.emplace(&body, cost);
  return cost;
}

absl::StatusOr<bool> RunsInPlan(const ir::Program& f, const ir::Equation& eqn, const Options& options) {
  const prim::Flow flow = prim::Registry::Of(f).Get(eqn.prim).flow;
  const bool is_control = flow == prim::Flow::kWhile || flow == prim::Flow::kScan || flow == prim::Flow::kCond;
  if (!is_control) return false;
  const ricci_attr* run_in = ir::FindAttr(eqn.attrs, "run_in");
  const bool as_told = run_in != nullptr;
  const Limits& limits = options.target.limits;
  for (const ricci_attr& a : eqn.attrs) {
    for (ricci_program* p : ir::Programs(a)) {
      RICCI_ASSIGN(BodyCost cost, Measure(*ir::FromAbi(p), options));
      if ((as_told || options.reference) && cost.kernel_possible) continue;
      if (as_told && trace::StringOf(eqn.attrs, "run_in") == "kernel") {
        const absl::Status refused =
            base::InvalidArgument("run_in `kernel` is not possible: ", cost.no_kernel, " cannot run within a kernel");
        return transform::AtEquation(refused, f, eqn, "compile");
      }
      int64_t largest = cost.largest;
      for (uint32_t i = 0; i < ir::FromAbi(p)->n_params(); ++i) {
        if (cost.product) largest = std::max(largest, ir::FromAbi(p)->type(i).elements);
      }
      if (!cost.kernel_possible || largest > (cost.product ? limits.body_product : limits.body_elements)) return true;
    }
  }
  return as_told && !options.reference && trace::StringOf(eqn.attrs, "run_in") == "plan";
}

}}}  // namespace ricci::v0::pass
