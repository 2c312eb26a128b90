// dead_code: which equations, results of held programs and parameters disappear, and what an effect keeps.
#include "transform/dead_code.h"

#include "transform/memo.h"
#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

class DeadCode : public TransformTest {
 protected:
  transform::PrunedProgram Of(std::string_view text, const Mask& used, const Mask& droppable = {}) {
    return Get(transform::Prune(*Parse(text), used, droppable));
  }
};

constexpr std::string_view kText = R"(
program f(%x: f64[], %y: f64[], %z: f64[]) {
  %one: f64[] = constant 1.0
  %two: f64[] = constant 2.0
  %s: f64[] = mul(%x, %two)
  %t: f64[] = add(%y, %one)
  %dead: f64[] = sin(%t)
  return %s, %t
})";

TEST_F(DeadCode, OnlyWhatUsedResultsNeedIsLeft) {
  const auto pruned = Of(kText, {1, 0});
  EXPECT_EQ(pruned.used_params, (Mask{1, 0, 0}));
  EXPECT_EQ(Text(pruned.program), R"(
program f(%0: f64[], %1: f64[], %2: f64[]) {
  %3: f64[] = constant 2.0
  %4: f64[] = mul(%0, %3)
  return %4
})");
}

TEST_F(DeadCode, ParametersDropOnlyWhereTheyMay) {
  const auto pruned = Of(kText, {0, 1}, {1, 1, 0});
  EXPECT_EQ(pruned.used_params, (Mask{0, 1, 0})) << "over all parameters of f";
  EXPECT_EQ(Text(pruned.program), R"(
program f(%0: f64[], %1: f64[]) {
  %2: f64[] = constant 1.0
  %3: f64[] = add(%0, %2)
  return %3
})");
}

TEST_F(DeadCode, WithoutAUsedResultNothingIsLeft) {
  EXPECT_EQ(Text(Of(kText, {0, 0}, {1, 1, 1}).program), "\nprogram f() {\n  return\n}");
}

TEST_F(DeadCode, AResultMayBeAParameterOrStandTwice) {
  const auto pruned = Of("program f(%x: f64[], %y: f64[]) {\n  return %y, %x, %y\n}", {1, 0, 1}, {1, 1});
  EXPECT_EQ(pruned.used_params, (Mask{0, 1}));
  EXPECT_EQ(Text(pruned.program), "\nprogram f(%0: f64[]) {\n  return %0, %0\n}");
}

// Result 0 of the loop is dead. Its carry is not: the other one reads it. Carry 2 and the stacked results are.
TEST_F(DeadCode, ALoopKeepsTheCarriesThatLiveOnesRead) {
  const auto pruned = Of(R"(
program f(%w: f64[], %a: f64[], %b: f64[], %c: f64[], %xs: f64[5]) {
  %p: f64[], %q: f64[], %r: f64[], %ys: f64[5] = scan(%w, %a, %b, %c, %xs) length=5 num_consts=1 num_carry=3 body=program g(%w: f64[], %a: f64[], %b: f64[], %c: f64[], %x: f64[]) {
    %an: f64[] = mul(%a, %a)
    %bn: f64[] = add(%b, %a)
    %cn: f64[] = sin(%c)
    %y: f64[] = mul(%w, %x)
    return %an, %bn, %cn, %y
  }
  return %p, %q, %r, %ys
})",
                         {0, 1, 0, 0}, {1, 1, 1, 1, 1});
  EXPECT_EQ(pruned.used_params, (Mask{0, 1, 1, 0, 0}));
  EXPECT_EQ(Prims(ir::ProgramRef(Held(pruned.program, 0))), "mul add");
  EXPECT_EQ(pruned.program->equations[0].n_results, 2u);
  EXPECT_EQ(Run(pruned.program, {{1}, {3}})[0], Numbers{8});
}

TEST_F(DeadCode, ABranchKeepsWhatOneOfThemNeeds) {
  const auto pruned = Of(R"(
program f(%i: i32[], %x: f64[], %y: f64[], %z: f64[]) {
  %p: f64[], %q: f64[] = cond(%i, %x, %y, %z) branches=[program a(%x: f64[], %y: f64[], %z: f64[]) {
    %s: f64[] = sin(%y)
    return %x, %s
  }, program b(%x: f64[], %y: f64[], %z: f64[]) {
    return %z, %y
  }]
  return %p, %q
})",
                         {1, 0}, {1, 1, 1, 1});
  EXPECT_EQ(pruned.used_params, (Mask{1, 1, 0, 1}));
  EXPECT_EQ(Run(pruned.program, {{0}, {5}, {7}}), (std::vector<Numbers>{{5}}));
  EXPECT_EQ(Run(pruned.program, {{1}, {5}, {7}}), (std::vector<Numbers>{{7}}));
}

