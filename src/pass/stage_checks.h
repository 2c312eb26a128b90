// What must hold after each stage of the pipeline. Checked in release builds too, so that a bug of ours shows at the
// stage that made it and not as wrong numbers. INTERNAL, naming the stage.
#ifndef RICCI_PASS_STAGE_CHECKS_H_
#define RICCI_PASS_STAGE_CHECKS_H_
#include "pass/pipeline.h"

namespace ricci { inline namespace v0 { namespace pass {

// `now` is well-formed and has the parameter and result types of `given`.
absl::Status CheckProgram(std::string_view stage, const ir::Program& given, const ir::Program& now);
// The plan of `lowered` can be run: see kernel::VerifyPlan. `has_offsets`: its buffers have offsets in the arena.
absl::Status CheckPlan(std::string_view stage, const Options& options, const Lowered& lowered, bool has_offsets);

}}}  // namespace ricci::v0::pass
#endif
