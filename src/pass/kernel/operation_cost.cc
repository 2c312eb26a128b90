#include "pass/kernel/operation_cost.h"

#include "kernel/block_ops.h"
#include "pass/kernel/kernel_builder.h"
#include "pass/target/choose_lowering.h"
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace pass {

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
    if (kernel::IsScalar(inst.op)) sum = std::min(sum + target_.cycles_of(inst.op), kMostCost);
  }
  return std::max(sum, flagged);
}

}}}  // namespace ricci::v0::pass
