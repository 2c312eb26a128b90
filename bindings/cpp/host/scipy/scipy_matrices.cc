// Matrices made of vectors, and functions of matrices, of jax.scipy.linalg.
#include <cmath>

#include "host/linalg/matrix_steps.h"
#include "ricci/branches.hpp"
#include "ricci/joining.hpp"
#include "ricci/loops.hpp"
#include "ricci/products.hpp"
#include "ricci/scipy_linalg.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace linalg {

using namespace plain;

// ---- matrices made of vectors ----
Value block_diag(std::initializer_list<Operand> arrays) {
  return block_diag(std::span<const Operand>(arrays.begin(), arrays.size()));
}
Value block_diag(std::span<const Operand> arrays) {
  if (arrays.empty()) Fail("block_diag: there are no arrays");
  Values blocks = UseList("block_diag", arrays);
  ricci_exact width = Exact(0);
  for (Value& b : blocks) {
    if (b.rank() > 2) FailAt(arrays[0].at, "block_diag: operand is ", b.type(), "; it must have at most 2 dimensions");
    b = atleast_2d(Operand(b, arrays[0].at));
    width = width + Exact(b.dim(1));
  }
  const int64_t columns = AsDimension(width, "block_diag: number of columns ");
  int64_t before = 0;
  for (Value& b : blocks) {
    const int64_t own = b.dim(1);
    b = lax::pad(b, Scalar(b, 0), Shape{0, before}, Shape{0, columns - before - own}, Shape{0, 0});
    before += own;
  }
  return lax::concatenate(blocks, 0);
}

namespace {

// The m x n matrix of a vector's elements at position start + row_step i + j.
Value FromVector(const Value& v, int64_t m, int64_t n, int64_t start, int64_t row_step) {
  Value i = lax::iota(v.builder, DType::kI32, Shape{m, n}, 0), j = lax::iota(v.builder, DType::kI32, Shape{m, n}, 1);
  i.scope = j.scope = v.scope;
  const Value position = i * static_cast<double>(row_step) + j + static_cast<double>(start);
  return GatherAlong(v, position, v.rank() - 1, "promise_in_bounds");
}
// c, and r without its first element, with one batch; `reversed` turns c around.
struct Border {
  Value elements;
  int64_t m, n;
};
Border BorderOf(std::string_view name, const Operand& c, const Operand& r, bool reversed) {
  const Operand in[] = {c, r};
  Values v = UseList(name, in);
  for (Value& x : v) x = atleast_1d(Operand(x, c.at));
  const int64_t m = v[0].dim(v[0].rank() - 1), n = v[1].dim(v[1].rank() - 1);
  if (m == 0 || n == 0) FailAt(c.at, name, ": vectors are ", v[0].type(), " and ", v[1].type(), "; both need elements");
  const Dims of_c = v[0].shape().first(v[0].shape().size() - 1), of_r = v[1].shape().first(v[1].shape().size() - 1);
  Shape batch(of_c.begin(), of_c.end());
  if (!BroadcastInto(batch, of_r)) FailAt(c.at, name, ": batch dimensions ", of_c, " and ", of_r, " do not broadcast");
  const auto last = static_cast<int64_t>(batch.size());
  batch.push_back(m);
  Value first = BroadcastValue(v[0], batch);
  batch.back() = n;
  const Value rest = Cut(BroadcastValue(v[1], batch), 1, n, last);
  if (reversed) first = lax::rev(first, {&last, 1});
  return {Join({first, rest}, last), m, n};
}

}  // namespace

Value toeplitz(const Operand& c, const std::optional<Operand>& r) {
  const Border b = BorderOf("toeplitz", c, r ? *r : Operand(conj(c), c.at), /*reversed=*/true);
  return FromVector(b.elements, b.m, b.n, b.m - 1, -1);
}
Value hankel(const Operand& c, const std::optional<Operand>& r) {
  const Border b = BorderOf("hankel", c, r ? *r : Operand(zeros_like(c), c.at), /*reversed=*/false);
  return FromVector(b.elements, b.m, b.n, 0, 1);
}
Value circulant(const Operand& c) {
  const Value v = atleast_1d(c);
  const int64_t last = v.rank() - 1, n = v.dim(last);
  if (n == 0) FailAt(c.at, "circulant: operand is ", v.type(), "; it needs elements");
  // Element (i, j) is c[(i - j) mod n].
  const Value turned = lax::rev(v, {&last, 1});
  return FromVector(Join({turned, Cut(turned, 0, n - 1, last)}, last), n, n, n - 1, -1);
}
Value companion(const Operand& a) {
  const Value v = atleast_1d(Operand(UseInexact("companion", a), a.at));
  const int64_t last = v.rank() - 1, n = v.dim(last) - 1;
  if (n < 1) FailAt(a.at, "companion: operand is ", v.type(), "; its last dimension must be at least 2");
  const Value row = lax::expand_dims(-(Cut(v, 1, n + 1, last) / Cut(v, 0, 1, last)), {&last, 1});
  Shape shape = ShapeOfValue(row);
  shape[static_cast<size_t>(last)] = n;
  const Value all = BroadcastValue(row, shape);
  const Value i = Positions(all, DType::kI32, last), j = Positions(all, DType::kI32, last + 1);
  return Where(i == 0, all, To(i == j + 1, v.dtype()));
}
Value hilbert(const Operand& in, int64_t n) {
  const Value i = Iota(in, kDefaultFloat, {n, n}, 0), j = Iota(in, kDefaultFloat, {n, n}, 1);
  return 1 / (i + j + 1);
}
Value dft(const Operand& in, int64_t n, std::string_view scale) {
  if (!scale.empty() && scale != "sqrtn" && scale != "n") {
    FailAt(in.at, "dft: scale is ", scale, "; it must be empty, sqrtn or n");
  }
  // i j is reduced by n first, so that the angle is exact.
  const Value i = Iota(in, DType::kI64, {n, n}, 0), j = Iota(in, DType::kI64, {n, n}, 1);
  const auto size = static_cast<double>(n);
  const Value turns = To(lax::rem(i * j, Num(i, size)), kDefaultFloat) * (-2 * std::numbers::pi / size);
  const Value out = lax::complex(lax::cos(turns), lax::sin(turns));
  return scale.empty() ? out : out / (scale == "n" ? size : std::sqrt(size));
}

