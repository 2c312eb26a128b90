// Functions of jax.scipy.special that are integrals of elementary ones: fresnel, sici and spence.
//
// fresnel and sici use the fits of S. Moshier's Cephes library (fresnl.c, sici.c): a power series near 0 and, further
// out, the slowly varying f and g of Abramowitz and Stegun, 7.3.5 and 5.2.6. spence is the series of the dilogarithm in
// powers of a logarithm, with Bernoulli's numbers, after the reflections that bring its argument between 1/2 and 1.
#include <limits>

#include "ricci/scipy_special.hpp"
#include "special_steps.h"

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
  const Value s_top = Polynomial(t, {-2.99181919401019853726e3, 7.08840045257738576863e5, -6.29741486205862506537e7,
                                     2.54890880573376359104e9, -4.42979518059697779103e10, 3.18016297876567817986e11});
  const Value s_bottom =
      Polynomial(t, {1, 2.81376268889994315696e2, 4.55847810806532581675e4, 5.17343888770096400730e6,
                     4.19320245898111231129e8, 2.24411795645340920940e10, 6.07366389490084639049e11});
  const Value c_top = Polynomial(t, {-4.98843114573573548651e-8, 9.50428062829859605134e-6, -6.45191435683965050962e-4,
                                     1.88843319396703850064e-2, -2.05525900955013891793e-1, 9.99999999999999998822e-1});
  const Value c_bottom =
      Polynomial(t, {3.99982968972495980367e-12, 9.15439215774657478799e-10, 1.25001862479598821474e-7,
                     1.22262789024179030997e-5, 8.68029542941784300606e-4, 4.12142090722199792936e-2, 1});
  return {x * x2 * (s_top / s_bottom), x * (c_top / c_bottom)};
}
// {f, g} at u = 1 / (pi x^2)^2; g lacks a factor of sqrt(u).
ValuePair FresnelAuxiliary(const Value& u) {
  const Value f_top = Polynomial(
      u, {4.21543555043677546506e-1, 1.43407919780758885261e-1, 1.15220955073585758835e-2, 3.45017939782574027900e-4,
          4.63613749287867322088e-6, 3.05568983790257605827e-8, 1.02304514164907233465e-10, 1.72010743268161828879e-13,
          1.34283276233062758925e-16, 3.76329711269987889006e-20});
  const Value f_bottom = Polynomial(
      u, {1, 7.51586398353378947175e-1, 1.16888925859191382142e-1, 6.44051526508858611005e-3, 1.55934409164153020873e-4,
          1.84627567348930545870e-6, 1.12699224763999035261e-8, 3.60140029589371370404e-11, 5.88754533621578410010e-14,
          4.52001434074129701496e-17, 1.25443237090011264384e-20});
  const Value g_top = Polynomial(
      u, {5.04442073643383265887e-1, 1.97102833525523411709e-1, 1.87648584092575249293e-2, 6.84079380915393090172e-4,
          1.15138826111884280931e-5, 9.82852443688422223854e-8, 4.45344415861750144738e-10, 1.08268041139020870318e-12,
          1.37555460633261799868e-15, 8.36354435630677421531e-19, 1.86958710162783235106e-22});
  const Value g_bottom = Polynomial(
      u, {1, 1.47495759925128324529, 3.37748989120019970451e-1, 2.53603741420338795122e-2, 8.14679107184306179049e-4,
          1.27545075667729118702e-5, 1.04314589657571990585e-7, 4.60680728146520428211e-10, 1.10273215066240270757e-12,
          1.38796531259578871258e-15, 8.39158816283118707363e-19, 1.86958710162783236342e-22});
  return {1 - u * (f_top / f_bottom), g_top / g_bottom};
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
  const Value s_top = Polynomial(t, {-8.39167827910303881427e-11, 4.62591714427012837309e-8, -9.75759303843632795789e-6,
                                     9.76945438170435310816e-4, -4.13470316229406538752e-2, 1.00000000000000000302});
  const Value s_bottom =
      Polynomial(t, {2.03269266195951942049e-12, 1.27997891179943299903e-9, 4.41827842801218905784e-7,
                     9.96412122043875552487e-5, 1.42085239326149893930e-2, 9.99999999999999996984e-1});
  const Value c_top = Polynomial(t, {2.02524002389102268789e-11, -1.35249504915790756375e-8, 3.59325051419993077021e-6,
                                     -4.74007206873407909465e-4, 2.89159652607555242092e-2, -1.00000000000000000080});
  const Value c_bottom =
      Polynomial(t, {4.07746040061880559506e-12, 3.06780997581887812692e-9, 1.23210355685883423679e-6,
                     3.17442024775032769882e-4, 5.10028056236446052392e-2, 4.00000000000000000080});
  return {x * (s_top / s_bottom), std::numbers::egamma + lax::log(x) + t * (c_top / c_bottom)};
}
// {f x, g x^2} at z = 1 / x^2, for 4 < x <= 8 and for larger x.
ValuePair MiddleAuxiliary(const Value& z) {
  const Value f_top =
      Polynomial(z, {4.23612862892216586994, 5.45937717161812843388, 1.62083287701538329132, 1.67006611831323023771e-1,
                     6.81020132472518137426e-3, 1.08936580650328664411e-4, 5.48900223421373614008e-7});
  const Value f_bottom = Polynomial(
      z, {1, 8.16496634205391016773, 7.30828822505564552187, 1.86792257950184183883, 1.78792052963149907262e-1,
          7.01710668322789753610e-3, 1.10034357153915731354e-4, 5.48900252756255700982e-7});
  const Value g_top = Polynomial(
      z, {8.71001698973114191777e-2, 6.11379109952219284151e-1, 3.97180296392337498885e-1, 7.48527737628469092119e-2,
          5.38868681462177273157e-3, 1.61999794598934024525e-4, 1.97963874140963632189e-6, 7.82579040744090311069e-9});
  const Value g_bottom = Polynomial(
      z, {1, 1.64402202413355338886, 6.66296701268987968381e-1, 9.88771761277688796203e-2, 6.22396345441768420760e-3,
          1.73221081474177119497e-4, 2.02659182086343991969e-6, 7.82579218933534490868e-9});
  return {f_top / f_bottom, g_top / g_bottom};
}
ValuePair FarAuxiliary(const Value& z) {
  const Value f_top =
      Polynomial(z, {4.55880873470465315206e-1, 7.13715274100146711374e-1, 1.60300158222319456320e-1,
                     1.16064229408124407915e-2, 3.49556442447859055605e-4, 4.86215430826454749482e-6,
                     3.20092790091004902806e-8, 9.41779576128512936592e-11, 9.70507110881952024631e-14});
  const Value f_bottom =
      Polynomial(z, {1, 9.17463611873684053703e-1, 1.78685545332074536321e-1, 1.22253594771971293032e-2,
                     3.58696481881851580297e-4, 4.92435064317881464393e-6, 3.21956939101046018377e-8,
                     9.43720590350276732376e-11, 9.70507110881952025725e-14});
  const Value g_top =
      Polynomial(z, {6.97359953443276214934e-1, 3.30410979305632063225e-1, 3.84878767649974295920e-2,
                     1.71718239052347903558e-3, 3.48941165502279436777e-5, 3.47131167084116673800e-7,
                     1.70404452782044526189e-9, 3.85945925430276600453e-12, 3.14040098946363334640e-15});
  const Value g_bottom =
      Polynomial(z, {1, 1.68548898811011640017, 4.87852258695304967486e-1, 4.67913194259625806320e-2,
                     1.90284426674399523638e-3, 3.68475504442561108162e-5, 3.57043223443740838771e-7,
                     1.72693748966316146736e-9, 3.87830166023954706752e-12, 3.14040098946363335242e-15});
  return {f_top / f_bottom, g_top / g_bottom};
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
