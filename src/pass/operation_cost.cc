#include "pass/operation_cost.h"

#include "pass/kernel_builder.h"

namespace ricci::inline v0::pass {
namespace {

// Per element at the width of a vector, beside a sum. Ratios, as they are on processors and GPUs alike; a backend's own
// estimate of a whole plan is finer (ricci_backend.estimate).
int64_t CostOfScalar(uint16_t op) {
  switch (op) {
    case RICCI_S_DIV:
    case RICCI_S_SQRT:
    case RICCI_S_RSQRT:
      return 8;
    case RICCI_S_REM:
    case RICCI_S_POW:
    case RICCI_S_ATAN2:
      return 40;
    case RICCI_S_LGAMMA:
    case RICCI_S_DIGAMMA:
    case RICCI_S_ERF_INV:
      return 100;
    case RICCI_S_FLOOR:
    case RICCI_S_CEIL:
    case RICCI_S_TRUNC:
    case RICCI_S_ROUND_EVEN:
      return 1;
    default:
      return op >= RICCI_S_EXP ? kTranscendentalCost : 1;
  }
}

bool IsScalar(uint16_t op) { return op < RICCI_S_COUNT; }

}  // namespace

int64_t OperationCosts::Of(const ir::Program& f, const ir::Equation& eqn) {
  if (eqn.n_results == 0) return 1;
  const std::pair<uint32_t, uint32_t> key{eqn.prim, f.type(eqn.result(0)).dtype};
  const auto [it, fresh] = known_.try_emplace(key, 1);
  if (fresh) it->second = Measure(f, eqn);
  return it->second;
}

int64_t OperationCosts::Measure(const ir::Program& f, const ir::Equation& eqn) const {
  const prim::Row& row = registry_.Get(eqn.prim);
  const int64_t flagged = row.has(RICCI_PRIM_TRANSCENDENTAL) ? kTranscendentalCost : 1;
  const trace::Op op(f, eqn);
  const auto lowering = ChooseLowering(row, *op.get(), target_, kKernelKinds);
  if (!lowering.ok() || *lowering == nullptr || (*lowering)->kind != RICCI_LOWER_SCALAR) return flagged;
  const auto alone = KernelBuilder(registry_, "cost", target_).Lower(f, eqn);
  if (!alone.ok()) return flagged;
  int64_t sum = 0;
  for (const ricci_inst& inst : alone->kernel.insts) {
    if (IsScalar(inst.op)) sum = std::min(sum + CostOfScalar(inst.op), kMostCost);
  }
  return std::max(sum, flagged);
}

}  // namespace ricci::inline v0::pass
