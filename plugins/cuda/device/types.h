// Element types, and buffers, as the printed text names them.
#ifndef RICCI_CUDA_TYPES_H_
#define RICCI_CUDA_TYPES_H_
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/dtypes.h"

namespace ricci::cuda {

using codegen::DTypeName;
using codegen::IsFloat;
using codegen::IsNarrow;  // their values in text are their bits
using codegen::IsSigned;
using codegen::OperationName;

inline uint32_t BitsOf(uint32_t d) { return d == RICCI_BOOL ? 1 : 8 * ricci_dtype_size(d); }

inline bool IsComplex(uint32_t d) { return d == RICCI_C64 || d == RICCI_C128; }
// Of a complex number, else the type itself.
inline uint32_t PartOf(uint32_t d) {
  if (!IsComplex(d)) return d;
  return d == RICCI_C64 ? RICCI_F32 : RICCI_F64;
}

// `f32`, `u8`: a type that `kTypes` of device_text.cc defines.
inline std::string_view TypeName(uint32_t d) {
  switch (d) {
    case RICCI_BOOL:
      return "bool";
    case RICCI_I8:
      return "i8";
    case RICCI_I16:
      return "i16";
    case RICCI_I32:
      return "i32";
    case RICCI_I64:
      return "i64";
    case RICCI_F16:
    case RICCI_BF16:
    case RICCI_U16:
      return "u16";
    case RICCI_U32:
      return "u32";
    case RICCI_KEY:
    case RICCI_U64:
      return "u64";
    case RICCI_F32:
      return "f32";
    case RICCI_F64:
      return "f64";
    default:
      return "u8";  // also f8 and f4
  }
}
// The unsigned integer of the same size.
inline std::string_view UnsignedName(uint32_t d) {
  switch (BitsOf(d)) {
    case 64:
      return "u64";
    case 32:
      return "u32";
    case 16:
      return "u16";
    default:
      return "u8";
  }
}

// `b0, b2`: the buffers that are marked.
inline std::string BufferNames(const std::vector<uint8_t>& marks) {
  std::string names;
  for (size_t b = 0; b < marks.size(); ++b) {
    if (marks[b] != 0) names += (names.empty() ? "b" : ", b") + std::to_string(b);
  }
  return names;
}

}  // namespace ricci::cuda
#endif
