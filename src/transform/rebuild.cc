#include "transform/rebuild.h"

#include "prim/registry.h"
#include "trace/rewriter.h"

namespace ricci { inline namespace v0 { namespace transform {

using trace::Builder;
using trace::Vals;

absl::StatusOr<ir::ProgramRef> Rebuild(const ir::Program& f, const RebuildStep& step) {
  RICCI_ASSIGN(auto b,
               Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}, f.level));
  RICCI_ASSIGN(Vals results, AppendRebuilt(*b, f, b->params(), step));
  return b->Finish(results);
}

absl::StatusOr<Vals> AppendRebuilt(Builder& b, const ir::Program& f, std::span<const trace::Val> params,
                                   const RebuildStep& step) {
  trace::Rewriter values(f, b);
  values.SetParams(params);
  RICCI_TRY(values.AddConstants());
  for (const ir::Equation& eqn : f.equations) {
    b.SetLocation(eqn.location);
    RICCI_ASSIGN(const Vals out, step(b, f, eqn, values[eqn.operands]));
    values.SetResults(eqn, out);
  }
  return values.Results();
}

absl::StatusOr<bool> NewAttributes::Map(ricci_attr& a, const ProgramStep& step) {
  const auto programs = ir::Programs(a);
  if (programs.empty()) return false;
  std::vector<ricci_program*> made;
  bool changed = false;
  for (ricci_program* p : programs) {
    RICCI_ASSIGN(ir::ProgramRef q, step(*ir::FromAbi(p)));
    changed |= q.get() != ir::FromAbi(p);
    made.push_back(ir::Abi(q.get()));
    keep_.push_back(std::move(q));
  }
  handles_.push_back(std::move(made));
  a.data = handles_.back().data();
  return changed;
}

absl::StatusOr<Vals> CopyWithNested(Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                    std::span<const trace::Val> in, const ProgramStep& step) {
  NewAttributes attrs(eqn.attrs);
  bool changed = false;
  for (ricci_attr& a : attrs.list) {
    RICCI_ASSIGN(bool another, attrs.Map(a, step));
    changed |= another;
  }
  if (!changed) return b.Copy(f, eqn, in);
  b.SetLocation(eqn.location);
  return b.Emit(eqn.prim, attrs.list, in);
}

}}}  // namespace ricci::v0::transform
