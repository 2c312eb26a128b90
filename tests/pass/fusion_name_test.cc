// Names of fused kernels: they say what the kernel mostly is, are short, and never equal.
#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

using FusionName = LoweredProgram;

TEST_F(FusionName, DearOperationsComeBeforeArithmeticAndThatBeforeViews) {
  EXPECT_EQ(Kernels(*Lower(R"(program f(%x: f32[6,4]) {
  %a: f32[6,4] = neg(%x)
  %b: f32[6,4] = exp(%a)
  %c: f32[6,4] = add(%b, %x)
  %d: f32[6,4] = tanh(%c)
  %e: f32[6,4] = mul(%d, %x)
  %f: f32[6,4] = rev(%e) dimensions=[0]
  return %f })")),
            "fusion_exp_tanh_mul[6,4]");
}

TEST_F(FusionName, KernelsOfOneNameAreNumbered) {
  EXPECT_EQ(Kernels(*Lower(R"(program f(%x: f32[6,4], %y: f32[8], %z: f32[5,5]) {
  %a: f32[6,4] = neg(%x)
  %b: f32[6,4] = exp(%a)
  %c: f32[8] = neg(%y)
  %d: f32[8] = exp(%c)
  %e: f32[5,5] = neg(%z)
  %g: f32[5,5] = exp(%e)
  return %b, %d, %g })")),
            "fusion_neg_exp[24] fusion_neg_exp_2[8] fusion_neg_exp_3[25]");
}

TEST_F(FusionName, LongNamesAreBounded) {
  const auto l = Lower(R"(program f(%x: u32[100], %s: u32[100]) {
  %a: u32[100] = shift_right_logical(%x, %s)
  %b: u32[100] = population_count(%a)
  %c: u32[100] = shift_right_arithmetic(%b, %s)
  return %c })");
  EXPECT_EQ(Kernels(*l), "fusion_shift_right_logical_population_count[100]");
  EXPECT_LE(l->kernels[0].name.size(), 64u);
}

}  // namespace
}  // namespace ricci::testing
