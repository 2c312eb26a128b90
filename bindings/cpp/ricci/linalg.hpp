// ricci/linalg.hpp: jax.numpy.linalg. The last two dimensions are a matrix, those before a batch that broadcasts.
#ifndef RICCI_LINALG_HPP_
#define RICCI_LINALG_HPP_
#include "ricci/shaping.hpp"

namespace ricci { inline namespace v0 { namespace linalg {

// The x with a x = b, by lu. `b` is one vector, or matrices of columns to solve for. The derivative reuses the factors.
Value solve(const Operand& a, const Operand& b);
Value inv(const Operand& a);

struct SignAndLog {
  Value sign, logabsdet;
};
// The determinant as sign * exp(logabsdet); sign 0 and logabsdet -inf if a is singular.
SignAndLog slogdet(const Operand& a);
// With more than three rows it has no derivative (NaN) if a is singular.
Value det(const Operand& a);

struct QAndR {
  Value q, r;
};
// a = q r, with columns of q of length 1 and orthogonal to each other, and upper triangular r. q has as many columns as
// r needs, or with `complete` as many as rows.
QAndR qr(const Operand& a, bool complete = false);

}}}  // namespace ricci::v0::linalg
#endif
