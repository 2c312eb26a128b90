// erf_inv starts from the polynomials of M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011; the
// single precision pair) and sharpens by Halley steps; in the tail the residual is taken with erfc, where erf has lost
// its digits. digamma: recurrence up to 10, then the asymptotic series with Bernoulli numbers; reflection for x < 0.
#include "kernel/scalar_special.h"

#include <cmath>

namespace ricci::inline v0::kernel {
namespace {

double Polynomial(const double* c, int n, double x) {
  double v = c[0];
  for (int i = 1; i < n; ++i) v = v * x + c[i];
  return v;
}

double ErfInvStart(double x) {
  static constexpr double kCentre[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                       -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static constexpr double kTail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                     -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  const double w = -std::log((1 - x) * (1 + x));
  if (w < 5) return Polynomial(kCentre, 9, w - 2.5) * x;
  return Polynomial(kTail, 9, std::sqrt(w) - 3) * x;
}

}  // namespace

double ErfInv(double x) {
  if (!(std::fabs(x) <= 1)) return std::nan("");
  if (std::fabs(x) == 1) return std::copysign(INFINITY, x);
  if (x == 0) return x;
  const double ax = std::fabs(x);
  double y = ErfInvStart(ax);
  for (int step = 0; step < 5; ++step) {
    const double error = ax > 0.5 ? (1 - ax) - std::erfc(y) : std::erf(y) - ax;
    const double newton = error / (1.12837916709551257390 * std::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

double Digamma(double x) {
  if (std::isnan(x) || x == -INFINITY) return std::nan("");
  if (x == INFINITY) return x;
  if (x <= 0) {
    if (x == std::floor(x)) return std::nan("");
    // The remainder is exact, so that tan keeps its digits far from 0.
    return Digamma(1 - x) - M_PI / std::tan(M_PI * (x - std::round(x)));
  }
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  static constexpr double kSeries[] = {1.0 / 12,  -691.0 / 32760, 1.0 / 132, -1.0 / 240,
                                       1.0 / 252, -1.0 / 120,     1.0 / 12};
  const double z = 1 / (x * x);
  return shift + std::log(x) - 0.5 / x - z * Polynomial(kSeries, 7, z);
}

double LogGamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double Logistic(double x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const double e = std::exp(x);
  return e / (1 + e);
}

double SignOf(double x) {
  if (std::isnan(x) || x == 0) return x;
  return x < 0 ? -1 : 1;
}

}  // namespace ricci::inline v0::kernel
