// Which factors of a product are computed by the product itself (src/pass/cost/factor_cost.h), and which are stored
// first.
#include "pass/cost/factor_cost.h"

#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

class ProductFactors : public LoweredProgram {
 protected:
  static pass::Options OfManyPoints() {
    ricci_target numbers = pass::TypicalTarget();
    numbers.points_wanted = 1 << 16;
    numbers.cached_bytes_per_cycle = 16384;
    numbers.memory_bytes_per_cycle = 8192;
    numbers.launch_cycles = 4000;
    pass::Options options;
    options.target = pass::Target("ref", numbers);
    return options;
  }
  // The kernels of a product of x [1024,1024] and w [1024, columns], which `body` makes of `parameters`.
  std::string Of(const std::string& parameters, std::string body, int columns = 4096) {
    std::string text = "program f(" + parameters + ") {\n" + body +
                       "  %z: f32[1024,N] = dot_general(%x, %w) lhs_contract=[1] rhs_contract=[0] "
                       "preferred_element_type=f32\n  return %z }";
    for (size_t at = 0; (at = text.find('N', at)) != text.npos;) text.replace(at, 1, std::to_string(columns));
    return Kernels(*Lower(text, OfManyPoints()));
  }
  static size_t Count(const std::string& kernels) {
    return 1 + static_cast<size_t>(std::count(kernels.begin(), kernels.end(), ' '));
  }
};

TEST_F(ProductFactors, WeightsInFewerBitsAreNotStored) {
  EXPECT_EQ(Count(Of("%x: bf16[1024,1024], %q: i8[1024,N], %s: bf16[N]",
                     "  %a: bf16[1024,N] = convert_element_type(%q) new_dtype=bf16\n"
                     "  %b: bf16[1024,N] = broadcast_in_dim(%s) shape=[1024,N] broadcast_dimensions=[1]\n"
                     "  %w: bf16[1024,N] = mul(%a, %b)\n")),
            1u);
}

TEST_F(ProductFactors, AScaleIsNotStored) {
  EXPECT_EQ(Count(Of("%x: f32[1024,1024], %v: f32[1024,N], %s: f32[N]",
                     "  %b: f32[1024,N] = broadcast_in_dim(%s) shape=[1024,N] broadcast_dimensions=[1]\n"
                     "  %w: f32[1024,N] = mul(%v, %b)\n")),
            1u);
}

// Each tile would read twice as many bytes: only few do.
TEST_F(ProductFactors, ACastToFewerBitsIsStoredForManyColumns) {
  const char* cast = "  %x: bf16[1024,1024] = convert_element_type(%a) new_dtype=bf16\n";
  EXPECT_EQ(Count(Of("%a: f32[1024,1024], %w: bf16[1024,N]", cast, 256)), 1u);
  EXPECT_EQ(Count(Of("%a: f32[1024,1024], %w: bf16[1024,N]", cast, 8192)), 2u);
}

TEST_F(ProductFactors, WhatTakesLongIsStored) {
  // As often as if it were stored, or 32 times.
  EXPECT_EQ(Count(Of("%a: f32[1024,1024], %w: f32[1024,N]", "  %x: f32[1024,1024] = exp(%a)\n", 128)), 1u);
  EXPECT_EQ(Count(Of("%a: f32[1024,1024], %w: f32[1024,N]", "  %x: f32[1024,1024] = exp(%a)\n", 4096)), 2u);
  // Up to 16 operations for both factors of f32, however they are spread.
  const auto sums = [](int n, const std::string& from, const std::string& to) {
    std::string text, last = from;
    for (int i = 0; i < n; ++i) {
      const std::string next = i + 1 == n ? to : to + std::to_string(i);
      text += "  %" + next + ": f32[1024,1024] = mul(%" + last + ", %" + from + ")\n";
      last = next;
    }
    return text;
  };
  const std::string two = "%a: f32[1024,1024], %b: f32[1024,1024]";
  EXPECT_EQ(Count(Of(two, sums(8, "a", "x") + sums(8, "b", "w"), 1024)), 1u);
  EXPECT_EQ(Count(Of(two, sums(12, "a", "x") + sums(12, "b", "w"), 1024)), 2u);
  EXPECT_EQ(Count(Of(two, sums(40, "a", "x") + sums(1, "b", "w"), 1024)), 2u);
}

// The activation of a layer is part of that layer's product, and is computed once.
TEST_F(ProductFactors, WhatAKernelComputesAnywayIsNoFactor) {
  const std::string kernels = Of("%y: f32[1024,512], %v: f32[512,1024], %w: f32[1024,N]",
                                 "  %a: f32[1024,1024] = dot_general(%y, %v) lhs_contract=[1] rhs_contract=[0]\n"
                                 "  %zero: f32[1024,1024] = constant 0\n  %x: f32[1024,1024] = max(%a, %zero)\n");
  EXPECT_EQ(kernels, "fusion_dot_general_max[1024,1024] dot_general[1024,4096]");
}

TEST_F(ProductFactors, AProcessorStoresThem) {
  constexpr char kText[] = R"(program f(%a: f32[64,48], %w: f32[48,32], %s: f32[64]) {
  %b: f32[64,48] = broadcast_in_dim(%s) shape=[64,48] broadcast_dimensions=[0]
  %x: f32[64,48] = mul(%a, %b)
  %z: f32[64,32] = dot_general(%x, %w) lhs_contract=[1] rhs_contract=[0]
  return %z })";
  const auto many = Lower(kText, OfManyPoints()), few = Lower(kText);
  EXPECT_EQ(Count(Kernels(*many)), 1u);
  EXPECT_EQ(Count(Kernels(*few)), 2u);
  EXPECT_EQ(Run(*many), Run(*few));
}

// Loops other than products, and windows, read stored values.
TEST_F(ProductFactors, OnlyOfProducts) {
  constexpr char kWindows[] = R"(program f(%a: f32[8,16,32,32], %w: f32[16,16,3,3]) {
  %x: f32[8,16,32,32] = neg(%a)
  %z: f32[8,16,30,30] = conv_general_dilated(%x, %w) window_strides=[1,1] padding=[0,0,0,0]
  return %z })";
  EXPECT_EQ(Count(Kernels(*Lower(kWindows, OfManyPoints()))), 2u);
}

TEST_F(ProductFactors, PaysAsItsFormulaSays) {
  ricci_target t = pass::TypicalTarget();
  t.points_wanted = 1000;
  t.cached_bytes_per_cycle = 200;
  t.memory_bytes_per_cycle = 100;
  t.launch_cycles = 10;
  // Stored: 2 x 4 / 100 + 10 / 1000 = 0.09 cycles for an element. Each time 1 / 1000 for its operation.
  pass::FactorWork work{.times = 90, .elements = 1000, .bytes = 4, .read_bytes = 4, .operations = 1};
  EXPECT_TRUE(pass::PaysInProduct(work, t));
  work.times = 91;
  EXPECT_FALSE(pass::PaysInProduct(work, t));
  work.read_bytes = 3;
  EXPECT_TRUE(pass::PaysInProduct(work, t));
  work.read_bytes = 8;
  work.times = 5;
  EXPECT_FALSE(pass::PaysInProduct(work, t));
}

}}  // namespace ricci::testing
