// Element types: one table with everything the core asks of a dtype.
//
// Adding a dtype is a line here (and its scalar semantics in kernel/scalar_eval). Numbers are those of the C ABI. The
// bits of floating types have a table of their own, ricci/float_format.h, which the C++ binding shares.
#ifndef RICCI_TYPES_DTYPE_H_
#define RICCI_TYPES_DTYPE_H_
#include <cstdint>
#include <string_view>

#include "ricci/base.h"

namespace ricci { inline namespace v0 { namespace types {

enum class DTypeClass : uint8_t { kNone, kBool, kSigned, kUnsigned, kFloat, kComplex, kKey };

struct DTypeInfo {
  std::string_view name;
  uint32_t size;  // bytes of one element on the host
  DTypeClass cls;
};

inline constexpr DTypeInfo kDTypes[] = {
    {"", 0, DTypeClass::kNone},           {"bool", 1, DTypeClass::kBool},      {"i8", 1, DTypeClass::kSigned},
    {"i16", 2, DTypeClass::kSigned},      {"i32", 4, DTypeClass::kSigned},     {"i64", 8, DTypeClass::kSigned},
    {"u8", 1, DTypeClass::kUnsigned},     {"u16", 2, DTypeClass::kUnsigned},   {"u32", 4, DTypeClass::kUnsigned},
    {"u64", 8, DTypeClass::kUnsigned},    {"f16", 2, DTypeClass::kFloat},      {"bf16", 2, DTypeClass::kFloat},
    {"f32", 4, DTypeClass::kFloat},       {"f64", 8, DTypeClass::kFloat},      {"c64", 8, DTypeClass::kComplex},
    {"c128", 16, DTypeClass::kComplex},   {"f8e4m3fn", 1, DTypeClass::kFloat}, {"f8e5m2", 1, DTypeClass::kFloat},
    {"f8e8m0fnu", 1, DTypeClass::kFloat}, {"f4e2m1fn", 1, DTypeClass::kFloat}, {"key", 8, DTypeClass::kKey},
};
static_assert(sizeof(kDTypes) / sizeof(kDTypes[0]) == RICCI_KEY + 1);

inline const DTypeInfo& Info(uint32_t dtype) { return kDTypes[dtype <= RICCI_KEY ? dtype : 0]; }
inline bool IsFloating(uint32_t dtype) { return Info(dtype).cls == DTypeClass::kFloat; }
// Of 16 bits and less: computed in a wider type and rounded.
inline bool IsNarrowFloat(uint32_t dtype) { return IsFloating(dtype) && dtype != RICCI_F32 && dtype != RICCI_F64; }
inline bool IsComplex(uint32_t dtype) { return Info(dtype).cls == DTypeClass::kComplex; }
inline bool IsInteger(uint32_t dtype) {
  return Info(dtype).cls == DTypeClass::kSigned || Info(dtype).cls == DTypeClass::kUnsigned;
}
// A product of such numbers may be fused with a sum and rounded once (RICCI_TARGET_FMA).
inline bool IsContracted(uint32_t dtype) { return dtype == RICCI_F32 || dtype == RICCI_F64; }
// Values of such types have tangents.
inline bool IsDifferentiable(uint32_t dtype) { return IsFloating(dtype) || IsComplex(dtype); }
// The dtype of the real and of the imaginary part of a complex number, which are adjacent; any other dtype is its own.
inline uint32_t PartOf(uint32_t dtype) {
  return dtype == RICCI_C64 ? uint32_t{RICCI_F32} : dtype == RICCI_C128 ? uint32_t{RICCI_F64} : dtype;
}
inline uint32_t PartsOf(uint32_t dtype) { return IsComplex(dtype) ? 2 : 1; }
// Whether values in a kernel may have this type: a complex number is two values there.
inline bool InKernels(uint32_t dtype) { return Info(dtype).size != 0 && !IsComplex(dtype); }
// 0 if there is none with that name.
uint32_t DTypeByName(std::string_view name);

}}}  // namespace ricci::v0::types
#endif
