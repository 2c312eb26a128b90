// The functions `ricci_dev_*` on dense inputs, against `ref`: conversions exactly, special functions within a few
// units.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "cuda/all_bits.h"
#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class DeviceFunctions : public ::testing::Test {
 protected:
  // NVRTC compiles all of them, where it is used.
  DeviceFunctions() {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
    every_ = OfStandin<uint32_t(uint32_t)>("ricci_standin_every")(1);
  }
  ~DeviceFunctions() override { OfStandin<uint32_t(uint32_t)>("ricci_standin_every")(every_); }

  // x in `from`, through each type of `chain`, as the last one.
  void ExpectSameConversions(const std::string& from, const std::vector<std::string>& chain, const Numbers& x) {
    const std::string shape = "[" + std::to_string(x.size()) + "]";
    std::string text = "program f(%x: " + from + shape + ") {\n", last = "%x";
    for (const std::string& type : chain) {
      const std::string next = "%c" + std::to_string(text.size());
      text += "  " + next + ": " + type + shape + " = convert_element_type(" + last + ") new_dtype=" + type + "\n";
      last = next;
    }
    runner_.RunEverywhere(runner_.Parse(text + "  return " + last + "\n}"), {x}, 0);
  }
  // All functions of one operand in one program, on x of f32 or f64.
  void ExpectSameFunctions(const std::string& type, const std::vector<std::string>& functions, const Numbers& x,
                           double tolerance) {
    const std::string shape = type + "[" + std::to_string(x.size()) + "]";
    std::string text = "program f(%x: " + shape + ") {\n", results;
    for (const std::string& f : functions) {
      text += "  %" + f + ": " + shape + " = " + f + "(%x)\n";
      results += (results.empty() ? "%" : ", %") + f;
    }
    runner_.RunEverywhere(runner_.Parse(text + "  return " + results + "\n}"), {x}, tolerance);
  }
  ProgramRunner runner_;
  uint32_t every_;
};

// Of all sizes and both signs, between the numbers of every narrow type, at their ends and beyond.
Numbers Everywhere(size_t n, double least, double most) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(least, most);
  Numbers out = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1, 464, 465, 57344, 61440, 65504, 65520, 6, 7, 0x1p-9, 0x1p-10};
  while (out.size() < n) out.push_back((random() % 2 == 0 ? 1 : -1) * std::exp2(exponent(random)));
  return out;
}
Numbers Between(size_t n, double lo, double hi) {
  Numbers out;
  for (size_t i = 0; i < n; ++i) out.push_back(lo + (hi - lo) * static_cast<double>(i) / static_cast<double>(n - 1));
  return out;
}

TEST_F(DeviceFunctions, NarrowFloats) {
  Numbers singles = Everywhere(4000, -150, 128);
  for (double& v : singles) v = static_cast<float>(v);
  for (const char* type : {"f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn"}) {
    ExpectSameConversions("f32", {type, "f32"}, singles);
    ExpectSameConversions("f64", {type, "f64"}, Everywhere(4000, -140, 130));
    ExpectSameConversions("i64", {type, "f32"}, {0, 1, -1, 3, 17, 1e6, 4503599627370497, -9007199254740994, 9.1e18});
  }
}

TEST_F(DeviceFunctions, AllBitsOfNarrowFloats) {
  const auto expect = [this](const char* type, int bits) {
    runner_.RunEverywhere(runner_.Parse(AllBitsProgram(type, bits, /*as_bits=*/true)), {}, 0);
  };
  for (const char* type : {"f16", "bf16"}) expect(type, 16);
  for (const char* type : {"f8e4m3fn", "f8e5m2", "f8e8m0fnu"}) expect(type, 8);
}

