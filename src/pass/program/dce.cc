// dce: drops equations that no result needs. The parameters of the program stay.
#include "pass/program/pass.h"
#include "transform/dead_code.h"

namespace ricci { inline namespace v0 { namespace pass {

absl::StatusOr<ir::ProgramRef> Dce(const ir::Program& f, const Options&) { return transform::WithoutDeadCode(f); }

}}}  // namespace ricci::v0::pass
