// transpose: cotangents of the linear parameters, sums of what is used twice, zeros that are left out, and how often a
// shared program is transposed.
#include "transform/transpose.h"

#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

class Transpose : public TransformTest {
 protected:
  transform::TransposeProgram Of(std::string_view text, const Mask& linear, const Mask& ct_nonzero = {},
                                 bool instantiate = false) {
    return Get(transform::Transpose(*Parse(text), linear, ct_nonzero, instantiate));
  }
};

TEST_F(Transpose, NonLinearParametersComeFirstAndTheirEquationsAreCopied) {
  const auto t = Of(R"(
program f(%x: f64[], %a: f64[]) {
  %s: f64[] = sin(%a)
  %p: f64[] = mul(%x, %s)
  return %p
})",
                    {1, 0});
  EXPECT_EQ(t.nonzero, (Mask{1, 0}));
  EXPECT_EQ(Text(t.program), R"(
program f(%0: f64[], %1: f64[]) {
  %2: f64[] = sin(%0)
  %3: f64[] = mul(%1, %2)
  return %3
})");
}

TEST_F(Transpose, TheCotangentsOfAValueUsedTwiceAreSummed) {
  const auto t = Of(R"(
program f(%a: f64[], %b: f64[], %x: f64[]) {
  %p: f64[] = mul(%x, %a)
  %q: f64[] = mul(%b, %x)
  return %p, %q, %x
})",
                    {0, 0, 1});
  EXPECT_EQ(Run(t.program, {{2}, {3}, {10}, {100}, {1000}}), (std::vector<Numbers>{{20 + 300 + 1000}}));
}

TEST_F(Transpose, OneEquationMayUseAValueTwice) {
  const auto t = Of("program f(%x: f64[]) {\n  %s: f64[] = add(%x, %x)\n  return %s, %s\n}", {1});
  EXPECT_EQ(Text(t.program), R"(
program f(%0: f64[], %1: f64[]) {
  %2: f64[] = add(%0, %1)
  %3: f64[] = add(%2, %2)
  return %3
})");
}

// <A x, y> = <x, A^T y> for a map of two arrays to two arrays.
TEST_F(Transpose, IsTheAdjoint) {
  constexpr std::string_view kText = R"(
program f(%w: f64[2,3], %x: f64[3], %z: f64[2]) {
  %p: f64[2] = dot_general(%w, %x) lhs_contract=[1] rhs_contract=[0]
  %s: f64[2] = sub(%p, %z)
  %c: f64[4] = concatenate(%s, %z) dimension=0
  %r: f64[] = reduce_sum(%x) axes=[0]
  return %c, %r
})";
  const Numbers w = {1, -2, 3, 0.5, 4, -1}, x = {1, 2, -3}, z = {5, 7}, y = {2, -1, 3, 4}, u = {6};
  const auto forward = Run(Parse(kText), {w, x, z});
  const auto t = Of(kText, {0, 1, 1});
  EXPECT_EQ(t.nonzero, (Mask{0, 1, 1}));
  const auto back = Run(t.program, {w, y, u});
  const auto dot = [](const Numbers& a, const Numbers& b) {
    double sum = 0;
    for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  EXPECT_DOUBLE_EQ(dot(forward[0], y) + dot(forward[1], u), dot(x, back[0]) + dot(z, back[1]));
}

constexpr std::string_view kTwoChains = R"(
program f(%x: f64[], %y: f64[], %n: f64[]) {
  %p: f64[] = neg(%x)
  %q: f64[] = mul(%y, %n)
  return %p, %q
})";

TEST_F(Transpose, AResultWithoutCotangentIsNotWalked) {
  const auto t = Of(kTwoChains, {1, 1, 0}, {1, 0});
  EXPECT_EQ(t.nonzero, (Mask{1, 0, 0})) << "only what a cotangent reaches";
  EXPECT_EQ(Text(t.program), R"(
program f(%0: f64[], %1: f64[]) {
  %2: f64[] = neg(%1)
  return %2
})");
}

TEST_F(Transpose, ZerosAreInstantiatedForLinearParametersOnly) {
  const auto t = Of(kTwoChains, {1, 1, 0}, {1, 0}, /*instantiate=*/true);
  EXPECT_EQ(t.nonzero, (Mask{1, 1, 0}));
  EXPECT_EQ(Run(t.program, {{3}, {5}}), (std::vector<Numbers>{{-5}, {0}}));
}

