// The named matrices of jax.scipy.linalg: of a size alone (hadamard, helmert, pascal, ...) and of vectors (leslie,
// ...).
//
// Those of a size are computed here in f64 and rounded once: the elements of the inverses are products of large
// binomial coefficients, from which JAX, with logarithms in f32, loses digits.
#include <bit>
#include <cmath>

#include "host/core/plain_math.h"
#include "ricci/derivatives.hpp"
#include "ricci/products.hpp"
#include "ricci/scipy_linalg.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace linalg {

using namespace plain;

namespace {

// ---- of a size alone ----

template <typename F>
Value MatrixOf(std::string_view name, const Operand& in, int64_t rows, int64_t columns, DType dtype, const F& element) {
  std::vector<double> data;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) data.push_back(element(i, j));
  }
  const Context ctx(SiteOf(name, {&in, 1}).context());
  const Array matrix(ctx, std::span<const double>(data), Shape{rows, columns});
  const Operand both[] = {in, Operand(matrix, in.at)};
  return To(SiteOf(name, both).Lift(both[1], DType::kF64), dtype);
}
void WantSize(std::string_view name, const Operand& in, int64_t n) {
  if (n < 1) FailAt(in.at, name, ": n is ", n, "; it must be at least 1");
}
double Sign(int64_t power) { return power % 2 == 0 ? 1 : -1; }
// n over k; 0 outside of 0 <= k <= n.
double Binomial(int64_t n, int64_t k) {
  if (k < 0 || k > n) return 0;
  double out = 1;
  for (int64_t i = 1; i <= std::min(k, n - k); ++i) out = out * static_cast<double>(n - i + 1) / static_cast<double>(i);
  return std::round(out);
}
// The matrix of kind `lower`, its transpose, or `symmetric`: the product of the two that `product` forms.
template <typename Product>
Value OfKind(std::string_view name, const Operand& in, const Value& lower, std::string_view kind,
             const Product& product) {
  if (kind == "lower") return To(lower, kDefaultFloat);
  const Value upper = lax::transpose(lower, Shape{1, 0});
  if (kind == "upper") return To(upper, kDefaultFloat);
  if (kind != "symmetric") FailAt(in.at, name, ": kind is ", kind, "; it must be symmetric, lower or upper");
  return To(product(Operand(lower, in.at), Operand(upper, in.at)), kDefaultFloat);
}

}  // namespace

Value hadamard(const Operand& in, int64_t n, DType dtype) {
  if (n < 1 || !std::has_single_bit(static_cast<uint64_t>(n))) {
    FailAt(in.at, "hadamard: n is ", n, "; it must be a power of 2");
  }
  return MatrixOf("hadamard", in, n, n, dtype,
                  [](int64_t i, int64_t j) { return Sign(std::popcount(static_cast<uint64_t>(i & j))); });
}
Value helmert(const Operand& in, int64_t n, bool full) {
  WantSize("helmert", in, n);
  return MatrixOf("helmert", in, full ? n : n - 1, n, kDefaultFloat, [&](int64_t row, int64_t j) {
    const auto k = static_cast<double>(full ? row : row + 1);
    if (k == 0) return 1 / std::sqrt(static_cast<double>(n));
    if (static_cast<double>(j) > k) return 0.0;
    return (static_cast<double>(j) < k ? 1 : -k) / std::sqrt(k * (k + 1));
  });
}
Value invhilbert(const Operand& in, int64_t n) {
  WantSize("invhilbert", in, n);
  return MatrixOf("invhilbert", in, n, n, kDefaultFloat, [&](int64_t i, int64_t j) {
    const double middle = Binomial(i + j, i), sign = Sign(i + j) * static_cast<double>(i + j + 1);
    return sign * Binomial(n + i, n - j - 1) * Binomial(n + j, n - i - 1) * middle * middle;
  });
}
Value pascal(const Operand& in, int64_t n, std::string_view kind) {
  WantSize("pascal", in, n);
  const Value lower = MatrixOf("pascal", in, n, n, DType::kF64, Binomial);
  return OfKind("pascal", in, lower, kind, [](const Operand& l, const Operand& u) { return matmul(l, u); });
}
Value invpascal(const Operand& in, int64_t n, std::string_view kind) {
  WantSize("invpascal", in, n);
  const Value lower =
      MatrixOf("invpascal", in, n, n, DType::kF64, [](int64_t i, int64_t j) { return Sign(i + j) * Binomial(i, j); });
  return OfKind("invpascal", in, lower, kind, [](const Operand& l, const Operand& u) { return matmul(u, l); });
}

// ---- of vectors ----

