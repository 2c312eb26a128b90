// jax.scipy.special from the built-in primitives, with JAX's formulas except where those cancel.
#include "ricci/scipy_special.hpp"

#include <cmath>
#include <limits>

#include "host/scipy/complex_gamma.h"
#include "host/scipy/special_steps.h"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

using namespace plain;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
Values UsePair(std::string_view name, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  return UseTogether(name, in, /*inexact=*/true);
}
Values UseRealPair(std::string_view name, const Operand& a, const Operand& b) {
  Values v = UsePair(name, a, b);
  WantReal(name, a.at, v);
  return v;
}
Value GammaSign(const Value& x) {
  const Value whole = lax::floor(x), negative = x < 0;
  const Value odd = lax::rem(whole, Num(whole, 2)) != 0, minus_zero = 1 / x == -kInf;
  const Value sign = Where((negative & odd) | minus_zero, -1, lax::ones_like(x));
  return Where((negative & (whole == x)) | (x == -kInf), kNaN, sign);
}
// x times the logarithm, 0 where x is: with the slopes of JAX, which are those beside 0.
Value TimesLog(const Value& x, const Value& y, const Value& log) { return Where((x == 0) & ~IsNaN(y), 0, x * log); }
Value XLogY(const Value& x, const Value& y) { return TimesLog(x, y, lax::log(y)); }
Value XLogYByX(const Value&, const Value& y) { return lax::log(y); }
Value XLogYByY(const Value& x, const Value& y) { return x / y; }
Value XLog1pY(const Value& x, const Value& y) { return TimesLog(x, y, lax::log1p(y)); }
Value XLog1pYByX(const Value&, const Value& y) { return lax::log1p(y); }
Value XLog1pYByY(const Value& x, const Value& y) { return x / (1 + y); }
Value Logit(const Value& x) { return lax::log(x / (1 - x)); }
Value LogitSlope(const Value& x, const Value&) { return 1 / (x * (1 - x)); }

}  // namespace

Value digamma(const Operand& x) { return ricci::digamma(x); }
Value erf(const Operand& x) { return ricci::erf(x); }
Value erfc(const Operand& x) { return ricci::erfc(x); }
Value erfinv(const Operand& x) { return ricci::erf_inv(x); }
Value expit(const Operand& x) { return sigmoid(x); }
Value logit(const Operand& x) {
  const Value v = UseInexact("logit", x);
  return WithSlope<Logit, LogitSlope>(v);
}
Value logsumexp(const Operand& x, const Axes& axes, bool keepdims) { return ricci::logsumexp(x, axes, keepdims); }
Value logsumexp(const Operand& x, const Axes& axes, const Operand& weights, bool keepdims) {
  const Values v = UsePair("logsumexp", x, weights);
  const Value counts = v[1] != 0, seen = Where(counts, v[0], -kInf);
  const Value top = max(Operand(seen, x.at), axes, /*keepdims=*/true);
  const Value shift = lax::stop_gradient(Where(lax::is_finite(top), top, 0));
  const Operand terms(v[1] * Where(counts, lax::exp(v[0] - shift), 0), x.at);
  return lax::log(sum(terms, axes, keepdims)) + sum(Operand(shift, x.at), axes, keepdims);
}
Value softmax(const Operand& x, AxisNumber axis) { return ricci::softmax(x, axis); }
Value log_softmax(const Operand& x, AxisNumber axis) { return ricci::log_softmax(x, axis); }

Value gammaln(const Operand& x) { return lgamma(x); }
Value gammasgn(const Operand& x) {
  const Value v = UseRealInexact("gammasgn", x);
  return GammaSign(v);
}
Value gamma(const Operand& x) {
  const Value v = UseInexact("gamma", x);
  if (IsComplex(v.dtype())) return ComplexGamma(v);
  return GammaSign(v) * lax::exp(lax::lgamma(v));
}
Value factorial(const Operand& n) {
  const Value v = UseInexact("factorial", n);
  return Where(v < 0, 0, lax::exp(lax::lgamma(v + 1)));
}