TEST_F(DeviceFunctions, FloatsToIntegersSaturate) {
  const Numbers x = Everywhere(1000, -5, 70);
  Numbers singles = x;
  for (double& v : singles) v = static_cast<float>(v);
  for (const char* type : {"i8", "i16", "u8", "u16", "i32", "u32", "i64", "u64"}) {
    ExpectSameConversions("f64", {type, "f64"}, x);
    ExpectSameConversions("f32", {type, "f64"}, singles);
  }
}

TEST_F(DeviceFunctions, SpecialFunctions) {
  const std::vector<std::string> everywhere = {"exp",  "exp2", "expm1", "sin",  "cos", "tan",  "atan",    "sinh",
                                               "cosh", "tanh", "asinh", "cbrt", "erf", "erfc", "logistic"};
  const std::vector<std::string> positive = {"log", "log1p", "sqrt", "rsqrt", "lgamma", "digamma"};
  for (const auto& [type, tolerance] : {std::pair("f32", 2e-6), std::pair("f64", 1e-13)}) {
    ExpectSameFunctions(type, everywhere, Between(999, -20, 20), tolerance);
    ExpectSameFunctions(type, positive, Between(999, 0.015625, 64), tolerance);
    ExpectSameFunctions(type, {"asin", "acos", "atanh", "erf_inv"}, Between(511, -0.99609375, 0.99609375), tolerance);
    ExpectSameFunctions(type, {"digamma", "lgamma"}, Between(200, -9.8125, -0.0625), 1e3 * tolerance);
    ExpectSameFunctions(type, {"acosh"}, Between(200, 1, 50), tolerance);
  }
}

TEST_F(DeviceFunctions, OfTwoNumbers) {
  const Numbers x = {0.0, -0.0, 1.5, -2.5, INFINITY, -INFINITY, NAN, 7, -7, 1e-30, 3};
  for (const char* type : {"f32", "f64", "i32", "i64", "u32"}) {
    const bool is_float = type[0] == 'f';
    const std::string shape = std::string(type) + "[11]";
    std::string text = "program f(%x: " + shape + ") {\n  %y: " + shape + " = rev(%x) dimensions=[0]\n", results;
    std::vector<std::string> functions = {"add", "sub", "mul", "div", "rem", "max", "min"};
    if (is_float) functions.insert(functions.end(), {"nextafter", "atan2", "pow"});
    for (const std::string& f : functions) {
      text += "  %" + f + ": " + shape + " = " + f + "(%x, %y)\n";
      results += (results.empty() ? "%" : ", %") + f;
    }
    for (const char* f : {"sign", "neg", "abs"}) {
      if (type[0] == 'u') break;
      text += std::string("  %") + f + ": " + shape + " = " + f + "(%x)\n";
      results += std::string(", %") + f;
    }
    const Numbers whole = {0, 1, 2, 3, 7, 100, 65536, 5, 6, 0, 12};
    runner_.RunEverywhere(runner_.Parse(text + "  return " + results + "\n}"), {is_float ? x : whole}, 2e-6);
  }
}

// Beyond where three parts of pi do.
TEST_F(DeviceFunctions, SinesOfLargeNumbers) {
  Numbers x = {5e6, -5e6, 1e9, 1e15, 1e22, -1e40, 6381956970095103.0 * 0x1p797, 1e300, -1.7e308, 4194305.5, 60001};
  for (int i = 0; i < 300; ++i) x.push_back(std::ldexp(1 + i / 300.0, 23 + 3 * i));
  ExpectSameFunctions("f64", {"sin", "cos", "tan"}, x, 1e-14);
  for (double& v : x) v = static_cast<float>(std::fmod(v, 1e38));
  ExpectSameFunctions("f32", {"sin", "cos"}, x, 1e-6);
  Numbers dense;
  for (int i = 0; i < 4000; ++i) {
    const double v = std::ldexp(1 + std::fmod(0.618034 * i, 1), 16 + i % 112);
    dense.push_back(static_cast<float>(i % 3 == 0 ? -v : v));
  }
  ExpectSameFunctions("f32", {"sin", "cos"}, dense, 1e-6);
}

}}  // namespace ricci::testing
