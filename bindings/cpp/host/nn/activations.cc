// The functions of jax.nn that are made of a few operations.
#include <cmath>
#include <limits>

#include "host/core/plain_math.h"
#include "ricci/nn_functions.hpp"

namespace ricci { inline namespace v0 { namespace nn {

using namespace plain;

namespace {

Value Relu(const Value& x) { return Where(x <= 0, 0, x); }  // NaN stays
Value Relu6(const Value& x) { return Where(x >= 6, 6, Relu(x)); }
Value HardSigmoid(const Value& x) { return Relu6(x + 3) / 6; }
Value Elu(const Value& x, double alpha) { return Where(x > 0, x, lax::expm1(Where(x > 0, 0, x)) * alpha); }

}  // namespace

// ---- with corners ----
Value identity(const Operand& x) {
  const Operand all[] = {x};
  return SiteOf("identity", all).Lift(x, x.dtype(), x.shape());
}
Value relu6(const Operand& x) { return Relu6(UseInexact("relu6", x)); }
Value leaky_relu(const Operand& x, double negative_slope) {
  const Value v = UseInexact("leaky_relu", x);
  return Where(v >= 0, v, v * negative_slope);
}
Value hard_tanh(const Operand& x) {
  const Value v = UseInexact("hard_tanh", x);
  return Where(v > 1, 1, Where(v < -1, -1, v));
}
Value hard_sigmoid(const Operand& x) { return HardSigmoid(UseInexact("hard_sigmoid", x)); }
Value hard_silu(const Operand& x) {
  const Value v = UseInexact("hard_silu", x);
  return v * HardSigmoid(v);
}
Value hard_swish(const Operand& x) { return hard_silu(x); }
Value sparse_plus(const Operand& x) {
  const Value v = UseInexact("sparse_plus", x);
  return Where(v <= -1, 0, Where(v >= 1, v, lax::square(v + 1) / 4));
}
Value sparse_sigmoid(const Operand& x) {
  const Value v = UseRealInexact("sparse_sigmoid", x) + 1;
  return Min(Max(v, Num(v, 0)), Num(v, 2)) * 0.5;
}

// ---- smooth ----
Value log_sigmoid(const Operand& x) { return -softplus(Operand(-UseInexact("log_sigmoid", x), x.at)); }
Value squareplus(const Operand& x, double b) {
  const Value v = UseInexact("squareplus", x);
  return (v + lax::sqrt(lax::square(v) + b)) / 2;
}
Value soft_sign(const Operand& x) {
  const Value v = UseInexact("soft_sign", x);
  return v / To(lax::abs(v) + 1, v.dtype());
}
Value swish(const Operand& x) { return silu(x); }
Value mish(const Operand& x) {
  const Value v = UseInexact("mish", x);
  return v * lax::tanh(softplus(Operand(v, x.at)));
}
Value elu(const Operand& x, double alpha) { return Elu(UseInexact("elu", x), alpha); }
Value celu(const Operand& x, double alpha) {
  const Value v = UseInexact("celu", x), zero = Num(v, 0);
  return Max(v, zero) + lax::expm1(Min(v, zero) / alpha) * alpha;
}
Value selu(const Operand& x) {
  constexpr double kAlpha = 1.6732632423543772848170429916717, kScale = 1.0507009873554804934193349852946;
  return Elu(UseInexact("selu", x), kAlpha) * kScale;
}
Value log1mexp(const Operand& x) {
  const Value v = UseInexact("log1mexp", x), small = v < std::numbers::ln2;
  // Each form gets arguments of its own side only, so that neither makes a NaN of the other's derivative.
  const Value near = lax::log(-lax::expm1(-Where(small, v, 1))), far = lax::log1p(-lax::exp(-Where(small, 1, v)));
  return Where(small, near, far);
}
Value glu(const Operand& x, AxisNumber axis) {
  const Value v = UseInexact("glu", x);
  const int64_t d = Axis("glu", x.at, axis, v.rank()), n = v.dim(d);
  if (n % 2 != 0) FailAt(x.at, "glu: dimension ", d, " of ", v.type(), " must be even");
  return Cut(v, 0, n / 2, d) * lax::logistic(Cut(v, n / 2, n, d));
}

// ---- along axes ----
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

// x with -infinity, whose exponential is 0, where elements do not count.
Value Counting(std::string_view name, const Operand& x, const std::optional<Operand>& where) {
  const Value v = UseInexact(name, x);
  return where ? To(ricci::where(*where, Operand(v, x.at), Operand(kNothing, x.at)), v.dtype()) : v;
}
Value MeanOf(const Operand& x, const Axes& axes, const std::optional<Operand>& where) {
  return where ? mean(x, axes, /*keepdims=*/true, *where) : mean(x, axes, /*keepdims=*/true);
}

}  // namespace

Value log_softmax(const Operand& x, const Axes& axes, const WhereOption& options) {
  const Value v = Counting("log_softmax", x, options.where);
  const Value shifted = v - lax::stop_gradient(max(v, axes, /*keepdims=*/true));
  const Value out = shifted - lax::log(sum(lax::exp(shifted), axes, /*keepdims=*/true));
  return Counting("log_softmax", Operand(out, x.at), options.where);
}
Value logsumexp(const Operand& x, const Axes& axes, bool keepdims, const WhereOption& options) {
  return ricci::logsumexp(Counting("logsumexp", x, options.where), axes, keepdims);
}
Value logmeanexp(const Operand& x, const Axes& axes, bool keepdims, const WhereOption& options) {
  const Value total = logsumexp(x, axes, /*keepdims=*/true, options);
  const Value ones = lax::ones_like(UseInexact("logmeanexp", x));
  const Value out = total - lax::log(sum(Operand(ones, x.at), axes, /*keepdims=*/true, {.where = options.where}));
  return keepdims ? out : lax::squeeze(out, axes.Of("logmeanexp", x.at, out.rank()));
}
Value standardize(const Operand& x, const Axes& axes, const StandardizeOptions& options) {
  const Value v = UseRealInexact("standardize", x);
  const auto given = [&](const Operand& o) {
    const Operand all[] = {Operand(v, x.at), o};
    return To(SiteOf("standardize", all).Lift(o, v.dtype(), o.shape()), v.dtype());
  };
  const Value mean = options.mean ? given(*options.mean) : MeanOf(Operand(v, x.at), axes, options.where);
  const Value centered = v - mean;
  const Value variance =
      options.variance ? given(*options.variance) : MeanOf(Operand(lax::square(centered), x.at), axes, options.where);
  return centered * lax::rsqrt(variance + options.epsilon);
}
Value one_hot(const Operand& x, int64_t num_classes, DType dtype, AxisNumber axis) {
  const Operand all[] = {x};
  const Value v = SiteOf("one_hot", all).Lift(x, x.dtype(), x.shape());
  if (num_classes < 0) FailAt(x.at, "one_hot: num_classes is ", num_classes, "; it must not be negative");
  const int64_t d = Axis("one_hot", x.at, axis, v.rank() + 1);
  Shape shape(v.shape().begin(), v.shape().end());
  shape.insert(shape.begin() + d, num_classes);
  const int64_t added[] = {d};
  const Value like = BroadcastValue(lax::expand_dims(v, added), shape);
  return To(like == Positions(like, v.dtype(), d), dtype);
}

}}}  // namespace ricci::v0::nn
