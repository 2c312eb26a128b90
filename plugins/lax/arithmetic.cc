// add, sub, mul, div, rem, neg: arithmetic on integers and floating numbers.
//
// Integers wrap; integer division truncates. add, sub and neg are linear, mul is linear in each operand, div in its
// first. A tangent that is zero adds nothing, so these rows spell their terms out instead of using rules::Linear.
#include "ricci/plugin.hpp"

namespace ricci::inline v0::lax::rows {
namespace {

Value Same(const Eqn&, const Value& t, std::span<const Value>, const Value&) { return t; }
Value Negative(const Eqn&, const Value& t, std::span<const Value>, const Value&) { return neg(t); }
Value SameCt(const Eqn&, const Value& ct, std::span<const Value>) { return ct; }
Value NegativeCt(const Eqn&, const Value& ct, std::span<const Value>) { return neg(ct); }

Value MulFirst(const Eqn&, const Value& t, std::span<const Value> in, const Value&) { return mul(t, in[1]); }
Value MulSecond(const Eqn&, const Value& t, std::span<const Value> in, const Value&) { return mul(in[0], t); }
Value MulFirstCt(const Eqn&, const Value& ct, std::span<const Value> in) { return mul(ct, in[1]); }
Value MulSecondCt(const Eqn&, const Value& ct, std::span<const Value> in) { return mul(in[0], ct); }

Value DivFirst(const Eqn&, const Value& t, std::span<const Value> in, const Value&) { return div(t, in[1]); }
Value DivSecond(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  return mul(mul(neg(t), in[0]), integer_pow(in[1], -2));
}
Value DivFirstCt(const Eqn&, const Value& ct, std::span<const Value> in) { return div(ct, in[1]); }

// x = q y + r with q the truncated quotient, piecewise constant.
Value RemSecond(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value quotient = div(in[0], in[1]);
  return mul(neg(t), mul(sign(quotient), floor(abs(quotient))));
}

constexpr Row kRows[] = {
    {.name = "add",
     .flags = RICCI_PRIM_COMMUTATIVE,
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<Same, Same>,
     .transpose = rules::TransposeEach<SameCt, SameCt>,
     .batch = rules::Elementwise,
     .scalar = rules::Op<RICCI_S_ADD>},
    {.name = "sub",
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<Same, Negative>,
     .transpose = rules::TransposeEach<SameCt, NegativeCt>,
     .batch = rules::Elementwise,
     .scalar = rules::Op<RICCI_S_SUB>},
    {.name = "mul",
     .flags = RICCI_PRIM_COMMUTATIVE,
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<MulFirst, MulSecond>,
     .transpose = rules::TransposeEach<MulFirstCt, MulSecondCt>,
     .batch = rules::Elementwise,
     .scalar = rules::Op<RICCI_S_MUL>},
    {.name = "div",
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<DivFirst, DivSecond>,
     .transpose = rules::TransposeEach<DivFirstCt>,
     .batch = rules::Elementwise,
     .scalar = rules::Op<RICCI_S_DIV>},
    {.name = "rem",
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<Same, RemSecond>,
     .batch = rules::Elementwise,
     .scalar = rules::Op<RICCI_S_REM>,
     .missing = rules::kNotLinear},
    {.name = "neg",
     .type = rules::Same<1, kNumbers>,
     .jvp = rules::Linear,
     .transpose = rules::TransposeEach<NegativeCt>,
     .batch = rules::Elementwise,
     .scalar = rules::Op<RICCI_S_NEG>},
};

}  // namespace

RowList arithmetic_rows() { return kRows; }

}  // namespace ricci::inline v0::lax::rows
