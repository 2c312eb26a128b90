// Numbers taken apart, rounded and compared, with the formulas of jax.numpy.
#include "ricci/float_parts.hpp"

#include <cmath>
#include <limits>

#include "host/core/plain_math.h"
#include "ricci/loops.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The format of a floating dtype.
struct FloatLayout {
  DType bits;
  int64_t mantissa, exponent;  // numbers of bits
  int64_t bias() const { return (int64_t{1} << (exponent - 1)) - 1; }
};
FloatLayout LayoutOf(DType d) {
  if (d == DType::kF16) return {DType::kI16, 10, 5};
  if (d == DType::kBF16) return {DType::kI16, 7, 8};
  return d == DType::kF32 ? FloatLayout{DType::kI32, 23, 8} : FloatLayout{DType::kI64, 52, 11};
}
Value UseReal(std::string_view name, const Operand& x) {
  const Value v = UseRealInexact(name, x);
  if (In(v.dtype(), kTinyFloats)) FailAt(x.at, name, ": operand is ", v.type(), "; convert it to f32");
  return v;
}
Values UseRealPair(std::string_view name, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether(name, in, /*inexact=*/true);
  WantReal(name, a.at, v);
  if (In(v[0].dtype(), kTinyFloats)) FailAt(a.at, name, ": operands are ", v[0].type(), "; convert them to f32");
  return v;
}
Value SignBit(const Value& v) { return lax::bitcast_convert_type(v, LayoutOf(v.dtype()).bits) < 0; }
Value WithSignOf(const Value& magnitude, const Value& sign) {
  return Where(SignBit(magnitude) == SignBit(sign), magnitude, -magnitude);
}

}  // namespace

Value signbit(const Operand& x) {
  const Value v = Use("signbit", x);
  if (In(v.dtype(), kUnsigned | kBools)) return lax::ne(v, v);
  if (In(v.dtype(), kSigned)) return v < 0;
  return SignBit(UseReal("signbit", Operand(v, x.at)));
}
Value copysign(const Operand& a, const Operand& b) {
  const Values v = UseRealPair("copysign", a, b);
  return WithSignOf(v[0], v[1]);
}
Value nextafter(const Operand& a, const Operand& b) {
  const Values v = UseRealPair("nextafter", a, b);
  return lax::nextafter(v[0], v[1]);
}
Value spacing(const Operand& x) {
  const Value v = UseReal("spacing", x), away = WithSignOf(Num(v, kInf), v);
  const Value step = lax::nextafter(v, away) - v;
  return Where(lax::is_finite(v), Where(lax::is_finite(step), step, lax::sub(v, lax::nextafter(v, -away))),
               std::numeric_limits<double>::quiet_NaN());
}
std::pair<Value, Value> frexp(const Operand& x) {
  const Value v = UseReal("frexp", x);
  const FloatLayout f = LayoutOf(v.dtype());
  const auto mantissa = static_cast<double>(f.mantissa), bias = static_cast<double>(f.bias());
  const Value small = lax::abs(v) < std::ldexp(1.0, static_cast<int>(1 - f.bias()));  // subnormal
  const Value normal = Where(small, v * std::ldexp(1.0, static_cast<int>(f.mantissa)), v);
  const Value bits = lax::bitcast_convert_type(normal, f.bits);
  const int64_t mask = ((int64_t{1} << f.exponent) - 1) << f.mantissa;
  const Value field = lax::shift_right_logical(bits & lax::full_like(bits, mask), lax::full_like(bits, f.mantissa));
  const Value exponent =
      To(field, DType::kI32) - (bias - 1) - Where(small, mantissa, lax::zeros_like(To(bits, DType::kI32)));
  const Value half = lax::bitcast_convert_type(
      (bits & lax::full_like(bits, ~mask)) | lax::full_like(bits, (f.bias() - 1) << f.mantissa), v.dtype());
  const Value plain = (v == 0) | ~lax::is_finite(v);
  return {Where(plain, v, half), Where(plain, 0, exponent)};
}
Value ldexp(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const CallSite site = SiteOf("ldexp", in);
  const Value x = UseReal("ldexp", Operand(site.Lift(a, kDefaultFloat), a.at)), n = site.Lift(b, kDefaultInt);
  if (!IsInt(n.dtype())) site.Fail("the exponent is ", n.type(), "; it must be an integer");
  // In three steps no factor leaves the range unless the result does.
  const FloatLayout f = LayoutOf(x.dtype());
  const auto most = static_cast<double>(f.bias() - 1);
  Value rest = To(lax::clamp(Scalar(n, std::max(-3 * most, n.dtype() == DType::kI8 ? -128.0 : -3 * most)), n,
                             Scalar(n, n.dtype() == DType::kI8 ? 127.0 : 3 * most)),
                  DType::kI32);
  Value out = x;
  for (int step = 0; step < 3; ++step) {
    const Value part = lax::clamp(Scalar(rest, -most), rest, Scalar(rest, most));
    const Value bits =
        lax::shift_left(To(part + static_cast<double>(f.bias()), f.bits), lax::full_like(To(part, f.bits), f.mantissa));
    out = out * lax::bitcast_convert_type(bits, x.dtype());
    rest = rest - part;
  }
  return out;
}
std::pair<Value, Value> modf(const Operand& x) {
  const Value v = UseReal("modf", x);
  const Value whole = Where(v >= 0, lax::floor(v), lax::ceil(v));
  return {v - whole, whole};
}
Value bitwise_count(const Operand& x) {
  const Value v = Use("bitwise_count", x);
  if (v.dtype() != DType::kBool && !IsInt(v.dtype())) {
    FailAt(x.at, "bitwise_count: operand is ", v.type(), "; it must be an integer");
  }
  if (v.dtype() == DType::kBool) return To(v, DType::kU8);
  return To(lax::population_count(In(v.dtype(), kSigned) ? lax::abs(v) : v), DType::kU8);
}
Value trunc(const Operand& x) {
  const Value v = Use("trunc", x);
  WantReal("trunc", x.at, v);
  return IsFloat(v.dtype()) ? Where(v < 0, lax::ceil(v), lax::floor(v)) : v;
}
Value rint(const Operand& x) { return round(Operand(UseInexact("rint", x), x.at)); }
Value fmod(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseNumbers("fmod", in);
  return RemainderOrZero(v[0], v[1]);
}
std::pair<Value, Value> divmod(const Operand& a, const Operand& b) { return {floor_divide(a, b), remainder(a, b)}; }

