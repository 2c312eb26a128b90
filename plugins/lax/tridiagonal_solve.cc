// tridiagonal_solve: x with a x = b, where a has the diagonals dl (from its second row on), d and du (without its
// last).
//
// Rows are eliminated with partial pivoting, as by gtsv of LAPACK, which leaves three diagonals. If a pivot is 0, all
// of x is NaN, which is what jax.lax makes of LAPACK's failure; with `perturb_singular` small pivots are moved instead
// (tridiagonal_perturbed.hpp). Operations on rows run along the columns of b, whose elements are adjacent.
#include <limits>

#include "tridiagonal_perturbed.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"perturb_singular", AttrKind::kBool, "false"}};

bool Perturbs(const Eqn& e) { return e.flag("perturb_singular", false); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(4);
  rules::WantDType(e, 0, kWideFloats | kComplexes);
  const ArrayType diagonal = e.in(0), b = e.in(3);
  if (diagonal.rank() < 1) e.Fail("operand 0 is ", diagonal, "; its last dimension must be that of a diagonal");
  for (uint32_t i = 1; i < 3; ++i) {
    if (e.in(i) != diagonal) {
      e.Fail("operands 0 and ", i, " are ", diagonal, " and ", e.in(i), "; diagonals must have one type");
    }
  }
  const bool has_matrix = b.rank() == diagonal.rank() + 1;
  if (!has_matrix || b.WithShape(b.shape().first(b.shape().size() - 1)) != diagonal) {
    e.Fail("operands 0 and 3 are ", diagonal, " and ", b, "; b must have their dtype and dimensions, then its columns");
  }
  return b;
}

// ---- derivatives, as in jax.lax ----
int64_t LastOf(const Value& x) { return x.rank() - 1; }
// A diagonal as a column next to those of b.
Value Across(const Value& diagonal, const Value& b) {
  return broadcast_in_dim(diagonal, b.shape(), rules::Range(diagonal.rank()));
}
// The rows of x without the last, moved down by one, or without the first, moved up; a row of zeros takes the place.
Value Moved(const Value& x, bool down) {
  const int64_t row = x.rank() - 2, n = x.dim(row);
  const Value kept = slice_in_dim(x, down ? 0 : 1, down ? n - 1 : n, row);
  Shape none(static_cast<size_t>(x.rank()), 0), one = none;
  one[static_cast<size_t>(row)] = 1;
  return pad(kept, zeros(x.builder, x.type().WithShape({})), down ? one : none, down ? none : one, none);
}
// The product of the matrix with these diagonals, which may be zero, and x.
Value Product(std::span<const Value> diagonals, const Value& x) {
  Value sum;
  const auto add_up = [&](const Value& diagonal, const Value& rows) {
    const Value part = mul(Across(diagonal, x), rows);
    sum = sum.is_none() ? part : add(sum, part);
  };
  if (!diagonals[1].is_zero()) add_up(diagonals[1], x);
  if (!diagonals[0].is_zero()) add_up(diagonals[0], Moved(x, /*down=*/true));
  if (!diagonals[2].is_zero()) add_up(diagonals[2], Moved(x, /*down=*/false));
  return sum;
}
void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(a.primals);
  const std::span<const Value> diagonals = std::span(a.tangents).first(3);
  Value right = a.tangents[3];
  if (!std::all_of(diagonals.begin(), diagonals.end(), [](const Value& t) { return t.is_zero(); })) {
    if (e.out().elements() == 0) return;
    const Value product = neg(Product(diagonals, a.out[0]));
    right = right.is_zero() ? product : add(right, product);
  }
  if (!right.is_zero()) a.out_tangents[0] = e.Emit({a.primals[0], a.primals[1], a.primals[2], right});
}
// With the other diagonal in the place of each, moved by one.
Value RightCt(const Eqn& e, const Value& ct, std::span<const Value> in) {
  const int64_t last = LastOf(in[1]), n = in[1].dim(last);
  if (n == 0) return e.Emit({in[0], in[1], in[2], ct});
  const Value zero = zeros_like(slice_in_dim(in[1], 0, 1, last));
  const Value lower = concatenate(Values{zero, slice_in_dim(in[2], 0, n - 1, last)}, last);
  const Value upper = concatenate(Values{slice_in_dim(in[0], 1, n, last), zero}, last);
  return e.Emit({lower, in[1], upper, ct});
}