TEST_F(Transpose, NoMaskMeansEveryResultHasACotangent) {
  const auto t = Of(kTwoChains, {1, 1, 0});
  EXPECT_EQ(t.nonzero, (Mask{1, 1, 0}));
  EXPECT_EQ(Run(t.program, {{3}, {5}, {7}}), (std::vector<Numbers>{{-5}, {21}}));
}

TEST_F(Transpose, WithoutAnyCotangentNothingIsLeft) {
  const auto t = Of(kTwoChains, {1, 1, 0}, {0, 0});
  EXPECT_EQ(t.nonzero, (Mask{0, 0, 0}));
  EXPECT_EQ(Text(t.program), "\nprogram f(%0: f64[]) {\n  return\n}");
}

// A result that depends on no linear parameter is a constant of the map: its cotangent goes nowhere.
TEST_F(Transpose, TheCotangentOfANonLinearResultIsDropped) {
  const auto t = Of("program f(%x: f64[], %a: f64[]) {\n  %s: f64[] = sin(%a)\n  return %s, %a, %x\n}", {1, 0});
  EXPECT_EQ(t.nonzero, (Mask{1, 0}));
  EXPECT_EQ(Run(t.program, {{2}, {10}, {20}, {30}}), (std::vector<Numbers>{{30}}));
}

TEST_F(Transpose, AParameterThatNothingUsesHasAZeroCotangent) {
  constexpr std::string_view kText = "program f(%x: f64[2], %y: f64[]) {\n  return %y\n}";
  EXPECT_EQ(Of(kText, {1, 1}).nonzero, (Mask{0, 1}));
  EXPECT_EQ(Run(Of(kText, {1, 1}, {}, /*instantiate=*/true).program, {{4}}), (std::vector<Numbers>{{0, 0}, {4}}));
}

TEST_F(Transpose, AProgramHeldTwiceIsTransposedOnce) {
  const ir::ProgramRef held = Parse("program g(%x: f64[]) {\n  %s: f64[] = neg(%x)\n  return %s\n}");
  const uint64_t before = Uses("neg", prim::Rule::kTranspose);
  const auto t = Get(transform::Transpose(*Calls(held, 4), Mask{1}, {}, false));
  EXPECT_EQ(Uses("neg", prim::Rule::kTranspose) - before, 1u);
  ASSERT_EQ(t.program->equations.size(), 4u);
  for (size_t e = 1; e < 4; ++e) EXPECT_EQ(Held(t.program, e), Held(t.program, 0));
}

TEST_F(Transpose, ALongChainNeedsNoDeepStack) {
  constexpr int kLong = 100'000;
  const auto t = Get(transform::Transpose(*Chain("neg", kLong), Mask{1}, {}, false));
  EXPECT_EQ(t.program->equations.size(), size_t{kLong});
}

// A linear map of which only the transpose is known has no value; one whose operands are known is a constant of which
// nothing needs the value, and the transpose does not hold it any more.
TEST_F(Transpose, ALinearMapWithoutValueIsRemoved) {
  const ir::ProgramRef f = Parse(R"(
program f(%a: f64[], %x: f64[]) {
  %m: f64[] = custom_linear(%a) num_residuals=0 bwd=program(%ct: f64[]) {
    return %ct
  }
  %s: f64[] = neg(%x)
  return %m, %s
})");
  const auto t = Get(transform::Transpose(*f, Mask{0, 1}, {}, false));
  EXPECT_EQ(Prims(t.program), "neg");
}

TEST_F(Transpose, ErrorsNameTheProgramOrThePrimitive) {
  const ir::ProgramRef f = Parse("program f(%x: f64[]) {\n  %s: f64[] = sin(%x)\n  return %s\n}");
  EXPECT_EQ(ErrorOf(transform::Transpose(*f, Mask{1, 0}, {}, false)), "transpose: program f has 1 parameter, not 2");
  const auto bad = transform::Transpose(*f, Mask{1}, {}, false);
  EXPECT_EQ(ErrorOf(bad, absl::StatusCode::kUnimplemented), "sin: no transpose rule (not linear)");
  const base::StatusSite site = base::SiteOf(bad.status());
  EXPECT_EQ(base::Cat(site.primitive, " ", site.rule, " ", site.file, ":", site.line), "sin transpose test:2");
}

}  // namespace
}  // namespace ricci::testing
