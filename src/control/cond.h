// What rules and lowerings of cond share.
#ifndef RICCI_CONTROL_COND_H_
#define RICCI_CONTROL_COND_H_
#include "control/parts.h"
#include "control/structural_row.h"

namespace ricci { inline namespace v0 { namespace control {

using Programs = std::vector<ProgramRef>;

inline std::span<ricci_program* const> Branches(const StructuralOp& h) { return Branches(h.attrs); }
absl::StatusOr<Vals> EmitCond(Builder& b, const Programs& branches, std::span<const Val> in);

// The derivative and batching rules, in cond_rules.cc.
absl::Status CondJvp(Builder& b, const StructuralOp& h, const ricci_jvp_args& a);
absl::Status CondPartialEval(const StructuralOp& h, const ricci_partial_eval_args& a);
absl::Status CondTranspose(Builder& b, const StructuralOp& h, const ricci_transpose_args& a);
absl::Status CondBatch(Builder& b, const StructuralOp& h, const ricci_batch_args& a);
absl::Status CondDce(Builder* b, const StructuralOp& h, const ricci_dce_args& a);

}}}  // namespace ricci::v0::control
#endif
