// ricci/scipy_linalg.hpp: jax.scipy.linalg. Include it next to ricci.hpp.
//
// The last two dimensions are a matrix, those before a batch that broadcasts. A right side b is one vector if it has
// one dimension, and else has columns.
#ifndef RICCI_SCIPY_LINALG_HPP_
#define RICCI_SCIPY_LINALG_HPP_
#include "ricci/linalg.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace linalg {

// ---- factors and solutions ----
using ricci::linalg::det;
using ricci::linalg::eigh;
using ricci::linalg::EighResult;
using ricci::linalg::inv;
using ricci::linalg::svd;
// The upper triangular u with u^H u = a, or with `lower` the l with l l^H = a; only that triangle of a is read.
Value cholesky(const Operand& a, bool lower = false);
struct CholeskyFactor {
  Value c;
  bool lower = false;
};
CholeskyFactor cho_factor(const Operand& a, bool lower = false);
Value cho_solve(const CholeskyFactor& factor, const Operand& b);
struct LuFactor {
  Value lu, piv;  // both triangles in one matrix; i32: step i swapped rows i and piv[i]
};
LuFactor lu_factor(const Operand& a);
enum class Trans { kNone, kTranspose, kAdjoint };  // a x = b, a^T x = b, a^H x = b
Value lu_solve(const LuFactor& factor, const Operand& b, Trans trans = Trans::kNone);
struct LuMatrices {
  Value p, l, u;  // a = p l u
};
LuMatrices lu(const Operand& a);
struct TriangularOptions {
  Trans trans = Trans::kNone;
  bool lower = false, unit_diagonal = false;  // which triangle of a is read; its diagonal is not, but counts as 1
};
Value solve_triangular(const Operand& a, const Operand& b, const TriangularOptions& options = {});
// As linalg::solve, but with assume_a `pos` by cho_factor; gen, sym and her are solved alike.
Value solve(const Operand& a, const Operand& b, std::string_view assume_a = "gen", bool lower = false);
using ricci::linalg::QAndR;
// With square q; r alone is qr(a).r, `economic` leaves out the columns that r does not need.
QAndR qr(const Operand& a, std::string_view mode = "full");
struct PivotedQr {
  Value q, r, p;  // i32: column j of q r is column p[j] of a
};
// qr with pivoting: the columns are in an order in which the diagonal of r does not grow.
PivotedQr qr_pivoted(const Operand& a, std::string_view mode = "full");
struct QrMultiplyResult {
  Value cq, r;  // c q or q c, and the r of qr(a, "economic")
  Value p;      // with pivoting the order of the columns, else none
};
struct QrMultiplyOptions {
  bool pivoting = false, conjugate = false;  // with `conjugate` c is multiplied by the conjugate of q
};
// c q, or with mode `left` q c, where a = q r; q, which has as many columns as r needs, is never formed. A vector c is
// one row, or one column, and so is the result.
QrMultiplyResult qr_multiply(const Operand& a, const Operand& c, std::string_view mode = "right",
                             const QrMultiplyOptions& options = {});
struct SchurResult {
  Value t, z;  // a = z t z^H
};
// `output`: real (t has blocks 2 x 2 for pairs of complex eigenvalues) or complex (t is upper triangular).
SchurResult schur(const Operand& a, std::string_view output = "real");
// The complex form of the real one, t and z of schur(a): every block becomes triangular.
SchurResult rsf2csf(const Operand& t, const Operand& z);
struct HessenbergResult {
  Value h, q;  // a = q h q^H, h is zero below the diagonal beside the main one
};
HessenbergResult hessenberg(const Operand& a);
struct PolarResult {
  Value u, p;
};
// a = u p, or with side `left` a = p u: u has orthonormal columns or rows, p is positive semidefinite.
PolarResult polar(const Operand& a, std::string_view side = "right");

struct TridiagonalOptions {
  bool eigvals_only = false;
  std::string_view select = "a";                                 // all, or i: those with indices in select_range
  std::optional<std::pair<int64_t, int64_t>> select_range = {};  // the first and the last
  std::optional<double> tol =
      {};  // of eigenvalues alone: how far they may be off; to a rounding of the largest if less
};
// Of the Hermitian matrix with the diagonal d, n real numbers, and e, n - 1, above it: eigenvalues in ascending order,
// and vectors unless `eigvals_only`. Both are of one dtype, f32, f64, c64 or c128.
EighResult eigh_tridiagonal(const Operand& d, const Operand& e, const TridiagonalOptions& options = {});

