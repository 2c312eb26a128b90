// Tensor maps of the simulated driver, and the boxes that are copied by them (cuTensorMapEncodeTiled and PTX ISA,
// "tensor": tiled mode with element strides of 1, with or without a swizzle).
#ifndef RICCI_STANDIN_TENSOR_BOXES_H_
#define RICCI_STANDIN_TENSOR_BOXES_H_
#include <cstdint>
#include <string>
#include <vector>

#include "cuda/driver/driver.h"

namespace ricci::cuda::standin {

struct TensorOnDevice {
  static constexpr uint32_t kMark = 0x7e4503a9;

  uint32_t mark = kMark;  // else it is not a tensor map
  uint8_t rank = 0, element_bytes = 0;
  uint16_t line_bytes = 0;  // within which groups of 16 bytes change places; 0: nowhere
  const char* address = nullptr;
  uint64_t strides[4]{};  // bytes, from the second dimension on
  uint64_t sizes[5]{};
  uint16_t box[5]{};

  uint32_t box_bytes() const;
};
static_assert(sizeof(TensorOnDevice) <= sizeof(CuTensorMap));

// 16 bytes of a box: the first `valid` come from `from`, the others are zeros.
struct Piece {
  uint64_t to;  // bytes from the begin of the box
  const char* from;
  uint32_t valid;
};
// `address`: of the box in shared memory, by whose bits pieces change places.
std::vector<Piece> PiecesOf(const TensorOnDevice& tensor, const int* at, uint32_t address);

}  // namespace ricci::cuda::standin
#endif
