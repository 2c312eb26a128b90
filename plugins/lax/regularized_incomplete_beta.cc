// regularized_incomplete_beta: I(x; a, b), the share of the integral of t^(a-1) (1-t)^(b-1) over 0..1 that is below x.
//
// The continued fraction of DLMF 8.17.22 by the method of Lentz, for x below about a / (a + b), else that of
// 1 - I(1 - x; b, a); its number of steps grows with the square root of the larger of a and b. Where a and b are large,
// the factor x^a (1-x)^b / beta(a, b) is computed from x - a / (a + b), so that no digits are lost to cancellation.
// Domain and edges are those of jax.lax. Like there, it has no derivative with respect to a and b.
#include <limits>

#include "element_loops.hpp"
#include "scalar_math.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

constexpr double kMostSteps = 20000, kEpsilon = 0x1p-52, kTiny = 0x1p-900;
constexpr double kInfinity = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

struct Arguments {
  Scalar a, b, x, rest;  // rest: 1 - x
};

// The logarithm of gamma(large) / gamma(large + small), for large >= scalar::kStirling.
Scalar LogRatio(Scalar large, Scalar small) {
  const Scalar sum = large + small, rests = scalar::StirlingRest(large) - scalar::StirlingRest(sum);
  return small - (large - 0.5) * scalar::Log1p(small / large) - small * scalar::Log(sum) + rests;
}
// The logarithm of a beta(a, b) = gamma(a + 1) gamma(b) / gamma(a + b), which has no pole at a = 0.
Scalar LogBeta(const Work& w, Scalar a, Scalar b) {
  const Variable y = w.New(0.0);
  const auto both_small = [&] { y = scalar::Lgamma(a + 1.0) + scalar::Lgamma(b) - scalar::Lgamma(a + b); };
  const auto one_large = [&] {
    const Scalar of_small = Select(a < b, scalar::Lgamma(a + 1.0), scalar::Lgamma(b) + scalar::Log(a));
    y = of_small + LogRatio(Max(a, b), Min(a, b));
  };
  w.k.If(Max(a, b) >= scalar::kStirling, one_large, both_small);
  return y;
}
// x^a (1-x)^b / (a beta(a, b)).
Scalar Factor(const Work& w, const Arguments& in) {
  const Scalar a = in.a, b = in.b, x = in.x, rest = in.rest;
  const Variable y = w.New(0.0);
  const auto one_small = [&] {
    const Scalar log_rest = Select(x < 0.5, scalar::Log1p(-x), scalar::Log(rest));
    const Scalar log_beta = LogBeta(w, a, b);
    y = scalar::Exp(a * scalar::Log(x) + b * log_rest - log_beta);
  };
  const auto both_large = [&] {
    const Scalar sum = a + b, shift = x * b - rest * a;
    const Scalar bend =
        a * scalar::LessItsLog(shift / a, x * sum / a) + b * scalar::LessItsLog(-shift / b, rest * sum / b);
    const Scalar gammas = scalar::StirlingRest(a) + scalar::StirlingRest(b) - scalar::StirlingRest(sum);
    y = scalar::Exp(-(bend + gammas)) * scalar::Sqrt(b / (2 * std::numbers::pi * a * sum));
  };
  w.k.If(Min(a, b) >= scalar::kStirling, both_large, one_small);
  return y;
}

Scalar NotZero(Scalar v) { return Select(scalar::Abs(v) < kTiny, Like(v, kTiny), v); }

// 1 / (1 + d1 / (1 + d2 / (1 + ...))) with the d of DLMF 8.17.23, two of them in each step.
Scalar Fraction(const Work& w, const Arguments& in) {
  const Scalar a = in.a, b = in.b, x = in.x;
  const Scalar first = 1.0 / NotZero(1.0 - (a + b) * x / (a + 1.0));
  const Variable m = w.New(0.0), c = w.New(1.0), d = w.New(first), value = w.New(first);
  const Variable going = w.New(w.k.Constant(DType::kBool, true));
  const auto next = [&](Scalar coefficient) {
    d = 1.0 / NotZero(1.0 + coefficient * Scalar(d));
    c = NotZero(1.0 + coefficient / Scalar(c));
    const Scalar change = Scalar(c) * Scalar(d);
    value = value * change;
    return change;
  };
  w.k.While([&] { return Scalar(going); },
            [&] {
              m = m + 1.0;
              const Scalar n = m, a2 = a + 2.0 * n;
              next(n * (b - n) * x / ((a2 - 1.0) * a2));
              const Scalar change = next(-((a + n) * (a + b + n) * x / (a2 * (a2 + 1.0))));
              going = (scalar::Abs(change - 1.0) > kEpsilon) & (n < kMostSteps);
            });
  return value;
}

Scalar Betainc(const Work& w, std::span<const Scalar> in) {
  const Scalar a = in[0], b = in[1], x = in[2], rest = 1.0 - x;
  const Scalar direct = x < (a + 1.0) / (a + b + 2.0);
  const Arguments side = {Select(direct, a, b), Select(direct, b, a), Select(direct, x, rest), Select(direct, rest, x)};
  const Scalar fraction = Fraction(w, side), part = Factor(w, side) * fraction;
  // All weight is at 0, or all at 1.
  const Scalar left = (a == 0.0) | (b == kInfinity), right = (b == 0.0) | (a == kInfinity);
  Scalar y = Select(direct, part, 1.0 - part);
  y = scalar::Where((right & (x != 1.0)) | (left & (x == 0.0)), 0, y);
  y = scalar::Where((left & (x != 0.0)) | (right & (x == 1.0)), 1, y);
  const Scalar defined = (a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (x <= 1.0) & !(left & right);
  return Select(defined, y, w.Number(kNaN));
}

Value ByArgument(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value &a = in[0], &b = in[1], &x = in[2];
  const Value of_sum = lgamma(add(a, b)), of_b = lgamma(b), beta = sub(add(lgamma(a), of_b), of_sum);
  const Value log_x = log(x), by_x = mul(sub(a, 1.0), log_x);
  const Value log_rest = log1p(neg(x)), logs = add(mul(sub(b, 1.0), log_rest), by_x);
  return mul(exp(sub(logs, beta)), t);
}

constexpr std::string_view kExamples =
    "program (%x: f64[2,3] in 0.1..0.9) { %a: f64[2,3] = constant 1.5 %b: f64[2,3] = constant 2.5 "
    "%y: f64[2,3] = regularized_incomplete_beta(%a, %b, %x) return %y }; "
    "program (%x: f64[4] in 0.2..0.6) { %a: f64[4] = constant 20.0 %b: f64[4] = constant 30.0 "
    "%y: f64[4] = regularized_incomplete_beta(%a, %b, %x) return %y }; "
    "order=0 (f64[2,3] in 0.3..4, f64[2,3] in 0.3..4, f64[2,3] in 0.1..0.9)";

constexpr Row kRows[] = {LoopedFunction<3, Betainc>(
    "regularized_incomplete_beta",
    "y = regularized_incomplete_beta(a, b, x): the integral of t^(a-1) (1-t)^(b-1) below x, over that from 0 to 1",
    rules::Terms<rules::NoDerivative<0>, rules::NoDerivative<1>, ByArgument>, kExamples)};

}  // namespace

RowList regularized_incomplete_beta_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
