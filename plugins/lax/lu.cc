// lu: p a = l u of the matrices m x n of a. Three results: l (below the diagonal, where its ones are not stored) and u
// in one matrix, the pivots (step i swapped rows i and pivots[i]) and the permutation (row i of p a is row
// permutation[i] of a).
//
// A column's pivot is the first element of largest magnitude (of complex numbers |re| + |im|) from the diagonal down,
// as in LAPACK. NaN is greater than nothing in comparisons: at the diagonal it stays the pivot, below it never becomes
// one. A column of zeros is left as it is, so that u is singular, which is not a failure.
#include "matrix.hpp"
#include "scalar_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

int64_t StepsOf(const ArrayType& a) { return std::min(RowsOf(a), ColumnsOf(a)); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantMatrices(e, 0, kWideFloats | kComplexes);
  const ArrayType a = e.in(0);
  if (RowsOf(a) > int64_t{1} << 31) {
    e.Fail("dimension ", a.rank() - 2, " of ", a, " is too large for indices of i32");
  }
  const auto list = [&](int64_t n) {
    Shape shape = BatchOf(a);
    shape.push_back(n);
    return e.Type(DType::kI32, shape);
  };
  return ArrayTypes{a, list(StepsOf(a)), list(RowsOf(a))};
}

// ---- derivative, as in jax.lax: with x = l^-1 p da u^-1 it is dl = l tril(x, -1) and du = triu(x) u ----
// If a is not square, l and u are extended to square matrices by those of an identity.

// The upper left part of the matrices of `x`, padded with zeros if it is larger than they are.
Value Resized(const Value& x, int64_t rows, int64_t columns) {
  const Shape none(static_cast<size_t>(x.rank()), 0);
  Shape more = none;
  more[more.size() - 2] = rows - RowsOf(x.type());        // exact: of dimensions
  more[more.size() - 1] = columns - ColumnsOf(x.type());  // exact: of dimensions
  return more == none ? x : pad(x, full(x.builder, x.type().WithShape({}), 0.0), none, more, none);
}
Value Lower(const Value& lu) {
  const Value square = Resized(lu, RowsOf(lu.type()), RowsOf(lu.type()));
  const Value on_diagonal = convert_element_type(OnDiagonal(square), lu.dtype());
  return add(Triangle(square, /*lower=*/true, /*diagonal=*/false), on_diagonal);
}
Value Upper(const Value& lu) {
  const int64_t steps = StepsOf(lu.type()), n = ColumnsOf(lu.type());
  const Value square = Resized(lu, n, n), triangle = Triangle(square, /*lower=*/false, /*diagonal=*/true);
  if (steps == n) return triangle;
  const Value row = RowNumbers(square);
  const Value is_later = ge(row, full_like(row, steps));
  const Value added = bitwise_and(eq(row, ColumnNumbers(square)), is_later);
  return add(triangle, convert_element_type(added, lu.dtype()));
}
void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  if (a.tangents[0].is_zero() || e.in(0).elements() == 0) return;
  const Value l = Lower(a.out[0]), u = Upper(a.out[0]), da = linalg::permuted_rows(a.tangents[0], a.out[2]);
  const Value part = linalg::triangular_solve(l, da, {.left_side = true, .lower = true, .unit_diagonal = true});
  const Value x = linalg::triangular_solve(u, part);
  const Value du = MatrixProduct(Triangle(x, /*lower=*/false, /*diagonal=*/true), u);
  a.out_tangents[0] = add(MatrixProduct(l, Triangle(x, /*lower=*/true, /*diagonal=*/false)), du);
}

// ---- lowering ----
Scalar Quotient(Scalar v, Scalar pivot) {
  const Scalar quotient = v / pivot;
  return Select(pivot != 0, quotient, v);
}

// One matrix, with its pivots and permutation.
class Matrix {
 public:
  Matrix(KernelBuilder& k, const Eqn& e, const Index& batch)
      : k_(k),
        rows_(RowsOf(e.in(0))),
        columns_(ColumnsOf(e.in(0))),
        steps_(StepsOf(e.in(0))),
        batch_(batch),
        a_(k.Operand(0), batch),
        lu_(k.Result(0), batch) {}

