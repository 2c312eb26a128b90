// Kernels over rows on the CPU against the reference: short innermost dimensions, small matrices in a batch, rows that
// are computed together, private rows in registers, on the stack and in scratch.
#include <gtest/gtest.h>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

void ExpectSame(const std::string& text, const std::vector<int64_t>& sizes) {
  ProgramRunner runner;
  std::vector<Numbers> in;
  for (const int64_t n : sizes) {
    Numbers& v = in.emplace_back();
    for (int64_t i = 0; i < n; ++i) v.push_back(std::sin(0.37 * static_cast<double>(i)) * 2);
  }
  EXPECT_EQ(runner.RunEverywhere(runner.Parse(text), in, 1e-5).empty(), false) << text;
}

std::string Batched(int64_t n, int64_t m, const std::string& dtype) {
  const std::string t = dtype + "[" + std::to_string(n) + "," + std::to_string(m) + "," + std::to_string(m) + "]";
  return "program f(%x: " + t + ", %y: " + t + ") { %d: " + t +
         " = dot_general(%x, %y) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0]  return %d }";
}

TEST(ShortRows, SmallMatricesInABatch) {
  for (const int64_t m : {2, 3, 4, 5, 6, 8, 9, 16, 17}) {
    for (const char* dtype : {"f32", "f64"}) ExpectSame(Batched(37, m, dtype), {37 * m * m, 37 * m * m});
  }
}

TEST(ShortRows, BroadcastAlongShortRows) {
  for (const char* width : {"1", "2", "3", "7", "15"}) {
    const std::string w = width, t = "f32[41,5," + w + "]";
    ExpectSame("program f(%x: f32[41,5], %y: f32[" + w + "]) { %a: " + t + " = broadcast_in_dim(%x) shape=[41,5," + w +
                   "] broadcast_dimensions=[0,1]  %b: " + t + " = broadcast_in_dim(%y) shape=[41,5," + w +
                   "] broadcast_dimensions=[2]  %c: " + t + " = mul(%a, %b)  %d: " + t + " = sin(%c)  return %d }",
               {41 * 5, std::stoi(w)});
  }
}

TEST(ShortRows, NormalisedRowsOfEveryLength) {
  for (const int64_t width : {1, 3, 8, 16, 33, 100, 5000}) {
    const std::string w = std::to_string(width), t = "f32[19," + w + "]",
                      b = " shape=[19," + w + "] broadcast_dimensions=[0]  ";
    ExpectSame("program f(%x: " + t + ") { %m: f32[19] = reduce_max(%x) axes=[1]  %mb: " + t +
                   " = broadcast_in_dim(%m)" + b + "%s: " + t + " = sub(%x, %mb)  %e: " + t + " = exp(%s)  " +
                   "%n: f32[19] = reduce_sum(%e) axes=[1]  %nb: " + t + " = broadcast_in_dim(%n)" + b + "%r: " + t +
                   " = div(%e, %nb)  return %r, %n }",
               {19 * width});
  }
}

}  // namespace
}  // namespace ricci::testing
