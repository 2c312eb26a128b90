// asin, acos, asinh and acosh are one formula: T. E. Hull, T. F. Fairgrieve and P. T. P. Tang, "Implementing the
// complex arcsine and arccosine functions using exception handling", ACM TOMS 23, 1997. With a half of the sum of the
// distances of z = x + iy, in the first quadrant, from 1 and -1, it is asin z = atan(x / sqrt(a^2 - x^2)) + i log(a +
// sqrt(a^2 - 1)), where a^2 - x^2 and a - 1 are written as sums of positive terms. Beyond the root of the greatest
// number a is |z|.
#include "pass/kernel/complex_inverses.h"

#include <numbers>

#include "pass/kernel/complex_functions.h"
#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace pass {
namespace {

// Numbers whose squares, and small multiples of these, do not overflow.
double Safe(const Parts& p) { return p.part == RICCI_F32 ? 0x1p60 : 0x1p508; }
double Epsilon(const Parts& p) { return p.part == RICCI_F32 ? 0x1p-23 : 0x1p-52; }
Val Magnitude(const Parts& p, Val a) { return p.Op(RICCI_S_ABS, a); }
Val Root(const Parts& p, Val a) { return p.Op(RICCI_S_SQRT, a); }

struct Arc {
  Val side;   // sqrt(a^2 - x^2)
  Val grown;  // log(a + sqrt(a^2 - 1))
};
Arc ArcOf(const Parts& p, Val re, Val im) {
  ElementWriter& w = p.w;
  const Val x = Magnitude(p, re), y = Magnitude(p, im), one = p.Number(1), square = w.Mul(y, y);
  const Val above = w.Add(x, one), below = w.Sub(x, one);
  const Val r = Abs(p, {above, y}), s = Abs(p, {below, y}), a = p.Half(w.Add(r, s)), ax = w.Add(a, x);
  const Val far_part = w.Div(square, w.Add(r, above));  // r - (x + 1)
  const Val inner = p.Is(RICCI_S_LE, x, 1);
  const Val parts = w.Add(far_part, w.Sub(s, below)), inside = Root(p, w.Mul(p.Half(ax), parts));
  const Val near_slope = w.Div(ax, w.Add(s, below)), slopes = w.Add(w.Div(ax, w.Add(r, above)), near_slope);
  const Val side = w.Select(inner, inside, w.Mul(y, Root(p, p.Half(slopes))));
  const Val left = p.Is(RICCI_S_LT, x, 1);
  const Val sum_part = w.Add(s, below);
  const Val near_part = w.Select(left, w.Div(square, w.Sub(s, below)), sum_part);  // s + (x - 1)
  const Val excess = p.Half(w.Add(far_part, near_part));                           // a - 1
  const Val sum = w.Add(excess, Root(p, w.Mul(excess, w.Add(a, one))));
  // Next to the real line, where y^2 may vanish.
  const Val flat = w.And(left, p.Op(RICCI_S_LT, y, w.Mul(p.Number(Epsilon(p)), w.Sub(one, x))));
  const Val slope = w.Div(y, Root(p, w.Mul(w.Sub(one, x), above)));
  const Val grown = w.Select(flat, slope, p.Op(RICCI_S_LOG1P, sum));
  const Val far = p.Is(RICCI_S_GT, w.Max(x, y), Safe(p));
  const Val of_far = w.Add(Log(p, {x, y}).re, p.Number(std::numbers::ln2));
  return {w.Select(far, y, side), w.Select(far, of_far, grown)};
}

}  // namespace

Pair Asin(const Parts& p, Pair z) {
  const Arc arc = ArcOf(p, z.re, z.im);
  return {p.Op(RICCI_S_ATAN2, z.re, arc.side), WithSign(p, z.im, arc.grown)};
}
Pair Acos(const Parts& p, Pair z) {
  const Arc arc = ArcOf(p, z.re, z.im);
  return {p.Op(RICCI_S_ATAN2, arc.side, z.re), p.Neg(WithSign(p, z.im, arc.grown))};
}
// asinh z = -i asin iz
Pair Asinh(const Parts& p, Pair z) {
  const Arc arc = ArcOf(p, z.im, z.re);
  return {WithSign(p, z.re, arc.grown), p.Op(RICCI_S_ATAN2, z.im, arc.side)};
}
Pair Acosh(const Parts& p, Pair z) {
  const Arc arc = ArcOf(p, z.re, z.im);
  return {arc.grown, WithSign(p, z.im, p.Op(RICCI_S_ATAN2, arc.side, z.re))};
}

// Of z in the right half plane log(1 + 4x / |1 - z|^2) / 4 + i atan2(2y, 1 - x^2 - y^2) / 2; next to 1 the first is
// log(2 / |1 - z|) / 2, and of large z the real part of 1 / z.
Pair Atanh(const Parts& p, Pair z) {
  constexpr double kNear = 1e-9;
  ElementWriter& w = p.w;
  const Val x = Magnitude(p, z.re), y = Magnitude(p, z.im), one = p.Number(1);
  const Val h = Abs(p, {w.Sub(one, x), y}), whole = p.Op(RICCI_S_LOG1P, w.Div(w.Div(w.Mul(p.Number(4), x), h), h));
  const Val close = p.Half(p.Op(RICCI_S_LOG, w.Div(p.Number(2), h)));
  const Val quarter_log = w.Mul(p.Number(0.25), whole);
  const Val near = w.Select(p.Is(RICCI_S_LT, h, kNear), close, quarter_log);
  const Val large = w.Max(x, y), t = w.Div(w.Min(x, y), large), grow = p.MultiplyAdd(t, t, one);
  const Val quotient = w.Div(w.Div(w.Div(x, large), grow), large);
  const Val inverse = w.Select(p.Infinite(large), p.Number(0), quotient);
  const Val far = p.Is(RICCI_S_GT, large, Safe(p));
  const Val beyond = w.Add(one, x), across = w.Mul(w.Sub(one, x), beyond);
  const Val distance = p.MultiplyAdd(p.Neg(y), y, across);
  const Val turn = p.Half(p.Op(RICCI_S_ATAN2, w.Mul(p.Number(2), z.im), distance));
  const Val quarter = WithSign(p, z.im, p.Number(std::numbers::pi / 2));
  return {WithSign(p, z.re, w.Select(far, inverse, near)), w.Select(far, quarter, turn)};
}
// -i atanh iz
Pair Atan(const Parts& p, Pair z) {
  const Pair h = Atanh(p, {p.Neg(z.im), z.re});
  return {h.im, p.Neg(h.re)};
}
Pair Atan2(const Parts& p, Pair y, Pair x) {
  const Pair y_squared = Mul(p, y, y), radius = Sqrt(p, Add(p, Mul(p, x, x), y_squared));
  const Pair turn = Log(p, Div(p, Add(p, x, {p.Neg(y.im), y.re}), radius));
  return {turn.im, p.Neg(turn.re)};
}

}}}  // namespace ricci::v0::pass
