// Discrete Fourier transforms of any length as programs over complex arrays.
//
// A transform of n = r m elements is m transforms of r, a rotation of each element, and r transforms of m (Cooley and
// Tukey). What the first ones give moves behind the rest, so that the results are in order at the end and the points of
// all but the first passes are adjacent in memory (Stockham, "High-speed convolution and correlation", 1966).
// Transforms of a prime number of elements are products with a matrix or, if they are many, convolutions, which are
// transforms of a power of 2 (Bluestein, "A linear filtering approach to the computation of discrete Fourier
// transform", 1970).
//
// Rotations come from tables of at most kOneTable entries, so that constants stay small: exp(a + b) is exp(a) exp(b),
// rounded three times.
//
// Passes have up to 16 elements, in registers; long transforms go in two halves that fit into the caches. One of a
// million c64 takes a quarter of the time that passes with strided lanes took.
#ifndef RICCI_LAX_FFT_PROGRAM_HPP_
#define RICCI_LAX_FFT_PROGRAM_HPP_
#include <algorithm>
#include <complex>
#include <functional>
#include <numeric>

#include "fft_scalars.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace fourier {

// The transform along dimension `dim`. The inverse is scaled by one over its length.
Value Along(const Value& x, int64_t dim, bool inverse);

inline constexpr int64_t kMatrix = 64;      // primes up to which a product with a matrix is faster
inline constexpr int64_t kOneTable = 4096;  // rotations that are one constant
inline constexpr int64_t kLanes = 16;       // points of a long transform that are next to each other in memory
inline constexpr int64_t kLong = 1 << 15;   // transforms that do not fit into the nearer caches
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
// As an operation of its own: code in registers, what a backend has for it, or again a program.
inline Value Alone(const Value& x, int64_t dim, bool inverse) {
  const int64_t length[] = {x.dim(dim)};
  return fft(x, inverse ? "IFFT" : "FFT", length, x.rank() - 1 - dim);  // exact: a rank
}

