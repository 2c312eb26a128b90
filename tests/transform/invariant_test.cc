// invariant: what of a loop's body is the same on every trip, and what may be computed before a loop that may not run.
#include "transform/invariant.h"

#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

class InvariantTest : public TransformTest {
 protected:
  // Of the result of the first equation `prim`: "same", "from a constant" (which is also the same), or "changes".
  std::string Of(const ir::ProgramRef& body, const Mask& is_const, std::string_view prim, bool speculative = false) {
    const transform::Invariant found = transform::FindInvariant(*body, is_const, speculative);
    EXPECT_EQ(found.same.size(), body->values.size());
    EXPECT_EQ(found.from_const.size(), body->values.size());
    for (const ir::Equation& eqn : body->equations) {
      if (eqn.prim != body->vocabulary()->FindPrim(prim)) continue;
      if (found.from_const[eqn.result(0)]) return found.same[eqn.result(0)] ? "from a constant" : "not the same";
      return found.same[eqn.result(0)] ? "same" : "changes";
    }
    return "not there";
  }
};

constexpr std::string_view kBody = R"(
program body(%w: f64[4], %c: f64[4]) {
  %two: f64[4] = constant 2.0
  %i: f64[4] = iota() dtype=f64 shape=[4] dimension=0
  %n: f64[4] = neg(%i)
  %s: f64[4] = sin(%w)
  %m: f64[4] = mul(%s, %n)
  %a: f64[4] = add(%m, %c)
  %e: f64[4] = exp(%a)
  %d: f64[4] = div(%two, %i)
  return %e, %d, %w
})";

TEST_F(InvariantTest, OnlyWhatDependsOnConstantsAloneIsTheSame) {
  const ir::ProgramRef body = Parse(kBody);
  EXPECT_EQ(Of(body, {1, 0}, "sin"), "from a constant");
  EXPECT_EQ(Of(body, {1, 0}, "mul"), "from a constant") << "of a constant and of nothing";
  EXPECT_EQ(Of(body, {1, 0}, "add"), "changes");
  EXPECT_EQ(Of(body, {1, 0}, "exp"), "changes");
  EXPECT_EQ(Of(body, {0, 1}, "sin"), "changes");
  EXPECT_EQ(Of(body, {1, 1}, "exp"), "from a constant");
}

TEST_F(InvariantTest, WhatNeedsNoParameterIsTheSameButNotFromAConstant) {
  const ir::ProgramRef body = Parse(kBody);
  for (const Mask& is_const : {Mask{0, 0}, Mask{1, 1}}) {
    EXPECT_EQ(Of(body, is_const, "iota"), "same");
    EXPECT_EQ(Of(body, is_const, "neg"), "same");
    EXPECT_EQ(Of(body, is_const, "div"), "same") << "of a literal";
  }
}

TEST_F(InvariantTest, ParametersAndLiterals) {
  const ir::ProgramRef body = Parse(kBody);
  const transform::Invariant found = transform::FindInvariant(*body, Mask{1, 0});
  EXPECT_EQ(Mask(found.same.begin(), found.same.begin() + 2), (Mask{1, 0}));
  EXPECT_EQ(Mask(found.from_const.begin(), found.from_const.begin() + 2), (Mask{1, 0}));
  const ir::ValueId two = body->constants[0].value;
  EXPECT_TRUE(found.same[two]);
  EXPECT_FALSE(found.from_const[two]);
}

TEST_F(InvariantTest, AnEffectIsNeverTheSameNorWhatReadsIt) {
  AddRow("test.effect", [](ricci_prim_def& d) { d.hdr.flags = RICCI_PRIM_EFFECTFUL; });
  const ir::ProgramRef body = Parse(R"(
program body(%w: f64[]) {
  %e: f64[] = test.effect(%w)
  %n: f64[] = neg(%e)
  %h: f64[] = call(%w) body=program g(%w: f64[]) {
    %e: f64[] = test.effect(%w)
    return %e
  }
  return %n, %h
})");
  for (const char* prim : {"test.effect", "neg", "call"}) EXPECT_EQ(Of(body, {1}, prim), "changes") << prim;
}

TEST_F(InvariantTest, WithoutATripNothingThatMayFailOrHasNoBound) {
  AddRow("test.fails", [](ricci_prim_def& d) { d.hdr.flags = RICCI_PRIM_MAY_FAIL; });
  const ir::ProgramRef body = Parse(R"(
program body(%w: f64[], %i: i32[]) {
  %f: f64[] = test.fails(%w)
  %n: f64[] = neg(%f)
  %l: f64[] = scan(%w) length=3 num_consts=0 num_carry=1 body=program g(%c: f64[]) {
    %s: f64[] = sin(%c)
    return %s
  }
  %b: f64[] = cond(%i, %w) branches=[program g(%c: f64[]) {
    return %c
  }]
  %s: f64[] = sin(%w)
  return %n, %l, %b, %s
})");
  for (const char* prim : {"test.fails", "neg", "scan", "cond", "sin"}) {
    EXPECT_EQ(Of(body, {1, 1}, prim), "from a constant") << prim;
  }
  for (const char* prim : {"test.fails", "neg", "scan", "cond"}) {
    EXPECT_EQ(Of(body, {1, 1}, prim, /*speculative=*/true), "changes") << prim;
  }
  EXPECT_EQ(Of(body, {1, 1}, "sin", /*speculative=*/true), "from a constant");
}

TEST_F(InvariantTest, AllResultsOfAnEquationShareItsFate) {
  const ir::ProgramRef body = Parse(R"(
program body(%k: f64[4], %v: f64[4]) {
  %a: f64[4], %b: f64[4] = sort(%k, %v) dimension=0 is_stable=true num_keys=1
  return %a, %b
})");
  const auto same = transform::FindInvariant(*body, Mask{1, 1}), changes = transform::FindInvariant(*body, Mask{1, 0});
  for (ir::ValueId r : body->results) {
    EXPECT_TRUE(same.same[r] && same.from_const[r]);
    EXPECT_FALSE(changes.same[r] || changes.from_const[r]);
  }
}

}  // namespace
}  // namespace ricci::testing
