// geqp3: a p = q r with columns swapped so that |r| does not grow along its diagonal, as LAPACK's function of that
// name.
//
// Columns j with jpvt[j] != 0 are moved to the front first, in their order. Then, of the columns left, the one with the
// largest norm below what is done comes next; of equal ones the first. Norms are computed again in every step: LAPACK
// brings them up to date instead and must watch for cancellation. Results: r and the reflectors as those of geqrf, the
// permutation counted from 1 (column j of a p is column jpvt[j] - 1 of a), and taus.
#include "householder.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

int64_t StepsOf(const ArrayType& a) { return std::min(RowsOf(a), ColumnsOf(a)); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(2);
  WantMatrices(e, 0, kWideFloats | kComplexes);
  const ArrayType a = e.in(0), jpvt = e.in(1);
  if (ColumnsOf(a) >= int64_t{1} << 31) {
    e.Fail("dimension ", a.rank() - 1, " of ", a, " is too large for indices of i32");
  }
  Shape list = BatchOf(a);
  list.push_back(ColumnsOf(a));
  if (jpvt != e.Type(DType::kI32, list)) {
    e.Fail("operand 1 is ", jpvt, "; it must be ", e.Type(DType::kI32, list), ", a number for each column of ", a);
  }
  list.back() = StepsOf(a);
  return ArrayTypes{a, jpvt, a.WithShape(list)};
}

// ---- lowering ----
// One matrix.
class Elimination {
 public:
  Elimination(KernelBuilder& k, const Eqn& e, const Index& batch)
      : k_(k),
        rows_(RowsOf(e.in(0))),
        columns_(ColumnsOf(e.in(0))),
        steps_(StepsOf(e.in(0))),
        a_(k.Operand(0), batch),
        r_(k.Result(0), batch),
        given_(k.Operand(1), batch),
        order_(k.Result(1), batch),
        taus_(k.Result(2), batch),
        fixed_(k.Local(e.Type(DType::kI64, {}))),
        norms_(k.Local(e.Type(RealOf(e.in(0).dtype()), Dims(&columns_, 1)))),
        sums_(k.Local(e.in(0).WithShape(Dims(&columns_, 1)))) {}

  void Run() const {
    k_.Loop(rows_, [&](Scalar i) { k_.Loop(columns_, [&](Scalar j) { r_.Store(i, j, a_.Load(i, j)); }); });
    MoveToFront();
    k_.Loop(steps_, [&](Scalar step) {
      FindNorms(step);
      const Scalar longest = PivotOf(step), pivot = Select(step < fixed_.Load({}), step, longest);
      Swap(step, pivot);
      const Scalar tau = ReflectColumn(k_, r_, step, k_.At(rows_), step);
      taus_.Store(step, tau);
      ApplyToColumns(k_, Conj(tau), r_, step, k_.At(rows_), step, r_, {step + 1, k_.At(columns_)}, sums_);
    });
  }

 private:
  void Swap(Scalar i, Scalar j) const {
    k_.Loop(rows_, [&](Scalar row) {
      const Scalar v = r_.Load(row, i);
      r_.Store(row, i, r_.Load(row, j));
      r_.Store(row, j, v);
    });
    const Scalar number = order_.Load(i);
    order_.Store(i, order_.Load(j));
    order_.Store(j, number);
  }
  void MoveToFront() const {
    fixed_.Store({}, k_.At(0));
    k_.Loop(columns_, [&](Scalar j) { order_.Store(j, Convert(j + 1, DType::kI32)); });
    k_.Loop(columns_, [&](Scalar j) {
      k_.If(given_.Load(j) != 0, [&] {
        const Scalar front = fixed_.Load({});
        Swap(front, j);
        fixed_.Store({}, front + 1);
      });
    });
  }
  // The squared norms of the columns from `step` on, in the rows from `step` on, up to a common factor.
  void FindNorms(Scalar step) const {
    const Scalar rows = k_.At(rows_), columns = k_.At(columns_);
    const Scalar largest = k_.Reduce(RICCI_S_MAX, step, rows, [&](Scalar i) {
      return k_.Reduce(RICCI_S_MAX, step, columns, [&](Scalar j) { return LargerPart(r_.Load(i, j)); });
    });
    const Scalar scale = ScaleFor(largest).value;
    k_.Loop(step, columns, [&](Scalar j) { norms_.Store({j}, Like(scale, 0)); });
    k_.Loop(step, rows, [&](Scalar i) {
      k_.Loop(step, columns, [&](Scalar j) {
        norms_.Store({j}, norms_.Load({j}) + SquaredMagnitude(TimesReal(r_.Load(i, j), scale)));
      });
    });
  }
  // The first column with the largest norm. NaN is the pivot where the search begins, and nowhere else.
  Scalar PivotOf(Scalar step) const {
    const Scalar first = norms_.Load({step}), columns = k_.At(columns_);
    const Scalar largest = k_.Reduce(RICCI_S_MAX, step, columns, [&](Scalar j) {
      const Scalar v = norms_.Load({j});
      return Select(v == v, v, Like(v, 0));
    });
    const Scalar found = k_.Reduce(RICCI_S_MIN, step, columns,
                                   [&](Scalar j) { return Select(norms_.Load({j}) == largest, j, columns); });
    return Select((first == first) & (found < columns), found, step);
  }

  KernelBuilder& k_;
  const int64_t rows_, columns_, steps_;
  const KernelMatrix a_, r_;
  const KernelList given_, order_, taus_;
  const KernelArray fixed_, norms_, sums_;
};

// Without elements there is nothing to find, but columns may be moved.
void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.in(1).elements() == 0) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) { Elimination(k, e, batch).Run(); });
}
Values InWide(const Eqn& e, std::span<const Value> in) {
  const DType dtype = e.in(0).dtype();
  const Values out = e.EmitN(Values{convert_element_type(in[0], DType::kF32), in[1]});
  return {convert_element_type(out[0], dtype), out[1], convert_element_type(out[2], dtype)};
}
constexpr Lowering kLowerings[] = {{.loops = Loops, .match = IsWide}, {.decompose = InWide}};

constexpr Row kRows[] = {
    {.name = "geqp3",
     .doc = "r, order, taus = geqp3(a, jpvt): geqrf of a with its columns in an order, counted from 1, in which the "
            "diagonal of r does not grow; columns with a jpvt other than 0 come first",
     .flags = RICCI_PRIM_EXPENSIVE,
     .type = Type,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = BatchFactors,
     .lowerings = kLowerings,
     .missing = "jvp: jax.lax has none, that of qr is used; transpose: not linear",
     .examples = "(f64[3,3], i32[3]); (f64[2,4,3], i32[2,3]); (c128[2,4], i32[4]); (f64[9,10], i32[10])"}};

}  // namespace

RowList geqp3_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
