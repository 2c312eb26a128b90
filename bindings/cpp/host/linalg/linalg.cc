// Solutions of linear equations, inverses and determinants, by lu; qr.
#include "ricci/linalg.hpp"

#include "host/core/numpy_steps.h"
#include "ricci/custom_derivative.hpp"
#include "ricci/custom_linear_solve.hpp"
#include "ricci/products.hpp"

namespace ricci { inline namespace v0 { namespace linalg {
namespace {

int64_t RowsOf(const Value& a) { return a.dim(a.rank() - 2); }
Value Inexact(const Value& v) { return lax::convert_element_type(v, ToInexact(v.dtype())); }
void WantSquare(std::string_view name, const Location& at, const Value& a) {
  if (a.rank() >= 2 && RowsOf(a) == a.dim(a.rank() - 1)) return;
  FailAt(at, name, ": operand is ", a.type(), "; its last two dimensions must be those of a square matrix");
}
Value UseSquare(std::string_view name, const Operand& a) {
  const Value v = UseInexact(name, a);
  WantSquare(name, a.at, v);
  return v;
}

// The index of each element of `like` along a dimension.
Value Numbers(const Value& like, int64_t dimension) {
  Value v = lax::iota(like.builder, DType::kI32, like.shape(), dimension);
  v.scope = like.scope;
  return v;
}
Value Inverse(const Value& permutation) {
  const int64_t last = permutation.rank() - 1;
  const Value operands[] = {permutation, Numbers(permutation, last)};
  return EmitN(2, "sort", operands, {{"dimension", last}, {"is_stable", true}, {"num_keys", 1}})[1];
}
// The x with a x = b, or a^T x = b, from the factors of a: p a = l u.
Value ByFactors(const lax::linalg::Lu& f, const Value& b, bool transposed) {
  const lax::linalg::TriangularSolve l{
      .left_side = true, .lower = true, .transpose_a = transposed, .unit_diagonal = true};
  const lax::linalg::TriangularSolve u{.left_side = true, .transpose_a = transposed};
  using lax::linalg::permuted_rows, lax::linalg::triangular_solve;
  if (!transposed) return triangular_solve(f.lu, triangular_solve(f.lu, permuted_rows(b, f.permutation), l), u);
  return permuted_rows(triangular_solve(f.lu, triangular_solve(f.lu, b, u), l), Inverse(f.permutation));
}
// For matrices of one batch.
Value SolveMatrices(const Value& a, const Value& b, const Location& at) {
  const lax::linalg::Lu f = lax::linalg::lu(lax::stop_gradient(a));
  const auto by_factors = [&](bool transposed) {
    return [&f, transposed](const auto&, const Value& right) { return ByFactors(f, right, transposed); };
  };
  return lax::custom_linear_solve([&](const Value& x) { return matmul(Operand(a, at), Operand(x, at)); }, b,
                                  by_factors(false), by_factors(true), {}, at);
}
// The dimensions before the last two of both, broadcast; throws if they do not fit.
Shape BatchOf(const Location& at, const Value& a, const Value& b) {
  const Dims of_a = a.shape().first(static_cast<size_t>(a.rank() - 2));
  const Dims of_b = b.shape().first(static_cast<size_t>(b.rank() - 2));
  Shape batch(of_a.begin(), of_a.end());
  if (!BroadcastInto(batch, of_b)) FailAt(at, "solve: batch dimensions ", of_a, " and ", of_b, " do not broadcast");
  return batch;
}
Value WithBatch(const Value& v, const Shape& batch) {
  Shape shape = batch;
  shape.insert(shape.end(), v.shape().end() - 2, v.shape().end());
  return BroadcastValue(v, shape);
}

}  // namespace

Value solve(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseList("solve", in);
  Value m = Inexact(v[0]), right = Inexact(v[1]);
  WantSquare("solve", a.at, m);
  const bool is_vector = right.rank() == 1;
  if (right.rank() == 0 || right.dim(std::max<int64_t>(right.rank() - 2, 0)) != RowsOf(m)) {
    FailAt(a.at, "solve: operands are ", m.type(), " and ", right.type(), "; b must have ", RowsOf(m), " rows");
  }
  if (is_vector) right = lax::reshape(right, Shape{right.dim(0), 1});
  const Shape batch = BatchOf(a.at, m, right);
  const Value x = SolveMatrices(WithBatch(m, batch), WithBatch(right, batch), a.at);
  if (!is_vector) return x;
  return lax::reshape(x, x.shape().first(x.shape().size() - 1));
}

namespace {

// True on the diagonal.
Value IsDiagonal(const Value& a) { return lax::eq(Numbers(a, a.rank() - 2), Numbers(a, a.rank() - 1)); }
Value DiagonalOf(const Value& a) {
  const int64_t last[] = {a.rank() - 1};
  return lax::reduce_sum(lax::select(IsDiagonal(a), a, lax::zeros_like(a)), last);
}
// -1 if the factors come from an odd number of swaps, else 1.
Value SignOfSwaps(const lax::linalg::Lu& f) {
  const int64_t last[] = {f.pivots.rank() - 1};
  const Value in_place = Numbers(f.pivots, last[0]);
  const Value swapped = lax::convert_element_type(lax::ne(f.pivots, in_place), f.lu.dtype());
  const Value sign = lax::sub(lax::ones_like(swapped), lax::mul(swapped, lax::full_like(swapped, 2.0)));
  return lax::reduce_prod(sign, last);
}

}  // namespace

Value inv(const Operand& a) {
  const Value m = UseSquare("inv", a);
  return SolveMatrices(m, lax::convert_element_type(IsDiagonal(m), m.dtype()), a.at);
}

SignAndLog slogdet(const Operand& a) {
  const lax::linalg::Lu f = lax::linalg::lu(UseSquare("slogdet", a));
  const Value diagonal = DiagonalOf(f.lu);
  const int64_t last[] = {diagonal.rank() - 1};
  return {lax::mul(lax::reduce_prod(lax::sign(diagonal), last), SignOfSwaps(f)),
          lax::reduce_sum(lax::log(lax::abs(diagonal)), last)};
}

namespace {

// Element (i, j) of each matrix.
Value At(const Value& a, int64_t i, int64_t j) {
  const Value row = lax::slice_in_dim(a, i, i + 1, a.rank() - 2);
  return lax::reshape(lax::slice_in_dim(row, j, j + 1, a.rank() - 1), a.shape().first(a.shape().size() - 2));
}
// The determinant of rows i and i + 1 in columns j and k.
Value Minor(const Value& a, int64_t i, int64_t j, int64_t k) {
  return lax::sub(lax::mul(At(a, i, j), At(a, i + 1, k)), lax::mul(At(a, i, k), At(a, i + 1, j)));
}

// The last diagonal element of each matrix.
Value IsCorner(const Value& a) {
  const Value last = lax::full_like(Numbers(a, a.rank() - 1), static_cast<double>(RowsOf(a) - 1));
  return lax::bitwise_and(IsDiagonal(a), lax::eq(Numbers(a, a.rank() - 1), last));
}
// A number of each matrix, `v`, as each element of it.
Value OverMatrix(const Value& v, const Value& like) {
  return lax::broadcast_in_dim(v, like.shape(), CountFrom(0, v.rank()));
}
// True where a solution with all ones is not finite.
Value IsSingular(const Value& factors) {
  Shape shape(factors.shape().begin(), factors.shape().end());
  shape.back() = 1;
  const Value ones =
      lax::broadcast_in_dim(lax::full_like(At(factors, 0, 0), 1), shape, CountFrom(0, factors.rank() - 2));
  const Value x = lax::linalg::triangular_solve(factors, ones, {.left_side = true});
  return lax::reduce_or(lax::bitwise_not(lax::is_finite(x)), Shape{x.rank() - 2, x.rank() - 1});
}

struct Cofactors {
  Value det, product;  // |a|, |a| a^-1 b
};
// Also for a singular a. From the factors p a = l u follows |a| a^-1 b = +-u_11 ... u_nn u^-1 l^-1 p b. If only u_nn is
// zero, what is left of the product when it is divided by u_nn is finite: the last row of l^-1 p b is not multiplied by
// u_nn at all, and u gets a last element that divides by the others. If others are zero, so is the result,
// as in JAX; it is exact where a has at most one rank less than rows and the factors have their zero at the end.
Cofactors CofactorSolve(const Value& a, const Value& b) {
  const lax::linalg::Lu f = lax::linalg::lu(a);
  const int64_t n = RowsOf(a), row = a.rank() - 2;
  const Value diagonal = DiagonalOf(f.lu), sign = SignOfSwaps(f);
  const Value products =
      lax::mul(lax::cumprod(diagonal, row), lax::broadcast_in_dim(sign, diagonal.shape(), CountFrom(0, row)));
  const auto product = [&](int64_t i) {  // of the first i + 1 elements of the diagonal
    return lax::reshape(lax::slice_in_dim(products, i, i + 1, row), a.shape().first(static_cast<size_t>(row)));
  };
  const Value det = product(n - 1), rest = product(n - 2);
  const Value corner = OverMatrix(lax::div(1.0, rest), a);
  const Value factors = lax::select(IsCorner(a), corner, f.lu), zero = lax::zeros_like(b);
  const Value vanishes = OverMatrix(IsSingular(factors), a);
  Value x = lax::linalg::permuted_rows(lax::select(vanishes, zero, b), f.permutation);
  x = lax::linalg::triangular_solve(factors, x, {.left_side = true, .lower = true, .unit_diagonal = true});
  const Value is_last = lax::eq(Numbers(x, row), lax::full_like(Numbers(x, row), static_cast<double>(n - 1)));
  x = lax::select(is_last, x, lax::mul(x, OverMatrix(det, x)));
  x = lax::linalg::triangular_solve(factors, x, {.left_side = true});
  return {det, lax::select(vanishes, zero, x)};
}

// By the factors; its derivative, the sum of the cofactors times those of the elements, is finite for any matrix.
Value DetByFactors(const Value& a) {
  const auto value = [](const Value& m) {
    const lax::linalg::Lu f = lax::linalg::lu(m);
    const int64_t last[] = {f.pivots.rank() - 1};
    return lax::mul(lax::reduce_prod(DiagonalOf(f.lu), last), SignOfSwaps(f));
  };
  const auto rule = [](const auto& primals, const auto& tangents) {
    const Cofactors c = CofactorSolve(std::get<0>(primals), std::get<0>(tangents));
    const Value diagonal = DiagonalOf(c.product);
    return std::pair(c.det, lax::reduce_sum(diagonal, Shape{diagonal.rank() - 1}));
  };
  return custom_jvp(value, rule).Emit(a);
}

}  // namespace

Value det(const Operand& a) {
  const Value m = UseSquare("det", a);
  if (RowsOf(m) == 1) return At(m, 0, 0);
  if (RowsOf(m) == 2) return Minor(m, 0, 0, 1);
  if (RowsOf(m) == 3) {
    const Value first = lax::mul(At(m, 0, 0), Minor(m, 1, 1, 2)), second = lax::mul(At(m, 0, 1), Minor(m, 1, 0, 2));
    return lax::add(lax::sub(first, second), lax::mul(At(m, 0, 2), Minor(m, 1, 0, 1)));
  }
  return DetByFactors(m);
}

QAndR qr(const Operand& a, bool complete) {
  const Value m = UseInexact("qr", a);
  if (m.rank() < 2) FailAt(a.at, "qr: operand is ", m.type(), "; its last two dimensions must be those of a matrix");
  const Values out = lax::linalg::qr(m, /*pivoting=*/false, complete);
  return {out[0], out[1]};
}

}}}  // namespace ricci::v0::linalg