TEST_F(DeadCode, AnEffectAndItsOperandsStay) {
  AddRow("test.effect", [](ricci_prim_def& d) { d.hdr.flags = RICCI_PRIM_EFFECTFUL; });
  const auto pruned = Of(R"(
program f(%x: f64[], %y: f64[], %z: f64[]) {
  %s: f64[] = sin(%x)
  %e: f64[] = test.effect(%s)
  %held: f64[], %other: f64[] = call(%y) body=program g(%y: f64[]) {
    %e: f64[] = test.effect(%y)
    %n: f64[] = neg(%y)
    return %e, %n
  }
  return %z
})",
                         {0}, {1, 1, 1});
  EXPECT_EQ(pruned.used_params, (Mask{1, 1, 0}));
  EXPECT_EQ(Prims(pruned.program), "sin test.effect call");
}

TEST_F(DeadCode, ABarrierShrinksToWhatIsUsed) {
  const auto pruned = Of(R"(
program f(%x: f64[], %y: f64[2], %z: f64[]) {
  %s: f64[] = sin(%x)
  %a: f64[], %b: f64[2], %c: f64[] = optimization_barrier(%s, %y, %z)
  return %b, %c, %a
})",
                         {1, 1, 0}, {1, 1, 1});
  EXPECT_EQ(pruned.used_params, (Mask{0, 1, 1}));
  EXPECT_EQ(Text(pruned.program), R"(
program f(%0: f64[2], %1: f64[]) {
  %2: f64[2], %3: f64[] = optimization_barrier(%0, %1)
  return %2, %3
})");
}

// A row without a dce rule is needed as a whole.
TEST_F(DeadCode, OneUsedResultKeepsAllOfAnOrdinaryEquation) {
  const auto pruned = Of(R"(
program f(%k: f64[4], %v: f64[4]) {
  %a: f64[4], %b: f64[4] = sort(%k, %v) dimension=0 is_stable=true num_keys=1
  return %a, %b
})",
                         {0, 1}, {1, 1});
  EXPECT_EQ(pruned.used_params, (Mask{1, 1}));
  EXPECT_EQ(pruned.program->equations[0].n_results, 2u);
  EXPECT_EQ(pruned.program->n_results(), 1u);
}

// Within one transform, a program without dead code is known to be one, so nothing walks it again at every level.
TEST_F(DeadCode, APrunedProgramIsItsOwnResult) {
  const ir::ProgramRef f = Parse(kText);
  const transform::MemoUse transform(*f);
  const auto once = Get(transform::Prune(*f, Mask{1, 0}, Mask{0, 1, 0}));
  const auto again = Get(transform::Prune(*once.program, Mask{1}));
  EXPECT_EQ(again.program.get(), once.program.get());
  EXPECT_EQ(again.used_params, (Mask{1, 0}));
  const auto smaller = Get(transform::Prune(*once.program, Mask{1}, Mask{1, 1}));
  EXPECT_EQ(smaller.used_params, (Mask{1, 0}));
  EXPECT_EQ(smaller.program->n_params(), 1u) << "what may drop now still does";
}

TEST_F(DeadCode, ALongChainNeedsNoDeepStack) {
  constexpr int kLong = 100'000;
  const ir::ProgramRef f = Chain("neg", kLong);
  EXPECT_EQ(Get(transform::Prune(*f, Mask{1})).program->equations.size(), size_t{kLong});
  EXPECT_EQ(Get(transform::Prune(*f, Mask{0})).program->equations.size(), 0u);
}

TEST_F(DeadCode, AWrongNumberOfFlagsIsOurBug) {
  const std::string message = ErrorOf(transform::Prune(*Parse(kText), Mask{1}), absl::StatusCode::kInternal);
  EXPECT_NE(message.find("invariant broken: prune: one flag per result"), std::string::npos) << message;
}

}  // namespace
}  // namespace ricci::testing
