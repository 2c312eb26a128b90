// svd: singular values s, descending, and vectors of matrices a: a = u diag(s) vt, where the columns of u and the rows
// of vt are orthonormal.
//
// One-sided Jacobi (Hestenes, "Inversion of matrices by biorthogonalization and related results", 1958): plane
// rotations make the columns of a, or of a^H if those are fewer, orthogonal to each other; their lengths are s. Small
// singular values are as accurate as a allows, and matrices of few columns take few steps (Demmel and Veselic,
// "Jacobi's method is more accurate than QR", 1992). What a leaves open, the vectors of zeros and those beyond the
// smaller dimension, is any orthonormal completion. A matrix with an element that is not finite gives NaN, as in
// jax.lax.
#include "eigen_kernel.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr AttrSpec kAttrs[] = {{"full_matrices", AttrKind::kBool, "true"},
                               {"compute_uv", AttrKind::kBool, "true"},
                               {"algorithm", AttrKind::kString, "default"}};
constexpr std::string_view kAlgorithms[] = {"default", "QR", "divide_and_conquer", "Jacobi"};

bool IsFull(const Eqn& e) { return e.flag("full_matrices", true); }
bool HasVectors(const Eqn& e) { return e.flag("compute_uv", true); }

ArrayTypes Type(const Eqn& e) {
  e.WantOperands(1);
  rules::WantDType(e, 0, kLapackDTypes);
  const ArrayType a = e.in(0);
  if (a.rank() < 2) e.Fail("operand 0 is ", a, "; its last two dimensions must be those of a matrix");
  if (e.has("algorithm") &&
      std::find(std::begin(kAlgorithms), std::end(kAlgorithms), e.str("algorithm")) == std::end(kAlgorithms)) {
    e.Fail("algorithm is `", e.str("algorithm"), "`; it must be default, QR, divide_and_conquer or Jacobi");
  }
  const int64_t m = RowsOf(a), n = ColumnsOf(a), rank = std::min(m, n);
  const auto with = [&](DType dtype, std::initializer_list<int64_t> sizes) {
    Shape shape = BatchOf(a);
    shape.insert(shape.end(), sizes);
    return e.Type(dtype, shape);
  };
  const ArrayType s = with(RealOf(a.dtype()), {rank});
  if (!HasVectors(e)) return s;
  return ArrayTypes{s, with(a.dtype(), {m, IsFull(e) ? m : rank}), with(a.dtype(), {IsFull(e) ? n : rank, n})};
}

// ---- derivative, as in jax.lax: with p = u^H da v it is ds = diagonal of p; those of u and v follow from the part of
// p beside the diagonal and the differences of squares of s, which must be distinct, and where a has more rows or
// columns than s from what da adds to the space of u or v ----
Value Inverse(const Value& x) { return integer_pow(x, -1); }
// 1 / x, but 0 where `zero` is 1: there x is 0.
Value InverseOrZero(const Value& x, const Value& zero) { return sub(Inverse(add(x, zero)), zero); }
// (x - b (b^H x)) / s: the part of x outside the space of b.
Value Outside(const Value& x, const Value& b, const Value& s) {
  const Value rest = sub(x, MatrixProduct(b, MatrixProduct(Adjoint(b), x)));
  return div(rest, InDType(AcrossRows(s, rest), rest.dtype()));
}
void JvpRule(const Eqn& e, Jvp& a) {
  if (a.tangents[0].is_zero() || e.in(0).elements() == 0) return (void)(a.out = e.EmitN(a.primals));
  const int64_t m = RowsOf(e.in(0)), n = ColumnsOf(e.in(0));
  if (HasVectors(e) && IsFull(e) && m != n) {
    throw Error(RICCI_UNIMPLEMENTED, Text("svd: with full_matrices the vectors of ", e.in(0),
                                          " have no derivative, because its matrices are not square"));
  }
  const Value& da = a.tangents[0];
  const linalg::Svd f = linalg::svd(a.primals[0], {.full_matrices = false});
  const Value v = Adjoint(f.vt), p = MatrixProduct(MatrixProduct(Adjoint(f.u), da), v);
  a.out = HasVectors(e) ? Values{f.s, f.u, f.vt} : Values{f.s};
  a.out_tangents[0] = Diagonal(RealPart(p));
  if (!HasVectors(e)) return;
  const Value parts = RealPart(p), sj = AcrossRows(f.s, parts), si = AcrossColumns(f.s, parts);
  const Value one = InDType(OnDiagonal(parts), parts.dtype());
  const auto number = [&](const Value& x) { return InDType(x, p.dtype()); };
  const Value distance = sub(sj, si), gaps = number(InverseOrZero(mul(add(sj, si), distance), one));
  const Value by_s = mul(number(sj), p), s_by = mul(number(si), p);
  const Value zeros = InDType(eq(f.s, zeros_like(f.s)), f.s.dtype());
  const Value inverse = number(mul(one, AcrossRows(InverseOrZero(f.s, zeros), parts)));
  const Value turn = mul(mul(sub(p, Adjoint(p)), 0.5), inverse);
  Value du = MatrixProduct(f.u, add(mul(gaps, add(by_s, Adjoint(by_s))), turn));
  Value dv = MatrixProduct(v, mul(gaps, add(s_by, Adjoint(s_by))));
  if (m > n) du = add(du, Outside(MatrixProduct(da, v), f.u, f.s));
  if (n > m) dv = add(dv, Outside(MatrixProduct(Adjoint(da), f.u), v, f.s));
  a.out_tangents[1] = du;
  a.out_tangents[2] = Adjoint(dv);
}

