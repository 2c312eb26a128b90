// grad and vjp: reverse mode as jvp, then partial evaluation, then transpose.
#ifndef RICCI_TRANSFORM_GRAD_H_
#define RICCI_TRANSFORM_GRAD_H_
#include "transform/jvp.h"

namespace ricci { inline namespace v0 { namespace transform {

struct VjpPrograms {
  ir::ProgramRef fwd;  // parameters of f -> results of f, residuals
  ir::ProgramRef bwd;  // residuals, a cotangent per differentiable result -> a cotangent per wanted parameter
  uint32_t n_residuals = 0;
};
absl::StatusOr<VjpPrograms> Vjp(const ir::Program& f, MaskView wanted);

// parameters of f -> [results of f if with_value,] gradients of result 0 by the parameters `argnums`.
absl::StatusOr<ir::ProgramRef> Grad(const ir::Program& f, std::span<const uint32_t> argnums, bool with_value);

}}}  // namespace ricci::v0::transform
#endif
