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

// `f` with the values `wanted` as results.
absl::StatusOr<RunnableRef> Probe(ricci_ctx* ctx, const ir::Program& f, const std::vector<ir::ValueId>& wanted) {
  RICCI_ASSIGN(auto b,
               trace::Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  trace::Vals env(f.values.size(), trace::kNone), in, results;
  for (uint32_t i = 0; i < f.n_params(); ++i) env[i] = b->param(i);
  for (const ir::Constant& c : f.constants) {
    RICCI_ASSIGN(env[c.value], b->Constant(f.type_id(c.value), c.splat, c.data));
  }
  for (const ir::Equation& eqn : f.equations) {
    in.clear();
    for (ir::ValueId v : eqn.operands) in.push_back(env[v]);
    RICCI_ASSIGN(const trace::Vals out, b->Copy(f, eqn, in));
    for (uint32_t i = 0; i < eqn.n_results; ++i) env[eqn.result(i)] = out[i];
  }
  for (ir::ValueId v : wanted) results.push_back(env[v]);
  RICCI_ASSIGN(ir::ProgramRef probe, b->Finish(results));
  return Runnable::Of(ctx, ir::Abi(probe.Detach()));
}

struct Found {
  uint32_t equation;
  prim::FactorText factors;
};
absl::Status About(const prim::Row& row, const absl::Status& s) {
  const absl::string_view why = s.message();
  return s.ok() ? s : absl::Status(s.code(), absl::StrCat(row.name, " ", why));
}

}  // namespace

FactorLaw::FactorLaw(ricci_ctx* ctx, const ricci_program* examined) : ctx_(ctx) {
  for (const ir::Equation& eqn : ir::FromAbi(examined)->equations) examined_.insert(eqn.prim);
}

bool FactorLaw::IsNew(const ricci_op& op) {
  if (!examined_.contains(op.prim)) return false;
  std::string key = std::to_string(op.prim);
  for (uint32_t i = 0; i < op.n_in; ++i) key += " " + std::to_string(op.in_types[i]);
  for (uint32_t i = 0; i < op.n_attrs; ++i) {
    const ricci_attr& a = op.attrs[i];
    const bool words = a.kind == RICCI_ATTR_INTS || a.kind == RICCI_ATTR_FLOATS;
    const size_t bytes = a.kind == RICCI_ATTR_STRING ? a.count : words ? a.count * sizeof(int64_t) : 0;
    key += base::Cat(" ", std::string_view(a.name.ptr, a.name.len), "=", a.i, " ", a.f, " ", a.count, " ");
    key.append(static_cast<const char*>(a.data), bytes);
  }
  return seen_.insert(key).second;
}

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
    if (!IsNew(*op.get())) continue;
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
