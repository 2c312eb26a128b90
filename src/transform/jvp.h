// jvp: forward-mode derivative of a program, by the jvp rules of its rows (autodidax; Griewank & Walther, ch. 3).
#ifndef RICCI_TRANSFORM_JVP_H_
#define RICCI_TRANSFORM_JVP_H_
#include "transform/mask.h"

namespace ricci { inline namespace v0 { namespace transform {

struct JvpProgram {
  // parameters of f, tangents of those with active[i] != 0 -> results of f, tangents of those with nonzero[i] != 0
  ir::ProgramRef program;
  Mask nonzero;
};

// `instantiate[i] != 0` (empty = none): result i gets a tangent even if it is zero. Results without tangents (integers)
// never get one; active integer parameters are INVALID_ARGUMENT.
absl::StatusOr<JvpProgram> Jvp(const ir::Program& f, MaskView active, MaskView instantiate = {});

}}}  // namespace ricci::v0::transform
#endif
