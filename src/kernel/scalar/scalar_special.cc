// erf_inv starts from a polynomial of M. Giles, "Approximating the erfinv function" (GPU Computing Gems, 2011), or in
// the tail from the asymptotic form of erfc, and refines by Halley steps; in the tail the residual uses erfc, since erf
// has lost its digits there. digamma: recurrence up to 16, then the asymptotic series with Bernoulli numbers;
// reflection for x < 0; all in long double, because its terms cancel near the zeros.
#include "kernel/scalar/scalar_special.h"

#include <cmath>

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

// For x in (0, 1). The form for the tail is within a hundredth, from its beginning on.
double ErfInvStart(double x) {
  static constexpr double kCentre[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                       -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  const double w = -std::log((1 - x) * (1 + x));
  if (w >= 5) {  // erfc y is about exp(-y^2) / (y sqrt(pi))
    const double log = -std::log((1 - x) * 1.77245385090551602730);
    return std::sqrt(log - 0.5 * std::log(log));
  }
  double v = 0;
  for (double c : kCentre) v = v * (w - 2.5) + c;
  return v * x;
}

// digamma for x > 0.
long double UpperDigamma(long double x) {
  long double shift = 0;
  for (; x < 16; x += 1) shift -= 1 / x;
  static constexpr long double kSeries[] = {-3617.0L / 8160, 1.0L / 12,  -691.0L / 32760, 1.0L / 132,
                                            -1.0L / 240,     1.0L / 252, -1.0L / 120,     1.0L / 12};
  const long double z = 1 / (x * x);
  long double series = 0;
  for (long double c : kSeries) series = series * z + c;
  return shift + std::log(x) - 0.5L / x - z * series;
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
  if (x > 0) return static_cast<double>(UpperDigamma(x));
  // The remainder is exact, so tan keeps its digits far from 0.
  const long double rest = x - std::round(x);
  if (rest == 0) return std::nan("");
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  return static_cast<double>(UpperDigamma(1 - static_cast<long double>(x)) - kPi / std::tan(kPi * rest));
}

// The C library's version for double is off by up to three units in the last place where the result is just below a
// power of two.
double Cbrt(double x) { return static_cast<double>(std::cbrt(static_cast<long double>(x))); }

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

}}}  // namespace ricci::v0::kernel
