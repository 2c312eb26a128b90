// What rules and lowerings of while share.
#ifndef RICCI_CONTROL_WHILE_LOOP_H_
#define RICCI_CONTROL_WHILE_LOOP_H_
#include "control/parts.h"
#include "control/structural_row.h"

namespace ricci { inline namespace v0 { namespace control {

// The message of a run whose condition still holds at the bound.
std::string StillGoingOn(int64_t max_trips);

absl::StatusOr<Vals> EmitWhile(Builder& b, const WhileParts& like, const Program& cond, const Program& body,
                               uint32_t n_cond, uint32_t n_body, std::span<const Val> in);

absl::Status WhileJvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a);
absl::Status WhilePartialEval(const StructuralOp& h, const ricci_partial_eval_args& a);
absl::Status WhileBatch(Builder& b, const StructuralOp& h, const ricci_batch_args& a);
absl::Status WhileDce(Builder* b, const StructuralOp& h, const ricci_dce_args& a);

}}}  // namespace ricci::v0::control
#endif
