// tridiagonal: Hermitian matrices reduced to real tridiagonal ones by Householder reflectors, as LAPACK's sytrd and
// hetrd.
//
// Four results: a, which holds the tridiagonal matrix and, beyond the element beside the diagonal, the vectors of the
// reflectors, its other triangle unchanged; the diagonal; the elements beside it; and the factors of the reflectors.
// The upper triangle is reduced from its last column on: it is the lower one with rows and columns in reverse order.
#include "tridiagonal_form.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"lower", AttrKind::kBool, "true"}};

bool IsLower(const Eqn& e) { return e.flag("lower", true); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantSquare(e, 0, kLapackDTypes);
  const ArrayType a = e.in(0);
  if (RowsOf(a) == 0) e.Fail("operand 0 is ", a, "; its matrices must have at least one row");
  const auto list = [&](DType dtype, int64_t n) {
    Shape shape = BatchOf(a);
    shape.push_back(n);
    return e.Type(dtype, shape);
  };
  const int64_t n = RowsOf(a);
  const DType real = RealOf(a.dtype());
  return ArrayTypes{a, list(real, n), list(real, n - 1), list(a.dtype(), n - 1)};  // exact: n is positive
}

// ---- lowering ----
void OfMatrix(KernelBuilder& k, const Eqn& e, const Index& batch) {
  const int64_t n = RowsOf(e.in(0));
  const bool lower = IsLower(e);
  const KernelMatrix a(k.Operand(0), batch), out(k.Result(0), batch);
  const KernelMatrix m(k.Local(e.Type(e.in(0).dtype(), Shape{n, n})), {});
  const auto position = [&](Scalar i) { return lower ? i : n - 1 - i; };  // exact: a dimension
  const auto at = [&](Scalar i) {
    Index index = batch;
    index.push_back(i);
    return index;
  };
  k.ParallelMatrix(n, n,
                   [&](Scalar i, Scalar j) { m.Store(i, j, HermitianElement(a, lower, position(i), position(j))); });
  const TridiagonalForm form(k, e, n, m);
  form.Reduce();
  k.Loop(n, [&](Scalar i) {
    k.Loop(n, [&](Scalar j) {
      const Scalar below = m.Load(i, j), reduced = Select(i == j, AsKind(below, RealPart(below)), below);
      out.Store(position(i), position(j), Select(i < j, a.Load(position(i), position(j)), reduced));
    });
    k.Result(1).Store(at(position(i)), form.diagonal.Load({i}));
  });
  k.Loop(n - 1, [&](Scalar i) {                   // exact: n is positive
    const Scalar beside = lower ? i : n - 2 - i;  // exact: a dimension
    k.Result(2).Store(at(beside), form.beside.Load({i}));
    k.Result(3).Store(at(beside), form.tau.Load({i}));
  });
}
void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.in(0).elements() == 0) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) { OfMatrix(k, e, batch); });
}

constexpr Row kRows[] = {
    {.name = "tridiagonal",
     .doc =
         "a, d, e, taus = tridiagonal(x): the real tridiagonal q^H x q of the Hermitian x, of which only the triangle "
         "that `lower` gives is read; d is its diagonal, e what is beside it; a holds both and the vectors of the "
         "reflectors of which q is the product, taus their factors",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_READS_ONCE,
     .type = Type,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = BatchFactors,
     .lowerings = lower::Loops<Loops>,
     .missing = "jvp: jax.lax has none; transpose: not linear",
     .examples = "(f64[4,4]); (f64[2,9,9]) lower=false; (c128[3,3]); (c64[2,4,4]) lower=false; (f32[1,1])"}};

}  // namespace

RowList tridiagonal_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
