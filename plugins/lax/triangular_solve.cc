// triangular_solve: x with op(a) x = b, or x op(a) = b, where a is triangular and op(a) may be its transpose, its
// conjugate, or both.
//
// Every column (row) of x is solved by itself: substitution runs along it in order, and earlier elements are read back
// from the result. Only the triangle given is read. A batch of b only becomes columns (rows) of one solve.
#include "matrix.hpp"
#include "scalar_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"left_side", AttrKind::kBool, "false"},
                               {"lower", AttrKind::kBool, "false"},
                               {"transpose_a", AttrKind::kBool, "false"},
                               {"conjugate_a", AttrKind::kBool, "false"},
                               {"unit_diagonal", AttrKind::kBool, "false"}};

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  WantSquare(e, 0, kInexact);
  const ArrayType a = e.in(0), b = e.in(1);
  if (a.dtype() != b.dtype() || a.rank() != b.rank() || BatchOf(a) != BatchOf(b)) {
    e.Fail("operands are ", a, " and ", b, "; they must have one dtype and the same dimensions before the last two");
  }
  const bool left = e.flag("left_side", false);
  const int64_t size = left ? RowsOf(b) : ColumnsOf(b);
  if (size != RowsOf(a)) {
    e.Fail("operands are ", a, " and ", b, "; with left_side=", left ? "true" : "false", " the matrices of b have ",
           RowsOf(a), left ? " rows" : " columns", ", not ", size);
  }
  return b;
}

// ---- derivatives, as in jax.lax ----
// The negative tangent of a, in the form in which a is in the equation for x.
Value NegativeTangent(const Eqn& e, const Value& t) {
  const Value part = neg(Triangle(t, e.flag("lower", false), !e.flag("unit_diagonal", false)));
  const Value conjugate = IsComplex(t.dtype()) && e.flag("conjugate_a", false) ? conj(part) : part;
  return e.flag("transpose_a", false) ? MatrixTranspose(conjugate) : conjugate;
}
// A product and a solve, in the order that takes fewer operations.
Value ByMatrix(const Eqn& e, const Value& t, std::span<const Value> in, const Value& x) {
  const Value da = NegativeTangent(e, t);
  const auto solve = [&](const Value& b) { return e.Emit({in[0], b}); };
  if (e.flag("left_side", false)) {
    return RowsOf(x.type()) > ColumnsOf(x.type()) ? solve(MatrixProduct(da, x)) : MatrixProduct(solve(da), x);
  }
  return RowsOf(x.type()) < ColumnsOf(x.type()) ? solve(MatrixProduct(x, da)) : MatrixProduct(x, solve(da));
}
Value ByRight(const Eqn& e, const Value& t, std::span<const Value> in, const Value&) { return e.Emit({in[0], t}); }
Value RightCt(const Eqn& e, const Value& ct, std::span<const Value> operands) {
  return e.Emit({operands[0], ct}, {{"transpose_a", !e.flag("transpose_a", false)}});
}

// ---- batch ----
// The batch of b merged with its columns (rows), and split again; no value if that is too large for a dimension.
std::optional<Batched> BatchOfRight(const Eqn& e, const Batch& a) {
  const int64_t rank = e.in(1).rank(), at = e.flag("left_side", false) ? rank : rank - 1;
  const auto lines = static_cast<size_t>(e.flag("left_side", false) ? rank - 1 : rank - 2);
  const std::optional<int64_t> both = Narrow(Exact(e.in(1).shape()[lines]) * a.size, 0, RICCI_MAX_DIM);
  if (!both) return {};
  const Value b = rules::MoveDim(a.in[1].value, a.in[1].dim, at);
  Shape joined(e.in(1).shape().begin(), e.in(1).shape().end());
  joined[lines] = *both;
  return Batched{reshape(e.Emit({a.in[0].value, reshape(b, joined)}), b.shape()), at};
}
void BatchRule(const Eqn& e, Batch& a) {
  std::optional<Batched> joined;
  if (!a.in[0].is_batched()) joined = BatchOfRight(e, a);
  if (joined) return (void)(a.out[0] = *joined);
  a.out[0] = {e.Emit({rules::BatchFirst(a.in[0], a.size), rules::BatchFirst(a.in[1], a.size)}), 0};
}

// ---- lowering ----
// One column (row) of x.
class Line {
 public:
  Line(KernelBuilder& k, const Eqn& e, Index at)
      : k_(k),
        n_(RowsOf(e.in(0))),
        left_(e.flag("left_side", false)),
        swapped_(e.flag("transpose_a", false) == left_),
        forward_(e.flag("lower", false) != swapped_),
        unit_(e.flag("unit_diagonal", false)),
        conjugate_(e.flag("conjugate_a", false)),
        line_(at.back()),
        a_(k.Operand(0), BatchAt(at)),
        b_(k.Operand(1), BatchAt(at)),
        x_(k.Result(), BatchAt(at)),
        keeps_(IsAlone(e) && n_ > kSmallMatrix && n_ <= kPrivateRows),
        kept_(keeps_ ? k.Local(e.Type(e.out().dtype(), Shape{n_})) : k.Result()) {}

  // Whether b is one line, so that lanes can only be over the batch.
  static bool IsAlone(const Eqn& e) { return LinesOf(e) == 1; }
  static int64_t LinesOf(const Eqn& e) { return e.flag("left_side", false) ? ColumnsOf(e.in(1)) : RowsOf(e.in(1)); }

  void Solve() const { n_ <= kSmallMatrix ? InRegisters() : InLoops(); }

