// ricci/lax_linalg.hpp: the primitives of jax.lax.linalg. Matrices are the last two dimensions, those before are a
// batch.
#ifndef RICCI_LAX_LINALG_HPP_
#define RICCI_LAX_LINALG_HPP_
#include "ricci/emit.hpp"

namespace ricci::inline v0::lax::linalg {

// The lower triangular l with l l^T = x, of which only the lower triangle is read; NaN where x is not positive
// definite.
inline Value cholesky(const Value& x) { return Emit1("cholesky", {x}); }

struct TriangularSolve {
  bool left_side = false, lower = false, transpose_a = false, conjugate_a = false, unit_diagonal = false;
};
// x with op(a) x = b (left_side) or x op(a) = b, where a is triangular: only that triangle is read.
inline Value triangular_solve(const Value& a, const Value& b, const TriangularSolve& o = {}) {
  return Emit1("triangular_solve", {a, b},
               {{"left_side", o.left_side},
                {"lower", o.lower},
                {"transpose_a", o.transpose_a},
                {"conjugate_a", o.conjugate_a},
                {"unit_diagonal", o.unit_diagonal}});
}

}  // namespace ricci::inline v0::lax::linalg
#endif