// ---- functions of square matrices ----
namespace {

Value WideSquareMatrices(std::string_view name, const Operand& a) {
  const Value v = UseInexact(name, a);
  const DType part = PartOf(v.dtype());
  if (v.rank() < 2 || RowsOf(v) != ColumnsOf(v) || (part != DType::kF32 && part != DType::kF64)) {
    FailAt(a.at, name, ": operand is ", v.type(), "; it must be square matrices of f32, f64, c64 or c128");
  }
  return v;
}

// r(a) = q^-1 p, the diagonal Pade approximation of exp of the degree that the largest scaled norm needs.
struct Pade {
  double greatest;  // the norm up to which the approximation is exact to a rounding
  std::vector<double> c;
};
// c[k] = (2m - k)! m! / ((2m)! (m - k)! k!), scaled so that the last one is 1.
Pade PadeOf(DType part) {
  const int m = part == DType::kF64 ? 13 : 7;
  std::vector<double> c{1};
  for (int k = m; k > 0; --k) c.insert(c.begin(), c.front() * (2 * m - k + 1) * k / (m - k + 1));
  return {m == 13 ? 5.371920351148152 : 3.925724783138660, c};
}
// p and q of scaled matrices: the odd powers of a change their sign in q.
std::pair<Value, Value> PadeTerms(const Value& a, const std::vector<double>& c) {
  const Value one = To(IsDiagonal(a), a.dtype()), square = matmul(a, a);
  Value odd = one * c[1], even = one * c[0], power = square;
  for (size_t k = 2; k < c.size(); k += 2) {
    even = even + power * c[k];
    if (k + 1 < c.size()) odd = odd + power * c[k + 1];
    if (k + 2 < c.size()) power = matmul(power, square);
  }
  odd = matmul(a, odd);
  return {even + odd, even - odd};
}

}  // namespace

Value expm(const Operand& a, bool upper_triangular, int64_t max_squarings) {
  const Value m = WideSquareMatrices("expm", a);
  const DType part = PartOf(m.dtype());
  if (max_squarings < 0) FailAt(a.at, "expm: max_squarings is ", max_squarings, "; it must not be negative");
  if (m.type().elements() == 0) return m;
  const Pade pade = PadeOf(part);
  const Value norm = lax::reduce_max(lax::reduce_sum(lax::abs(m), Shape{m.rank() - 2}), Shape{m.rank() - 2});
  const Value count =
      lax::stop_gradient(Max(lax::ceil(lax::log(norm / pade.greatest) / std::numbers::ln2), Num(norm, 0)));
  const Value scale = To(lax::exp2(-Min(count, Num(count, static_cast<double>(max_squarings)))), m.dtype());
  const auto [p, q] = PadeTerms(m * OverMatrix(scale, m), pade.c);
  const Operand at_p(p, a.at), at_q(q, a.at);
  const Value first = upper_triangular ? solve_triangular(at_q, at_p) : ricci::linalg::solve(at_q, at_p);
  const Value most = lax::reduce_max(count, CountFrom(0, count.rank()));
  const auto square = [&](const Value& i, const Value& x) {
    const Value step = To(i, part);
    const auto squared = [&](const Value& y) { return Where(OverMatrix(count > step, y), matmul(y, y), y); };
    return cond(
        Operand(step < most, a.at), squared, [](const Value& y) { return y; }, x);
  };
  const Value out = fori_loop(Operand(0, a.at), Operand(max_squarings, a.at), square, first, a.at);
  const Value nan = lax::log(Num(norm, -1));
  return Where(OverMatrix(count > static_cast<double>(max_squarings), out), To(OverMatrix(nan, out), m.dtype()), out);
}

}}}}  // namespace ricci::v0::scipy::linalg
