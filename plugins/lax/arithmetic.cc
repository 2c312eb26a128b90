// add, sub, mul, div, rem, neg, fma: arithmetic on integers and floating numbers.
//
// Integers wrap; integer division truncates. add, sub and neg are linear, mul is linear in each operand, div in its
// first. A zero tangent contributes no term, so these rows spell their terms out instead of using rules::kLinear.
#include <cmath>
#include <optional>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
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
  const Value inverse_square = integer_pow(in[1], -2);
  return mul(mul(neg(t), in[0]), inverse_square);
}
Value DivFirstCt(const Eqn&, const Value& ct, std::span<const Value> in) { return div(ct, in[1]); }

// x = q y + r with q the truncated quotient, piecewise constant.
Value RemSecond(const Eqn&, const Value& t, std::span<const Value> in, const Value&) {
  const Value quotient = div(in[0], in[1]);
  const Value size = floor(abs(quotient)), truncated = mul(sign(quotient), size);
  return mul(neg(t), truncated);
}

// ---- simplify ----
// f8e8m0fnu has no negative numbers: neg gives NaN, which must not be simplified away.
bool IsNegative(const Producer& p) { return p.Is("neg") && p.operand(0).dtype() != DType::kF8E8M0FNU; }

Values SimplerNeg(const Eqn& e, std::span<const Value> in) {
  return e.in(0).dtype() == DType::kF8E8M0FNU ? Values{} : rules::Involution(e, in);
}
Value SimplerAdd(const Eqn&, std::span<const Value> in) {
  if (IsSplat(in[0], 0)) return in[1];
  if (IsSplat(in[1], 0)) return in[0];
  if (const Producer p(in[1]); IsNegative(p)) return sub(in[0], p.operand(0));
  if (const Producer p(in[0]); IsNegative(p)) return sub(in[1], p.operand(0));
  return {};
}
Value SimplerSub(const Eqn&, std::span<const Value> in) {
  if (IsSplat(in[1], 0)) return in[0];
  if (IsSplat(in[0], 0)) return neg(in[1]);
  if (const Producer p(in[1]); IsNegative(p)) return add(in[0], p.operand(0));
  return {};
}
Value SimplerMul(const Eqn& e, std::span<const Value> in) {
  for (size_t i : {0, 1}) {
    if (IsSplat(in[i], 1)) return in[1 - i];
    if (IsSplat(in[i], 0) && IsInt(e.in(0).dtype())) return in[i];
    if (IsSplat(in[i], -1)) return neg(in[1 - i]);
  }
  return {};
}
Value SimplerFma(const Eqn&, std::span<const Value> in) {
  for (size_t i : {0, 1}) {
    if (IsSplat(in[i], 1)) return add(in[1 - i], in[2]);
    if (IsSplat(in[i], -1)) return sub(in[2], in[1 - i]);
  }
  return IsSplat(in[2], 0) ? mul(in[0], in[1]) : Value{};
}
// Dividing by a power of two equals multiplying by its inverse, as long as that is a normal number.
Value SimplerDiv(const Eqn& e, std::span<const Value> in) {
  if (IsSplat(in[1], 1)) return in[0];
  if (!IsFloat(e.in(0).dtype()) || SplatBytes(in[1]).empty()) return {};
  const double tiny = InfoOf(e.in(0).dtype()).tiny;
  for (int exponent = -14; exponent <= 14; ++exponent) {
    if (std::ldexp(1.0, -std::abs(exponent)) < tiny) continue;
    if (IsSplat(in[1], std::ldexp(1.0, exponent))) return mul(in[0], std::ldexp(1.0, -exponent));
  }
  return {};
}

