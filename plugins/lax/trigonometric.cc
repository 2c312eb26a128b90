// sin, cos: the circular functions.
#include "ricci/plugin.hpp"

namespace ricci::inline v0::lax::rows {
namespace {

Value SinDerivative(const Value& x, const Value&) { return cos(x); }
Value CosDerivative(const Value& x, const Value&) { return neg(sin(x)); }

constexpr char kNotLinear[] = "transpose: not linear";

constexpr Row kRows[] = {
    {.name = "sin",
     .type = rules::Same<1, kFloats>,
     .jvp = rules::Derivative<SinDerivative>,
     .batch = rules::Elementwise,
     .scalar = rules::Op<RICCI_S_SIN>,
     .missing = kNotLinear},
    {.name = "cos",
     .type = rules::Same<1, kFloats>,
     .jvp = rules::Derivative<CosDerivative>,
     .batch = rules::Elementwise,
     .scalar = rules::Op<RICCI_S_COS>,
     .missing = kNotLinear},
};

}  // namespace

RowList trigonometric_rows() { return kRows; }

}  // namespace ricci::inline v0::lax::rows
