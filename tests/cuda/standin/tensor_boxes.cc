#include "tensor_boxes.h"

#include <algorithm>
#include <cstring>

#include "standin.h"

namespace ricci::cuda::standin {
namespace {

constexpr uint64_t kPiece = 16;
constexpr uintptr_t kMapAlignment = 64;  // less than its type has in C++

// How the driver refuses what it is asked to encode.
bool AreTaken(unsigned rank, uint64_t element, const uint64_t* sizes, const uint64_t* strides, const unsigned* box,
              const unsigned* each) {
  constexpr uint64_t kMostStride = uint64_t{1} << 40, kMostSize = uint64_t{1} << 32;
  for (unsigned d = 0; d < rank; ++d) {
    if (sizes[d] == 0 || sizes[d] > kMostSize || box[d] == 0 || box[d] > 256 || each[d] != 1) return false;
    if (d == 0) continue;
    if (strides[d - 1] % kPiece != 0 || strides[d - 1] >= kMostStride || strides[d - 1] < element) return false;
    if (d > 1 && strides[d - 1] % strides[d - 2] != 0) return false;
    if (strides[d - 1] / (d == 1 ? element : strides[d - 2]) < sizes[d - 1]) return false;  // parts overlap
  }
  return box[0] * element % kPiece == 0;
}

}  // namespace

uint32_t TensorOnDevice::box_bytes() const {
  uint32_t bytes = element_bytes;
  for (uint32_t d = 0; d < rank; ++d) bytes *= box[d];
  return bytes;
}

CuResult cuTensorMapEncodeTiled(CuTensorMap* out, int type, unsigned rank, void* address, const uint64_t* sizes,
                                const uint64_t* strides, const unsigned* box, const unsigned* each, int interleave,
                                int swizzle, int promotion, int fill) {
  Machine& m = Machine::Get();
  const std::lock_guard lock(m.mutex);
  if (m.capability < 90) return kCuNotSupported;
  if (reinterpret_cast<uintptr_t>(out) % kMapAlignment != 0 || rank < 1 || rank > 5) return kInvalidValue;
  if (type < kCuTensorU8 || type > kCuTensorU32 || reinterpret_cast<uintptr_t>(address) % kPiece != 0) {
    return kInvalidValue;
  }
  if (interleave != kCuTensorNoInterleave || swizzle < 0 || swizzle > kCuTensorSwizzle128 || promotion < 0 ||
      promotion > kCuTensorPromote256 || fill != kCuTensorFillZeros) {
    return kInvalidValue;
  }
  const uint64_t element = uint64_t{1} << type, span = swizzle == 0 ? 0 : uint64_t{16} << swizzle;
  if (!AreTaken(rank, element, sizes, strides, box, each)) return kInvalidValue;
  if (span != 0 && box[0] * element > span) return kInvalidValue;
  TensorOnDevice t;
  t.rank = static_cast<uint8_t>(rank);
  t.element_bytes = static_cast<uint8_t>(element);
  t.line_bytes = static_cast<uint16_t>(span);
  t.address = static_cast<const char*>(address);
  for (unsigned d = 0; d < rank; ++d) {
    t.sizes[d] = sizes[d];
    t.box[d] = static_cast<uint16_t>(box[d]);
    if (d != 0) t.strides[d - 1] = strides[d - 1];
  }
  std::memset(static_cast<void*>(out), 0, sizeof *out);
  std::memcpy(static_cast<void*>(out), &t, sizeof t);
  return kCuSuccess;
}

// Lines of a box are contiguous. A swizzle exchanges bits 4 to 6 of an address by bits 7 to 9 for spans of 128 bytes, 4
// and 5 by 7 and 8 for 64, 4 by 7 for 32.
std::vector<Piece> PiecesOf(const TensorOnDevice& t, const int* at, uint32_t address) {
  const uint64_t line = uint64_t{t.box[0]} * t.element_bytes, groups = t.line_bytes / kPiece;
  const uint64_t lines = t.box_bytes() / line;
  std::vector<Piece> out;
  for (uint64_t l = 0; l < lines; ++l) {
    const char* from = t.address;
    bool is_inside = true;
    uint64_t rest = l;
    for (uint32_t d = 1; d < t.rank; ++d) {
      const int64_t c = at[d] + static_cast<int64_t>(rest % t.box[d]);
      rest /= t.box[d];
      is_inside = is_inside && c >= 0 && c < static_cast<int64_t>(t.sizes[d]);
      from += c * static_cast<int64_t>(t.strides[d - 1]);
    }
    for (uint64_t b = 0; b < line; b += kPiece) {
      const int64_t first = at[0] * int64_t{t.element_bytes} + static_cast<int64_t>(b);
      const int64_t end = static_cast<int64_t>(t.sizes[0]) * t.element_bytes;
      const int64_t valid = is_inside && first >= 0 ? std::clamp<int64_t>(end - first, 0, kPiece) : 0;
      const uint64_t linear = address + l * line + b;
      const uint64_t place = groups == 0 ? linear : linear ^ (linear >> 7 & (groups - 1)) << 4;
      out.push_back({place - address, from + first, static_cast<uint32_t>(valid)});
    }
  }
  return out;
}

}  // namespace ricci::cuda::standin