  void Factorise() const { std::max(rows_, columns_) <= kSmallMatrix ? InRegisters() : InLoops(); }

 private:
  static constexpr uint32_t kPivots = 1, kPermutation = 2;  // results
  Scalar Number(int64_t v) const { return k_.Constant(DType::kI32, v); }
  Index At(Scalar i) const {
    Index at = batch_;
    at.push_back(i);
    return at;
  }
  Scalar LoadOf(uint32_t result, Scalar i) const { return k_.Result(result).Load(At(i)); }
  void StoreOf(uint32_t result, Scalar i, Scalar v) const { k_.Result(result).Store(At(i), Convert(v, DType::kI32)); }

  // ---- with scalar values only: rows of elements, and at the end of each its original row number ----
  using Lines = std::vector<std::vector<Scalar>>;
  Lines LoadLines() const {
    Lines lines;
    for (int64_t i = 0; i < rows_; ++i) {
      std::vector<Scalar>& line = lines.emplace_back();
      for (int64_t j = 0; j < columns_; ++j) line.push_back(a_.Load(k_.At(i), k_.At(j)));
      line.push_back(Number(i));
    }
    return lines;
  }
  Scalar PivotAmong(const Lines& lines, size_t step) const {
    Scalar largest = SumOfParts(lines[step][step]), pivot = Number(static_cast<int64_t>(step));
    for (size_t i = step + 1; i < lines.size(); ++i) {
      const Scalar v = SumOfParts(lines[i][step]), larger = v > largest;
      largest = Select(larger, v, largest);
      pivot = Select(larger, Number(static_cast<int64_t>(i)), pivot);
    }
    return pivot;
  }
  static void Swap(Lines& lines, size_t step, Scalar pivot) {
    std::vector<Scalar> chosen = lines[step];
    for (size_t i = step + 1; i < lines.size(); ++i) {
      const Scalar here = pivot == static_cast<int64_t>(i);
      for (size_t j = 0; j < chosen.size(); ++j) {
        chosen[j] = Select(here, lines[i][j], chosen[j]);
        lines[i][j] = Select(here, lines[step][j], lines[i][j]);
      }
    }
    lines[step] = chosen;
  }
  void Eliminate(Lines& lines, size_t step) const {
    const std::vector<Scalar>& top = lines[step];
    for (size_t i = step + 1; i < lines.size(); ++i) {
      std::vector<Scalar>& line = lines[i];
      line[step] = Quotient(line[step], top[step]);
      for (size_t j = step + 1; j + 1 < line.size(); ++j) line[j] = line[j] - line[step] * top[j];
    }
  }
  void InRegisters() const {
    Lines lines = LoadLines();
    for (int64_t step = 0; step < steps_; ++step) {
      const auto at = static_cast<size_t>(step);
      const Scalar pivot = PivotAmong(lines, at);
      StoreOf(kPivots, k_.At(step), pivot);
      Swap(lines, at, pivot);
      Eliminate(lines, at);
    }
    for (int64_t i = 0; i < rows_; ++i) {
      const std::vector<Scalar>& line = lines[static_cast<size_t>(i)];
      for (int64_t j = 0; j < columns_; ++j) lu_.Store(k_.At(i), k_.At(j), line[static_cast<size_t>(j)]);
      StoreOf(kPermutation, k_.At(i), line.back());
    }
  }

