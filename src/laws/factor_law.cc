#include "laws/factor_law.h"

#include "laws/split_factor.h"
#include "trace/builder.h"
#include "trace/equation_factors.h"

namespace ricci { inline namespace v0 { namespace laws {
namespace {

struct Found {
  uint32_t equation;
  ir::FactorsRef factors;
};

}  // namespace

absl::Status FactorLaw::Check(ricci_device* ref, Runnable& p, const std::vector<Arrays>& draws) {
  const ir::Program& f = *ir::FromAbi(p.program());
  const prim::Registry& registry = prim::Registry::Of(f);
  std::vector<Found> found;
  std::vector<ir::ValueId> operands;
  for (uint32_t i = 0; i < f.equations.size(); ++i) {
    const trace::Op op(f, f.equations[i]);
    RICCI_ASSIGN(ir::FactorsRef factors, trace::FactorsOf(f, i));
    if (factors == nullptr) continue;
    RICCI_TRY(About(registry.Get(op->prim), factors->wrong));
    if (!operations_.IsNew(*op.get())) continue;
    found.push_back({i, std::move(factors)});
    operands.insert(operands.end(), f.equations[i].operands.begin(), f.equations[i].operands.end());
  }
  if (found.empty()) return absl::OkStatus();

  RICCI_ASSIGN(const RunnableRef probe, Probe(ctx_, f, operands));
  std::vector<std::vector<Bytes>> values;
  for (const Arrays& inputs : draws) {
    RICCI_ASSIGN(const std::vector<Bytes> in, EncodeAll(p.params(), inputs));
    RICCI_ASSIGN(values.emplace_back(), probe->RunBytes(ref, in));
  }
  int64_t next = 0;
  for (const Found& one : found) {
    const trace::Op op(f, f.equations[one.equation]);
    std::vector<std::vector<Bytes>> own;
    for (const std::vector<Bytes>& all : values) own.emplace_back(all.begin() + next, all.begin() + next + op->n_in);
    next += op->n_in;
    RICCI_TRY(About(registry.Get(op->prim), CheckSplits(ref, *op.get(), *one.factors, own)));
  }
  return absl::OkStatus();
}

}}}  // namespace ricci::v0::laws
