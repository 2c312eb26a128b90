// Lines that are too long to be counted are sorted by blocks and merged: the same as on `ref`, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cuda/lowering/line_sort.h"
#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class LineSortOnGpu : public ::testing::Test {
 protected:
  LineSortOnGpu() { EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu))); }

  size_t Launches(const Program& f) {
    const std::string plan = runner_.Dump(f, "plan", "cuda");
    size_t n = 0;
    for (size_t at = 0; (at = plan.find(" source ", at)) != plan.npos; ++at) ++n;
    return n;
  }
  // Keys of that type along `dimension`, with the number of each element, which shows that equal keys keep their order.
  void Expect(const std::string& dtype, const std::vector<int64_t>& dims, size_t dimension, const Numbers& keys,
              size_t launches) {
    std::string shape;
    for (int64_t d : dims) shape += (shape.empty() ? "[" : ",") + std::to_string(d);
    shape += "]";
    const std::string axis = std::to_string(dimension), key = dtype + shape, number = "i32" + shape;
    const Program f = runner_.Parse(
        "program f(%x: " + key + ") {\n  %i: " + number + " = iota() dtype=i32 shape=" + shape + " dimension=" + axis +
        "\n  %y: " + key + ", %j: " + number + " = sort(%x, %i) dimension=" + axis + " num_keys=1\n  return %y, %j\n}");
    EXPECT_EQ(Launches(f), launches) << key;
    const auto order = OfStandin<void(uint64_t)>("ricci_standin_seed");
    for (const uint64_t seed : {2, 1}) {
      order(seed);
      runner_.RunEverywhere(f, {keys});
    }
  }

  ProgramRunner runner_;
};

Numbers Shuffled(size_t n, size_t different) {
  Numbers out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<double>((i * 7919 + i / 3) % different) - 40;
  return out;
}

TEST_F(LineSortOnGpu, OneTile) {
  Expect("f32", {49}, 0, Shuffled(49, 17), 1);
  Expect("f32", {3, 300}, 1, Shuffled(900, 100), 1);
  Expect("i32", {300, 3}, 0, Shuffled(900, 100), 1);
  Expect("f64", {2, 70, 2}, 1, Shuffled(280, 30), 1);
  Expect("i64", {2048}, 0, Shuffled(2048, 500), 1);
}

TEST_F(LineSortOnGpu, RunsAreMerged) {
  Expect("f32", {2049}, 0, Shuffled(2049, 900), 2);
  Expect("i32", {2, 5000}, 1, Shuffled(10000, 3000), 3);
  Expect("f64", {9000, 2}, 0, Shuffled(18000, 5000), 4);
  Expect("bool", {4100}, 0, Numbers(4100, 1), 3);
}

TEST_F(LineSortOnGpu, OrderOfUnusualNumbers) {
  Numbers x = Shuffled(5000, 50);
  const double unusual[] = {std::numeric_limits<double>::quiet_NaN(), -0.0, 0.0, INFINITY, -INFINITY, 1e-42, -1e-42};
  for (size_t i = 0; i < x.size(); i += 3) x[i] = unusual[i / 3 % std::size(unusual)];
  Expect("f32", {5000}, 0, x, 3);
  Expect("f64", {5000}, 0, x, 3);
}

TEST_F(LineSortOnGpu, SeveralKeysOfSeveralTypes) {
  const Program f = runner_.Parse(R"(program f(%a: i32[3000], %b: f32[3000], %c: f64[3000]) {
  %h: f16[3000] = convert_element_type(%b) new_dtype=f16
  %e: i8[3000] = convert_element_type(%a) new_dtype=i8
  %i: i32[3000] = iota() dtype=i32 shape=[3000] dimension=0
  %p: i8[3000], %q: f16[3000], %r: f64[3000], %j: i32[3000] = sort(%e, %h, %c, %i) dimension=0 num_keys=3
  %s: i32[3000] = convert_element_type(%p) new_dtype=i32
  %t: f32[3000] = convert_element_type(%q) new_dtype=f32
  return %s, %t, %r, %j
})");
  EXPECT_GT(Launches(f), 1u);
  runner_.RunEverywhere(f, {Shuffled(3000, 3), Shuffled(3000, 5), Shuffled(3000, 4)});
}

