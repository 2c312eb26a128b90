// Functions of jax.scipy.special by recurrences over an order: bessel_jn and sph_harm_y; and Bernoulli's numbers.
//
// bessel_jn is Miller's algorithm, as in S. Zhang and J. Jin, "Computation of special functions", 1996, 5.2: the
// recurrence runs down from an order where the function is negligible, and the sum of 9.1.46 of Abramowitz and Stegun
// gives the factor. Each step brings the numbers back below 1, so that small arguments do not overflow.
#include <cmath>
#include <limits>

#include "host/scipy/special_steps.h"
#include "ricci/loops.hpp"
#include "ricci/scipy_special.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

using namespace plain;

namespace {

// ---- bessel_jn ----

using BesselState = std::tuple<Value, Value, Value, Value>;  // orders k + 2 and k + 1, the sum, orders 0 to v

// To order k. `z` is not 0.
BesselState OrderBelow(const Value& k, const Value& z, const BesselState& state) {
  const auto& [above, last, sum, kept] = state;
  const Value next = 2 * ((k + 1) * last) / z - above;
  const Value even = lax::rem(k, Num(k, 2)) == 0, all = Where(even, sum + 2 * next, sum);
  const Value mine = Positions(kept, kept.dtype(), 0) == k;
  const Value scale = lax::stop_gradient(1 / Max(lax::abs(next), lax::ones_like(next)));
  return {last * scale, next * scale, all * scale, Where(mine, lax::expand_dims(next, Shape{0}), kept) * scale};
}
// Orders 0 to v along a new first dimension.
Value BesselOrders(const Operand& at, const Value& z, int64_t v, int64_t steps) {
  const Value zero = lax::zeros_like(z);
  Shape shape{v + 1};
  shape.insert(shape.end(), z.shape().begin(), z.shape().end());
  const BesselState init{zero, zero + 1, zero, BroadcastValue(zero, shape)};
  const auto step = [&](const Value& i, const BesselState& state) {
    return OrderBelow(static_cast<double>(steps) - To(i, z.dtype()), z, state);
  };
  const auto [above, lowest, sum, kept] = fori_loop(Operand(0, at.at), Operand(steps + 1, at.at), step, init, at.at);
  return kept / (sum - lowest);
}
// Up to the first power of z: 1, z / 2, 0, ...
Value BesselNearZero(const Value& z, const Value& like) {
  const Value order = Positions(like, like.dtype(), 0);
  return Where(order == 0, 1, Where(order == 1, z / 2 + lax::zeros_like(like), lax::zeros_like(like)));
}

// ---- sph_harm_y ----

struct Legendre {
  Value n, m, cosine, sine;  // m is not negative
};
using LegendreState = std::pair<Value, Value>;  // degrees l - 2 and l - 1

// To degree l: up to m along the diagonal, up to n by the recurrence in the degree, and no further.
LegendreState DegreeAbove(const Legendre& p, const Value& l, const LegendreState& state) {
  const auto& [before, last] = state;
  const Value diagonal = l <= p.m, open = ~diagonal & (l <= p.n);
  const Value l2 = lax::square(l), below2 = lax::square(l - 1), m2 = lax::square(p.m);
  const Value outer = lax::sqrt(Where(open, (4 * l2 - 1) / Where(open, l2 - m2, 1), 1));
  const Value inner = lax::sqrt(Where(open & (l > 1), (below2 - m2) / (4 * below2 - 1), 0));
  const Value up = -lax::sqrt((2 * l + 1) / (2 * l)) * (p.sine * last);
  const Value next = outer * (p.cosine * last - inner * before);
  return {Where(open, last, before), Where(diagonal, up, Where(open, next, last))};
}
// The associated Legendre function with the factor that makes the harmonics orthonormal.
Value NormalizedLegendre(const Operand& at, const Legendre& p, int64_t n_max) {
  const Value zero = lax::zeros_like(p.n);
  const auto step = [&](const Value& i, const LegendreState& state) {
    return DegreeAbove(p, To(i, p.n.dtype()), state);
  };
  const LegendreState init{zero, zero + 0.5 * std::numbers::inv_sqrtpi};
  const Value out = fori_loop(Operand(1, at.at), Operand(n_max + 1, at.at), step, init, at.at).second;
  return Where(p.m > p.n, 0, out);
}

// ---- bernoulli ----

// B_0, ..., B_n, from 2 (2 k)! / (2 pi)^(2 k) and the zeta function (Abramowitz and Stegun, 23.2.16).
std::vector<float> BernoulliNumbers(int64_t n) {
  std::vector<float> out(static_cast<size_t>(n) + 1, 0);
  double factor = 2;
  for (int64_t m = 0; m <= n; ++m) {
    const auto k = static_cast<double>(m);
    if (m > 0) factor *= k / (2 * std::numbers::pi);
    if (m < 2) {
      out[static_cast<size_t>(m)] = m == 0 ? 1.0F : -0.5F;
      continue;
    }
    if (m % 2 != 0) continue;
    double zeta = 1;
    for (double i = 2; i < 50; ++i) zeta += std::pow(i, -k);
    if (m == 2) zeta = std::numbers::pi * std::numbers::pi / 6;
    out[static_cast<size_t>(m)] = static_cast<float>(m % 4 == 0 ? -factor * zeta : factor * zeta);
  }
  return out;
}

}  // namespace

Value bessel_jn(const Operand& z, int64_t v, int64_t n_iter) {
  const RealOperands in("bessel_jn", {&z, 1});
  if (v < 0) FailAt(z.at, "bessel_jn: v is ", v, "; it must be at least 0");
  if (n_iter < v) FailAt(z.at, "bessel_jn: n_iter is ", n_iter, "; it must be at least v, which is ", v);
  const Value& x = in.wide[0];
  const double least =
      x.dtype() == DType::kF64 ? std::numeric_limits<double>::min() : std::numeric_limits<float>::min();
  const Value tiny = lax::abs(x) < least * 1e6;
  const Value orders = BesselOrders(z, Where(tiny, 1, x), v, n_iter);
  return in.Narrowed(Where(tiny, BesselNearZero(x, orders), orders));
}
Value sph_harm_y(const Operand& n, const Operand& m, const Operand& theta, const Operand& phi, int64_t n_max) {
  const Operand xs[] = {n, m, theta, phi};
  const RealOperands in("sph_harm_y", xs);
  if (n_max < 0) FailAt(n.at, "sph_harm_y: n_max is ", n_max, "; it must be at least 0");
  const Value order = lax::abs(in.wide[1]), negative = in.wide[1] < 0, angle = order * in.wide[3];
  const Legendre p{in.wide[0], order, lax::cos(in.wide[2]), lax::sin(in.wide[2])};
  const Value odd = lax::rem(order, Num(order, 2)) != 0, size = NormalizedLegendre(n, p, n_max);
  const Value real = size * lax::cos(angle), imag = size * lax::sin(angle);
  return lax::complex(Where(negative & odd, -real, real), Where(negative & ~odd, -imag, imag));
}
Value bernoulli(const Operand& in, int64_t n) {
  if (n < 0) FailAt(in.at, "bernoulli: n is ", n, "; it must be at least 0");
  const Array numbers(Context(SiteOf("bernoulli", {&in, 1}).context()), BernoulliNumbers(n));
  const Operand both[] = {in, Operand(numbers, in.at)};
  return SiteOf("bernoulli", both).Lift(both[1], DType::kF32);
}

}}}}  // namespace ricci::v0::scipy::special
