// geqrf: a = q r, with q as Householder reflectors (householder.hpp), as LAPACK's function of that name. Two results: r
// on and above the diagonal of a matrix like a, with v of reflector i below the diagonal of column i, and tau of each.
//
// Columns are taken in order; the reflector of one is applied to all after it.
#include "householder.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

int64_t StepsOf(const ArrayType& a) { return std::min(RowsOf(a), ColumnsOf(a)); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantMatrices(e, 0, kWideFloats | kComplexes);
  const ArrayType a = e.in(0);
  Shape taus = BatchOf(a);
  taus.push_back(StepsOf(a));
  return ArrayTypes{a, a.WithShape(taus)};
}

// ---- lowering ----
struct Factors {
  int64_t rows, columns, steps;
  KernelMatrix a, r;
  KernelList taus;
};

void InRegisters(KernelBuilder& k, const Factors& f) {
  std::vector<std::vector<Scalar>> columns(static_cast<size_t>(f.columns));
  for (size_t j = 0; j < columns.size(); ++j) {
    for (int64_t i = 0; i < f.rows; ++i) columns[j].push_back(f.a.Load(k.At(i), k.At(static_cast<int64_t>(j))));
  }
  for (size_t step = 0; step < static_cast<size_t>(f.steps); ++step) {
    const std::span<Scalar> v = std::span(columns[step]).subspan(step);
    const Scalar tau = ReflectInPlace(v);
    f.taus.Store(k.At(static_cast<int64_t>(step)), tau);
    for (size_t j = step + 1; j < columns.size(); ++j) {
      ApplyReflector(Conj(tau), v, std::span(columns[j]).subspan(step));
    }
  }
  for (size_t j = 0; j < columns.size(); ++j) {
    for (size_t i = 0; i < columns[j].size(); ++i) {
      f.r.Store(k.At(static_cast<int64_t>(i)), k.At(static_cast<int64_t>(j)), columns[j][i]);
    }
  }
}

void InLoops(KernelBuilder& k, const Eqn& e, const Factors& f) {
  const KernelArray sums = k.Local(e.in(0).WithShape(Dims(&f.columns, 1)));
  const Scalar rows = k.At(f.rows), columns = k.At(f.columns);
  k.Loop(f.rows, [&](Scalar i) { k.Loop(f.columns, [&](Scalar j) { f.r.Store(i, j, f.a.Load(i, j)); }); });
  k.Loop(f.steps, [&](Scalar step) {
    const Scalar tau = ReflectColumn(k, f.r, step, rows, step);
    f.taus.Store(step, tau);
    ApplyToColumns(k, Conj(tau), f.r, step, rows, step, f.r, {step + 1, columns}, sums);
  });
}

void Loops(KernelBuilder& k, const Eqn& e) {
  const ArrayType a = e.in(0);
  if (a.elements() == 0) return;
  k.Parallel(BatchOf(a), [&](const Index& batch) {
    const Factors f{RowsOf(a),           ColumnsOf(a), StepsOf(a), {k.Operand(0), batch}, {k.Result(0), batch},
                    {k.Result(1), batch}};
    std::max(f.rows, f.columns) <= kSmallMatrix ? InRegisters(k, f) : InLoops(k, e, f);
  });
}

constexpr Row kRows[] = {
    {.name = "geqrf",
     .doc = "r, taus = geqrf(a): a = q r; r is on and above the diagonal, below it and in taus are the Householder "
            "reflectors whose product is q",
     .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_READS_ONCE,
     .type = Type,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = BatchFactors,
     .lowerings = kWideLoops<Loops>,
     .missing = "jvp: jax.lax has none, that of qr is used; transpose: not linear",
     .examples = "(f64[3,3]); (f64[2,4,2]); (c128[2,3,4]); (f64[10,11]); (c128[9,2])"}};

}  // namespace

RowList geqrf_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
