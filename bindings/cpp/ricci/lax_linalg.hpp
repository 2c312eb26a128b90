// ricci/lax_linalg.hpp: the primitives of jax.lax.linalg. The last two dimensions are a matrix, those before a batch.
#ifndef RICCI_LAX_LINALG_HPP_
#define RICCI_LAX_LINALG_HPP_
#include "ricci/lax_indexing.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace linalg {

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

struct Lu {
  Value lu;           // l, without its ones, below the diagonal, and u on and above it
  Value pivots;       // i32: step i swapped rows i and pivots[i]
  Value permutation;  // i32: row i of l u is row permutation[i] of x
};
// l u = x with permuted rows, for matrices of any shape.
inline Lu lu(const Value& x) {
  const Values out = EmitN(3, "lu", {&x, 1});
  return {out[0], out[1], out[2]};
}
// Row i of the matrices of the result is row permutation[i] of those of x.
inline Value permuted_rows(const Value& x, const Value& permutation) {
  const int64_t row = x.rank() - 2, column = x.rank() - 1;
  Shape batch, sizes(static_cast<size_t>(x.rank()), 1), words(permutation.shape().begin(), permutation.shape().end());
  for (int64_t i = 0; i < row; ++i) batch.push_back(i);
  sizes.back() = x.dim(column);
  words.push_back(1);
  const Value indices = Emit1("reshape", {permutation}, {{"new_sizes", Dims(words)}});
  return gather(x, indices, {{column}, {row}, {row}, batch, batch}, sizes, "promise_in_bounds");
}
// The permutation that results from swapping elements i and pivots[i], for i in order.
inline Value lu_pivots_to_permutation(const Value& pivots, int64_t permutation_size) {
  return Emit1("lu_pivots_to_permutation", {pivots}, {{"permutation_size", permutation_size}});
}

}}}}  // namespace ricci::v0::lax::linalg
#endif
