// ricci/linalg.hpp: jax.numpy.linalg. The last two dimensions are a matrix, those before a batch that broadcasts.
#ifndef RICCI_LINALG_HPP_
#define RICCI_LINALG_HPP_
#include <optional>

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

// ---- eigenvalues ----
struct EighResult {
  Value eigenvalues;   // real, in ascending order
  Value eigenvectors;  // orthonormal columns
};
// Of the Hermitian (a + a^H) / 2.
EighResult eigh(const Operand& a);
Value eigvalsh(const Operand& a);

struct EigResult {
  Value eigenvalues, eigenvectors;  // both complex; the vectors are columns of length 1
};
// Vectors have no derivative here; lax::linalg::eig has it on demand.
EigResult eig(const Operand& a);
Value eigvals(const Operand& a);

// ---- singular values ----
struct SvdResult {
  Value u, s, vh;  // a = u s vh, with s in descending order
};
// u and vh are square, or without `full_matrices` have as many columns and rows as there are singular values.
SvdResult svd(const Operand& a, bool full_matrices = true);
Value svdvals(const Operand& a);

// The pseudo-inverse. Singular values of at most `rtol` times the largest count as zero; by default 10 times the larger
// dimension times the distance of 1 to the next number.
Value pinv(const Operand& a, std::optional<double> rtol = {});
// How many singular values are greater than `tol`, i32; by default the largest one times the larger dimension times the
// distance of 1 to the next number. A number or vector has rank 1 unless all its elements are 0.
Value matrix_rank(const Operand& a, std::optional<double> tol = {});
// The norm of each matrix: `fro`, the root of the sum of squares; `nuc`, the sum of the singular values; 2 and -2, the
// largest and the smallest of them; 1 and -1, the largest and smallest sum of a column's magnitudes; inf and -inf, of a
// row's.
Value matrix_norm(const Operand& x, std::string_view ord = "fro");
Value matrix_norm(const Operand& x, double ord);

// ---- norms ----
// The norm of the elements along `axes` (all without): (sum |x|^ord)^(1/ord); 0 counts those other than 0, inf and -inf
// are the largest and the smallest magnitude.
Value vector_norm(const Operand& x, const Axes& axes = {}, bool keepdims = false, double ord = 2);
// What a norm is the sum of: a number, or fro or nuc for matrices; nothing stands for the root of the sum of squares.
struct NormOrder {
  NormOrder() = default;
  template <typename T>
  requires std::is_arithmetic_v<T> NormOrder(T order) : number(static_cast<double>(order)) {}  // NOLINT
  NormOrder(const char* order) : name(order) {}                                                // NOLINT
  std::optional<double> number = {};
  std::string_view name = {};
};
// Along one axis the norm of vectors, along two that of matrices, as vector_norm and matrix_norm give it; without an
// order along any axes: norm(x, {}, 1), norm(x, "nuc", {0, 2}).
Value norm(const Operand& x, const NormOrder& ord = {}, const Axes& axes = {}, bool keepdims = false);
// The condition number of each matrix: the largest singular value divided by the smallest; of another order, the norm
// times that of the inverse. Infinite for singular matrices.
Value cond(const Operand& x, double p = 2);
Value cond(const Operand& x, std::string_view p);

// ---- least squares ----
struct LstsqResult {
  Value x, resid;  // the solution of the least length, and the squared lengths of the columns of b - a x
  Value rank, s;   // how many singular values count (i32), and all of them
};
// The x of the least |b - a x| for one matrix a; b is a vector or has columns. Singular values below `rcond` times the
// largest count as zero; by default the larger dimension times the distance of 1 to the next number.
LstsqResult lstsq(const Operand& a, const Operand& b, std::optional<double> rcond = {});

// ---- products ----
// The product of n matrices a, by repeated squares; of a negative n, of its inverse.
Value matrix_power(const Operand& a, int64_t n);
// The product of all matrices, in the order of the fewest multiplications; the first and the last may be vectors.
Value multi_dot(std::span<const Operand> arrays);
Value multi_dot(std::initializer_list<Operand> arrays);
// The inverse for tensordot(., ., ind), and the x with tensordot(a, x, x.rank()) = b, after `axes` of a have moved to
// its end.
Value tensorinv(const Operand& a, int64_t ind = 2);
Value tensorsolve(const Operand& a, const Operand& b, const Shape& axes = {});

// ---- factors ----
// The lower triangular l with l l^H = (a + a^H) / 2, or with `upper` its adjoint; NaN if that is not positive definite.
Value cholesky(const Operand& a, bool upper = false);

struct QAndR {
  Value q, r;
};
// a = q r, with columns of q of length 1 and orthogonal to each other, and upper triangular r. q has as many columns as
// r needs, or with `complete` as many as rows.
QAndR qr(const Operand& a, bool complete = false);

}}}  // namespace ricci::v0::linalg
#endif
