// eig: the eigenvalues w of square matrices a, and left and right eigenvectors: vl^H a = w vl^H, a vr = vr w.
//
// By Schur's form of the balanced matrix, as in LAPACK's geev: eigenvectors of the triangular matrix by substitution,
// then turned by q and freed from what balancing did. Vectors are normalised as geev does: of length 1, with a real
// largest element, which here is positive. Of a real matrix, complex eigenvalues come in pairs of exact conjugates,
// that with the positive imaginary part first, and real eigenvalues have real vectors. Rounding decides in which order
// QR steps find eigenvalues, so they are sorted, by a key in which few matrices have ties: then all targets agree. A
// matrix with an element that is not finite gives NaN, as in jax.lax.
#include "balancing.hpp"
#include "schur_form.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"compute_left_eigenvectors", AttrKind::kBool, "true"},
                               {"compute_right_eigenvectors", AttrKind::kBool, "true"},
                               {"enable_eigvec_derivs", AttrKind::kBool, "false"}};

bool HasLeft(const Eqn& e) { return e.flag("compute_left_eigenvectors", true); }
bool HasRight(const Eqn& e) { return e.flag("compute_right_eigenvectors", true); }
bool HasDerivatives(const Eqn& e) { return e.flag("enable_eigvec_derivs", false); }
DType ComplexDType(const Eqn& e) {
  const DType d = e.in(0).dtype();
  return IsComplex(d) ? d : ComplexOf(d);
}

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  WantSquare(e, 0, kLapackDTypes);
  const ArrayType vectors = e.in(0).WithDType(ComplexDType(e));
  ArrayTypes out = e.Type(vectors.dtype(), vectors.shape().first(vectors.shape().size() - 1));
  if (HasLeft(e)) out.push_back(vectors);
  if (HasRight(e)) out.push_back(vectors);
  return out;
}

// ---- derivative, as in jax.lax: with p = v^-1 da v it is dw = diagonal of p, and dv = v (f * p) + c v, where f_ij is
// 1 / (w_j - w_i) beside the diagonal and 0 on it, and c keeps the length of v and its largest element real ----

// The x with a x = b for complex a, by the real equations for its parts.
Value Solve(const Value& a, const Value& b) {
  const auto join = [](const Value& x, const Value& y, int64_t from_last) {
    return concatenate(Values{x, y}, x.rank() - from_last);
  };
  const Value re = real(a), im = imag(a);
  const Value lower = join(im, re, 1), both = join(join(re, neg(im), 1), lower, 2);
  const Value of_im = imag(b), right = join(real(b), of_im, 2);
  const linalg::Lu f = linalg::lu(both);
  const Value y = linalg::triangular_solve(f.lu, linalg::permuted_rows(right, f.permutation),
                                           {.left_side = true, .lower = true, .unit_diagonal = true});
  const Value x = linalg::triangular_solve(f.lu, y, {.left_side = true});
  const int64_t n = RowsOf(b.type()), row = x.rank() - 2;
  const Value x_im = slice_in_dim(x, n, 2 * n, row);  // exact: rows of x
  return complex(slice_in_dim(x, 0, n, row), x_im);
}
// The sum over the rows of each matrix.
Value ColumnSums(const Value& x) {
  const int64_t rows[] = {x.rank() - 2};
  return reduce_sum(x, rows);
}
struct Tangents {
  Value w, v;
};
Tangents OfVectors(const Value& w, const Value& v, const Value& da) {
  const Value one = InDType(OnDiagonal(v), v.dtype());
  const Value wi = AcrossColumns(w, v), gaps = sub(add(one, AcrossRows(w, v)), wi);
  const Value f = sub(integer_pow(gaps, -1), one);
  const Value p = MatrixProduct(Solve(v, da), v), u = MatrixProduct(v, mul(f, p));
  const Value largest = argmax(abs(v), v.rank() - 2, DType::kI32);
  const Value row = AcrossRows(largest, v), mask = InDType(eq(RowNumbers(v), row), v.dtype());
  const Value length = real(ColumnSums(mul(conj(v), u)));
  const Value size = real(ColumnSums(mul(mask, v))), turn = div(imag(ColumnSums(mul(mask, u))), size);
  const Value dw = Diagonal(p), back = neg(turn);
  return {dw, add(u, mul(v, AcrossRows(complex(neg(length), back), v)))};
}
void JvpRule(const Eqn& e, Jvp& a) {
  if (a.tangents[0].is_zero() || e.in(0).elements() == 0) return (void)(a.out = e.EmitN(a.primals));
  const bool left = HasLeft(e), right = HasRight(e);
  if ((left || right) && !HasDerivatives(e)) {
    throw Error(RICCI_UNIMPLEMENTED,
                "eig: eigenvectors have derivatives only if all eigenvalues are distinct and no vector has two largest "
                "elements, which is not checked; enable_eigvec_derivs=true asks for them");
  }
  const Values out = linalg::eig(a.primals[0], {.compute_left_eigenvectors = left,
                                                .compute_right_eigenvectors = true,
                                                .enable_eigvec_derivs = HasDerivatives(e)});
  const Value &w = out[0], &vr = out.back(), da = InDType(a.tangents[0], w.dtype());
  a.out[0] = w;
  if (!left && !right) {
    const int64_t last[] = {vr.rank() - 1};
    const Value transposed = MatrixTranspose(vr);
    a.out_tangents[0] = reduce_sum(mul(Solve(vr, da), transposed), last);
    return;
  }
  const Tangents t = OfVectors(w, vr, da);
  a.out_tangents[0] = t.w;
  if (left) {
    a.out[1] = out[1];
    const Value adjoint = Adjoint(da);
    a.out_tangents[1] = OfVectors(conj(w), out[1], adjoint).v;
  }
  if (right) a.out.back() = vr, a.out_tangents.back() = t.v;
}

