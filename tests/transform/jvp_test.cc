// jvp: which results have tangents, what a zero tangent costs, and how often a shared program is differentiated.
#include "transform/jvp.h"

#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

class Jvp : public TransformTest {
 protected:
  transform::JvpProgram Of(std::string_view text, const Mask& active, const Mask& instantiate = {}) {
    return Get(transform::Jvp(*Parse(text), active, instantiate));
  }
};

TEST_F(Jvp, TangentsFollowParametersAndResults) {
  const auto jvp = Of(R"(
program f(%x: f64[], %y: f64[]) {
  %s: f64[] = sin(%x)
  %p: f64[] = mul(%s, %y)
  return %p, %s
})",
                      {1, 1});
  EXPECT_EQ(jvp.nonzero, (Mask{1, 1}));
  ASSERT_EQ(jvp.program->n_params(), 4u);
  ASSERT_EQ(jvp.program->n_results(), 4u);
  const double x = 0.3, y = 2, dx = 5, dy = 7;
  const auto got = Run(jvp.program, {{x}, {y}, {dx}, {dy}});
  ExpectNear(got[0], {std::sin(x) * y}, 1e-15);
  ExpectNear(got[1], {std::sin(x)}, 1e-15);
  ExpectNear(got[2], {std::cos(x) * dx * y + std::sin(x) * dy}, 1e-15);
  ExpectNear(got[3], {std::cos(x) * dx}, 1e-15);
}

TEST_F(Jvp, AnEquationWithoutATangentIsOnlyCopied) {
  const auto jvp = Of(R"(
program f(%x: f64[], %y: f64[]) {
  %s: f64[] = sin(%y)
  %p: f64[] = mul(%s, %x)
  return %p
})",
                      {1, 0});
  EXPECT_EQ(Text(jvp.program), R"(
program f(%0: f64[], %1: f64[], %2: f64[]) {
  %3: f64[] = sin(%1)
  %4: f64[] = mul(%3, %0)
  %5: f64[] = mul(%3, %2)
  return %4, %5
})");
}

// So a row needs a rule only where it gets a tangent.
TEST_F(Jvp, ARowWithoutARuleIsFineWithoutTangents) {
  AddRow("test.bare");
  constexpr std::string_view kText = R"(
program f(%x: f64[], %y: f64[]) {
  %s: f64[] = test.bare(%y)
  %p: f64[] = mul(%s, %x)
  return %p
})";
  EXPECT_EQ(Prims(Of(kText, {1, 0}).program), "test.bare mul mul");
  EXPECT_EQ(ErrorOf(transform::Jvp(*Parse(kText), Mask{0, 1}), absl::StatusCode::kUnimplemented),
            "test.bare: no jvp rule");
}

TEST_F(Jvp, NothingActiveIsACopy) {
  const ir::ProgramRef f = Parse(
      "program f(%x: f64[]) {\n  %c: f64[] = constant 2.0\n  %s: f64[] = mul(%x, %c)\n"
      "  return %s\n}");
  const auto jvp = Get(transform::Jvp(*f, Mask{0}));
  EXPECT_EQ(jvp.nonzero, Mask{0});
  EXPECT_EQ(Text(jvp.program), Text(f));
}

