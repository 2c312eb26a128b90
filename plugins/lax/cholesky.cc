// cholesky: the lower triangular l with l l^H = a, zero above the diagonal. Only the lower triangle of a is read, and
// of the diagonal of complex matrices only the real part, as LAPACK's potrf does.
//
// If a matrix is not positive definite its whole triangle is NaN, which is what jax.lax makes of LAPACK's failure. Runs
// row by row: an element needs the rows above it and the elements before it in its own.
#include <limits>

#include "matrix.hpp"
#include "scalar_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantSquare(e, 0, kWideFloats | kComplexes);
  return e.in(0);
}

// ---- derivative, as in jax.lax: dl = l phi(l^-1 da l^-H), where phi takes the triangle and half of the diagonal ----
Value Phi(const Value& x) {
  const Value row = RowNumbers(x), column = ColumnNumbers(x);
  const Value one = ones_like(x), part = full_like(x, 0.5), half = select(eq(row, column), part, one);
  return mul(Triangle(x, /*lower=*/true, /*diagonal=*/true), half);
}
Value Solve(const Value& l, const Value& b, bool left) {
  const bool conjugate = !left && IsComplex(l.dtype());
  return linalg::triangular_solve(l, b,
                                  {.left_side = left, .lower = true, .transpose_a = !left, .conjugate_a = conjugate});
}
Value Tangent(const Eqn&, const Value& t, std::span<const Value>, const Value& l) {
  const Value right = Solve(l, t, /*left=*/false);
  return MatrixProduct(l, Phi(Solve(l, right, /*left=*/true)));
}

Batched BatchRule(const Eqn& e, const Batched& x) { return {e.Emit({rules::MoveDim(x.value, x.dim, 0)}), 0}; }

// ---- lowering ----
Scalar NotANumber(Scalar like) {
  const Scalar part = Like(RealPart(like), std::numeric_limits<double>::quiet_NaN());
  return IsComplex(like) ? Complex(part, part) : part;
}

void InRegisters(KernelBuilder& k, int64_t n, const KernelMatrix& a, const KernelMatrix& l) {
  std::vector<std::vector<Scalar>> rows;
  Scalar positive = k.Constant(DType::kBool, true);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<Scalar> row;
    for (size_t j = 0; j < rows.size(); ++j) {
      Scalar rest = a.Load(k.At(i), k.At(static_cast<int64_t>(j)));
      for (size_t m = 0; m < j; ++m) rest = rest - row[m] * Conj(rows[j][m]);
      row.push_back(OverReal(rest, RealPart(rows[j][j])));
    }
    const Scalar last = a.Load(k.At(i), k.At(i));
    Scalar square = RealPart(last);
    for (const Scalar& v : row) square = square - SquaredMagnitude(v);
    positive = positive & (square > 0);
    row.push_back(AsKind(last, SquareRoot(square)));
    rows.push_back(std::move(row));
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const auto& row = rows[static_cast<size_t>(i)];
      const Scalar v = j > i ? Like(row[0], 0) : Select(positive, row[static_cast<size_t>(j)], NotANumber(row[0]));
      l.Store(k.At(i), k.At(j), v);
    }
  }
}

void Triangle(KernelBuilder& k, const Eqn& e, const KernelMatrix& a, const KernelMatrix& l,
              const KernelArray& positive) {
  const auto rest = [&](Scalar i, Scalar j) {
    const Scalar products =
        k.Reduce(RICCI_S_ADD, k.At(0), j, [&](Scalar m) { return l.Load(i, m) * Conj(l.Load(j, m)); });
    return a.Load(i, j) - products;
  };
  const auto square_of = [&](Scalar i) {
    const Scalar squares = k.Reduce(RICCI_S_ADD, k.At(0), i, [&](Scalar m) { return SquaredMagnitude(l.Load(i, m)); });
    return RealPart(a.Load(i, i)) - squares;
  };
  positive.Store({}, k.Constant(DType::kBool, true));
  k.Loop(RowsOf(e.in(0)), [&](Scalar i) {
    k.Loop(k.At(0), i, [&](Scalar j) { l.Store(i, j, OverReal(rest(i, j), RealPart(l.Load(j, j)))); });
    const Scalar square = square_of(i);
    positive.Store({}, positive.Load({}) & (square > 0));
    l.Store(i, i, AsKind(a.Load(i, i), SquareRoot(square)));
  });
}

