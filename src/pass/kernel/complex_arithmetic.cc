#include "pass/kernel/complex_arithmetic.h"

#include <limits>

#include "types/dtype.h"

namespace ricci { inline namespace v0 { namespace pass {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Val Parts::Infinite(Val a) const { return Is(RICCI_S_EQ, Op(RICCI_S_ABS, a), kInfinity); }
Val Parts::Negative(Val a) const {
  const uint32_t bits = part == RICCI_F32 ? RICCI_I32 : RICCI_I64;
  const Val number = w.Writer::Scalar(RICCI_S_BITCAST, bits, {{a}});
  return w.Less(number, w.Const(bits, 0));
}

Val WithSign(const Parts& p, Val of, Val size) {
  const Val opposite = p.Neg(size);
  return p.w.Select(p.Is(RICCI_S_LT, of, 0), opposite, size);
}
Val IsZero(const Parts& p, Pair z) {
  const Val im = p.Is(RICCI_S_EQ, z.im, 0);
  return p.w.And(p.Is(RICCI_S_EQ, z.re, 0), im);
}
Val IsInfinite(const Parts& p, Pair z) {
  const Val im = p.Infinite(z.im);
  return p.w.Or(p.Infinite(z.re), im);
}

Pair Add(const Parts& p, Pair x, Pair y) { return {p.w.Add(x.re, y.re), p.w.Add(x.im, y.im)}; }
Pair Sub(const Parts& p, Pair x, Pair y) { return {p.w.Sub(x.re, y.re), p.w.Sub(x.im, y.im)}; }
Pair Neg(const Parts& p, Pair z) { return {p.Neg(z.re), p.Neg(z.im)}; }
// Each product is rounded, none is contracted: equal ones cancel, so z conj(z) has no imaginary part, and (x + xi)^2 no
// real one.
Pair Mul(const Parts& p, Pair x, Pair y) {
  ElementWriter& w = p.w;
  const Val re = w.Mul(x.re, y.re), im = w.Mul(x.re, y.im);
  return {w.Sub(re, w.Mul(x.im, y.im)), w.Add(im, w.Mul(x.im, y.re))};
}

// Divides by the larger part of y (R. L. Smith, "Algorithm 116: Complex division", CACM 1962), so that nothing
// overflows without need: x / (c + di) = ((a + bt) + (b - at) i) / (c + dt), t = d / c, and the same with the parts
// swapped. If that is NaN, the result is that of C (Annex G.5.1): x / 0 is infinite, so is infinity / y, and y /
// infinity is 0.
Pair Div(const Parts& p, Pair x, Pair y) {
  ElementWriter& w = p.w;
  const Val size_im = p.Op(RICCI_S_ABS, y.im), wide = p.Op(RICCI_S_GE, p.Op(RICCI_S_ABS, y.re), size_im);
  const Val large = w.Select(wide, y.re, y.im), small = w.Select(wide, y.im, y.re);
  const Val t = w.Div(small, large), scale = p.MultiplyAdd(small, t, large);
  const Val near = w.Select(wide, x.re, x.im), far = w.Select(wide, x.im, x.re);
  const Val re = w.Div(p.MultiplyAdd(far, t, near), scale);
  const Val across = w.Div(p.MultiplyAdd(p.Neg(near), t, far), scale);
  const Val im = w.Select(wide, across, p.Neg(across));
  // The quotient where both parts are NaN: x times the sign of y, made infinite or zero as it must be.
  const Val zero = IsZero(p, y), large_x = IsInfinite(p, x), large_y = IsInfinite(p, y);
  const auto unit = [&](Val v, Val is_large) {
    const Val size = w.Select(w.And(is_large, p.Infinite(v)), p.Number(1), p.Number(0));
    return w.Select(is_large, WithSign(p, v, size), v);
  };
  const Pair u{unit(x.re, large_x), unit(x.im, large_x)}, v{unit(y.re, large_y), unit(y.im, large_y)};
  const Pair product = Mul(p, u, {v.re, p.Neg(v.im)});
  const Val finite_only = w.And(large_y, w.Not(large_x)), beyond = w.And(large_x, w.Not(large_y));
  const Val factor = w.Select(finite_only, p.Number(0), p.Number(kInfinity));
  const Val lost_im = p.Op(RICCI_S_NE, im, im), lost = w.And(p.Op(RICCI_S_NE, re, re), lost_im);
  const Val special = w.And(lost, w.Or(zero, w.Or(finite_only, beyond)));
  const auto signed_zero = [&](Val numerator) { return w.Mul(numerator, w.Div(p.Number(1), y.re)); };
  const auto choose = [&](Val number, Val numerator, Val part) {
    const Val grown = w.Mul(factor, part), other = w.Select(zero, signed_zero(numerator), grown);
    return w.Select(special, other, number);
  };
  return {choose(re, x.re, product.re), choose(im, x.im, product.im)};
}

// large * sqrt(1 + (small / large)^2)
Val Abs(const Parts& p, Pair z) {
  ElementWriter& w = p.w;
  const Val a = p.Op(RICCI_S_ABS, z.re), b = p.Op(RICCI_S_ABS, z.im);
  const Val large = w.Max(a, b), small = w.Min(a, b), t = w.Div(small, large);
  const Val size = w.Mul(large, p.Op(RICCI_S_SQRT, p.MultiplyAdd(t, t, p.Number(1))));
  // If large is 0 or infinite it is the result: the quotient may be NaN.
  const Val infinite = p.Infinite(large), known = w.Or(p.Is(RICCI_S_EQ, large, 0), infinite);
  return w.Select(known, large, size);
}

Pair Sign(const Parts& p, Pair z) {
  const Val size = Abs(p, z);
  const Pair unit{p.w.Div(z.re, size), p.w.Div(z.im, size)};
  return Select(p, p.Is(RICCI_S_EQ, size, 0), z, unit);
}

namespace {

// Whether `op`, a comparison, holds of x and y.
Val InOrder(const Parts& p, uint32_t op, Pair x, Pair y) {
  const Val by_re = p.Op(op, x.re, y.re), by_im = p.Op(op, x.im, y.im);
  return p.w.Select(p.Op(RICCI_S_EQ, x.re, y.re), by_im, by_re);
}

}  // namespace

Pair Max(const Parts& p, Pair x, Pair y) { return Select(p, InOrder(p, RICCI_S_GT, x, y), x, y); }
Pair Min(const Parts& p, Pair x, Pair y) { return Select(p, InOrder(p, RICCI_S_LT, x, y), x, y); }

Pair Select(const Parts& p, Val condition, Pair yes, Pair no) {
  return {p.w.Select(condition, yes.re, no.re), p.w.Select(condition, yes.im, no.im)};
}

}}}  // namespace ricci::v0::pass
