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
constexpr Row With(Row row, SimplifyRule simplify) {
  row.simplify = simplify;
  return row;
}

constexpr Row kRows[] = {
    With(rules::DiscreteFunction<2, kInts | kBools, RICCI_S_AND>("and", RICCI_PRIM_COMMUTATIVE), SimplerLogic<true>),
    With(rules::DiscreteFunction<2, kInts | kBools, RICCI_S_OR>("or", RICCI_PRIM_COMMUTATIVE), SimplerLogic<false>),
    rules::DiscreteFunction<2, kInts | kBools, RICCI_S_XOR>("xor", RICCI_PRIM_COMMUTATIVE),
    With(rules::DiscreteFunction<1, kInts | kBools, RICCI_S_NOT>("not"), rules::Involution),
    rules::DiscreteFunction<2, kInts, RICCI_S_SHL>("shift_left"),
    rules::DiscreteFunction<2, kInts, RICCI_S_SHR>("shift_right_logical"),
    rules::DiscreteFunction<2, kInts, RICCI_S_SAR>("shift_right_arithmetic"),
    rules::DiscreteFunction<1, kInts, RICCI_S_POPCOUNT>("population_count"),
    rules::DiscreteFunction<1, kInts, RICCI_S_CLZ>("clz"),
    rules::DiscreteFunction<2, kInts, RICCI_S_MULHI>("mulhi", RICCI_PRIM_COMMUTATIVE),
};

}  // namespace

RowList bitwise_rows() { return kRows; }

}  // namespace ricci::inline v0::lax::rows
