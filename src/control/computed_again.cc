#include "control/computed_again.h"

#include "control/scan.h"

namespace ricci { inline namespace v0 { namespace control {

absl::StatusOr<ProgramRef> Twice(const Program& f) {
  std::vector<uint32_t> params, results;
  for (uint32_t i = 0; i < f.n_params(); ++i) params.push_back(i);
  for (uint32_t i = 0; i < 2 * f.n_results(); ++i) results.push_back(i % f.n_results());
  return Permute(f, params, results);
}

absl::StatusOr<transform::PartialEvalProgram> SplitAgain(const Program& f, const transform::Saving& saving) {
  RICCI_ASSIGN(const ProgramRef twice, Twice(f));
  return transform::PartialEval(*twice, Mask(f.n_params(), 1), SecondOf(f.n_results()), saving);
}

void GiveAgain(const StructuralOp& h, const ricci_partial_eval_args& a, std::span<const Val> known,
               std::span<const Val> again) {
  std::copy_n(known.begin(), h.op.n_out, a.out);
  std::copy_n(again.begin(), h.op.n_out, a.again);
  std::fill_n(a.out_is_known, h.op.n_out, uint8_t{1});
}

}}}  // namespace ricci::v0::control
