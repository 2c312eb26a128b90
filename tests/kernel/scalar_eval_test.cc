// Scalar semantics against native arithmetic, exact tables and inverse functions.
#include "kernel/scalar/scalar_eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernel/scalar/scalar_float.h"

namespace ricci::kernel { namespace {

uint64_t Eval(uint32_t op, uint32_t dtype, uint64_t a, uint64_t b = 0, uint64_t c = 0, uint32_t result = 0) {
  const ScalarFn fn = FindScalarFn(op, dtype, result ? result : dtype);
  EXPECT_NE(fn, nullptr) << InfoOf(op).name << " " << types::Info(dtype).name;
  return fn ? fn(a, b, c) : 0;
}
int64_t EvalInt(uint32_t op, uint32_t dtype, int64_t a, int64_t b = 0) {
  return DecodeInteger(dtype, Eval(op, dtype, EncodeInteger(dtype, a), EncodeInteger(dtype, b)));
}
double EvalFloat(uint32_t op, uint32_t dtype, double a, double b = 0, double c = 0) {
  return DecodeFloat(dtype, Eval(op, dtype, EncodeFloat(dtype, a), EncodeFloat(dtype, b), EncodeFloat(dtype, c)));
}
uint64_t Converted(uint32_t from, uint32_t to, uint64_t bits) { return Eval(RICCI_S_CONVERT, from, bits, 0, 0, to); }

template <typename T>
void CheckInteger(uint32_t dtype) {
  std::mt19937_64 random(dtype);
  using Limits = std::numeric_limits<T>;
  const T edges[] = {0,
                     1,
                     2,
                     7,
                     static_cast<T>(-1),
                     static_cast<T>(-2),
                     Limits::min(),
                     Limits::max(),
                     static_cast<T>(8 * sizeof(T)),
                     static_cast<T>(random()),
                     static_cast<T>(random())};
  for (const T a : edges) {
    for (const T b : edges) {
      const auto wrap = [](__int128 v) { return static_cast<int64_t>(static_cast<T>(v)); };
      // In a type with the sign of T, so that no product overflows.
      using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      const Wide x = a, y = b;
      EXPECT_EQ(EvalInt(RICCI_S_ADD, dtype, a, b), wrap(x + y));
      EXPECT_EQ(EvalInt(RICCI_S_SUB, dtype, a, b), wrap(x - y));
      EXPECT_EQ(EvalInt(RICCI_S_MUL, dtype, a, b), wrap(x * y));
      EXPECT_EQ(EvalInt(RICCI_S_DIV, dtype, a, b), b == 0 ? wrap(-1) : wrap(x / y));
      EXPECT_EQ(EvalInt(RICCI_S_REM, dtype, a, b), b == 0 ? wrap(x) : wrap(x % y));
      EXPECT_EQ(EvalInt(RICCI_S_MULHI, dtype, a, b), wrap((x * y) >> (8 * sizeof(T))));
      const bool out = static_cast<std::make_unsigned_t<T>>(b) >= 8 * sizeof(T);
      const auto bits = static_cast<std::make_unsigned_t<T>>(a);
      EXPECT_EQ(EvalInt(RICCI_S_SHL, dtype, a, b), out ? 0 : wrap(static_cast<__int128>(bits) << b));
      EXPECT_EQ(EvalInt(RICCI_S_SHR, dtype, a, b), out ? 0 : wrap(static_cast<__int128>(bits >> b)));
      const auto with_sign = static_cast<std::make_signed_t<T>>(a);
      EXPECT_EQ(EvalInt(RICCI_S_SAR, dtype, a, b), wrap(out ? (with_sign < 0 ? -1 : 0) : with_sign >> b));
      EXPECT_EQ(EvalInt(RICCI_S_MIN, dtype, a, b), wrap(std::min(a, b)));
      EXPECT_EQ(Eval(RICCI_S_LT, dtype, EncodeInteger(dtype, wrap(a)), EncodeInteger(dtype, wrap(b))), a < b);
    }
    EXPECT_EQ(EvalInt(RICCI_S_SIGN, dtype, a), static_cast<int64_t>(static_cast<T>(a == 0 ? 0 : a > 0 ? 1 : -1)));
    EXPECT_EQ(EvalInt(RICCI_S_CLZ, dtype, a), std::countl_zero(static_cast<std::make_unsigned_t<T>>(a)));
    EXPECT_EQ(EvalInt(RICCI_S_POPCOUNT, dtype, a), std::popcount(static_cast<std::make_unsigned_t<T>>(a)));
  }
}

TEST(ScalarEval, Integers) {
  CheckInteger<int8_t>(RICCI_I8);
  CheckInteger<int16_t>(RICCI_I16);
  CheckInteger<int32_t>(RICCI_I32);
  CheckInteger<int64_t>(RICCI_I64);
  CheckInteger<uint8_t>(RICCI_U8);
  CheckInteger<uint16_t>(RICCI_U16);
  CheckInteger<uint32_t>(RICCI_U32);
  CheckInteger<uint64_t>(RICCI_U64);
}

TEST(ScalarEval, ConversionsSaturateWrapAndRoundOnce) {
  const auto f32 = [](double v) { return EncodeFloat(RICCI_F32, v); };
  const auto to = [&](uint32_t dtype, double v) { return DecodeInteger(dtype, Converted(RICCI_F32, dtype, f32(v))); };
  EXPECT_EQ(to(RICCI_I8, 300), 127);
  EXPECT_EQ(to(RICCI_I8, -300), -128);
  EXPECT_EQ(to(RICCI_U8, -3), 0);
  EXPECT_EQ(to(RICCI_I32, -2.9), -2);
  EXPECT_EQ(to(RICCI_I32, 3e9), INT32_MAX);
  EXPECT_EQ(to(RICCI_I64, 1e19), INT64_MAX);
  EXPECT_EQ(to(RICCI_I64, -INFINITY), INT64_MIN);
  EXPECT_EQ(Converted(RICCI_F32, RICCI_U64, f32(1e30)), UINT64_MAX);
  EXPECT_EQ(to(RICCI_I32, NAN), 0);
  EXPECT_EQ(Converted(RICCI_F32, RICCI_BOOL, f32(NAN)), 1u);
  EXPECT_EQ(Converted(RICCI_F32, RICCI_BOOL, f32(-0.0)), 0u);
  EXPECT_EQ(Converted(RICCI_I32, RICCI_BOOL, 256), 1u);
  EXPECT_EQ(Converted(RICCI_I32, RICCI_I8, 0x1ff), 0xffu);
  EXPECT_EQ(Converted(RICCI_I8, RICCI_U32, 0xff), 0xffffffffu);
  EXPECT_EQ(Converted(RICCI_BOOL, RICCI_F32, 1), f32(1));
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t v = random() >> (random() % 40);
    ASSERT_EQ(Converted(RICCI_U64, RICCI_F32, v), f32(static_cast<float>(v)));
    ASSERT_EQ(Converted(RICCI_I64, RICCI_F32, v), std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(v))));
    ASSERT_EQ(Converted(RICCI_I64, RICCI_F64, v),
              std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(v))));
  }
}

