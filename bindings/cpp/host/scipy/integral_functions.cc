// Functions of jax.scipy.special that are integrals of elementary ones: fresnel, sici and spence.
//
// fresnel and sici are fits of the functions near 0 and, further out, of the slowly varying f and g of Abramowitz and
// Stegun, 7.3.5 and 5.2.6. spence is the series of the dilogarithm in
// powers of a logarithm, with Bernoulli's numbers, after the reflections that bring its argument between 1/2 and 1.
#include <limits>

#include "host/scipy/special_steps.h"
#include "ricci/scipy_special.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

using namespace plain;

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

// Of pi r for 0 <= r < 2: {sine, cosine} of the distance to the nearest quarter turn, in its quadrant.
ValuePair SinCosPi(const Value& r) {
  const Value quarter = lax::floor(r * 2 + 0.5), angle = (r - quarter / 2) * kPi;
  const Value s = lax::sin(angle), c = lax::cos(angle);
  const Value odd = (quarter == 1) | (quarter == 3);
  const Value sine = Where(odd, c, s), cosine = Where(odd, s, c);
  return {Where((quarter == 2) | (quarter == 3), -sine, sine), Where((quarter == 1) | (quarter == 2), -cosine, cosine)};
}

// ---- fresnel ----

// {sine, cosine} of pi x^2 / 2. With s = x mod 2 the angle is pi s (x - s / 2) and some whole turns.
ValuePair FresnelSlope(const Value& x) {
  const Value size = lax::abs(x), two = Num(x, 2), s = lax::rem(size, two);
  return SinCosPi(lax::rem(s * (size - s / 2), two));
}
ValuePair NearFresnel(const Value& x) {
  const Value x2 = lax::square(x), t = lax::square(x2);
  return {x * x2 * Ratio(t, fits::kFresnelNearSTop, fits::kFresnelNearSBottom),
          x * Ratio(t, fits::kFresnelNearCTop, fits::kFresnelNearCBottom)};
}
// {f, g} at u = 1 / (pi x^2)^2; g lacks a factor of sqrt(u).
ValuePair FresnelAuxiliary(const Value& u) {
  return {1 - u * Ratio(u, fits::kFresnelFTop, fits::kFresnelFBottom),
          Ratio(u, fits::kFresnelGTop, fits::kFresnelGBottom)};
}
// For x > 1.6.
ValuePair FarFresnel(const Value& x) {
  const auto [sine, cosine] = FresnelSlope(x);
  const Value t = 1 / (kPi * lax::square(x));
  const auto [f, g0] = FresnelAuxiliary(lax::square(t));
  const Value g = t * g0, scale = kPi * x;
  return {0.5 - (f * cosine + g * sine) / scale, 0.5 + (f * sine - g * cosine) / scale};
}
ValuePair Fresnel(const Value& x) {
  const Value size = lax::abs(x), near = size < 1.6, infinite = size == kInf, sign = lax::sign(x);
  const auto [s, c] = NearFresnel(Where(near, x, 1));
  const auto [far_s, far_c] = FarFresnel(Where(near | infinite, 2, size));
  return {Where(near, s, sign * Where(infinite, 0.5, far_s)), Where(near, c, sign * Where(infinite, 0.5, far_c))};
}
ValuePair SlopeOfFresnel(const Value& x, const ValuePair&) { return FresnelSlope(x); }

// ---- sici ----

