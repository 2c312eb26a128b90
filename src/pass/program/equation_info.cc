#include "pass/program/equation_info.h"

#include <algorithm>

#include "pass/cost/body_cost.h"
#include "pass/kernel/operation_cost.h"
#include "pass/program/pass.h"
#include "pass/target/choose_lowering.h"
#include "trace/attrs.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

absl::Status Classify(const ir::Program& f, uint32_t e, const Options& options, OperationCosts& operations,
                      EquationInfo& info) {
  const ir::Equation& eqn = f.equations[e];
  const trace::Op op(f, eqn);
  const prim::Row& row = prim::Registry::Of(f).Get(eqn.prim);
  RICCI_ASSIGN(const ricci_lowering* l, ChooseLowering(row, *op.get(), options.target, kKernelKinds | kCallKinds));
  if (l == nullptr) {
    return transform::AtEquation(
        NoLowering(prim::Registry::Of(f), *op.get(), options.target, kKernelKinds | kCallKinds), f, eqn, "lower");
  }
  RICCI_ASSIGN(bool in_plan, RunsInPlan(f, eqn, options));
  const bool expression = l->kind == RICCI_LOWER_SCALAR || l->kind == RICCI_LOWER_INDEX;
  const bool reads_stored = IsCall(*l) || in_plan || IsUpdate(*l) || row.has(RICCI_PRIM_BARRIER);
  info.kind = reads_stored                       ? EquationKind::kCall
              : expression && eqn.n_results == 1 ? EquationKind::kExpression
                                                 : EquationKind::kLoops;
  info.view = l->kind == RICCI_LOWER_INDEX && !row.has(RICCI_PRIM_TRANSCENDENTAL);
  info.own = info.cost = operations.Of(f, eqn);
  const bool is_product = info.kind == EquationKind::kLoops && JoinsOf(row, options) == Joins::kPoints;
  if (is_product && options.target.limits.product_tile != 0) {
    RICCI_ASSIGN(info.factors, KnownFactors(f, e, /*elementwise=*/false));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<EquationInfos> InfosOf(const ir::Program& f, const Options& options) {
  EquationInfos infos{std::vector<EquationInfo>(f.equations.size()),
                      std::vector<std::vector<uint32_t>>(f.values.size())};
  OperationCosts operations(prim::Registry::Of(f), options.target);
  for (uint32_t e = 0; e < f.equations.size(); ++e) {
    RICCI_TRY(Classify(f, e, options, operations, infos.of[e]));
    for (ir::ValueId v : f.equations[e].operands) {
      std::vector<uint32_t>& users = infos.users[v];
      if (users.empty() || users.back() != e) users.push_back(e);
    }
  }
  for (ir::ValueId r : f.results) infos.users[r].push_back(kNoGroup);
  return infos;
}

bool RunsMany(const Options& options) { return options.target.numbers.points_wanted > options.target.numbers.lanes; }

Joins JoinsOf(const prim::Row& row, const Options& options) {
  if (row.has(RICCI_PRIM_READS_ONCE)) return Joins::kRows;
  return row.has(RICCI_PRIM_EXPENSIVE) && RunsMany(options) ? Joins::kPoints : Joins::kNever;
}

bool JoinsArrays(const ir::Program& f, const ir::Equation& eqn) {
  return std::count_if(eqn.operands.begin(), eqn.operands.end(),
                       [&](ir::ValueId v) { return f.type(v).elements > 1; }) > 1;
}

}}}  // namespace ricci::v0::pass