TEST(ScalarEval, FloatEdges) {
  for (const uint32_t dtype : {RICCI_F16, RICCI_BF16, RICCI_F32, RICCI_F64}) {
    EXPECT_TRUE(std::isnan(EvalFloat(RICCI_S_MAX, dtype, NAN, 1)));
    EXPECT_TRUE(std::isnan(EvalFloat(RICCI_S_MIN, dtype, 1, NAN)));
    EXPECT_FALSE(std::signbit(EvalFloat(RICCI_S_MAX, dtype, -0.0, 0.0)));
    EXPECT_TRUE(std::signbit(EvalFloat(RICCI_S_MIN, dtype, 0.0, -0.0)));
    EXPECT_TRUE(std::signbit(EvalFloat(RICCI_S_SIGN, dtype, -0.0)));
    EXPECT_TRUE(std::isnan(EvalFloat(RICCI_S_SIGN, dtype, NAN)));
    EXPECT_EQ(EvalFloat(RICCI_S_ROUND, dtype, 2.5), 3);
    EXPECT_EQ(EvalFloat(RICCI_S_ROUND_EVEN, dtype, 2.5), 2);
    EXPECT_EQ(EvalFloat(RICCI_S_REM, dtype, -7, 4), -3);
    EXPECT_EQ(Eval(RICCI_S_IS_FINITE, dtype, EncodeFloat(dtype, INFINITY)), 0u);
    EXPECT_EQ(Eval(RICCI_S_NE, dtype, EncodeFloat(dtype, NAN), EncodeFloat(dtype, NAN)), 1u);
    EXPECT_EQ(Eval(RICCI_S_NEXTAFTER, dtype, 0, EncodeFloat(dtype, 1)), 1u);
    EXPECT_EQ(Eval(RICCI_S_NEXTAFTER, dtype, EncodeFloat(dtype, 1), 0), EncodeFloat(dtype, 1) - 1);
    EXPECT_EQ(EvalFloat(RICCI_S_FMA, dtype, 3, 4, 5), 17);
    EXPECT_EQ(EvalFloat(RICCI_S_LOGISTIC, dtype, 0), 0.5);
  }
  EXPECT_EQ(Eval(RICCI_S_NEXTAFTER, RICCI_F32, EncodeFloat(RICCI_F32, 3), EncodeFloat(RICCI_F32, 9)),
            EncodeFloat(RICCI_F32, std::nextafterf(3, 9)));
}

