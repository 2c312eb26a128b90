// checkpoint, the custom derivative rules and linear solutions, as programs with one structural equation.
#ifndef RICCI_TRANSFORM_REMAT_H_
#define RICCI_TRANSFORM_REMAT_H_
#include "transform/jvp.h"

namespace ricci { inline namespace v0 { namespace transform {

// `prevent_cse`: what is computed again is not merged with what was computed before.
absl::StatusOr<ir::ProgramRef> Checkpoint(const ir::Program& f, std::string_view policy, bool prevent_cse = true);
// rule: primals, tangents of all parameters with tangents -> results of f, tangents of those that have one.
absl::StatusOr<ir::ProgramRef> CustomJvp(const ir::Program& f, const ir::Program& rule);
// fwd: parameters -> results, residuals; bwd: residuals, cotangents of results that have one -> cotangents of
// parameters that do.
absl::StatusOr<ir::ProgramRef> CustomVjp(const ir::Program& f, const ir::Program& fwd, const ir::Program& bwd);
// Each program takes constants of its own, then a vector of the types of matvec's results, and gives a vector.
// Parameters of the result are the constants of matvec, vecmat, solve and transpose_solve, then b; NULL: left out.
absl::StatusOr<ir::ProgramRef> CustomLinearSolve(const ir::Program& matvec, const ir::Program* vecmat,
                                                 const ir::Program& solve, const ir::Program* transpose_solve);

}}}  // namespace ricci::v0::transform
#endif
