// Householder reflectors h = 1 - tau v v^H with v[0] = 1, as LAPACK has them: signs, phases and zeros are its own.
//
// A vector that is a multiple of the first unit vector already, with a real first element, has tau = 0, so h = 1. Else
// h^H takes the vector to beta times the first unit vector, where beta is real, of the sign that its real part does not
// have, so that nothing cancels. Sums of squares are taken of numbers scaled by a power of two (larfg scales only when
// it must; products with powers of two are exact, so the results are the same).
#ifndef RICCI_LAX_HOUSEHOLDER_HPP_
#define RICCI_LAX_HOUSEHOLDER_HPP_
#include "matrix.hpp"
#include "scalar_parts.hpp"

namespace ricci { inline namespace v0 { namespace lax {

struct Reflector {
  Scalar beta;  // of the dtype of the vector
  Scalar tau;   // the same
  // What multiplies the vector after its first element, first the real `scale`, to give v after its first. The product
  // of both may overflow if the vector is tiny.
  Scalar scale, factor;
  Scalar Applied(Scalar x) const { return TimesReal(x, scale) * factor; }
};

// That of the vector with first element `alpha`. `largest`: the largest part of those after it, without its sign, or 0;
// squares(s): the sum of their squared magnitudes, each multiplied by s first.
template <typename Squares>
Reflector ReflectorOf(Scalar alpha, Scalar largest, Squares&& squares) {
  const PowerOfTwo scale = ScaleFor(Max(largest, LargerPart(alpha)));
  const Scalar first = TimesReal(alpha, scale.value), re = RealPart(first);
  const Scalar norm = SquareRoot(SquaredMagnitude(first) + squares(scale.value));
  const Scalar beta = Select(HasMinus(re), norm, -norm);
  Scalar is_done = largest == 0, tau = (beta - re) / beta;
  if (IsComplex(alpha)) {
    is_done = is_done & (Imag(alpha) == 0);
    tau = Complex(tau, -Imag(first) / beta);
  }
  const Scalar one = AsKind(alpha, Like(re, 1)), factor = one / (first - AsKind(alpha, beta));
  const Scalar zero = AsKind(alpha, Like(re, 0));
  return {Select(is_done, alpha, AsKind(alpha, beta * scale.inverse)), Select(is_done, zero, tau), scale.value,
          Select(is_done, one, factor)};
}

// ---- with scalar values only ----
// The reflector of `x`, which becomes beta and v[1], v[2], ...; gives tau.
inline Scalar ReflectInPlace(std::span<Scalar> x) {
  Scalar largest = Like(RealPart(x[0]), 0);
  for (size_t i = 1; i < x.size(); ++i) largest = Max(largest, LargerPart(x[i]));
  const Reflector h = ReflectorOf(x[0], largest, [&](Scalar s) {
    Scalar sum = Like(s, 0);
    for (size_t i = 1; i < x.size(); ++i) sum = sum + SquaredMagnitude(TimesReal(x[i], s));
    return sum;
  });
  x[0] = h.beta;
  for (size_t i = 1; i < x.size(); ++i) x[i] = h.Applied(x[i]);
  return h.tau;
}
// x = (1 - tau v v^H) x; v[0] is not read.
inline void ApplyReflector(Scalar tau, std::span<const Scalar> v, std::span<Scalar> x) {
  Scalar sum = x[0];
  for (size_t i = 1; i < x.size(); ++i) sum = sum + Conj(v[i]) * x[i];
  const Scalar amount = tau * sum;
  x[0] = x[0] - amount;
  for (size_t i = 1; i < x.size(); ++i) x[i] = x[i] - v[i] * amount;
}

// ---- in an array: v is column `column` of `a` from row `row` on, where the first element, not read, is at `row` ----
// The reflector of that column, down to row `rows`, stored in its place; gives tau.
inline Scalar ReflectColumn(KernelBuilder& k, const KernelMatrix& a, Scalar row, Scalar rows, Scalar column) {
  const Scalar alpha = a.Load(row, column);
  const Scalar largest = k.Reduce(RICCI_S_MAX, row + 1, rows, [&](Scalar i) { return LargerPart(a.Load(i, column)); });
  const Reflector h = ReflectorOf(alpha, Max(largest, Like(largest, 0)), [&](Scalar s) {
    return k.Reduce(RICCI_S_ADD, row + 1, rows,
                    [&](Scalar i) { return SquaredMagnitude(TimesReal(a.Load(i, column), s)); });
  });
  a.Store(row, column, h.beta);
  k.Loop(row + 1, rows, [&](Scalar i) { a.Store(i, column, h.Applied(a.Load(i, column))); });
  return h.tau;
}
// A range of the columns of a matrix.
struct Columns {
  Scalar first, end;
};
// Rows [row, rows) of `columns` of x become (1 - tau v v^H) times themselves. `sums` is an array of an element for each
// column of x. Inner loops run along rows, whose elements are adjacent.
inline void ApplyToColumns(KernelBuilder& k, Scalar tau, const KernelMatrix& a, Scalar row, Scalar rows, Scalar column,
                           const KernelMatrix& x, Columns columns, KernelArray sums) {
  const auto each = [&](auto&& body) { k.Loop(columns.first, columns.end, body); };
  each([&](Scalar j) { sums.Store({j}, x.Load(row, j)); });
  k.Loop(row + 1, rows, [&](Scalar i) {
    const Scalar v = Conj(a.Load(i, column));
    each([&](Scalar j) { sums.Store({j}, sums.Load({j}) + v * x.Load(i, j)); });
  });
  each([&](Scalar j) {
    const Scalar amount = tau * sums.Load({j});
    sums.Store({j}, amount);
    x.Store(row, j, x.Load(row, j) - amount);
  });
  k.Loop(row + 1, rows, [&](Scalar i) {
    const Scalar v = a.Load(i, column);
    each([&](Scalar j) { x.Store(i, j, x.Load(i, j) - v * sums.Load({j})); });
  });
}

}}}  // namespace ricci::v0::lax
#endif