// For 0 <= x <= 4.
ValuePair NearSiCi(const Value& x) {
  const Value t = lax::square(x);
  return {x * Ratio(t, fits::kSiNearTop, fits::kSiNearBottom),
          std::numbers::egamma + lax::log(x) + t * Ratio(t, fits::kCiNearTop, fits::kCiNearBottom)};
}
// {f x, g x^2} at z = 1 / x^2, for 4 < x <= 8 and for larger x.
ValuePair MiddleAuxiliary(const Value& z) {
  return {Ratio(z, fits::kSiCiMiddleFTop, fits::kSiCiMiddleFBottom),
          Ratio(z, fits::kSiCiMiddleGTop, fits::kSiCiMiddleGBottom)};
}
ValuePair FarAuxiliary(const Value& z) {
  return {Ratio(z, fits::kSiCiFarFTop, fits::kSiCiFarFBottom), Ratio(z, fits::kSiCiFarGTop, fits::kSiCiFarGBottom)};
}
ValuePair FarSiCi(const Value& x) {
  const Value z = 1 / lax::square(x), far = x >= 8;
  const auto middle = MiddleAuxiliary(z), outer = FarAuxiliary(z);
  const Value f = Where(far, outer.first, middle.first) / x, g = z * Where(far, outer.second, middle.second);
  const Value sine = lax::sin(x), cosine = lax::cos(x);
  return {kPi / 2 - f * cosine - g * sine, f * sine - g * cosine};
}
ValuePair SiCi(const Value& x) {
  const Value size = lax::abs(x), near = size <= 4, infinite = size == kInf;
  const auto [s, c] = NearSiCi(Where(near, size, 1));
  const auto [far_s, far_c] = FarSiCi(Where(near | infinite, 5, size));
  const Value si = Where(near, s, Where(infinite, kPi / 2, far_s));
  const Value ci = Where(near, c, Where(infinite, Where(x > 0, 0, Num(x, kNaN)), far_c));
  return {lax::sign(x) * si, ci};
}
ValuePair SlopeOfSiCi(const Value& x, const ValuePair&) {
  const Value zero = x == 0;
  return {Where(zero, 1, lax::sin(x) / Where(zero, 1, x)), lax::cos(x) / x};
}

// ---- spence ----

// For 1/2 <= z <= 1: the sum of B_n u^(n + 1) / (n + 1)! with u = -log(z).
Value SpenceSeries(const Value& u) {
  const Value u2 = lax::square(u);
  const Value even =
      Polynomial(u2, {-3617 / (510 * 355687428096e3), 7 / (6 * 1307674368e3), -691 / (2730 * 6227020800.0),
                      1 / 526901760.0, -1 / 10886400.0, 1 / 211680.0, -1 / 3600.0, 1 / 36.0, 1});
  return u * even - u2 / 4;
}
// A reflection about 1/2 for x below it, after one about 1 for x above 2.
Value Spence(const Value& x) {
  const Value above = x > 2, y = Where(above, 1 / x, x), below = y < 0.5, zero = y == 0;
  const Value log = lax::log(Where(zero, 1, y)), log1m = lax::log1p(Where(below, -y, 0));
  const Value series = SpenceSeries(-Where(below, log1m, log));
  const Value reflected = Where(below, kPi * kPi / 6 - log * log1m - series, series);
  const Value log_x = lax::log(Where(above, x, 1));
  const Value out = Where(above, -0.5 * lax::square(log_x) - reflected, reflected);
  return Where((x < 0) | IsNaN(x), kNaN, out);
}
Value SlopeOfSpence(const Value& x, const Value&) {
  const Value one = x == 1;
  return Where(one, -1, lax::log(x) / Where(one, 1, 1 - x));
}

}  // namespace

std::pair<Value, Value> fresnel(const Operand& x) {
  const RealOperands in("fresnel", {&x, 1});
  const ValuePair out = WithSlope<Fresnel, SlopeOfFresnel>(in.wide[0]);
  return {in.Narrowed(out.first), in.Narrowed(out.second)};
}
std::pair<Value, Value> sici(const Operand& x) {
  const RealOperands in("sici", {&x, 1});
  const ValuePair out = WithSlope<SiCi, SlopeOfSiCi>(in.wide[0]);
  return {in.Narrowed(out.first), in.Narrowed(out.second)};
}
Value spence(const Operand& x) {
  const RealOperands in("spence", {&x, 1});
  return in.Narrowed(WithSlope<Spence, SlopeOfSpence>(in.wide[0]));
}

}}}}  // namespace ricci::v0::scipy::special
