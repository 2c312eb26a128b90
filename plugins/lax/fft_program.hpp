// Discrete Fourier transforms of any length as programs over complex arrays.
//
// Transforms of n = r m elements are m transforms of r, a rotation of each element, and r transforms of m (Cooley and
// Tukey). Transforms of a prime number of elements are products with a matrix or, if they are many, convolutions, which
// are transforms of a power of 2 (Bluestein, "A linear filtering approach to the computation of discrete Fourier
// transform", 1970).
//
// Rotations come from two tables of about the root of n entries each, so that constants stay small: exp(a + b) is
// exp(a) exp(b), rounded three times.
#ifndef RICCI_LAX_FFT_PROGRAM_HPP_
#define RICCI_LAX_FFT_PROGRAM_HPP_
#include <complex>

#include "fft_scalars.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace fourier {

// The transform along the last dimension. The inverse is scaled by one over its length.
Value AlongLast(const Value& x, bool inverse);

inline constexpr int64_t kMatrix = 64;      // primes up to which a product with a matrix is faster
inline constexpr int64_t kOneTable = 4096;  // rotations that are one constant
inline constexpr int64_t kTableBits = 10;
using Complexes = std::vector<std::complex<double>>;

template <typename T>
inline Value ConstantOf(const Value& like, const Complexes& z, Dims shape) {
  std::vector<T> parts;
  parts.reserve(2 * z.size());
  for (const std::complex<double>& v : z) {
    parts.push_back(static_cast<T>(v.real()));
    parts.push_back(static_cast<T>(v.imag()));
  }
  Value out{like.builder};
  Check(ricci_builder_const(like.builder, like.type().WithShape(shape).id(), parts.data(), parts.size() * sizeof(T),
                            &out.id));
  return out;
}
inline Value Constant(const Value& like, const Complexes& z, Dims shape) {
  return like.type().dtype() == DType::kC64 ? ConstantOf<float>(like, z, shape) : ConstantOf<double>(like, z, shape);
}
inline std::complex<double> RotationOf(int64_t j, int64_t n, bool inverse) {
  const Rotation r = Rotation::Of(j, n, inverse);
  return {r.re, r.im};
}

inline Value SwapLast(const Value& x) {
  Shape order = rules::Range(x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return transpose(x, order);
}
// The shape of x with `last` in place of its last `dropped` dimensions.
inline Shape WithLast(const Value& x, size_t dropped, Dims last) {
  Shape shape(x.shape().begin(), x.shape().end() - static_cast<int64_t>(dropped));  // exact: at most its rank
  shape.insert(shape.end(), last.begin(), last.end());
  return shape;
}
// x times `z`, which has the last dimensions of x.
inline Value Times(const Value& x, const Value& z) {
  return mul(x, broadcast_in_dim(z, x.shape(), Dims(rules::Range(x.rank())).last(static_cast<size_t>(z.rank()))));
}
inline Value Small(const Value& x, bool inverse) {
  const int64_t length[] = {x.dim(x.rank() - 1)};
  return fft(x, inverse ? "IFFT" : "FFT", length);
}

// exp(-2 pi i j step / n) for each j in `index`: with step 1 below 2^kTableBits, else below n / step.
inline Value Looked(const Value& like, const Value& index, int64_t n, int64_t step, bool inverse) {
  const int64_t size = step == 1 ? int64_t{1} << kTableBits : (n - 1) / step + 1;
  Complexes table;
  for (int64_t j = 0; j < size; ++j) table.push_back(RotationOf(j * step, n, inverse));  // exact: at most 2 n
  Shape words(index.shape().begin(), index.shape().end());
  words.push_back(1);
  return gather(Constant(like, table, {&size, 1}), reshape(index, words), {{}, {0}, {0}, {}, {}}, Shape{1},
                "promise_in_bounds");
}
// exp(-2 pi i a b / n) for a < rows, b < columns, n = rows columns.
inline Value Rotations(const Value& like, int64_t rows, int64_t columns, bool inverse) {
  const Shape shape = {rows, columns};
  const int64_t n = rows * columns;  // exact: a dimension
  if (n <= kOneTable) {
    Complexes z;
    for (int64_t a = 0; a < rows; ++a) {
      for (int64_t b = 0; b < columns; ++b) z.push_back(RotationOf(a * b, n, inverse));  // exact: less than n
    }
    return Constant(like, z, shape);
  }
  const DType dtype = n <= int64_t{INT32_MAX} ? DType::kI32 : DType::kI64;
  const Value at = mul(iota(like.builder, dtype, shape, 0), iota(like.builder, dtype, shape, 1));
  const int64_t step = int64_t{1} << kTableBits;
  const Value low = bitwise_and(at, full(like.builder, shape, dtype, step - 1));
  const Value high = shift_right_logical(at, full(like.builder, shape, dtype, kTableBits));
  return mul(Looked(like, high, n, step, inverse), Looked(like, low, n, 1, inverse));
}

// ---- a prime number of elements ----
inline Value ByMatrix(const Value& x, int64_t n, bool inverse) {
  Complexes z;
  const double scale = inverse ? 1 / static_cast<double>(n) : 1;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t k = 0; k < n; ++k) z.push_back(scale * RotationOf(j * k, n, inverse));  // exact: below 64^2
  }
  return dot_general(x, Constant(x, z, Shape{n, n}), {{x.rank() - 1}, {0}, {}, {}});
}

