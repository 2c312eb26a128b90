// Functions of jax.scipy.linalg by Schur's form a = z t z^H: rsf2csf, funm, sqrtm and solve_sylvester.
//
// Each is a recurrence over the columns of triangular matrices, whose step is one triangular system; a batch goes
// through it at once. JAX runs over single elements instead, and over the matrices of a batch in sequence.
#include "host/linalg/matrix_steps.h"
#include "ricci/custom_linear_solve.hpp"
#include "ricci/loops.hpp"
#include "ricci/products.hpp"
#include "ricci/scipy_linalg.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace linalg {

using namespace plain;

namespace {

Value UpperSolve(const Value& a, const Value& b) { return lax::linalg::triangular_solve(a, b, {.left_side = true}); }
// z m z^H.
Value Rotated(const Value& z, const Value& m) { return matmul(matmul(z, m), Adjoint(z)); }
Value ToComplex(const Value& v) { return To(v, ComplexOf(v.dtype())); }
SchurResult ComplexSchur(const Value& a) {
  const Values out = lax::linalg::schur(ToComplex(a));
  return {out[0], out[1]};
}

// ---- rsf2csf ----

// The first columns of the rotations that make each block of 2 x 2 at the diagonal triangular; {1, 0} where there is
// none. Element k belongs to rows k and k + 1.
ValuePair Rotations(const Value& t) {
  const Value b = DiagonalOf(t, 1), c = DiagonalOf(AxisToEnd(t, t.rank() - 2), 1), d = DiagonalOf(t);
  const int64_t last = d.rank() - 1, n = d.dim(last);
  const Value next = Join({Cut(d, 1, n, last), Cut(lax::zeros_like(d), 0, 1, last)}, last);
  const Value size = lax::abs(c), rounding = (lax::abs(d) + lax::abs(next)) * InfoOf(PartOf(t.dtype())).epsilon;
  const Value block = size > rounding, half = (d - next) * 0.5;
  // Scaled, so that no square overflows.
  const Value scale = Where(block, Max(Max(lax::abs(half), lax::abs(b)), size), 1);
  const auto scaled = [&](const Value& x) { return Where(block, x, 0) / To(scale, x.dtype()); };
  const Value h = scaled(half), square = h * h + scaled(b) * scaled(c);
  // The vector (mu, c) is the one of the eigenvalue d + mu with the greater imaginary part.
  const Value mu = h + lax::sqrt(Where(block, square, 1)), low = scaled(c);
  const Value length = lax::sqrt(lax::square(lax::abs(mu)) + lax::square(lax::abs(low)));
  const Value safe = To(Where(block, length, 1), mu.dtype());
  return {Where(block, mu / safe, 1), Where(block, low / safe, 0)};
}
// The unitary g of all rotations, of which no two share a row in a real Schur form: g t g^H is triangular.
Value RotationMatrix(const Value& t) {
  const auto [c, s] = Rotations(t);
  const int64_t last = c.rank() - 1, n = c.dim(last);
  const auto moved = [&](const Value& v, double first) {
    return Join({Cut(lax::full_like(v, first), 0, 1, last), Cut(v, 0, n - 1, last)}, last);
  };
  const Value i = RowNumbers(t), j = ColumnNumbers(t);
  const auto rows = [&](const Value& v) { return OverMatrix(v, t); };
  const Value before_c = moved(c, 1), before_s = moved(s, 0);
  const Value diagonal = Where(rows(s) != 0, lax::conj(rows(c)), rows(before_c));
  const Value below = Where(i == j + 1, -rows(before_s), 0);
  return Where(i == j, diagonal, Where(i + 1 == j, lax::conj(rows(s)), below));
}

SchurResult ComplexForm(const Value& t, const Value& z) {
  if (RowsOf(t) < 2) return {t, z};
  const Value g = RotationMatrix(t);
  return {triu(Rotated(g, t)), matmul(z, Adjoint(g))};
}

}  // namespace

SchurResult rsf2csf(const Operand& t, const Operand& z) {
  const Operand in[] = {t, z};
  const CallSite site = SiteOf("rsf2csf", in);
  const DType dtype = ComplexOf(ToInexact(PromotedDType(site, in)));
  const Value form = site.Lift(t, dtype), vectors = site.Lift(z, dtype);
  const auto square = [&](const Value& m) {
    return m.rank() >= 2 && RowsOf(m) == ColumnsOf(m) && RowsOf(m) == form.dim(form.rank() - 1);
  };
  Shape batch;
  if (!square(form) || !square(vectors) || !BroadcastInto(batch, BatchOf(form)) ||
      !BroadcastInto(batch, BatchOf(vectors))) {
    site.Fail("operands are ", form.type(), " and ", vectors.type(), "; they need square matrices of one size");
  }
  return ComplexForm(WithBatch(To(form, dtype), batch), WithBatch(To(vectors, dtype), batch));
}

