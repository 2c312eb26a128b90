// Distributions of vectors: dirichlet, multivariate_normal and multinomial.
#include <cmath>

#include "host/scipy/distribution.h"

namespace ricci { inline namespace v0 { namespace scipy { namespace stats {
namespace {

// The operands in one floating dtype; each keeps its shape.
Values Promoted(std::string_view name, std::initializer_list<Operand> in) {
  const std::span<const Operand> xs(in.begin(), in.size());
  const CallSite site = SiteOf(name, xs);
  const DType dtype = ToInexact(PromotedDType(site, xs));
  Values out;
  for (const Operand& x : xs) out.push_back(To(site.Lift(x, dtype), dtype));
  return out;
}
Value SumOfLast(const Value& v) { return lax::reduce_sum(v, Shape{v.rank() - 1}); }
Value XLogY(const Value& x, const Value& y, const Operand& at) { return special::xlogy(At(x, at), At(y, at)); }

}  // namespace

namespace dirichlet {
Value logpdf(const Operand& x, const Operand& alpha) {
  const Values v = Promoted("dirichlet.logpdf", {x, alpha});
  Value point = v[0], a = v[1];
  if (a.rank() != 1 || point.rank() < 1 || (point.dim(0) != a.dim(0) && point.dim(0) != a.dim(0) - 1)) {
    FailAt(x.at, "dirichlet.logpdf: x is ", point.type(), " and alpha ", a.type(),
           "; alpha must be a vector, and x have as many rows or one fewer");
  }
  if (point.dim(0) != a.dim(0))
    point = Join({point, 1 - lax::expand_dims(lax::reduce_sum(point, Shape{0}), Shape{0})}, 0);
  const Value constant = lax::reduce_sum(lax::lgamma(a), Shape{0}) - lax::lgamma(lax::reduce_sum(a, Shape{0}));
  const Value powers = lax::broadcast_in_dim(a - 1, point.shape(), Shape{0});
  const Value log = lax::reduce_sum(XLogY(powers, point, x), Shape{0}) - constant;
  const Value total = lax::reduce_sum(point, Shape{0});
  const Value inside = lax::reduce_and(point > 0, Shape{0}) & (lax::abs(total - 1) < 1e-6);
  return Where(inside, log, -kInf);
}
Value pdf(const Operand& x, const Operand& alpha) { return lax::exp(logpdf(x, alpha)); }
}  // namespace dirichlet

namespace multivariate_normal {
namespace {

Value Last(Shape shape, int64_t size, const Value& v) {
  shape.push_back(size);
  return BroadcastValue(v, shape);
}
// The y with l y = d for each vector d along the last dimension, and the triangular l of its batch.
Value Solved(const Value& l, const Value& d, const Location& at) {
  const int64_t n = d.dim(d.rank() - 1);
  if (l.rank() == 2) {  // one matrix: all vectors are rows of one right side
    const Value rows = lax::reshape(d, Shape{n == 0 ? 0 : ElementCount(d.shape()) / n, n});
    return lax::reshape(lax::linalg::triangular_solve(l, rows, {.lower = true, .transpose_a = true}), d.shape());
  }
  const Dims of_l = l.shape().first(l.shape().size() - 2), of_d = d.shape().first(d.shape().size() - 1);
  Shape batch(of_l.begin(), of_l.end());
  if (!BroadcastInto(batch, of_d)) {
    FailAt(at, "multivariate_normal.logpdf: batch dimensions ", of_l, " and ", of_d, " do not broadcast");
  }
  Shape matrices = batch, columns = batch;
  matrices.insert(matrices.end(), {n, n}), columns.insert(columns.end(), {n, 1});
  const Value right = lax::reshape(Last(batch, n, d), columns);
  const Value y = lax::linalg::triangular_solve(BroadcastValue(l, matrices), right, {.left_side = true, .lower = true});
  return lax::reshape(y, columns.size() == 1 ? Shape{n} : Dims(columns).first(columns.size() - 1));
}
// log |l| of triangular matrices.
Value LogDiagonal(const Value& l) {
  const Value i = Positions(l, DType::kI32, l.rank() - 2), j = Positions(l, DType::kI32, l.rank() - 1);
  return SumOfLast(lax::log(SumOfLast(Where(i == j, l, 0))));
}

}  // namespace

Value logpdf(const Operand& x, const Operand& mean, const Operand& cov) {
  const Values v = Promoted("multivariate_normal.logpdf", {x, mean, cov});
  const Value d = v[0] - v[1];
  const double log_2pi = std::log(2 * kPi);
  if (v[1].rank() == 0) return lax::square(d) * -0.5 / v[2] - (lax::log(v[2]) + log_2pi) * 0.5;
  const int64_t n = v[1].dim(v[1].rank() - 1);
  const double half = static_cast<double>(n) / 2;
  if (v[2].rank() == 0) return SumOfLast(lax::square(d)) * -0.5 / v[2] - (lax::log(v[2]) + log_2pi) * half;
  if (v[2].rank() < 2 || v[2].dim(v[2].rank() - 1) != n || v[2].dim(v[2].rank() - 2) != n) {
    FailAt(x.at, "multivariate_normal.logpdf: mean is ", v[1].type(), " and cov ", v[2].type(),
           "; cov must be a scalar or end with ", n, " x ", n);
  }
  const Value l = lax::linalg::cholesky(v[2]);
  return SumOfLast(lax::square(Solved(l, d, x.at))) * -0.5 - log_2pi * half - LogDiagonal(l);
}
Value pdf(const Operand& x, const Operand& mean, const Operand& cov) { return lax::exp(logpdf(x, mean, cov)); }
}  // namespace multivariate_normal

namespace multinomial {
Value logpmf(const Operand& x, const Operand& n, const Operand& p) {
  const Values v = Promoted("multinomial.logpmf", {x, n, p});
  if (v[0].rank() < 1) FailAt(x.at, "multinomial.logpmf: x is ", v[0].type(), "; its last dimension must be that of p");
  const Value log = lax::lgamma(v[1] + 1) + SumOfLast(XLogY(v[0], v[2], x) - lax::lgamma(v[0] + 1));
  return Where(SumOfLast(v[0]) == v[1], log, -kInf);
}
Value pmf(const Operand& x, const Operand& n, const Operand& p) { return lax::exp(logpmf(x, n, p)); }
}  // namespace multinomial

}}}}  // namespace ricci::v0::scipy::stats
