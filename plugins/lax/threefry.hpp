// Threefry-2x32, twenty rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
#ifndef RICCI_LAX_THREEFRY_HPP_
#define RICCI_LAX_THREEFRY_HPP_
#include <utility>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline Scalar RotateLeft(Scalar x, int64_t bits) {
  const Scalar wrapped = ShiftRightLogical(x, Like(x, 32 - bits));
  return (x << bits) | wrapped;
}

// Two random words from a key (k0, k1) and a counter (x0, x1), all u32.
inline std::pair<Scalar, Scalar> Threefry(Scalar k0, Scalar k1, Scalar x0, Scalar x1) {
  constexpr int64_t kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const Scalar keys[] = {k0, k1, k0 ^ k1 ^ Like(k0, 0x1BD11BDA)};
  x0 = x0 + k0;
  x1 = x1 + k1;
  for (int64_t round = 0; round < 5; ++round) {
    for (int64_t rotation : kRotations[round % 2]) {
      x0 = x0 + x1;
      x1 = x0 ^ RotateLeft(x1, rotation);
    }
    x0 = x0 + keys[(round + 1) % 3];
    x1 = x1 + keys[(round + 2) % 3] + (round + 1);
  }
  return {x0, x1};
}

// ---- keys: the bits of a key hold its two words as u32 in memory order, the first in the low half ----
// The u64 of two words.
inline Scalar Joined(Scalar low, Scalar high) {
  const Scalar upper = Convert(high, DType::kU64) << 32;
  return Convert(low, DType::kU64) | upper;
}
inline Scalar MakeKey(Scalar k0, Scalar k1) { return Bitcast(Joined(k0, k1), DType::kKey); }
inline std::pair<Scalar, Scalar> WordsOf(Scalar key) {
  const Scalar bits = Bitcast(key, DType::kU64);
  return {Convert(bits, DType::kU32), Convert(ShiftRightLogical(bits, Like(bits, 32)), DType::kU32)};
}
// The words that `key` gives for the position `at` in an array of this shape: its number, 64 bits, is the counter.
inline std::pair<Scalar, Scalar> ThreefryAt(KernelBuilder& k, Scalar key, Dims shape, std::span<const Scalar> at) {
  Scalar counter = k.At(0);
  for (size_t i = 0; i < shape.size(); ++i) counter = counter * shape[i] + at[i];
  const auto [k0, k1] = WordsOf(key);
  const Scalar low = Convert(counter, DType::kU32);
  const bool is_short = ElementCount(shape) <= (int64_t{1} << 32);
  const Scalar high = is_short ? k.Constant(DType::kU32, 0) : Convert(counter / (int64_t{1} << 32), DType::kU32);
  return Threefry(k0, k1, high, low);
}
// Random bits of an unsigned dtype from two words.
inline Scalar BitsOfWords(std::pair<Scalar, Scalar> words, DType dtype) {
  const auto [high, low] = words;
  if (dtype == DType::kU64) {
    const Scalar lower = Convert(low, dtype);
    return (Convert(high, dtype) << 32) | lower;
  }
  return Convert(high ^ low, dtype);
}

}}}  // namespace ricci::v0::lax
#endif
