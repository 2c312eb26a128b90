// eigh: the eigenvalues w, ascending, of Hermitian matrices a, and orthonormal eigenvectors, the columns of v: a v = v
// w.
//
// Only one triangle of a is read. a is reduced to a real tridiagonal matrix, to which implicit QL steps with
// Wilkinson's shift are applied until all elements beside its diagonal are negligible (Wilkinson and Reinsch, "Linear
// Algebra", 1971, II/4). A matrix with an element that is not finite, or one that takes more steps than any known
// matrix, gives NaN, which is what jax.lax makes of LAPACK's failure. The sign of an eigenvector: PhaseOfRow.
#include "tridiagonal_form.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"lower", AttrKind::kBool, "true"}, {"sort_eigenvalues", AttrKind::kBool, "true"}};

bool IsLower(const Eqn& e) { return e.flag("lower", true); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantSquare(e, 0, kLapackDTypes);
  const ArrayType a = e.in(0);
  return ArrayTypes{a, e.Type(RealOf(a.dtype()), a.shape().first(a.shape().size() - 1))};
}

// ---- derivative, as in jax.lax: with p = v^H da v it is dw = diagonal of p and dv = v (f * p), where f_ij is
// 1 / (w_j - w_i) beside the diagonal and 0 on it; for distinct eigenvalues ----
void JvpRule(const Eqn& e, Jvp& a) {
  a.out = e.EmitN(Values{Symmetrized(a.primals[0])});
  if (a.tangents[0].is_zero() || e.in(0).elements() == 0) return;
  const Value& v = a.out[0];
  const Value w = InDType(a.out[1], v.dtype());
  const Value one = InDType(OnDiagonal(v), v.dtype());
  const Value wi = AcrossColumns(w, v), gaps = sub(add(one, AcrossRows(w, v)), wi);
  const Value f = sub(integer_pow(gaps, -1), one);
  const Value p = MatrixProduct(MatrixProduct(Adjoint(v), a.tangents[0]), v);
  a.out_tangents[0] = MatrixProduct(v, mul(f, p));
  a.out_tangents[1] = Diagonal(RealPart(p));
}

// ---- lowering ----
class Matrix {
 public:
  Matrix(KernelBuilder& k, const Eqn& e, const Index& batch)
      : k_(k),
        e_(e),
        n_(RowsOf(e.in(0))),
        dtype_(e.in(0).dtype()),
        batch_(batch),
        a_(k.Operand(0), batch),
        v_(k.Result(0), batch),
        rows_(k.Local(e.Type(dtype_, Shape{n_, n_})), {}),
        form_(k, e, n_, rows_) {}

  void Decompose() const {
    const Scalar largest = LargestPart(k_, n_, n_, [&](Scalar i, Scalar j) { return Element(i, j); });
    const PowerOfTwo scale = ScaleFor(largest);
    Begin(scale.value, IsFinite(largest));
    form_.Reduce();
    form_.FormTransposedBasis();
    const Scalar converged = Iterate(), good = IsFinite(largest) & converged;
    SortRows(k_, n_, /*ascending=*/true, form_.diagonal, [&](Scalar i, Scalar j) { SwapRows(k_, rows_, n_, i, j); });
    Store(good, scale.inverse);
  }

 private:
  Scalar Element(Scalar i, Scalar j) const { return HermitianElement(a_, IsLower(e_), i, j); }
  // Zeros in place of a matrix with an infinity or NaN, so that the steps are few.
  void Begin(Scalar scale, Scalar is_finite) const {
    k_.ParallelMatrix(n_, n_, [&](Scalar i, Scalar j) {
      const Scalar v = TimesReal(Element(i, j), scale);
      rows_.Store(i, j, Select(is_finite, v, Like(v, 0)));
    });
  }
  Scalar D(Scalar i) const { return form_.diagonal.Load({i}); }
  Scalar E(Scalar i) const { return form_.beside.Load({i}); }

  // The element beside diagonal elements i and i + 1, or the 0 after the last one. False with NaN, so that a search
  // ends. Steps multiply elements that follow each other. If a product vanishes they change nothing, so an element
  // counts as negligible where that may be: the largest of the matrix is about 1.
  Scalar IsLarge(Scalar i) const {
    const Scalar sum = Magnitude(D(i)) + Magnitude(D(Min(i + 1, k_.At(n_ - 1))));  // exact: dimensions
    return Magnitude(E(i)) > sum * Epsilon(sum) + std::sqrt(InfoOf(sum.dtype()).tiny);
  }
  // Whether all eigenvalues were found within 30 steps for each, which is LAPACK's bound.
  Scalar Iterate() const {
    const Variable first(k_, e_, k_.At(0)), last(k_, e_, k_.At(0)), left(k_, e_, k_.At(30));
    const Scalar n = k_.At(n_);
    left.Set(n * 30);
    k_.While([&] { return (first.Get() < n) & (left.Get() > 0); },
             [&] {
               last.Set(first.Get());
               k_.While([&] { return IsLarge(last.Get()); }, [&] { last.Set(last.Get() + 1); });
               k_.If(
                   first.Get() == last.Get(), [&] { first.Set(first.Get() + 1); },
                   [&] {
                     left.Set(left.Get() - 1);
                     Step(first.Get(), last.Get());
                   });
             });
    return first.Get() == n;
  }
  // One QL step on the block of rows first to last: rotations from its end to its beginning.
  void Step(Scalar first, Scalar last) const {
    const Scalar half = (D(first + 1) - D(first)) / (E(first) * 2);
    const Scalar shifted = half + WithSign(Hypotenuse(half, Like(half, 1)), half);
    const Scalar one = Like(half, 1), zero = Like(half, 0);
    const Variable g(k_, e_, D(last) - D(first) + E(first) / shifted), p(k_, e_, zero), s(k_, e_, one), c(k_, e_, one);
    k_.Loop(k_.At(0), last - first, [&](Scalar step) {
      const Scalar i = last - 1 - step;
      const Scalar f = s.Get() * E(i), b = c.Get() * E(i), r = Hypotenuse(f, g.Get());
      const Scalar is_zero = r == 0, divisor = Select(is_zero, one, r);
      const Scalar sine = Select(is_zero, zero, f / divisor), cosine = Select(is_zero, one, g.Get() / divisor);
      form_.beside.Store({i + 1}, r);
      const Scalar above = D(i + 1) - p.Get(), q = (D(i) - above) * sine + cosine * b * 2;
      p.Set(sine * q);
      form_.diagonal.Store({i + 1}, above + p.Get());
      g.Set(cosine * q - b);
      s.Set(sine);
      c.Set(cosine);
      RotateRows(k_, rows_, n_, i + 1, i, cosine, sine);
    });
    form_.diagonal.Store({first}, D(first) - p.Get());
    form_.beside.Store({first}, g.Get());
    form_.beside.Store({last}, zero);
  }
  void Store(Scalar good, Scalar scale) const {
    k_.Loop(n_, [&](Scalar i) {
      Index at = batch_;
      at.push_back(i);
      k_.Result(1).Store(at, OrNaN(good, D(i) * scale));
      const Scalar phase = PhaseOfRow(k_, rows_, n_, i);
      k_.Loop(n_, [&](Scalar j) { v_.Store(j, i, OrNaN(good, phase * rows_.Load(i, j))); });
    });
  }