namespace {

// log gamma(x) - ((x - 1/2) log x - x + log(2 pi) / 2), the rest of Stirling's formula, for x >= kLarge.
constexpr double kLarge = 8;
Value StirlingRest(const Value& x) {
  const Value r = 1 / x;
  return r * Polynomial(r * r, {-3617.0 / 122400, 1.0 / 156, -691.0 / 360360, 1.0 / 1188, -1.0 / 1680, 1.0 / 1260,
                                -1.0 / 360, 1.0 / 12});
}
// For q >= p >= kLarge.
Value LogBetaOfLarge(const Value& p, const Value& q) {
  const Value sum = p + q, rest = StirlingRest(p) + (StirlingRest(q) - StirlingRest(sum));
  const Value halves = 0.5 * std::log(2 * std::numbers::pi) - 0.5 * lax::log(q);
  return rest + halves + (p - 0.5) * lax::log(p / sum) - q * lax::log1p(p / q);
}
// For q >= kLarge and p > 0.
Value LogBetaOfOneLarge(const Value& p, const Value& q) {
  const Value sum = p + q, rest = StirlingRest(q) - StirlingRest(sum);
  return rest + lax::lgamma(p) + p - p * lax::log(sum) + (q - 0.5) * lax::log1p(-p / sum);
}
// Logarithms of gamma functions cancel where arguments are large (JAX subtracts them), so their leading terms are
// subtracted in closed form (A. R. DiDonato, A. H. Morris, ACM TOMS 18, 1992). Unused branches get harmless arguments,
// so that slopes of every order are finite.
Value LogBeta(const Value& a, const Value& b) {
  const Value is_ordered = a <= b, p = Where(is_ordered, a, b), q = Where(is_ordered, b, a);
  const Value one = (p > 0) & (q >= kLarge), both = one & (p >= kLarge), some = one & ~both;
  const Value large = Where(one, q, kLarge);
  const Value of_small = [&] {
    const Value x = Where(one, 1, p), y = Where(one, 1, q);
    return lax::lgamma(x) + (lax::lgamma(y) - lax::lgamma(x + y));
  }();
  const Value of_large = LogBetaOfLarge(Where(both, p, kLarge), large);
  return Where(both, of_large, Where(some, LogBetaOfOneLarge(Where(some, p, 1), large), of_small));
}
// log gamma(z + m) - log gamma(z).
Value LogGammaRatio(const Value& z, const Value& m) {
  const Value large = (z >= kLarge) & (m > 0), safe_z = Where(large, z, kLarge), safe_m = Where(large, m, 1);
  const Value difference = lax::lgamma(z + m) - lax::lgamma(z);
  return Where(large, lax::lgamma(safe_m) - LogBeta(safe_z, safe_m), difference);
}

}  // namespace

Value betaln(const Operand& a, const Operand& b) {
  const Values v = UseRealPair("betaln", a, b);
  return LogBeta(v[0], v[1]);
}
Value beta(const Operand& a, const Operand& b) {
  const Values v = UseRealPair("beta", a, b);
  const Value sign = GammaSign(v[0]) * GammaSign(v[1]) * GammaSign(v[0] + v[1]);
  return sign * lax::exp(LogBeta(v[0], v[1]));
}

namespace {

Value Poch(const Value& z, const Value& m) {
  const Value size = lax::exp(LogGammaRatio(z, m));
  return Where(m == 0, 1, GammaSign(z + m) * GammaSign(z) * size);
}
Value PochByZ(const Value& z, const Value& m);
Value PochByM(const Value& z, const Value& m);
Value PochWithSlopes(const Value& z, const Value& m) { return WithSlopes<Poch, PochByZ, PochByM>(z, m); }
Value PochByZ(const Value& z, const Value& m) { return (lax::digamma(z + m) - lax::digamma(z)) * PochWithSlopes(z, m); }
Value PochByM(const Value& z, const Value& m) { return lax::digamma(z + m) * PochWithSlopes(z, m); }

}  // namespace