// ---- contraction ----
// What is multiplied to make `v`: a product of f32 or f64 that only the sum at hand reads.
std::optional<std::pair<Value, Value>> Multiplied(const Value& v, bool only) {
  if (!only || !IsContracted(v.dtype())) return {};
  const Producer p(v);
  if (p.Is("mul")) return std::pair(p.operand(0), p.operand(1));
  if (p.Is("square")) return std::pair(p.operand(0), p.operand(0));
  const bool is_cube = p.Is("integer_pow") && p.eqn().integer("y") == 3;
  return is_cube ? std::optional(std::pair(p.operand(0), square(p.operand(0)))) : std::nullopt;
}
Values ContractAdd(const Eqn&, std::span<const Value> in, std::span<const uint8_t> only) {
  for (size_t i : {0, 1}) {
    if (const auto product = Multiplied(in[i], only[i] != 0)) return {fma(product->first, product->second, in[1 - i])};
  }
  return {};
}
// The same factors: their difference is 0, not what the rounding of one of them leaves out.
bool AreEqualProducts(const Value& a, const Value& b) {
  const auto p = Multiplied(a, true), q = Multiplied(b, true);
  if (!p || !q) return false;
  const auto is = [&](const Value& first, const Value& second) {
    return p->first.id == first.id && p->second.id == second.id;
  };
  return is(q->first, q->second) || is(q->second, q->first);
}
Values ContractSub(const Eqn&, std::span<const Value> in, std::span<const uint8_t> only) {
  if (AreEqualProducts(in[0], in[1])) return {};
  if (const auto product = Multiplied(in[0], only[0] != 0)) return {fma(product->first, product->second, neg(in[1]))};
  if (const auto product = Multiplied(in[1], only[1] != 0)) return {fma(neg(product->first), product->second, in[0])};
  return {};
}

constexpr Row kRows[] = {
    {.name = "add",
     .doc = "z = add(x, y): x + y",
     .flags = RICCI_PRIM_COMMUTATIVE,
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<Same, Same>,
     .transpose = rules::TransposeEach<SameCt, SameCt>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerAdd>,
     .contract = ContractAdd,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_ADD>>,
     .examples = "(f64[2,3], f64[2,3]); "
                 "(c128[2,3], c128[2,3]); "
                 "(i32[5] in -9..9, i32[5] in 1..9)"},
    {.name = "sub",
     .doc = "z = sub(x, y): x - y",
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<Same, Negative>,
     .transpose = rules::TransposeEach<SameCt, NegativeCt>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerSub>,
     .contract = ContractSub,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_SUB>>,
     .examples = "(f64[2,3], f64[2,3]); "
                 "(c128[2,3], c128[2,3]); "
                 "(i32[5] in -9..9, i32[5] in 1..9)"},
    {.name = "mul",
     .doc = "z = mul(x, y): x * y",
     .flags = RICCI_PRIM_COMMUTATIVE,
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<MulFirst, MulSecond>,
     .transpose = rules::TransposeEach<MulFirstCt, MulSecondCt>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerMul>,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_MUL>>,
     .examples = "(f64[2,3], f64[2,3]); "
                 "(c128[2,3], c128[2,3]); "
                 "(i32[5] in -9..9, i32[5] in 1..9)"},
    {.name = "div",
     .doc = "z = div(x, y): x / y; of integers, rounded towards zero",
     .type = rules::Same<2, kNumbers>,
     .jvp = rules::Terms<DivFirst, DivSecond>,
     .transpose = rules::TransposeEach<DivFirstCt>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerDiv>,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_DIV>>,
     .examples = "(f64[2,3] in 0.5..2, f64[2,3] in 0.5..2); "
                 "(c128[2,3], c128[2,3] in 0.5..2); "
                 "(i32[5] in -9..9, i32[5] in 1..9)"},
    {.name = "rem",
     .doc = "z = rem(x, y): the remainder of x / y, with the sign of x",
     .type = rules::Same<2, kReals>,
     .jvp = rules::Terms<Same, RemSecond>,
     .batch = rules::kElementwise,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_REM>>,
     .missing = rules::kNotLinear,
     .examples = "(f64[2,3] in 0.5..2, f64[2,3] in 0.5..2); "
                 "(i32[5] in -9..9, i32[5] in 1..9)"},
    {.name = "neg",
     .doc = "y = neg(x): -x",
     .type = rules::Same<1, kNumbers>,
     .jvp = rules::kLinear,
     .transpose = rules::TransposeEach<NegativeCt>,
     .batch = rules::kElementwise,
     .simplify = SimplerNeg,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_NEG>>,
     .examples = "(f64[2,3]); "
                 "(c128[2,3]); "
                 "(i32[5] in -9..9)"},
    {.name = "fma",
     .doc = "w = fma(x, y, z): x * y + z, rounded once",
     .type = rules::Same<3, kReals>,
     .jvp = rules::Terms<MulFirst, MulSecond, Same>,
     .transpose = rules::TransposeEach<MulFirstCt, MulSecondCt, SameCt>,
     .batch = rules::kElementwise,
     .simplify = rules::One<SimplerFma>,
     .lowerings = lower::Scalar<rules::Op<RICCI_S_FMA>>,
     .examples = "(f64[2,3], f64[2,3], f64[2,3]); "
                 "(i32[5] in -9..9, i32[5] in 1..9, i32[5] in -9..9)"},
};

}  // namespace

RowList arithmetic_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
