// partial_eval: splits a program by known parameters; linearize is jvp followed by this.
#ifndef RICCI_TRANSFORM_PARTIAL_EVAL_H_
#define RICCI_TRANSFORM_PARTIAL_EVAL_H_
#include "transform/jvp.h"

namespace ricci { inline namespace v0 { namespace transform {

struct PartialEvalProgram {
  ir::ProgramRef known;    // known parameters -> known results, residuals
  ir::ProgramRef unknown;  // residuals, unknown parameters -> unknown results
  Mask out_known;          // of the results of f
  uint32_t n_residuals = 0;
  // residual_param[r]: the parameter of f that residual r is, or -1.
  std::vector<int32_t> residual_param;
};

// What may be a residual, by the name of a policy ("" and "everything" allow all), and whether the halves run `apart`,
// in different loops (RICCI_PARTIAL_EVAL_APART).
struct Saving {
  std::string_view policy = {};
  bool apart = false;
};

// `force_unknown[i] != 0` (empty = none): result i is unknown even if it could be known (its value is then passed as a
// residual).
absl::StatusOr<PartialEvalProgram> PartialEval(const ir::Program& f, MaskView known, MaskView force_unknown = {},
                                               const Saving& saving = {});

}}}  // namespace ricci::v0::transform
#endif
