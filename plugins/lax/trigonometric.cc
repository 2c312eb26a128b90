// sin, cos, tan and their inverses.
//
// Derivatives are written as in jax.lax, so that gradients round alike.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

Value Sin(const Value& x, const Value&) { return cos(x); }
Value Cos(const Value& x, const Value&) { return neg(sin(x)); }
Value Tan(const Value&, const Value& y) { return add(1.0, square(y)); }
Value Asin(const Value& x, const Value&) { return rsqrt(sub(1.0, square(x))); }
Value Acos(const Value& x, const Value&) { return neg(rsqrt(sub(1.0, square(x)))); }
Value Atan(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  return div(t, add(1.0, square(in[0])));
}

Value SquaredRadius(std::span<const Value> in) {
  const Value x_squared = square(in[1]);
  return add(square(in[0]), x_squared);
}
Value Atan2First(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  return mul(t, div(in[1], SquaredRadius(in)));
}
Value Atan2Second(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value squared_radius = SquaredRadius(in);
  return mul(t, div(neg(in[0]), squared_radius));
}

constexpr Row kRows[] = {
    rules::RealFunction<RICCI_S_SIN, Sin, kInexact>("sin", "y = sin(x): the sine of x, in radians",
                                                    "(f64[2,3]); (c128[2,3])"),
    rules::RealFunction<RICCI_S_COS, Cos, kInexact>("cos", "y = cos(x): the cosine of x, in radians",
                                                    "(f64[2,3]); (c128[2,3])"),
    rules::RealFunction<RICCI_S_TAN, Tan, kInexact>("tan", "y = tan(x): the tangent of x, in radians",
                                                    "(f64[2,3] in -1..1); (c128[2,3] in -1..1)"),
    rules::RealFunction<RICCI_S_ASIN, Asin, kInexact>("asin", "y = asin(x): the angle whose sine is x, in radians",
                                                      "(f64[2,3] in -0.8..0.8); (c128[2,3])"),
    rules::RealFunction<RICCI_S_ACOS, Acos, kInexact>("acos", "y = acos(x): the angle whose cosine is x, in radians",
                                                      "(f64[2,3] in -0.8..0.8); (c128[2,3])"),
    {.name = "atan",
     .doc = "y = atan(x): the angle whose tangent is x, in radians",
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = rules::Same<1, kInexact>,
     .jvp = rules::Terms<Atan>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_ATAN>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3]); (c128[2,3] in -0.7..0.7)"},
    {.name = "atan2",
     .doc = "z = atan2(y, x): the angle of the point (x, y), in radians",
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = rules::Same<2, kInexact>,
     .jvp = rules::Terms<Atan2First, Atan2Second>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_ATAN2>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3] in 0.3..2, f64[2,3] in 0.3..2); (c128[2,3] in 0.3..2, c128[2,3] in 2.3..4)"},
};

}  // namespace

RowList trigonometric_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
