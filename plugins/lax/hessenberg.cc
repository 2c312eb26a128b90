// hessenberg: square matrices reduced to Hessenberg form by Householder reflectors, as LAPACK's gehrd.
//
// Two results: a, which holds the Hessenberg matrix and, below its first subdiagonal, the vectors of the reflectors;
// and the factors of the reflectors.
#include "hessenberg_form.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantSquare(e, 0, kLapackDTypes);
  const ArrayType a = e.in(0);
  if (RowsOf(a) == 0) e.Fail("operand 0 is ", a, "; its matrices must have at least one row");
  Shape list = BatchOf(a);
  list.push_back(RowsOf(a) - 1);  // exact: positive
  return ArrayTypes{a, e.Type(a.dtype(), list)};
}

void OfMatrix(KernelBuilder& k, const Eqn& e, const Index& batch) {
  const int64_t n = RowsOf(e.in(0));
  const KernelMatrix a(k.Operand(0), batch), m(k.Result(0), batch);
  k.Loop(n, [&](Scalar i) { k.Loop(n, [&](Scalar j) { m.Store(i, j, a.Load(i, j)); }); });
  const HessenbergForm form(k, e, n, m);
  form.Reduce();
  k.Loop(n - 1, [&](Scalar i) {  // exact: n is positive
    Index at = batch;
    at.push_back(i);
    k.Result(1).Store(at, form.tau.Load({i}));
  });
}
void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.in(0).elements() == 0) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) { OfMatrix(k, e, batch); });
}

constexpr Row kRows[] = {
    {.name = "hessenberg",
     .doc =
         "a, taus = hessenberg(x): q^H x q, zero below the first subdiagonal, and there the vectors of the reflectors "
         "of which q is the product; taus are their factors",
     .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_READS_ONCE,
     .type = Type,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = BatchFactors,
     .lowerings = lower::Loops<Loops>,
     .missing = "jvp: jax.lax has none; transpose: not linear",
     .examples = "(f64[4,4]); (f64[2,9,9]); (c128[3,3]); (c64[2,4,4]); (f32[1,1])"}};

}  // namespace

RowList hessenberg_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