Value fiedler(const Operand& a) {
  const Value v = Use("fiedler", a);
  const Value row = v.rank() == 0 ? lax::expand_dims(v, Shape{0}) : v;
  const int64_t last = row.rank() - 1;
  return lax::abs(lax::expand_dims(row, Shape{last + 1}) - lax::expand_dims(row, Shape{last}));
}
Value leslie(const Operand& f, const Operand& s) {
  const Operand both[] = {f, s};
  const Values v = UseList("leslie", both);
  const int64_t last = v[0].rank() - 1, n = last < 0 ? 1 : v[0].dim(last);
  if (n < 2 || v[1].rank() != v[0].rank() || v[1].dim(last) != n - 1) {
    FailAt(f.at, "leslie: operands are ", v[0].type(), " and ", v[1].type(),
           "; they need vectors of n and n - 1 elements, n at least 2");
  }
  const Value zero = lax::zeros_like(Cut(v[0], 0, 1, last)), below = Join({v[1], zero}, last);
  const Value births = lax::expand_dims(v[0], Shape{last}), ages = lax::expand_dims(below, Shape{last});
  const Value all = births + lax::zeros_like(lax::expand_dims(v[0], Shape{last + 1}));
  const Value i = Positions(all, DType::kI32, last), j = Positions(all, DType::kI32, last + 1);
  return Where(i == 0, all, Where(i == j + 1, ages, 0));
}
// The band matrix of M. Fiedler, "A note on companion matrices", 2003: the coefficients alternate between the diagonals
// beside the main one, and ones are two steps away from it.
Value fiedler_companion(const Operand& a) {
  const Value v = UseInexact("fiedler_companion", a);
  const int64_t last = v.rank() - 1, n = last < 0 ? 0 : v.dim(last) - 1;
  if (n < 1) FailAt(a.at, "fiedler_companion: operand is ", v.type(), "; its last dimension must be at least 2");
  const Value monic = -(Cut(v, 1, n + 1, last) / Cut(v, 0, 1, last)), zero = lax::zeros_like(Cut(monic, 0, 1, last));
  const Value own = lax::expand_dims(monic, Shape{last + 1});  // -a[i + 1] in row i
  const Value next = lax::expand_dims(Join({Cut(monic, 1, n, last), zero}, last), Shape{last + 1});
  Shape shape = ShapeOfValue(own);
  shape.back() = n;
  const Value zeros = BroadcastValue(Scalar(v, 0), shape);
  const Value i = Positions(zeros, DType::kI32, last), j = Positions(zeros, DType::kI32, last + 1);
  const Value even = lax::rem(i, Num(i, 2)) == 0;
  const Value one = (even & (j == i + 2)) | (~even & (j == i - 2)) | ((i == 1) & (j == 0));
  const Value left = (even & (j == i - 1)) | ((i == 0) & (j == 0)), right = even & (j == i + 1);
  return Where(one, 1, Where(left, own, Where(right, next, zeros)));
}
Value convolution_matrix(const Operand& a, int64_t n, std::string_view mode) {
  const Value v = Use("convolution_matrix", a);
  WantSize("convolution_matrix", a, n);
  const int64_t last = v.rank() - 1, m = last < 0 ? 0 : v.dim(last);
  if (m < 1) FailAt(a.at, "convolution_matrix: operand is ", v.type(), "; it needs a vector with elements");
  if (mode != "full" && mode != "same" && mode != "valid") {
    FailAt(a.at, "convolution_matrix: mode is ", mode, "; it must be full, same or valid");
  }
  const int64_t spare = mode == "full" ? 0 : std::min(n, m) - 1, top = mode == "same" ? spare / 2 : spare;
  const int64_t bottom = mode == "same" ? spare - top : spare;
  // Row i of the full matrix holds a reversed, with a[0] in column i.
  Shape low(static_cast<size_t>(v.rank()), 0), high = low;
  low.back() = high.back() = n - 1;
  const Value padded = lax::pad(lax::rev(v, {&last, 1}), Scalar(v, 0), low, high, Shape(low.size(), 0));
  const Value column = lax::rev(Cut(padded, bottom, m + n - 1 - top, last), {&last, 1});
  const int64_t first = m + n - 2 - top;
  return toeplitz(Operand(column, a.at), Operand(Cut(padded, first, first + n, last), a.at));
}

// ---- a function of a matrix and its derivative ----
ExpmFrechetResult expm_frechet(const Operand& a, const Operand& e) {
  const Operand both[] = {a, e};
  const CallSite site = SiteOf("expm_frechet", both);
  const Values v = UseList("expm_frechet", both);
  if (v[0].type() != v[1].type()) {
    site.Fail("operands are ", v[0].type(), " and ", v[1].type(), "; they need one shape");
  }
  const Location at = a.at;
  const auto [value, slope] =
      jvp([&](const Value& x) { return expm(Operand(x, at)); }, std::tuple(v[0]), std::tuple(v[1]), at);
  return {value, slope};
}

}}}}  // namespace ricci::v0::scipy::linalg
