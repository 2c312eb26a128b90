// VectorAccess: neighbouring elements that a thread of a tile (product_tile.h) computes together, so that it reads and
// writes up to 16 bytes in one access. A vector access is to a tile what a group is to points (vector.h).
//
// Its instructions come in two parts with time between them: loads, with the indices that they need, once for all of
// the access; then what is computed from them, for each element.
#ifndef RICCI_CUDA_VECTOR_ACCESS_H_
#define RICCI_CUDA_VECTOR_ACCESS_H_
#include <cstdint>
#include <span>
#include <vector>

#include "codegen/analysis.h"
#include "cuda/schedule/neighbours.h"

namespace ricci::cuda {

struct VectorAccess {
  int64_t size = 1;
  int64_t bytes = 0;              // of the widest access made together: what addresses must be a multiple of; 0: none
  std::vector<uint32_t> loads;    // whose values the second part uses
  std::vector<uint8_t> early;     // by instruction: computed in the first part, for the first element
  std::vector<uint8_t> each;      // by instruction: computed in the second part
  std::vector<uint8_t> together;  // by instruction: LOAD or STORE for all of the access
};

// The most bytes of an access.
inline constexpr int64_t kMostVectorBytes = 16;

// Vector accesses of `size` that compute the values `roots`, or whose stores are `roots`; `given`: by instruction,
// values that are there already. False if they are not computed by plain operations, or if an access is neither one for
// all of a access nor to neighbours, in order.
bool MakeVectorAccess(const ricci_kernel_table& k, std::span<const uint32_t> roots, const std::vector<uint8_t>& given,
                      const Neighbours& neighbours, int64_t size, VectorAccess& out);

}  // namespace ricci::cuda
#endif
