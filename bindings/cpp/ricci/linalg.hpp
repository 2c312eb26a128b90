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

// ---- factors ----
struct QAndR {
  Value q, r;
};
// a = q r, with columns of q of length 1 and orthogonal to each other, and upper triangular r. q has as many columns as
// r needs, or with `complete` as many as rows.
QAndR qr(const Operand& a, bool complete = false);

}}}  // namespace ricci::v0::linalg
#endif
