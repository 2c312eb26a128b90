// Scalar equations become few kernels: what is merged, what keeps groups apart, and that values stay the same.
#include <random>

#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

using MergeScalars = LoweredProgram;

// `n` scalar operations, most of them read several times; the last `n_results` are the results.
std::string Chain(size_t n, size_t n_results) {
  std::mt19937 random(7);
  std::vector<std::string> values = {"%x", "%y"};
  std::string text = "program f(%x: f32[], %y: f32[]) {\n";
  for (size_t i = 0; i < n; ++i) {
    constexpr const char* kOps[] = {"add", "mul", "sub"};
    const std::string name = "%v" + std::to_string(i), last = values.back();
    const std::string other = values[values.size() - 1 - random() % std::min<size_t>(values.size(), 9)];
    const bool sine = i % 4 == 0;
    text +=
        " " + name + ": f32[] = " + (sine ? "sin(" + last : kOps[random() % 3] + ("(" + last + ", " + other)) + ")\n";
    values.push_back(name);
  }
  text += " return ";
  for (size_t i = 0; i < n_results; ++i) text += (i == 0 ? "" : ", ") + values[values.size() - 1 - i];
  return text + " }";
}

TEST_F(MergeScalars, AThousandEquationsAreOneKernel) {
  EXPECT_EQ(Lower(Chain(1000, 1))->kernels.size(), 1u);
  EXPECT_EQ(Lower(Chain(1000, 40))->kernels.size(), 1u);
  EXPECT_LE(Lower(Chain(10000, 40))->kernels.size(), 20u);
  ExpectSameAsReference(Chain(300, 20));
}

TEST_F(MergeScalars, IndependentResultsAreOneKernel) {
  const auto l = Lower(R"(program f(%x: f32[], %y: f32[]) {
  %a: f32[] = sin(%x)
  %b: f32[] = exp(%y)
  %c: f32[] = cos(%y)
  return %a, %b, %c })");
  EXPECT_EQ(l->kernels.size(), 1u);
  EXPECT_EQ(l->plan.steps.size(), 1u);
}

// The sum waits for %s, and %r for the sum, so %s and %r cannot be one kernel. %q reads none of these and joins %s.
constexpr char kBetween[] = R"(program f(%x: f32[], %v: f32[100]) {
  %s: f32[] = sin(%x)
  %b: f32[100] = broadcast_in_dim(%s) shape=[100] broadcast_dimensions=[]
  %m: f32[100] = mul(%v, %b)
  %t: f32[] = reduce_sum(%m) axes=[0]
  %r: f32[] = sin(%t)
  %q: f32[] = cos(%x)
  return %s, %r, %q })";

TEST_F(MergeScalars, ArraysBetweenKeepGroupsApart) {
  const auto l = Lower(kBetween);
  EXPECT_EQ(l->kernels.size(), 3u) << Kernels(*l);
  ExpectSameAsReference(kBetween);
}

// Nothing waits for %s before the end, so it runs beside %r.
TEST_F(MergeScalars, AGroupThatNobodyWaitsForRunsLater) {
  constexpr char kText[] = R"(program f(%x: f32[], %v: f32[100]) {
  %s: f32[] = sin(%x)
  %t: f32[] = reduce_sum(%v) axes=[0]
  %r: f32[] = mul(%t, %s)
  %q: f32[] = sin(%r)
  return %s, %r, %q })";
  const auto l = Lower(kText);
  EXPECT_EQ(l->kernels.size(), 2u) << Kernels(*l);
  ExpectSameAsReference(kText);
}

// Random programs of scalars and small arrays: the groups found are correct.
TEST_F(MergeScalars, RandomProgramsComputeTheSame) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::string> scalars = {"%x"}, arrays = {"%v"};
    const auto any = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
    std::string text = "program f(%x: f32[], %v: f32[40]) {\n";
    for (int i = 0; i < 40; ++i) {
      const std::string name = "%v" + std::to_string(i), x = any(scalars), v = any(arrays);
      const uint32_t kind = random() % 8;
      if (kind < 4) {
        text += name + ": f32[] = " +
                (kind == 0   ? "sin(" + x
                 : kind == 1 ? "tanh(" + x
                             : "sub(" + x + ", " + any(scalars));
      } else if (kind == 4) {
        text += name + ": f32[] = reduce_max(" + v + ") axes=[0";
      } else if (kind == 5) {
        text += name + ": f32[40] = broadcast_in_dim(" + x + ") shape=[40] broadcast_dimensions=[";
      } else {
        text += name + ": f32[40] = " + (kind == 6 ? "sin(" + v : "mul(" + v + ", " + any(arrays));
      }
      text += kind == 4 || kind == 5 ? "]\n" : ")\n";
      (kind <= 4 ? scalars : arrays).push_back(name);
    }
    text += " return " + any(scalars) + ", " + any(scalars) + ", " + any(arrays) + ", " + scalars.back() + " }";
    ExpectSameAsReference(text);
  }
}

}  // namespace
}  // namespace ricci::testing
