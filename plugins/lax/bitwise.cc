// and, or, xor, not, shifts, population_count, clz, mulhi: operations on bits.
//
// Shifting by the width or more gives 0, or the sign in shift_right_arithmetic.
#include "ricci/plugin.hpp"

namespace ricci::inline v0::lax::rows {
namespace {

// x and 1, x or 0 are x; x and 0, x or 1 are the constant. For bool only.
template <bool neutral>
Value SimplerLogic(const Eqn& e, std::span<const Value> in) {
  if (e.in(0).dtype() != DType::kBool) return {};
  for (size_t i : {0, 1}) {
    if (IsSplat(in[i], neutral)) return in[1 - i];
    if (IsSplat(in[i], !neutral)) return in[i];
  }
  return {};
}
constexpr std::string_view kTwo = "(i32[5] in -99..99, i32[5] in -99..99); (bool[5], bool[5])",
                           kOne = "(i32[5] in -99..99); (bool[5])", kInteger = "(i32[5] in -99..99)",
                           kIntegers = "(i32[5] in -99..99, i32[5] in -99..99)",
                           kShift = "(i32[5] in -99..99, i32[5] in 0..32)";

constexpr Row With(Row row, SimplifyRule simplify) {
  row.simplify = simplify;
  return row;
}

constexpr Row kRows[] = {
    With(rules::DiscreteFunction<2, kInts | kBools, RICCI_S_AND>("and", kTwo, RICCI_PRIM_COMMUTATIVE),
         rules::One<SimplerLogic<true>>),
    With(rules::DiscreteFunction<2, kInts | kBools, RICCI_S_OR>("or", kTwo, RICCI_PRIM_COMMUTATIVE),
         rules::One<SimplerLogic<false>>),
    rules::DiscreteFunction<2, kInts | kBools, RICCI_S_XOR>("xor", kTwo, RICCI_PRIM_COMMUTATIVE),
    With(rules::DiscreteFunction<1, kInts | kBools, RICCI_S_NOT>("not", kOne), rules::Involution),
    rules::DiscreteFunction<2, kInts, RICCI_S_SHL>("shift_left", kShift),
    rules::DiscreteFunction<2, kInts, RICCI_S_SHR>("shift_right_logical", kShift),
    rules::DiscreteFunction<2, kInts, RICCI_S_SAR>("shift_right_arithmetic", kShift),
    rules::DiscreteFunction<1, kInts, RICCI_S_POPCOUNT>("population_count", kInteger),
    rules::DiscreteFunction<1, kInts, RICCI_S_CLZ>("clz", kInteger),
    rules::DiscreteFunction<2, kInts, RICCI_S_MULHI>("mulhi", kIntegers, RICCI_PRIM_COMMUTATIVE),
};

}  // namespace

RowList bitwise_rows() { return kRows; }

}  // namespace ricci::inline v0::lax::rows
