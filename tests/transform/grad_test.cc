// grad and vjp: gradients in the order of the arguments, auxiliary results, residuals, and the programs that stay.
#include "transform/grad.h"

#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

class GradTest : public TransformTest {
 protected:
  ir::ProgramRef Of(std::string_view text, const std::vector<uint32_t>& argnums, bool with_value = false) {
    return Get(transform::Grad(*Parse(text), argnums, with_value));
  }
  std::string Refused(std::string_view text, const std::vector<uint32_t>& argnums) {
    return ErrorOf(transform::Grad(*Parse(text), argnums, false));
  }
};

constexpr std::string_view kText = R"(
program f(%x: f64[], %n: i32[], %y: f64[]) {
  %s: f64[] = sin(%x)
  %p: f64[] = mul(%s, %y)
  %aux: f64[] = exp(%p)
  return %p, %aux, %n
})";

TEST_F(GradTest, GradientsAreInTheOrderOfTheArguments) {
  const double x = 0.3, y = 2;
  const Numbers by_x = {std::cos(x) * y}, by_y = {std::sin(x)};
  const auto both = Run(Of(kText, {2, 0, 2}), {{x}, {1}, {y}});
  ASSERT_EQ(both.size(), 3u);
  ExpectNear(both[0], by_y, 1e-15);
  ExpectNear(both[1], by_x, 1e-15);
  ExpectNear(both[2], by_y, 1e-15);
}

TEST_F(GradTest, WithTheValueComeAllResults) {
  const ir::ProgramRef g = Of(kText, {0}, /*with_value=*/true);
  const double x = 0.3, y = 2, p = std::sin(x) * y;
  const auto got = Run(g, {{x}, {7}, {y}});
  ASSERT_EQ(got.size(), 4u);
  ExpectNear(got[0], {p}, 1e-15);
  ExpectNear(got[1], {std::exp(p)}, 1e-15);
  EXPECT_EQ(got[2], Numbers{7});
  ExpectNear(got[3], {std::cos(x) * y}, 1e-15);
}

// The gradient by y is sin(x): nothing else is left of the program, but all its parameters are.
TEST_F(GradTest, WhatOnlyTheValueNeedsIsRemoved) {
  EXPECT_EQ(Text(Of("program f(%x: f64[], %y: f64[]) {\n  %s: f64[] = sin(%x)\n  %p: f64[] = mul(%s, %y)\n"
                    "  return %p\n}",
                    {1})),
            R"(
program f(%0: f64[], %1: f64[]) {
  %2: f64[] = constant 1.0
  %3: f64[] = sin(%0)
  %4: f64[] = mul(%3, %2)
  return %4
})");
}

TEST_F(GradTest, OfAConstantIsZero) {
  const ir::ProgramRef g = Of("program f(%x: f64[3], %y: f64[]) {\n  return %y\n}", {0});
  EXPECT_EQ(Run(g, {{1, 2, 3}, {4}})[0], (Numbers{0, 0, 0}));
}

TEST_F(GradTest, RefusesWhatHasNoGradient) {
  EXPECT_EQ(Refused("program f(%x: f64[]) {\n  return\n}", {0}), "grad: program f has no result");
  EXPECT_EQ(Refused("program f(%x: f64[2]) {\n  return %x\n}", {0}),
            "grad: result 0 of program f is f64[2], not a floating scalar");
  EXPECT_EQ(Refused("program f(%x: c64[]) {\n  return %x\n}", {0}),
            "grad: result 0 of program f is c64[], not a floating scalar; take its real or imaginary part, or use vjp");
  EXPECT_EQ(Refused(kText, {3}), "grad: argument 3 of program f with 3 parameters");
  EXPECT_EQ(Refused(kText, {1}), "grad: argument 1 of program f is i32[]: only floating types have gradients");
}

class Vjp : public TransformTest {
 protected:
  transform::VjpPrograms Of(std::string_view text, const Mask& wanted) {
    return Get(transform::Vjp(*Parse(text), wanted));
  }
  // Cotangents of the wanted parameters.
  std::vector<Numbers> RunBoth(const transform::VjpPrograms& v, const std::vector<Numbers>& args,
                               const std::vector<Numbers>& cts) {
    std::vector<Numbers> forward = Run(v.fwd, args);
    std::vector<Numbers> in(forward.end() - v.n_residuals, forward.end());
    in.insert(in.end(), cts.begin(), cts.end());
    return Run(v.bwd, in);
  }
};

TEST_F(Vjp, ResidualsConnectBothHalves) {
  const auto v = Of(kText, {1, 0, 1});
  EXPECT_EQ(v.fwd->n_params(), 3u);
  EXPECT_EQ(v.fwd->n_results(), 3 + v.n_residuals);
  EXPECT_EQ(v.bwd->n_params(), v.n_residuals + 2) << "an integer result has no cotangent";
  const double x = 0.3, y = 2, p = std::sin(x) * y, ct = 3 + 5 * std::exp(p);
  const auto got = RunBoth(v, {{x}, {7}, {y}}, {{3}, {5}});
  ASSERT_EQ(got.size(), 2u);
  ExpectNear(got[0], {ct * std::cos(x) * y}, 1e-14);
  ExpectNear(got[1], {ct * std::sin(x)}, 1e-14);
}

// The caller passes a cotangent for each floating result; where the tangent is zero it is not read.
TEST_F(Vjp, ACotangentOfAResultWithoutTangentIsAccepted) {
  const auto v = Of(R"(
program f(%x: f64[], %y: f64[]) {
  %z: f64[] = stop_gradient(%x)
  %s: f64[] = neg(%x)
  return %z, %y, %s
})",
                    {1, 0});
  EXPECT_EQ(v.n_residuals, 0u);
  EXPECT_EQ(v.bwd->n_params(), 3u);
  EXPECT_EQ(RunBoth(v, {{1}, {2}}, {{10}, {20}, {30}}), (std::vector<Numbers>{{-30}}));
}

TEST_F(Vjp, ALinearProgramHasNoResiduals) {
  const auto v = Of("program f(%x: f64[3]) {\n  %s: f64[] = reduce_sum(%x) axes=[0]\n  return %s\n}", {1});
  EXPECT_EQ(v.n_residuals, 0u);
  EXPECT_EQ(RunBoth(v, {{1, 2, 3}}, {{4}}), (std::vector<Numbers>{{4, 4, 4}}));
}

TEST_F(Vjp, WithoutResultsGivesZeros) {
  const auto v = Of("program f(%x: f64[2]) {\n  return\n}", {1});
  EXPECT_EQ(RunBoth(v, {{1, 2}}, {}), (std::vector<Numbers>{{0, 0}}));
}

}  // namespace
}  // namespace ricci::testing
