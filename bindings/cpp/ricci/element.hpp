// ricci/element.hpp: single elements as bytes, and what a floating type can hold.
//
// A constant crosses the C ABI as the bytes of its elements. Numbers are given as double or as 64-bit integers;
// encoding rounds once, to nearest even, and integers wrap at their width, so that a constant is what XLA would make of
// the literal.
#ifndef RICCI_ELEMENT_HPP_
#define RICCI_ELEMENT_HPP_
#include <array>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstring>

#include "ricci/dtype.hpp"
#include "ricci/float_format.h"

namespace ricci { inline namespace v0 {

// Properties of a floating type: stored mantissa bits, smallest normal, largest finite, distance from 1 to the next.
struct FloatInfo {
  int mantissa_bits, exponent_bits;
  double tiny, max, epsilon;
};
constexpr ricci_float_format FormatOf(DType d) { return ricci_float_format_of(static_cast<uint32_t>(d)); }
inline FloatInfo InfoOf(DType d) {
  if (!IsFloat(d)) Fail("not a floating dtype: ", d);
  const ricci_float_format f = FormatOf(d);
  const double tiny = ricci_float_decode(f, uint64_t{1} << f.mantissa_bits);
  return {f.mantissa_bits, f.exponent_bits, tiny, ricci_float_decode(f, f.largest), std::ldexp(1, -f.mantissa_bits)};
}
// The number that nothing of a floating type is above, or below: infinity where there is one.
inline double GreatestFloat(DType d) {
  const ricci_float_format f = FormatOf(d);
  return ricci_float_decode(f, f.infinity != 0 ? f.infinity : f.largest);
}
inline double LeastFloat(DType d) {
  return FormatOf(d).sign != 0 ? -GreatestFloat(d) : ricci_float_decode(FormatOf(d), 0);
}

// ---- one element ----
struct Element {
  alignas(16) std::array<unsigned char, 16> bytes{};
  uint32_t size = 0;
};

template <typename T>
Element ElementOf(T value) {
  Element e;
  std::memcpy(e.bytes.data(), &value, sizeof value);
  e.size = sizeof value;
  return e;
}

// The integer `v` as an element of an integer type, wrapped to its width, or of any other type through double.
inline Element EncodeFloat(DType d, double v);
template <std::integral T>
Element EncodeInt(DType d, T v) {
  if (!In(d, kInts | SetOf(DType::kKey))) return EncodeFloat(d, static_cast<double>(v));
  Element e = ElementOf(static_cast<uint64_t>(v));
  e.size = static_cast<uint32_t>(SizeOf(d));
  return e;
}

// The whole part of `v` in 64 bits, signed if below 0; clamped to their range, and 0 for NaN, as in XLA.
inline uint64_t IntegerBits(double v) {
  if (std::isnan(v)) return 0;
  if (v < 0) return static_cast<uint64_t>(v < -0x1p63 ? INT64_MIN : static_cast<int64_t>(v));
  return v >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(v);
}

// A complex number from its parts, each rounded once.
inline Element EncodeComplex(DType d, std::complex<double> v) {
  if (!IsComplex(d)) Fail("a constant of dtype ", d, " cannot be made from a complex number");
  if (d == DType::kC128) return ElementOf(v);
  return ElementOf(std::complex<float>(static_cast<float>(v.real()), static_cast<float>(v.imag())));
}

inline Element EncodeFloat(DType d, double v) {
  if (IsComplex(d)) return EncodeComplex(d, v);
  if (d == DType::kBool) return ElementOf<uint8_t>(v != 0);
  if (IsInt(d)) return EncodeInt(d, IntegerBits(v));
  if (!IsFloat(d)) Fail("a constant of dtype ", d, " cannot be made from a number");
  Element e = ElementOf(ricci_float_encode(FormatOf(d), v));
  e.size = static_cast<uint32_t>(SizeOf(d));
  return e;
}

// The number `v` as one element of dtype `d`.
template <typename T>
requires std::is_arithmetic_v<T> Element Encode(DType d, T v) {
  if constexpr (std::is_integral_v<T>) {
    return EncodeInt(d, v);
  } else {
    return EncodeFloat(d, static_cast<double>(v));
  }
}
template <typename T>
Element Encode(DType d, std::complex<T> v) {
  return EncodeComplex(d, std::complex<double>(v));
}

}}  // namespace ricci::v0
#endif
