// What takes long is done in shares: with the number of the commit in RICCI_TURN another one for each commit, and all
// of it with RICCI_TURN=all (tests/long.sh).
#ifndef RICCI_TESTS_CUDA_IN_TURN_H_
#define RICCI_TESTS_CUDA_IN_TURN_H_
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace ricci::testing {

// Whether number `n` is in the share, which is one of so many.
inline bool IsInTurn(uint64_t n, uint64_t one_of) {
  const char* const turn = std::getenv("RICCI_TURN");
  if (turn == nullptr) return n % one_of == 0;
  return turn == std::string_view("all") || (std::strtoull(turn, nullptr, 10) + n) % one_of == 0;
}

}  // namespace ricci::testing
#endif
