// Both go by halves: of four blocks, two are smaller ones of the same kind, and what is left are products, which are
// tiles of their own here (product_code). The same way as blocked_cholesky and blocked_triangular_solve of plugins/cpu.
#include "blocked_factors.h"

#include <limits>
#include <utility>

#include "ricci/lax_linalg.hpp"
#include "ricci/plugin.hpp"

namespace ricci::object {
namespace {

using lax::linalg::TriangularSolve;

// Where the first half of `n` rows ends: whole blocks.
int64_t HalfOf(int64_t n) { return (n / 2 + kBlock - 1) / kBlock * kBlock; }

int64_t RowsOf(const Value& x) { return x.dim(x.rank() - 2); }
int64_t ColumnsOf(const Value& x) { return x.dim(x.rank() - 1); }

// Rows [r0, r1) and columns [c0, c1) of each matrix.
Value Block(const Value& x, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  return lax::slice_in_dim(lax::slice_in_dim(x, r0, r1, x.rank() - 2), c0, c1, x.rank() - 1);
}
Value Above(const Value& x, const Value& y) { return lax::concatenate(Values{x, y}, x.rank() - 2); }
Value Beside(const Value& x, const Value& y) { return lax::concatenate(Values{x, y}, x.rank() - 1); }

Value TurnedIf(bool turned, const Value& x) {
  if (!turned) return x;
  Shape order(CountFrom(0, x.rank()));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return lax::transpose(x, order);
}

// x y of each matrix, with y transposed if `turned`.
Value Product(const Value& x, const Value& y, bool turned = false) {
  const Shape batch(CountFrom(0, x.rank() - 2));
  return lax::dot_general(x, y, {{x.rank() - 1}, {y.rank() - (turned ? 1 : 2)}, batch, batch});
}

bool IsLarge(const Eqn& e) {
  const ArrayType a = e.in(0);
  return a.dim(a.rank() - 1) > kBlock && (a.dtype() == DType::kF32 || a.dtype() == DType::kF64);
}

// ---- cholesky ----

// Whether each matrix of the lower half has a factor, for each element of a shape.
Value HasNone(const Value& lower_half, Dims shape) {
  const int64_t n = RowsOf(lower_half);
  const Value last = Block(lower_half, n - 1, n, n - 1, n);
  const int64_t batch = last.rank() - 2;
  const Value bad = lax::ne(last, last);  // NaN is everywhere then
  return lax::broadcast_in_dim(lax::reshape(bad, Shape(last.shape().begin(), last.shape().end() - 2)), shape,
                               CountFrom(0, batch));
}

Value InLowerTriangle(const Value& x) {
  ricci_builder* const b = x.builder;
  return lax::ge(lax::iota(b, DType::kI32, x.shape(), x.rank() - 2),
                 lax::iota(b, DType::kI32, x.shape(), x.rank() - 1));
}

// A matrix that is not positive definite has no factor at all: all of the lower triangle is NaN.
Values Cholesky(const Eqn&, std::span<const Value> in) {
  const Value& a = in[0];
  const int64_t n = RowsOf(a), h = HalfOf(n);
  const Value top = lax::linalg::cholesky(Block(a, 0, h, 0, h));
  const Value left = lax::linalg::triangular_solve(top, Block(a, h, n, 0, h), {.lower = true, .transpose_a = true});
  const Value bottom = lax::linalg::cholesky(lax::sub(Block(a, h, n, h, n), Product(left, left, /*turned=*/true)));
  const auto nan_like = [](const Value& x) { return lax::full_like(x, std::numeric_limits<double>::quiet_NaN()); };
  const Value no_top = lax::bitwise_and(HasNone(bottom, top.shape()), InLowerTriangle(top));
  const Value upper = lax::full_like(TurnedIf(true, left), 0.0);
  return {Above(Beside(lax::select(no_top, nan_like(top), top), upper),
                Beside(lax::select(HasNone(bottom, left.shape()), nan_like(left), left), bottom))};
}

[[maybe_unused]] constexpr Lowering kCholesky = {
    .decompose = Cholesky, .match = IsLarge, .target = "cpu", .priority = 10};

// ---- triangular_solve ----

// With op(a) in blocks p11, p12, p21, p22, one of p12 and p21 is zero; `off` is the other one as it lies in a. The half
// that depends on no other comes first.
Values Solve(const Eqn& e, std::span<const Value> in) {
  const Value &a = in[0], &b = in[1];
  const int64_t n = RowsOf(a), h = HalfOf(n);
  const TriangularSolve o = {.left_side = e.flag("left_side", false),
                             .lower = e.flag("lower", false),
                             .transpose_a = e.flag("transpose_a", false),
                             .conjugate_a = false,
                             .unit_diagonal = e.flag("unit_diagonal", false)};
  const Value a1 = Block(a, 0, h, 0, h), a2 = Block(a, h, n, h, n);
  const Value off = o.lower ? Block(a, h, n, 0, h) : Block(a, 0, h, h, n);
  const bool is_lower = o.lower != o.transpose_a, first_is_top = is_lower == o.left_side;
  const auto half = [&](bool top) {
    const int64_t from = top ? 0 : h, to = top ? h : n;
    return o.left_side ? Block(b, from, to, 0, ColumnsOf(b)) : Block(b, 0, RowsOf(b), from, to);
  };
  const Value first = lax::linalg::triangular_solve(first_is_top ? a1 : a2, half(first_is_top), o);
  const Value moved = o.left_side ? Product(TurnedIf(o.transpose_a, off), first) : Product(first, off, o.transpose_a);
  const Value second = lax::linalg::triangular_solve(first_is_top ? a2 : a1, lax::sub(half(!first_is_top), moved), o);
  const Value &top = first_is_top ? first : second, &rest = first_is_top ? second : first;
  return {o.left_side ? Above(top, rest) : Beside(top, rest)};
}

constexpr Lowering kSolve = {.decompose = Solve, .match = IsLarge, .target = "cpu", .priority = 10};

}  // namespace

ricci_status* AddBlockedFactors(ricci_ctx* ctx) {
  for (const auto& [name, lowering] : {std::pair<std::string_view, const Lowering*>{"triangular_solve", &kSolve}}) {
    ricci_prim row = 0;
    if (ricci_status* s = ricci_prim_find(ctx, name.data(), name.size(), &row)) return s;
    const ricci_lowering l = ToAbi(*lowering);
    if (ricci_status* s = ricci_prim_add_lowering(ctx, row, &l)) return s;
  }
  return nullptr;
}

}  // namespace ricci::object
