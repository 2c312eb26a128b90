// Alignment: what a function asks of the addresses that it is given: multiples of `bytes`, of these arguments.
//
// A kernel with tiles that accesses several elements at once is two functions: NAME for aligned addresses, and
// NAME_unaligned with the same arguments, launch and bits. A run chooses by its addresses, a node of a graph when it
// gets other ones. Where the arena of the plan has all arrays there is NAME alone. Where NAME_pairs (pair_launch.h)
// takes all aligned addresses, NAME is for the others. One function that tests addresses before its loops would have
// the registers and the shared memory of the greater one.
#ifndef RICCI_CUDA_ALIGNMENT_H_
#define RICCI_CUDA_ALIGNMENT_H_
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda/driver/driver.h"

namespace ricci::cuda {

struct Alignment {
  std::vector<uint32_t> arguments;  // none: it takes any
  uint64_t bytes = 1;

  // Of the arguments that are marked.
  static Alignment Of(std::span<const uint8_t> marks, uint64_t bytes) {
    Alignment out{.arguments = {}, .bytes = bytes};
    for (uint32_t i = 0; i < marks.size(); ++i) {
      if (marks[i] != 0) out.arguments.push_back(i);
    }
    return out;
  }
  bool IsUsed() const { return !arguments.empty(); }
  bool Has(std::span<const CuPointer> addresses) const {
    return std::all_of(arguments.begin(), arguments.end(), [&](uint32_t i) { return addresses[i] % bytes == 0; });
  }
};

}  // namespace ricci::cuda
#endif
