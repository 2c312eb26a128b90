// The distributions of jax.random that are made from samples of the gamma distribution.
//
// Quotients of samples are taken from their logarithms, because samples of a small shape underflow.
#include "host/random/random_draws.h"
#include "ricci/lax_random.hpp"
#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 { namespace random {

namespace {

Value Gamma(std::string_view name, const Operand& k, const Operand& a, const Shape& shape, DType dtype,
            bool log_space) {
  const Draw draw = DrawOf(name, k, {a}, shape, dtype);
  return lax::random_gamma(draw.key_value, draw.parameters[0], log_space);
}

}  // namespace

Value gamma(const Operand& k, const Operand& a, const Shape& shape, DType dtype) {
  return Gamma("gamma", k, a, shape, dtype, /*log_space=*/false);
}
Value loggamma(const Operand& k, const Operand& a, const Shape& shape, DType dtype) {
  return Gamma("loggamma", k, a, shape, dtype, /*log_space=*/true);
}
Value beta(const Operand& k, const Operand& a, const Operand& b, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("beta", k, {a, b}, shape, dtype);
  const auto [first, second] = draw.TwoKeys();
  const Value x = loggamma(first, draw.In(draw.parameters[0]), draw.shape, dtype);
  const Value y = loggamma(second, draw.In(draw.parameters[1]), draw.shape, dtype);
  const Value greater = lax::max(x, y), share = lax::exp(lax::sub(x, greater));
  return lax::div(share, lax::add(share, lax::exp(lax::sub(y, greater))));
}
Value dirichlet(const Operand& k, const Operand& alpha, const Shape& shape, DType dtype) {
  const Operand all[] = {k, alpha};
  Shape points = shape;
  const int64_t n = TakeLast(SiteOf("dirichlet", all), "alpha", alpha.shape(), points);
  points.push_back(n);
  const Draw draw = DrawOf("dirichlet", k, {alpha}, points, dtype);
  return softmax(draw.In(loggamma(draw.key(), draw.In(draw.parameters[0]), points, dtype)), -1);
}
Value chisquare(const Operand& k, const Operand& df, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("chisquare", k, {df}, shape, dtype);
  return lax::mul(lax::exp(loggamma(draw.key(), draw.In(Half(draw.parameters[0])), draw.shape, dtype)), 2.0);
}
Value t(const Operand& k, const Operand& df, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("t", k, {df}, shape, dtype);
  const auto [first, second] = draw.TwoKeys();
  const Value half = Half(draw.parameters[0]), n = normal(first, draw.shape, dtype);
  return lax::mul(n, lax::sqrt(lax::div(half, gamma(second, draw.In(half), draw.shape, dtype))));
}
Value f(const Operand& k, const Operand& dfnum, const Operand& dfden, const Shape& shape, DType dtype) {
  const Draw draw = DrawOf("f", k, {dfnum, dfden}, shape, dtype);
  const auto [of_denominator, of_numerator] = draw.TwoKeys();
  const auto mean_square = [&](const Operand& key, const Value& df) {
    return lax::div(chisquare(key, draw.In(df), draw.shape, dtype), df);
  };
  const Value numerator = mean_square(of_numerator, draw.parameters[0]);
  return lax::div(numerator, mean_square(of_denominator, draw.parameters[1]));
}

}}}  // namespace ricci::v0::random
