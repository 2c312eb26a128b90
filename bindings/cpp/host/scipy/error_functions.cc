// The relatives of the error function in jax.scipy.special: wofz, erfcx, dawsn and owens_t.
//
// wofz and erfcx are one rational series, whose coefficients are computed here: J. A. C. Weideman, "Computation of the
// complex error function", SIAM J. Numer. Anal. 31, 1994. 40 terms leave 2e-14 of wofz and no more than roundings of
// erfcx. dawsn is a fit in three ranges, because the imaginary part of wofz loses the digits of small arguments.
// owens_t is an integral by Gauss's rule, as method T5 of M. Patefield and D. Tandy, "Fast and accurate calculation of
// Owen's T function", J. Stat. Softw. 5, 2000.
#include <array>
#include <cmath>

#include "host/scipy/special_steps.h"
#include "ricci/scipy_special.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

using namespace plain;

namespace {

const double kPi = std::numbers::pi, kInvSqrtPi = std::numbers::inv_sqrtpi, kSqrt2 = std::numbers::sqrt2;

// ---- wofz and erfcx ----

// w(z) = 2 p(Z) / (L - iz)^2 + 1 / (sqrt(pi) (L - iz)) with Z = (L + iz) / (L - iz), for z in the upper half plane;
// Z is written so that it is finite at infinity.
struct WeidemanSeries {
  static constexpr int kTerms = 40, kPoints = 4 * kTerms;
  double scale = std::sqrt(kTerms / kSqrt2);  // L
  std::array<double, kTerms> coefficients;    // of p, the highest power first
  WeidemanSeries();
};
// The coefficients are those of the Fourier series of exp(-t^2) (L^2 + t^2) at t = L tan(theta / 2).
WeidemanSeries::WeidemanSeries() {
  for (int n = 1; n <= kTerms; ++n) {
    double sum = scale * scale;
    for (int k = 1; k < kPoints / 2; ++k) {
      const double theta = 2 * kPi * k / kPoints, t = scale * std::tan(theta / 2);
      sum += 2 * std::exp(-t * t) * (scale * scale + t * t) * std::cos(n * theta);
    }
    coefficients[static_cast<size_t>(kTerms - n)] = sum / kPoints;
  }
}
// w at z where `iz` is i z: a complex number with a real part of at most 0, or a real one.
Value UpperWofz(const Value& iz) {
  const WeidemanSeries series;
  const Value below = series.scale - iz, ratio = 2 * series.scale / below - 1;
  return 2 * (Polynomial(ratio, series.coefficients) / below) / below + kInvSqrtPi / below;
}
Value TimesI(const Value& z) { return lax::complex(-lax::imag(z), lax::real(z)); }

Value Wofz(const Value& z) {
  const Value upper = lax::imag(z) >= 0;
  const Value w = UpperWofz(TimesI(Where(upper, z, -z)));
  return Where(upper, w, 2 * lax::exp(-(z * z)) - w);
}
Value WofzSlope(const Value& z, const Value& w) {
  const Value zero = lax::zeros_like(lax::real(z));
  return lax::complex(zero, zero + 2 * kInvSqrtPi) - 2 * (z * w);
}

Value Erfcx(const Value& x) {
  const Value w = UpperWofz(-lax::abs(x));
  return Where(x < 0, 2 * lax::exp(lax::square(x)) - w, w);
}
Value ErfcxSlope(const Value& x, const Value& y) { return 2 * (x * y) - 2 * kInvSqrtPi; }

// ---- dawsn ----

Value Dawson(const Value& x) {
  const Value size = lax::abs(x), near = size < 3.25, x2 = lax::square(Where(near, size, 1));
  const Value large = Where(near, 4, size), t = 1 / lax::square(large);
  const Value middle = Ratio(t, fits::kDawsonMiddleTop, fits::kDawsonMiddleBottom);
  const Value far = Ratio(t, fits::kDawsonFarTop, fits::kDawsonFarBottom);
  const Value beyond = t * Where(size < 6.25, middle, far) + 1;
  const Value inner = x * Ratio(x2, fits::kDawsonNearTop, fits::kDawsonNearBottom);
  return Where(near, inner, lax::sign(x) * (0.5 / large * beyond));
}
Value DawsonSlope(const Value& x, const Value& y) { return 1 - 2 * (x * y); }

// ---- owens_t ----

// Gauss's rule of 26 points on (-1, 1): those above 0, with their weights.
struct GaussRule {
  static constexpr int kPoints = 26;
  std::array<double, kPoints / 2> points, weights;
  GaussRule();
};
struct Legendre {
  double value, slope;
};
Legendre LegendreAt(int degree, double x) {
  double before = 1, value = x;
  for (int k = 2; k <= degree; ++k) {
    const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
    before = value;
    value = next;
  }
  return {value, degree * (x * value - before) / (x * x - 1)};
}
// The points are the roots of the Legendre polynomial, by Newton's method.
GaussRule::GaussRule() {
  for (size_t i = 0; i < points.size(); ++i) {
    double x = std::cos(kPi * (static_cast<double>(i) + 0.75) / (kPoints + 0.5));
    for (int step = 0; step < 6; ++step) {
      const Legendre p = LegendreAt(kPoints, x);
      x -= p.value / p.slope;
    }
    points[i] = x;
    const double slope = LegendreAt(kPoints, x).slope;
    weights[i] = 2 / ((1 - x * x) * slope * slope);
  }
}
// The integral of exp(-h^2 (1 + t^2) / 2) / (1 + t^2) over 0 < t < a, over 2 pi, for 0 <= a <= 1.
Value OwensIntegral(const Value& h, const Value& a) {
  const GaussRule rule;
  const Value a2 = lax::square(a), h2 = lax::square(h);
  Value sum = lax::zeros_like(a);
  for (size_t i = 0; i < rule.points.size(); ++i) {
    const Value r = a2 * (rule.points[i] * rule.points[i]) + 1;
    sum = sum + lax::exp(-0.5 * (h2 * r)) / r * rule.weights[i];
  }
  return a * sum / (2 * kPi);
}
// T(h, a) + T(a h, 1 / a), for a > 0.
Value OwensTotal(const Value& h, const Value& ah) {
  const Value u = h / kSqrt2, v = ah / kSqrt2;
  const Value p = lax::erfc(u), q = lax::erfc(v);
  return Where(ah <= 0.67, 0.25 - 0.25 * (lax::erf(u) * lax::erf(v)), 0.25 * (p + q - p * q));
}
Value OwensT(const Value& h, const Value& a) {
  const Value high = lax::abs(h), wide = lax::abs(a), far = wide > 1, zero = high == 0;
  const Value ah = Where(zero, 0, high * wide);
  const Value part = OwensIntegral(Where(far, ah, high), Where(far, 1 / Where(far, wide, 1), wide));
  const Value all = Where(far, OwensTotal(high, ah) - part, part);
  const Value out = lax::sign(a) * Where(zero, lax::atan(wide) / (2 * kPi), all);
  return Where(IsNaN(h) | IsNaN(a), std::numeric_limits<double>::quiet_NaN(), out);
}
Value OwensSlopeOfH(const Value& h, const Value& a) {
  return -lax::exp(-0.5 * lax::square(h)) * lax::erf(a * h / kSqrt2) / (2 * std::sqrt(2 * kPi));
}
Value OwensSlopeOfA(const Value& h, const Value& a) {
  const Value r = lax::square(a) + 1;
  return lax::exp(-0.5 * (lax::square(h) * r)) / (2 * kPi * r);
}

}  // namespace

Value wofz(const Operand& z) {
  const Value v = UseInexact("wofz", z);
  const bool wide = v.dtype() == DType::kF64 || v.dtype() == DType::kC128;
  return WithSlope<Wofz, WofzSlope>(To(v, wide ? DType::kC128 : DType::kC64));
}
Value erfcx(const Operand& x) {
  const Value v = UseInexact("erfcx", x);
  if (IsComplex(v.dtype())) return WithSlope<Wofz, WofzSlope>(TimesI(v));
  const RealOperands in("erfcx", {&x, 1});
  return in.Narrowed(WithSlope<Erfcx, ErfcxSlope>(in.wide[0]));
}
Value dawsn(const Operand& x) {
  const RealOperands in("dawsn", {&x, 1});
  return in.Narrowed(WithSlope<Dawson, DawsonSlope>(in.wide[0]));
}
Value owens_t(const Operand& h, const Operand& a) {
  const Operand xs[] = {h, a};
  const RealOperands in("owens_t", xs);
  return in.Narrowed(WithSlopes<OwensT, OwensSlopeOfH, OwensSlopeOfA>(in.wide[0], in.wide[1]));
}

}}}}  // namespace ricci::v0::scipy::special
