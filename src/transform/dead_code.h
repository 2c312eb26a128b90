// Dead code: a program without the equations that no used result needs, nested programs included.
#ifndef RICCI_TRANSFORM_DEAD_CODE_H_
#define RICCI_TRANSFORM_DEAD_CODE_H_
#include "transform/jvp.h"

namespace ricci::inline v0::transform {

struct PrunedProgram {
  ir::ProgramRef program;  // all parameters of f -> the used results only
  Mask used_params;
};
absl::StatusOr<PrunedProgram> Prune(const ir::Program& f, MaskView used_results);

}  // namespace ricci::inline v0::transform
#endif
