// barriers: values that cost nothing to make again bypass optimization barriers, so that they are not stored for them.
//
// A barrier keeps its operands in memory. For a constant, or a broadcast (the cotangent of a sum is one), that would be
// an array which otherwise is never made. So a constant is read where it is used, and instead of a broadcast the
// barrier gets its operand. Runs after the last pass that could merge what the barrier keeps apart.
//
// fuse orders its groups by barriers and removes them: barriers become neither kernels nor copies. Operands are stored
// before a barrier, and what reads its results comes after it. Within one kernel a barrier saves no memory; it only
// ensures there that its operands are computed once.
#include "ir/walk.h"
#include "pass/program/pass.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

bool HoldsBarrier(const ir::Program& p) {
  const prim::Registry& registry = prim::Registry::Of(p);
  for (const ir::Program* inner : ir::NestedFirst(p)) {
    for (const ir::Equation& eqn : inner->equations) {
      if (registry.Get(eqn.prim).has(RICCI_PRIM_BARRIER)) return true;
    }
  }
  return false;
}

// The equation that makes `v` from fewer elements, or NULL.
const ir::Equation* Broadcast(const Builder& b, trace::Val v) {
  const ir::Program& p = b.program();
  const ir::Equation* eqn = p.definition(Builder::Index(v));
  if (eqn == nullptr || eqn->operands.size() != 1 || !b.registry().Get(eqn->prim).has(RICCI_PRIM_VIEW)) return nullptr;
  return p.type(eqn->operands[0]).elements < b.type(v).elements ? eqn : nullptr;
}

absl::StatusOr<Vals> Pass(Builder& b, const ir::Equation& eqn, std::span<const trace::Val> in) {
  std::vector<std::vector<ir::Equation>> after(in.size());  // broadcasts of each operand, the last first
  Vals out(in.begin(), in.end()), held;
  for (size_t i = 0; i < in.size(); ++i) {
    for (const ir::Equation* view = Broadcast(b, out[i]); view != nullptr; view = Broadcast(b, out[i])) {
      after[i].push_back(*view);
      out[i] = b.ToVal(view->operands[0]);
    }
    if (b.program().constant(Builder::Index(out[i])) == nullptr) held.push_back(out[i]);
  }
  if (held.size() == in.size() && held == Vals(in.begin(), in.end())) return b.Emit(eqn.prim, eqn.attrs, in);
  if (!held.empty()) {
    RICCI_ASSIGN(held, b.Emit(eqn.prim, eqn.attrs, held));
  }
  size_t next = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    if (b.program().constant(Builder::Index(out[i])) == nullptr) out[i] = held[next++];
    for (; !after[i].empty(); after[i].pop_back()) {
      RICCI_ASSIGN(Vals view, b.Copy(b.program(), after[i].back(), {&out[i], 1}));
      out[i] = view[0];
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Barriers(const ir::Program& program, const Options& options) {
  if (!HoldsBarrier(program)) return ir::ProgramRef(&program);
  return Rebuild(program,
                 [&](Builder& b, const ir::Program& f, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   if (b.registry().Get(eqn.prim).has(RICCI_PRIM_BARRIER)) return Pass(b, eqn, in);
                   return CopyWithNested(b, f, eqn, in, [&](const ir::Program& q) { return Barriers(q, options); });
                 });
}

}}}  // namespace ricci::v0::pass
