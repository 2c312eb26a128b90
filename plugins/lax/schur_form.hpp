// Schur's form of square matrices: a = q t q^H with a unitary q, by shifted QR steps on the Hessenberg form.
//
// Of a complex matrix, t is upper triangular (single steps with Wilkinson's shift). Of a real one, t is real and has
// blocks of 2 x 2 on its diagonal for pairs of complex eigenvalues, with equal diagonal elements and others of
// different signs (double steps: Francis, "The QR transformation", 1961). Searches and steps are bounded, also where
// elements are NaN.
#ifndef RICCI_LAX_SCHUR_FORM_HPP_
#define RICCI_LAX_SCHUR_FORM_HPP_
#include "hessenberg_form.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// The square root with a real part that is not negative.
inline Scalar ComplexRoot(Scalar z) {
  const Scalar re = Real(z), im = Imag(z), zero = Like(re, 0);
  const Scalar large = SquareRoot((Hypotenuse(re, im) + Magnitude(re)) * 0.5);
  const Scalar small = Select(large == 0, zero, im / Select(large == 0, Like(re, 1), large * 2));
  return Complex(Select(re < 0, Magnitude(small), large), Select(re < 0, WithSign(large, im), small));
}
inline Scalar AbsoluteValue(Scalar z) { return IsComplex(z) ? Hypotenuse(Real(z), Imag(z)) : Magnitude(z); }

inline Scalar Quotient(Scalar z, Scalar r) { return IsComplex(z) ? Complex(Real(z) / r, Imag(z) / r) : z / r; }

// Rows i and i + 1 of x become c x_i + s x_(i+1) and c x_(i+1) - conj(s) x_i.
struct PlaneRotation {
  Scalar c, s;
  // That which makes the second of (x, y) 0.
  static PlaneRotation Of(Scalar x, Scalar y) {
    const Scalar a = AbsoluteValue(x), length = Hypotenuse(a, AbsoluteValue(y));
    const Scalar one = Like(length, 1), is_zero = length == 0;
    const Scalar divisor = Select(is_zero, one, length), scale = Select(a == 0, one, a);
    // Quotients and no products with inverses, which tiny numbers do not have.
    const Scalar phase = Select(a == 0, AsKind(x, one), Quotient(x, scale));
    return {Select(is_zero, one, a / divisor), phase * Quotient(Conj(y), divisor)};
  }
};

// The work on one matrix.
class SchurForm {
 public:
  // t: n x n, or if real one more row and column; on entry the matrix. z: n rows, if real one more; NULL without q.
  SchurForm(KernelBuilder& k, const Eqn& e, int64_t n, DType dtype, const KernelMatrix& t, const KernelMatrix* z)
      : k_(k), e_(e), n_(n), dtype_(dtype), t_(t), z_(z) {}

  // How many rows and columns more t must have, so that steps on three rows may touch the one after the last.
  static int64_t Margin(DType dtype) { return IsComplex(dtype) ? 0 : 1; }

  // t becomes Schur's form, z the transpose of q. Whether that took at most 30 steps for each eigenvalue.
  Scalar Decompose() const {
    const HessenbergForm form(k_, e_, n_, t_);
    form.Reduce();
    if (z_ != nullptr) form.FormTransposedBasis(*z_);
    form.ClearReflectors();
    ClearMargin();
    return Iterate();
  }
  // Rows and columns i and i + 1 of t, and q, are rotated.
  void Rotate(Scalar i, const PlaneRotation& r) const {
    RotateRows(k_, t_, n_, i, i + 1, r.c, r.s);
    const Scalar back = Conj(r.s);
    k_.Loop(n_, [&](Scalar row) {
      const Scalar a = t_.Load(row, i), b = t_.Load(row, i + 1);
      t_.Store(row, i, TimesReal(a, r.c) + Product(back, b));
      t_.Store(row, i + 1, TimesReal(b, r.c) - Product(r.s, a));
    });
    if (z_ != nullptr) RotateRows(k_, *z_, n_, i, i + 1, r.c, back);
  }

