// simplify: asks the row of each equation for something simpler, in nested programs too.
//
// What is simpler is known by the row (x + 0, a view of a view, a slice of a concatenation), so the rule is with the
// other rules of the primitive. What a rule emits is simplified again, within bounds, because one step often enables
// the next.
#include "pass/program/rewrite_rule.h"
#include "transform/rules.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

constexpr int kMaxSteps = 8;  // successive rules on one equation

// Runs the simplify rule on `eqn` with operands `in`. Empty: nothing simpler.
absl::StatusOr<Vals> ApplySimplify(Builder& b, const ir::Program& f, const ir::Equation& eqn,
                                   std::span<const trace::Val> in) {
  const prim::Row& row = b.registry().Get(eqn.prim);
  if (row.def.simplify == nullptr) return Vals{};
  return RewriteByRule(b, f, eqn, "simplify", prim::Rule::kSimplify, [&](const ricci_op* op, ricci_val* out) {
    return row.def.simplify(row.def.self, Abi(&b), op, in.data(), out);
  });
}

// What a rule emitted is an equation of the program under construction, which can be simplified in turn.
absl::StatusOr<Vals> Settle(Builder& b, Vals out) {
  for (int step = 0; step < kMaxSteps && out.size() == 1; ++step) {
    const ir::Program& p = b.program();
    const ir::Equation* eqn = p.definition(Builder::Index(out[0]));
    if (eqn == nullptr || eqn->n_results != 1) break;
    const ir::Equation copy = *eqn;
    Vals in;
    for (ir::ValueId v : copy.operands) in.push_back(b.ToVal(v));
    RICCI_ASSIGN(Vals next, ApplySimplify(b, p, copy, in));
    if (next.empty() || next == out) break;
    out = std::move(next);
  }
  return out;
}

}  // namespace

absl::StatusOr<ir::ProgramRef> Simplify(const ir::Program& program, const Options& options) {
  return Rebuild(program,
                 [&](Builder& b, const ir::Program& f, const ir::Equation& eqn,
                     std::span<const trace::Val> in) -> absl::StatusOr<Vals> {
                   auto simpler = ApplySimplify(b, f, eqn, in);
                   if (!simpler.ok()) return transform::AtEquation(simpler.status(), f, eqn, "simplify");
                   if (!simpler->empty()) return Settle(b, *std::move(simpler));
                   return CopyWithNested(b, f, eqn, in, [&](const ir::Program& q) { return Simplify(q, options); });
                 });
}

}}}  // namespace ricci::v0::pass
