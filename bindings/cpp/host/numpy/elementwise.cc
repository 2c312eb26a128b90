// Elementwise functions of jax.numpy from those of jax.lax.
#include "ricci/elementwise.hpp"

#include <cmath>
#include <limits>

#include "host/core/plain_math.h"

namespace ricci { inline namespace v0 {

using namespace plain;

Value acos(const Operand& x) { return lax::acos(UseInexact("acos", x)); }
Value acosh(const Operand& x) { return lax::acosh(UseInexact("acosh", x)); }
Value asin(const Operand& x) { return lax::asin(UseInexact("asin", x)); }
Value asinh(const Operand& x) { return lax::asinh(UseInexact("asinh", x)); }
Value atan(const Operand& x) { return lax::atan(UseInexact("atan", x)); }
Value atanh(const Operand& x) { return lax::atanh(UseInexact("atanh", x)); }
Value cbrt(const Operand& x) { return lax::cbrt(UseInexact("cbrt", x)); }
Value cos(const Operand& x) { return lax::cos(UseInexact("cos", x)); }
Value cosh(const Operand& x) { return lax::cosh(UseInexact("cosh", x)); }
Value digamma(const Operand& x) { return lax::digamma(UseInexact("digamma", x)); }
Value erf(const Operand& x) { return lax::erf(UseInexact("erf", x)); }
Value erfc(const Operand& x) { return lax::erfc(UseInexact("erfc", x)); }
Value erf_inv(const Operand& x) { return lax::erf_inv(UseInexact("erf_inv", x)); }
Value exp(const Operand& x) { return lax::exp(UseInexact("exp", x)); }
Value exp2(const Operand& x) { return lax::exp2(UseInexact("exp2", x)); }
Value expm1(const Operand& x) { return lax::expm1(UseInexact("expm1", x)); }
Value i0(const Operand& x) {
  const Value v = UseInexact("i0", x);
  return lax::mul(lax::exp(lax::abs(v)), lax::bessel_i0e(v));
}
Value lgamma(const Operand& x) { return lax::lgamma(UseInexact("lgamma", x)); }
Value log(const Operand& x) { return lax::log(UseInexact("log", x)); }
Value log1p(const Operand& x) { return lax::log1p(UseInexact("log1p", x)); }
Value log2(const Operand& x) {
  const Value v = UseInexact("log2", x);
  return lax::div(lax::log(v), lax::full_like(v, 0.6931471805599453));
}
Value log10(const Operand& x) {
  const Value v = UseInexact("log10", x);
  return lax::div(lax::log(v), lax::full_like(v, 2.302585092994046));
}
Value rsqrt(const Operand& x) { return lax::rsqrt(UseInexact("rsqrt", x)); }
Value sigmoid(const Operand& x) { return lax::logistic(UseInexact("logistic", x)); }
Value sin(const Operand& x) { return lax::sin(UseInexact("sin", x)); }
Value sinh(const Operand& x) { return lax::sinh(UseInexact("sinh", x)); }
Value sqrt(const Operand& x) { return lax::sqrt(UseInexact("sqrt", x)); }
Value tan(const Operand& x) { return lax::tan(UseInexact("tan", x)); }
Value tanh(const Operand& x) { return lax::tanh(UseInexact("tanh", x)); }
Value reciprocal(const Operand& x) {
  const Value v = UseInexact("div", x);
  return lax::div(lax::ones_like(v), v);
}
Value arctan2(const Operand& a, const Operand& b) { return Binary("atan2", "atan2", a, b, /*inexact=*/true); }

namespace {

// Two numbers, the greater one (that of the greater real part) first. Chosen, not computed by max and min: where both
// are equal these have slopes of their own, which add up to the first derivative of a symmetric function but not to the
// second.
struct Ordered {
  Value high, low;
};
Ordered InOrder(const Value& x, const Value& y) {
  const bool complex = IsComplex(x.dtype());
  const Value is_first = complex ? lax::real(x) >= lax::real(y) : x >= y;
  return {Where(is_first, x, y), Where(is_first, y, x)};
}

}  // namespace

Value hypot(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether("hypot", in, /*inexact=*/true);
  WantReal("hypot", a.at, v);
  const Value x = lax::abs(v[0]), y = lax::abs(v[1]);
  const auto [high, low] = InOrder(x, y);  // the ratio neither overflows nor vanishes
  const Value inf = Num(high, std::numeric_limits<double>::infinity());
  const Value fixed = (high == 0) | (high == inf);
  const Value ratio = low / Where(fixed, 1, high);
  const Value out = Where(fixed, lax::max(x, y), high * lax::sqrt(1 + lax::square(ratio)));
  return Where((x == inf) | (y == inf), inf, out);
}

namespace {

// Of complex numbers, with an imaginary part from -pi to pi, times `scale`. Where both are logarithms of 0, so is it.
Value LogAddComplexPowers(const Values& v, Value (*power)(const Value&), double scale) {
  const auto [top, low] = InOrder(v[0], v[1]);
  const Value sum = top + lax::log1p(power(low - top)) * scale;
  const Value im = lax::imag(sum), half = Num(im, std::numbers::pi * scale), turn = half + half;
  const Value rest = lax::rem(im + half, turn), wrapped = Where(rest < 0, rest + turn, rest) - half;
  const Value zeros = lax::real(top) == -std::numeric_limits<double>::infinity();
  return Where(zeros, top, lax::complex(lax::real(sum), wrapped));
}
// log(base^x + base^y) / log(base) where `power` gives base^x and `scale` is 1 / log(base).
Value LogAddPowers(const Values& v, Value (*power)(const Value&), double scale) {
  if (IsComplex(v[0].dtype())) return LogAddComplexPowers(v, power, scale);
  const auto [high, low] = InOrder(v[0], v[1]);
  const Value alike = (high == low) & ~lax::is_finite(high);  // the same infinity, whose distance is NaN
  return high + lax::log1p(power(Where(alike, 0, low) - Where(alike, 0, high))) * scale;
}

}  // namespace

Value logaddexp(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  return LogAddPowers(UseTogether("logaddexp", in, /*inexact=*/true), lax::exp, 1);
}
Value logaddexp2(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  return LogAddPowers(UseTogether("logaddexp2", in, /*inexact=*/true), lax::exp2, 1 / std::numbers::ln2);
}
Value float_power(const Operand& a, const Operand& b) { return Binary("float_power", "pow", a, b, /*inexact=*/true); }
Value degrees(const Operand& x) { return UseInexact("degrees", x) * (180 / std::numbers::pi); }
Value radians(const Operand& x) { return UseInexact("radians", x) * (std::numbers::pi / 180); }
Value sinc(const Operand& x) {
  const Value y = UseInexact("sinc", x) * std::numbers::pi, zero = y == 0, safe = Where(zero, 1, y);
  // At 0 the first terms of the series, for derivatives there; elsewhere of 0, because y^2 may be infinite.
  const Value square = lax::square(Where(zero, y, 0));
  const Value series = 1 - square * (1.0 / 6) * (1 - square * (1.0 / 20) * (1 - square * (1.0 / 42)));
  return Where(zero, series, lax::sin(safe) / safe);
}
Value heaviside(const Operand& x, const Operand& at_zero) {
  const Operand in[] = {x, at_zero};
  const Values v = UseTogether("heaviside", in, /*inexact=*/true);
  WantReal("heaviside", x.at, v);
  return Where(v[0] < 0, 0, Where(v[0] > 0, 1, Where(IsNaN(v[0]), v[0], v[1])));
}
Value fabs(const Operand& x) {
  const Value v = UseRealInexact("fabs", x);
  return lax::abs(v);
}
Value abs(const Operand& x) {
  const Value v = Use("abs", x);
  return In(v.dtype(), kUnsigned | kBools) ? v : lax::abs(v);
}
Value real(const Operand& x) {
  const Value v = Use("real", x);
  return IsComplex(v.dtype()) ? lax::real(v) : v;
}
Value imag(const Operand& x) {
  const Value v = Use("imag", x);
  return IsComplex(v.dtype()) ? lax::imag(v) : lax::zeros_like(v);
}
Value conj(const Operand& x) {
  const Value v = Use("conj", x);
  return IsComplex(v.dtype()) ? lax::conj(v) : v;
}
Value angle(const Operand& z, bool deg) {
  const Value v = UseInexact("angle", z);
  const Value out = IsComplex(v.dtype()) ? lax::atan2(lax::imag(v), lax::real(v)) : lax::atan2(lax::zeros_like(v), v);
  return deg ? out * (180 / std::numbers::pi) : out;
}
Value positive(const Operand& x) { return Use("positive", x); }
Value sign(const Operand& x) { return lax::sign(Use("sign", x)); }
Value square(const Operand& x) { return lax::square(UseNumbers("square", {&x, 1})[0]); }

namespace {

Value Rounded(std::string_view name, const Operand& x, Value (*f)(const Value&)) {
  const Value v = Use(name, x);
  WantReal(name, x.at, v);
  return IsFloat(v.dtype()) ? f(v) : v;
}

}  // namespace

Value floor(const Operand& x) { return Rounded("floor", x, lax::floor); }
Value ceil(const Operand& x) { return Rounded("ceil", x, lax::ceil); }
Value round(const Operand& x, int64_t decimals) {
  const Value v = Use("round", x);
  if (!IsInexact(v.dtype())) {
    if (decimals < 0) FailAt(x.at, "round: decimals is ", decimals, "; for integers it must not be negative");
    return v;
  }
  if (IsComplex(v.dtype())) {
    const Value re = round(Operand(lax::real(v), x.at), decimals), im = round(Operand(lax::imag(v), x.at), decimals);
    return lax::complex(re, im);
  }
  if (decimals == 0) return lax::round(v, 1);
  const double factor = std::pow(10.0, static_cast<double>(decimals));
  const Value wide = IsNarrowFloat(v.dtype()) ? To(v, DType::kF32) : v;
  return To(lax::round(wide * factor, 1) / factor, v.dtype());
}
Value stop_gradient(const Operand& x) { return lax::stop_gradient(Use("stop_gradient", x)); }
Value astype(const Operand& x, DType dtype) {
  const Value v = Use("convert_element_type", x);
  if (dtype == DType::kBool && v.dtype() != dtype) return lax::ne(v, lax::zeros_like(v));
  return lax::convert_element_type(v, dtype);
}
Value maximum(const Operand& a, const Operand& b) { return Binary("max", "max", a, b); }
Value minimum(const Operand& a, const Operand& b) { return Binary("min", "min", a, b); }
Value fmax(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether("fmax", in);
  return lax::select((v[0] > v[1]) | IsNaN(v[1]), v[0], v[1]);
}
Value fmin(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether("fmin", in);
  return lax::select((v[0] < v[1]) | IsNaN(v[1]), v[0], v[1]);
}
Value clip(const Operand& x, const Operand& low, const Operand& high) {
  const Operand in[] = {x, low, high};
  const DType dtype = PromotedDType(SiteOf("clip", in), in);
  if (IsComplex(dtype)) FailAt(x.at, "clip: operands are of ", dtype, "; they must be real");
  return minimum(Operand(maximum(x, low), x.at), high);
}
namespace {

// By squares. Exponents of more than 6 bits give what does not fit, or powers of 0 and 1.
Value IntegerPower(Value x, Value n) {
  const Value zero = lax::zeros_like(x), one = lax::ones_like(x);
  Value out = Where((x == zero) & (n != zero), zero, one);
  for (int bit = 0; bit < 6; ++bit) {
    out = Where(lax::bitwise_and(n, one) != zero, out * x, out);
    x = x * x;
    n = lax::shift_right_logical(n, one);
  }
  return out;
}

}  // namespace

Value pow(const Operand& a, const Operand& b) {
  if (b.weak == Weak::kInt && !a.is_number()) {
    const Value v = UseNumbers("integer_pow", {&a, 1})[0];
    const int64_t n = b.int64("pow");
    if (n >= 0 || IsInexact(v.dtype())) return lax::integer_pow(v, n);
    return Binary("pow", "pow", a, b, /*inexact=*/true);
  }
  const Operand in[] = {a, b};
  const Values v = UseNumbers("pow", in);
  return IsInexact(v[0].dtype()) ? Emit1("pow", v) : IntegerPower(v[0], v[1]);
}
Value floor_divide(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseNumbers("floor_divide", in);
  const Value q = lax::div(v[0], v[1]);
  if (In(q.dtype(), kUnsigned)) return q;
  const Value r = lax::rem(v[0], v[1]), zero = lax::zeros_like(r);
  if (IsFloat(q.dtype())) {
    const Value mod = remainder(Operand(v[0], a.at), Operand(v[1], a.at));
    const Value whole = lax::round(lax::div(lax::sub(v[0], mod), v[1]), 1);
    return Where(v[1] == 0, lax::div(v[0], v[1]), whole);  // as in JAX, infinite rather than NaN
  }
  const Value down = lax::bitwise_and(lax::ne(lax::sign(v[0]), lax::sign(v[1])), lax::ne(r, zero));
  return lax::select(down, lax::sub(q, lax::ones_like(q)), q);
}
Value logical_not(const Operand& x) { return lax::bitwise_not(ToBool(Use("logical_not", x))); }

namespace {

Value LogicalPair(std::string_view name, const Operand& a, const Operand& b, Value (*f)(const Value&, const Value&)) {
  const Operand in[] = {a, b};
  const Values v = UseTogether(name, in);
  return f(ToBool(v[0]), ToBool(v[1]));
}

}  // namespace

Value logical_and(const Operand& a, const Operand& b) { return LogicalPair("logical_and", a, b, lax::bitwise_and); }
Value logical_or(const Operand& a, const Operand& b) { return LogicalPair("logical_or", a, b, lax::bitwise_or); }
Value logical_xor(const Operand& a, const Operand& b) { return LogicalPair("logical_xor", a, b, lax::bitwise_xor); }
Value isnan(const Operand& x) {
  const Value v = Use("isnan", x);
  return lax::ne(v, v);
}
Value isfinite(const Operand& x) {
  const Value v = UseInexact("isfinite", x);
  if (!IsComplex(v.dtype())) return lax::is_finite(v);
  return lax::bitwise_and(lax::is_finite(lax::real(v)), lax::is_finite(lax::imag(v)));
}
Value isinf(const Operand& x) {
  const Value v = lax::abs(UseInexact("isinf", x));
  return lax::eq(v, lax::full_like(v, std::numeric_limits<double>::infinity()));
}
Value where(const Operand& pred, const Operand& a, const Operand& b) {
  const Operand all[] = {pred, a, b};
  const CallSite site = SiteOf("where", all);
  const DType dtype = PromotedDType(site, std::span(all).subspan(1));
  const Shape shape = BroadcastShape(site, all);
  auto use = [&](const Operand& x, DType d) {
    const Value v = site.Lift(x, d, shape);
    return BroadcastValue(d == DType::kBool ? ToBool(v) : lax::convert_element_type(v, d), shape);
  };
  return lax::select(use(pred, DType::kBool), use(a, dtype), use(b, dtype));
}
Value relu(const Operand& x) {
  const Value v = Use("relu", x);
  return Where(v <= 0, 0, v);
}
Value silu(const Operand& x) {
  const Value v = UseInexact("silu", x);
  return lax::mul(v, lax::logistic(v));
}
Value softplus(const Operand& x) { return logaddexp(x, 0.0); }
Value gelu(const Operand& x, bool approximate) {
  const Value v = UseInexact("gelu", x);
  if (!approximate) return lax::mul(lax::mul(v, 0.5), lax::erfc(lax::mul(lax::neg(v), 0.7071067811865476)));
  const Value inner = lax::mul(lax::add(v, lax::mul(lax::integer_pow(v, 3), 0.044715)), 0.7978845608028654);
  return lax::mul(v, lax::mul(lax::add(lax::tanh(inner), 1.0), 0.5));
}

}}  // namespace ricci::v0
