// Arithmetic on Values of one dtype inside of host/: they broadcast, numbers take their dtype, and nothing else
// changes.
//
// The operators of ricci/operators.hpp promote and record the location of their caller, which inside of host/ would be
// a line of the library; these leave the place of the host's own call.
#ifndef RICCI_BINDINGS_CPP_HOST_PLAIN_MATH_H_
#define RICCI_BINDINGS_CPP_HOST_PLAIN_MATH_H_
#include <numbers>

#include "host/core/numpy_steps.h"

namespace ricci { inline namespace v0 { namespace plain {

using ValuePair = std::pair<Value, Value>;
using Binary2 = Value(const Value&, const Value&);
// f of both, broadcast to one shape.
Value Both(Binary2* f, const Value& a, const Value& b);
// The same for a comparison of order: complex numbers by their real parts, equal ones by their imaginary parts.
Value InOrder(Binary2* f, const Value& a, const Value& b);
// Fail at `at` unless the operand is real, or the operands of one type are.
void WantReal(std::string_view name, const Location& at, const Value& v);
void WantReal(std::string_view name, const Location& at, std::span<const Value> vs);
// The operand as a floating number that is real.
Value UseRealInexact(std::string_view name, const Operand& x);
inline Value Num(const Value& like, double x) { return lax::full_like(like, x); }
// A scalar of that dtype.
inline Value Scalar(const Value& like, double x) {
  Value v = lax::full(like.builder, Dims(), like.dtype(), x);
  v.scope = like.scope;
  return v;
}

inline Value operator+(const Value& a, const Value& b) { return Both(lax::add, a, b); }
inline Value operator-(const Value& a, const Value& b) { return Both(lax::sub, a, b); }
inline Value operator*(const Value& a, const Value& b) { return Both(lax::mul, a, b); }
inline Value operator/(const Value& a, const Value& b) { return Both(lax::div, a, b); }
inline Value operator&(const Value& a, const Value& b) { return Both(lax::bitwise_and, a, b); }
inline Value operator|(const Value& a, const Value& b) { return Both(lax::bitwise_or, a, b); }
inline Value operator==(const Value& a, const Value& b) { return Both(lax::eq, a, b); }
inline Value operator!=(const Value& a, const Value& b) { return Both(lax::ne, a, b); }
inline Value operator<(const Value& a, const Value& b) { return InOrder(lax::lt, a, b); }
inline Value operator<=(const Value& a, const Value& b) { return InOrder(lax::le, a, b); }
inline Value operator>(const Value& a, const Value& b) { return InOrder(lax::gt, a, b); }
inline Value operator>=(const Value& a, const Value& b) { return InOrder(lax::ge, a, b); }
inline Value operator+(const Value& a, double b) { return a + Num(a, b); }
inline Value operator-(const Value& a, double b) { return a - Num(a, b); }
inline Value operator*(const Value& a, double b) { return a * Num(a, b); }
inline Value operator/(const Value& a, double b) { return a / Num(a, b); }
inline Value operator==(const Value& a, double b) { return a == Num(a, b); }
inline Value operator!=(const Value& a, double b) { return a != Num(a, b); }
inline Value operator<(const Value& a, double b) { return a < Num(a, b); }
inline Value operator<=(const Value& a, double b) { return a <= Num(a, b); }
inline Value operator>(const Value& a, double b) { return a > Num(a, b); }
inline Value operator>=(const Value& a, double b) { return a >= Num(a, b); }
inline Value operator+(double a, const Value& b) { return Num(b, a) + b; }
inline Value operator-(double a, const Value& b) { return Num(b, a) - b; }
inline Value operator*(double a, const Value& b) { return Num(b, a) * b; }
inline Value operator/(double a, const Value& b) { return Num(b, a) / b; }
inline Value operator-(const Value& a) { return lax::neg(a); }
inline Value operator~(const Value& a) { return lax::bitwise_not(a); }

// p ? a : b; a and b have one dtype, all three broadcast.
Value Where(const Value& p, const Value& a, const Value& b);
inline Value Where(const Value& p, const Value& a, double b) { return Where(p, a, Scalar(a, b)); }
inline Value Where(const Value& p, double a, const Value& b) { return Where(p, Scalar(b, a), b); }
inline Value IsNaN(const Value& v) { return lax::ne(v, v); }
inline Value Max(const Value& a, const Value& b) { return Both(lax::max, a, b); }
inline Value Min(const Value& a, const Value& b) { return Both(lax::min, a, b); }
inline Value To(const Value& v, DType d) { return lax::convert_element_type(v, d); }
// In what means are computed: sums soon exceed narrow floats.
inline Value Wide(const Value& v) { return IsNarrowFloat(v.dtype()) ? To(v, DType::kF32) : v; }
// Along one axis, which stays with size 1.
Value KeptSum(const Value& v, Dims axes);
// 0, 1, ... along `axis` in the shape of v.
Value Positions(const Value& v, DType dtype, int64_t axis);
// [start, limit) along `axis`.
inline Value Cut(const Value& v, int64_t start, int64_t limit, int64_t axis) {
  return lax::slice_in_dim(v, start, limit, axis);
}
Value Join(std::initializer_list<Value> parts, int64_t axis);
// By Horner's rule; the coefficient of the highest power comes first.
Value Polynomial(const Value& x, std::span<const double> coefficients);
inline Value Polynomial(const Value& x, std::initializer_list<double> coefficients) {
  return Polynomial(x, std::span(coefficients.begin(), coefficients.size()));
}
// Windows of so many cosines: the sum of c[k] cos(2 pi k i / period).
inline constexpr double kHann[] = {0.5, -0.5}, kHamming[] = {0.54, -0.46}, kBlackman[] = {0.42, -0.5, 0.08};
Value Cosines(const Value& i, double period, std::span<const double> c);
// The axis moved to the end, or the last one to `axis`.
Value AxisToEnd(const Value& v, int64_t axis);
Value EndToAxis(const Value& v, int64_t axis);

}}}  // namespace ricci::v0::plain
#endif
