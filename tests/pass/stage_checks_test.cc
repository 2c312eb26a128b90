// How the pipeline checks its stages: a stage that breaks its promise is named, with what it broke.
#include "pass/stage_checks.h"

#include <gtest/gtest.h>

#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

using pass::CheckPlan;
using pass::CheckProgram;

class StageChecks : public LoweredProgram {};

constexpr char kText[] =
    "program f(%x: f32[64,8], %w: f32[8,8]) { %y: f32[64,8] = dot_general(%x, %w) lhs_contract=[1] rhs_contract=[0]"
    " %z: f32[64,8] = dot_general(%y, %w) lhs_contract=[1] rhs_contract=[0]  return %z }";

TEST_F(StageChecks, AStageThatChangesTheSignature) {
  ricci_program* f = Parse("program f(%x: f32[3]) { %y: f32[3] = sin(%x)  return %y }");
  ricci_program* g = Parse("program f(%x: f32[3]) { %y: f32[] = reduce_sum(%x) axes=[0]  return %y }");
  EXPECT_EQ(CheckProgram("cse", *ir::FromAbi(f), *ir::FromAbi(f)), absl::OkStatus());
  EXPECT_EQ(CheckProgram("cse", *ir::FromAbi(f), *ir::FromAbi(g)).ToString(),
            "INTERNAL: after pass cse: program f: was (f32[3]) -> (f32[3]) and has become (f32[3]) -> (f32[])");
  ricci_program_release(f);
  ricci_program_release(g);
}

TEST_F(StageChecks, AStageThatLeavesABrokenPlan) {
  const auto l = Lower(kText);
  const pass::Options options;
  ASSERT_EQ(CheckPlan("buffers", options, *l, /*has_offsets=*/true), absl::OkStatus());
  ASSERT_GE(l->plan.steps.size(), 2u);
  std::swap(l->plan.steps[0], l->plan.steps[1]);
  EXPECT_EQ(CheckPlan("in_place", options, *l, /*has_offsets=*/true).ToString(),
            "INTERNAL: after pass in_place: plan: step 0: buffer 3 is read but not written on every path to here");
}

TEST_F(StageChecks, StagesByName) {
  EXPECT_EQ(pass::StageNames().front(), "inline");
  EXPECT_EQ(pass::StageNames().back(), "buffers");
  EXPECT_EQ(*pass::ChooseStages("", ""), pass::kAllStages);
  EXPECT_EQ(*pass::ChooseStages("dce,fold", "dce"), pass::StageSet{1} << 4);
  EXPECT_EQ(pass::ChooseStages("dce,see", "").status().message().substr(0, 81),
            "passes: unknown pass see; known: inline, batch_effects, sink_constants, dce, fold");
  EXPECT_EQ(pass::ChooseStages("", "buffers").status().message(),
            "skip: pass buffers cannot be skipped, because every plan needs it");
}

TEST_F(StageChecks, EveryStageMayBeLeftOut) {
  const std::vector<double> want = Run(*Lower(kText));
  for (std::string_view name : pass::StageNames()) {
    const auto stages = pass::ChooseStages("", name);
    if (!stages.ok()) continue;
    pass::Options options;
    options.stages = *stages;
    EXPECT_EQ(Run(*Lower(kText, options)).size(), want.size()) << name;
  }
  pass::Options none;
  none.stages = 0;
  EXPECT_EQ(Run(*Lower(kText, none)).size(), want.size());
}

}  // namespace
}  // namespace ricci::testing
