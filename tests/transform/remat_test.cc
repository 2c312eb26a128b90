// remat: checkpoint, custom derivatives and linear solutions as programs with one equation, and what is refused.
#include "transform/remat.h"

#include "transform/grad.h"
#include "transform/transform_fixture.h"

namespace ricci::testing { namespace {

class Remat : public TransformTest {
 protected:
  ir::ProgramRef sine() { return Parse("program g(%x: f64[2]) {\n  %s: f64[2] = sin(%x)\n  return %s\n}"); }
};

TEST_F(Remat, CheckpointIsOneEquationWithItsPolicy) {
  EXPECT_EQ(Text(Get(transform::Checkpoint(*sine(), "dots"))), R"(
program g(%0: f64[2]) {
  %1: f64[2] = checkpoint(%0) body=program g(%0: f64[2]) {
    %1: f64[2] = sin(%0)
    return %1
  } policy="dots"
  return %1
})");
  const ir::ProgramRef merged = Get(transform::Checkpoint(*sine(), "nothing", /*prevent_cse=*/false));
  EXPECT_NE(Text(merged).find("policy=\"nothing\" prevent_cse=false"), std::string::npos) << Text(merged);
}

TEST_F(Remat, CheckpointRefusesAnUnknownPolicyAtOnce) {
  EXPECT_EQ(ErrorOf(transform::Checkpoint(*sine(), "some")),
            "checkpoint: unknown policy some; known: everything, nothing, dots, dots_with_no_batch_dims, names:a,b, "
            "names_but:a,b, "
            "and several with | between them");
  for (std::string_view policy : {"", "everything", "nothing", "dots", "dots_with_no_batch_dims", "names:", "names:a"})
    EXPECT_TRUE(transform::Checkpoint(*sine(), policy).ok()) << policy;
}

// The backward half holds the sine again, in a checkpoint that becomes a barrier unless it may be merged.
TEST_F(Remat, TheBackwardHalfComputesAgainWhatIsNotSaved) {
  const ir::ProgramRef f = Parse(R"(
program f(%x: f64[]) {
  %s: f64[] = sin(%x)
  %e: f64[] = exp(%s)
  return %e
})");
  const auto saved = Get(transform::Vjp(*Get(transform::Checkpoint(*f, "everything")), Mask{1}));
  const auto again = Get(transform::Vjp(*Get(transform::Checkpoint(*f, "nothing")), Mask{1}));
  const auto merged = Get(transform::Vjp(*Get(transform::Checkpoint(*f, "nothing", false)), Mask{1}));
  EXPECT_EQ(saved.n_residuals, 2u) << "cos(x) and exp(sin(x))";
  EXPECT_EQ(again.n_residuals, 1u) << "x";
  EXPECT_EQ(merged.n_residuals, 1u) << "x";
  EXPECT_EQ(Text(saved.bwd).find(" sin("), std::string::npos) << Text(saved.bwd);
  for (const auto* v : {&again, &merged}) EXPECT_NE(Text(v->bwd).find(" sin("), std::string::npos) << Text(v->bwd);
  EXPECT_NE(Text(again.bwd).find("policy=\"nothing\" differentiated=true\n"), std::string::npos) << Text(again.bwd);
  EXPECT_NE(Text(merged.bwd).find("policy=\"nothing\" prevent_cse=false differentiated=true\n"), std::string::npos)
      << Text(merged.bwd);
  for (const auto* v : {&saved, &again, &merged}) {
    std::vector<Numbers> in = Run(v->fwd, {{0.5}});
    in.erase(in.begin());
    in.push_back({2});
    ExpectNear(Run(v->bwd, in)[0], {2 * std::exp(std::sin(0.5)) * std::cos(0.5)}, 1e-15);
  }
}

TEST_F(Remat, CustomJvpHoldsFunctionAndRule) {
  const ir::ProgramRef rule = Parse(R"(
program rule(%x: f64[2], %t: f64[2]) {
  %s: f64[2] = sin(%x)
  return %s, %t
})");
  const ir::ProgramRef g = sine(), f = Get(transform::CustomJvp(*g, *rule));
  EXPECT_EQ(Prims(f), "custom_jvp");
  EXPECT_EQ(Held(f, 0, "call"), g.get());
  EXPECT_EQ(Held(f, 0, "jvp"), rule.get());
  EXPECT_EQ(ErrorOf(transform::CustomJvp(*rule, *g)), "custom_jvp: jvp parameters: 1 instead of 4");
}

TEST_F(Remat, CustomVjpHoldsFunctionAndBothHalves) {
  const ir::ProgramRef fwd = Parse("program fwd(%x: f64[2]) {\n  %s: f64[2] = sin(%x)\n  return %s, %x\n}");
  const ir::ProgramRef bwd = Parse("program bwd(%x: f64[2], %ct: f64[2]) {\n  return %ct\n}");
  const ir::ProgramRef g = sine(), f = Get(transform::CustomVjp(*g, *fwd, *bwd));
  EXPECT_EQ(Prims(f), "custom_vjp");
  EXPECT_EQ(Held(f, 0, "call"), g.get());
  EXPECT_EQ(Held(f, 0, "fwd"), fwd.get());
  EXPECT_EQ(Held(f, 0, "bwd"), bwd.get());
  EXPECT_EQ(ErrorOf(transform::CustomVjp(*g, *g, *bwd)), "custom_vjp: bwd parameters: 2 instead of 1");
}

// Parameters are the constants of the programs in order, then b; programs that are left out have none.
TEST_F(Remat, ALinearSolutionTakesTheConstantsOfItsPrograms) {
  const ir::ProgramRef matvec =
      Parse("program a(%d: f64[2], %x: f64[2]) {\n  %y: f64[2] = mul(%d, %x)\n  return %y\n}");
  const ir::ProgramRef solve =
      Parse("program s(%one: f64[], %r: f64[2], %b: f64[2]) {\n  %x: f64[2] = mul(%r, %b)\n  return %x\n}");
  const auto both = Get(transform::CustomLinearSolve(*matvec, matvec.get(), *solve, solve.get()));
  EXPECT_EQ(both->name, "a");
  EXPECT_EQ(both->n_params(), 7u);
  EXPECT_EQ(Run(both, {{2, 4}, {2, 4}, {0}, {0.5, 0.25}, {0}, {0.5, 0.25}, {6, 8}})[0], (Numbers{3, 2}));
  const auto forward = Get(transform::CustomLinearSolve(*matvec, nullptr, *solve, nullptr));
  EXPECT_EQ(forward->n_params(), 4u);
  EXPECT_EQ(Run(forward, {{2, 4}, {0}, {0.5, 0.25}, {6, 8}})[0], (Numbers{3, 2}));
}

TEST_F(Remat, ALinearSolutionIsRefusedIfItsProgramsDoNotFit) {
  const ir::ProgramRef matvec =
      Parse("program a(%d: f64[2], %x: f64[2]) {\n  %y: f64[2] = mul(%d, %x)\n  return %y\n}");
  EXPECT_EQ(ErrorOf(transform::CustomLinearSolve(*matvec, nullptr, *Parse("program w() { return }"), nullptr)),
            "custom_linear_solve: solve takes 0 arrays, fewer than the 1 of a vector, which matvec gives");
  ProgramRunner other;
  const Program foreign = other.Parse("program s(%b: f64[2]) { return %b }");
  EXPECT_EQ(ErrorOf(transform::CustomLinearSolve(*matvec, nullptr, *ir::FromAbi(foreign.get()), nullptr)),
            "custom_linear_solve: program s is of another context");
}

}  // namespace
}  // namespace ricci::testing