 private:
  Scalar Zero() const { return k_.Constant(dtype_, 0); }
  void ClearMargin() const {
    if (Margin(dtype_) == 0) return;
    k_.Loop(n_ + 1, [&](Scalar i) {
      t_.Store(k_.At(n_), i, Zero());
      t_.Store(i, k_.At(n_), Zero());
    });
    if (z_ != nullptr) k_.Loop(n_, [&](Scalar i) { z_->Store(k_.At(n_), i, Zero()); });
  }
  // Whether the element left of diagonal element i is not negligible. False with NaN, and in the first row. Steps
  // multiply elements that follow each other. If a product vanishes they change nothing, so an element counts as
  // negligible where that may be: the largest of the matrix is about 1.
  Scalar IsLarge(Scalar i) const {
    const Scalar before = Max(i - 1, k_.At(0));
    const Scalar sum = LargerPart(t_.Load(i, i)) + LargerPart(t_.Load(before, before));
    const Scalar beside = LargerPart(t_.Load(i, before));
    return (i > 0) & (beside > sum * Epsilon(sum) + std::sqrt(InfoOf(sum.dtype()).tiny));
  }
  Scalar Iterate() const {
    // `end` is the last row that is still to be reduced, `begin` the first of its block.
    const Variable end(k_, e_, k_.At(n_ - 1)), begin(k_, e_, k_.At(0)), left(k_, e_, k_.At(0)), tries(k_, e_, k_.At(0));
    left.Set(k_.At(n_) * 30);
    k_.While([&] { return (end.Get() >= 0) & (left.Get() > 0); },
             [&] {
               begin.Set(end.Get());
               k_.While([&] { return IsLarge(begin.Get()); }, [&] { begin.Set(begin.Get() - 1); });
               const Scalar first = begin.Get(), last = end.Get(), found = last - first;
               k_.If(first > 0, [&] { t_.Store(first, first - 1, Zero()); });
               const Scalar is_done = IsComplex(dtype_) ? found == 0 : found <= 1;
               k_.If(
                   is_done,
                   [&] {
                     if (!IsComplex(dtype_)) k_.If(found == 1, [&] { Standardise(first); });
                     end.Set(first - 1);
                     tries.Set(k_.At(0));
                   },
                   [&] {
                     left.Set(left.Get() - 1);
                     tries.Set(tries.Get() + 1);
                     const Scalar is_exceptional = tries.Get() % 10 == 0;
                     IsComplex(dtype_) ? SingleStep(first, last, is_exceptional)
                                       : DoubleStep(first, last, is_exceptional);
                   });
             });
    return end.Get() < 0;
  }

  // ---- complex ----
  // The eigenvalue of the last block of 2 x 2 that is closer to its last element.
  Scalar SingleShift(Scalar last, Scalar is_exceptional) const {
    const Scalar a = t_.Load(last - 1, last - 1), d = t_.Load(last, last), c = t_.Load(last, last - 1);
    const Scalar half = TimesReal(a - d, Like(Real(a), 0.5)), product = t_.Load(last - 1, last) * c;
    const Scalar root = ComplexRoot(half * half + product);
    const Scalar same = Real(half) * Real(root) + Imag(half) * Imag(root);
    const Scalar sum = half + Select(same < 0, -root, root), is_zero = AbsoluteValue(sum) == 0;
    const Scalar shift = d - Select(is_zero, Zero(), product / Select(is_zero, k_.Constant(dtype_, 1), sum));
    return Select(is_exceptional, d + AsKind(d, AbsoluteValue(c) * 0.75), shift);
  }
  void SingleStep(Scalar first, Scalar last, Scalar is_exceptional) const {
    const Scalar shift = SingleShift(last, is_exceptional);
    const Variable x(k_, e_, t_.Load(first, first) - shift), y(k_, e_, t_.Load(first + 1, first));
    k_.Loop(first, last, [&](Scalar i) {
      Rotate(i, PlaneRotation::Of(x.Get(), y.Get()));
      k_.If(i > first, [&] { t_.Store(i + 1, i - 1, Zero()); });
      x.Set(t_.Load(i + 1, i));
      y.Set(t_.Load(Min(i + 2, k_.At(n_ - 1)), i));  // of no use after the last one; exact: n is positive
    });
  }

