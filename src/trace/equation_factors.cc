#include "trace/equation_factors.h"

#include <numeric>

#include "prim/factor_text.h"
#include "trace/builder.h"

namespace ricci { inline namespace v0 { namespace trace {

absl::StatusOr<ir::FactorsRef> FactorsOf(const ir::Program& f, uint32_t e) {
  prim::Registry& registry = prim::Registry::Of(f);
  const prim::Row& row = registry.Get(f.equations[e].prim);
  if (!prim::SaysFactors(row)) return ir::FactorsRef();
  if (const auto known = f.factors.Find(e, &row)) return *known;
  const Op op(f, f.equations[e]);
  RICCI_ASSIGN(ir::FactorsRef read, prim::FactorsOf(registry, *op.get()));
  f.factors.Keep(e, &row, read);
  return read;
}

ir::FactorsRef ElementwiseFactors(const ir::Program& f, const ir::Equation& eqn) {
  ir::Factors out;
  const auto dims = [&](ir::ValueId v) {
    std::vector<uint32_t> all(f.type(v).rank());
    std::iota(all.begin(), all.end(), 0);
    return all;
  };
  for (ir::ValueId v : eqn.operands) out.in.push_back(dims(v));
  for (uint32_t i = 0; i < eqn.n_results; ++i) out.out.push_back(dims(eqn.result(i)));
  for (int64_t size : f.type(eqn.result(0)).shape) out.factors.push_back({ir::FactorKind::kParallel, size});
  return std::make_shared<const ir::Factors>(std::move(out));
}

}}}  // namespace ricci::v0::trace
