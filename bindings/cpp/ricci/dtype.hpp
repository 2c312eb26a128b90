// ricci/dtype.hpp: element types and sets of them.
#ifndef RICCI_DTYPE_HPP_
#define RICCI_DTYPE_HPP_
#include <cstdint>
#include <string_view>

#include "ricci/error.hpp"

namespace ricci { inline namespace v0 {

enum class DType : uint32_t {
  kNone = 0,
  kBool = RICCI_BOOL,
  kI8 = RICCI_I8,
  kI16 = RICCI_I16,
  kI32 = RICCI_I32,
  kI64 = RICCI_I64,
  kU8 = RICCI_U8,
  kU16 = RICCI_U16,
  kU32 = RICCI_U32,
  kU64 = RICCI_U64,
  kF16 = RICCI_F16,
  kBF16 = RICCI_BF16,
  kF32 = RICCI_F32,
  kF64 = RICCI_F64,
  kC64 = RICCI_C64,
  kC128 = RICCI_C128,
  kF8E4M3FN = RICCI_F8E4M3FN,
  kF8E5M2 = RICCI_F8E5M2,
  kF8E8M0FNU = RICCI_F8E8M0FNU,
  kF4E2M1FN = RICCI_F4E2M1FN,
  kKey = RICCI_KEY
};

// ---- sets of dtypes: bit i is the dtype of number i ----
using DTypeSet = uint32_t;
constexpr DTypeSet SetOf(DType d) { return 1u << static_cast<uint32_t>(d); }
inline constexpr DTypeSet kBools = SetOf(DType::kBool);
inline constexpr DTypeSet kSigned = SetOf(DType::kI8) | SetOf(DType::kI16) | SetOf(DType::kI32) | SetOf(DType::kI64);
inline constexpr DTypeSet kUnsigned = SetOf(DType::kU8) | SetOf(DType::kU16) | SetOf(DType::kU32) | SetOf(DType::kU64);
inline constexpr DTypeSet kInts = kSigned | kUnsigned;
inline constexpr DTypeSet kTinyFloats = SetOf(DType::kF8E4M3FN) | SetOf(DType::kF8E5M2) | SetOf(DType::kF8E8M0FNU) |
                                        SetOf(DType::kF4E2M1FN);  // of 8 and 4 bits
inline constexpr DTypeSet kWideFloats =
    SetOf(DType::kF16) | SetOf(DType::kBF16) | SetOf(DType::kF32) | SetOf(DType::kF64);  // of 16 bits and more
inline constexpr DTypeSet kFloats = kWideFloats | kTinyFloats;
inline constexpr DTypeSet kComplexes = SetOf(DType::kC64) | SetOf(DType::kC128);
inline constexpr DTypeSet kInexact = kFloats | kComplexes;  // values of these have derivatives
inline constexpr DTypeSet kReals = kInts | kFloats;
inline constexpr DTypeSet kOrdered = kReals | kBools;
inline constexpr DTypeSet kNumbers = kReals | kComplexes;
inline constexpr DTypeSet kAny = kNumbers | kBools;

constexpr bool In(DType d, DTypeSet set) { return (SetOf(d) & set) != 0; }
constexpr bool IsFloat(DType d) { return In(d, kFloats); }
// Of 16 bits and less: computed in a wider dtype and rounded.
constexpr bool IsNarrowFloat(DType d) { return In(d, kTinyFloats | SetOf(DType::kF16) | SetOf(DType::kBF16)); }
constexpr bool IsComplex(DType d) { return In(d, kComplexes); }
constexpr bool IsInexact(DType d) { return In(d, kInexact); }
constexpr bool IsInt(DType d) { return In(d, kInts); }
// A product of such numbers may be fused with a sum and rounded once (RICCI_TARGET_FMA).
constexpr bool IsContracted(DType d) { return d == DType::kF32 || d == DType::kF64; }

// The dtype of the real and the imaginary part of a complex number; any other dtype itself.
constexpr DType PartOf(DType d) { return d == DType::kC64 ? DType::kF32 : d == DType::kC128 ? DType::kF64 : d; }
// The complex dtype with parts of floating dtype `d`; c64 for narrower floats.
constexpr DType ComplexOf(DType d) { return IsComplex(d) ? d : d == DType::kF64 ? DType::kC128 : DType::kC64; }

inline int64_t SizeOf(DType d) { return ricci_dtype_size(static_cast<uint32_t>(d)); }
inline int64_t BitsOf(DType d) { return 8 * SizeOf(d); }
inline std::string_view NameOf(DType d) {
  ricci_str s{};
  ricci_dtype_name(static_cast<uint32_t>(d), &s);
  return View(s);
}
inline void AppendText(std::string& out, DType d) { out += NameOf(d); }

}}  // namespace ricci::v0
#endif