// By the real part, then by the imaginary one; of each NaN comes last, and both zeros are one.
// With what aligns the words of a key: a struct of six, three of 8 bytes each after one of 4, has 48.
TEST(LineSortSizes, AKeyIsAsLargeAsTheCompilerMakesIt) {
  for (const auto& [keys, bytes] : {std::pair<std::vector<uint32_t>, int64_t>{
                                        {RICCI_F32, RICCI_F64, RICCI_F32, RICCI_F64, RICCI_F32, RICCI_F64}, 48},
                                    {{RICCI_F64, RICCI_F32}, 16},
                                    {{RICCI_C64}, 8},
                                    {{RICCI_I8, RICCI_C128}, 24}}) {
    cuda::LineSort s;
    s.n = 100000;
    s.dtypes = keys;
    s.keys = keys.size();
    ASSERT_TRUE(cuda::CutLines(s));
    EXPECT_LE(s.tile * (bytes + 2) + 16, 48 << 10);
  }
}

TEST_F(LineSortOnGpu, ComplexKeys) {
  const auto of = [&](const std::string& real, const std::string& number, const std::string& keys) {
    const std::string shape = "[2,3000]", r = real + shape, c = number + shape;
    return runner_.Parse("program f(%x: " + r + ", %y: " + r + ", %k: i32" + shape + ") {\n  %z: " + c +
                         " = complex(%x, %y)\n  %i: i32" + shape + " = iota() dtype=i32 shape=" + shape +
                         " dimension=1\n" + keys + "  %a: " + r + " = real(%s)\n  %b: " + r +
                         " = imag(%s)\n  return %a, %b, %j\n}");
  };
  Numbers x = Shuffled(6000, 7), y = Shuffled(6000, 31);
  const double unusual[] = {std::numeric_limits<double>::quiet_NaN(), -0.0, 0.0, INFINITY, -INFINITY};
  for (size_t i = 0; i < x.size(); i += 3) x[i] = unusual[i / 3 % std::size(unusual)];
  for (size_t i = 0; i < y.size(); i += 4) y[i] = unusual[i / 4 % std::size(unusual)];
  const Numbers k = Shuffled(6000, 3);
  for (const auto& [real, number] : {std::pair("f32", "c64"), std::pair("f64", "c128")}) {
    const std::string c = std::string(number) + "[2,3000]";
    const std::string first = "  %s: " + c + ", %j: i32[2,3000] = sort(%z, %i) dimension=1 num_keys=1\n",
                      second = "  %t: i32[2,3000], %s: " + c +
                               ", %j: i32[2,3000] = sort(%k, %z, %i) dimension=1 num_keys=2\n",
                      passenger = "  %t: i32[2,3000], %s: " + c +
                                  ", %j: i32[2,3000] = sort(%k, %z, %i) dimension=1 num_keys=1\n";
    for (const std::string& keys : {first, second, passenger}) {
      const Program f = of(real, number, keys);
      EXPECT_GT(Launches(f), 1u) << keys;
      runner_.RunEverywhere(f, {x, y, k}, 0);
    }
  }
}

// Short lines are a kernel's, which fuses.
TEST_F(LineSortOnGpu, OthersAreKernels) {
  const Program f = runner_.Parse(
      "program f(%x: f32[4,48]) {\n  %y: f32[4,48] = sort(%x) dimension=1 num_keys=1\n"
      "  return %y\n}");
  EXPECT_EQ(Launches(f), 0u);
  runner_.RunEverywhere(f, {Shuffled(192, 50)});
}

// The greatest elements of a long line are the end of a sort.
TEST_F(LineSortOnGpu, TopOfLongLines) {
  const Program f = runner_.Parse(
      "program f(%x: f32[2,3000]) {\n  %y: f32[2,5], %i: i32[2,5] = top_k(%x) k=5 axis=1\n"
      "  return %y, %i\n}");
  EXPECT_EQ(Launches(f), 2u);
  runner_.RunEverywhere(f, {Shuffled(6000, 4001)});
}

}}  // namespace ricci::testing