// ---- lowering ----
class Matrix {
 public:
  Matrix(KernelBuilder& k, const Eqn& e, const Index& batch)
      : k_(k),
        e_(e),
        n_(RowsOf(e.in(0))),
        is_real_(!IsComplex(e.in(0).dtype())),
        has_vectors_(HasLeft(e) || HasRight(e)),
        dtype_(ComplexDType(e)),
        batch_(batch),
        b_(k.Local(e.in(0).WithShape(Shape{n_, n_})), {}),
        balancing_(k, e, n_, b_),
        t_(k.Local(e.Type(dtype_, Shape{n_, n_})), {}),
        z_(k.Local(e.Type(dtype_, has_vectors_ ? Shape{n_, n_} : Shape{})), {}) {
    const ArrayType list = e.Type(dtype_, Shape{n_});
    x_ = k.Local(list), v_ = k.Local(list), turned_ = k.Local(list), previous_ = k.Local(list);
    order_ = k.Local(e.Type(DType::kI64, Shape{n_}));
  }

  void Decompose() const {
    const KernelMatrix a(k_.Operand(0), batch_);
    const Scalar is_finite = IsFinite(LargestPart(k_, n_, n_, [&](Scalar i, Scalar j) { return a.Load(i, j); }));
    Fill(b_, [&](Scalar i, Scalar j) {
      const Scalar v = a.Load(i, j);
      return Select(is_finite, v, Like(v, 0));
    });
    balancing_.Balance();
    const PowerOfTwo scale = ScaleFor(LargestPart(k_, n_, n_, [&](Scalar i, Scalar j) { return b_.Load(i, j); }));
    const auto element = [&](Scalar i, Scalar j) { return TimesReal(b_.Load(i, j), scale.value); };
    const Scalar good = is_finite & (is_real_ ? ReduceReal(element) : Reduce(element));
    Sort();
    k_.Loop(n_, [&](Scalar position) {
      const Scalar j = order_.Load({position});
      Index at = batch_;
      at.push_back(position);
      k_.Result(0).Store(at, OrNaN(good, TimesReal(t_.Load(j, j), scale.inverse)));
    });
    if (HasLeft(e_)) StoreVectors(good, 1, /*left=*/true);
    if (HasRight(e_)) StoreVectors(good, HasLeft(e_) ? 2 : 1, /*left=*/false);
  }

