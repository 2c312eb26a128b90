// TensorMap: a tensor in memory as a kernel is given it, so that the GPU (TMA of sm_90 and later) copies boxes of it to
// shared memory by itself. Made by the driver for one address, so again for each launch that has another one.
//
// The driver makes it (cuTensorMapEncodeTiled) when a node of a graph is made or gets other addresses, or when a step
// is issued. Kernels get maps as `__grid_constant__` parameters after all others. Where an address of a run is not a
// multiple of 16, or a factor is converted on its way, threads copy.
#ifndef RICCI_CUDA_TENSOR_MAP_H_
#define RICCI_CUDA_TENSOR_MAP_H_
#include <cstdint>

#include "cuda/driver/driver.h"

namespace ricci::cuda {

struct TensorMap {
  static constexpr uint32_t kMostRank = 5;
  static constexpr int64_t kAlignment = 16;  // of addresses and distances

  uint32_t argument = 0;  // of the kernel: the address that it is counted from,
  uint64_t first = 0;     // by so many bytes
  uint32_t rank = 0;
  uint64_t sizes[kMostRank]{};    // the innermost first
  uint64_t strides[kMostRank]{};  // bytes; that of the innermost is the size of an element
  uint32_t box[kMostRank]{};      // elements of what is copied at once

  // Of a line of a box: 32, 64 or 128, in which groups of 16 bytes change places (tile_layout.h, WarpgroupLayout).
  uint64_t line_bytes() const { return box[0] * strides[0]; }
  bool operator==(const TensorMap&) const = default;
};

// What a launch is given for `m`, whose argument is `address`. Zeros if the address is not aligned: the function that
// is launched then makes no use of it.
CuResult Encode(const Driver& d, const TensorMap& m, CuPointer address, CuTensorMap& out);

}  // namespace ricci::cuda
#endif
