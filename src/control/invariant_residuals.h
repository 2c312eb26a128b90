// Residuals of a loop's body that are the same on every trip: computed once before the loop, never stacked.
//
// Without this the gradient of a scan over tanh(sin(W) x) would store sin(W) and cos(W) once per trip. A residual that
// an operand or result already holds stacked is not stacked again (scan_rules.cc).
#ifndef RICCI_CONTROL_INVARIANT_RESIDUALS_H_
#define RICCI_CONTROL_INVARIANT_RESIDUALS_H_
#include "control/structural_row.h"
#include "transform/partial_eval.h"

namespace ricci { inline namespace v0 { namespace control {

// `split`: of the body, by known operands. known_in: the operands of the known half; is_const[i] != 0 where operand i
// is the same on every trip. Appends to `b` what such residuals need and returns one value per residual: its value
// outside the loop, or kNone if it changes from trip to trip.
absl::StatusOr<Vals> InvariantResiduals(Builder& b, const transform::PartialEvalProgram& split,
                                        std::span<const Val> known_in, MaskView is_const);

}}}  // namespace ricci::v0::control
#endif