 private:
  template <typename Element>
  void Fill(const KernelMatrix& t, Element&& element) const {
    k_.ParallelMatrix(n_, n_, [&](Scalar i, Scalar j) { t.Store(i, j, element(i, j)); });
  }
  const KernelMatrix* Basis() const { return has_vectors_ ? &z_ : nullptr; }
  // t_ and z_ become Schur's form and the transpose of q; whether it converged.
  template <typename Element>
  Scalar Reduce(Element&& element) const {
    Fill(t_, element);
    return SchurForm(k_, e_, n_, dtype_, t_, Basis()).Decompose();
  }
  // The same of a real matrix, by its real form, whose blocks of 2 x 2 are then made triangular.
  template <typename Element>
  Scalar ReduceReal(Element&& element) const {
    const DType real = RealOf(dtype_);
    const int64_t size = n_ + SchurForm::Margin(real);  // exact: an array of this size is checked
    const KernelMatrix t(k_.Local(e_.Type(real, Shape{size, size})), {});
    const KernelMatrix z(k_.Local(e_.Type(real, has_vectors_ ? Shape{size, n_} : Shape{})), {});
    Fill(t, element);
    const Scalar good = SchurForm(k_, e_, n_, real, t, has_vectors_ ? &z : nullptr).Decompose();
    const auto number = [&](Scalar r) { return Complex(r, Like(r, 0)); };
    Fill(t_, [&](Scalar i, Scalar j) { return number(t.Load(i, j)); });
    if (has_vectors_) Fill(z_, [&](Scalar i, Scalar j) { return number(z.Load(i, j)); });
    const SchurForm form(k_, e_, n_, dtype_, t_, Basis());
    k_.Loop(n_ - 1, [&](Scalar i) {  // exact: n is positive
      const Scalar below = t.Load(i + 1, i);
      k_.If(below != 0, [&] { Split(form, i, t.Load(i, i), t.Load(i, i + 1), below); });
    });
    return good;
  }
  // Rows i and i + 1 of the real form hold (a b; c a) with b c < 0 and so have the eigenvalues a +- i sqrt(-b c).
  void Split(const SchurForm& form, Scalar i, Scalar a, Scalar b, Scalar c) const {
    const Scalar size = SquareRoot(Magnitude(b)) * SquareRoot(Magnitude(c));
    form.Rotate(i, PlaneRotation::Of(Complex(Like(size, 0), size), Complex(c, Like(c, 0))));
    t_.Store(i, i, Complex(a, size));
    t_.Store(i + 1, i + 1, Complex(a, -size));
    t_.Store(i + 1, i, k_.Constant(dtype_, 0));
  }

  // order_ becomes the numbers of the eigenvalues in ascending order of re + im / 8, or of a real matrix re + |im| / 8,
  // for which conjugates stay together; equal ones keep their order.
  void Sort() const {
    const auto key = [&](Scalar i) {
      const Scalar w = t_.Load(i, i);
      return Real(w) + (is_real_ ? Magnitude(Imag(w)) : Imag(w)) * 0.125;
    };
    k_.Loop(n_, [&](Scalar i) { order_.Store({i}, i); });
    k_.Loop(n_, [&](Scalar j) {
      const Scalar mine = key(j);
      const Scalar position = k_.Reduce(RICCI_S_ADD, n_, [&](Scalar i) {
        const Scalar other = key(i);
        return Select((other < mine) | ((other == mine) & (i < j)), k_.At(1), k_.At(0));
      });
      order_.Store({position}, j);
    });
  }

