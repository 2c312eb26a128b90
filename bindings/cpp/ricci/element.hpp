// ricci/element.hpp: single elements as bytes, and what a floating type can hold.
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

#include "ricci/dtype.hpp"

namespace ricci::inline v0 {

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