void InLoops(KernelBuilder& k, const Eqn& e, const KernelMatrix& a, const KernelMatrix& result) {
  const int64_t n = RowsOf(e.in(0));
  const KernelArray positive = k.Local(e.Type(DType::kBool, {}));
  const KernelMatrix l = n <= kPrivateRows ? KernelMatrix(k.Local(e.Type(e.out().dtype(), Shape{n, n})), {}) : result;
  if (n > kPrivateRows) {  // all of the result is read below
    k.Loop(n, [&](Scalar i) { k.Loop(n, [&](Scalar j) { result.Store(i, j, k.Constant(e.out().dtype(), 0)); }); });
  }
  Triangle(k, e, a, l, positive);
  const Scalar all = positive.Load({});
  k.Loop(n, [&](Scalar i) {
    k.Loop(n, [&](Scalar j) {
      const Scalar v = l.Load(i, Min(i, j));  // above the diagonal there is nothing
      result.Store(i, j, Select(j > i, Like(v, 0), Select(all, v, NotANumber(v))));
    });
  });
}

void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.out().elements() == 0) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) {
    const KernelMatrix a(k.Operand(0), batch), l(k.Result(), batch);
    const int64_t n = RowsOf(e.in(0));
    n <= kSmallMatrix ? InRegisters(k, n, a, l) : InLoops(k, e, a, l);
  });
}

std::string Factors(const Eqn& e) {
  FactorText text;
  Shape a;
  for (int64_t i = 0; i + 2 < e.in(0).rank(); ++i) a.push_back(text.Shared());
  Shape l = a;
  a.insert(a.end(), {text.Whole(), text.Whole()});
  l.insert(l.end(), {text.Whole(), text.Whole()});
  text.AddIn(a);
  text.AddOut(l);
  return text.Done();
}

// Derivatives are taken along symmetric and Hermitian matrices, as in jax.lax.
constexpr std::string_view kExamples =
    "program (%s: f64[3,3] in -0.5..0.5) { %t: f64[3,3] = transpose(%s) permutation=[1,0]"
    "  %d: f64[3,3] = constant [2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 2.5] %u: f64[3,3] = add(%s, %t)"
    "  %a: f64[3,3] = add(%u, %d) %l: f64[3,3] = cholesky(%a) return %l }; "
    "program (%s: f64[2,9,9] in -0.1..0.1) { %t: f64[2,9,9] = transpose(%s) permutation=[0,2,1]"
    "  %i: i32[2,9,9] = iota() dtype=i32 shape=[2,9,9] dimension=1"
    "  %j: i32[2,9,9] = iota() dtype=i32 shape=[2,9,9] dimension=2 %e: bool[2,9,9] = eq(%i, %j)"
    "  %d: f64[2,9,9] = convert_element_type(%e) new_dtype=f64 %f: f64[2,9,9] = add(%d, %d)"
    "  %u: f64[2,9,9] = add(%s, %t) %a: f64[2,9,9] = add(%u, %f) %l: f64[2,9,9] = cholesky(%a) return %l }; "
    "program (%x: f64[3,3] in -0.3..0.3, %y: f64[3,3] in -0.3..0.3) { %z: c128[3,3] = complex(%x, %y)"
    "  %c: c128[3,3] = conj(%z) %t: c128[3,3] = transpose(%c) permutation=[1,0] %u: c128[3,3] = add(%z, %t)"
    "  %d: f64[3,3] = constant [2.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 2.5] %o: f64[3,3] = sub(%d, %d)"
    "  %e: c128[3,3] = complex(%d, %o) %a: c128[3,3] = add(%u, %e) %l: c128[3,3] = cholesky(%a) return %l }; "
    "order=0 (f64[2,4,4] in 1..2); order=0 (f64[10,10] in 1..2); order=0 (c128[2,9,9] in 1..2)";

constexpr Row kRows[] = {{.name = "cholesky",
                          .doc = "l = cholesky(a): the lower triangular l with l l^H = a; reads only the lower "
                                 "triangle of a; NaN where a is not positive definite",
                          .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_READS_ONCE,
                          .type = Type,
                          .jvp = rules::Terms<Tangent>,
                          .batch = rules::BatchFirstOperand<BatchRule>,
                          .factors_of = Factors,
                          .lowerings = kWideLoops<Loops>,
                          .missing = rules::kNotLinear,
                          .examples = kExamples}};

}  // namespace

RowList cholesky_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