  // ---- real ----
  // A block of 2 x 2 whose eigenvalues are the shifts: its diagonal, and the product of the other two.
  struct Shifts {
    Scalar a, d, product;
  };
  Shifts DoubleShift(Scalar last, Scalar is_exceptional) const {
    const Scalar a = t_.Load(last - 1, last - 1), b = t_.Load(last - 1, last), c = t_.Load(last, last - 1);
    const Scalar d = t_.Load(last, last), size = Magnitude(c) + Magnitude(t_.Load(last - 1, last - 2));
    const Scalar other = d + size * 0.75;  // LAPACK's numbers
    return {Select(is_exceptional, other, a), Select(is_exceptional, other, d),
            Select(is_exceptional, size * size * -0.4375, b * c)};
  }
  // One step with two shifts: a bulge of three rows goes through the block, which has at least three.
  void DoubleStep(Scalar first, Scalar last, Scalar is_exceptional) const {
    const Shifts shifts = DoubleShift(last, is_exceptional);
    const auto h = [&](int64_t i, int64_t j) { return t_.Load(first + i, first + j); };
    // The first column of (t - shift 1) (t - shift 2), divided by an element that is not 0; from differences, so that
    // eigenvalues close to each other do not cancel.
    const Scalar a = shifts.a - h(0, 0), d = shifts.d - h(0, 0);
    const Variable x(k_, e_, (a * d - shifts.product) / h(1, 0) + h(0, 1)), y(k_, e_, h(1, 1) - h(0, 0) - a - d),
        z(k_, e_, h(2, 1));
    k_.Loop(first, last, [&](Scalar i) {
      const Scalar zero = Like(x.Get(), 0), y0 = y.Get(), z0 = Select(i + 1 == last, zero, z.Get());
      const Reflector r = ReflectorOf(x.Get(), Max(Magnitude(y0), Magnitude(z0)),
                                      [&](Scalar s) { return y0 * s * (y0 * s) + z0 * s * (z0 * s); });
      ReflectThree(i, r.tau, r.Applied(y0), r.Applied(z0));
      k_.If(i > first, [&] {
        t_.Store(i, i - 1, r.beta);
        t_.Store(i + 1, i - 1, zero);
        k_.If(i + 1 < last, [&] { t_.Store(i + 2, i - 1, zero); });
      });
      x.Set(t_.Load(i + 1, i));
      y.Set(t_.Load(Min(i + 2, k_.At(n_)), i));
      z.Set(t_.Load(Min(i + 3, k_.At(n_)), i));
    });
  }
  // Rows and columns i, i + 1 and i + 2 of t, and q, are reflected by 1 - tau (1, v, w) (1, v, w)^T.
  void ReflectThree(Scalar i, Scalar tau, Scalar v, Scalar w) const {
    const auto reflect = [&](auto&& load, auto&& store) {
      const Scalar a = load(i), b = load(i + 1), c = load(i + 2), amount = tau * (a + v * b + w * c);
      store(i, a - amount), store(i + 1, b - amount * v), store(i + 2, c - amount * w);
    };
    const auto rows_of = [&](const KernelMatrix& m) {
      const Shape row = {n_};
      k_.Parallel(row, [&](const Index& at) {
        reflect([&](Scalar r) { return m.Load(r, at[0]); }, [&](Scalar r, Scalar x) { m.Store(r, at[0], x); });
      });
    };
    rows_of(t_);
    k_.Loop(n_, [&](Scalar row) {
      reflect([&](Scalar c) { return t_.Load(row, c); }, [&](Scalar c, Scalar x) { t_.Store(row, c, x); });
    });
    if (z_ != nullptr) rows_of(*z_);
  }
  // The block of rows i and i + 1 becomes triangular if its eigenvalues are real, else one with equal diagonal
  // elements. The second round is for eigenvalues that turn out to be real once those are equal.
  void Standardise(Scalar i) const {
    k_.Loop(2, [&](Scalar) {
      const Scalar a = t_.Load(i, i), b = t_.Load(i, i + 1), c = t_.Load(i + 1, i), d = t_.Load(i + 1, i + 1);
      const Scalar half = (a - d) * 0.5, square = half * half + b * c, is_real = square >= 0;
      const Scalar one = Like(a, 1), zero = Like(a, 0);
      k_.If(c != 0, [&] {
        const Scalar root = half + WithSign(SquareRoot(Max(square, zero)), half);
        const PlaneRotation to_vector = PlaneRotation::Of(root, c);
        const Scalar sum = b + c, size = Hypotenuse(sum, half * 2), is_equal = size == 0;
        const Scalar divisor = Select(is_equal, one, size);
        const Scalar cosine = Select(is_equal, one, SquareRoot((Magnitude(sum) / divisor + 1) * 0.5));
        const Scalar sine = -(half / (divisor * cosine)) * WithSign(one, sum);
        Rotate(i, {Select(is_real, to_vector.c, cosine), Select(is_real, to_vector.s, sine)});
        const Scalar p = t_.Load(i, i), q = t_.Load(i + 1, i + 1), mean = (p + q) * 0.5;
        t_.Store(i, i, Select(is_real, p, mean));
        t_.Store(i + 1, i + 1, Select(is_real, q, mean));
        t_.Store(i + 1, i, Select(is_real, zero, t_.Load(i + 1, i)));
      });
    });
  }

  KernelBuilder& k_;
  const Eqn& e_;
  const int64_t n_;
  const DType dtype_;
  const KernelMatrix t_;
  const KernelMatrix* z_;
};

}}}  // namespace ricci::v0::lax
#endif
