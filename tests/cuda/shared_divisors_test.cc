// Quotients by divisors that a point shares (plugins/cuda/tile/shared_divisors.h): the bits of plain divisions,
// whatever the numbers are.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

class SharedDivisors : public SameBytes {
 protected:
  // Of each point two lines of eight: six quotients by the first number of each, in a triangular system whose matrix
  // has no other elements.
  Program Quotients(int64_t points) {
    return runner_.Vmap(runner_.Parse(R"(program f(%x: f32[2,8]) {
  %l: f32[2,2] = slice(%x) start_indices=[0,0] limit_indices=[2,2]
  %b: f32[2,6] = slice(%x) start_indices=[0,2] limit_indices=[2,8]
  %y: f32[2,6] = triangular_solve(%l, %b) left_side=true lower=true
  return %y
})"),
                        {0}, {0}, points);
  }
  // Whose element below the diagonal is 0; divisors may be 0 too.
  static Numbers Systems(int64_t points, uint32_t seed);
  static constexpr const char* kSaid = "// divides by inverses of divisors that quotients share";
};

// Finite numbers of moderate size, and some of all kinds.
Numbers Of(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-149, 0x1.8p-127, 0x1.fffffep127, 0x1p-61, 0x1p31};
  Numbers out;
  while (out.size() < n) {
    const double mantissa = 1 + (random() >> 9) * 0x1p-23, sign = random() % 2 == 0 ? 1 : -1;
    const bool is_even = random() % 8 != 0, is_special = random() % 256 == 0;
    const int exponent = static_cast<int>(random() % 40) - 20;
    out.push_back(is_special ? special[random() % 10] : sign * std::ldexp(is_even ? mantissa : 2 - 0x1p-23, exponent));
  }
  return out;
}

Numbers SharedDivisors::Systems(int64_t points, uint32_t seed) {
  Numbers x = Of(static_cast<size_t>(16 * points), seed);
  for (size_t i = 8; i < x.size(); i += 16) x[i] = 0;
  return x;
}

TEST_F(SharedDivisors, BitsOfPlainDivisions) {
  const Program f = Quotients(20000);
  EXPECT_NE(runner_.Dump(f, "source", "cuda").find(kSaid), std::string::npos) << runner_.Dump(f, "source", "cuda");
  for (const bool evaluated : {false, true}) {
    OfStandin<void(int)>("ricci_standin_ptx")(evaluated ? 1 : 0);
    for (uint32_t seed = 0; seed < 3; ++seed) runner_.RunEverywhere(Quotients(20000), {Systems(20000, seed)}, 0);
  }
  OfStandin<void(int)>("ricci_standin_ptx")(0);
  EXPECT_EQ(OfStandin<const char*()>("ricci_standin_complaints")(), std::string());
}

TEST_F(SharedDivisors, AllAddresses) {
  ExpectSameBytes(Quotients(3000), {.like = "cpu"});
  ExpectSameBytes(Quotients(3000), {.shift = 1, .like = "cpu"});
}

// A row divided by a number that a loop before has found: zeros are right too, of both signs.
TEST_F(SharedDivisors, OfRows) {
  for (const auto& [rows, n] : {std::pair{40, 256}, {40, 1000}, {20, 2048}}) {
    const std::string t = "f32[" + std::to_string(rows) + "," + std::to_string(n) + "]",
                      r = "f32[" + std::to_string(rows) + "]";
    const Program f =
        runner_.Parse("program f(%x: " + t + ") {\n  %m: " + r + " = reduce_max(%x) axes=[1]\n  %b: " + t +
                      " = broadcast_in_dim(%m) shape=[" + std::to_string(rows) + "," + std::to_string(n) +
                      "] broadcast_dimensions=[0]\n  %y: " + t + " = div(%x, %b)\n  return %y\n}");
    EXPECT_NE(runner_.Dump(f, "source", "cuda").find(kSaid), std::string::npos);
    ExpectSameBytes(f);
    ExpectSameBytes(f, {.shift = 1});
    Numbers x = Of(static_cast<size_t>(rows * n), 1);
    for (double& v : x) v = std::isfinite(v) && std::fabs(v) < 0x1p100 ? v : -1;  // so that most rows have a divisor
    for (size_t i = 0; i < x.size(); i += 7) x[i] = i % 2 == 0 ? 0.0 : -0.0;
    for (const bool evaluated : {false, true}) {
      OfStandin<void(int)>("ricci_standin_ptx")(evaluated ? 1 : 0);
      runner_.RunEverywhere(f, {x}, 0);
      runner_.RunEverywhere(f, {Of(x.size(), 2)}, 0);
    }
    OfStandin<void(int)>("ricci_standin_ptx")(0);
  }
}

// Rows of zeros by sums that are infinite: zeros, whatever an inverse of infinity would give.
TEST_F(SharedDivisors, InfiniteSums) {
  const Program f = runner_.Parse(R"(program f(%x: f32[40,256]) {
  %m: f32[40] = reduce_max(%x) axes=[1]
  %mb: f32[40,256] = broadcast_in_dim(%m) shape=[40,256] broadcast_dimensions=[0]
  %d: f32[40,256] = sub(%x, %mb)
  %e: f32[40,256] = exp(%x)
  %s: f32[40] = reduce_sum(%e) axes=[1]
  %sb: f32[40,256] = broadcast_in_dim(%s) shape=[40,256] broadcast_dimensions=[0]
  %y: f32[40,256] = div(%d, %sb)
  return %y
})");
  EXPECT_NE(runner_.Dump(f, "source", "cuda").find(kSaid), std::string::npos) << runner_.Dump(f, "source", "cuda");
  runner_.RunEverywhere(f, {Numbers(40 * 256, 100.0)}, 0);
}

// A divisor of one quotient is divided by as it is.
TEST_F(SharedDivisors, OneQuotient) {
  const Program f = runner_.Vmap(runner_.Parse(R"(program f(%x: f32[2,4]) {
  %l: f32[2,2] = slice(%x) start_indices=[0,0] limit_indices=[2,2]
  %b: f32[2,1] = slice(%x) start_indices=[0,2] limit_indices=[2,3]
  %y: f32[2,1] = triangular_solve(%l, %b) left_side=true lower=true
  return %y
})"),
                                 {0}, {0}, 3000);
  EXPECT_EQ(runner_.Dump(f, "source", "cuda").find(kSaid), std::string::npos);
}

}}  // namespace ricci::testing
