// TensorForm: how an operand of a product lies in memory, where a tensor map of the GPU can say it (tensor_map.h), so
// that the GPU copies what a tile needs of it by itself.
//
// Proved by strides alone: the index of the operand is a sum of coordinates and trips with constant factors, the rows
// (columns) of a tile are one dimension and the trips of a step another one, one of both has neighbours in memory, and
// all other distances are multiples of 16 bytes. Where that does not hold (windows, padding, gathered rows, reversed
// dimensions, odd lengths), threads copy.
#ifndef RICCI_CUDA_TENSOR_FORM_H_
#define RICCI_CUDA_TENSOR_FORM_H_
#include <cstdint>
#include <optional>
#include <vector>

#include "ricci/backend.h"

namespace ricci::cuda {

struct TensorForm {
  // What the coordinate of a dimension is in a tile: a trip of the sum, a row (column), or a coordinate of the batch.
  enum class Along : uint8_t { kSum, kSide, kBatch };
  struct Dimension {
    Along along;
    uint32_t batch;        // kBatch: the dimension of the domain
    int64_t size, stride;  // in elements
  };

  uint32_t buffer = 0;
  int64_t first = 0;                  // the element of the buffer at coordinates of 0
  std::vector<Dimension> dimensions;  // the innermost one first, whose stride is 1

  bool along_sum() const { return dimensions[0].along == Along::kSum; }
};

// The dimensions of the domain that a tile has along the operand, and those of the batch; the outermost first.
struct TensorSides {
  std::vector<uint32_t> side, batch;
};
// Of the LOAD `load` in `loops`, each in the one before. Nothing: no tensor map can say it.
std::optional<TensorForm> TensorFormOf(const ricci_kernel_table& k, uint32_t load, const std::vector<uint32_t>& loops,
                                       const TensorSides& sides);

}  // namespace ricci::cuda
#endif