// ---- funm ----
namespace {

// The f with f t = t f and the diagonal `values`, for upper triangular t: in column k the rows above solve
// (t_kk - t) x = f_kk t_k - f t_k, all with the rows and columns before k. Where eigenvalues are equal the divisor is
// 1, as in JAX. B. N. Parlett, "A recurrence among the elements of functions of triangular matrices", Linear Algebra
// Appl. 14, 1976.
Value TriangularFunction(const Value& t, const Value& values, const Location& at) {
  const Value i = RowNumbers(t), j = ColumnNumbers(t);
  const auto next = [&](const Value& k, const Value& f) {
    const Value above = (i < k) & (j < k), column = ColumnAt(Where(i < k, t, 0), k);
    const Value divisor = OverMatrix(CornerAt(t, k), t) - t;
    const Value diagonal = Where((i < k) & (divisor != 0), divisor, 1);
    const Value matrix = Where(i == j, diagonal, Where(above, -t, 0));
    const Value right = OverMatrix(CornerAt(f, k), column) * column - matmul(Where(above, f, 0), column);
    return Where((j == k) & (i < k), BroadcastValue(UpperSolve(matrix, right), f.shape()), f);
  };
  const Value start = Where(i == j, OverMatrix(values, t), 0);
  return fori_loop(Operand(1, at), Operand(RowsOf(t), at), next, start, at);
}
}  // namespace

MatrixFunction PrepareFunction(const Operand& a) {
  const Value m = SquareMatrices("funm", a);
  if (m.type().elements() == 0) FailAt(a.at, "funm: operand is ", m.type(), "; its matrices need elements");
  const Values real = lax::linalg::schur(m);
  const SchurResult form = ComplexForm(ToComplex(real[0]), ToComplex(real[1]));
  return {form.t, form.z, DiagonalOf(form.t)};
}
Value ApplyFunction(const MatrixFunction& m, const Operand& values) {
  const Value given = Use("funm", values);
  if (!SameDims(given.shape(), m.eigenvalues.shape())) {
    FailAt(values.at, "funm: the function gave ", given.type(), " for ", m.eigenvalues.type(),
           "; it must give one number for each");
  }
  return Rotated(m.z, TriangularFunction(m.t, To(given, m.t.dtype()), values.at));
}

Value FunctionError(const Value& f, const MatrixFunction& m) {
  const Value& t = m.t;
  const Value i = RowNumbers(t), j = ColumnNumbers(t), eigenvalues = m.eigenvalues;
  const Value across = lax::broadcast_in_dim(eigenvalues, t.shape(), [&] {
    Shape dims = CountFrom(0, t.rank() - 2);
    dims.push_back(t.rank() - 1);
    return dims;
  }());
  const Value gap = lax::abs(across - OverMatrix(eigenvalues, t)), first = lax::abs(across);
  const Shape both{t.rank() - 2, t.rank() - 1};
  const Value counts = (i < j) | ((i == 0) & (j == 0));
  const Value least =
      lax::reduce_min(Where(counts, Where(i == j, first, gap), std::numeric_limits<double>::infinity()), both);
  const double rounding = InfoOf(gap.dtype()).epsilon;
  const Value sums = lax::reduce_sum(Where(i < j, lax::abs(t), 0), Shape{t.rank() - 2});
  const Value norm = lax::reduce_max(sums, Shape{sums.rank() - 1});
  const Value bound = rounding / Where(least == 0, rounding, least) * norm;
  const Value infinite = lax::reduce_or(lax::abs(f) == std::numeric_limits<double>::infinity(), both);
  return Where(infinite, std::numeric_limits<double>::infinity(), Min(Max(bound, Num(bound, rounding)), Num(bound, 1)));
}

// ---- sqrtm ----
namespace {

// The upper triangular u with u u = t, column by column: in column k the rows above solve (u + u_kk) x = t_k, where u
// has the columns before. After Bjorck and Hammarling, "A Schur method for the square root of a matrix", 1983.
Value TriangularRoot(const Value& t, const Location& at) {
  const Value i = RowNumbers(t), j = ColumnNumbers(t);
  const Value root = lax::sqrt(Where(i == j, t, 0));
  const auto next = [&](const Value& k, const Value& u) {
    const Value before = Where((i < k) & (j < k), u, 0), diagonal = OverMatrix(CornerAt(u, k), u);
    // Rows from k on have the equation x = 0.
    const Value matrix = Where(i == j, Where(i < k, before + diagonal, 1), before);
    const Value x = UpperSolve(matrix, ColumnAt(Where(i < k, t, 0), k));
    return Where((j == k) & (i < k), BroadcastValue(x, u.shape()), u);
  };
  return fori_loop(Operand(1, at), Operand(RowsOf(t), at), next, root, at);
}

}  // namespace

Value sqrtm(const Operand& a) {
  const auto [t, z] = ComplexSchur(SquareMatrices("sqrtm", a));
  return Rotated(z, TriangularRoot(t, a.at));
}

