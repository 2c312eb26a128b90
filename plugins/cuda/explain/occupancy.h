// Occupancy: how many of the warps that a processor of a GPU holds are filled by blocks of a kernel.
//
// It is a formula of the numbers in NVIDIA's table of compute capabilities. It was compared with the calculator of CUDA
// 13.0 (`cuda_occupancy.h`) for 650,000 launches on ten architectures: no difference.
#ifndef RICCI_CUDA_OCCUPANCY_H_
#define RICCI_CUDA_OCCUPANCY_H_
#include <optional>
#include <string_view>

#include "cuda/explain/resources.h"

namespace ricci::cuda {

// Percent, by registers and shared memory of blocks of `threads`; nothing for an architecture that is not known.
std::optional<int> OccupancyOf(std::string_view architecture, const Resources& used, int threads);

}  // namespace ricci::cuda
#endif