// ---- lowering ----
// One matrix. Its columns, or those of a^H if they are fewer, are the rows of x_; the same rotations turn an identity
// into y_. In the end b = x^T has b = x_j s_j y_j^H.
class Matrix {
 public:
  Matrix(KernelBuilder& k, const Eqn& e, const Index& batch)
      : k_(k),
        e_(e),
        is_tall_(RowsOf(e.in(0)) >= ColumnsOf(e.in(0))),
        length_(std::max(RowsOf(e.in(0)), ColumnsOf(e.in(0)))),
        count_(std::min(RowsOf(e.in(0)), ColumnsOf(e.in(0)))),
        rows_(HasVectors(e) && IsFull(e) ? length_ : count_),
        dtype_(e.in(0).dtype()),
        batch_(batch),
        a_(k.Operand(0), batch),
        x_(k.Local(e.Type(dtype_, Shape{rows_, length_})), {}),
        y_(k.Local(e.Type(dtype_, HasVectors(e) ? Shape{count_, count_} : Shape{})), {}),
        lengths_(k.Local(e.Type(RealOf(dtype_), Shape{count_}))) {}

  void Decompose() const {
    const Scalar largest = count_ == 0
                               ? k_.Constant(RealOf(dtype_), 0)
                               : LargestPart(k_, count_, length_, [&](Scalar i, Scalar j) { return Element(i, j); });
    const PowerOfTwo scale = ScaleFor(largest);
    Begin(scale.value, IsFinite(largest));
    const Scalar converged = Iterate(), good = IsFinite(largest) & converged;
    Sort();
    if (HasVectors(e_)) Normalise();
    Store(good, scale.inverse);
  }

 private:
  Scalar Real(double v) const { return k_.Constant(RealOf(dtype_), v); }
  Scalar Element(Scalar i, Scalar j) const { return is_tall_ ? a_.Load(j, i) : Conj(a_.Load(i, j)); }
  void Begin(Scalar scale, Scalar is_finite) const {
    k_.ParallelMatrix(count_, length_, [&](Scalar i, Scalar j) {
      const Scalar v = TimesReal(Element(i, j), scale);
      x_.Store(i, j, Select(is_finite, v, Like(v, 0)));
    });
    if (HasVectors(e_)) SetIdentity(k_, y_, count_, dtype_);
  }

