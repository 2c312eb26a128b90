// RewriteByRule: a rule of a row that may give other values in place of an equation (simplify, contract).
#ifndef RICCI_PASS_REWRITE_RULE_H_
#define RICCI_PASS_REWRITE_RULE_H_
#include <string_view>

#include "pass/program/pass.h"
#include "trace/rule_slot.h"

namespace ricci { inline namespace v0 { namespace pass {

// Calls `rule` (const ricci_op*, ricci_val* out -> ricci_status*) for `eqn` and checks what it gives. Empty: nothing.
template <typename Call>
absl::StatusOr<Vals> RewriteByRule(Builder& b, const ir::Program& f, const ir::Equation& eqn, std::string_view name,
                                   prim::Rule counted, Call&& rule) {
  const prim::Row& row = b.registry().Get(eqn.prim);
  const trace::Op op(f, eqn);
  Vals out(eqn.n_results, trace::kNone);
  RICCI_TRY(trace::CallWithLoan(&b, row, name, [&] { return rule(op.get(), out.data()); }));
  if (std::ranges::all_of(out, [](trace::Val v) { return v == trace::kNone; })) return Vals{};
  b.registry().CountUse(row.id, counted);
  for (uint32_t i = 0; i < eqn.n_results; ++i) {
    RICCI_TRY(trace::CheckSlot(b, row, name, i, out[i], f.type_id(eqn.result(i))));
  }
  return out;
}

}}}  // namespace ricci::v0::pass
#endif