// ---- solve_sylvester ----
namespace {

struct Sylvester {
  Value a, b;
  bool by_schur;
  double tol;
  Location at;
};

// The y with r y + y s^H = f for upper triangular r and s, the last column first: column k solves
// (r + conj(s_kk)) x = f_k - y conj(s_k), where y has the columns after k and s_k is row k. R. H. Bartels and G. W.
// Stewart, "Solution of the matrix equation AX + XB = C", Commun. ACM 15, 1972.
Value TriangularSylvester(const Value& r, const Value& s, const Value& f, const Location& at) {
  const int64_t n = ColumnsOf(f);
  const Value j = ColumnNumbers(f), on_diagonal = IsDiagonal(r);
  const auto next = [&](const Value& step, const Value& y) {
    const Value k = (n - 1.0) - step;
    const Value shift = OverMatrix(lax::conj(CornerAt(s, k)), r);
    const Value right = ColumnAt(f, k) - matmul(y, lax::conj(RowAt(s, k)));
    const Value x = UpperSolve(Where(on_diagonal, r + shift, r), right);
    return Where(j == k, BroadcastValue(x, y.shape()), y);
  };
  return fori_loop(Operand(0, at), Operand(n, at), next, lax::zeros_like(f), at);
}
// w_i + v_j, as an element of a matrix m x n.
Value Sums(const Value& w, const Value& v) {
  return lax::expand_dims(w, Shape{w.rank()}) + lax::expand_dims(v, Shape{v.rank() - 1});
}
// x, with NaN where a sum of eigenvalues is below `tol`.
Value UnlessSingular(const Value& x, const Value& sums, double tol) {
  const Value near = lax::reduce_or(lax::abs(sums) < tol, Shape{sums.rank() - 2, sums.rank() - 1});
  return Where(OverMatrix(near, x), std::numeric_limits<double>::quiet_NaN(), x);
}
Value BySchur(const Sylvester& e, const Value& c) {
  const auto [r, u] = ComplexSchur(e.a);
  const auto [s, v] = ComplexSchur(Adjoint(e.b));
  const Value f = matmul(matmul(Adjoint(u), ToComplex(c)), v);
  const Value x = matmul(matmul(u, TriangularSylvester(r, s, f, e.at)), Adjoint(v));
  return UnlessSingular(x, Sums(DiagonalOf(r), lax::conj(DiagonalOf(s))), e.tol);
}
Value ByEigenvectors(const Sylvester& e, const Value& c) {
  const auto [w, u] = ricci::linalg::eig(Operand(e.a, e.at));
  const auto [l, v] = ricci::linalg::eig(Operand(e.b, e.at));
  const Value f = ricci::linalg::solve(Operand(u, e.at), Operand(matmul(ToComplex(c), v), e.at));
  const Value sums = Sums(w, l), x = matmul(matmul(u, f / sums), ricci::linalg::inv(Operand(v, e.at)));
  return UnlessSingular(x, sums, e.tol);
}
Value Solution(const Sylvester& e, const Value& c) {
  if (c.type().elements() == 0) return c;
  const Value x = e.by_schur ? BySchur(e, c) : ByEigenvectors(e, c);
  return IsComplex(c.dtype()) ? x : lax::real(x);
}

}  // namespace

Value solve_sylvester(const Operand& a, const Operand& b, const Operand& c, const SylvesterOptions& o) {
  const Operand in[] = {a, b, c};
  const CallSite site = SiteOf("solve_sylvester", in);
  if (o.method != "schur" && o.method != "eigen") site.Fail("method is ", o.method, "; it must be schur or eigen");
  const DType dtype = ToInexact(PromotedDType(site, in));
  Values v;
  for (const Operand& x : in) v.push_back(To(site.Lift(x, dtype), dtype));
  const auto square = [&](const Value& m, size_t axis) {  // as large as an axis of c
    return m.rank() >= 2 && RowsOf(m) == ColumnsOf(m) && RowsOf(m) == v[2].shape()[v[2].shape().size() - axis];
  };
  Shape batch;
  const bool fits = v[2].rank() >= 2 && square(v[0], 2) && square(v[1], 1) && BroadcastInto(batch, BatchOf(v[0])) &&
                    BroadcastInto(batch, BatchOf(v[1])) && BroadcastInto(batch, BatchOf(v[2]));
  if (!fits) {
    site.Fail("operands are ", v[0].type(), ", ", v[1].type(), " and ", v[2].type(),
              "; they need matrices m x m, n x n and m x n, with batches that broadcast");
  }
  for (Value& x : v) x = WithBatch(x, batch);
  const Sylvester e{lax::stop_gradient(v[0]), lax::stop_gradient(v[1]), o.method == "schur", o.tol, c.at};
  // The transposed equation a^T y + y b^T = d is one of y^T, with a and b in each other's place.
  const Sylvester transposed{e.b, e.a, e.by_schur, e.tol, e.at};
  const auto solve = [&](const auto&, const Value& right) { return Solution(e, right); };
  const auto back = [&](const auto&, const Value& right) {
    return AxisToEnd(Solution(transposed, AxisToEnd(right, right.rank() - 2)), right.rank() - 2);
  };
  const auto map = [&](const Value& x) {
    return matmul(Operand(v[0], c.at), Operand(x, c.at)) + matmul(Operand(x, c.at), Operand(v[1], c.at));
  };
  return lax::custom_linear_solve(map, v[2], solve, back, {}, c.at);
}

}}}}  // namespace ricci::v0::scipy::linalg