  // ---- rotations ----
  // Whether a sweep over all pairs found none to rotate. Sweeps converge quadratically in the end; more than ten are
  // rare.
  Scalar Iterate() const {
    const Variable left(k_, e_, k_.At(60)), rotated(k_, e_, k_.Constant(DType::kBool, true));
    k_.While([&] { return rotated.Get() & (left.Get() > 0); },
             [&] {
               left.Set(left.Get() - 1);
               rotated.Set(k_.Constant(DType::kBool, false));
               k_.Loop(count_, [&](Scalar i) {
                 k_.Loop(i + 1, k_.At(count_), [&](Scalar j) {
                   const Scalar turned = Rotate(i, j);
                   rotated.Set(rotated.Get() | turned);
                 });
               });
             });
    return !rotated.Get();
  }
  Scalar SquaredLength(Scalar i) const {
    return k_.Reduce(RICCI_S_ADD, length_, [&](Scalar c) { return SquaredMagnitude(x_.Load(i, c)); });
  }
  Scalar Dot(const KernelMatrix& x, Scalar i, Scalar j) const {
    return k_.Reduce(RICCI_S_ADD, length_, [&](Scalar c) { return Conj(x.Load(i, c)) * x.Load(j, c); });
  }
  // Makes rows i and j orthogonal, unless they are to rounding, or one is so short that squares of it vanish; gives
  // whether it rotated them.
  Scalar Rotate(Scalar i, Scalar j) const {
    const FloatInfo info = InfoOf(RealOf(dtype_));
    const double rounding = info.epsilon * std::max(8.0, std::sqrt(static_cast<double>(length_)));
    const Scalar a = SquaredLength(i), b = SquaredLength(j), dot = Dot(x_, i, j);
    const Scalar size = IsComplex(dot) ? Hypotenuse(ricci::Real(dot), Imag(dot)) : Magnitude(dot);
    const Scalar is_rotated =
        (size > SquareRoot(a) * SquareRoot(b) * rounding) & (Min(a, b) > info.tiny / info.epsilon);
    k_.If(is_rotated, [&] {
      const Scalar zeta = (a - b) / (size * 2), one = Like(zeta, 1);
      const Scalar t = WithSign(one, zeta) / (Magnitude(zeta) + Hypotenuse(zeta, one));
      const Scalar c = one / Hypotenuse(t, one);
      // x_i^H x_j = size e^(i phi): then x_i and e^(-i phi) x_j have a real product.
      const Scalar s = IsComplex(dot) ? TimesReal(Conj(dot), t * c / size) : WithSign(t * c, dot);
      RotateRows(k_, x_, length_, i, j, c, s);
      if (HasVectors(e_)) RotateRows(k_, y_, count_, i, j, c, s);
    });
    return is_rotated;
  }
  void Sort() const {
    k_.Loop(count_, [&](Scalar i) { lengths_.Store({i}, SquareRoot(SquaredLength(i))); });
    SortRows(k_, count_, /*ascending=*/false, lengths_, [&](Scalar i, Scalar j) {
      SwapRows(k_, x_, length_, i, j);
      if (HasVectors(e_)) SwapRows(k_, y_, count_, i, j);
    });
  }

  // ---- vectors ----
  // Rows of x become unit vectors: those that are long enough to give a direction by themselves, the others as what
  // completes those before them.
  void Normalise() const {
    const FloatInfo info = InfoOf(RealOf(dtype_));
    const double shortest = std::sqrt(info.tiny / info.epsilon);
    k_.Loop(count_, [&](Scalar i) {
      const Scalar length = lengths_.Load({i});
      k_.If(
          length > shortest, [&] { Divide(i, length); }, [&] { Complete(i); });
    });
    k_.Loop(k_.At(count_), k_.At(rows_), [&](Scalar i) { Complete(i); });
  }
  void Divide(Scalar i, Scalar length) const {
    const Shape row = {length_};
    k_.Parallel(row, [&](const Index& at) {
      const Scalar v = x_.Load(i, at[0]);
      x_.Store(i, at[0], IsComplex(v) ? Complex(ricci::Real(v) / length, Imag(v) / length) : v / length);
    });
  }
  // Row i becomes a unit vector orthogonal to those before it: the unit vector e_j that is farthest from their space,
  // less its part in it, taken twice because the first time leaves a little ("twice is enough", Kahan).
  void Complete(Scalar i) const {
    const auto inside = [&](Scalar c) {
      return k_.Reduce(RICCI_S_ADD, k_.At(0), i, [&](Scalar r) { return SquaredMagnitude(x_.Load(r, c)); });
    };
    // Of those that are equally far but for rounding, the first.
    const Scalar least = k_.Reduce(RICCI_S_MIN, length_, inside) + 0.01;
    const Scalar farthest = k_.Reduce(RICCI_S_MIN, length_, [&](Scalar c) {
      return Select(inside(c) <= least, c, k_.At(length_ - 1));  // exact: there is a row
    });
    k_.Loop(length_,
            [&](Scalar c) { x_.Store(i, c, Select(c == farthest, k_.Constant(dtype_, 1), k_.Constant(dtype_, 0))); });
    k_.Loop(2, [&](Scalar) {
      k_.Loop(k_.At(0), i, [&](Scalar r) {
        const Scalar part = Dot(x_, r, i);
        k_.Loop(length_, [&](Scalar c) { x_.Store(i, c, x_.Load(i, c) - part * x_.Load(r, c)); });
      });
    });
    Divide(i, SquareRoot(SquaredLength(i)));
  }
  void Store(Scalar good, Scalar scale) const {
    k_.Loop(count_, [&](Scalar i) {
      Index at = batch_;
      at.push_back(i);
      k_.Result(0).Store(at, OrNaN(good, lengths_.Load({i}) * scale));
    });
    if (!HasVectors(e_)) return;
    const KernelMatrix u(k_.Result(1), batch_), vt(k_.Result(2), batch_);
    k_.Loop(rows_, [&](Scalar i) {
      const Scalar phase = PhaseOfRow(k_, x_, length_, i);
      k_.Loop(length_, [&](Scalar c) {
        const Scalar v = OrNaN(good, phase * x_.Load(i, c));
        is_tall_ ? u.Store(c, i, v) : vt.Store(i, c, Conj(v));
      });
      const auto store_y = [&] {
        k_.Loop(count_, [&](Scalar c) {
          const Scalar v = OrNaN(good, phase * y_.Load(i, c));
          is_tall_ ? vt.Store(i, c, Conj(v)) : u.Store(c, i, v);
        });
      };
      rows_ == count_ ? store_y() : k_.If(i < count_, store_y);
    });
  }

