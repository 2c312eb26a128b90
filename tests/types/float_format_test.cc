// ricci/float_format.h: what its rows mean, at compile time and at run time. tests/jax compares every number with
// ml_dtypes.
#include "ricci/float_format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "types/dtype.h"

namespace ricci::testing { namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr uint32_t kNarrow[] = {RICCI_F16, RICCI_BF16, RICCI_F8E4M3FN, RICCI_F8E5M2, RICCI_F8E8M0FNU, RICCI_F4E2M1FN};

constexpr double Decode(uint32_t dtype, uint64_t bits) {
  return ricci_float_decode(ricci_float_format_of(dtype), bits);
}
constexpr uint64_t Encode(uint32_t dtype, double v) { return ricci_float_encode(ricci_float_format_of(dtype), v); }
uint64_t Patterns(uint32_t dtype) {
  const ricci_float_format f = ricci_float_format_of(dtype);
  return uint64_t{1} << (f.exponent_bits + f.mantissa_bits + (f.sign != 0 ? 1 : 0));
}

static_assert(Encode(RICCI_F16, 65520) == 0x7c00 && Encode(RICCI_F16, 65519.999) == 0x7bff);
static_assert(Encode(RICCI_BF16, 0x1p-133) == 1 && Decode(RICCI_BF16, 1) == 0x1p-133);
static_assert(Decode(RICCI_F8E8M0FNU, 0) == 0x1p-127);

TEST(FloatFormat, EveryFloatingDTypeHasARow) {
  for (uint32_t d = 0; d <= RICCI_KEY + 1; ++d) {
    EXPECT_EQ(ricci_float_format_of(d).largest != 0, types::IsFloating(d)) << types::Info(d).name;
  }
  for (const uint32_t d : kNarrow) {
    EXPECT_LE(Patterns(d), uint64_t{1} << (8 * types::Info(d).size)) << types::Info(d).name;
  }
}

struct Landmarks {
  uint32_t dtype;
  double smallest, largest;
  uint64_t one, infinity, nan, below_zero, zero, minus_zero;  // the encodings of 1, infinity, NaN, -1, 0, -0
};
constexpr Landmarks kLandmarks[] = {
    {RICCI_F16, 0x1p-24, 65504, 0x3c00, 0x7c00, 0x7e00, 0xbc00, 0, 0x8000},
    {RICCI_BF16, 0x1p-133, 0x1.fep127, 0x3f80, 0x7f80, 0x7fc0, 0xbf80, 0, 0x8000},
    {RICCI_F32, 0x1p-149, 0x1.fffffep127, 0x3f800000, 0x7f800000, 0x7fc00000, 0xbf800000, 0, 0x80000000},
    {RICCI_F64, 0x1p-1074, 0x1.fffffffffffffp1023, uint64_t{0x3ff} << 52, uint64_t{0x7ff} << 52, uint64_t{0xfff} << 51,
     uint64_t{0xbff} << 52, 0, uint64_t{1} << 63},
    {RICCI_F8E4M3FN, 0x1p-9, 448, 0x38, 0x7f, 0x7f, 0xb8, 0, 0x80},
    {RICCI_F8E5M2, 0x1p-16, 57344, 0x3c, 0x7c, 0x7e, 0xbc, 0, 0x80},
    {RICCI_F8E8M0FNU, 0x1p-127, 0x1p127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff},
    {RICCI_F4E2M1FN, 0.5, 6, 2, 7, 8, 0xa, 0, 8},
};

TEST(FloatFormat, Landmarks) {
  for (const Landmarks& l : kLandmarks) {
    SCOPED_TRACE(types::Info(l.dtype).name);
    EXPECT_EQ(Decode(l.dtype, Encode(l.dtype, l.smallest)), l.smallest);
    EXPECT_EQ(Decode(l.dtype, ricci_float_format_of(l.dtype).has_zero), l.smallest);
    EXPECT_EQ(Encode(l.dtype, l.largest), ricci_float_format_of(l.dtype).largest);
    EXPECT_EQ(Decode(l.dtype, ricci_float_format_of(l.dtype).largest), l.largest);
    EXPECT_EQ(Encode(l.dtype, 1), l.one);
    EXPECT_EQ(Encode(l.dtype, kInf), l.infinity);
    EXPECT_EQ(Encode(l.dtype, kNaN), l.nan);
    EXPECT_EQ(Encode(l.dtype, -1), l.below_zero);
    EXPECT_EQ(Encode(l.dtype, 0.0), l.zero);
    EXPECT_EQ(Encode(l.dtype, -0.0), l.minus_zero);
  }
}

TEST(FloatFormat, WhatIsTooLargeOrTooSmall) {
  for (const uint32_t d : kNarrow) {
    SCOPED_TRACE(types::Info(d).name);
    const ricci_float_format f = ricci_float_format_of(d);
    EXPECT_EQ(Encode(d, 1e300), f.overflow);
    EXPECT_EQ(Encode(d, -1e300), f.sign != 0 ? f.sign | f.overflow : f.nan);
    EXPECT_EQ(Encode(d, 5e-324), 0u);
    EXPECT_EQ(Encode(d, -kNaN), f.nan ^ f.sign);
  }
  EXPECT_EQ(Encode(RICCI_F8E4M3FN, 464), 0x7eu);
  EXPECT_EQ(Encode(RICCI_F8E4M3FN, std::nextafter(464, 465)), 0x7fu);
  EXPECT_EQ(Encode(RICCI_F8E5M2, 61440), 0x7cu);
  EXPECT_EQ(Encode(RICCI_F8E5M2, std::nextafter(61440, 0)), 0x7bu);
  EXPECT_EQ(Encode(RICCI_F8E8M0FNU, 0x1.8p127), 0xffu);
  EXPECT_EQ(Encode(RICCI_F8E8M0FNU, 0x1p-200), 0u);
  EXPECT_EQ(Encode(RICCI_F8E8M0FNU, std::nextafter(0x1p-127, 1)), 1u);
  EXPECT_EQ(Encode(RICCI_F4E2M1FN, -kInf), 0xfu);
}

// The one NaN pattern that encoding gives, and all numbers.
TEST(FloatFormat, PatternsComeBack) {
  for (const uint32_t d : kNarrow) {
    const ricci_float_format f = ricci_float_format_of(d);
    for (uint64_t bits = 0; bits < Patterns(d); ++bits) {
      const double v = Decode(d, bits);
      ASSERT_EQ(Encode(d, v), std::isnan(v) ? f.nan | (bits & f.sign) : bits) << types::Info(d).name;
      ASSERT_EQ(std::signbit(v), (bits & f.sign) != 0) << types::Info(d).name << " " << bits;
    }
  }
}

TEST(FloatFormat, RoundsOnceToNearestEven) {
  for (const uint32_t d : kNarrow) {
    SCOPED_TRACE(types::Info(d).name);
    const ricci_float_format f = ricci_float_format_of(d);
    for (uint64_t bits = f.has_zero ? 0 : 1; bits < f.largest; ++bits) {
      const double low = Decode(d, bits), high = Decode(d, bits + 1), middle = (low + high) / 2;
      // In a format without mantissa bits the hidden bit is the last one, which is odd.
      const bool up = f.mantissa_bits == 0 || (bits & 1) != 0;
      ASSERT_EQ(Encode(d, middle), bits + up);
      ASSERT_EQ(Encode(d, std::nextafter(middle, low)), bits);
      ASSERT_EQ(Encode(d, std::nextafter(middle, high)), bits + 1);
      if (f.sign != 0) {
        ASSERT_EQ(Encode(d, -middle), f.sign | (bits + up));
      }
    }
  }
}

TEST(FloatFormat, NaNsKeepSignAndPayload) {
  const auto bits = [](uint32_t dtype, uint64_t b) { return ricci_f64_bits(Decode(dtype, b)); };
  const uint64_t quiet = uint64_t{0xfff} << 51, sign = uint64_t{1} << 63;
  EXPECT_EQ(bits(RICCI_F16, 0x7e00), quiet);
  EXPECT_EQ(bits(RICCI_F16, 0xfe01), sign | quiet | uint64_t{1} << 42);
  EXPECT_EQ(bits(RICCI_BF16, 0xffc1), sign | quiet | uint64_t{1} << 45);
  EXPECT_EQ(bits(RICCI_F8E5M2, 0xfe), sign | quiet);
  EXPECT_EQ(bits(RICCI_F8E4M3FN, 0x7f), quiet);
  EXPECT_EQ(bits(RICCI_F8E8M0FNU, 0xff), quiet);
}

TEST(FloatFormat, SingleAndDoubleAreThoseOfTheMachine) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t bits = random();
    const double v = ricci_f64_of_bits(bits);
    ASSERT_EQ(Encode(RICCI_F64, v), bits);
    ASSERT_EQ(Encode(RICCI_F32, v), ricci_f32_bits(static_cast<float>(v)));
    const double single = ricci_f32_of_bits(static_cast<uint32_t>(bits));
    ASSERT_EQ(ricci_f64_bits(Decode(RICCI_F32, bits)), ricci_f64_bits(single));
  }
}

}  // namespace
}  // namespace ricci::testing
