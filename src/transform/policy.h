// Policies of checkpoint: which values a derivative keeps, and which it computes again.
#ifndef RICCI_TRANSFORM_POLICY_H_
#define RICCI_TRANSFORM_POLICY_H_
#include "ir/program.h"
#include "prim/registry.h"

namespace ricci { inline namespace v0 { namespace transform {

// A policy is a text (ricci_partial_eval_opts): the name of one, or several with `|` between them, of which any may
// save. `eqn` is an operation on known values; INVALID_ARGUMENT for an unknown policy. Empty: all is saved.
absl::StatusOr<bool> PolicySaves(std::string_view policy, const prim::Row& row, const ir::Equation& eqn);
// Whether anything in the programs that `eqn` holds, at any depth, is saved or has an effect.
absl::StatusOr<bool> SavesInside(std::string_view policy, const ir::Equation& eqn);
// INVALID_ARGUMENT unless it is a policy.
absl::Status VerifyPolicy(std::string_view policy);

}}}  // namespace ricci::v0::transform
#endif