// ---- batch ----
// The batch of b merged with its columns, and split again; no value if that is too large for a dimension.
std::optional<Batched> BatchOfRight(const Eqn& e, const Batch& a) {
  const int64_t columns = e.in(3).rank() - 1;
  const std::optional<int64_t> both = Narrow(Exact(ColumnsOf(e.in(3))) * a.size, 0, RICCI_MAX_DIM);
  if (!both) return {};
  const Value b = rules::MoveDim(a.in[3].value, a.in[3].dim, columns);
  Shape joined(e.in(3).shape().begin(), e.in(3).shape().end());
  joined.back() = *both;
  const Value x = e.Emit({a.in[0].value, a.in[1].value, a.in[2].value, reshape(b, joined)});
  return Batched{reshape(x, b.shape()), columns};
}
void BatchRule(const Eqn& e, Batch& a) {
  std::optional<Batched> joined;
  const bool only_right = !a.in[0].is_batched() && !a.in[1].is_batched() && !a.in[2].is_batched();
  if (only_right && !Perturbs(e)) joined = BatchOfRight(e, a);  // perturbations depend on all columns of a system
  if (joined) return (void)(a.out[0] = *joined);
  rules::BatchAllFirst<EmitBatched>(e, a);
}

// ---- lowering ----
// One step of the elimination: the row with the pivot, and what the row after it becomes.
struct Step {
  Scalar swapped, factor;
  Scalar pivot, upper, second;  // the first row, from its diagonal on
  Scalar diagonal, next_upper;  // the second row, less `factor` times the first
  // The rows of b in their new order, and the second less `factor` times the first.
  Scalar First(Scalar b, Scalar next) const { return Select(swapped, next, b); }
  Scalar Second(Scalar b, Scalar next) const { return Select(swapped, b, next) - factor * First(b, next); }
};
// With (d, u) the row of which only these are left, and (l, next_d, next_u) the one after it.
Step Eliminate(Scalar d, Scalar u, Scalar l, Scalar next_d, Scalar next_u) {
  const Scalar swapped = !(SumOfParts(d) >= SumOfParts(l)), zero = AsKind(d, Like(RealPart(d), 0));
  const Scalar pivot = Select(swapped, l, d), factor = Select(swapped, d, l) / pivot;
  const Scalar upper = Select(swapped, next_d, u);
  return {swapped,
          factor,
          pivot,
          upper,
          Select(swapped, next_u, zero),
          Select(swapped, u, next_d) - factor * upper,
          Select(swapped, -(factor * next_u), next_u)};
}
Scalar NotANumber(Scalar like) {
  const Scalar nan = Like(RealPart(like), std::numeric_limits<double>::quiet_NaN());
  return IsComplex(like) ? Complex(nan, nan) : nan;
}

class Solution {
 public:
  Solution(KernelBuilder& k, const Eqn& e, const Index& batch) : k_(k), e_(e), s_(k, e, batch) {}

  void Solve() const { s_.rows <= kSmallMatrix ? InRegisters() : InLoops(); }

 private:
  Scalar IsZero(Scalar v) const { return v == k_.Constant(v.dtype(), 0); }

  void InRegisters() const {
    const auto n = static_cast<size_t>(s_.rows);
    const auto at = [&](size_t i) { return k_.At(static_cast<int64_t>(i)); };
    std::vector<Step> steps;
    Scalar d = s_.d.Load(at(0)), u = s_.Upper(at(0)), singular = k_.Constant(DType::kBool, false);
    for (size_t i = 0; i + 1 < n; ++i) {
      const Scalar next = i + 2 < n ? s_.du.Load(at(i + 1)) : k_.Constant(d.dtype(), 0);
      steps.push_back(Eliminate(d, u, s_.dl.Load(at(i + 1)), s_.d.Load(at(i + 1)), next));
      singular = singular | IsZero(steps.back().pivot);
      d = steps.back().diagonal, u = steps.back().next_upper;
    }
    singular = singular | IsZero(d);
    k_.Loop(s_.columns, [&](Scalar j) { Column(steps, d, singular, j); });
  }
  void Column(const std::vector<Step>& steps, Scalar last, Scalar singular, Scalar j) const {
    const size_t n = steps.size() + 1;
    const auto at = [&](size_t i) { return k_.At(static_cast<int64_t>(i)); };
    std::vector<Scalar> x(n);
    x[0] = s_.b.Load(at(0), j);
    for (size_t i = 0; i + 1 < n; ++i) {
      const Scalar next = s_.b.Load(at(i + 1), j), b = x[i];
      x[i] = steps[i].First(b, next);
      x[i + 1] = steps[i].Second(b, next);
    }
    x[n - 1] = x[n - 1] / last;
    for (size_t i = n - 1; i-- > 0;) {
      Scalar rest = x[i] - steps[i].upper * x[i + 1];
      if (i + 2 < n) rest = rest - steps[i].second * x[i + 2];
      x[i] = rest / steps[i].pivot;
    }
    for (size_t i = 0; i < n; ++i) s_.x.Store(at(i), j, Select(singular, NotANumber(x[i]), x[i]));
  }

