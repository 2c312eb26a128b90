// Rebuild: the walk that most passes share.
#include "pass/pass.h"

namespace ricci::inline v0::pass {

absl::StatusOr<ir::ProgramRef> Rebuild(const ir::Program& f, const RebuildStep& step) {
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  RICCI_ASSIGN(Vals results, AppendRebuilt(*b, f, b->params(), step));
  return b->Finish(results);
}

absl::StatusOr<Vals> AppendRebuilt(Builder& b, const ir::Program& f, std::span<const trace::Val> params,
                                   const RebuildStep& step) {
  Vals env(f.values.size(), trace::kNone), in, results;
  std::copy(params.begin(), params.end(), env.begin());
  for (const ir::Constant& c : f.constants) {
    RICCI_ASSIGN(env[c.value], b.Constant(f.type_id(c.value), c.splat, c.data));
  }
  for (const ir::Equation& eqn : f.equations) {
    in.clear();
    for (ir::ValueId v : eqn.operands) in.push_back(env[v]);
    b.SetLocation(eqn.location);
    RICCI_ASSIGN(Vals out, step(b, f, eqn, in));
    for (uint32_t i = 0; i < eqn.n_results; ++i) env[eqn.result(i)] = out[i];
  }
  for (ir::ValueId r : f.results) results.push_back(env[r]);
  return results;
}

absl::StatusOr<Vals> CopyWithNested(Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                    std::span<const trace::Val> in,
                                    const std::function<absl::StatusOr<ir::ProgramRef>(const ir::Program&)>& pass) {
  std::vector<ricci_attr> attrs(eqn.attrs.begin(), eqn.attrs.end());
  std::vector<ir::ProgramRef> keep;
  std::vector<std::vector<ricci_program*>> lists;
  bool changed = false;
  for (ricci_attr& a : attrs) {
    const auto programs = ir::Programs(a);
    if (programs.empty()) continue;
    std::vector<ricci_program*>& list = lists.emplace_back();
    for (ricci_program* p : programs) {
      RICCI_ASSIGN(ir::ProgramRef q, pass(*ir::FromAbi(p)));
      changed |= q.get() != ir::FromAbi(p);
      list.push_back(ir::Abi(q.get()));
      keep.push_back(std::move(q));
    }
  }
  if (!changed) return b.Copy(f, eqn, in);
  size_t next = 0;
  for (ricci_attr& a : attrs) {
    if (!ir::Programs(a).empty()) a.data = lists[next++].data();
  }
  b.SetLocation(eqn.location);
  return b.Emit(eqn.prim, attrs, in);
}

}  // namespace ricci::inline v0::pass
