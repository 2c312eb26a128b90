// The bit formats of floating element types: between bits and double, with one rounding to nearest even.
//
// Written out for f16 and bf16 because no compiler we support has both everywhere. Every value of the four formats is a
// double, so decoding is exact.
#ifndef RICCI_KERNEL_SCALAR_FLOAT_H_
#define RICCI_KERNEL_SCALAR_FLOAT_H_
#include <bit>
#include <cstdint>

#include "ricci/base.h"

namespace ricci::inline v0::kernel {

struct FloatFormat {
  int exponent_bits, mantissa_bits;
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int width() const { return 1 + exponent_bits + mantissa_bits; }
  constexpr uint64_t infinity() const { return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
  constexpr uint64_t quiet_nan() const { return infinity() | (uint64_t{1} << (mantissa_bits - 1)); }
  constexpr uint64_t sign() const { return uint64_t{1} << (width() - 1); }
};

// Of F16, BF16, F32 or F64.
constexpr FloatFormat FormatOf(uint32_t dtype) {
  switch (dtype) {
    case RICCI_F16:
      return {5, 10};
    case RICCI_BF16:
      return {8, 7};
    case RICCI_F32:
      return {8, 23};
    default:
      return {11, 52};
  }
}

// F16 only; the other formats have native paths in DecodeFloat.
double DecodeHalf(uint64_t bits);
// Rounds to a format narrower than f64; overflow gives infinity, NaN stays a quiet NaN of the same sign.
uint64_t EncodeNarrow(FloatFormat f, double v);
// The value next to x towards y, as bits of the format.
uint64_t NextAfter(FloatFormat f, uint64_t x, uint64_t y);
// v as a double whose lowest bit is set if bits were lost, so that rounding once more to a narrower format is correct.
double RoundToOdd(uint64_t v);

inline double DecodeFloat(uint32_t dtype, uint64_t bits) {
  switch (dtype) {
    case RICCI_F16:
      return DecodeHalf(bits);
    case RICCI_BF16:
      return std::bit_cast<float>(static_cast<uint32_t>(bits << 16));
    case RICCI_F32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

inline uint64_t EncodeFloat(uint32_t dtype, double v) {
  switch (dtype) {
    case RICCI_F16:
      return EncodeNarrow(FormatOf(RICCI_F16), v);
    case RICCI_BF16:
      return EncodeNarrow(FormatOf(RICCI_BF16), v);
    case RICCI_F32:
      return std::bit_cast<uint32_t>(static_cast<float>(v));
    default:
      return std::bit_cast<uint64_t>(v);
  }
}

}  // namespace ricci::inline v0::kernel
#endif