Value poch(const Operand& z, const Operand& m) {
  const Values v = UseRealPair("poch", z, m);
  return PochWithSlopes(v[0], v[1]);
}
Value polygamma(const Operand& n, const Operand& x) { return Binary("polygamma", "polygamma", n, x, /*inexact=*/true); }
Value zeta(const Operand& x, const Operand& q) { return Binary("zeta", "zeta", x, q, /*inexact=*/true); }
Value multigammaln(const Operand& a, int64_t d) {
  const Value v = UseInexact("multigammaln", a);
  if (d < 1) FailAt(a.at, "multigammaln: d is ", d, "; it must be at least 1");
  const auto n = static_cast<double>(d);
  Value out = Num(v, n * (n - 1) / 4 * std::log(std::numbers::pi));
  for (int64_t j = 0; j < d; ++j) out = out + lax::lgamma(v - static_cast<double>(j) / 2);
  return out;
}

Value loggamma(const Operand& x) {
  const Value v = UseInexact("loggamma", x);
  if (IsComplex(v.dtype())) return ComplexLogGamma(v);
  return Where(v > 0, lax::lgamma(v), kNaN);
}

namespace {

Value Choices(const Value& n, const Value& k) {
  const Value counts = (k <= n) & (n >= 0) & (k >= 0), all = Where(counts, n, 0), some = Where(counts, k, 0);
  const Value log = lax::log(all + 1) + LogBeta(some + 1, all - some + 1);
  return Where(counts, lax::exp(-log), 0);
}

}  // namespace

Value comb(const Operand& n, const Operand& k, bool repetition) {
  const Values v = UseRealPair("comb", n, k);
  if (!repetition) return Choices(v[0], v[1]);
  return Where((v[1] == 0) & (v[0] >= 0), 1, Choices(v[0] + v[1] - 1, v[1]));
}
Value gammainc(const Operand& a, const Operand& x) { return Binary("gammainc", "igamma", a, x, /*inexact=*/true); }
Value gammaincc(const Operand& a, const Operand& x) { return Binary("gammaincc", "igammac", a, x, /*inexact=*/true); }
Value betainc(const Operand& a, const Operand& b, const Operand& x) {
  const Operand in[] = {a, b, x};
  const Values v = UseTogether("betainc", in, /*inexact=*/true);
  return lax::betainc(v[0], v[1], v[2]);
}
Value i0(const Operand& x) { return ricci::i0(x); }
Value i0e(const Operand& x) { return lax::bessel_i0e(UseInexact("i0e", x)); }
Value i1(const Operand& x) {
  const Value v = UseInexact("i1", x);
  return lax::exp(lax::abs(v)) * lax::bessel_i1e(v);
}
Value i1e(const Operand& x) { return lax::bessel_i1e(UseInexact("i1e", x)); }

Value xlogy(const Operand& x, const Operand& y) {
  const Values v = UsePair("xlogy", x, y);
  return WithSlopes<XLogY, XLogYByX, XLogYByY>(v[0], v[1]);
}
Value xlog1py(const Operand& x, const Operand& y) {
  const Values v = UsePair("xlog1py", x, y);
  return WithSlopes<XLog1pY, XLog1pYByX, XLog1pYByY>(v[0], v[1]);
}

namespace {

Value BoxCox(const Value& log, const Value& lambda) {
  const Value zero = lambda == 0, safe = Where(zero, 1, lambda);
  return Where(zero, log, lax::expm1(safe * Where(zero, 0, log)) / safe);
}

}  // namespace

Value boxcox(const Operand& x, const Operand& lmbda) {
  const Values v = UsePair("boxcox", x, lmbda);
  return BoxCox(lax::log(v[0]), v[1]);
}
Value boxcox1p(const Operand& x, const Operand& lmbda) {
  const Values v = UsePair("boxcox1p", x, lmbda);
  return BoxCox(lax::log1p(v[0]), v[1]);
}

namespace {

Value Entr(const Value& x) { return Where(x < 0, -kInf, -XLogY(x, x)); }
Value EntrSlope(const Value& x, const Value&) { return -lax::log(x) - 1; }

}  // namespace

Value entr(const Operand& x) {
  const Value v = UseRealInexact("entr", x);
  return WithSlope<Entr, EntrSlope>(v);
}

