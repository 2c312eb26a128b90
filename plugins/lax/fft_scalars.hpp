// Discrete Fourier transforms of few elements in registers: straight-line code over the parts of complex numbers.
#ifndef RICCI_LAX_FFT_SCALARS_HPP_
#define RICCI_LAX_FFT_SCALARS_HPP_
#include <cmath>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline constexpr int64_t kFftInRegisters = 16;  // at most so many elements

// exp(-2 pi i j / n), or its conjugate for the inverse; exact at multiples of a quarter turn.
struct Rotation {
  double re, im;
  static Rotation Of(int64_t j, int64_t n, bool inverse) {
    j = (j % n + n) % n;
    constexpr double kTurn = 6.283185307179586476925;
    Rotation r{};
    if (4 * j % n == 0) {
      constexpr Rotation kQuarters[] = {{1, 0}, {0, -1}, {-1, 0}, {0, 1}};
      r = kQuarters[4 * j / n];
    } else {
      // From the nearest quarter, where sine and cosine of small angles are as exact as they can be.
      const int64_t quarter = (4 * j + n / 2) / n, rest = 4 * j - quarter * n;  // exact: sizes of arrays
      const double angle = kTurn * static_cast<double>(rest) / (4 * static_cast<double>(n));
      const Rotation at[] = {{std::cos(angle), -std::sin(angle)},
                             {-std::sin(angle), -std::cos(angle)},
                             {-std::cos(angle), std::sin(angle)},
                             {std::sin(angle), std::cos(angle)}};
      r = at[quarter % 4];
    }
    if (inverse) r.im = -r.im;
    return r;
  }
};

struct ScalarPair {
  Scalar re, im;
};
inline ScalarPair operator+(const ScalarPair& a, const ScalarPair& b) { return {a.re + b.re, a.im + b.im}; }
inline ScalarPair operator-(const ScalarPair& a, const ScalarPair& b) { return {a.re - b.re, a.im - b.im}; }
inline ScalarPair operator*(const ScalarPair& a, double b) { return {a.re * b, a.im * b}; }
inline ScalarPair Rotated(const ScalarPair& a, const Rotation& r) {
  if (r.im == 0) return r.re == 1 ? a : ScalarPair{-a.re, -a.im};
  if (r.re == 0) return r.im == 1 ? ScalarPair{-a.im, a.re} : ScalarPair{a.im, -a.re};
  return {a.re * r.re - a.im * r.im, a.re * r.im + a.im * r.re};
}

using Pairs = std::vector<ScalarPair>;

// Of an odd prime number of elements: those that lie symmetrically share their products.
inline Pairs OddTransform(const Pairs& x, bool inverse) {
  const size_t n = x.size(), half = n / 2;
  Pairs y(n), sums, differences;
  ScalarPair total = x[0];
  for (size_t j = 1; j <= half; ++j) {
    sums.push_back(x[j] + x[n - j]);
    differences.push_back(x[j] - x[n - j]);
    total = total + sums.back();
  }
  y[0] = total;
  for (size_t k = 1; k <= half; ++k) {
    ScalarPair even = x[0], odd{};
    for (size_t j = 1; j <= half; ++j) {
      const Rotation r = Rotation::Of(static_cast<int64_t>(j * k), static_cast<int64_t>(n), inverse);
      even = even + sums[j - 1] * r.re;
      const ScalarPair term = differences[j - 1] * r.im;
      odd = j == 1 ? term : odd + term;
    }
    const ScalarPair turned = {-odd.im, odd.re};
    y[k] = even + turned;
    y[n - k] = even - turned;
  }
  return y;
}

// Cooley and Tukey, "An algorithm for the machine calculation of complex Fourier series", 1965.
inline Pairs Transform(const Pairs& x, bool inverse) {
  const size_t n = x.size();
  if (n == 1) return x;
  if (n == 2) return {x[0] + x[1], x[0] - x[1]};
  size_t r = 2;
  while (n % r != 0) ++r;
  if (r == n) return OddTransform(x, inverse);
  if (n % 4 == 0 && n > 4) r = 4;
  const size_t m = n / r;
  std::vector<Pairs> rows(r, Pairs(m));  // [k1][n2]
  for (size_t n2 = 0; n2 < m; ++n2) {
    Pairs column;
    for (size_t n1 = 0; n1 < r; ++n1) column.push_back(x[n1 * m + n2]);
    const Pairs y = Transform(column, inverse);
    for (size_t k1 = 0; k1 < r; ++k1) {
      rows[k1][n2] = Rotated(y[k1], Rotation::Of(static_cast<int64_t>(n2 * k1), static_cast<int64_t>(n), inverse));
    }
  }
  Pairs out(n);
  for (size_t k1 = 0; k1 < r; ++k1) {
    const Pairs y = Transform(rows[k1], inverse);
    for (size_t k2 = 0; k2 < m; ++k2) out[k1 + r * k2] = y[k2];
  }
  return out;
}

}}}  // namespace ricci::v0::lax
#endif