  // ---- in the results, which first hold a and the numbers of its rows ----
  void Begin() const {
    k_.Loop(rows_, [&](Scalar i) {
      k_.Loop(columns_, [&](Scalar j) { lu_.Store(i, j, a_.Load(i, j)); });
      StoreOf(kPermutation, i, i);
    });
  }
  Scalar PivotOf(Scalar step) const {
    const auto magnitude = [&](Scalar i) { return SumOfParts(lu_.Load(i, step)); };
    const Scalar first = magnitude(step);
    const Scalar largest = k_.Reduce(RICCI_S_MAX, step, k_.At(rows_), [&](Scalar i) {
      const Scalar v = magnitude(i);
      return Select(v == v, v, Like(v, 0));
    });
    const Scalar found = k_.Reduce(RICCI_S_MIN, step, k_.At(rows_),
                                   [&](Scalar i) { return Select(magnitude(i) == largest, i, k_.At(rows_)); });
    return Select(first == first, found, step);
  }
  void Swap(Scalar step, Scalar pivot) const {
    k_.Loop(columns_, [&](Scalar j) {
      const Scalar v = lu_.Load(step, j);
      lu_.Store(step, j, lu_.Load(pivot, j));
      lu_.Store(pivot, j, v);
    });
    const Scalar number = LoadOf(kPermutation, step);
    StoreOf(kPermutation, step, LoadOf(kPermutation, pivot));
    StoreOf(kPermutation, pivot, number);
  }
  void Eliminate(Scalar step) const {
    const Scalar pivot = lu_.Load(step, step);
    k_.Loop(step + 1, k_.At(rows_), [&](Scalar i) {
      const Scalar factor = Quotient(lu_.Load(i, step), pivot);
      lu_.Store(i, step, factor);
      k_.Loop(step + 1, k_.At(columns_), [&](Scalar j) {
        const Scalar of_pivot = lu_.Load(step, j);
        lu_.Store(i, j, lu_.Load(i, j) - factor * of_pivot);
      });
    });
  }
  void InLoops() const {
    Begin();
    k_.Loop(steps_, [&](Scalar step) {
      const Scalar pivot = PivotOf(step);
      StoreOf(kPivots, step, pivot);
      Swap(step, pivot);
      Eliminate(step);
    });
  }

  KernelBuilder& k_;
  const int64_t rows_, columns_, steps_;
  const Index batch_;
  const KernelMatrix a_, lu_;
};

void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.out(2).elements() == 0) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) { Matrix(k, e, batch).Factorise(); });
}

// Rows are far from their final positions, so that all are swapped.
constexpr std::string_view kExamples =
    "program (%s: f64[3,3] in -1..1) {"
    "  %d: f64[3,3] = constant [0.0, 3.0, 0.0, 0.0, 0.0, 2.5, -3.0, 0.0, 0.0] %a: f64[3,3] = add(%s, %d)"
    "  %l: f64[3,3], %p: i32[3], %r: i32[3] = lu(%a) return %l, %p, %r }; "
    "program (%s: f64[2,4,2] in -0.5..0.5) {"
    "  %d: f64[2,4,2] = constant [0.0, 0.0, 0.0, 3.0, 2.0, 0.0, 0.0, 1.0,"
    "                             0.0, 2.0, 0.0, 0.0, 0.0, 0.0, -2.0, 0.0] %a: f64[2,4,2] = add(%s, %d)"
    "  %l: f64[2,4,2], %p: i32[2,2], %r: i32[2,4] = lu(%a) return %l, %p, %r }; "
    "program (%s: f64[2,4] in -1..1) {"
    "  %d: f64[2,4] = constant [0.0, 3.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0] %a: f64[2,4] = add(%s, %d)"
    "  %l: f64[2,4], %p: i32[2], %r: i32[2] = lu(%a) return %l, %p, %r }; "
    "program (%s: f64[10,11] in -0.5..0.5) {"
    "  %i: i32[10,11] = iota() dtype=i32 shape=[10,11] dimension=0"
    "  %j: i32[10,11] = iota() dtype=i32 shape=[10,11] dimension=1 %n: i32[10,11] = rev(%j) dimensions=[1]"
    "  %e: bool[10,11] = eq(%i, %n) %t: f64[10,11] = convert_element_type(%e) new_dtype=f64"
    "  %f: f64[10,11] = add(%t, %t) %d: f64[10,11] = add(%f, %f) %a: f64[10,11] = add(%s, %d)"
    "  %l: f64[10,11], %p: i32[10], %r: i32[10] = lu(%a) return %l, %p, %r }";

constexpr Row kRows[] = {
    {.name = "lu",
     .doc = "lu, pivots, permutation = lu(a): the factors L and U of P a = L U in one matrix, the row "
            "that each step swaps with, the rows of a in the order of P a",
     .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_READS_ONCE,
     .type = Type,
     .jvp = JvpRule,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = BatchFactors,
     .lowerings = kWideLoops<Loops>,
     .missing = rules::kNotLinear,
     .examples = kExamples}};

}  // namespace

RowList lu_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