// ---- functions of square matrices ----
// By scaling, a Pade approximation, and squaring, as Higham, "The scaling and squaring method for the matrix
// exponential revisited", 2005. NaN where more than `max_squarings` would be needed.
Value expm(const Operand& a, bool upper_triangular = false, int64_t max_squarings = 16);
// Complex: by the Schur form.
Value sqrtm(const Operand& a);

// The function of a matrix whose Schur form has t and z, after its values at the eigenvalues.
struct MatrixFunction {
  Value t, z, eigenvalues;
};
MatrixFunction PrepareFunction(const Operand& a);
Value ApplyFunction(const MatrixFunction& m, const Operand& values);
Value FunctionError(const Value& f, const MatrixFunction& m);
// The function of a matrix that func gives of its eigenvalues, complex, one vector of them for each matrix. Digits are
// lost where eigenvalues are close to each other, and equal ones have no result to trust.
template <typename F>
Value funm(const Operand& a, const F& func) {
  const MatrixFunction m = PrepareFunction(a);
  return ApplyFunction(m, Operand(func(m.eigenvalues), a.at));
}
struct FunmResult {
  Value f, err;
};
// The same and an estimate of the relative error, as funm with disp=False.
template <typename F>
FunmResult funm_with_error(const Operand& a, const F& func) {
  const MatrixFunction m = PrepareFunction(a);
  const Value f = ApplyFunction(m, Operand(func(m.eigenvalues), a.at));
  return {f, FunctionError(f, m)};
}

struct ExpmFrechetResult {
  Value expm, frechet;
};
// expm(a) and its derivative in the direction e, which has the shape of a.
ExpmFrechetResult expm_frechet(const Operand& a, const Operand& e);

// ---- an equation of matrices ----
struct SylvesterOptions {
  std::string_view method = "schur";  // or eigen, by eigenvectors: less accurate where those are close to each other
  double tol = 1e-8;
};
// The x with a x + x b = c; all NaN where an eigenvalue of a and one of b have a sum below `tol`. It has derivatives in
// all operands; batches broadcast.
Value solve_sylvester(const Operand& a, const Operand& b, const Operand& c, const SylvesterOptions& options = {});

// ---- matrices made of vectors ----
// Matrices along the diagonal, zero elsewhere; a vector is a row.
Value block_diag(std::span<const Operand> arrays);
Value block_diag(std::initializer_list<Operand> arrays);
// The first column c and the first row r (without its first element; by default the conjugate of c), constant along
// diagonals. These and those below take a batch of vectors along the last dimension.
Value toeplitz(const Operand& c, const std::optional<Operand>& r = {});
// The first column c and the last row r (without its first element; zeros by default), constant across diagonals.
Value hankel(const Operand& c, const std::optional<Operand>& r = {});
Value circulant(const Operand& c);
// Of a polynomial with coefficients a, the highest power first.
Value companion(const Operand& a);
// The same with the coefficients on the diagonals beside the main one.
Value fiedler_companion(const Operand& a);
// |a[i] - a[j]|.
Value fiedler(const Operand& a);
// f in the first row, s below the diagonal: births and survivals of n ages.
Value leslie(const Operand& f, const Operand& s);
// The matrix whose product with a vector of n elements is its convolution with a; `mode`: full, same or valid.
Value convolution_matrix(const Operand& a, int64_t n, std::string_view mode = "full");
// 1 and -1, with orthogonal rows; n is a power of 2.
Value hadamard(const Operand& in, int64_t n, DType dtype = kDefaultInt);
// Orthonormal rows: row i is the difference of element i + 1 and the mean of those before; `full`: a row of their mean
// comes first.
Value helmert(const Operand& in, int64_t n, bool full = false);
// Binomial coefficients: `symmetric` i + j over i, `lower` i over j or `upper`; and the inverse.
Value pascal(const Operand& in, int64_t n, std::string_view kind = "symmetric");
Value invpascal(const Operand& in, int64_t n, std::string_view kind = "symmetric");
// The inverse of hilbert(n).
Value invhilbert(const Operand& in, int64_t n);
// 1 / (i + j + 1), and the matrix of the discrete Fourier transform; `scale` is empty, sqrtn or n.
Value hilbert(const Operand& in, int64_t n);
Value dft(const Operand& in, int64_t n, std::string_view scale = {});

}}}}  // namespace ricci::v0::scipy::linalg
#endif
