// Custom derivatives whose rules apply the function itself: what custom_jvp and custom_vjp have in common.
//
// Inside a rule, `custom_jvp(%x) call=program... self=1` stands for the operation that the rule belongs to (self=2 for
// the one around that, and so on), so it has derivatives of every order. It holds the program `call`, which gives its
// value, and no rule: it gets the rule of the holder when the holder is differentiated. In text `call` may be left out;
// then it is the holder's. An operation that stands for a holder has the holder's types; batching keeps this by making
// all operands and results of both batched.
#ifndef RICCI_CONTROL_SELF_RULE_H_
#define RICCI_CONTROL_SELF_RULE_H_
#include "control/structural_row.h"
#include "ir/self_reference.h"

namespace ricci { inline namespace v0 { namespace control {

// Does the operation stand for one around it?
inline bool StandsForOther(const StructuralOp& h) { return ir::SelfLevel(h.attrs) != 0; }

// Does it stand for another, or does an operation in its programs stand for one outside them?
bool IsRecursive(const StructuralOp& h);

// Checks that all of `rules` (names of programs) are given, or `self` and none of them, and that operations in them
// that stand for this one have its types. `results` are those of the operation.
absl::Status CheckSelfRule(Builder& b, const StructuralOp& h, std::span<const std::string_view> rules,
                           std::span<const TypeId> results);

// The program `name` as it is outside the operation. FAILED_PRECONDITION if the operation stands for another, which
// alone has the rule.
absl::StatusOr<ProgramRef> Released(const StructuralOp& h, std::string_view name);

// Batching that makes every operand, result, tangent, residual and cotangent batched, since all held programs must
// agree on what is batched: what does not depend on the batch is broadcast.
absl::Status BatchWhole(Builder& b, const StructuralOp& h, const ricci_batch_args& a);

}}}  // namespace ricci::v0::control
#endif
