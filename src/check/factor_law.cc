#include "check/factor_law.h"

#include "base/status_abi.h"
#include "check/split_factor.h"
#include "trace/builder.h"

namespace ricci::inline v0::check {
namespace {

// Dimensions of one factor have one size.
absl::Status CheckSizes(const prim::FactorText& factors, const Signature& s) {
  std::vector<int64_t> sizes(factors.names.size(), -1);
  const auto check = [&](std::string_view side, const std::vector<std::vector<uint32_t>>& lists,
                         const std::vector<Type>& types) -> absl::Status {
    for (size_t i = 0; i < lists.size(); ++i) {
      if (lists[i].size() != types[i].rank) {
        return absl::FailedPreconditionError(base::Cat("`", factors.text, "`: ", base::Count(lists[i].size(), "factor"),
                                                       " for ", side, " ", i, " of rank ", types[i].rank));
      }
      for (uint32_t d = 0; d < types[i].rank; ++d) {
        int64_t& known = sizes[lists[i][d]];
        if (known < 0) known = types[i].dims[d];
        if (known == types[i].dims[d]) continue;
        return absl::FailedPreconditionError(base::Cat("`", factors.text, "`: factor ", factors.names[lists[i][d]],
                                                       " is ", known, ", and ", types[i].dims[d], " in ", side, " ",
                                                       i));
      }
    }
    return absl::OkStatus();
  };
  RICCI_TRY(check("operand", factors.in, s.params));
  return check("result", factors.out, s.results);
}

struct Found {
  uint32_t equation;
  prim::FactorText factors;
};
}  // namespace

absl::Status FactorLaw::Check(ricci_device* ref, Runnable& p, const std::vector<Arrays>& draws) {
  const ir::Program& f = *ir::FromAbi(p.program());
  const prim::Registry& registry = prim::Registry::Of(f);
  std::vector<Found> found;
  std::vector<ir::ValueId> operands;
  for (uint32_t i = 0; i < f.equations.size(); ++i) {
    const trace::Op op(f, f.equations[i]);
    const prim::Row& row = registry.Get(op->prim);
    RICCI_ASSIGN(const std::string text, prim::FactorTextOf(row, *op.get()));
    if (text.empty()) continue;
    absl::StatusOr<prim::FactorText> factors = prim::ReadFactors(text, op->n_in, op->n_out);
    RICCI_TRY(About(row, factors.status()));
    RICCI_ASSIGN(const Signature signature, SignatureOf(ctx_, *op.get()));
    RICCI_TRY(About(row, CheckSizes(*factors, signature)));
    if (!operations_.IsNew(*op.get())) continue;
    found.push_back({i, *std::move(factors)});
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
    RICCI_TRY(About(registry.Get(op->prim), CheckSplits(ref, *op.get(), one.factors, own)));
  }
  return absl::OkStatus();
}

}  // namespace ricci::inline v0::check
