#include "transform/invariant.h"

#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace transform {

Invariant FindInvariant(const ir::Program& body, MaskView is_const, bool speculative) {
  const prim::Registry& registry = prim::Registry::Of(body);
  Invariant out{Mask(body.values.size(), 0), Mask(body.values.size(), 0)};
  for (uint32_t i = 0; i < body.n_params(); ++i) out.same[i] = out.from_const[i] = is_const[i];
  for (const ir::Constant& c : body.constants) out.same[c.value] = 1;
  for (const ir::Equation& eqn : body.equations) {
    const prim::Row& row = registry.Get(eqn.prim);
    bool same = !registry.HasEffect(eqn), from_const = false;
    if (speculative) same &= !row.has(RICCI_PRIM_MAY_FAIL) && row.flow == prim::Flow::kNone;
    for (ir::ValueId v : eqn.operands) {
      same &= out.same[v] != 0;
      from_const |= out.from_const[v] != 0;
    }
    for (uint32_t i = 0; same && i < eqn.n_results; ++i) {
      out.same[eqn.result(i)] = 1;
      out.from_const[eqn.result(i)] = from_const;
    }
  }
  return out;
}

}}}  // namespace ricci::v0::transform