  // Diagonals that are left go to private arrays; row i + 1 is in its place there before step i.
  void InLoops() const {
    const UpperDiagonals u(k_, e_);
    const KernelArray singular = k_.Local(e_.Type(DType::kBool, {}));
    const auto note = [&](Scalar pivot) { singular.Store({}, singular.Load({}) | IsZero(pivot)); };
    singular.Store({}, k_.Constant(DType::kBool, false));
    s_.Begin(u);
    k_.Loop(s_.rows - 1, [&](Scalar i) {
      const Step step =
          Eliminate(u.pivot.Load({i}), u.first.Load({i}), s_.dl.Load(i + 1), s_.d.Load(i + 1), s_.Upper(i + 1));
      note(step.pivot);
      u.Store(i, step.pivot, step.upper, step.second);
      u.Store(i + 1, step.diagonal, step.next_upper, k_.Constant(step.pivot.dtype(), 0));
      k_.Loop(s_.columns, [&](Scalar j) {
        const Scalar b = s_.x.Load(i, j), next = s_.b.Load(i + 1, j);
        s_.x.Store(i, j, step.First(b, next));
        s_.x.Store(i + 1, j, step.Second(b, next));
      });
    });
    note(u.pivot.Load({k_.At(s_.rows - 1)}));
    s_.SubstituteBack(u, [&](Scalar i) {
      const Scalar pivot = u.pivot.Load({i});
      k_.Loop(s_.columns, [&](Scalar j) { s_.x.Store(i, j, s_.x.Load(i, j) / pivot); });
    });
    k_.If(singular.Load({}), [&] {
      k_.Loop(s_.rows,
              [&](Scalar i) { k_.Loop(s_.columns, [&](Scalar j) { s_.x.Store(i, j, NotANumber(s_.x.Load(i, j))); }); });
    });
  }

  KernelBuilder& k_;
  const Eqn& e_;
  const TridiagonalSystem s_;
};

void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.out().elements() == 0) return;
  k.Parallel(BatchOf(e.in(3)), [&](const Index& batch) {
    if (Perturbs(e)) return PerturbedSolution(k, e, batch).Solve();
    Solution(k, e, batch).Solve();
  });
}

std::string Factors(const Eqn& e) {
  FactorText text;
  Shape batch;
  for (int64_t i = 0; i + 1 < e.in(0).rank(); ++i) batch.push_back(text.Shared());
  for (int i = 0; i < 3; ++i) {
    Shape diagonal = batch;
    diagonal.push_back(text.Whole());
    text.AddIn(diagonal);
  }
  const int64_t columns = Perturbs(e) ? text.Whole() : text.Shared();  // perturbations depend on all columns
  Shape b = batch, x = batch;
  b.insert(b.end(), {text.Whole(), columns});
  x.insert(x.end(), {text.Whole(), columns});
  text.AddIn(b);
  text.AddOut(x);
  return text.Done();
}

// Matrices far from singular ones, of some of which rows are swapped; and one of zeros, where the columns of b depend
// on each other.
constexpr std::string_view kExamples =
    "(f64[1] in 1..2, f64[1] in 1..2, f64[1] in 1..2, f64[1,2]); "
    "(f64[4] in -0.5..0.5, f64[4] in 2..3, f64[4] in -1..1, f64[4,2]); "
    "(f64[2,4] in 2..3, f64[2,4] in -0.5..0.5, f64[2,4] in 1..2, f64[2,4,1]); "
    "(f64[10] in -0.5..0.5, f64[10] in 2..3, f64[10] in -1..1, f64[10,3]); "
    "(f64[2,9] in -0.5..0.5, f64[2,9] in -3..-2, f64[2,9] in -1..1, f64[2,9,1]); "
    "order=0 program (%b: f64[2,2] in 1..9) { %z: f64[2] = constant 0.0"
    "  %x: f64[2,2] = tridiagonal_solve(%z, %z, %z, %b) perturb_singular=true return %x }";

constexpr Row kRows[] = {{.name = "tridiagonal_solve",
                          .doc = "x = tridiagonal_solve(dl, d, du, b): the solution of a x = b, where a has these "
                                 "diagonals, the first of dl and the last of du left out; NaN if a is singular, unless "
                                 "`perturb_singular`",
                          .attrs = kAttrs,
                          .flags = RICCI_PRIM_EXPENSIVE,
                          .type = Type,
                          .jvp = JvpRule,
                          .transpose = rules::TransposeEach<nullptr, nullptr, nullptr, RightCt>,
                          .batch = BatchRule,
                          .factors_of = Factors,
                          .lowerings = kWideLoops<Loops>,
                          .examples = kExamples}};

}  // namespace

RowList tridiagonal_solve_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
