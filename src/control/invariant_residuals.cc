#include "control/invariant_residuals.h"

#include "transform/dead_code.h"
#include "transform/invariant.h"

namespace ricci { inline namespace v0 { namespace control {

absl::StatusOr<Vals> InvariantResiduals(Builder& b, const transform::PartialEvalProgram& split,
                                        std::span<const Val> known_in, MaskView is_const) {
  const Program& known = *split.known;
  const transform::Invariant invariant = transform::FindInvariant(known, is_const);
  const uint32_t n_out = known.n_results() - split.n_residuals;
  Mask wanted(known.n_results(), 0);
  for (uint32_t r = n_out; r < known.n_results(); ++r) wanted[r] = invariant.same[known.results[r]];
  Vals out(split.n_residuals, kNone);
  if (Count(wanted) == 0) return out;
  const Mask droppable(known.n_params(), 1);
  RICCI_ASSIGN(auto before, transform::Prune(known, wanted, droppable, transform::Effects::kLeave));
  RICCI_ASSIGN(Vals values, b.Inline(*before.program, Where(known_in, before.used_params)));
  Scatter(MaskView(wanted).subspan(n_out), values, out.data());
  return out;
}

}}}  // namespace ricci::v0::control
