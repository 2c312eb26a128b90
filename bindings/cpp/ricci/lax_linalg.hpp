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

struct EighOptions {
  bool lower = true, sort_eigenvalues = true;
};
struct Eigh {
  Value v;  // its columns are orthonormal eigenvectors
  Value w;  // the eigenvalues, real, in ascending order
};
// x v = v w for Hermitian x, of which only one triangle is read.
inline Eigh eigh(const Value& x, const EighOptions& o = {}) {
  const Values out = EmitN(2, "eigh", {&x, 1}, {{"lower", o.lower}, {"sort_eigenvalues", o.sort_eigenvalues}});
  return {out[0], out[1]};
}

struct SvdOptions {
  bool full_matrices = true;
  std::string_view algorithm = "default";
};
struct Svd {
  Value u;   // m x m, or with `full_matrices` false m x min(m, n): its columns are orthonormal
  Value s;   // the singular values, min(m, n) real numbers in descending order
  Value vt;  // n x n, or min(m, n) x n: its rows are orthonormal
};
// x = u s vt, for matrices m x n.
inline Svd svd(const Value& x, const SvdOptions& o = {}) {
  const Values out =
      EmitN(3, "svd", {&x, 1}, {{"full_matrices", o.full_matrices}, {"compute_uv", true}, {"algorithm", o.algorithm}});
  return {out[1], out[0], out[2]};
}
// Only s.
inline Value svdvals(const Value& x) { return EmitN(1, "svd", {&x, 1}, {{"compute_uv", false}})[0]; }

struct Tridiagonal {
  Value a;     // the tridiagonal matrix, and beside it the Householder vectors
  Value d, e;  // its diagonal and the one beside it, both real
  Value taus;  // the factors of the reflectors
};
// The real tridiagonal q^H x q of a Hermitian x, of which only one triangle is read; q is a product of reflectors.
inline Tridiagonal tridiagonal(const Value& x, bool lower = true) {
  const Values out = EmitN(4, "tridiagonal", {&x, 1}, {{"lower", lower}});
  return {out[0], out[1], out[2], out[3]};
}

struct Hessenberg {
  Value a;     // the Hessenberg matrix, and below it the Householder vectors
  Value taus;  // the factors of the reflectors
};
// The Hessenberg matrix q^H x q, zero below the first subdiagonal; q is a product of reflectors.
inline Hessenberg hessenberg(const Value& x) {
  const Values out = EmitN(2, "hessenberg", {&x, 1});
  return {out[0], out[1]};
}

struct EigOptions {
  bool compute_left_eigenvectors = true, compute_right_eigenvectors = true, enable_eigvec_derivs = false;
};
// The eigenvalues w of square matrices x, complex; then, if they are asked for, the left eigenvectors vl, vl^H x = w
// vl^H, and the right ones vr, x vr = vr w: columns of length 1 whose largest element is real.
inline Values eig(const Value& x, const EigOptions& o = {}) {
  const uint32_t n = 1 + (o.compute_left_eigenvectors ? 1 : 0) + (o.compute_right_eigenvectors ? 1 : 0);
  return EmitN(n, "eig", {&x, 1},
               {{"compute_left_eigenvectors", o.compute_left_eigenvectors},
                {"compute_right_eigenvectors", o.compute_right_eigenvectors},
                {"enable_eigvec_derivs", o.enable_eigvec_derivs}});
}

// x = q t q^H with a unitary q. Of complex x, t is upper triangular; of real x it has blocks 2 x 2 on its diagonal for
// pairs of complex eigenvalues. The results are t and, if they are asked for, q.
inline Values schur(const Value& x, bool compute_schur_vectors = true) {
  return EmitN(compute_schur_vectors ? 2 : 1, "schur", {&x, 1}, {{"compute_schur_vectors", compute_schur_vectors}});
}

// ---- q r = x ----
struct Qr {
  Value a;     // r on and above the diagonal, Householder reflectors below it
  Value taus;  // of each reflector
};
inline Qr geqrf(const Value& x) {
  const Values out = EmitN(2, "geqrf", {&x, 1});
  return {out[0], out[1]};
}
struct PivotedQr {
  Value a;     // as that of Qr
  Value jpvt;  // i32: column j of q r is column jpvt[j] - 1 of x
  Value taus;
};
// The columns are in an order in which the diagonal of r does not grow; columns with a `jpvt` other than 0 come first.
inline PivotedQr geqp3(const Value& x, const Value& jpvt) {
  const Value in[] = {x, jpvt};
  const Values out = EmitN(3, "geqp3", in);
  return {out[0], out[1], out[2]};
}
// The first columns, as many as `a` has, of the product of the reflectors of a Qr.
inline Value householder_product(const Value& a, const Value& taus) { return Emit1("householder_product", {a, taus}); }
// q c, or c q if not `left`, where q is the product of the reflectors of a Qr; with `transpose` its inverse.
inline Value ormqr(const Value& a, const Value& taus, const Value& c, bool left = true, bool transpose = false) {
  return Emit1("ormqr", {a, taus, c}, {{"left", left}, {"transpose", transpose}});
}
// q and r, and with `pivoting` the order of the columns of x (i32, from 0) of which q r is. With `full_matrices` q is
// square, else it has as many columns as r needs.
inline Values qr(const Value& x, bool pivoting = false, bool full_matrices = true) {
  return EmitN(pivoting ? 3 : 2, "qr", {&x, 1}, {{"pivoting", pivoting}, {"full_matrices", full_matrices}});
}

// x with a x = b, where a has the diagonals dl (without its first element), d and du (without its last), and b and x
// have columns. NaN if a is singular; with `perturb_singular` small pivots are moved away from 0 instead.
inline Value tridiagonal_solve(const Value& dl, const Value& d, const Value& du, const Value& b,
                               bool perturb_singular = false) {
  return Emit1("tridiagonal_solve", {dl, d, du, b}, {{"perturb_singular", perturb_singular}});
}
// The upper triangular s with s^T s = r^T r + w w^T, where r is upper triangular.
inline Value cholesky_update(const Value& r, const Value& w) { return Emit1("cholesky_update", {r, w}); }

struct SymmetricProduct {
  double alpha = 1, beta = 0;
};
// alpha x x^T + beta c, where c is symmetric.
inline Value symmetric_product(const Value& x, const Value& c, const SymmetricProduct& o = {}) {
  return Emit1("symmetric_product", {x, c}, {{"alpha", o.alpha}, {"beta", o.beta}});
}

}}}}  // namespace ricci::v0::lax::linalg
#endif
