// ricci/linalg.hpp: jax.numpy.linalg. Matrices are the last two dimensions, those before are a batch and broadcast.
#ifndef RICCI_LINALG_HPP_
#define RICCI_LINALG_HPP_
#include "ricci/shaping.hpp"

namespace ricci::inline v0::linalg {

// The x with a x = b, by lu. `b` is one vector, or matrices whose columns are solved for. Its derivative uses the same
// factors again.
Value solve(const Operand& a, const Operand& b);
Value inv(const Operand& a);

struct SignAndLog {
  Value sign, logabsdet;
};
// The determinant as sign exp(logabsdet); sign 0 and -inf where a is singular.
SignAndLog slogdet(const Operand& a);
// Above three rows it has no derivative (NaN) where a is singular.
Value det(const Operand& a);

}  // namespace ricci::inline v0::linalg
#endif
