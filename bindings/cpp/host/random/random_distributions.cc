// The distributions of jax.random that are made from uniform and normal numbers by formulas, in the order of its steps.
#include <cmath>

#include "host/random/random_draws.h"
#include "ricci/creation.hpp"
#include "ricci/linalg.hpp"
#include "ricci/products.hpp"

namespace ricci { inline namespace v0 { namespace random {

namespace {

Value RealNormal(const Draw& draw) {
  const double above = -1.0 + InfoOf(draw.dtype).epsilon / 2;  // the number after -1
  const Value u = draw.Uniform(above, 1.0);
  return lax::mul(lax::full_like(u, std::numbers::sqrt2), lax::erf_inv(u));
}

}  // namespace

Value normal(const Operand& k, const Shape& shape, DType dtype) {
  if (!In(dtype, kComplexes)) return RealNormal(DrawOf("normal", k, {}, shape, dtype));
  const DType part = dtype == DType::kC64 ? DType::kF32 : DType::kF64;
  const auto [first, second] = DrawOf("normal", k, {}, shape, part).TwoKeys();
  const Value z = lax::complex(normal(first, shape, part), normal(second, shape, part));
  return lax::div(z, lax::full_like(z, std::numbers::sqrt2));
}
Value truncated_normal(const Operand& k, const Operand& lower, const Operand& upper, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("truncated_normal", k, {lower, upper}, shape, dtype);
  const Value &low = draw.parameters[0], &high = draw.parameters[1];
  const Value root = lax::full_like(low, std::numbers::sqrt2);
  const Value from = lax::erf(lax::div(low, root)), to = lax::erf(lax::div(high, root));
  const Value u = uniform(draw.key(), draw.shape, dtype, draw.In(from), draw.In(to));
  const auto next = [](const Value& x, double to) {
    return lax::nextafter(lax::stop_gradient(x), lax::full_like(x, to));
  };
  const Value inside = lax::max(lax::mul(root, lax::erf_inv(u)), next(low, INFINITY));
  return lax::min(inside, next(high, -INFINITY));
}
Value multivariate_normal(const Operand& k, const Operand& mean, const Operand& cov, const Shape& shape, DType dtype) {
  const Operand all[] = {k, mean, cov};
  const CallSite site = SiteOf("multivariate_normal", all);
  const auto lift = [&](const Operand& x) { return lax::convert_element_type(site.Lift(x, dtype), dtype); };
  const Value m = lift(mean), c = lift(cov);
  Shape of_mean, of_cov;
  const int64_t n = TakeLast(site, "mean", m.shape(), of_mean);
  if (c.rank() < 2 || c.dim(c.rank() - 1) != n || c.dim(c.rank() - 2) != n) {
    site.Fail("cov is ", c.type(), "; for a mean of ", m.type(), " its last dimensions must be ", n, " and ", n);
  }
  of_cov.assign(c.shape().begin(), c.shape().end() - 2);
  Shape batch = of_mean;
  if (!BroadcastInto(batch, of_cov)) site.Fail("mean ", m.type(), " and cov ", c.type(), " do not broadcast");
  Shape drawn = shape.empty() ? batch : shape;
  if (!BroadcastInto(batch, drawn) || batch != drawn) site.Fail("mean and cov do not broadcast to shape ", drawn);
  drawn.push_back(n);
  const Value symmetric = Half(lax::add(c, swapaxes(Operand(c, site.at), -1, -2)));
  const Operand factor(lax::linalg::cholesky(symmetric), site.at);
  const Value z = normal(Operand(site.Lift(k, DType::kNone), site.at), drawn, dtype);
  const Value column = matmul(factor, expand_dims(Operand(z, site.at), -1));
  return lax::add(BroadcastValue(m, drawn), lax::reshape(column, drawn));
}
// q of a normal matrix, by Mezzadri, "How to generate random matrices from the classical compact groups", 2007: with
// the signs of the diagonal of r its distribution does not depend on how q is chosen.
Value orthogonal(const Operand& k, int64_t n, const Shape& shape, DType dtype, std::optional<int64_t> m) {
  const int64_t columns = m.value_or(n), small = std::min(n, columns);
  if (small < 0) FailAt(k.at, "orthogonal: sizes are ", n, " and ", columns, "; they must not be negative");
  Shape drawn = shape;
  drawn.insert(drawn.end(), {std::max(n, columns), small});
  const auto [q, r] = linalg::qr(Operand(normal(k, drawn, dtype), k.at));
  const Value signs = lax::sign(diagonal(Operand(r, k.at), 0, -2, -1));
  const Value x = lax::mul(q, BroadcastValue(lax::expand_dims(signs, Shape{signs.rank() - 1}), q.shape()));
  return n < columns ? swapaxes(Operand(x, k.at), -1, -2) : x;
}
Value lognormal(const Operand& k, const Operand& sigma, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("lognormal", k, {sigma}, shape, dtype);
  return lax::exp(lax::mul(draw.Normal(), draw.parameters[0]));
}
Value generalized_normal(const Operand& k, double p, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("generalized_normal", k, {}, shape, dtype);
  const auto [first, second] = draw.TwoKeys();
  const Value g = gamma(first, 1 / p, shape, dtype), sign = rademacher(second, shape, dtype);
  return lax::mul(sign, lax::pow(g, lax::full_like(g, 1 / p)));
}
Value ball(const Operand& k, int64_t d, double p, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("ball", k, {}, shape, dtype);
  if (d < 0) draw.site.Fail("the number of dimensions, ", d, ", must not be negative");
  const auto [first, second] = draw.TwoKeys();
  Shape points = shape;
  points.push_back(d);
  const Value g = generalized_normal(first, p, points, dtype), e = exponential(second, shape, dtype);
  const Value size = lax::abs(g), power = p == 2 ? lax::square(size) : lax::pow(size, lax::full_like(g, p));
  const Value all = lax::add(sum(draw.In(power), -1), e);
  const Value radius = lax::pow(all, lax::full_like(all, 1 / p));
  return lax::div(g, BroadcastValue(expand_dims(draw.In(radius), -1), points));
}
Value maxwell(const Operand& k, const Shape& shape, DType dtype) {
  Shape points = shape;
  points.push_back(3);
  const Value z = DrawOf("maxwell", k, {}, points, dtype).Normal();
  return norm(Operand(z, k.at), -1);
}
Value double_sided_maxwell(const Operand& k, const Operand& loc, const Operand& scale, const Shape& shape,
                           DType dtype) {
  const Draw draw = DrawOf("double_sided_maxwell", k, {loc, scale}, {}, dtype);
  Shape drawn = shape.empty() ? draw.shape : shape;
  drawn.insert(drawn.end(), draw.shape.begin(), draw.shape.end());
  const auto [first, second] = draw.TwoKeys();
  const Value size = maxwell(first, drawn, dtype), sign = rademacher(second, drawn, dtype);
  const Value scaled = lax::mul(lax::mul(sign, size), BroadcastValue(draw.parameters[1], drawn));
  return lax::add(scaled, BroadcastValue(draw.parameters[0], drawn));
}
Value rayleigh(const Operand& k, const Operand& scale, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("rayleigh", k, {scale}, shape, dtype);
  const Value logs = lax::log(draw.Uniform());
  return lax::mul(draw.parameters[0], lax::sqrt(lax::mul(logs, lax::full_like(logs, -2))));
}
Value wald(const Operand& k, const Operand& given, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("wald", k, {given}, shape, dtype);
  const auto [first, second] = draw.TwoKeys();
  const Value mean = draw.parameters[0], y = lax::square(normal(first, draw.shape, dtype));
  const Value z = uniform(second, draw.shape, dtype), square = lax::square(mean);
  const Value under_root = lax::add(lax::mul(lax::mul(4.0, mean), y), lax::mul(square, lax::square(y)));
  const Value down = lax::mul(Half(mean), lax::sqrt(under_root));
  const Value x = lax::sub(lax::add(mean, Half(lax::mul(square, y))), down);
  return lax::select(lax::le(z, lax::div(mean, lax::add(mean, x))), x, lax::div(square, x));
}

Value gumbel(const Operand& k, const Shape& shape, DType dtype) {
  const Value u = DrawOf("gumbel", k, {}, shape, dtype).Uniform(InfoOf(dtype).tiny, 1.0);
  return lax::neg(lax::log(lax::neg(lax::log(u))));
}
Value exponential(const Operand& k, const Shape& shape, DType dtype) {
  return lax::neg(lax::log1p(lax::neg(DrawOf("exponential", k, {}, shape, dtype).Uniform())));
}
Value laplace(const Operand& k, const Shape& shape, DType dtype) {
  const double above = -1.0 + InfoOf(dtype).epsilon / 2;
  const Value u = DrawOf("laplace", k, {}, shape, dtype).Uniform(above, 1.0);
  return lax::mul(lax::sign(u), lax::log1p(lax::neg(lax::abs(u))));
}
Value logistic(const Operand& k, const Shape& shape, DType dtype) {
  const Value x = DrawOf("logistic", k, {}, shape, dtype).Uniform(InfoOf(dtype).tiny, 1.0);
  return lax::sub(lax::log(x), lax::log1p(lax::neg(x)));
}
Value cauchy(const Operand& k, const Shape& shape, DType dtype) {
  const Value u = DrawOf("cauchy", k, {}, shape, dtype).Uniform(InfoOf(dtype).epsilon, 1.0);
  return lax::tan(lax::mul(lax::full_like(u, std::numbers::pi), lax::sub(u, 0.5)));
}
Value pareto(const Operand& k, const Operand& b, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("pareto", k, {b}, shape, dtype);
  return lax::exp(lax::div(exponential(draw.key(), draw.shape, dtype), draw.parameters[0]));
}
Value weibull_min(const Operand& k, const Operand& scale, const Operand& concentration, const Shape& shape,
                  DType dtype) {
  const Draw draw = DrawOf("weibull_min", k, {scale, concentration}, shape, dtype);
  const Value e = lax::neg(lax::log1p(lax::neg(draw.Uniform())));
  return lax::mul(lax::pow(e, lax::div(1.0, draw.parameters[1])), draw.parameters[0]);
}
Value triangular(const Operand& k, const Operand& left, const Operand& mode, const Operand& right, const Shape& shape,
                 DType dtype) {
  const Draw draw = DrawOf("triangular", k, {left, mode, right}, shape, dtype);
  const Value &l = draw.parameters[0], &m = draw.parameters[1], &r = draw.parameters[2];
  const Value width = lax::sub(r, l), rise = lax::sub(m, l), u = draw.Uniform();
  const Value up = lax::add(l, lax::sqrt(lax::mul(lax::mul(u, width), rise)));
  const Value down = lax::sub(r, lax::sqrt(lax::mul(lax::mul(lax::sub(1.0, u), width), lax::sub(r, m))));
  return lax::select(lax::lt(u, lax::div(rise, width)), up, down);
}

}}}  // namespace ricci::v0::random