TEST(ScalarEval, SpecialFunctions) {
  for (double x = -0.9999; x < 1; x += 0.0007) {
    ASSERT_NEAR(std::erf(EvalFloat(RICCI_S_ERF_INV, RICCI_F64, x)), x, 3e-16);
  }
  for (double y = 1; y < 5.5; y += 0.01) {
    const double x = std::erf(y);
    if (x == 1) break;
    ASSERT_NEAR(std::erfc(EvalFloat(RICCI_S_ERF_INV, RICCI_F64, x)) / (1 - x), 1, 1e-12) << y;
  }
  EXPECT_EQ(EvalFloat(RICCI_S_ERF_INV, RICCI_F32, 1), INFINITY);
  EXPECT_TRUE(std::isnan(EvalFloat(RICCI_S_ERF_INV, RICCI_F32, 1.5)));
  EXPECT_NEAR(EvalFloat(RICCI_S_DIGAMMA, RICCI_F64, 1), -0.57721566490153286, 1e-15);
  EXPECT_NEAR(EvalFloat(RICCI_S_DIGAMMA, RICCI_F64, 0.5), -1.9635100260214235, 4e-15);
  EXPECT_NEAR(EvalFloat(RICCI_S_DIGAMMA, RICCI_F64, -1.5), 0.70315664064524319, 4e-15);
  EXPECT_NEAR(EvalFloat(RICCI_S_DIGAMMA, RICCI_F64, 100), 4.6001618527380874, 1e-14);
  EXPECT_TRUE(std::isnan(EvalFloat(RICCI_S_DIGAMMA, RICCI_F64, -2)));
  for (double x = 0.1; x < 60; x += 0.37) {  // digamma(x + 1) - digamma(x) = 1 / x
    const double step = EvalFloat(RICCI_S_DIGAMMA, RICCI_F64, x + 1) - EvalFloat(RICCI_S_DIGAMMA, RICCI_F64, x);
    ASSERT_NEAR(step * x, 1, 1e-12);
  }
  EXPECT_NEAR(EvalFloat(RICCI_S_LGAMMA, RICCI_F64, 10), std::log(362880.0), 1e-13);
}

TEST(ScalarEval, EveryOperationHasATypeOrAReason) {
  for (uint32_t op = 1; op < RICCI_S_COUNT; ++op) {
    for (uint32_t dtype = 0; dtype <= RICCI_KEY + 1; ++dtype) {
      uint32_t operands[] = {dtype, dtype, dtype};
      if (op == RICCI_S_SELECT) operands[0] = RICCI_BOOL;
      const uint32_t requested = op == RICCI_S_CONVERT || op == RICCI_S_BITCAST ? dtype : 0;
      const auto result = ResultDType(op, requested, {operands, InfoOf(op).arity});
      if (!result.ok()) continue;
      EXPECT_NE(FindScalarFn(op, dtype, *result), nullptr) << InfoOf(op).name;
    }
  }
  const uint32_t mixed[] = {RICCI_F32, RICCI_F64};
  EXPECT_EQ(ResultDType(RICCI_S_ADD, 0, mixed).status().message(),
            "add: no scalar operation on f32, f64; convert the operands");
  EXPECT_EQ(ResultDType(RICCI_S_SIN, 0, mixed).status().message(), "sin: takes 1 operand but got 2");
}

