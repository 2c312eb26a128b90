// Rules of an operation that runs one held program `body` and has other attributes that do not depend on it: of call
// and checkpoint.
#ifndef RICCI_CONTROL_CALL_H_
#define RICCI_CONTROL_CALL_H_
#include "control/structural_row.h"

namespace ricci { inline namespace v0 { namespace control {

// All attributes but the body.
std::vector<ricci_attr> AttrsBesideBody(const StructuralOp& h);

// Each emits the same operation on the transformed body.
absl::Status TypeOfBody(Builder& b, const StructuralOp& h);
absl::Status JvpOfBody(Builder& b, const StructuralOp& h, const ricci_jvp_args& a);
absl::Status TransposeOfBody(Builder& b, const StructuralOp& h, const ricci_transpose_args& a);
absl::Status BatchOfBody(Builder& b, const StructuralOp& h, const ricci_batch_args& a);
absl::Status DceOfBody(Builder* b, const StructuralOp& h, const ricci_dce_args& a);
// The transpose of `program`, which takes the operands of `h` and gives its results, as `prim` with `attrs`.
absl::Status TransposeOfProgram(const Program& program, Builder& b, const StructuralOp& h,
                                const ricci_transpose_args& a, std::string_view prim, std::vector<ricci_attr> attrs);
// The rule partial_eval for `again`: both halves are the same operation.
absl::Status ComputeBodyAgain(const StructuralOp& h, const ricci_partial_eval_args& a);
// Splits `body`, which takes the operands of `h` and gives its results. The known half is a plain call, or, with
// `known_attrs`, runs under `unknown_prim` like the unknown half.
absl::Status PartialEvalOfProgram(const Program& body, const StructuralOp& h, const ricci_partial_eval_args& a,
                                  std::string_view policy, std::string_view unknown_prim,
                                  std::vector<ricci_attr> unknown_attrs, std::vector<ricci_attr> known_attrs = {});
absl::StatusOr<Vals> InlineBody(Builder& b, const StructuralOp& h, std::span<const Val> in);

}}}  // namespace ricci::v0::control
#endif
