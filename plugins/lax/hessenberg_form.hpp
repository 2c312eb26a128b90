// Householder's reduction of a square matrix to Hessenberg form, as LAPACK's gehd2 has it.
#ifndef RICCI_LAX_HESSENBERG_FORM_HPP_
#define RICCI_LAX_HESSENBERG_FORM_HPP_
#include "eigen_kernel.hpp"
#include "householder.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// m becomes q^H m q, zero below its first subdiagonal. There column i has the vector of reflector i of q = h_0 h_1 ...,
// whose first element, which is 1, is at row i + 1.
class HessenbergForm {
 public:
  HessenbergForm(KernelBuilder& k, const Eqn& e, int64_t n, const KernelMatrix& m)
      : k_(k), n_(n), m_(m), dtype_(e.in(0).dtype()) {
    const ArrayType list = e.Type(dtype_, Shape{n});
    tau = k.Local(list), v_ = k.Local(list), sums_ = k.Local(list);
  }
  void Reduce() const {
    k_.Loop(n_ - 1, [&](Scalar i) {  // exact: n is positive
      const Scalar t = ReflectColumn(k_, m_, i + 1, k_.At(n_), i);
      tau.Store({i}, t);
      LoadReflector(i);
      ApplyToRows(m_, k_.At(0), i, t, /*conjugated=*/true);
      ApplyToColumns(k_, Conj(t), m_, i + 1, k_.At(n_), i, m_, {i + 1, k_.At(n_)}, sums_);
    });
  }
  // z becomes the transpose of q.
  void FormTransposedBasis(const KernelMatrix& z) const {
    SetIdentity(k_, z, n_, dtype_);
    k_.Loop(n_ - 1, [&](Scalar step) {  // exact: n is positive
      const Scalar i = n_ - 2 - step;   // exact: n is positive
      LoadReflector(i);
      ApplyToRows(z, i + 1, i, tau.Load({i}), /*conjugated=*/false);
    });
  }
  // Below the first subdiagonal the reflectors are replaced by what they stand for.
  void ClearReflectors() const {
    k_.ParallelMatrix(n_, n_, [&](Scalar i, Scalar j) {
      const Scalar v = m_.Load(i, j);
      m_.Store(i, j, Select(i > j + 1, Like(v, 0), v));
    });
  }

  KernelArray tau;  // n numbers, the last undefined

 private:
  void LoadReflector(Scalar i) const {
    v_.Store({i + 1}, k_.Constant(dtype_, 1));
    k_.Loop(i + 2, k_.At(n_), [&](Scalar r) { v_.Store({r}, m_.Load(r, i)); });
  }
  // Each row x of `of`, from `first` on, becomes x (1 - tau v v^H), or x (1 - tau conj(v) v^T).
  void ApplyToRows(const KernelMatrix& of, Scalar first, Scalar i, Scalar t, bool conjugated) const {
    const auto left = [&](Scalar c) { return conjugated ? v_.Load({c}) : Conj(v_.Load({c})); };
    const auto right = [&](Scalar c) { return conjugated ? Conj(v_.Load({c})) : v_.Load({c}); };
    k_.Loop(first, k_.At(n_), [&](Scalar r) {
      const Scalar amount =
          t * k_.Reduce(RICCI_S_ADD, i + 1, k_.At(n_), [&](Scalar c) { return of.Load(r, c) * left(c); });
      k_.Loop(i + 1, k_.At(n_), [&](Scalar c) { of.Store(r, c, of.Load(r, c) - amount * right(c)); });
    });
  }

  KernelBuilder& k_;
  const int64_t n_;
  const KernelMatrix m_;
  const DType dtype_;
  KernelArray v_, sums_;
};

}}}  // namespace ricci::v0::lax
#endif
