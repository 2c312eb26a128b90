// Reductions that leave out NaN.
#include <cmath>
#include <limits>

#include "host/core/plain_math.h"
#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 {

using namespace plain;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// x with `other` for NaN.
Operand Without(std::string_view name, const Operand& x, double other) {
  const Value v = Use(name, x);
  return Operand(IsInexact(v.dtype()) ? Where(IsNaN(v), other, v) : v, x.at);
}
// How many elements along `axes` are numbers, in the dtype of v.
Value CountOfNumbers(const Value& v, const Operand& x, const Axes& axes, bool keepdims) {
  return sum(Operand(To(~IsNaN(v), v.dtype()), x.at), axes, keepdims);
}
using Extremum = Value(const Operand&, const Axes&, bool);
Value ExtremumOfNumbers(Extremum* f, std::string_view name, const Operand& x, const Axes& axes, bool keepdims,
                        double other) {
  const Value v = Use(name, x);
  if (!IsInexact(v.dtype())) return f(x, axes, keepdims);
  const Value out = f(Without(name, x, other), axes, keepdims);
  return Where(all(Operand(IsNaN(v), x.at), axes, keepdims), kNaN, out);
}
using ArgExtremum = Value(const Operand&, AxisNumber, bool);
Value ArgOfNumbers(ArgExtremum* f, std::string_view name, const Operand& x, AxisNumber axis, bool keepdims,
                   double other) {
  const Value v = Use(name, x);
  if (!IsInexact(v.dtype())) return f(x, axis, keepdims);
  const Axes axes = axis == kFlat ? Axes() : Axes(static_cast<int64_t>(axis));
  const Value none = all(Operand(IsNaN(v), x.at), axes, keepdims);
  return Where(none, -1, f(Without(name, x, other), axis, keepdims));
}

}  // namespace

Value nansum(const Operand& x, const Axes& axes, bool keepdims) { return sum(Without("nansum", x, 0), axes, keepdims); }
Value nanprod(const Operand& x, const Axes& axes, bool keepdims) {
  return prod(Without("nanprod", x, 1), axes, keepdims);
}
Value nanmax(const Operand& x, const Axes& axes, bool keepdims) {
  return ExtremumOfNumbers(max, "nanmax", x, axes, keepdims, -INFINITY);
}
Value nanmin(const Operand& x, const Axes& axes, bool keepdims) {
  return ExtremumOfNumbers(min, "nanmin", x, axes, keepdims, INFINITY);
}
Value nanmean(const Operand& x, const Axes& axes, bool keepdims) {
  const Value v = UseInexact("nanmean", x), wide = Wide(v);
  return To(nansum(Operand(wide, x.at), axes, keepdims) / CountOfNumbers(wide, x, axes, keepdims), v.dtype());
}
Value nanvar(const Operand& x, const Axes& axes, int64_t ddof, bool keepdims) {
  const Value given = UseInexact("nanvar", x), v = Wide(given);
  const Value centered = Where(IsNaN(v), 0, v - nanmean(Operand(v, x.at), axes, /*keepdims=*/true));
  const Value square = IsComplex(v.dtype()) ? lax::real(centered * lax::conj(centered)) : lax::square(centered);
  const Value count = CountOfNumbers(v, x, axes, keepdims) - static_cast<double>(ddof);
  const Value real = IsComplex(v.dtype()) ? lax::real(count) : count;
  return To(Where(real <= 0, kNaN, sum(Operand(square, x.at), axes, keepdims) / real), PartOf(given.dtype()));
}
Value nanstd(const Operand& x, const Axes& axes, int64_t ddof, bool keepdims) {
  return lax::sqrt(nanvar(x, axes, ddof, keepdims));
}
Value nanargmax(const Operand& x, AxisNumber axis, bool keepdims) {
  return ArgOfNumbers(argmax, "nanargmax", x, axis, keepdims, -INFINITY);
}
Value nanargmin(const Operand& x, AxisNumber axis, bool keepdims) {
  return ArgOfNumbers(argmin, "nanargmin", x, axis, keepdims, INFINITY);
}
Value nancumsum(const Operand& x, AxisNumber axis) { return cumsum(Without("nancumsum", x, 0), axis); }
Value nancumprod(const Operand& x, AxisNumber axis) { return cumprod(Without("nancumprod", x, 1), axis); }

}}  // namespace ricci::v0
