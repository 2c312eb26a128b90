// schur: a = q t q^H with a unitary q, where t is upper triangular if a is complex, and if a is real has blocks of 2 x
// 2 on its diagonal for pairs of complex eigenvalues.
//
// A matrix with an element that is not finite gives NaN, as in jax.lax.
#include "schur_form.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"compute_schur_vectors", AttrKind::kBool, "true"}};

bool HasVectors(const Eqn& e) { return e.flag("compute_schur_vectors", true); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantSquare(e, 0, kLapackDTypes);
  return HasVectors(e) ? ArrayTypes{e.in(0), e.in(0)} : ArrayTypes{e.in(0)};
}

void OfMatrix(KernelBuilder& k, const Eqn& e, const Index& batch) {
  const int64_t n = RowsOf(e.in(0));
  const DType dtype = e.in(0).dtype();
  const int64_t size = n + SchurForm::Margin(dtype);  // exact: an array of this size is checked
  const KernelMatrix a(k.Operand(0), batch), t(k.Local(e.Type(dtype, Shape{size, size})), {});
  const KernelMatrix z(k.Local(e.Type(dtype, HasVectors(e) ? Shape{size, n} : Shape{})), {});
  const Scalar largest = LargestPart(k, n, n, [&](Scalar i, Scalar j) { return a.Load(i, j); });
  const PowerOfTwo scale = ScaleFor(largest);
  k.ParallelMatrix(n, n, [&](Scalar i, Scalar j) {
    const Scalar v = TimesReal(a.Load(i, j), scale.value);
    t.Store(i, j, Select(IsFinite(largest), v, Like(v, 0)));
  });
  const SchurForm form(k, e, n, dtype, t, HasVectors(e) ? &z : nullptr);
  const Scalar converged = form.Decompose(), good = IsFinite(largest) & converged;
  const KernelMatrix out(k.Result(0), batch);
  k.Loop(n, [&](Scalar i) {
    k.Loop(n, [&](Scalar j) { out.Store(i, j, OrNaN(good, TimesReal(t.Load(i, j), scale.inverse))); });
  });
  if (!HasVectors(e)) return;
  const KernelMatrix q(k.Result(1), batch);
  k.Loop(n, [&](Scalar i) { k.Loop(n, [&](Scalar j) { q.Store(i, j, OrNaN(good, z.Load(j, i))); }); });
}
void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.out().elements() == 0) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) { OfMatrix(k, e, batch); });
}

// Rounding decides in which order eigenvalues come and which signs vectors have, so most examples return q t q^H and
// q^H q. The last ones are triangular already.
constexpr std::string_view kExamples =
    "program (%a: f64[4,4]) { %t: f64[4,4], %q: f64[4,4] = schur(%a)"
    "  %l: f64[4,4] = dot_general(%q, %t) lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]"
    "  %b: f64[4,4] = dot_general(%l, %q) lhs_contract=[1] rhs_contract=[1] lhs_batch=[] rhs_batch=[]"
    "  %e: f64[4,4] = dot_general(%q, %q) lhs_contract=[0] rhs_contract=[0] lhs_batch=[] rhs_batch=[] return %b, %e }; "
    "program (%x: f64[9,9], %y: f64[9,9]) { %a: c128[9,9] = complex(%x, %y)"
    "  %t: c128[9,9], %q: c128[9,9] = schur(%a) %c: c128[9,9] = conj(%q)"
    "  %l: c128[9,9] = dot_general(%q, %t) lhs_contract=[1] rhs_contract=[0] lhs_batch=[] rhs_batch=[]"
    "  %b: c128[9,9] = dot_general(%l, %c) lhs_contract=[1] rhs_contract=[1] lhs_batch=[] rhs_batch=[]"
    "  %re: f64[9,9] = real(%b) %im: f64[9,9] = imag(%b) return %re, %im }; "
    "program (%x: f64[2,3,3]) { %i: i32[2,3,3] = iota() dtype=i32 shape=[2,3,3] dimension=1"
    "  %j: i32[2,3,3] = iota() dtype=i32 shape=[2,3,3] dimension=2 %l: bool[2,3,3] = le(%i, %j)"
    "  %z: f64[2,3,3] = sub(%x, %x) %a: f64[2,3,3] = select_n(%l, %z, %x)"
    "  %t: f64[2,3,3], %q: f64[2,3,3] = schur(%a) return %t, %q }; "
    "(f32[1,1]) compute_schur_vectors=false; (c64[1,1]); (f64[0,0])";

constexpr Row kRows[] = {
    {.name = "schur",
     .doc =
         "t, vectors... = schur(a): Schur's form t of a, upper triangular, or for real a with blocks of 2 x 2 on its "
         "diagonal, and with `compute_schur_vectors` the unitary q with a = q t q^H; NaN where a has an infinity or "
         "NaN",
     .attrs = kAttrs,
     .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_READS_ONCE,
     .type = Type,
     .batch = rules::BatchAllFirst<EmitBatched>,
     .factors_of = BatchFactors,
     .lowerings = lower::Loops<Loops>,
     .missing = "jvp: jax.lax has none; transpose: not linear",
     .examples = kExamples}};

}  // namespace

RowList schur_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
