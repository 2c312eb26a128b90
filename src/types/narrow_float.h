// The 16-bit floating formats f16 and bf16 as numbers: their bits to double, exactly, and back, rounded to nearest
// even.
//
// g++ 12 and clang 14 have no common 16-bit type, and text, folding and checks need only these two functions.
#ifndef RICCI_TYPES_NARROW_FLOAT_H_
#define RICCI_TYPES_NARROW_FLOAT_H_
#include <cmath>
#include <cstdint>

namespace ricci::inline v0::types {

struct NarrowFormat {
  int exponent_bits, mantissa_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint16_t infinity() const { return static_cast<uint16_t>(((1 << exponent_bits) - 1) << mantissa_bits); }
};
inline constexpr NarrowFormat kF16Format = {5, 10};
inline constexpr NarrowFormat kBF16Format = {8, 7};

// A NaN keeps no payload.
inline double FromNarrow(uint16_t bits, NarrowFormat f) {
  const double sign = bits & 0x8000 ? -1.0 : 1.0;
  const int exponent = (bits & 0x7fff) >> f.mantissa_bits;
  const int mantissa = bits & ((1 << f.mantissa_bits) - 1);
  if (exponent == (1 << f.exponent_bits) - 1) return mantissa != 0 ? NAN : sign * INFINITY;
  const int hidden = exponent == 0 ? 0 : 1 << f.mantissa_bits;
  return sign * std::scalbn(mantissa + hidden, (exponent == 0 ? 1 : exponent) - f.bias() - f.mantissa_bits);
}

inline uint16_t ToNarrow(double v, NarrowFormat f) {
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return sign | f.infinity() | static_cast<uint16_t>(1 << (f.mantissa_bits - 1));
  if (std::isinf(v)) return sign | f.infinity();
  if (v == 0) return sign;
  const int lowest = 1 - f.bias();  // exponent of the smallest normal number
  const int exponent = std::ilogb(v) < lowest ? lowest : std::ilogb(v);
  // In units of the last place; a carry into the exponent comes out right because the bits are contiguous.
  const double steps = std::nearbyint(std::scalbn(std::fabs(v), f.mantissa_bits - exponent));
  const double bits = steps + std::scalbn(exponent + f.bias() - 1, f.mantissa_bits);
  return sign | (bits >= f.infinity() ? f.infinity() : static_cast<uint16_t>(bits));
}

}  // namespace ricci::inline v0::types
#endif
