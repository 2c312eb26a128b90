// Threefry-2x32, twenty rounds: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
#ifndef RICCI_LAX_THREEFRY_HPP_
#define RICCI_LAX_THREEFRY_HPP_
#include <utility>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline Scalar RotateLeft(Scalar x, int64_t bits) { return (x << bits) | ShiftRightLogical(x, Like(x, 32 - bits)); }

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
inline Scalar MakeKey(Scalar k0, Scalar k1) {
  return Bitcast(Convert(k0, DType::kU64) | (Convert(k1, DType::kU64) << 32), DType::kKey);
}
inline std::pair<Scalar, Scalar> WordsOf(Scalar key) {
  const Scalar bits = Bitcast(key, DType::kU64);
  return {Convert(bits, DType::kU32), Convert(ShiftRightLogical(bits, Like(bits, 32)), DType::kU32)};
}

}}}  // namespace ricci::v0::lax
#endif