  KernelBuilder& k_;
  const Eqn& e_;
  const bool is_tall_;
  const int64_t length_, count_, rows_;
  const DType dtype_;
  const Index batch_;
  const KernelMatrix a_, x_, y_;
  const KernelArray lengths_;
};

void Loops(KernelBuilder& k, const Eqn& e) {
  bool has_elements = false;
  for (uint32_t i = 0; i < e.n_out(); ++i) has_elements = has_elements || e.out(i).elements() != 0;
  if (!has_elements) return;
  k.Parallel(BatchOf(e.in(0)), [&](const Index& batch) { Matrix(k, e, batch).Decompose(); });
}

// Singular values are distinct and away from 0.
constexpr std::string_view kExamples =
    "program (%x: f64[3,3] in -0.5..0.5) {"
    "  %d: f64[3,3] = constant [4.0, 0.0, 0.0, 0.0, -2.5, 0.0, 0.0, 0.0, 1.0] %a: f64[3,3] = add(%x, %d)"
    "  %s: f64[3], %u: f64[3,3], %v: f64[3,3] = svd(%a) return %s, %u, %v }; "
    "program (%x: f64[2,4,2] in -0.5..0.5) {"
    "  %d: f64[2,4,2] = constant [0.0, 0.0, 0.0, 3.0, 5.0, 0.0, 0.0, 1.0,"
    "                             0.0, 2.0, 0.0, 0.0, 0.0, 0.0, -4.0, 0.0] %a: f64[2,4,2] = add(%x, %d)"
    "  %s: f64[2,2], %u: f64[2,4,2], %v: f64[2,2,2] = svd(%a) full_matrices=false return %s, %u, %v }; "
    "program (%x: f64[2,3] in -0.5..0.5) { %d: f64[2,3] = constant [0.0, 3.0, 0.0, 0.0, 0.0, -5.0]"
    "  %a: f64[2,3] = add(%x, %d)"
    "  %s: f64[2], %u: f64[2,2], %v: f64[2,3] = svd(%a) full_matrices=false return %s, %u, %v }; "
    "(f64[3,4] in 1..2) compute_uv=false; order=0 (f64[4,2]); order=0 (c128[2,4]); order=0 (f64[0,3]); "
    "order=0 (f32[2,2]) algorithm=\"QR\"";

constexpr Row kRows[] = {
    {.name = "svd",
     .doc = "s, vectors... = svd(a): the singular values s of a, in descending order, then u, whose columns are "
            "orthonormal, and vt, whose rows are: a = u s vt; with `full_matrices` u and vt are square; without "
            "`compute_uv` s is the only result; every `algorithm` is computed by one-sided Jacobi rotations; NaN where "
            "a has an infinity or NaN",
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

RowList svd_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
