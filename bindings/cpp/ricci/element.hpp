// ricci/element.hpp: element types and single elements as bytes.
//
// A constant crosses the C ABI as the bytes of its elements. Numbers are given as double or as 64-bit integers;
// encoding rounds once, to nearest even, and integers wrap at their width, so that a constant is what XLA would make of
// the literal.
#ifndef RICCI_ELEMENT_HPP_
#define RICCI_ELEMENT_HPP_
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "ricci/error.hpp"

namespace ricci::inline v0 {

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
inline constexpr DTypeSet kFloats = SetOf(DType::kF16) | SetOf(DType::kBF16) | SetOf(DType::kF32) | SetOf(DType::kF64);
inline constexpr DTypeSet kNumbers = kInts | kFloats;
inline constexpr DTypeSet kAny = kNumbers | kBools;

constexpr bool In(DType d, DTypeSet set) { return (SetOf(d) & set) != 0; }
constexpr bool IsFloat(DType d) { return In(d, kFloats); }
constexpr bool IsInt(DType d) { return In(d, kInts); }

inline int64_t SizeOf(DType d) { return ricci_dtype_size(static_cast<uint32_t>(d)); }
inline int64_t BitsOf(DType d) { return 8 * SizeOf(d); }
inline std::string_view NameOf(DType d) {
  ricci_str s{};
  ricci_dtype_name(static_cast<uint32_t>(d), &s);
  return {s.ptr, s.len};
}
inline void AppendText(std::string& out, DType d) { out += NameOf(d); }

// Properties of a floating type: stored mantissa bits, smallest normal, largest finite, distance from 1 to the next.
struct FloatInfo {
  int mantissa_bits, exponent_bits;
  double tiny, max, epsilon;
};
inline FloatInfo InfoOf(DType d) {
  switch (d) {
    case DType::kF16:
      return {10, 5, 0x1p-14, 65504.0, 0x1p-10};
    case DType::kBF16:
      return {7, 8, 0x1p-126, 0x1.fep127, 0x1p-7};
    case DType::kF32:
      return {23, 8, 0x1p-126, std::numeric_limits<float>::max(), 0x1p-23};
    case DType::kF64:
      return {52, 11, 0x1p-1022, std::numeric_limits<double>::max(), 0x1p-52};
    default:
      Fail("no floating type: ", d);
  }
}

// ---- one element ----
struct Element {
  alignas(16) std::array<unsigned char, 16> bytes{};
  uint32_t size = 0;
};

// The bits of `v` rounded to a 16-bit format with that many exponent and mantissa bits.
inline uint16_t RoundTo16(double v, int exponent_bits, int mantissa_bits) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  if (std::isnan(v)) return sign | infinity | (1u << (mantissa_bits - 1));
  if (std::isinf(v)) return sign | infinity;
  if (v == 0) return sign;
  const int exponent = std::max(std::ilogb(v), 1 - bias);
  const double steps = std::nearbyint(std::scalbn(std::fabs(v), mantissa_bits - exponent));
  const double bits = steps + std::scalbn(static_cast<double>(exponent + bias - 1), mantissa_bits);
  return sign | (bits >= infinity ? infinity : static_cast<uint16_t>(bits));
}

template <typename T>
Element ElementOf(T value) {
  Element e;
  std::memcpy(e.bytes.data(), &value, sizeof value);
  e.size = sizeof value;
  return e;
}

// The integer `v` as an element of an integer type, wrapped to its width, or of any other type through double.
inline Element EncodeFloat(DType d, double v);
inline Element EncodeInt(DType d, uint64_t v) {
  if (!In(d, kInts | SetOf(DType::kKey))) return EncodeFloat(d, static_cast<double>(static_cast<int64_t>(v)));
  Element e = ElementOf(v);
  e.size = static_cast<uint32_t>(SizeOf(d));
  return e;
}

// The whole part of `v` as 64 bits, signed below 0; the nearest there is beyond their range, and 0 for NaN, as in XLA.
inline uint64_t IntegerBits(double v) {
  if (std::isnan(v)) return 0;
  if (v < 0) return static_cast<uint64_t>(v < -0x1p63 ? INT64_MIN : static_cast<int64_t>(v));
  return v >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(v);
}

inline Element EncodeFloat(DType d, double v) {
  switch (d) {
    case DType::kBool:
      return ElementOf<uint8_t>(v != 0);
    case DType::kF16:
      return ElementOf(RoundTo16(v, 5, 10));
    case DType::kBF16:
      return ElementOf(RoundTo16(v, 8, 7));
    case DType::kF32:
      return ElementOf(static_cast<float>(v));
    case DType::kF64:
      return ElementOf(v);
    default:
      if (!IsInt(d)) Fail("a constant of dtype ", d, " cannot be made from a number");
      return EncodeInt(d, IntegerBits(v));
  }
}

// The number `v` as one element of dtype `d`.
template <typename T>
requires std::is_arithmetic_v<T> Element Encode(DType d, T v) {
  if constexpr (std::is_integral_v<T>) return EncodeInt(d, static_cast<uint64_t>(static_cast<int64_t>(v)));
  return EncodeFloat(d, static_cast<double>(v));
}

}  // namespace ricci::inline v0
#endif
