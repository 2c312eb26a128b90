#include "cuda/driver/tensor_map.h"

namespace ricci::cuda {
namespace {

// The swizzle that exchanges groups of 16 bytes within lines of so many.
int SwizzleOf(uint64_t line_bytes) {
  if (line_bytes == 128) return kCuTensorSwizzle128;
  return line_bytes == 64 ? kCuTensorSwizzle64 : kCuTensorSwizzle32;
}

// Elements are moved, not read: unsigned integers of their size, whose zeros are zeros of all types.
int TypeOf(uint64_t bytes) { return bytes == 1 ? kCuTensorU8 : bytes == 2 ? kCuTensorU16 : kCuTensorU32; }

}  // namespace

CuResult Encode(const Driver& d, const TensorMap& m, CuPointer address, CuTensorMap& out) {
  constexpr uint32_t kEach[TensorMap::kMostRank] = {1, 1, 1, 1, 1};
  out = {};
  const CuPointer first = address + m.first;
  if (first % TensorMap::kAlignment != 0) return kCuSuccess;
  return d.cuTensorMapEncodeTiled(&out, TypeOf(m.strides[0]), m.rank,
                                  reinterpret_cast<void*>(static_cast<uintptr_t>(first)), m.sizes, m.strides + 1, m.box,
                                  kEach, kCuTensorNoInterleave, SwizzleOf(m.line_bytes()), kCuTensorPromote256,
                                  kCuTensorFillZeros);
}

}  // namespace ricci::cuda
