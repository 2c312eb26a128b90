// and, or, xor, not, shifts, population_count, clz, mulhi: operations on bits.
//
// Shifting by the width or more gives 0, or the sign in shift_right_arithmetic.
#include "ricci/plugin.hpp"

namespace ricci::inline v0::lax::rows {
namespace {

constexpr Row kRows[] = {
    rules::DiscreteFunction<2, kInts | kBools, RICCI_S_AND>("and", RICCI_PRIM_COMMUTATIVE),
    rules::DiscreteFunction<2, kInts | kBools, RICCI_S_OR>("or", RICCI_PRIM_COMMUTATIVE),
    rules::DiscreteFunction<2, kInts | kBools, RICCI_S_XOR>("xor", RICCI_PRIM_COMMUTATIVE),
    rules::DiscreteFunction<1, kInts | kBools, RICCI_S_NOT>("not"),
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
