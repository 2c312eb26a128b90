// Dead code elimination: a program without the equations that no used result needs, nested programs included.
#ifndef RICCI_TRANSFORM_DEAD_CODE_H_
#define RICCI_TRANSFORM_DEAD_CODE_H_
#include "transform/jvp.h"

namespace ricci { inline namespace v0 { namespace transform {

struct PrunedProgram {
  ir::ProgramRef program;  // parameters of f without the dropped ones -> the used results only
  Mask used_params;        // over all parameters of f
};
// Parameters with droppable[i] != 0 (empty = none) that nothing needs disappear.
absl::StatusOr<PrunedProgram> Prune(const ir::Program& f, MaskView used_results, MaskView droppable = {});

}}}  // namespace ricci::v0::transform
#endif