// In place, of a power of 2.
inline void TransformHere(Complexes& z) {
  const size_t n = z.size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; (j & bit) != 0; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(z[i], z[j]);
  }
  for (size_t half = 1; half < n; half *= 2) {
    for (size_t k = 0; k < half; ++k) {
      const std::complex<double> w = RotationOf(static_cast<int64_t>(k), static_cast<int64_t>(2 * half), false);
      for (size_t i = k; i < n; i += 2 * half) {
        const std::complex<double> odd = w * z[i + half];
        z[i + half] = z[i] - odd;
        z[i] += odd;
      }
    }
  }
}

// X_k = c_k sum over j of (x_j c_j) conj(c_{k - j}) with c_j = exp(-pi i j^2 / n).
inline Value ByConvolution(const Value& x, int64_t n, bool inverse) {
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;  // exact: a dimension
  Complexes chirp, filter(static_cast<size_t>(m));
  for (int64_t j = 0; j < n; ++j) {
    const auto square = static_cast<int64_t>(static_cast<unsigned __int128>(j) * static_cast<uint64_t>(j) %
                                             static_cast<uint64_t>(2 * n));
    chirp.push_back(RotationOf(square, 2 * n, inverse));
    filter[static_cast<size_t>(j)] = std::conj(chirp.back());
    if (j > 0) filter[static_cast<size_t>(m - j)] = std::conj(chirp.back());
  }
  TransformHere(filter);
  const Value c = Constant(x, chirp, {&n, 1});
  Shape none(static_cast<size_t>(x.rank()), 0), high = none, limit = Shape(x.shape().begin(), x.shape().end());
  high.back() = m - n;
  const Value padded = pad(Times(x, c), full(x.builder, x.type().WithShape({}), 0), none, high, none);
  const Value product = Times(AlongLast(padded, false), Constant(x, filter, {&m, 1}));
  const Value y = Times(slice(AlongLast(product, true), none, limit), c);
  return inverse ? div(y, static_cast<double>(n)) : y;
}

// The largest divisor of n that registers hold, or else its smallest prime factor.
inline int64_t RadixOf(int64_t n) {
  for (int64_t r = kFftInRegisters; r > 1; --r) {
    if (n % r == 0) return r;
  }
  int64_t r = kFftInRegisters + 1;
  while (r * r <= n && n % r != 0) ++r;  // exact: at most a dimension
  return n % r == 0 ? r : n;
}

inline Value AlongLast(const Value& x, bool inverse) {
  const int64_t n = x.dim(x.rank() - 1), r = RadixOf(n), m = n / r;
  if (n <= kFftInRegisters) return Small(x, inverse);
  if (r == n) return n <= kMatrix ? ByMatrix(x, n, inverse) : ByConvolution(x, n, inverse);
  const Value columns = SwapLast(reshape(x, WithLast(x, 1, Shape{r, m})));  // [n2, n1]
  const Value y = Times(AlongLast(columns, inverse), Rotations(x, m, r, inverse));
  const Value z = AlongLast(SwapLast(y), inverse);  // [k1, k2]
  return reshape(SwapLast(z), x.shape());
}

}}}}  // namespace ricci::v0::lax::fourier
#endif
