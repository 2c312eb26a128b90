#include "pass/kernel/complex_functions.h"

#include <numbers>

namespace ricci { inline namespace v0 { namespace pass {
namespace {

Pair One(const Parts& p) { return {p.Number(1), p.Number(0)}; }
Pair Scaled(const Parts& p, Pair z, double by) { return {p.w.Mul(z.re, p.Number(by)), p.w.Mul(z.im, p.Number(by))}; }
// The product of an operation on each part.
Val Product(const Parts& p, uint32_t on_re, uint32_t on_im, Pair z) {
  const Val im = p.Op(on_im, z.im);
  return p.w.Mul(p.Op(on_re, z.re), im);
}

}  // namespace

// ---- powers of e ----
// e^x as the square of e^(x / 2), so that e^x cos y is finite where e^x alone is not.
Pair Exp(const Parts& p, Pair z) {
  ElementWriter& w = p.w;
  const Val half = p.Op(RICCI_S_EXP, w.Mul(z.re, p.Number(0.5)));
  const auto scaled = [&](Val v) { return w.Mul(w.Mul(half, v), half); };
  const Val real = p.Is(RICCI_S_EQ, z.im, 0);
  const Val across = scaled(p.Op(RICCI_S_COS, z.im)), re = w.Select(real, w.Mul(half, half), across);
  return {re, w.Select(real, z.im, scaled(p.Op(RICCI_S_SIN, z.im)))};
}
Pair Exp2(const Parts& p, Pair z) { return Exp(p, Scaled(p, z, std::numbers::ln2)); }
// e^x cos y - 1 = (e^x - 1) cos y - 2 sin(y / 2)^2
Pair Expm1(const Parts& p, Pair z) {
  ElementWriter& w = p.w;
  const Val s = p.Op(RICCI_S_SIN, p.Half(z.im)), drop = w.Mul(p.Number(2), w.Mul(s, s));
  const Val less = p.Neg(drop), cosine = p.Op(RICCI_S_COS, z.im);
  const Val re = p.MultiplyAdd(p.Op(RICCI_S_EXPM1, z.re), cosine, less);
  return {re, Exp(p, z).im};
}
Pair Logistic(const Parts& p, Pair z) { return Div(p, One(p), Add(p, One(p), Exp(p, Neg(p, z)))); }

// ---- logarithms ----
// log |z| by the larger part: log large + log(1 + (small / large)^2) / 2.
Pair Log(const Parts& p, Pair z) {
  ElementWriter& w = p.w;
  const Val a = p.Op(RICCI_S_ABS, z.re), b = p.Op(RICCI_S_ABS, z.im);
  const Val large = w.Max(a, b), t = w.Div(w.Min(a, b), large), whole = p.Op(RICCI_S_LOG, large);
  const Val rest = p.Half(p.Op(RICCI_S_LOG1P, w.Mul(t, t)));
  const Val infinite = p.Infinite(large), known = w.Or(p.Is(RICCI_S_EQ, large, 0), infinite);
  return {w.Select(known, whole, w.Add(whole, rest)), p.Op(RICCI_S_ATAN2, z.im, z.re)};
}
// |1 + z|^2 = 1 + x (2 + x) + y^2 where z is small.
Pair Log1p(const Parts& p, Pair z) {
  ElementWriter& w = p.w;
  const Pair beyond = Log(p, Add(p, One(p), z));
  const Val square = w.Mul(z.im, z.im), rest = p.MultiplyAdd(z.re, w.Add(p.Number(2), z.re), square);
  const Val size_im = p.Op(RICCI_S_ABS, z.im);
  const Val small = p.Is(RICCI_S_LT, w.Max(p.Op(RICCI_S_ABS, z.re), size_im), 0.5);
  return {w.Select(small, p.Half(p.Op(RICCI_S_LOG1P, rest)), beyond.re), beyond.im};
}

// ---- roots and powers ----
// The part without cancellation is sqrt((|x| + |z|) / 2), the other one is y / 2 divided by it.
Pair Sqrt(const Parts& p, Pair z) {
  ElementWriter& w = p.w;
  const Val a = p.Op(RICCI_S_ABS, z.re), b = p.Op(RICCI_S_ABS, z.im);
  const Val half_size = p.Half(Abs(p, z)), sure = p.Op(RICCI_S_SQRT, w.Add(p.Half(a), half_size));
  const Val other = w.Div(p.Half(b), sure);
  const Val left = p.Is(RICCI_S_LT, z.re, 0), down = p.Negative(z.im);
  const Val re = w.Select(left, other, sure), im = w.Select(left, sure, other);
  const Val zero = p.Is(RICCI_S_EQ, sure, 0), endless = p.Infinite(z.im);
  const Val size = w.Select(endless, b, im);
  return {w.Select(endless, b, w.Select(zero, sure, re)), w.Select(zero, z.im, w.Select(down, p.Neg(size), size))};
}
Pair Rsqrt(const Parts& p, Pair z) { return Div(p, One(p), Sqrt(p, z)); }
// e^(y log x); 0 to a positive real power is 0, and anything to the power 0 is 1.
Pair Pow(const Parts& p, Pair x, Pair y) {
  ElementWriter& w = p.w;
  const Val is_real = p.Is(RICCI_S_EQ, y.im, 0), positive = w.And(p.Is(RICCI_S_GT, y.re, 0), is_real);
  const Val vanishes = w.And(IsZero(p, x), positive);
  const Pair zero{p.Number(0), p.Number(0)};
  const Pair power = Select(p, vanishes, zero, Exp(p, Mul(p, y, Log(p, x))));
  return Select(p, IsZero(p, y), One(p), power);
}

// ---- hyperbolic and trigonometric functions ----
Pair Sinh(const Parts& p, Pair z) {
  return {Product(p, RICCI_S_SINH, RICCI_S_COS, z), Product(p, RICCI_S_COSH, RICCI_S_SIN, z)};
}
Pair Cosh(const Parts& p, Pair z) {
  return {Product(p, RICCI_S_COSH, RICCI_S_COS, z), Product(p, RICCI_S_SINH, RICCI_S_SIN, z)};
}
// W. Kahan, "Branch cuts for complex elementary functions" (1987): with t = tan y and s = sinh x it is
// ((1 + t^2) s sqrt(1 + s^2) + t i) / (1 + (1 + t^2) s^2); where x is large, 1 with the imaginary part 4 sin y cos y
// e^-2x.
Pair Tanh(const Parts& p, Pair z) {
  constexpr double kLarge = 20;
  ElementWriter& w = p.w;
  const Val size = p.Op(RICCI_S_ABS, z.re), far = p.Is(RICCI_S_GT, size, kLarge);
  const Val t = p.Op(RICCI_S_TAN, z.im), s = p.Op(RICCI_S_SINH, w.Select(far, p.Number(0), z.re));
  const Val grow = p.MultiplyAdd(t, t, p.Number(1)), square = w.Mul(s, s);
  const Val scale = p.MultiplyAdd(grow, square, p.Number(1));
  const Val root = p.Op(RICCI_S_SQRT, w.Add(p.Number(1), square));
  const Pair near{w.Div(w.Mul(grow, w.Mul(s, root)), scale), w.Div(t, scale)};
  const Val fade = w.Mul(p.Number(4), p.Op(RICCI_S_EXP, w.Mul(p.Number(-2), size)));
  const Val cosine = p.Op(RICCI_S_COS, z.im), wave = w.Mul(p.Op(RICCI_S_SIN, z.im), cosine);
  const Pair limit{p.Op(RICCI_S_SIGN, z.re), w.Mul(fade, wave)};
  return Select(p, far, limit, near);
}
// By the hyperbolic functions of iz: sin z = -i sinh iz, cos z = cosh iz, tan z = -i tanh iz.
Pair Sin(const Parts& p, Pair z) {
  const Pair h = Sinh(p, {p.Neg(z.im), z.re});
  return {h.im, p.Neg(h.re)};
}
Pair Cos(const Parts& p, Pair z) { return Cosh(p, {p.Neg(z.im), z.re}); }
Pair Tan(const Parts& p, Pair z) {
  const Pair h = Tanh(p, {p.Neg(z.im), z.re});
  return {h.im, p.Neg(h.re)};
}

}}}  // namespace ricci::v0::pass
