// Factorisations of matrices and solutions with them.
#include "fuzz/generators.h"

namespace ricci::testing {
namespace {

// A batch of n x n matrices, with n near the size up to which they are computed in registers.
Shape SomeSquare(Draft& d) {
  constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 9, 12};
  const int64_t n = d.dice().Pick(kSizes), batch = d.dice().Between(1, 3);
  return d.dice().Chance(0.4) ? Shape{batch, n, n} : Shape{n, n};
}

// `x` with `v` added to the diagonals.
Value OnDiagonal(const Value& x, double v) {
  const auto number = [&](int64_t dim) { return lax::iota(x.builder, DType::kI32, x.shape(), x.rank() - dim); };
  return lax::add(x, lax::select(lax::eq(number(2), number(1)), lax::full_like(x, v), lax::zeros_like(x)));
}

// With elements in [-1, 1], so that what is added to the diagonals dominates them.
Value Small(const Value& x) { return lax::tanh(x); }

Value Positive(const Value& x) {
  Shape order = rules::Range(x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const Value s = Small(x);
  return OnDiagonal(lax::add(s, lax::transpose(s, order)), 2.0 * static_cast<double>(x.dim(x.rank() - 1)) + 1);
}

// A matrix that is positive definite, or sometimes one that is not.
void Factorise(Draft& d) {
  const Value x = d.Of(d.SomeDType(kFloats), SomeSquare(d));
  const bool any = !d.palette().smooth && d.dice().Chance(0.1);
  const Values l = d.Emit("cholesky", {any ? x : Positive(x)});
  if (l.empty() || d.dice().Chance(0.5)) return;
  d.Emit("triangular_solve", {l[0], d.Of(x.type())}, {{"lower", true}, {"left_side", d.dice().Chance(0.5)}});
}

void Solve(Draft& d) {
  const Shape square = SomeSquare(d);
  const DType dtype = d.SomeDType(kFloats);
  const bool left = d.dice().Chance(0.5), unit = square.back() <= 4 && d.dice().Chance(0.3);
  Shape right = square;
  right[right.size() - (left ? 1 : 2)] = d.dice().Between(0, 5);
  const Value a = OnDiagonal(Small(d.Of(dtype, square)), d.dice().Chance(0.5) ? 3.0 : -3.0), b = d.Of(dtype, right);
  d.Emit("triangular_solve", {a, b},
         {{"left_side", left},
          {"lower", d.dice().Chance(0.5)},
          {"transpose_a", d.dice().Chance(0.5)},
          {"conjugate_a", d.dice().Chance(0.3)},
          {"unit_diagonal", unit}});
}

// A matrix of any shape whose pivots differ clearly from what they are compared with, or sometimes any matrix: then
// rounding decides between rows.
void SwapRows(Draft& d) {
  Shape shape = SomeSquare(d);
  if (d.dice().Chance(0.5)) shape.back() = d.dice().Between(0, 10);
  const Value x = d.Of(d.SomeDType(kFloats), shape);
  const bool any = !d.palette().smooth && d.dice().Chance(0.1);
  const int64_t rows = shape[shape.size() - 2];
  const int64_t row[] = {x.rank() - 2};
  const Value far = lax::rev(OnDiagonal(Small(x), 2.0 * static_cast<double>(rows) + 1), row);
  const Values out = d.Emit("lu", {any ? x : far});
  if (out.empty() || d.dice().Chance(0.5)) return;
  d.Emit("lu_pivots_to_permutation", {out[1]}, {{"permutation_size", rows + d.dice().Between(0, 2)}});
}

constexpr Generator kGenerators[] = {{1, true, Factorise}, {1, true, Solve}, {1, true, SwapRows}};

}  // namespace

std::span<const Generator> LinalgGenerators() { return kGenerators; }

}  // namespace ricci::testing
