// Least squares by singular values, and the polynomials that follow from them and from eigenvalues.
#include "host/core/plain_math.h"
#include "ricci/creation.hpp"
#include "ricci/differences.hpp"
#include "ricci/linalg.hpp"
#include "ricci/products.hpp"
#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace linalg {
namespace {

Value Adjoint(const Value& a) {
  const Value t = lax::transpose(a, Shape{1, 0});
  return IsComplex(t.dtype()) ? lax::conj(t) : t;
}
// x and what it leaves, for one matrix and columns.
LstsqResult LeastSquares(const Value& a, const Value& b, double rcond) {
  const lax::linalg::Svd f = lax::linalg::svd(a, {.full_matrices = false});
  const Value largest = Cut(f.s, 0, 1, 0), counts = (f.s > 0) & (f.s >= largest * rcond);
  const Value inverse = To(Where(counts, 1 / Where(counts, f.s, 1), 0), a.dtype());
  const Value x = matmul(Adjoint(f.vt), lax::expand_dims(inverse, Shape{1}) * matmul(Adjoint(f.u), b));
  const Value left = lax::abs(b - matmul(a, x));
  return {x, lax::reduce_sum(left * left, Shape{0}), lax::reduce_sum(To(counts, DType::kI32), Shape{0}), f.s};
}
// What has no elements has no singular values.
LstsqResult Nothing(const Value& a, const Value& b) {
  const DType real = PartOf(a.dtype());
  const Value zero = Scalar(a, 0), x = BroadcastValue(zero, Shape{a.dim(1), b.dim(1)}), left = lax::abs(b);
  return {x, lax::reduce_sum(left * left, Shape{0}), To(To(zero, real), DType::kI32),
          BroadcastValue(To(zero, real), Shape{0})};
}

}  // namespace

LstsqResult lstsq(const Operand& a, const Operand& b, std::optional<double> rcond) {
  const Operand in[] = {a, b};
  const CallSite site = SiteOf("lstsq", in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  const Value m = To(site.Lift(a, dtype), dtype), right = To(site.Lift(b, dtype), dtype);
  if (m.rank() != 2 || right.rank() < 1 || right.rank() > 2 || m.dim(0) != right.dim(0)) {
    site.Fail("operands are ", m.type(), " and ", right.type(), "; they need one matrix, and as many rows of b");
  }
  const Value columns = right.rank() == 2 ? right : lax::expand_dims(right, Shape{1});
  const double epsilon = InfoOf(PartOf(dtype)).epsilon, size = static_cast<double>(std::max(m.dim(0), m.dim(1)));
  const double least = !rcond ? size * epsilon : *rcond < 0 ? epsilon : *rcond;
  LstsqResult out = m.type().elements() == 0 ? Nothing(m, columns) : LeastSquares(m, columns, least);
  if (right.rank() == 1) out.x = lax::squeeze(out.x, Shape{1});
  return out;
}

}  // namespace linalg

namespace {

// As a column beside rows of `like`.
Value Column(const Value& v, const Value& like) { return like.rank() == 2 ? lax::expand_dims(v, Shape{1}) : v; }
Value Weights(const Operand& w, const Operand& x, const Value& points) {
  const Operand in[] = {Operand(points, x.at), w};
  const CallSite site = SiteOf("polyfit", in);
  const Value v = To(site.Lift(w, points.dtype()), points.dtype());
  if (!SameDims(v.shape(), points.shape())) site.Fail("weights are ", v.type(), " for ", points.dim(0), " points");
  return v;
}

}  // namespace

Value polyfit(const Operand& x, const Operand& y, int64_t deg, const PolyfitOptions& o) {
  const Operand in[] = {x, y};
  const CallSite site = SiteOf("polyfit", in);
  const DType dtype = ToInexact(PromotedDType(site, in));
  const Value points = To(site.Lift(x, dtype), dtype);
  Value values = To(site.Lift(y, dtype), dtype);
  if (deg < 0) site.Fail("the degree is ", deg, "; it must not be negative");
  if (points.rank() != 1 || points.dim(0) == 0 || values.rank() < 1 || values.rank() > 2 ||
      values.dim(0) != points.dim(0)) {
    site.Fail("points are ", points.type(), " and ", values.type(), "; they need a vector, and as many rows of y");
  }
  Value powers = vander(Operand(points, x.at), Clamped(Exact(deg) + Exact(1)));
  if (o.w) {
    const Value w = Weights(*o.w, x, points);
    powers = powers * Column(w, powers);
    values = values * Column(w, values);
  }
  // Columns of length 1 have a better condition.
  const Value scale = lax::sqrt(lax::reduce_sum(powers * powers, Shape{0}));
  const double epsilon = InfoOf(PartOf(dtype)).epsilon;
  const double rcond = o.rcond.value_or(static_cast<double>(points.dim(0)) * epsilon);
  const Value c = linalg::lstsq(Operand(powers / scale, x.at), Operand(values, x.at), rcond).x;
  return c / Column(scale, c);
}

namespace {

// The eigenvalues of the companion matrix of a polynomial of degree `degree`, whose coefficients begin with one that is
// not 0 and end with zeros. Those zeros are roots that are exactly 0: without ones beside it a row stands alone.
Value CompanionEigenvalues(const Value& p, const Value& degree, const Location& at) {
  const int64_t n = p.dim(0) - 1;
  const Value first = Cut(p, 0, 1, 0), row = lax::expand_dims(-(Cut(p, 1, n + 1, 0) / first), Shape{0});
  const Value all = BroadcastValue(row, Shape{n, n});
  const Value i = Positions(all, DType::kI32, 0), j = Positions(all, DType::kI32, 1);
  const Value below = To((i == j + 1) & (i < degree), p.dtype());
  return linalg::eigvals(Operand(Where(i == 0, all, below), at));
}
// Elements from `shift` on, then those before.
Value RolledBack(const Value& p, const Value& shift) {
  const int64_t n = p.dim(0);
  const Value i = Positions(p, DType::kI32, 0) + shift;
  return GatherAlong(p, Where(i >= static_cast<double>(n), i - static_cast<double>(n), i), 0, "clip");
}
// Those that are 0 after the others, which keep their order.
Value ZerosLast(const Value& roots) {
  const Value operands[] = {To(roots == 0, DType::kI32), Positions(roots, DType::kI32, 0)};
  return GatherAlong(roots, lax::sort(operands, 0)[1], 0, "clip");
}

}  // namespace

Value roots(const Operand& p) {
  const Value c = atleast_1d(Operand(UseInexact("roots", p), p.at));
  if (c.rank() != 1) FailAt(p.at, "roots: the coefficients are ", c.type(), "; they must be a vector");
  const int64_t n = c.dim(0);
  if (n < 2) return To(Cut(c, 0, 0, 0), ComplexOf(c.dtype()));
  const Value zero = To(c == 0, DType::kI32);
  const Value leading = lax::reduce_sum(lax::cumprod(zero, 0), Shape{0});
  const Value safe = Where(leading == static_cast<double>(n), 1, c);
  const Value degree = static_cast<double>(n - 1) - leading;
  const Value all = ZerosLast(CompanionEigenvalues(RolledBack(safe, leading), degree, p.at));
  const Value nan = lax::div(lax::zeros_like(all), lax::zeros_like(all));
  return Where(Positions(all, DType::kI32, 0) < degree, all, nan);
}

}}  // namespace ricci::v0
