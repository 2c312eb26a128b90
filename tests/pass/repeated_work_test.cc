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

// Values written out one by one that a loop reads by its index are stored before the loop, not in every trip.
TEST_F(RepeatedWork, ElementsAreStoredOnceForTheLoopsThatReadThem) {
  const char* text =
      "program f(%x: f32[8,16,64]) { %y: f32[8,16] = vmap(%x) size=8 in_axes=[0] out_axes=[0] axis_name=\"\""
      " body=program(%x: f32[16,64]) { %s: f32[16] = reduce_sum(%x) axes=[1]  %e: f32[16] = sin(%s)"
      " %b: f32[16,64] = broadcast_in_dim(%e) shape=[16,64] broadcast_dimensions=[0]"
      " %d: f32[16,64] = sub(%x, %b)  %q: f32[16,64] = mul(%d, %d)  %r: f32[16] = reduce_sum(%q) axes=[1]"
      " return %r } return %y }";
  pass::Options lanes;
  lanes.vmap = pass::VmapMode::kLanes;
  const auto l = Lower(text, lanes);
  int loops = 0, deepest = 0;
  for (const ricci_inst& inst : l->kernels.at(0).insts) {
    loops += inst.op == RICCI_K_FOR || inst.op == RICCI_K_REDUCE;
    loops -= inst.op == RICCI_K_END || inst.op == RICCI_K_YIELD;
    deepest += inst.op == RICCI_K_SET && loops == 2;
  }
  EXPECT_LE(deepest, 1);
  ExpectSameAsReference(text);
}

}  // namespace
}  // namespace ricci::testing