namespace {

Values UseIntegers(std::string_view name, const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const Values v = UseTogether(name, in);
  if (!IsInt(v[0].dtype())) FailAt(a.at, name, ": operands are ", v[0].type(), "; they must be integers");
  return v;
}
// Euclid's algorithm on all elements until each remainder is 0.
Value Gcd(const Value& a, const Value& b) {
  const auto abs = [](const Value& v) { return In(v.dtype(), kUnsigned) ? v : lax::abs(v); };
  using Pair = std::pair<Value, Value>;
  const auto open = [](const Pair& p) { return lax::reduce_or(p.second != 0, CountFrom(0, p.second.rank())); };
  const auto step = [](const Pair& p) {
    const Value more = p.second != 0, divisor = Where(more, p.second, 1);
    return Pair(Where(more, p.second, p.first), Where(more, lax::rem(p.first, divisor), 0));
  };
  return while_loop(open, step, Pair(abs(a), abs(b))).first;
}

}  // namespace

Value gcd(const Operand& a, const Operand& b) {
  const Values v = UseIntegers("gcd", a, b);
  return Gcd(v[0], v[1]);
}
Value lcm(const Operand& a, const Operand& b) {
  const Values v = UseIntegers("lcm", a, b);
  const Value d = Gcd(v[0], v[1]), zero = d == 0;
  const Value product = (v[0] * lax::div(v[1], Where(zero, 1, d)));
  return Where(zero, 0, In(d.dtype(), kUnsigned) ? product : lax::abs(product));
}

Value isneginf(const Operand& x) { return UseReal("isneginf", x) == -kInf; }
Value isposinf(const Operand& x) { return UseReal("isposinf", x) == kInf; }
Value isreal(const Operand& x) { return imag(x) == 0; }
Value iscomplex(const Operand& x) { return imag(x) != 0; }
Value isclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  const Operand in[] = {a, b};
  const Values v = UseTogether("isclose", in, /*inexact=*/true);
  const Value near = lax::abs(v[0] - v[1]), size = lax::abs(v[1]);
  const Value equal = v[0] == v[1];
  const Value finite = lax::is_finite(lax::abs(v[0])) & lax::is_finite(size);
  Value out = Where(finite, near <= atol + rtol * size, equal);
  if (equal_nan) out = out | (IsNaN(v[0]) & IsNaN(v[1]));
  return out;
}
Value allclose(const Operand& a, const Operand& b, double rtol, double atol, bool equal_nan) {
  return all(Operand(isclose(a, b, rtol, atol, equal_nan), a.at));
}
Value array_equal(const Operand& a, const Operand& b, bool equal_nan) {
  const Operand in[] = {a, b};
  const CallSite site = SiteOf("array_equal", in);
  if (!SameDims(a.shape(), b.shape())) return site.Constant(Operand(false, a.at), DType::kBool, {});
  const Values v = UseTogether("array_equal", in);
  Value same = v[0] == v[1];
  if (equal_nan && IsInexact(v[0].dtype())) same = same | (IsNaN(v[0]) & IsNaN(v[1]));
  return lax::reduce_and(same, CountFrom(0, same.rank()));
}
Value array_equiv(const Operand& a, const Operand& b) {
  const Operand in[] = {a, b};
  const CallSite site = SiteOf("array_equiv", in);
  Shape shape(a.shape().begin(), a.shape().end());
  if (!BroadcastInto(shape, b.shape())) return site.Constant(Operand(false, a.at), DType::kBool, {});
  const Values v = UseTogether("array_equiv", in);
  return lax::reduce_and(v[0] == v[1], CountFrom(0, v[0].rank()));
}
Value nan_to_num(const Operand& x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  const Value v = Use("nan_to_num", x);
  if (IsComplex(v.dtype())) {
    const Value re = nan_to_num(Operand(lax::real(v), x.at), nan, posinf, neginf);
    return lax::complex(re, nan_to_num(Operand(lax::imag(v), x.at), nan, posinf, neginf));
  }
  if (!IsFloat(v.dtype())) return v;
  const double greatest = InfoOf(v.dtype()).max;
  const Value some = Where(IsNaN(v), nan, v);
  return Where(v == -kInf, neginf.value_or(-greatest), Where(v == kInf, posinf.value_or(greatest), some));
}

}}  // namespace ricci::v0
