// Which reductions beside each other are one kernel, and that their results stay the same. Other rows are in
// merge_groups_test.cc.
#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

using RowChoice = LoweredProgram;

// Of %x and of what `body` makes of it, %y, along the first dimension, or along all but it.
std::string Beside(const std::string& shape, const std::string& body, bool along_first) {
  const size_t comma = shape.find(',');
  const auto dims = std::count(shape.begin(), shape.end(), ',');
  std::string rest = along_first ? shape.substr(comma + 1) : shape.substr(0, comma), axes = along_first ? "0" : "1";
  for (auto d = 2; d <= dims && !along_first; ++d) axes += "," + std::to_string(d);
  return base::Cat("program f(%x: f32[", shape, "]) {\n", body, "  %m: f32[", rest, "] = reduce_max(%x) axes=[", axes,
                   "]\n  %s: f32[", rest, "] = reduce_sum(%y) axes=[", axes, "]\n  return %m, %s }");
}
std::string Squares(const std::string& shape) { return base::Cat("  %y: f32[", shape, "] = mul(%x, %x)\n"); }

// However few or long the rows are, and wherever their dimensions are in the array: one kernel reads it once.
TEST_F(RowChoice, ReductionsBesideEachOtherAreOneKernelWhereManyPointsRun) {
  for (const std::string shape : {"3,40000", "40000,3", "64,1024", "3,20,20,20"}) {
    for (const bool along_first : {false, true}) {
      const std::string text = Beside(shape, Squares(shape), along_first);
      EXPECT_EQ(Lower(text, OfManyPoints())->kernels.size(), 1u) << text;
    }
  }
  for (const bool along_first : {false, true}) {
    ExpectSameAsReference(Beside("5,33", Squares("5,33"), along_first), 2e-5, OfManyPoints());
  }
}

// There a loop of its own reads the array for each of them.
TEST_F(RowChoice, OfFewLongRowsOrColumnsTheyStayApartOnProcessors) {
  EXPECT_EQ(Lower(Beside("3,40000", Squares("3,40000"), /*along_first=*/false))->kernels.size(), 2u);
  EXPECT_EQ(Lower(Beside("300,400", Squares("300,400"), /*along_first=*/true))->kernels.size(), 2u);
  EXPECT_EQ(Lower(Beside("64,1024", Squares("64,1024"), /*along_first=*/false))->kernels.size(), 1u);
}

// Channels: their dimension is the second one.
TEST_F(RowChoice, ReductionsOfChannelsBesideEachOther) {
  constexpr char kText[] = R"(program f(%x: f32[4,3,20,30], %w: f32[4,3,20,30]) {
  %y: f32[4,3,20,30] = mul(%x, %w)
  %s: f32[3] = reduce_sum(%w) axes=[0,2,3]
  %t: f32[3] = reduce_sum(%y) axes=[0,2,3]
  return %s, %t })";
  EXPECT_EQ(Lower(kText, OfManyPoints())->kernels.size(), 1u);
  EXPECT_EQ(Lower(kText)->kernels.size(), 2u);
  ExpectSameAsReference(kText, 1e-4, OfManyPoints());
}

// A row of what is expensive would be kept by each point, which is too much of a long one.
TEST_F(RowChoice, WhatIsExpensiveIsNotKeptForLongRowsBesideEachOther) {
  pass::Options options = OfManyPoints();
  ricci_target numbers = options.target.numbers;
  numbers.lanes = 32;
  numbers.near_bytes = 512;
  numbers.cache_bytes = 32 << 20;
  numbers.cached_bytes_per_cycle = 16384;
  numbers.memory_bytes_per_cycle = 8192;
  options.target = pass::Target("ref", numbers);
  const auto kernels = [&](const std::string& shape, int depth) {
    std::string text = base::Cat("program f(%x: f32[", shape, "]) {\n");
    for (int i = 0; i < depth; ++i)
      text += base::Cat("  %e", i, ": f32[", shape, "] = exp(%", i == 0 ? "x" : base::Cat("e", i - 1), ")\n");
    const std::string rows = shape.substr(0, shape.find(',')), e = base::Cat("%e", depth - 1);
    text += base::Cat("  %m: f32[", rows, "] = reduce_max(", e, ") axes=[1]\n  %y: f32[", shape, "] = mul(", e,
                      ", %x)\n  %s: f32[", rows, "] = reduce_sum(%y) axes=[1]\n  return %m, %s }");
    return Lower(text, options)->kernels.size();
  };
  EXPECT_EQ(kernels("3,40000", 1), 1u);
  EXPECT_EQ(kernels("3,40000", 3), 2u);
  EXPECT_EQ(kernels("4096,512", 3), 1u);
}

// Of columns, for each of which a block of threads has shared memory.
TEST_F(RowChoice, AKernelHasEightReductionsBesideEachOther) {
  for (const auto& [n, kernels] : {std::pair<int, size_t>{8, 1}, {9, 2}}) {
    std::string text = "program f(%x: f32[300,400]) {\n", results;
    for (int i = 0; i < n; ++i) {
      text += base::Cat("  %c", i, ": f32[300,400] = constant ", i + 2, ".0\n  %y", i, ": f32[300,400] = mul(%x, %c", i,
                        ")\n  %s", i, ": f32[400] = reduce_max(%y", i, ") axes=[0]\n");
      results += (i == 0 ? "%s" : ", %s") + std::to_string(i);
    }
    EXPECT_EQ(Lower(text + "  return " + results + " }", OfManyPoints())->kernels.size(), kernels);
  }
}

// One that needs the result of another is not beside it, and what is written elsewhere keeps its own kernel.
TEST_F(RowChoice, WhatIsNotBesideEachOtherStaysApart) {
  constexpr char kNeeds[] = R"(program f(%x: f32[3,40000]) {
  %m: f32[3] = reduce_max(%x) axes=[1]
  %b: f32[3,40000] = broadcast_in_dim(%m) shape=[3,40000] broadcast_dimensions=[0]
  %y: f32[3,40000] = sub(%x, %b)
  %s: f32[3] = reduce_sum(%y) axes=[1]
  return %m, %s })";
  constexpr char kTransposed[] = R"(program f(%x: f32[600,500]) {
  %s: f32[500] = reduce_sum(%x) axes=[0]
  %t: f32[500,600] = transpose(%x) permutation=[1,0]
  %e: f32[500,600] = exp(%t)
  return %s, %e })";
  for (const char* text : {kNeeds, kTransposed}) EXPECT_EQ(Lower(text, OfManyPoints())->kernels.size(), 2u) << text;
}

}  // namespace
}  // namespace ricci::testing
