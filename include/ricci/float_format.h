/* ricci/float_format.h: the floating element types as rows of numbers, and the two functions that follow from a row:
 * from a number to its bits and back.
 *
 * An element is the low bits of a uint64: sign, exponent, mantissa, from the top. Its bits without the sign are its
 * magnitude: up to `largest` a greater magnitude is a greater number, above it are infinity and NaN. Every number of
 * these types is a double, so decoding is exact. Encoding rounds once, to nearest even; what does not fit becomes what
 * ml_dtypes makes of it. The core, the C++ binding and plugins all use these rows; a new type is one more row.
 * Header-only: nothing here is a function of the library. All of it is inlined, because little code remains where the
 * row is known; in C++ it may be evaluated at compile time.
 */
#ifndef RICCI_FLOAT_FORMAT_H_
#define RICCI_FLOAT_FORMAT_H_
#include "ricci/base.h"
#ifdef __cplusplus
#define RICCI_CONSTANT static constexpr
#define RICCI_CONSTEXPR __attribute__((always_inline)) static constexpr
extern "C" {
#else
#define RICCI_CONSTANT static const
#define RICCI_CONSTEXPR __attribute__((always_inline)) static inline
#endif

typedef struct ricci_float_format {
  int32_t exponent_bits, mantissa_bits, bias;
  int32_t has_zero;  /* 1: exponent field 0 is for zero and subnormal numbers; 0: there are none, zero becomes NaN */
  uint64_t sign;     /* the sign bit; 0: there is none, and a number with a sign becomes NaN */
  uint64_t largest;  /* the greatest finite magnitude */
  uint64_t infinity; /* 0: there is none */
  uint64_t overflow; /* for infinity and for what is beyond `largest` after rounding */
  uint64_t nan;      /* for a positive NaN, and, with the sign bit flipped, for a negative one */
} ricci_float_format;

/* One row for each dtype from RICCI_F16 on. */
RICCI_CONSTANT ricci_float_format ricci_float_formats[] = {
    {5, 10, 15, 1, 0x8000, 0x7bff, 0x7c00, 0x7c00, 0x7e00},                      /* f16 */
    {8, 7, 127, 1, 0x8000, 0x7f7f, 0x7f80, 0x7f80, 0x7fc0},                      /* bf16 */
    {8, 23, 127, 1, 0x80000000, 0x7f7fffff, 0x7f800000, 0x7f800000, 0x7fc00000}, /* f32 */
    {11, 52, 1023, 1, 0x8000000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0x7ff0000000000000,
     0x7ff8000000000000},                        /* f64 */
    {0, 0, 0, 0, 0, 0, 0, 0, 0},                 /* c64 */
    {0, 0, 0, 0, 0, 0, 0, 0, 0},                 /* c128 */
    {4, 3, 7, 1, 0x80, 0x7e, 0, 0x7f, 0x7f},     /* f8e4m3fn */
    {5, 2, 15, 1, 0x80, 0x7b, 0x7c, 0x7c, 0x7e}, /* f8e5m2 */
    {8, 0, 127, 0, 0, 0xfe, 0, 0xff, 0xff},      /* f8e8m0fnu */
    {2, 1, 1, 1, 0x8, 0x7, 0, 0x7, 0x8},         /* f4e2m1fn: no NaN either, it becomes -0 */
};

/* The row of a dtype; that of c64, all 0, if it is not a floating type. */
RICCI_CONSTEXPR ricci_float_format ricci_float_format_of(uint32_t dtype) {
  const uint32_t none = RICCI_C64;
  return ricci_float_formats[(dtype < RICCI_F16 || dtype > RICCI_F4E2M1FN ? none : dtype) - RICCI_F16];
}

/* ---- the formats of the machine ---- */
#ifdef __cplusplus
RICCI_CONSTEXPR uint64_t ricci_f64_bits(double v) { return __builtin_bit_cast(uint64_t, v); }
RICCI_CONSTEXPR double ricci_f64_of_bits(uint64_t bits) { return __builtin_bit_cast(double, bits); }
RICCI_CONSTEXPR uint32_t ricci_f32_bits(float v) { return __builtin_bit_cast(uint32_t, v); }
RICCI_CONSTEXPR float ricci_f32_of_bits(uint32_t bits) { return __builtin_bit_cast(float, bits); }
#else
typedef union ricci_f64_view {
  double number;
  uint64_t bits;
} ricci_f64_view;
typedef union ricci_f32_view {
  float number;
  uint32_t bits;
} ricci_f32_view;
static inline uint64_t ricci_f64_bits(double v) {
  const ricci_f64_view view = {.number = v};
  return view.bits;
}
static inline double ricci_f64_of_bits(uint64_t bits) {
  const ricci_f64_view view = {.bits = bits};
  return view.number;
}
static inline uint32_t ricci_f32_bits(float v) {
  const ricci_f32_view view = {.number = v};
  return view.bits;
}
static inline float ricci_f32_of_bits(uint32_t bits) {
  const ricci_f32_view view = {.bits = bits};
  return view.number;
}
#endif

/* ---- bits to number ---- */

/* The number that `bits` of that format are; bits above its width do not matter. A NaN is quiet and keeps its sign;
 * where a format has several, it also keeps the bits in which it differs from `nan`. */
RICCI_CONSTEXPR double ricci_float_decode(ricci_float_format f, uint64_t bits) {
  const uint64_t hidden = (uint64_t)1 << f.mantissa_bits;
  const uint64_t magnitude = bits & ((hidden << f.exponent_bits) - 1);
  uint64_t wide = 0;
  if (f.exponent_bits == 11) return ricci_f64_of_bits(bits);
  if (f.exponent_bits == 8 && f.has_zero) { /* the upper bits of an f32 */
    return (double)ricci_f32_of_bits((uint32_t)(bits << (23 - f.mantissa_bits)));
  }
  if (magnitude > f.largest) {
    const uint64_t payload = (magnitude ^ f.nan) & (hidden - 1);
    wide = magnitude == f.infinity ? (uint64_t)0x7ff << 52 : (uint64_t)0xfff << 51 | payload << (52 - f.mantissa_bits);
  } else if (magnitude < hidden && f.has_zero) {
    const double unit = ricci_f64_of_bits((uint64_t)(1023 + 1 - f.bias - f.mantissa_bits) << 52);
    wide = ricci_f64_bits((double)magnitude * unit);
  } else {
    wide = (magnitude << (52 - f.mantissa_bits)) + ((uint64_t)(1023 - f.bias) << 52);
  }
  return ricci_f64_of_bits(wide | (bits & f.sign) << (63 - f.exponent_bits - f.mantissa_bits));
}

/* ---- number to bits ---- */

/* v / 2^shift rounded to nearest even, for v below 2^53 and shift > 0. */
RICCI_CONSTEXPR uint64_t ricci_float_shift_rounded(uint64_t v, int32_t shift) {
  if (shift > 54) return 0;
  return (v + ((uint64_t)1 << (shift - 1)) - 1 + (v >> shift & 1)) >> shift;
}

/* The magnitude nearest to the finite number whose bits as a double, without sign, are `size`, as if there were no
 * largest one. A carry from the mantissa into the exponent comes out right, because the fields are adjacent. Exponent
 * field 0 is rounded to as if it held subnormal numbers in every format: in f8e8m0fnu everything between 2^-127 and
 * 2^-126 goes up. */
RICCI_CONSTEXPR uint64_t ricci_float_rounded(ricci_float_format f, uint64_t size) {
  const uint64_t hidden = (uint64_t)1 << 52;
  const int32_t exponent = (int32_t)(size >> 52) - 1023, lowest = 1 - f.bias;
  const int32_t below = exponent < lowest ? lowest - exponent : 0;
  const uint64_t steps = exponent < lowest ? 0 : (uint64_t)(exponent - lowest);
  const uint64_t mantissa = (size & (hidden - 1)) | hidden; /* the hidden bit is one more step */
  return (steps << f.mantissa_bits) + ricci_float_shift_rounded(mantissa, 52 - f.mantissa_bits + below);
}

/* `v` rounded to that format. */
RICCI_CONSTEXPR uint64_t ricci_float_encode(ricci_float_format f, double v) {
  const uint64_t wide = ricci_f64_bits(v), size = wide & (((uint64_t)1 << 63) - 1);
  const uint64_t sign = size != wide ? f.sign : 0;
  uint64_t magnitude = 0;
  if (f.mantissa_bits == 52) return wide;
  if (f.mantissa_bits == 23) return ricci_f32_bits((float)v);
  if (size > (uint64_t)0x7ff << 52) return f.nan ^ sign;
  if ((size != wide && f.sign == 0) || (size == 0 && !f.has_zero)) return f.nan;
  magnitude = ricci_float_rounded(f, size);
  return sign | (magnitude > f.largest ? f.overflow : magnitude);
}

#undef RICCI_CONSTANT
#undef RICCI_CONSTEXPR
#ifdef __cplusplus
}
#endif
#endif
