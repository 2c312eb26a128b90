// What reductions and updates combine by and in: with the identity of a combiner (RICCI_S_ADD, MUL, MAX, MIN, AND, OR,
// XOR) combining changes nothing.
#ifndef RICCI_CODEGEN_IDENTITY_H_
#define RICCI_CODEGEN_IDENTITY_H_
#include "codegen/by_operation.h"
#include "codegen/dtypes.h"

namespace ricci::codegen {

struct Identity {
  double real = 0;                                               // -0 for sums, which changes no zero
  uint64_t (*integer)(unsigned bits, bool is_signed) = nullptr;  // null: 0
};
inline const Identity& IdentityOf(uint32_t combiner) {
  static constexpr std::array<Identity, RICCI_S_COUNT> kIdentities = ByOperation<Identity>({
      {RICCI_S_ADD, {-0.0, nullptr}},
      {RICCI_S_MUL, {1, [](unsigned, bool) { return uint64_t{1}; }}},
      {RICCI_S_MIN,
       {__builtin_inf(),
        [](unsigned bits, bool is_signed) { return ~uint64_t{0} >> (64 - bits + (is_signed ? 1 : 0)); }}},
      {RICCI_S_MAX,
       {-__builtin_inf(),
        [](unsigned bits, bool is_signed) { return is_signed ? uint64_t{1} << (bits - 1) : uint64_t{0}; }}},
      {RICCI_S_AND, {0, [](unsigned bits, bool) { return ~uint64_t{0} >> (64 - bits); }}},
  });
  return kIdentities[combiner];
}
inline uint64_t IntegerIdentity(uint32_t combiner, unsigned bits, bool is_signed) {
  const auto integer = IdentityOf(combiner).integer;
  return integer == nullptr ? 0 : integer(bits, is_signed);
}

// Narrow floats are combined in f32, and the result rounded once.
inline uint32_t AccumulatorDType(uint32_t dtype) { return IsNarrow(dtype) ? uint32_t{RICCI_F32} : dtype; }
// The operation that combines values of that dtype: of bools, OR for sums and maxima, AND for products and minima.
inline uint32_t CombinerOf(uint32_t combiner, uint32_t dtype) {
  if (dtype != RICCI_BOOL) return combiner;
  if (combiner == RICCI_S_MAX || combiner == RICCI_S_ADD) return RICCI_S_OR;
  return combiner == RICCI_S_MIN || combiner == RICCI_S_MUL ? uint32_t{RICCI_S_AND} : combiner;
}

}  // namespace ricci::codegen
#endif
