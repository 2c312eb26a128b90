// Prefix scans that a team shares, against `ref`.
#include <gtest/gtest.h>

#include <cmath>

#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class ScansOnGpu : public ::testing::Test {
 protected:
  ScansOnGpu() { EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu))); }

  // One operation on an array of that type; `team`: what the text says about it.
  void Expect(const std::string& op, const std::string& type, const std::string& attrs, const Numbers& x,
              const std::string& team, double tolerance) {
    const Program f = runner_.Parse("program f(%x: " + type + ") {\n  %y: " + type + " = " + op + "(%x) " + attrs +
                                    "\n  return %y\n}");
    const std::string text = runner_.Dump(f, "native", "cuda");
    EXPECT_NE(text.find(team), std::string::npos) << text;
    const auto order = OfStandin<void(uint64_t)>("ricci_standin_seed");
    for (const uint64_t seed : {2, 1}) {
      order(seed);
      runner_.RunEverywhere(f, {x}, tolerance);
    }
  }

  ProgramRunner runner_;
};

Numbers Waves(size_t n) {
  Numbers out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<double>((i * 29) % 64) / 64 - 0.5;
  return out;
}
Numbers Whole(size_t n) {
  Numbers out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<double>((i * 31) % 19) - 9;
  return out;
}

TEST_F(ScansOnGpu, OfRowsByWarps) {
  constexpr const char* kWarps = "// 32 threads for a point";
  for (const bool reverse : {false, true}) {
    const std::string attrs = std::string("axis=1 reverse=") + (reverse ? "true" : "false");
    Expect("cumsum", "f64[3,100]", attrs, Waves(300), kWarps, 1e-12);
    Expect("cumsum", "f32[3,96]", attrs, Waves(288), kWarps, 1e-5);
    Expect("cumprod", "i32[2,70]", attrs, Whole(140), kWarps, 0);
    Expect("cummax", "i32[2,33]", attrs, Whole(66), kWarps, 0);
    Expect("cummin", "u32[2,65]", attrs, Numbers(130, 7), kWarps, 0);
    Expect("cumlogsumexp", "f32[2,100]", attrs, Waves(200), kWarps, 1e-5);
  }
}

TEST_F(ScansOnGpu, OfNarrowFloats) {
  const Program f = runner_.Parse(R"(program f(%x: f32[2,50]) {
  %h: f16[2,50] = convert_element_type(%x) new_dtype=f16
  %c: f16[2,50] = cumsum(%h) axis=1 reverse=false
  %m: f16[2,50] = cummax(%h) axis=1 reverse=true
  %y: f32[2,50] = convert_element_type(%c) new_dtype=f32
  %z: f32[2,50] = convert_element_type(%m) new_dtype=f32
  return %y, %z
})");
  runner_.RunEverywhere(f, {Waves(100)}, 2e-3);
}

TEST_F(ScansOnGpu, OfLongLinesByBlocks) {
  constexpr const char* kBlocks = "// 256 threads for a point";
  Expect("cumsum", "i64[5000]", "axis=0 reverse=false", Whole(5000), kBlocks, 0);
  Expect("cumlogsumexp", "f64[4096]", "axis=0 reverse=true", Waves(4096), kBlocks, 1e-12);
  Expect("cummax", "f32[2,3001]", "axis=1 reverse=false", Waves(6002), kBlocks, 0);
}

// Products of complex numbers: two states, whose parts need each other.
TEST_F(ScansOnGpu, OfSeveralStates) {
  const Program f = runner_.Parse(R"(program f(%x: f64[300], %y: f64[300]) {
  %z: c128[300] = complex(%x, %y)
  %p: c128[300] = cumprod(%z) axis=0 reverse=false
  %a: f64[300] = real(%p)
  %b: f64[300] = imag(%p)
  return %a, %b
})");
  EXPECT_NE(runner_.Dump(f, "native", "cuda").find("// 32 threads for a point"), std::string::npos);
  Numbers x(300), y(300);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::cos(static_cast<double>(i)), y[i] = std::sin(static_cast<double>(i));
  runner_.RunEverywhere(f, {x, y}, 1e-11);
}

// Elements that fuse, a loop within the loop of the scan, and a second scan of what the first one gives.
TEST_F(ScansOnGpu, AmongOtherOperations) {
  const Program f = runner_.Parse(R"(program f(%x: f32[3,70], %w: f32[70,4]) {
  %d: f32[3,70] = exp(%x)
  %c: f32[3,70] = cumsum(%d) axis=1 reverse=false
  %l: f32[3,70] = log(%c)
  %m: f32[3,70] = cummax(%l) axis=1 reverse=true
  %s: f32[70] = reduce_sum(%w) axes=[1]
  %b: f32[3,70] = broadcast_in_dim(%s) shape=[3,70] broadcast_dimensions=[1]
  %p: f32[3,70] = mul(%b, %x)
  %q: f32[3,70] = cumsum(%p) axis=1 reverse=false
  return %m, %q
})");
  runner_.RunEverywhere(f, {Waves(210), Waves(280)}, 1e-5);
}

// Few columns: lanes go down one together, each store within its column.
TEST_F(ScansOnGpu, OfColumns) {
  Expect("cumsum", "f32[100,5]", "axis=0 reverse=false", Waves(500), "// 32 threads for a point", 1e-5);
}

}}  // namespace ricci::testing