  // ---- vectors ----
  // t_ii - w, or where that vanishes a number of the size of its rounding.
  Scalar Divisor(Scalar i, Scalar w) const {
    const Scalar d = t_.Load(i, i) - w;
    const Scalar least =
        Max(LargerPart(w) * Epsilon(w), Like(Real(w), InfoOf(RealOf(dtype_)).tiny / InfoOf(RealOf(dtype_)).epsilon));
    return Select(LargerPart(d) < least, Complex(least, Like(least, 0)), d);
  }
  // Element i of x_, from the elements between it and the last one, j, or the first. If it is large, all are made
  // smaller, so that nothing overflows.
  void Substitute(Scalar i, Scalar sum, Scalar divisor, Scalar lo, Scalar hi) const {
    const Scalar v = -(sum / divisor), size = LargerPart(v);
    x_.Store({i}, v);
    k_.If(size > 0x1p30,
          [&] { k_.Loop(lo, hi, [&](Scalar r) { x_.Store({r}, TimesReal(x_.Load({r}), Like(size, 1) / size)); }); });
  }
  // x_ becomes the eigenvector of t_, or of its adjoint, with eigenvalue number j: zero after j, or before j.
  void SolveTriangular(Scalar j, bool left) const {
    const Scalar w = t_.Load(j, j), n = k_.At(n_);
    x_.Store({j}, k_.Constant(dtype_, 1));
    if (left) {
      k_.Loop(j + 1, n, [&](Scalar i) {
        const Scalar sum = k_.Reduce(RICCI_S_ADD, j, i, [&](Scalar r) { return Conj(t_.Load(r, i)) * x_.Load({r}); });
        Substitute(i, sum, Conj(Divisor(i, w)), j, i + 1);
      });
      return;
    }
    k_.Loop(k_.At(0), j, [&](Scalar step) {
      const Scalar i = j - 1 - step;
      const Scalar sum = k_.Reduce(RICCI_S_ADD, i + 1, j + 1, [&](Scalar r) { return t_.Load(i, r) * x_.Load({r}); });
      Substitute(i, sum, Divisor(i, w), i, j + 1);
    });
  }
  // v_ becomes the eigenvector that belongs to q x_ of the balanced matrix, where x_ is 0 but from `lo` to `hi`.
  void Turn(Scalar lo, Scalar hi, bool left) const {
    k_.Loop(n_, [&](Scalar r) { turned_.Store({r}, k_.Constant(dtype_, 0)); });
    k_.Loop(lo, hi, [&](Scalar i) {
      k_.Loop(n_, [&](Scalar r) { turned_.Store({r}, turned_.Load({r}) + x_.Load({i}) * z_.Load(i, r)); });
    });
    balancing_.Undo(turned_, left, v_);
  }
  // v_ gets length 1 and a real and positive largest element.
  void Normalise() const {
    const auto part = [&](Scalar r) { return LargerPart(v_.Load({r})); };
    const Scalar scale = ScaleFor(k_.Reduce(RICCI_S_MAX, n_, part)).value;
    const auto squared = [&](Scalar r) { return SquaredMagnitude(TimesReal(v_.Load({r}), scale)); };
    const Scalar largest = k_.Reduce(RICCI_S_MAX, n_, squared);
    const Scalar position = k_.Reduce(RICCI_S_MIN, n_, [&](Scalar r) {
      return Select(squared(r) == largest, r, k_.At(n_ - 1));  // exact: n is positive
    });
    const Scalar top = Conj(TimesReal(v_.Load({position}), scale)), one = Like(scale, 1);
    const Scalar length = SquareRoot(k_.Reduce(RICCI_S_ADD, n_, squared));
    const Scalar phase = TimesReal(top, one / AbsoluteValue(top));
    k_.Loop(n_, [&](Scalar r) {
      const Scalar v = TimesReal(TimesReal(v_.Load({r}), scale), one / length) * phase;
      v_.Store({r}, Select(r == position, Complex(Real(v), Like(Real(v), 0)), v));
    });
  }
  void StoreVectors(Scalar good, uint32_t result, bool left) const {
    const KernelMatrix out(k_.Result(result), batch_);
    k_.Loop(n_, [&](Scalar r) { previous_.Store({r}, k_.Constant(dtype_, 0)); });
    k_.Loop(n_, [&](Scalar position) {
      const Scalar j = order_.Load({position});
      SolveTriangular(j, left);
      Turn(left ? j : k_.At(0), left ? k_.At(n_) : j + 1, left);
      Normalise();
      if (is_real_) MakeConsistent(Imag(t_.Load(j, j)));
      k_.Loop(n_, [&](Scalar r) { out.Store(r, position, OrNaN(good, v_.Load({r}))); });
    });
  }
  // Of a real matrix: v_ is real if its eigenvalue is, with imaginary part `im`, and the conjugate of the vector before
  // it if the eigenvalue is the conjugate of the one before it. What is not real in a vector of a real eigenvalue
  // belongs to another vector, of an equal one.
  void MakeConsistent(Scalar im) const {
    k_.If(im == 0, [&] {
      k_.Loop(n_, [&](Scalar r) { v_.Store({r}, Complex(Real(v_.Load({r})), Like(im, 0))); });
      Normalise();
    });
    k_.Loop(n_, [&](Scalar r) {
      v_.Store({r}, Select(im < 0, Conj(previous_.Load({r})), v_.Load({r})));
      previous_.Store({r}, v_.Load({r}));
    });
  }

