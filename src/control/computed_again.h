// Programs whose results are in both halves, for rules that are asked for `again` (RICCI_PRIM_SAVES_INSIDE).
//
// Partial evaluation puts a result in one half. With every result listed twice, the first known and the second forced
// into the unknown half, the known half gives the results and the unknown half gives them again, from what the policy
// saves. So a rule splits the doubled program as it splits any other.
//
// A scan runs again in the unknown half, with a slice per trip of what is saved. A while saves nothing inside and is
// computed again as a whole. A checkpoint within another follows the outer policy for what leads to its residuals, and
// its own for which values those are.
#ifndef RICCI_CONTROL_COMPUTED_AGAIN_H_
#define RICCI_CONTROL_COMPUTED_AGAIN_H_
#include "control/structural_row.h"

namespace ricci { inline namespace v0 { namespace control {

// `f` with its results listed a second time.
absl::StatusOr<ProgramRef> Twice(const Program& f);
// The flags of a program with 2n results of which the last n are unknown.
inline Mask SecondOf(size_t n) {
  Mask out(2 * n, 0);
  std::fill(out.begin() + static_cast<int64_t>(n), out.end(), 1);
  return out;
}
// The halves of Twice(f), all of whose parameters are known.
absl::StatusOr<transform::PartialEvalProgram> SplitAgain(const Program& f, const transform::Saving& saving);
// What the rule gives: `known` has the results first, `again` has them in the unknown builder.
void GiveAgain(const StructuralOp& h, const ricci_partial_eval_args& a, std::span<const Val> known,
               std::span<const Val> again);

}}}  // namespace ricci::v0::control
#endif
