// ricci/exact.h: numbers that are exact, or report that they are not.
#include "ricci/exact.h"

#include <gtest/gtest.h>

#include <string>

namespace ricci::testing { namespace {

ricci_exact Of(int64_t v) { return ricci_exact_of(v); }
std::string Text(ricci_exact v) {
  char buffer[48];
  return ricci_exact_text(v, buffer);
}

TEST(Exact, SumsAndProductsOfIntegersAreWhatTheyAre) {
  EXPECT_EQ(Text(Of(INT64_MIN) + INT64_MIN), "-18446744073709551616");
  EXPECT_EQ(Text(Of(INT64_MIN) * INT64_MIN), "85070591730234615865843651857942052864");
  EXPECT_EQ(Text(Of(INT64_MAX) * 2 + 2), "18446744073709551616");
  EXPECT_EQ(Text(Of(0) - INT64_MIN), "9223372036854775808");
  EXPECT_EQ(Text(Of(7) - 7), "0");
}

TEST(Exact, WhatIsLostStaysLost) {
  const ricci_exact huge = Of(INT64_MAX) * INT64_MAX * INT64_MAX;
  EXPECT_NE(huge.lost, 0u);
  EXPECT_NE((huge - 5).lost, 0u);
  EXPECT_NE((Of(0) * huge).lost, 0u);
  EXPECT_EQ(Text(huge), "a number of more than 128 bits");
  int64_t out = 7;
  EXPECT_EQ(ricci_exact_narrow(huge, INT64_MIN, INT64_MAX, &out), 0);
  EXPECT_EQ(out, 7);
  EXPECT_EQ(ricci_exact_clamp(huge, 0, 5), 5);
}

TEST(Exact, NarrowsToARange) {
  int64_t out = 7;
  EXPECT_EQ(ricci_exact_narrow(Of(INT64_MAX) + 1, INT64_MIN, INT64_MAX, &out), 0);
  EXPECT_EQ(ricci_exact_narrow(Of(-1), 0, UINT32_MAX, &out), 0);
  EXPECT_EQ(ricci_exact_narrow(Of(INT64_C(4294967297)), 0, UINT32_MAX, &out), 0);
  EXPECT_EQ(out, 7);
  EXPECT_EQ(ricci_exact_narrow(Of(INT64_MAX) - INT64_MAX + 3, 0, 3, &out), 1);
  EXPECT_EQ(out, 3);
  EXPECT_EQ(ricci_exact_clamp(Of(INT64_MIN) * 4, -8, 8), -8);
  EXPECT_EQ(ricci_exact_clamp(Of(5), -8, 8), 5);
}

}  // namespace
}  // namespace ricci::testing
