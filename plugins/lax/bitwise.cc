// and, or, xor, not, shifts, population_count, clz, mulhi: operations on bits.
//
// Shifting by the width or more gives 0, or the sign in shift_right_arithmetic.
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax { namespace rows {
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
    With(rules::DiscreteFunction<2, kInts | kBools, RICCI_S_AND>("and", "z = and(x, y): the bits set in both x and y",
                                                                 kTwo, RICCI_PRIM_COMMUTATIVE),
         rules::One<SimplerLogic<true>>),
    With(rules::DiscreteFunction<2, kInts | kBools, RICCI_S_OR>(
             "or", "z = or(x, y): the bits set in x, in y or in both", kTwo, RICCI_PRIM_COMMUTATIVE),
         rules::One<SimplerLogic<false>>),
    rules::DiscreteFunction<2, kInts | kBools, RICCI_S_XOR>(
        "xor", "z = xor(x, y): the bits set in exactly one of x and y", kTwo, RICCI_PRIM_COMMUTATIVE),
    With(rules::DiscreteFunction<1, kInts | kBools, RICCI_S_NOT>(
             "not", "y = not(x): x with all bits inverted; of bool, the logical not", kOne),
         rules::Involution),
    rules::DiscreteFunction<2, kInts, RICCI_S_SHL>(
        "shift_left",
        "z = shift_left(x, n): x shifted left by n bits, with zeros shifted in; 0 if n is not in [0, width of x)",
        kShift),
    rules::DiscreteFunction<2, kInts, RICCI_S_SHR>("shift_right_logical",
                                                   "z = shift_right_logical(x, n): x shifted right by n bits, with "
                                                   "zeros shifted in; 0 if n is not in [0, width of x)",
                                                   kShift),
    rules::DiscreteFunction<2, kInts, RICCI_S_SAR>(
        "shift_right_arithmetic",
        "z = shift_right_arithmetic(x, n): x shifted right by n bits, with copies of the sign bit shifted in; only "
        "those if n is not in [0, width of x)",
        kShift),
    rules::DiscreteFunction<1, kInts, RICCI_S_POPCOUNT>(
        "population_count", "y = population_count(x): the number of bits set in x", kInteger),
    rules::DiscreteFunction<1, kInts, RICCI_S_CLZ>(
        "clz", "y = clz(x): the number of zero bits above the highest bit set in x; the width of x if none is set",
        kInteger),
    rules::DiscreteFunction<2, kInts, RICCI_S_MULHI>(
        "mulhi", "z = mulhi(x, y): the upper half of x * y computed in twice the width", kIntegers,
        RICCI_PRIM_COMMUTATIVE),
};

}  // namespace

RowList bitwise_rows() { return kRows; }

}}}}  // namespace ricci::v0::lax::rows
