// Trigonometric functions and their inverses.
//
// sin and cos: x = n pi + r with |r| <= pi / 2, then sin x = (-1)^n sin r: one polynomial and no choice between two.
// The polynomial takes arguments within pi / 2 as they are, so a vector whose lanes all lie there skips the reduction;
// the bits are the same because the reduction would leave n = 0. pi comes in three parts (Cody and Waite, 1980): with
// fused multiply-add the first step is exact, as r is a multiple of the last place of the first part. Lanes with larger
// arguments than that reduces are reduced exactly (`Exact`), which gives the argument, not the result.
//
// tan is reduced by pi / 2 with the same parts and is a polynomial or its negative inverse. atan2 divides once: the
// smaller by the larger, or, above tan(pi / 8), their difference by their sum, which is the tangent of the angle less
// pi / 4. asin and acos are angles of a point on the circle.
//
// Coefficients: minimax (Remez exchange) of sin(r) / r - 1 in r^2 with errors relative to the sine, rounded
// individually, leading ones first, with the others fitted again each time.
#include <cmath>

#include "codegen/math/math_functions.h"
#include "ricci/kernel.h"

namespace ricci::codegen {
namespace {

constexpr double kReach[] = {60000, 0x1p22};  // |x| up to which three parts of pi do, for f32 and f64

constexpr double kNoTurn = 1.57;  // below pi / 2, where n = 0

// x - turns * pi.
Real LessTurns(Real x, Real turns) {
  Real r = Fma(turns, x(-0x1.921fb6p+1, -0x1.921fb54442d18p+1), x);
  r = Fma(turns, x(0x1.777a5cp-24, -0x1.1a62633145c07p-53), r);
  r = Fma(turns, x(0x1.ee59dap-49, 0x1.f1976b7ed8fbcp-109), r);
  return Select(turns == 0, x, r);  // which keeps the sign of a zero
}

// The argument within pi / 2 that has the sine of x, or the cosine.
Real Reduced(Real x, bool cosine) {
  const Rounded n = cosine ? Nearest(Fma(x, M_1_PI, 0.5), 1) : Nearest(x, M_1_PI);
  const Real r = LessTurns(x, cosine ? n.value - 0.5 : n.value);
  return RealOf(BitsOf(r) ^ (n.bits << (x.is_f64() ? 63 : 31)));
}

// sin r. Only the last step adds the largest coefficient, so that its sum is rounded once.
Real Polynomial(Real r) {
  const Real z = r * r, w = z * z;
  const Real odd =
      Horner(w, {-0x1.9f70eep-13}, {-0x1.ae43836dab924p-41, -0x1.ae6454d4691f8p-26, -0x1.a01a01a014d6ep-13});
  const Real even = Horner(w, {0x1.5dc8c4p-19, 0x1.110edap-7},
                           {0x1.88328b8a6ab0ep-49, 0x1.6123cd03c12d3p-33, 0x1.71de3a52a0a12p-19, 0x1.11111111110c8p-7});
  const Real p = Fma(Fma(odd, z, even), z, r(-0x1.55554cp-3, -0x1.5555555555555p-3));
  return CopySign(Fma(r * z, p, r), r);  // the sum of r = -0 and the product +0 would be +0
}

// atan t for |t| <= tan(pi / 8).
Real SmallAtan(Real t) {
  const Real z = t * t;
  const Real p = Horner(z, {0x1.f1786afc51110p-7, -0x1.121d229e9a7c5p-5, 0x1.70e258cc6b02cp-5, -0x1.ab7af342ec8cfp-5,
                            0x1.e171a0d295654p-5, -0x1.110c6e50016b9p-4, 0x1.3b136de755319p-4, -0x1.745d14b701da8p-4,
                            0x1.c71c71b73a833p-4, -0x1.249249247555fp-3, 0x1.999999999964ap-3, -0x1.5555555555554p-2});
  return Fma(p * z, t, t);
}

// The angle in [0, pi] of a point with ordinate y >= 0, where the larger of |x| and y is neither 0 nor infinite.
Real Angle(Real y, Real x) {
  const Real a = Abs(x);
  const Mask steep = y > a, left = CopySign(1, x) < 0;
  const Real large = Select(steep, y, a), small = Select(steep, a, y);
  const Mask middle = small > large * 0.41421356237309503;
  const Real t = Select(middle, small - large, small) / Select(middle, small + large, large);
  // The angle is +-t plus a multiple of pi / 4, each multiple in two parts.
  const Real octants = Select(middle, 1, x(0));
  const Real base = Select(steep, 2 - octants, octants);
  const Real turned = Select(left, 4 - base, base);
  const Mask flips = steep ^ left;
  const Real part = SmallAtan(t), angle = Select(flips, -part, part);
  return Fma(turned, M_PI_4, Fma(turned, 0x1.1a62633145c07p-55, angle));
}

}  // namespace

Real Sine(Real x, uint32_t op) {
  const bool cosine = op == RICCI_S_COS;
  const auto reduce = [&] {
    const Mask beyond = NotWithin(Abs(x), x.is_f64() ? kReach[1] : kReach[0]);
    return WhereRare(beyond, Reduced(x, cosine), [&] { return Exact(cosine ? kReduceCosine : kReduceSine, x); });
  };
  return Polynomial(cosine ? reduce() : IfAny(NotWithin(Abs(x), kNoTurn), x, reduce));
}

Real SineOfHalfTurns(Real r) { return Polynomial(r * M_PI); }

Real Tan(Real x) {
  const Rounded n = Nearest(x, M_2_PI);
  const Real r = LessTurns(x, n.value * 0.5), z = r * r;
  const Real p = Horner(z, {0x1.5ea1be457d2bfp-16, -0x1.79b4287deed37p-15, 0x1.785867f303683p-14,
                            -0x1.bfb18b61e1d87p-16, 0x1.1ec1ca9dc5a56p-13, 0x1.d2268b347f0b1p-13, 0x1.3800daa9fbcd7p-11,
                            0x1.7d5a9bd00a618p-10, 0x1.d6d943ac8d69bp-9, 0x1.226e11e860d06p-7, 0x1.664f49ac852c9p-6,
                            0x1.ba1ba1b4552e9p-5, 0x1.11111111184c0p-3, 0x1.55555555554f0p-2});
  const Real t = CopySign(Fma(p * z, r, r), r);
  const Real near = Select((n.bits & 1) == 0, t, -1 / t);
  return WhereRare(NotWithin(Abs(x), kReach[1]), near, [&] { return Exact(RICCI_S_TAN, x); });
}

Real Atan2(Real y, Real x) {
  const Real ay = Abs(y), ax = Abs(x);
  // Sums must not overflow, and two zeros, or two infinities, have the angle of two ones.
  const Mask huge = (ax > 0x1p1000) | (ay > 0x1p1000), infinite_x = ax == INFINITY, infinite_y = ay == INFINITY;
  const Mask tiny = (ax < 0x1p-900) & (ay < 0x1p-900), zero = (ax == 0) & (ay == 0), infinite = infinite_x | infinite_y;
  const Real scale = Select(huge, 0x1p-100, Select(tiny, 0x1p100, x(1)));
  const Real u = Select(infinite_x | zero, CopySign(1, x), Select(infinite, 0, x * scale));
  const Real v = Select(infinite, Select(infinite_y, 1, x(0)), ay * scale);
  const Real angle = Angle(v, u);
  return Select(IsNan(x) | IsNan(y), NAN, CopySign(angle, y));
}

Real Atan(Real x) { return CopySign(Angle(Abs(x), x(1)), x); }

Real Asin(Real x) { return CopySign(Angle(Abs(x), Sqrt((1 - x) * (1 + x))), x); }
Real Acos(Real x) { return Angle(Sqrt((1 - x) * (1 + x)), x); }

}  // namespace ricci::codegen