  KernelBuilder& k_;
  const Eqn& e_;
  const int64_t n_;
  const DType dtype_;
  const Index batch_;
  const KernelMatrix a_, v_, rows_;  // rows_: first the matrix, then its eigenvectors
  const TridiagonalForm form_;
};

void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.out(1).elements() == 0) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) { Matrix(k, e, batch).Decompose(); });
}

// Derivatives are taken along symmetric matrices with distinct eigenvalues. Those of complex eigenvectors hold up to a
// multiple of each, so the example has what is left of it in v w^2 v^H.
constexpr std::string_view kExamples =
    "program (%s: f64[3,3] in -0.5..0.5) { %t: f64[3,3] = transpose(%s) permutation=[1,0]"
    "  %d: f64[3,3] = constant [4.0, 0.0, 0.0, 0.0, -3.0, 0.0, 0.0, 0.0, 0.5] %u: f64[3,3] = add(%s, %t)"
    "  %a: f64[3,3] = add(%u, %d) %v: f64[3,3], %w: f64[3] = eigh(%a) return %v, %w }; "
    "program (%s: f64[2,9,9] in -0.1..0.1) { %t: f64[2,9,9] = transpose(%s) permutation=[0,2,1]"
    "  %i: i32[2,9,9] = iota() dtype=i32 shape=[2,9,9] dimension=1"
    "  %j: i32[2,9,9] = iota() dtype=i32 shape=[2,9,9] dimension=2 %e: bool[2,9,9] = eq(%i, %j)"
    "  %f: f64[2,9,9] = convert_element_type(%e) new_dtype=f64 %g: f64[2,9,9] = convert_element_type(%i) new_dtype=f64"
    "  %h: f64[2,9,9] = mul(%f, %g) %d: f64[2,9,9] = add(%h, %h) %u: f64[2,9,9] = add(%s, %t)"
    "  %a: f64[2,9,9] = add(%u, %d) %v: f64[2,9,9], %w: f64[2,9] = eigh(%a) lower=false return %v, %w }; "
    "program (%x: f64[3,3] in -0.3..0.3, %y: f64[3,3] in -0.3..0.3) { %z: c128[3,3] = complex(%x, %y)"
    "  %c: c128[3,3] = conj(%z) %t: c128[3,3] = transpose(%c) permutation=[1,0] %u: c128[3,3] = add(%z, %t)"
    "  %d: f64[3,3] = constant [3.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.5] %o: f64[3,3] = sub(%d, %d)"
    "  %e: c128[3,3] = complex(%d, %o) %a: c128[3,3] = add(%u, %e) %v: c128[3,3], %w: f64[3] = eigh(%a)"
    "  %b: f64[3,3] = broadcast_in_dim(%w) shape=[3,3] broadcast_dimensions=[1] %q: f64[3,3] = mul(%b, %b)"
    "  %p: c128[3,3] = complex(%q, %o) %l: c128[3,3] = mul(%v, %p) %m: c128[3,3] = conj(%v)"
    "  %r: c128[3,3] = dot_general(%l, %m) lhs_contract=[1] rhs_contract=[1] lhs_batch=[] rhs_batch=[]"
    "  %re: f64[3,3] = real(%r) %im: f64[3,3] = imag(%r) return %w, %re, %im }; "
    "order=0 (c64[2,4,4]); order=0 (f32[0,0])";

constexpr Row kRows[] = {{.name = "eigh",
                          .doc = "v, w = eigh(a): the eigenvalues w of the Hermitian a, and its eigenvectors, the "
                                 "columns of v; reads only the triangle that `lower` gives; w is always in ascending "
                                 "order, which `sort_eigenvalues` asks for; NaN where a has an infinity or NaN",
                          .attrs = kAttrs,
                          .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_READS_ONCE,
                          .type = Type,
                          .jvp = JvpRule,
                          .batch = rules::BatchAllFirst<EmitBatched>,
                          .factors_of = BatchFactors,
                          .lowerings = lower::Loops<Loops>,
                          .missing = rules::kNotLinear,
                          .examples = kExamples}};

}  // namespace

RowList eigh_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
