// Views at several places: what they read is computed once per place, within bounds that keep chains linear.
#include "pass/lowered_program.h"

namespace ricci::testing {
namespace {

using RepeatedWork = LoweredProgram;

// `steps` times x = x * x shifted by one, the last element going to the front.
std::string Shifts(int steps) {
  std::string text = "program f(%x: f32[64]) {\n", x = "%x";
  for (int i = 0; i < steps; ++i) {
    const std::string n = std::to_string(i);
    text += " %a" + n + ": f32[63] = slice(" + x + ") start_indices=[1] limit_indices=[64]\n";
    text += " %b" + n + ": f32[1] = slice(" + x + ") start_indices=[0] limit_indices=[1]\n";
    text += " %c" + n + ": f32[64] = concatenate(%a" + n + ", %b" + n + ") dimension=0\n";
    text += " %m" + n + ": f32[64] = mul(%c" + n + ", " + x + ")\n";
    x = "%m" + n;
  }
  return text + " return " + x + " }";
}

size_t Instructions(const pass::Lowered& l) {
  size_t sum = 0;
  for (const ricci_plan_step& step : l.plan.steps) {
    if (step.kind == RICCI_STEP_KERNEL) sum += l.kernels[step.index].insts.size();
  }
  return sum;
}

TEST_F(RepeatedWork, ChainsOfShiftsGrowLinearly) {
  const size_t ten = Instructions(*Lower(Shifts(10))), hundred = Instructions(*Lower(Shifts(100)));
  EXPECT_LE(hundred, 11 * ten);
  ExpectSameAsReference(Shifts(10));
}

TEST_F(RepeatedWork, StencilOfACheapProducerIsOneKernel) {
  const char* text =
      "program f(%x: f32[66]) { %s: f32[66] = mul(%x, %x)\n"
      " %l: f32[64] = slice(%s) start_indices=[0] limit_indices=[64]\n"
      " %m: f32[64] = slice(%s) start_indices=[1] limit_indices=[65]\n"
      " %r: f32[64] = slice(%s) start_indices=[2] limit_indices=[66]\n"
      " %a: f32[64] = add(%l, %m)  %b: f32[64] = add(%a, %r)  return %b }";
  EXPECT_EQ(Kernels(*Lower(text)), "fusion_mul_slice_add[64]");
  ExpectSameAsReference(text);
}

TEST_F(RepeatedWork, StencilOfADearProducerReadsItFromMemory) {
  const char* text =
      "program f(%x: f32[66]) { %s: f32[66] = sin(%x)\n"
      " %l: f32[64] = slice(%s) start_indices=[0] limit_indices=[64]\n"
      " %r: f32[64] = slice(%s) start_indices=[2] limit_indices=[66]\n"
      " %b: f32[64] = add(%l, %r)  return %b }";
  EXPECT_EQ(Kernels(*Lower(text)), "sin[66] fusion_slice_add[64]");
  ExpectSameAsReference(text);
}

}  // namespace
}  // namespace ricci::testing