TEST(ScalarEval, Identities) {
  EXPECT_EQ(IdentityOf(RICCI_S_MAX, RICCI_I8), 0x80u);
  EXPECT_EQ(IdentityOf(RICCI_S_MIN, RICCI_I8), 0x7fu);
  EXPECT_EQ(IdentityOf(RICCI_S_MIN, RICCI_U16), 0xffffu);
  EXPECT_EQ(IdentityOf(RICCI_S_MAX, RICCI_F32), EncodeFloat(RICCI_F32, -INFINITY));
  EXPECT_EQ(IdentityOf(RICCI_S_AND, RICCI_BOOL), 1u);
  EXPECT_EQ(IdentityOf(RICCI_S_MIN, RICCI_BOOL), 1u);
  EXPECT_EQ(IdentityOf(RICCI_S_MUL, RICCI_BF16), EncodeFloat(RICCI_BF16, 1));
  EXPECT_EQ(IdentityOf(RICCI_S_MAX, RICCI_F8E4M3FN), 0xfeu);  // the greatest magnitude: without infinity
  EXPECT_EQ(IdentityOf(RICCI_S_MIN, RICCI_F8E4M3FN), 0x7eu);
  EXPECT_EQ(IdentityOf(RICCI_S_MAX, RICCI_F8E5M2), 0xfcu);
  EXPECT_EQ(IdentityOf(RICCI_S_MAX, RICCI_F8E8M0FNU), 0u);  // and no sign
  EXPECT_EQ(IdentityOf(RICCI_S_ADD, RICCI_F8E8M0FNU), 0xffu);
  EXPECT_EQ(IdentityOf(RICCI_S_MAX, RICCI_F4E2M1FN), 0xfu);
}

TEST(ScalarEval, FloatsWithoutASignOrNan) {
  EXPECT_EQ(Eval(RICCI_S_NEG, RICCI_F8E8M0FNU, 0x7f), 0xffu);
  EXPECT_EQ(Eval(RICCI_S_ABS, RICCI_F8E8M0FNU, 0x7f), 0x7fu);
  EXPECT_EQ(Eval(RICCI_S_IS_FINITE, RICCI_F8E8M0FNU, 0xff), 0u);
  EXPECT_EQ(Eval(RICCI_S_IS_FINITE, RICCI_F4E2M1FN, 0xf), 1u);
  EXPECT_EQ(Eval(RICCI_S_MUL, RICCI_F4E2M1FN, 0x7, 0xf), 0xfu);  // 6 * -6: the greatest number
  EXPECT_EQ(Converted(RICCI_F32, RICCI_F8E4M3FN, EncodeFloat(RICCI_F32, 464)), 0x7eu);
  EXPECT_EQ(Converted(RICCI_F32, RICCI_F8E4M3FN, EncodeFloat(RICCI_F32, 465)), 0x7fu);
}

TEST(ScalarEval, NextAfterOfTinyFloats) {
  const auto next = [](uint32_t dtype, uint64_t x, uint64_t y) { return Eval(RICCI_S_NEXTAFTER, dtype, x, y); };
  EXPECT_EQ(next(RICCI_F8E4M3FN, 0x7d, 0x7e), 0x7eu);  // up to 448, the greatest
  EXPECT_EQ(next(RICCI_F8E4M3FN, 0x7e, 0x7f), 0x7fu);  // NaN
  EXPECT_EQ(next(RICCI_F8E4M3FN, 0x01, 0x80), 0x00u);
  EXPECT_EQ(next(RICCI_F8E4M3FN, 0x00, 0xfe), 0x81u);
  EXPECT_EQ(next(RICCI_F8E5M2, 0x7b, 0x7c), 0x7cu);  // infinity
  EXPECT_EQ(next(RICCI_F8E5M2, 0x7c, 0x00), 0x7bu);
  EXPECT_EQ(next(RICCI_F8E5M2, 0x7d, 0x00), 0x7eu);     // NaN
  EXPECT_EQ(next(RICCI_F8E8M0FNU, 0x00, 0x05), 0x01u);  // 2^-127 is not zero
  EXPECT_EQ(next(RICCI_F8E8M0FNU, 0x05, 0x00), 0x04u);
  EXPECT_EQ(next(RICCI_F8E8M0FNU, 0x05, 0xff), 0xffu);  // NaN
  EXPECT_EQ(next(RICCI_F4E2M1FN, 0x8, 0x7), 0x1u);
  EXPECT_EQ(next(RICCI_F4E2M1FN, 0x6, 0x7), 0x7u);
  EXPECT_EQ(next(RICCI_F4E2M1FN, 0x9, 0x7), 0x8u);
}

}  // namespace
}  // namespace ricci::kernel