// exp(-2 pi i a b step / n) for a < rows, b < columns, which have step rows columns <= 2 n.
inline Value Rotations(const Value& like, int64_t n, int64_t rows, int64_t columns, int64_t step, bool inverse) {
  const Shape shape = {rows, columns};
  if (rows * columns <= kOneTable) {  // exact: about the dimension n, here and below
    Complexes z;
    for (int64_t a = 0; a < rows; ++a) {
      for (int64_t b = 0; b < columns; ++b) z.push_back(RotationOf(a * b * step, n, inverse));
    }
    return Constant(like, z, shape);
  }
  if (rows > columns) return transpose(Rotations(like, n, columns, rows, step, inverse), Shape{1, 0});
  int64_t low = 1;
  while (low * low < columns) low *= 2;
  const int64_t high = (columns - 1) / low + 1, both[] = {rows, high, low}, of_low[] = {0, 2};
  const Value far = broadcast_in_dim(Rotations(like, n, rows, high, step * low, inverse), both, Shape{0, 1});
  const Value near = broadcast_in_dim(Rotations(like, n, rows, low, step, inverse), both, of_low);
  return slice(reshape(mul(far, near), Shape{rows, high * low}), Shape{0, 0}, shape);
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
  const Value zero = full(x.builder, x.type().WithShape({}), 0), padded = pad(Times(x, c), zero, none, high, none);
  const int64_t last = x.rank() - 1;
  const Value spectrum = Constant(x, filter, {&m, 1}), product = Times(Alone(padded, last, false), spectrum);
  const Value y = Times(slice(Alone(product, last, true), none, limit), c);
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

inline Value OfPrime(const Value& x, int64_t dim, bool inverse) {
  const int64_t n = x.dim(dim), last = x.rank() - 1;
  const Value in = rules::MoveDim(x, dim, last);
  return rules::MoveDim(n <= kMatrix ? ByMatrix(in, n, inverse) : ByConvolution(in, n, inverse), last, dim);
}

// The dimensions of x from `dim` on replaced by `sizes` and, if there are any, those after it, as one or as they are.
inline Value Reshaped(const Value& x, int64_t dim, Shape sizes, bool as_one) {
  const Dims after = x.shape().subspan(static_cast<size_t>(dim) + 1);
  if (as_one && !after.empty()) {
    sizes.push_back(std::accumulate(after.begin(), after.end(), int64_t{1}, std::multiplies<>()));  // exact: of x
  } else {
    sizes.insert(sizes.end(), after.begin(), after.end());
  }
  return reshape(x, WithLast(x, after.size() + 1, sizes));
}

// The dimensions after `dim` stay apart while their order in memory is another one, so that indices stay linear.
// The result has the elements of a transform, in order, in another shape.
inline Value ByPasses(const Value& x, int64_t dim, bool inverse) {
  const int64_t n = x.dim(dim), r = RadixOf(n), m = n / r;
  if (n <= kFftInRegisters) return Alone(x, dim, inverse);
  if (r == n) return OfPrime(x, dim, inverse);
  const Value first = Alone(Reshaped(x, dim, {r, m}, false), dim, inverse);
  const Value flat = Reshaped(first, dim + 1, {m}, true);
  const int64_t rotated[] = {dim, dim + 1};  // exact: a rank
  const Value y = mul(flat, broadcast_in_dim(Rotations(x, n, r, m, 1, inverse), flat.shape(), rotated));
  return ByPasses(rules::MoveDim(y, dim, dim + 1), dim, inverse);
}

// A divisor of n near its root that leaves multiples of kLanes on both sides; 0: there is none.
inline int64_t HalfOf(int64_t n) {
  int64_t best = 0;
  for (int64_t d = kLanes; d * d <= n; d += kLanes) {  // exact: at most a dimension
    if (n % d == 0 && n / d % kLanes == 0) best = d;
  }
  return best;
}

// A long transform along the last dimension as two of about the root of its length, kLanes of them at a time, which fit
// into the nearer caches (Bailey, "FFTs in external or hierarchical memory", 1990).
inline Value InHalves(const Value& x, int64_t columns, bool inverse) {
  const int64_t dim = x.rank() - 1, n = x.dim(dim), rows = n / columns,
                blocks = columns / kLanes;  // exact: a dimension
  const Value in = rules::MoveDim(reshape(x, WithLast(x, 1, Shape{rows, blocks, kLanes})), dim, dim + 1);
  const Value first = reshape(ByPasses(in, dim + 1, inverse), in.shape());  // [block, row, lane]
  const Value turns = reshape(Rotations(x, n, rows, columns, 1, inverse), Shape{rows, blocks, kLanes});
  const int64_t last[] = {dim, dim + 1, dim + 2};
  const Value turned = mul(first, broadcast_in_dim(transpose(turns, Shape{1, 0, 2}), first.shape(), last));
  const Value apart = reshape(turned, WithLast(x, 1, Shape{blocks, rows / kLanes, kLanes, kLanes}));
  const Value lanes_last = rules::MoveDim(rules::MoveDim(apart, dim + 2, dim + 3), dim + 1, dim);  // [row, block, ., .]
  const Value last_in = reshape(lanes_last, WithLast(x, 1, Shape{rows / kLanes, columns, kLanes}));
  const Value second = reshape(ByPasses(last_in, dim + 1, inverse), last_in.shape());
  return reshape(rules::MoveDim(second, dim + 1, dim), x.shape());
}

inline Value Along(const Value& x, int64_t dim, bool inverse) {
  const Dims shape = x.shape();
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return x;
  const int64_t half = dim + 1 == x.rank() && shape.back() >= kLong ? HalfOf(shape.back()) : 0;
  return half != 0 ? InHalves(x, half, inverse) : reshape(ByPasses(x, dim, inverse), shape);
}

}}}}  // namespace ricci::v0::lax::fourier
#endif
