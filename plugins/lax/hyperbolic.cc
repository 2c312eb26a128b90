// sinh, cosh, tanh and their inverses.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
namespace {

Value Sinh(const Value& x, const Value&) { return cosh(x); }
Value Cosh(const Value& x, const Value&) { return sinh(x); }
Value Asinh(const Value& x, const Value&) { return rsqrt(add(square(x), 1.0)); }
Value Acosh(const Value& x, const Value&) { return rsqrt(sub(square(x), 1.0)); }

// t (1 + y) (1 - y), in this order: 1 - y^2 would lose the tail.
Value Tanh(const Eqn&, const Value& t, std::span<const Value>, const Value& y) {
  const Value less = sub(1.0, y);
  return mul(add(t, mul(t, y)), less);
}
Value Atanh(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value over_less = div(t, sub(1.0, in[0]));
  return mul(integer_pow(add(1.0, in[0]), -1), over_less);
}

constexpr Row kRows[] = {
    rules::RealFunction<RICCI_S_SINH, Sinh, kInexact>("sinh", "y = sinh(x): the hyperbolic sine of x",
                                                      "(f64[2,3]); (c128[2,3])"),
    rules::RealFunction<RICCI_S_COSH, Cosh, kInexact>("cosh", "y = cosh(x): the hyperbolic cosine of x",
                                                      "(f64[2,3]); (c128[2,3])"),
    rules::RealFunction<RICCI_S_ASINH, Asinh, kInexact>("asinh", "y = asinh(x): the inverse of sinh",
                                                        "(f64[2,3]); (c128[2,3])"),
    rules::RealFunction<RICCI_S_ACOSH, Acosh, kInexact>("acosh", "y = acosh(x): the inverse of cosh",
                                                        "(f64[2,3] in 1.2..3); (c128[2,3] in 0.3..2)"),
    {.name = "tanh",
     .doc = "y = tanh(x): the hyperbolic tangent of x",
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = rules::Same<1, kInexact>,
     .jvp = rules::Terms<Tanh>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_TANH>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3]); (c128[2,3] in -1..1)"},
    {.name = "atanh",
     .doc = "y = atanh(x): the inverse of tanh",
     .flags = RICCI_PRIM_TRANSCENDENTAL,
     .type = rules::Same<1, kInexact>,
     .jvp = rules::Terms<Atanh>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_ATANH>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3] in -0.8..0.8); (c128[2,3] in -0.7..0.7)"},
};

}  // namespace

RowList hyperbolic_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
