// By the sum of Lanczos with g = 7 and 9 terms (C. Lanczos, "A precision approximation of the gamma function", SIAM J.
// Numer. Anal. 1, 1964), coefficients as in JAX and GSL, in c128: in c64 its terms cancel.
//
// Left of 1/2 by reflection, log gamma(z) = log(pi / sin(pi z)) - log gamma(1 - z). With sin(pi z) = i e^(-i pi z) (1 -
// e^(2 pi i z)) / 2 its logarithm is continuous in the upper half plane; the lower one is its mirror image.
#include "host/scipy/complex_gamma.h"

#include <cmath>
#include <limits>

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

using namespace plain;

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kLanczos[] = {676.5203681218851,  -1259.1392167224028,  771.32342877765313,    -176.61502916214059,
                               12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};

// Right of 1/2.
Value LogLanczos(const Value& z) {
  Value sum = Num(z, 0.99999999999980993);
  double k = 0;
  for (const double c : kLanczos) sum = sum + c / (z + k++);
  const Value t = z + 6.5;
  return (z - 0.5) * lax::log(t) - t + lax::log(sum) + 0.5 * std::log(2 * kPi);
}
// log sin(pi z) of the upper half plane.
Value LogSine(const Value& z) {
  const Value re = lax::real(z), im = lax::imag(z), rest = re - lax::round(re, 1);
  const Value turned = lax::complex(im * (-2 * kPi), rest * (2 * kPi));  // 2 pi i z, but for whole turns
  const Value phase = lax::complex(im * kPi, (0.5 - re) * kPi);
  return phase + lax::log(-lax::expm1(turned)) - std::numbers::ln2;
}
Value LogGamma(const Value& z) {
  const Value left = lax::real(z) < 0.5, im = lax::imag(z), down = (im < 0) | (1 / im < 0);
  const Value upper = Where(down, lax::conj(z), z);
  const Value right = LogLanczos(Where(left, 1 - upper, upper));
  const Value reflected = std::log(kPi) - LogSine(Where(left, upper, 0.25)) - right,
              out = Where(left, reflected, right);
  return Where(down, lax::conj(out), out);
}
// f of c128, NaN at the poles and of NaN.
Value AwayFromPoles(const Value& z, Value (*f)(const Value&)) {
  const Value v = To(z, DType::kC128), re = lax::real(v);
  const Value none = IsNaN(v) | ((lax::imag(v) == 0) & (re <= 0) & (re == lax::floor(re)));
  const Value nan = Num(re, std::numeric_limits<double>::quiet_NaN());
  return To(Where(none, lax::complex(nan, nan), f(Where(none, 1, v))), z.dtype());
}

}  // namespace

Value ComplexGamma(const Value& z) {
  return AwayFromPoles(z, [](const Value& v) { return lax::exp(LogGamma(v)); });
}
Value ComplexLogGamma(const Value& z) { return AwayFromPoles(z, LogGamma); }

}}}}  // namespace ricci::v0::scipy::special
