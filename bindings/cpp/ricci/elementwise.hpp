// ricci/elementwise.hpp: the elementwise functions of jax.numpy.
#ifndef RICCI_ELEMENTWISE_HPP_
#define RICCI_ELEMENTWISE_HPP_
#include "ricci/operators.hpp"

namespace ricci::inline v0 {

// ---- floating results: integers and bool become f32 ----
inline Value acos(const Operand& x) { return lax::acos(UseInexact("acos", x)); }
inline Value acosh(const Operand& x) { return lax::acosh(UseInexact("acosh", x)); }
inline Value asin(const Operand& x) { return lax::asin(UseInexact("asin", x)); }
inline Value asinh(const Operand& x) { return lax::asinh(UseInexact("asinh", x)); }
inline Value atan(const Operand& x) { return lax::atan(UseInexact("atan", x)); }
inline Value atanh(const Operand& x) { return lax::atanh(UseInexact("atanh", x)); }
inline Value cbrt(const Operand& x) { return lax::cbrt(UseInexact("cbrt", x)); }
inline Value cos(const Operand& x) { return lax::cos(UseInexact("cos", x)); }
inline Value cosh(const Operand& x) { return lax::cosh(UseInexact("cosh", x)); }
inline Value digamma(const Operand& x) { return lax::digamma(UseInexact("digamma", x)); }
inline Value erf(const Operand& x) { return lax::erf(UseInexact("erf", x)); }
inline Value erfc(const Operand& x) { return lax::erfc(UseInexact("erfc", x)); }
inline Value erf_inv(const Operand& x) { return lax::erf_inv(UseInexact("erf_inv", x)); }
inline Value exp(const Operand& x) { return lax::exp(UseInexact("exp", x)); }
inline Value exp2(const Operand& x) { return lax::exp2(UseInexact("exp2", x)); }
inline Value expm1(const Operand& x) { return lax::expm1(UseInexact("expm1", x)); }
inline Value lgamma(const Operand& x) { return lax::lgamma(UseInexact("lgamma", x)); }
inline Value log(const Operand& x) { return lax::log(UseInexact("log", x)); }
inline Value log1p(const Operand& x) { return lax::log1p(UseInexact("log1p", x)); }
inline Value log2(const Operand& x) {
  const Value v = UseInexact("log2", x);
  return lax::div(lax::log(v), lax::full_like(v, 0.6931471805599453));
}
inline Value log10(const Operand& x) {
  const Value v = UseInexact("log10", x);
  return lax::div(lax::log(v), lax::full_like(v, 2.302585092994046));
}
inline Value rsqrt(const Operand& x) { return lax::rsqrt(UseInexact("rsqrt", x)); }
inline Value sigmoid(const Operand& x) { return lax::logistic(UseInexact("logistic", x)); }
inline Value sin(const Operand& x) { return lax::sin(UseInexact("sin", x)); }
inline Value sinh(const Operand& x) { return lax::sinh(UseInexact("sinh", x)); }
inline Value sqrt(const Operand& x) { return lax::sqrt(UseInexact("sqrt", x)); }
inline Value tan(const Operand& x) { return lax::tan(UseInexact("tan", x)); }
inline Value tanh(const Operand& x) { return lax::tanh(UseInexact("tanh", x)); }
inline Value reciprocal(const Operand& x) {
  const Value v = UseInexact("div", x);
  return lax::div(lax::ones_like(v), v);
}
inline Value arctan2(const Operand& a, const Operand& b) { return Binary("atan2", "atan2", a, b, /*inexact=*/true); }
inline Value hypot(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether("hypot", in, /*inexact=*/true);
  return lax::sqrt(lax::add(lax::square(v[0]), lax::square(v[1])));
}
inline Value logaddexp(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether("logaddexp", in, /*inexact=*/true);
  const Value top = lax::max(v[0], v[1]), delta = lax::sub(v[0], v[1]);
  const Value sum = lax::add(top, lax::log1p(lax::exp(lax::neg(lax::abs(delta)))));
  return lax::select(lax::ne(delta, delta), lax::add(v[0], v[1]), sum);
}

// ---- the dtype stays ----
inline Value abs(const Operand& x) {
  const Value v = Use("abs", x);
  return In(v.dtype(), kUnsigned | kBools) ? v : lax::abs(v);
}
inline Value sign(const Operand& x) { return lax::sign(Use("sign", x)); }
inline Value square(const Operand& x) { return lax::square(Use("square", x)); }
inline Value Rounded(std::string_view name, const Operand& x, Value (*f)(const Value&)) {
  const Value v = Use(name, x);
  return IsFloat(v.dtype()) ? f(v) : v;
}
inline Value floor(const Operand& x) { return Rounded("floor", x, lax::floor); }
inline Value ceil(const Operand& x) { return Rounded("ceil", x, lax::ceil); }
// To nearest, halves to even.
inline Value round(const Operand& x) {
  return Rounded("round", x, [](const Value& v) { return lax::round(v, 1); });
}
inline Value stop_gradient(const Operand& x) { return lax::stop_gradient(Use("stop_gradient", x)); }
inline Value astype(const Operand& x, DType dtype) {
  const Value v = Use("convert_element_type", x);
  if (dtype == DType::kBool && v.dtype() != dtype) return lax::ne(v, lax::zeros_like(v));
  return lax::convert_element_type(v, dtype);
}

inline Value maximum(const Operand& a, const Operand& b) { return Binary("max", "max", a, b); }
inline Value minimum(const Operand& a, const Operand& b) { return Binary("min", "min", a, b); }
inline Value clip(const Operand& x, const Operand& low, const Operand& high) {
  return minimum(Operand(maximum(x, low), x.at), high);
}
// An integer number as exponent stays exact: x * x * ...
inline Value pow(const Operand& a, const Operand& b) {
  if (b.weak == Weak::kInt && a.is_value()) {
    const Value v = Use("integer_pow", a);
    if (b.integer >= 0 || IsFloat(v.dtype())) return lax::integer_pow(v, b.integer);
  }
  return Binary("pow", "pow", a, b, /*inexact=*/true);
}
inline Value floor_divide(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether("floor_divide", in);
  const Value q = lax::div(v[0], v[1]);
  if (In(q.dtype(), kUnsigned)) return q;
  const Value r = lax::rem(v[0], v[1]), zero = lax::zeros_like(r);
  if (IsFloat(q.dtype())) {
    const Value mod = remainder(Operand(v[0], a.at), Operand(v[1], a.at));
    return lax::round(lax::div(lax::sub(v[0], mod), v[1]), 1);
  }
  const Value down = lax::bitwise_and(lax::ne(lax::sign(v[0]), lax::sign(v[1])), lax::ne(r, zero));
  return lax::select(down, lax::sub(q, lax::ones_like(q)), q);
}

// ---- logic ----
inline Value ToBool(const Value& v) { return v.dtype() == DType::kBool ? v : lax::ne(v, lax::zeros_like(v)); }
inline Value logical_not(const Operand& x) { return lax::bitwise_not(ToBool(Use("logical_not", x))); }
inline Value LogicalPair(std::string_view name, const Operand& a, const Operand& b,
                         Value (*f)(const Value&, const Value&)) {
  const Operand in[] = {a, b};
  const Values v = UseTogether(name, in);
  return f(ToBool(v[0]), ToBool(v[1]));
}
inline Value logical_and(const Operand& a, const Operand& b) {
  return LogicalPair("logical_and", a, b, lax::bitwise_and);
}
inline Value logical_or(const Operand& a, const Operand& b) { return LogicalPair("logical_or", a, b, lax::bitwise_or); }
inline Value logical_xor(const Operand& a, const Operand& b) {
  return LogicalPair("logical_xor", a, b, lax::bitwise_xor);
}
inline Value isnan(const Operand& x) {
  const Value v = Use("isnan", x);
  return lax::ne(v, v);
}
inline Value isfinite(const Operand& x) { return lax::is_finite(UseInexact("isfinite", x)); }
inline Value isinf(const Operand& x) {
  const Value v = lax::abs(UseInexact("isinf", x));
  return lax::eq(v, lax::full_like(v, std::numeric_limits<double>::infinity()));
}

// pred ? a : b, elementwise, all three broadcast.
inline Value where(const Operand& pred, const Operand& a, const Operand& b) {
  const Operand all[] = {pred, a, b};
  const Place p = PlaceOf("where", all);
  const DType dtype = PromotedDType(p, std::span(all).subspan(1));
  const Shape shape = BroadcastShape(p, all);
  auto use = [&](const Operand& x, DType d) {
    const Value v = p.Lift(x, d, shape);
    return BroadcastValue(d == DType::kBool ? ToBool(v) : lax::convert_element_type(v, d), shape);
  };
  return lax::select(use(pred, DType::kBool), use(a, dtype), use(b, dtype));
}

// ---- activations ----
// max(x, 0) whose derivative at 0 is 0.
inline Value relu(const Operand& x) {
  const Value v = Use("relu", x), zero = lax::zeros_like(v);
  return lax::select(lax::le(v, zero), zero, v);
}
inline Value silu(const Operand& x) {
  const Value v = UseInexact("silu", x);
  return lax::mul(v, lax::logistic(v));
}
inline Value softplus(const Operand& x) { return logaddexp(x, 0.0); }
// The tanh form unless `approximate` is false.
inline Value gelu(const Operand& x, bool approximate = true) {
  const Value v = UseInexact("gelu", x);
  if (!approximate) return lax::mul(lax::mul(v, 0.5), lax::erfc(lax::mul(lax::neg(v), 0.7071067811865476)));
  const Value inner = lax::mul(lax::add(v, lax::mul(lax::integer_pow(v, 3), 0.044715)), 0.7978845608028654);
  return lax::mul(v, lax::mul(lax::add(lax::tanh(inner), 1.0), 0.5));
}

}  // namespace ricci::inline v0
#endif
