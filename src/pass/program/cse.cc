// cse: equal pure equations on the same operands become one, and equal constants too; each nested program by itself.
// The two operands of a commutative operation are equal in either order.
//
// What a checkpoint computes again is not merged with the first computation, because it reads the results of an
// optimization barrier, and barriers are never merged.
#include <algorithm>

#include "ir/structural.h"
#include "pass/program/pass.h"
#include "trace/rewriter.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

struct Known {
  const ir::Equation* eqn;
  Vals in, out;
};

// Constants of the same type and data become one value before equations are compared.
absl::StatusOr<ir::ProgramRef> MergeConstants(const ir::Program& f) {
  base::HashMap<std::pair<uint64_t, ir::TypeId>, std::vector<ir::ValueId>> seen;
  std::vector<ir::ValueId> same(f.values.size());
  bool any = false;
  for (ir::ValueId v = 0; v < same.size(); ++v) same[v] = v;
  for (const ir::Constant& c : f.constants) {
    auto& group = seen[{c.data->hash, f.type_id(c.value)}];
    for (ir::ValueId other : group) {
      if (ir::SameElements(*f.constant(other), c)) same[c.value] = other;
    }
    if (same[c.value] == c.value) group.push_back(c.value);
    any |= same[c.value] != c.value;
  }
  if (!any) return ir::ProgramRef(&f);
  RICCI_ASSIGN(auto b, Builder::Create(prim::Registry::Of(f), f.name, {f.param_types.data(), f.param_types.size()}));
  trace::Rewriter values(f, *b);
  values.SetParams(b->params());
  for (const ir::Constant& c : f.constants) {
    if (same[c.value] == c.value) RICCI_TRY(values.AddConstant(c));
    values[c.value] = values[same[c.value]];
  }
  RICCI_TRY(values.CopyAll());
  return b->Finish(values.Results());
}

Vals KeyOf(const prim::Row& row, std::span<const trace::Val> in) {
  Vals key(in.begin(), in.end());
  if (row.has(RICCI_PRIM_COMMUTATIVE) && key.size() == 2) std::sort(key.begin(), key.end());
  return key;
}

absl::StatusOr<ir::ProgramRef> CseOf(const ir::Program& program, ir::Structure& structure) {
  RICCI_ASSIGN(ir::ProgramRef f, MergeConstants(program));
  base::HashMap<uint64_t, std::vector<Known>> seen;
  return Rebuild(*f,
                 [&](Builder& b, const ir::Program& p, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   const auto nested = [&](const ir::Program& q) { return CseOf(q, structure); };
                   if (b.registry().HasEffect(eqn) || b.registry().Get(eqn.prim).has(RICCI_PRIM_BARRIER))
                     return CopyWithNested(b, p, eqn, in, nested);
                   base::Hasher h;
                   h.Add(structure.HashOfOperation(p, eqn));
                   Vals key = KeyOf(b.registry().Get(eqn.prim), in);
                   for (trace::Val v : key) h.Add(v);
                   auto& group = seen[h.Done()];
                   for (const Known& k : group) {
                     if (k.in == key && structure.SameOperation(p, *k.eqn, p, eqn)) return k.out;
                   }
                   RICCI_ASSIGN(Vals out, CopyWithNested(b, p, eqn, in, nested));
                   group.push_back({&eqn, std::move(key), out});
                   return out;
                 });
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Cse(const ir::Program& program, const Options&) {
  ir::Structure structure;
  return CseOf(program, structure);
}

}}}  // namespace ricci::v0::pass
