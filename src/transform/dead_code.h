// Dead code elimination: a program without the equations that no used result needs, nested programs included.
//
// Transforms may write equations that are not needed, and would write them many times over when they are nested. So
// each whose rules leave such equations behind ends with FinishLive; the pass `dce` is for what later passes leave.
#ifndef RICCI_TRANSFORM_DEAD_CODE_H_
#define RICCI_TRANSFORM_DEAD_CODE_H_
#include "transform/jvp.h"

namespace ricci { inline namespace v0 { namespace transform {

struct PrunedProgram {
  ir::ProgramRef program;  // parameters of f without the dropped ones -> the used results only
  Mask used_params;        // over all parameters of f
};
// What becomes of operations with an effect that no used result needs.
enum class Effects : uint8_t {
  kStay,
  kLeave,  // the program runs beside f, which has them already
};
// Parameters with droppable[i] != 0 (empty = none) that nothing needs disappear.
absl::StatusOr<PrunedProgram> Prune(const ir::Program& f, MaskView used_results, MaskView droppable = {},
                                    Effects effects = Effects::kStay);
// All results and parameters stay.
absl::StatusOr<ir::ProgramRef> WithoutDeadCode(const ir::Program& f);
// Ends the program under construction, without its dead code.
absl::StatusOr<ir::ProgramRef> FinishLive(trace::Builder& b, std::span<const trace::Val> results);

}}}  // namespace ricci::v0::transform
#endif
