// TensorForm: the memory layout of an operand of a product, if a tensor map of the GPU can describe it (tensor_map.h),
// so that the GPU copies what a tile needs of it by itself.
//
// Proved by strides alone: the index of the operand is a sum of coordinates and trips with constant factors, and one of
// the rows (columns) of a tile, or the trips of a step, has neighbours in memory. What the driver asks of maps
// (cuTensorMapEncodeTiled) is asked of the form, and no more: batches anywhere, heads beside positions, parts of arrays
// and every second row have one. Where it does not hold (windows, padding, gathered rows, reversed dimensions, rows of
// odd lengths), threads copy.
//
// The driver's rules are: at most five dimensions; a begin and distances that are multiples of 16 bytes; distances
// below 2^40, each a multiple of the one before; no overlaps. Rows, and the trips of a sum, may be several dimensions
// that do not go on in each other. Then a step must have whole ones of them, or a part of one. `--explain` says why a
// factor has no map. The probe of tests/gpu asks a driver about each rule.
#ifndef RICCI_CUDA_TENSOR_FORM_H_
#define RICCI_CUDA_TENSOR_FORM_H_
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/driver/tensor_map.h"
#include "ricci/backend.h"

namespace ricci::cuda {

struct TensorForm {
  // What the coordinate of a dimension is in a tile: of a trip of the sum, of a row (column), or of the batch. Of a
  // result, which has no trips, the rows take their place, and the side is that of its columns.
  enum class Along : uint8_t { kSum, kSide, kBatch };
  struct Dimension {
    Along along;
    int64_t size, stride;              // in elements
    std::vector<uint32_t> batch = {};  // kBatch: the dimensions of the domain that it is made of, the outermost first
    // kSum, kSide: a part of the trips (rows), of which number n is at n / inner % size, in the outermost part at
    // n / inner. A box has `box` of them.
    int64_t inner = 1, box = 1;
    bool is_outermost = true;
  };

  uint32_t buffer = 0;
  int64_t first = 0;                       // the element of the buffer at coordinates of 0
  std::vector<Dimension> dimensions = {};  // the innermost one first, whose stride is 1; none: no tensor map can say it
  std::string why_not = {};                // then: why

  bool is_there() const { return !dimensions.empty(); }
};

// The dimensions of the domain that a tile has along the operand, and those of the batch; the outermost first. Of a
// result also those of its rows.
struct TensorSides {
  std::vector<uint32_t> side, batch, rows = {};
};
// What is copied at once: so many lines of so many neighbours, along the sum or along the rows (columns).
struct TensorBox {
  bool along_sum = false;
  int64_t of_line = 0, lines = 0;
};
// Of the LOAD `access` in `loops`, each in the one before; of a STORE without loops.
TensorForm TensorFormOf(const ricci_kernel_table& k, uint32_t access, const std::vector<uint32_t>& loops,
                        const TensorSides& sides, const TensorBox& box);
// As the GPU is given it, of elements of that type.
TensorMap MapOf(const TensorForm& form, uint32_t dtype);

}  // namespace ricci::cuda
#endif