TEST_F(Jvp, WhatIsZeroHasNoTangent) {
  constexpr std::string_view kText = R"(
program f(%x: f64[], %y: f64[]) {
  %c: f64[] = constant 3.0
  %stop: f64[] = stop_gradient(%x)
  %large: bool[] = gt(%x, %y)
  %n: i32[] = convert_element_type(%x) new_dtype=i32
  %s: f64[] = add(%x, %c)
  return %y, %c, %stop, %large, %n, %s
})";
  const auto jvp = Of(kText, {1, 0});
  EXPECT_EQ(jvp.nonzero, (Mask{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(jvp.program->n_results(), 7u);
  EXPECT_EQ(Run(jvp.program, {{1.5}, {1}, {4}}), (std::vector<Numbers>{{1}, {3}, {1.5}, {1}, {1}, {4.5}, {4}}));
  // Instantiated: zeros for all that may have a tangent, never for integers and flags.
  const auto all = Of(kText, {1, 0}, {1, 1, 1, 1, 1, 1});
  EXPECT_EQ(all.nonzero, (Mask{1, 1, 1, 0, 0, 1}));
  EXPECT_EQ(Run(all.program, {{1.5}, {1}, {4}}),
            (std::vector<Numbers>{{1}, {3}, {1.5}, {1}, {1}, {4.5}, {0}, {0}, {0}, {4}}));
}

TEST_F(Jvp, OnlyAskedForZerosAreInstantiated) {
  const auto jvp = Of("program f(%x: f64[], %y: f64[]) {\n  return %y, %y, %x\n}", {1, 0}, {0, 1, 0});
  EXPECT_EQ(jvp.nonzero, (Mask{0, 1, 1}));
  EXPECT_EQ(Text(jvp.program), R"(
program f(%0: f64[], %1: f64[], %2: f64[]) {
  %3: f64[] = constant 0.0
  return %1, %1, %0, %3, %2
})");
}

// What no result needs is differentiated too (a pass removes it), but it never adds a result.
TEST_F(Jvp, DeadEquationsGiveNoResults) {
  const auto jvp = Of(R"(
program f(%x: f64[]) {
  %dead: f64[] = sin(%x)
  %more: f64[] = mul(%dead, %dead)
  return %x
})",
                      {1});
  EXPECT_EQ(jvp.nonzero, Mask{1});
  EXPECT_EQ(jvp.program->n_results(), 2u);
  EXPECT_EQ(Run(jvp.program, {{2}, {3}}), (std::vector<Numbers>{{2}, {3}}));
}

// A linear row is its own derivative: zeros are put where only one of its operands has a tangent.
TEST_F(Jvp, ALinearRowGetsZerosForOperandsWithoutTangent) {
  const auto jvp = Of(R"(
program f(%x: f64[1], %y: f64[2]) {
  %c: f64[3] = concatenate(%x, %y) dimension=0
  return %c
})",
                      {0, 1});
  EXPECT_EQ(Run(jvp.program, {{1}, {2, 3}, {4, 5}}), (std::vector<Numbers>{{1, 2, 3}, {0, 4, 5}}));
}

TEST_F(Jvp, AProgramHeldTwiceIsDifferentiatedOnce) {
  const ir::ProgramRef held = Parse("program g(%x: f64[]) {\n  %s: f64[] = sin(%x)\n  return %s\n}");
  const ir::ProgramRef f = Calls(held, 4);
  const uint64_t before = Uses("sin", prim::Rule::kJvp);
  const auto jvp = Get(transform::Jvp(*f, Mask{1}));
  EXPECT_EQ(Uses("sin", prim::Rule::kJvp) - before, 1u);
  EXPECT_EQ(Uses("call", prim::Rule::kJvp), 4u);
  ASSERT_EQ(jvp.program->equations.size(), 4u);
  for (size_t e = 1; e < 4; ++e) EXPECT_EQ(Held(jvp.program, e), Held(jvp.program, 0));
  // Another set of active parameters is another program; after the transform nothing is remembered.
  Get(transform::Jvp(*f, Mask{1}));
  EXPECT_EQ(Uses("sin", prim::Rule::kJvp) - before, 2u);
}

TEST_F(Jvp, ALongChainNeedsNoDeepStack) {
  constexpr int kLong = 100'000;
  const auto jvp = Get(transform::Jvp(*Chain("neg", kLong), Mask{1}));
  EXPECT_EQ(jvp.program->equations.size(), size_t{2 * kLong});
}

TEST_F(Jvp, WrongParametersAreNamed) {
  const ir::ProgramRef f = Parse("program f(%n: i32[2], %x: f64[]) {\n  return %x\n}");
  EXPECT_EQ(ErrorOf(transform::Jvp(*f, Mask{1})), "jvp: program f has 2 parameters, not 1");
  EXPECT_EQ(ErrorOf(transform::Jvp(*f, Mask{1, 1})),
            "jvp: parameter 0 of program f is i32[2]: only floating types have tangents");
}

}  // namespace
}  // namespace ricci::testing
