// What the kernels of eigenvalues and singular values share: state, plane rotations, and the phases of vectors.
//
// Vectors are kept as the rows of an array while a kernel works, because rotations then run along adjacent elements.
// A vector is determined up to its sign, or phase. We choose it by a rule that small changes of the matrix, and another
// order of rounding, leave alone: so all targets give the same vectors, and derivatives agree with differences.
#ifndef RICCI_LAX_EIGEN_KERNEL_HPP_
#define RICCI_LAX_EIGEN_KERNEL_HPP_
#include <limits>

#include "matrix.hpp"
#include "scalar_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// A number that changes.
class Variable {
 public:
  Variable(const KernelBuilder& k, const Eqn& e, Scalar first) : at_(k.Local(e.Type(first.dtype(), {}))) { Set(first); }
  Scalar Get() const { return at_.Load({}); }
  void Set(Scalar v) const { at_.Store({}, v); }

 private:
  KernelArray at_;
};

inline Scalar IsFinite(Scalar r) { return Apply(RICCI_S_IS_FINITE, {r}); }
// `v` where `good` holds, else NaN.
inline Scalar OrNaN(Scalar good, Scalar v) {
  const Scalar nan = Like(RealPart(v), std::numeric_limits<double>::quiet_NaN());
  return Select(good, v, IsComplex(v) ? Complex(nan, nan) : nan);
}
inline Scalar Epsilon(Scalar like) { return Like(RealPart(like), InfoOf(RealOf(like.dtype())).epsilon); }
inline Scalar WithSign(Scalar magnitude, Scalar sign) { return Select(sign < 0, -magnitude, magnitude); }

// sqrt(a^2 + b^2), whose squares neither overflow nor vanish.
inline Scalar Hypotenuse(Scalar a, Scalar b) {
  const Scalar x = Magnitude(a), y = Magnitude(b), large = Max(x, y), ratio = Min(x, y) / large;
  return Select(large == 0, large, large * SquareRoot(ratio * ratio + 1));
}

// The largest part of the elements of a matrix, NaN if one is.
template <typename Element>
Scalar LargestPart(const KernelBuilder& k, int64_t rows, int64_t columns, Element&& element) {
  const Shape box = {rows, columns};
  return k.ReduceBox(RICCI_S_MAX, box, [&](const Index& at) { return LargerPart(element(at[0], at[1])); });
}

inline Scalar Product(Scalar a, Scalar z) { return IsComplex(a) ? a * z : TimesReal(z, a); }

// Rows i and j of n elements of x become c x_i + s x_j and c x_j - conj(s) x_i, with a real c; s may be real too.
inline void RotateRows(const KernelBuilder& k, const KernelMatrix& x, int64_t n, Scalar i, Scalar j, Scalar c,
                       Scalar s) {
  const Shape row = {n};
  const Scalar back = Conj(s);
  k.Parallel(row, [&](const Index& at) {
    const Scalar a = x.Load(i, at[0]), b = x.Load(j, at[0]);
    x.Store(i, at[0], TimesReal(a, c) + Product(s, b));
    x.Store(j, at[0], TimesReal(b, c) - Product(back, a));
  });
}
inline void SwapRows(const KernelBuilder& k, const KernelMatrix& x, int64_t n, Scalar i, Scalar j) {
  const Shape row = {n};
  k.Parallel(row, [&](const Index& at) {
    const Scalar a = x.Load(i, at[0]), b = x.Load(j, at[0]);
    x.Store(i, at[0], b);
    x.Store(j, at[0], a);
  });
}
inline void SetIdentity(const KernelBuilder& k, const KernelMatrix& x, int64_t n, DType dtype) {
  k.ParallelMatrix(
      n, n, [&](Scalar i, Scalar j) { x.Store(i, j, Select(i == j, k.Constant(dtype, 1), k.Constant(dtype, 0))); });
}

// Rows [0, n) of x, with their numbers, are put in the order of the numbers: ascending, or descending.
inline void SortRows(const KernelBuilder& k, int64_t n, bool ascending, const KernelArray& numbers, auto&& swap) {
  const uint32_t best = ascending ? RICCI_S_MIN : RICCI_S_MAX;
  k.Loop(n, [&](Scalar i) {
    const Scalar wanted = k.Reduce(best, i, k.At(n), [&](Scalar j) { return numbers.Load({j}); });
    const Scalar found =
        k.Reduce(RICCI_S_MIN, i, k.At(n), [&](Scalar j) { return Select(numbers.Load({j}) == wanted, j, k.At(n)); });
    k.If((found < n) & (found != i), [&] {
      numbers.Store({found}, numbers.Load({i}));
      numbers.Store({i}, wanted);
      swap(i, found);
    });
  });
}

// The number of magnitude 1 that makes the first large element of row i of x real and positive. `Large`: at least 0.3
// of the largest, so that elements of equal magnitude, which symmetry often makes, need no tie-break.
inline Scalar PhaseOfRow(const KernelBuilder& k, const KernelMatrix& x, int64_t n, Scalar i) {
  const auto size = [&](Scalar j) { return SquaredMagnitude(x.Load(i, j)); };
  const Scalar largest = k.Reduce(RICCI_S_MAX, n, size);
  const Scalar first = k.Reduce(RICCI_S_MIN, n, [&](Scalar j) {
    return Select(size(j) >= largest * 0.09, j, k.At(n - 1));  // exact: n is positive
  });
  const Scalar z = x.Load(i, first);
  if (!IsComplex(z)) return Select(z < 0, Like(z, -1), Like(z, 1));
  const Scalar length = Hypotenuse(Real(z), Imag(z)), is_zero = length == 0;
  const Scalar divisor = Select(is_zero, Like(length, 1), length);
  return Complex(Select(is_zero, divisor, Real(z) / divisor), -Imag(z) / divisor);
}

}}}  // namespace ricci::v0::lax
#endif