  KernelBuilder& k_;
  const Eqn& e_;
  const int64_t n_;
  const bool is_real_, has_vectors_;
  const DType dtype_;
  const Index batch_;
  const KernelMatrix b_;  // the balanced matrix
  const Balancing balancing_;
  const KernelMatrix t_, z_;
  KernelArray x_, v_, turned_, previous_, order_;
};

void Loops(KernelBuilder& k, const Eqn& e) {
  if (e.out().elements() == 0) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) { Matrix(k, e, batch).Decompose(); });
}

// Eigenvalues are distinct, and one element of each vector is much larger than the others. Programs with results of
// complex numbers return their parts.
constexpr std::string_view kExamples =
    "program (%x: f64[3,3] in -0.5..0.5) {"
    "  %d: f64[3,3] = constant [4.0, 0.0, 0.0, 0.0, -2.5, 0.0, 0.0, 0.0, 1.0] %a: f64[3,3] = add(%x, %d)"
    "  %w: c128[3], %l: c128[3,3], %r: c128[3,3] = eig(%a) enable_eigvec_derivs=true"
    "  %wr: f64[3] = real(%w) %lr: f64[3,3] = real(%l) %rr: f64[3,3] = real(%r) return %wr, %lr, %rr }; "
    "program (%x: f64[2,4,4] in -0.3..0.3) {"
    "  %d: f64[2,4,4] = constant [1.0, 2.0, 0.0, 0.0, -2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, -3.0,"
    "                             4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, -2.0, 1.0, 0.0, 0.0, -1.0, -2.0]"
    "  %a: f64[2,4,4] = add(%x, %d)"
    "  %w: c128[2,4] = eig(%a) compute_left_eigenvectors=false compute_right_eigenvectors=false"
    "    enable_eigvec_derivs=true"
    "  %re: f64[2,4] = real(%w) %im: f64[2,4] = imag(%w) return %re, %im }; "
    "program (%x: f64[3,3] in -0.3..0.3, %y: f64[3,3] in -0.3..0.3) {"
    "  %d: f64[3,3] = constant [3.0, 0.0, 0.0, 0.0, -2.0, 0.0, 0.0, 0.0, 0.5] %s: f64[3,3] = add(%x, %d)"
    "  %a: c128[3,3] = complex(%s, %y)"
    "  %w: c128[3], %r: c128[3,3] = eig(%a) compute_left_eigenvectors=false enable_eigvec_derivs=true"
    "  %re: f64[3,3] = real(%r) %im: f64[3,3] = imag(%r) %wr: f64[3] = real(%w) %wi: f64[3] = imag(%w)"
    "  return %re, %im, %wr, %wi }; "
    "order=0 (c64[2,4,4]) compute_right_eigenvectors=false; order=0 (f32[9,9]); order=0 (f64[0,0])";

constexpr Row kRows[] = {
    {.name = "eig",
     .doc = "w, vectors... = eig(a): the complex eigenvalues w of a, sorted; then, where asked for, the "
            "left eigenvectors vl and the "
            "right ones vr, columns of length 1 with a real largest element: vl^H a = w vl^H, a "
            "vr = vr w; NaN where a has "
            "an infinity or NaN",
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

RowList eig_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
