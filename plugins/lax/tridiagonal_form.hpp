// Householder's reduction of a Hermitian matrix to a real tridiagonal one, as LAPACK's sytd2 and hetd2 have it.
#ifndef RICCI_LAX_TRIDIAGONAL_FORM_HPP_
#define RICCI_LAX_TRIDIAGONAL_FORM_HPP_
#include "eigen_kernel.hpp"
#include "householder.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// Element (i, j) of the Hermitian matrix of which `a` has the lower triangle, or the upper one; imaginary parts of the
// diagonal are not read.
inline Scalar HermitianElement(const KernelMatrix& a, bool lower, Scalar i, Scalar j) {
  const Scalar more = Max(i, j), less = Min(i, j), row = lower ? more : less;
  const Scalar v = a.Load(row, lower ? less : more);
  if (!IsComplex(v)) return v;
  return Complex(Real(v), Select(i == j, Like(Real(v), 0), Select(i == row, Imag(v), -Imag(v))));
}

// q^H m q = t. On entry m has all elements; then below its diagonal column i has the reflector i of q = h_0 h_1 ... ,
// whose first element, which is 1, is at row i + 1.
class TridiagonalForm {
 public:
  TridiagonalForm(KernelBuilder& k, const Eqn& e, int64_t n, const KernelMatrix& m)
      : k_(k), n_(n), m_(m), dtype_(e.in(0).dtype()) {
    const Shape list = {n};
    const ArrayType number = e.Type(dtype_, list), real = e.Type(RealOf(dtype_), list);
    diagonal = k.Local(real), beside = k.Local(real), tau = k.Local(number);
    v_ = k.Local(number), p_ = k.Local(number);
  }
  void Reduce() const {
    k_.Loop(n_ - 1, [&](Scalar i) {  // exact: n is positive
      tau.Store({i}, ReflectColumn(k_, m_, i + 1, k_.At(n_), i));
      const Scalar t = tau.Load({i});
      beside.Store({i}, RealPart(m_.Load(i + 1, i)));
      LoadReflector(i);
      k_.If(t != 0, [&] { Update(i, t); });
    });
    k_.Loop(n_, [&](Scalar i) { diagonal.Store({i}, RealPart(m_.Load(i, i))); });
    beside.Store({k_.At(n_ - 1)}, k_.Constant(RealOf(dtype_), 0));  // exact: n is positive
  }
  // m becomes the transpose of q. From the last reflector to the first, each changes the rows and columns after its
  // number, where nothing else is stored any more.
  void FormTransposedBasis() const {
    SetUnit(k_.At(n_ - 1));  // exact: n is positive
    k_.Loop(n_ - 1, [&](Scalar step) {
      const Scalar i = n_ - 2 - step;  // exact: n is positive
      const Scalar t = tau.Load({i});
      LoadReflector(i);
      k_.Loop(i + 1, k_.At(n_), [&](Scalar r) {
        const Scalar sum =
            k_.Reduce(RICCI_S_ADD, i + 1, k_.At(n_), [&](Scalar c) { return Conj(v_.Load({c})) * m_.Load(r, c); });
        const Scalar amount = t * sum;
        k_.Loop(i + 1, k_.At(n_), [&](Scalar c) { m_.Store(r, c, m_.Load(r, c) - amount * v_.Load({c})); });
      });
      SetUnit(i);
    });
  }

  KernelArray diagonal, beside, tau;  // lists of n; the last of beside is 0, the last of tau undefined

 private:
  void LoadReflector(Scalar i) const {
    v_.Store({i + 1}, k_.Constant(dtype_, 1));
    k_.Loop(i + 2, k_.At(n_), [&](Scalar r) { v_.Store({r}, m_.Load(r, i)); });
  }
  // The rest of m, from i + 1 on, becomes h^H m h: it loses v w^H + w v^H with w = p - tau / 2 (p^H v) v, p = tau m v.
  void Update(Scalar i, Scalar t) const {
    const auto each = [&](auto&& body) { k_.Loop(i + 1, k_.At(n_), body); };
    const auto sum = [&](auto&& element) { return k_.Reduce(RICCI_S_ADD, i + 1, k_.At(n_), element); };
    each([&](Scalar r) { p_.Store({r}, t * sum([&](Scalar c) { return m_.Load(r, c) * v_.Load({c}); })); });
    const Scalar dot = sum([&](Scalar r) { return Conj(p_.Load({r})) * v_.Load({r}); });
    const Scalar half = TimesReal(t * dot, Like(RealPart(t), -0.5));
    each([&](Scalar r) { p_.Store({r}, p_.Load({r}) + half * v_.Load({r})); });
    each([&](Scalar r) {
      const Scalar v = v_.Load({r}), w = p_.Load({r});
      each([&](Scalar c) { m_.Store(r, c, m_.Load(r, c) - v * Conj(p_.Load({c})) - w * Conj(v_.Load({c}))); });
    });
  }
  // Row and column i, from i on, become those of an identity.
  void SetUnit(Scalar i) const {
    k_.Loop(i, k_.At(n_), [&](Scalar j) {
      m_.Store(i, j, k_.Constant(dtype_, 0));
      m_.Store(j, i, k_.Constant(dtype_, 0));
    });
    m_.Store(i, i, k_.Constant(dtype_, 1));
  }

  KernelBuilder& k_;
  const int64_t n_;
  const KernelMatrix m_;
  const DType dtype_;
  KernelArray v_, p_;
};

}}}  // namespace ricci::v0::lax
#endif