namespace {

// log(p / q), also where the ratio is too large or too small for a number.
Value LogRatio(const Value& p, const Value& q) {
  const Value ratio = p / q;
  return Where((ratio == 0) | (ratio == kInf), lax::log(p) - lax::log(q), lax::log(ratio));
}
Value Relative(const Value& p, const Value& q) { return p * LogRatio(p, q); }
Value RelativeByP(const Value& p, const Value& q) { return LogRatio(p, q) + 1; }
Value RelativeByQ(const Value& p, const Value& q) { return -p / q; }
// p log(p / q) where both are positive, 0 where p is 0 and q not negative, else infinity.
Value RelEntr(const Value& p, const Value& q) {
  const Value positive = (p > 0) & (q > 0), at_zero = (p == 0) & (q >= 0);
  const Value both = WithSlopes<Relative, RelativeByP, RelativeByQ>(Where(positive, p, 1), Where(positive, q, 1));
  return Where(positive, both, Where(at_zero, lax::zeros_like(p), kInf));
}

}  // namespace

Value rel_entr(const Operand& p, const Operand& q) {
  const Values v = UseRealPair("rel_entr", p, q);
  return RelEntr(v[0], v[1]);
}
Value kl_div(const Operand& p, const Operand& q) {
  const Values v = UseRealPair("kl_div", p, q);
  return RelEntr(v[0], v[1]) - v[0] + v[1];
}

namespace {

Value Ndtr(const Value& x) {
  const double half_root = std::sqrt(0.5);
  const Value w = x * half_root, z = lax::abs(w);
  const Value tail = lax::erfc(z);
  return Where(z < half_root, 1 + lax::erf(w), Where(w > 0, 2 - tail, tail)) * 0.5;
}
// Fits of the middle and of two ranges of the tail; for these it is z - log(z) / z and a correction, with p = exp(-z^2
// / 2), as in the asymptotic series.
Value MiddleOfNdtri(const Value& p) {
  const Value y = p - 0.5, y2 = y * y;
  return (y + y * y2 * Ratio(y2, fits::kNdtriMiddleTop, fits::kNdtriMiddleBottom)) * std::sqrt(2 * std::numbers::pi);
}
Value Ndtri(const Value& p) {
  const double edge = std::exp(-2.0);
  const Value upper = p > 1 - edge, q = Where(upper, 1 - p, p);
  const Value safe = Where((q > 0) & (q < 1), q, 0.5);
  const Value z = lax::sqrt(lax::log(safe) * -2), first = z - lax::log(z) / z, inverse = 1 / z;
  const Value near = Ratio(inverse, fits::kNdtriNearTop, fits::kNdtriNearBottom);
  const Value tail = first - Where(z < 8, near, Ratio(inverse, fits::kNdtriFarTop, fits::kNdtriFarBottom)) * inverse;
  const Value out = Where(q > edge, MiddleOfNdtri(q), Where(upper, tail, -tail));
  return Where(p == 0, -kInf, Where(p == 1, kInf, Where((p < 0) | (p > 1) | IsNaN(p), kNaN, out)));
}
// log(ndtr(x)) far below 0, by three terms of the asymptotic series.
Value LogNdtrBelow(const Value& x) {
  const Value x2 = lax::square(x), series = 1 - 1 / x2 + 3 / (x2 * x2) - 15 / (x2 * x2 * x2);
  return x2 * -0.5 - lax::log(-x) - 0.5 * std::log(2 * std::numbers::pi) + lax::log(series);
}

}  // namespace

Value ndtr(const Operand& x) {
  const Value v = UseRealInexact("ndtr", x);
  return Ndtr(v);
}
Value ndtri(const Operand& p) {
  const Value v = UseRealInexact("ndtri", p);
  return Ndtri(v);
}
Value log_ndtr(const Operand& x) {
  const Value v = UseRealInexact("log_ndtr", x);
  const bool wide = v.dtype() == DType::kF64;
  const double low = wide ? -20 : -10, high = wide ? 8 : 5;
  const Value middle = lax::log(Ndtr(Max(v, Scalar(v, low)))), below = LogNdtrBelow(Min(v, Scalar(v, low)));
  return Where(v > high, -Ndtr(-v), Where(v > low, middle, below));
}

}}}}  // namespace ricci::v0::scipy::special
