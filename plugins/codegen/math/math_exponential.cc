// Exponentials, logarithms and powers.
//
// exp: x = n ln2 + r with |r| <= ln2 / 2 (Cody and Waite, 1980) and a polynomial for (e^r - 1 - r) / r^2. expm1 puts
// the parts together at half the scale, so that the largest exponent does not overflow. log: x = m 2^k with m in
// [sqrt(1/2), sqrt(2)); in f32 a polynomial in m - 1, in f64 the series of 2 atanh(s) in s = (m - 1)
// / (m + 1), whose first terms f - f^2 / 2 are kept apart so that their roundings do not add up (the way of Sun's
// fdlibm). log1p takes m - 1 = 2^-k x + (2^-k - 1) from x itself, because 1 + x has lost digits of it. pow needs the
// logarithm to 64 bits and carries it in two f64.
//
// Coefficients: minimax (Remez exchange), errors relative to the result; those of log in f32 are found by
// cmake/fit_special_functions.py.
#include <cmath>

#include "codegen/math/math_functions.h"

namespace ricci::codegen {
namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Low = 0x1.abc9e3b39803fp-56;  // the sum is ln 2
constexpr double kLn2F = 0x1.62e43p-1, kLn2LowF = -0x1.05c61p-29;

// (e^r - 1) for |r| <= ln2 / 2.
Real SmallExpm1(Real r) {
  const Real q = Horner(r, {0x1.3ae8d8p-13, 0x1.6d2e4cp-10, 0x1.1155aap-7, 0x1.555502p-5, 0x1.55552cp-3, 0.5},
                        {0x1.1ee85e8bdb3e4p-29, 0x1.af5ee81ae50f1p-26, 0x1.27e5367dc43c8p-22, 0x1.71ddf84232d5cp-19,
                         0x1.a01a017b8610cp-16, 0x1.a01a01afe987bp-13, 0x1.6c16c16c1f1a0p-10, 0x1.111111110f6aap-7,
                         0x1.555555555553ep-5, 0x1.5555555555559p-3, 0.5});
  return Fma(q, r * r, r);
}

// x = (1 + f) 2^k with 1 + f in [sqrt(1/2), sqrt(2)).
struct LogParts {
  Real f, k;
};
// The k of a positive normal x.
Bits Octave(Real x) {
  const bool wide = x.is_f64();
  constexpr uint64_t kSqrtHalf = 0x3f3504f3, kWideSqrtHalf = 0x3fe6a09e667f3bcd;
  return (BitsOf(x) - (wide ? kWideSqrtHalf : kSqrtHalf)) >> (wide ? 52 : 23);
}
// The parts of a positive x.
LogParts SplitLog(Real x) {
  const unsigned digits = x.is_f64() ? 52 : 23;
  const Mask subnormal = x < x(0x1p-126, 0x1p-1022);
  const Real normal = Select(subnormal, x * x(0x1p23, 0x1p52), x);
  const Bits k = Octave(normal);
  const Real f = RealOf(BitsOf(normal) - (k << digits)) - 1;
  return {f, RealFrom(Select(subnormal, k - digits, k), x)};
}
// The parts of 1 + x for x > -1, as a quarter, which is exact: 2^-k can be subnormal, four times it is not.
LogParts SplitLog1p(Real x) {
  const Bits k = Octave(x + 1);
  const Real p = PowerOfTwo(k(2) - k, x);
  return {Fma(x * 0.25, p, Fma(p, 0.25, -1)), RealFrom(k, x)};
}

Real LogOfParts(LogParts x) {
  const Real f = x.f, k = x.k, square = f * f;
  if (!f.is_f64()) {
    const Real p = HornerByHalves(f, {0x1.1918e0p-4, -0x1.d3b2fep-4, 0x1.df296ap-4, -0x1.fd5e4ap-4, 0x1.23d0f8p-3,
                                      -0x1.5558c2p-3, 0x1.999d4cp-3, -0x1.000002p-2, 0x1.555554p-2});
    Real y = Fma(k, f(kLn2LowF), p * f * square);
    y = f + Fma(square, f(-0.5), y);
    return Fma(k, f(kLn2F), y);
  }
  const Real s = f / (f + 2), z = s * s, half = square * 0.5;
  const Real tail = Horner(z, {0x1.2f0d891ff1965p-3, 0x1.39a0f589087d9p-3, 0x1.7466462784080p-3, 0x1.c71c51e80ebf4p-3,
                               0x1.249249421786dp-2, 0x1.999999997fb33p-2, 0x1.5555555555593p-1});
  const Real small = Fma(s, Fma(z, tail, half), k * kLn2Low);
  return Fma(k, f(kLn2), f - (half - small));
}

// `y`, the logarithm for a positive argument, with the special cases of the logarithm of `x`.
Real LogCases(Real x, Real y) {
  y = Select(x == INFINITY, x, y);
  y = Select(x == 0, -INFINITY, y);
  return Select(NotAtLeast(x, 0), NAN, y);
}

// ---- two f64 for one number ----

struct Double {
  Real high, low;
};
Double Sum(Real a, Real b) {
  const Real s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
Double Product(Real a, Real b) {
  const Real p = a * b;
  return {p, Fma(a, b, -p)};
}

// log of a positive f64.
Double LongLog(Real x) {
  const LogParts parts = SplitLog(x);
  const Real f = parts.f, k = parts.k;
  const Real d = f + 2, d_low = f - (d - 2), inverse = 1 / d;
  const Real s = f * inverse, s_low = Fma(-s, d_low, Fma(-s, d, f)) * inverse;
  const Double z = Product(s, s);
  const Double cube = Product(s, z.high);
  const Real z_low = z.low + 2 * s * s_low, cube_low = cube.low + s * z_low + s_low * z.high;
  const Double third = Product(cube.high, x(0x1.5555555555555p-1));
  const Real third_low = third.low + cube_low * 0x1.5555555555555p-1 + cube.high * 0x1.5555555555555p-55;
  const Real tail =
      cube.high * z.high *
      Horner(z.high, {0x1.eb20bae478381p-4, 0x1.de3191a12f4e6p-4, 0x1.1120c16b7e4d7p-3, 0x1.3b136267aa48fp-3,
                      0x1.745d183378981p-3, 0x1.c71c71c57e03ep-3, 0x1.2492492493049p-2, 0x1.9999999999996p-2});
  const Double first = Sum(k * 0x1.62e42fefa38p-1, s + s);  // an exact product: the factor ends in zeros
  const Double second = Sum(first.high, third.high);
  const Real low = first.low + second.low + (tail + third_low + 2 * s_low + k * 0x1.ef35793c7673p-45);
  return Sum(second.high, low);
}

// x^y from log |x|, x not 0.
Real PowOfLog(Real x, Real y, Double log) {
  const Real ax = Abs(x), plain = y * log.high;
  const Mask far = NotWithin(Abs(plain), 1100);
  const Real low = Select(far, 0, Fma(y, log.high, -plain) + y * log.low);
  const Real exponent = AtLeast(AtMost(plain, x(720)), x(-760));
  const Rounded n = Nearest(exponent, M_LOG2E);
  const Real r = Fma(n.value, -kLn2Low, Fma(n.value, -kLn2, exponent)) + low;
  const Real size = Scale(SmallExpm1(r) + 1, n.bits);
  const Real half = y * 0.5;
  const Mask whole = RoundEven(y) == y, odd = whole & !(RoundEven(half) == half);
  const Bits sign = BitsOf(x) & (uint64_t{1} << 63);
  Real result = RealOf(BitsOf(size) ^ Select(odd, sign, sign(0)));
  result = Select((x < 0) & !whole & !(ax == INFINITY), NAN, result);
  const Mask one = (y == 0) | (x == 1) | ((ax == 1) & (Abs(y) == INFINITY));
  return Select(one, 1, result);
}

}  // namespace

Real ScaleBy(Real x, Bits n, Real value) {
  const MathEmitter::Value scaled = x.e->ScaleBy(x.v, value.v);
  return scaled != 0 ? Real{x.e, scaled} : Scale(x, n);
}

ExpParts SplitExp(Real x) {
  const Rounded n = Nearest(x, M_LOG2E);
  const Real r = Fma(n.value, x(-kLn2LowF, -kLn2Low), Fma(n.value, x(-kLn2F, -kLn2), x));
  return {SmallExpm1(r), n.bits, n.value};
}
ExpParts SplitExp(Real x, Real low) {
  const Rounded n = Nearest(x + low, M_LOG2E);
  const Real r = Fma(n.value, x(-kLn2F, -kLn2), x) + Fma(n.value, x(-kLn2LowF, -kLn2Low), low);
  return {SmallExpm1(r), n.bits, n.value};
}

Real Exp(Real x) {
  const ExpParts e = SplitExp(AtLeast(AtMost(x, x(90, 720)), x(-105, -760)));
  return ScaleBy(e.p + 1, e.n, e.value);
}

Real Exp2(Real x) {
  const Real within = AtLeast(AtMost(x, x(130, 1030)), x(-152, -1080));
  const Rounded n = Nearest(within, 1);
  return ScaleBy(SmallExpm1((within - n.value) * M_LN2) + 1, n.bits, n.value);
}

Real Expm1(Real x) {
  const ExpParts e = SplitExp(AtLeast(AtMost(x, x(89, 710)), x(-20, -40)));
  const Real s = PowerOfTwo(e.n - 1, x), y = Fma(s, e.p, s - 0.5);
  return CopySign(y + y, x);
}

Real Log(Real x) { return LogCases(x, LogOfParts(SplitLog(x))); }

Real Log1p(Real x) {
  const Real y = LogCases(x + 1, LogOfParts(SplitLog1p(x)));
  return Select(Abs(x) < 0x1p-60, x, y);
}

Real Log2(Real x) {
  const LogParts parts = SplitLog(x);
  const Real m = LogOfParts({parts.f, x(0)});
  return LogCases(x, Fma(m, x(M_LOG2E), Fma(m, x(0x1.4ae0cp-26, 0x1.777d0ffda0d24p-56), parts.k)));
}

Real Pow(Real x, Real y) {
  const Real ax = Abs(x);
  Double log = LongLog(ax);
  log.high = LogCases(ax, log.high);
  return PowOfLog(x, y, log);
}

Real PowOfNarrow(Real x, Real y) { return PowOfLog(x, y, {Log(Abs(x)), x(0)}); }

}  // namespace ricci::codegen
