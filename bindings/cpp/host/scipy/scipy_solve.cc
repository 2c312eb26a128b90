// Factors of matrices and what they solve, under the names of jax.scipy.linalg.
#include "host/linalg/matrix_steps.h"
#include "ricci/custom_linear_solve.hpp"
#include "ricci/products.hpp"
#include "ricci/scipy_linalg.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace linalg {

using namespace plain;

namespace {

// A square matrix and its right side: of one dtype and batch, b with columns.
struct System {
  Value a, b;
  Shape batch;
  bool is_vector;
  Value Solution(const Value& x) const { return is_vector ? lax::squeeze(x, Shape{x.rank() - 1}) : x; }
};
System SystemOf(std::string_view name, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const CallSite site = SiteOf(name, in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  const Value m = To(site.Lift(a, dtype), dtype);
  const Value given = To(site.Lift(b, dtype), dtype);
  const bool is_vector = given.rank() == 1;
  const Value right = is_vector ? lax::expand_dims(given, Shape{1}) : given;
  if (m.rank() < 2 || m.dim(m.rank() - 1) != m.dim(m.rank() - 2) || right.rank() < 2 ||
      right.dim(right.rank() - 2) != m.dim(m.rank() - 1)) {
    site.Fail("operands are ", m.type(), " and ", given.type(), "; they need a square matrix, and as many rows of b");
  }
  const Dims of_a = m.shape().first(m.shape().size() - 2), of_b = right.shape().first(right.shape().size() - 2);
  Shape batch(of_a.begin(), of_a.end());
  if (!BroadcastInto(batch, of_b)) site.Fail("batch dimensions ", of_a, " and ", of_b, " do not broadcast");
  return {WithBatch(m, batch, 2), WithBatch(right, batch, 2), batch, is_vector};
}
Value Triangular(const Value& a, const Value& b, Trans trans, bool lower, bool unit_diagonal = false) {
  return ricci::lax::linalg::triangular_solve(a, b,
                                              {.left_side = true,
                                               .lower = lower,
                                               .transpose_a = trans != Trans::kNone,
                                               .conjugate_a = trans == Trans::kAdjoint,
                                               .unit_diagonal = unit_diagonal});
}
Value ByCholesky(const Value& c, const Value& b, bool lower) {
  const Value y = Triangular(c, b, lower ? Trans::kNone : Trans::kAdjoint, lower);
  return Triangular(c, y, lower ? Trans::kAdjoint : Trans::kNone, lower);
}

}  // namespace

Value cholesky(const Operand& a, bool lower) {
  const Value m = SquareMatrices("cholesky", a);
  return lower ? lax::linalg::cholesky(m) : Adjoint(lax::linalg::cholesky(Adjoint(m)));
}
CholeskyFactor cho_factor(const Operand& a, bool lower) { return {cholesky(a, lower), lower}; }
Value cho_solve(const CholeskyFactor& factor, const Operand& b) {
  const System s = SystemOf("cho_solve", Operand(factor.c, b.at), b);
  return s.Solution(ByCholesky(s.a, s.b, factor.lower));
}

LuFactor lu_factor(const Operand& a) {
  const lax::linalg::Lu f = lax::linalg::lu(AnyMatrices("lu_factor", a));
  return {f.lu, f.pivots};
}
Value lu_solve(const LuFactor& factor, const Operand& b, Trans trans) {
  const System s = SystemOf("lu_solve", Operand(factor.lu, b.at), b);
  const int64_t n = s.a.dim(s.a.rank() - 1);
  const Value order = WithBatch(lax::linalg::lu_pivots_to_permutation(factor.piv, n), s.batch, 1);
  if (trans == Trans::kNone) {
    const Value y = Triangular(s.a, lax::linalg::permuted_rows(s.b, order), trans, /*lower=*/true, true);
    return s.Solution(Triangular(s.a, y, trans, /*lower=*/false));
  }
  const Value y = Triangular(s.a, s.b, trans, /*lower=*/false);
  const Value x = Triangular(s.a, y, trans, /*lower=*/true, /*unit_diagonal=*/true);
  const int64_t last = order.rank() - 1;
  const Value pairs[] = {order, Positions(order, DType::kI32, last)};
  return s.Solution(lax::linalg::permuted_rows(x, lax::sort(pairs, last)[1]));
}
LuMatrices lu(const Operand& a) {
  const Value m = AnyMatrices("lu", a);
  const lax::linalg::Lu f = lax::linalg::lu(m);
  const int64_t row = m.rank() - 2, column = row + 1, k = std::min(m.dim(row), m.dim(column));
  Shape square = ShapeOfValue(m), thin = square;
  square.back() = m.dim(row), thin.back() = k;
  const DType real = PartOf(m.dtype());
  const Value order = lax::broadcast_in_dim(f.permutation, square, [&] {
    Shape dims = CountFrom(0, row);
    dims.push_back(column);
    return dims;
  }());
  const Value p = To(order == Positions(order, DType::kI32, row), real);
  const Value lower = tril(Operand(Cut(f.lu, 0, k, column), a.at), -1);
  const Value ones = To(Positions(lower, DType::kI32, row) == Positions(lower, DType::kI32, column), m.dtype());
  return {p, lower + ones, triu(Operand(Cut(f.lu, 0, k, row), a.at))};
}

Value solve_triangular(const Operand& a, const Operand& b, const TriangularOptions& o) {
  const System s = SystemOf("solve_triangular", a, b);
  return s.Solution(Triangular(s.a, s.b, o.trans, o.lower, o.unit_diagonal));
}
Value solve(const Operand& a, const Operand& b, std::string_view assume_a, bool lower) {
  if (assume_a == "gen" || assume_a == "sym" || assume_a == "her") return ricci::linalg::solve(a, b);
  if (assume_a != "pos") FailAt(a.at, "solve: assume_a is ", assume_a, "; it must be gen, sym, her or pos");
  const System s = SystemOf("solve", a, b);
  const Value m = lax::stop_gradient(s.a),
              c = lower ? lax::linalg::cholesky(m) : Adjoint(lax::linalg::cholesky(Adjoint(m)));
  const auto by_factor = [&](const auto&, const Value& right) { return ByCholesky(c, right, lower); };
  const auto transposed = [&](const auto&, const Value& right) {  // a^T is the conjugate of a
    return IsComplex(right.dtype()) ? lax::conj(ByCholesky(c, lax::conj(right), lower)) : ByCholesky(c, right, lower);
  };
  const auto product = [&](const Value& x) { return matmul(Operand(s.a, a.at), Operand(x, a.at)); };
  return s.Solution(lax::custom_linear_solve(product, s.b, by_factor, transposed, {}, a.at));
}

QAndR qr(const Operand& a, std::string_view mode) {
  if (mode != "full" && mode != "economic") FailAt(a.at, "qr: mode is ", mode, "; it must be full or economic");
  return ricci::linalg::qr(a, /*complete=*/mode == "full");
}
PivotedQr qr_pivoted(const Operand& a, std::string_view mode) {
  if (mode != "full" && mode != "economic") FailAt(a.at, "qr: mode is ", mode, "; it must be full or economic");
  const Values out = lax::linalg::qr(AnyMatrices("qr", a), /*pivoting=*/true, /*full_matrices=*/mode == "full");
  return {out[0], out[1], out[2]};
}

namespace {

// The reflectors of q, and the order of the columns if it is asked for (from 0).
struct Reflectors {
  Value a, taus, order;
};
Reflectors ReflectorsOf(const Value& a, bool pivoting) {
  if (!pivoting) {
    const lax::linalg::Qr f = lax::linalg::geqrf(a);
    return {f.a, f.taus, Value()};
  }
  Shape columns(a.shape().begin(), a.shape().end());
  columns.erase(columns.end() - 2);
  const Value any = BroadcastValue(To(Scalar(a, 0), DType::kI32), columns);
  const lax::linalg::PivotedQr f = lax::linalg::geqp3(a, any);
  return {f.a, f.taus, f.jpvt - 1};
}
// q c or c q. The conjugate of q is the transpose of its inverse: c is multiplied from the other side.
Value Multiplied(const Reflectors& f, const Value& c, bool left, bool conjugate) {
  if (!conjugate) return lax::linalg::ormqr(f.a, f.taus, c, left);
  const int64_t row = c.rank() - 2;
  return AxisToEnd(lax::linalg::ormqr(f.a, f.taus, AxisToEnd(c, row), !left, /*transpose=*/true), row);
}

}  // namespace

QrMultiplyResult qr_multiply(const Operand& a, const Operand& c, std::string_view mode, const QrMultiplyOptions& o) {
  const Operand in[] = {a, c};
  const CallSite site = SiteOf("qr_multiply", in);
  if (mode != "right" && mode != "left") site.Fail("mode is ", mode, "; it must be right or left");
  const bool left = mode == "left";
  const DType dtype = ToInexact(PromotedDType(site, in));
  Value m = To(site.Lift(a, dtype), dtype), given = To(site.Lift(c, dtype), dtype);
  const bool is_vector = given.rank() == 1;
  Value v = is_vector ? lax::expand_dims(given, Shape{left ? 1 : 0}) : given;
  const int64_t k = m.rank() < 2 ? 0 : std::min(RowsOf(m), ColumnsOf(m));
  Shape batch;
  if (m.rank() < 2 || v.rank() < 2 || (left ? RowsOf(v) != k : ColumnsOf(v) != RowsOf(m)) ||
      !BroadcastInto(batch, BatchOf(m)) || !BroadcastInto(batch, BatchOf(v))) {
    site.Fail("operands are ", m.type(), " and ", given.type(), "; with mode ", mode, " c needs as many ",
              left ? "rows as q has columns, the lesser dimension of a" : "columns as a has rows");
  }
  m = WithBatch(m, batch), v = WithBatch(v, batch);
  if (left && RowsOf(m) > k) {  // zeros for the columns that q lacks
    Shape none(static_cast<size_t>(v.rank()), 0), more = none;
    more[more.size() - 2] = RowsOf(m) - k;
    v = lax::pad(v, Scalar(v, 0), none, more, none);
  }
  const Reflectors f = ReflectorsOf(m, o.pivoting);
  Value product = Multiplied(f, v, left, o.conjugate);
  if (!left) product = Cut(product, 0, k, product.rank() - 1);
  if (is_vector) product = lax::reshape(product, Shape{product.type().elements()});
  return {product, triu(Operand(Cut(f.a, 0, k, f.a.rank() - 2), a.at)), f.order};
}
SchurResult schur(const Operand& a, std::string_view output) {
  if (output != "real" && output != "complex")
    FailAt(a.at, "schur: output is ", output, "; it must be real or complex");
  const Value m = SquareMatrices("schur", a);
  const Values out = lax::linalg::schur(output == "real" ? m : To(m, ComplexOf(m.dtype())));
  return {out[0], out[1]};
}
HessenbergResult hessenberg(const Operand& a) {
  const Value m = SquareMatrices("hessenberg", a);
  const int64_t row = m.rank() - 2, n = m.dim(row);
  if (n == 0) return {m, m};
  const lax::linalg::Hessenberg f = lax::linalg::hessenberg(m);
  const Value inner = Cut(Cut(f.a, 1, n, row), 0, n - 1, row + 1);
  const Value q = n == 1 ? inner : lax::linalg::householder_product(inner, f.taus);
  // One row and column before, which the reflectors leave alone.
  Shape before(static_cast<size_t>(m.rank()), 0), none = before;
  before[static_cast<size_t>(row)] = before.back() = 1;
  const Value padded = lax::pad(q, Scalar(q, 0), before, none, none);
  const Value i = Positions(padded, DType::kI32, row), j = Positions(padded, DType::kI32, row + 1);
  return {triu(Operand(f.a, a.at), -1), Where((i == 0) & (j == 0), 1, padded)};
}
PolarResult polar(const Operand& a, std::string_view side) {
  if (side != "right" && side != "left") FailAt(a.at, "polar: side is ", side, "; it must be right or left");
  const Value m = AnyMatrices("polar", a);
  const lax::linalg::Svd f = lax::linalg::svd(m, {.full_matrices = false});
  const Value u = matmul(f.u, f.vt), v = side == "right" ? Adjoint(f.vt) : f.u;
  const Value s = To(lax::expand_dims(f.s, Shape{f.s.rank() - 1}), m.dtype());
  return {u, matmul(v * s, Adjoint(v))};
}

}}}}  // namespace ricci::v0::scipy::linalg
