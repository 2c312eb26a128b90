// transpose: the adjoint of a program that is linear in some of its parameters, by the transpose rules of its rows.
#ifndef RICCI_TRANSFORM_TRANSPOSE_H_
#define RICCI_TRANSFORM_TRANSPOSE_H_
#include "transform/jvp.h"

namespace ricci { inline namespace v0 { namespace transform {

struct TransposeProgram {
  // non-linear parameters of f, cotangents of results with ct_nonzero[i] != 0 -> cotangents of the linear parameters
  // with nonzero[i] != 0 (index over all parameters of f)
  ir::ProgramRef program;
  Mask nonzero;
};

// `ct_nonzero` empty = all results have a cotangent. `instantiate`: gives zeros where the cotangent of a linear
// parameter is zero, so that all linear parameters have a result.
absl::StatusOr<TransposeProgram> Transpose(const ir::Program& f, MaskView linear, MaskView ct_nonzero,
                                           bool instantiate);

}}}  // namespace ricci::v0::transform
#endif
