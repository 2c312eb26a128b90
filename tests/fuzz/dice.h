// Dice: every random choice of the fuzzer, from one seed.
//
// Only the raw 64-bit stream of mt19937_64 is used, never a distribution of the standard library, so that a seed means
// the same program with every compiler.
#ifndef RICCI_TESTS_FUZZ_DICE_H_
#define RICCI_TESTS_FUZZ_DICE_H_
#include <cstdint>
#include <random>
#include <vector>

namespace ricci::testing {

class Dice {
 public:
  explicit Dice(uint64_t seed) : stream_(seed) {}

  uint64_t Bits() { return stream_(); }
  // In [0, n); 0 if n is.
  int64_t Below(int64_t n) { return n <= 1 ? 0 : static_cast<int64_t>(Bits() % static_cast<uint64_t>(n)); }
  // In [low, high].
  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  double Real(double low, double high) { return low + (high - low) * 0x1p-53 * static_cast<double>(Bits() >> 11); }
  bool Chance(double p) { return Real(0, 1) < p; }
  template <typename List>
  const auto& Pick(const List& list) {
    return list[static_cast<size_t>(Below(static_cast<int64_t>(std::size(list))))];
  }
  template <typename T>
  void Shuffle(std::vector<T>& v) {
    for (size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[static_cast<size_t>(Below(static_cast<int64_t>(i)))]);
  }

 private:
  std::mt19937_64 stream_;
};

}  // namespace ricci::testing
#endif
