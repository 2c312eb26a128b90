// TextTarget: the architecture that kernels are compiled for. Their text is for that alone: products have the form that
// is best there (product_tile.h). Functions that kernels call (device_text.h) still ask for it themselves, since the
// text must run on a processor too.
//
// bf16 and f16 with sums in f32 go through `wgmma` on sm_90a where a tile has 64 rows or more. Else they go through
// `mma.sync` from sm_80 on, and through registers before. A GPU of compute capability 9.0 gets code for sm_90a. Copies
// without arithmetic are asynchronous (`cp.async`) from sm_80 on; others pass through registers.
#ifndef RICCI_CUDA_TEXT_TARGET_H_
#define RICCI_CUDA_TEXT_TARGET_H_
#include <cstdint>
#include <string_view>

namespace ricci::cuda {

// To store a tile takes as long as about 300 trips of it, in which no other block of the processor multiplies.
inline constexpr int64_t kLeastTripsOfPairs = 1024;

struct TextTarget {
  int architecture = 0;  // 90 of `sm_90a`
  // Tensor cores multiply for groups of warps, in more shared memory than a block has without being asked.
  bool has_warpgroups = false;
  // Shorter sums are not for pairs of blocks (pair_tile.h).
  int64_t least_trips_of_pairs = kLeastTripsOfPairs;
};

// Of `sm_90a` and the like.
constexpr TextTarget TargetOf(std::string_view architecture, int64_t least_trips_of_pairs) {
  TextTarget out{
      .architecture = 0, .has_warpgroups = architecture == "sm_90a", .least_trips_of_pairs = least_trips_of_pairs};
  for (const char c : architecture) {
    if (c >= '0' && c <= '9') out.architecture = out.architecture * 10 + (c - '0');
  }
  return out;
}

}  // namespace ricci::cuda
#endif