 private:
  static Index BatchAt(Index at) {
    at.pop_back();
    return at;
  }
  Scalar A(Scalar i, Scalar k) const {
    const Scalar v = swapped_ ? a_.Load(k, i) : a_.Load(i, k);
    return conjugate_ ? Conj(v) : v;
  }
  Scalar Right(Scalar i) const { return left_ ? b_.Load(i, line_) : b_.Load(line_, i); }
  Scalar Found(Scalar i) const {
    if (keeps_) return kept_.Load({i});
    return left_ ? x_.Load(i, line_) : x_.Load(line_, i);
  }
  void Store(Scalar i, Scalar v) const {
    if (keeps_) kept_.Store({i}, v);
    left_ ? x_.Store(i, line_, v) : x_.Store(line_, i, v);
  }
  Scalar Divided(Scalar v, Scalar i) const { return unit_ ? v : v / A(i, i); }

  void InRegisters() const {
    std::vector<Scalar> x(static_cast<size_t>(n_));
    for (int64_t step = 0; step < n_; ++step) {
      const int64_t i = forward_ ? step : n_ - 1 - step;
      Scalar rest = Right(k_.At(i));
      for (int64_t before = 0; before < step; ++before) {
        const int64_t j = forward_ ? before : n_ - 1 - before;
        rest = rest - A(k_.At(i), k_.At(j)) * x[static_cast<size_t>(j)];
      }
      x[static_cast<size_t>(i)] = Divided(rest, k_.At(i));
      Store(k_.At(i), x[static_cast<size_t>(i)]);
    }
  }
  void InLoops() const {
    const Scalar first = k_.At(forward_ ? 0 : n_ - 1);
    Store(first, Divided(Right(first), first));
    k_.Loop(k_.At(1), k_.At(n_), [&](Scalar step) {
      const Scalar i = forward_ ? step : n_ - 1 - step;  // exact: a dimension
      const Scalar lo = forward_ ? k_.At(0) : i + 1, hi = forward_ ? i : k_.At(n_);
      const Scalar sum = k_.Reduce(RICCI_S_ADD, lo, hi, [&](Scalar j) {
        const Scalar found = Found(j);
        return A(i, j) * found;
      });
      Store(i, Divided(Right(i) - sum, i));
    });
  }

  KernelBuilder& k_;
  const int64_t n_;
  const bool left_;
  const bool swapped_;  // element i of x is computed with column i of a
  const bool forward_;  // element 0 of x is computed first
  const bool unit_;
  const bool conjugate_;
  const Scalar line_;
  const KernelMatrix a_, b_, x_;
  const bool keeps_;  // the elements of x in a private array too
  const KernelArray kept_;
};

void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.out().elements() == 0) return;
  Shape lines = BatchOf(e.in(1));
  const bool alone = Line::IsAlone(e);
  if (!alone) lines.push_back(Line::LinesOf(e));
  k.Parallel(lines, [&](Index at) {
    if (alone) at.push_back(k.At(0));
    Line(k, e, at).Solve();
  });
}

// ---- factors: the lines of b are independent, all else is looked up ----
std::string Factors(const Eqn& e) {
  FactorText text;
  Shape a, b;
  for (int64_t i = 0; i + 2 < e.in(0).rank(); ++i) a.push_back(text.Shared());
  b = a;
  const int64_t line = text.Shared(), right = text.Whole(), found = text.Whole();
  a.insert(a.end(), {text.Whole(), text.Whole()});
  const bool left = e.flag("left_side", false);
  Shape x = b;
  b.insert(b.end(), {left ? right : line, left ? line : right});
  x.insert(x.end(), {left ? found : line, left ? line : found});
  text.AddIn(a);
  text.AddIn(b);
  text.AddOut(x);
  return text.Done();
}

// Diagonals are away from 0.
constexpr std::string_view kExamples =
    "program (%s: f64[3,3] in -1..1, %b: f64[3,2]) {"
    "  %d: f64[3,3] = constant [3.0, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, -2.0] %a: f64[3,3] = add(%s, %d)"
    "  %x: f64[3,2] = triangular_solve(%a, %b) left_side=true lower=true return %x }; "
    "program (%s: f64[2,3,3] in -1..1, %b: f64[2,4,3]) {"
    "  %d: f64[2,3,3] = constant [3.0, 0.0, 0.0, 0.0, 2.5, 0.0, 0.0, 0.0, -2.0,"
    "                             -3.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.5] %a: f64[2,3,3] = add(%s, %d)"
    "  %x: f64[2,4,3] = triangular_solve(%a, %b) transpose_a=true return %x }; "
    "(f64[3,3], f64[3,2]) left_side=true transpose_a=true unit_diagonal=true; "
    "(f64[3,3], f64[2,3]) lower=true unit_diagonal=true; "
    "(f64[11,11] in -0.2..0.2, f64[11,3]) left_side=true unit_diagonal=true; "
    "(f64[11,11] in -0.2..0.2, f64[3,11]) lower=true transpose_a=true unit_diagonal=true conjugate_a=true";

constexpr Row kRows[] = {{.name = "triangular_solve",
                          .doc = "x = triangular_solve(a, b): the solution of op(a) x = b if `left_side`, else of x "
                                 "op(a) = b; a is triangular, op(a) is a, or its transpose, its conjugate or both",
                          .attrs = kAttrs,
                          .flags = RICCI_PRIM_EXPENSIVE,
                          .type = Type,
                          .jvp = rules::Terms<ByMatrix, ByRight>,
                          .transpose = rules::TransposeEach<nullptr, RightCt>,
                          .batch = BatchRule,
                          .factors_of = Factors,
                          .lowerings = kWideLoops<Loops>,
                          .examples = kExamples}};

}  // namespace

RowList triangular_solve_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
