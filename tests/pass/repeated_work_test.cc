// Views at several places: their operand is computed once per place, within bounds that keep chains linear.
#include "ir/print.h"
#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

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

// Whole windows at places that are known only in a run, of an array joined with itself, as of a lattice that streams.
TEST_F(RepeatedWork, WindowsOfADearProducerReadItFromMemory) {
  const char* text =
      "program f(%x: f32[8,64], %j: f32[20,1]) { %t: f32[8,64] = tanh(%x)\n"
      " %n: f32[20,1] = constant 16.0  %p: f32[20,1] = mul(%j, %n)\n"
      " %i: i32[20,1] = convert_element_type(%p) new_dtype=i32\n"
      " %c: f32[16,64] = concatenate(%t, %t) dimension=0\n"
      " %g: f32[20,64] = gather(%c, %i) offset_dims=[1] collapsed_slice_dims=[0] start_index_map=[0]"
      " slice_sizes=[1,64] mode=\"clip\"  %y: f32[20,64] = neg(%g)  return %y }";
  EXPECT_EQ(Kernels(*Lower(text)), "tanh[512] fusion_mul_convert_element_type_neg[20,64]");
  ExpectSameAsReference(text);
}

// Values computed individually that a loop reads by its index are stored before the loop, not in every trip.
TEST_F(RepeatedWork, ElementsAreStoredOnceForTheLoopsThatReadThem) {
  const char* text =
      "program f(%x: f32[8,16,64]) { %y: f32[8,16] = vmap(%x) size=8 in_axes=[0] out_axes=[0] axis_name=\"\""
      " body=program(%x: f32[16,64]) { %s: f32[16] = reduce_sum(%x) axes=[1]  %e: f32[16] = sin(%s)"
      " %b: f32[16,64] = broadcast_in_dim(%e) shape=[16,64] broadcast_dimensions=[0]"
      " %d: f32[16,64] = sub(%x, %b)  %q: f32[16,64] = mul(%d, %d)  %r: f32[16] = reduce_sum(%q) axes=[1]"
      " return %r } return %y }";
  pass::Options lanes;
  lanes.vmap = transform::Schedule::kLanes;
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

// Forces between all pairs of 64 bodies in a periodic box: the work of a pair (three remainders, a quotient) is not
// repeated for each coordinate, nor for each of the loops that need it.
constexpr const char* kForces =
    "program f(%x: f32[64,3]) {\n"
    " %box: f32[64,64,3] = constant 10.0  %one: f32[64,64] = constant 1.0\n"
    " %a: f32[64,64,3] = broadcast_in_dim(%x) shape=[64,64,3] broadcast_dimensions=[0,2]\n"
    " %b: f32[64,64,3] = broadcast_in_dim(%x) shape=[64,64,3] broadcast_dimensions=[1,2]\n"
    " %ab: f32[64,64,3] = sub(%a, %b)  %d: f32[64,64,3] = rem(%ab, %box)\n"
    " %dd: f32[64,64,3] = mul(%d, %d)  %s: f32[64,64] = reduce_sum(%dd) axes=[2]\n"
    " %r: f32[64,64] = add(%s, %one)  %q: f32[64,64] = div(%one, %r)\n"
    " %q2: f32[64,64] = mul(%q, %q)  %q3: f32[64,64] = mul(%q2, %q)  %l: f32[64,64] = sub(%q3, %q)\n"
    " %c: f32[64,64] = mul(%l, %q2)  %c1: f32[64,64,1] = reshape(%c) new_sizes=[64,64,1]\n"
    " %cb: f32[64,64,3] = broadcast_in_dim(%c1) shape=[64,64,3] broadcast_dimensions=[0,1,2]\n"
    " %f: f32[64,64,3] = mul(%cb, %d)  %F: f32[64,3] = reduce_sum(%f) axes=[1]\n";

std::pair<int, int> RemaindersAndQuotients(const pass::Lowered& l) {
  std::pair<int, int> n{0, 0};
  for (const kernel::Kernel& k : l.kernels) {
    for (const ricci_inst& inst : k.insts) {
      n.first += inst.op == RICCI_S_REM;
      n.second += inst.op == RICCI_S_DIV;
    }
  }
  return n;
}

TEST_F(RepeatedWork, WhatAPairCostsIsComputedOncePerPair) {
  const std::string text = std::string(kForces) + " return %F }";
  const auto [rem, div] = RemaindersAndQuotients(*Lower(text));
  EXPECT_LE(rem, 3);
  EXPECT_EQ(div, 1);
  ExpectSameAsReference(text);
}

TEST_F(RepeatedWork, GradientsOfPairsToo) {
  const std::string text =
      std::string(kForces) + " %FF: f32[64,3] = mul(%F, %F)  %e: f32[] = reduce_sum(%FF) axes=[0,1]  return %e }";
  ricci_program* f = Parse(text);
  ricci_program* gradient = nullptr;
  ASSERT_EQ(ricci_grad(f, nullptr, 0, 0, &gradient), nullptr);
  const std::string back = ir::Print(*ir::FromAbi(gradient));
  ricci_program_release(gradient);
  ricci_program_release(f);
  const auto [rem, div] = RemaindersAndQuotients(*Lower(back));
  EXPECT_LE(rem, 3);
  EXPECT_LE(div, 2);  // of 1 / r and of its derivative
  ExpectSameAsReference(back, 1e-3);
}

// A hundred branches, one for each element of a batch and both ends: found by halves, not in sequence.
TEST_F(RepeatedWork, BranchesAreFoundByHalves) {
  std::string branches;
  for (int i = 0; i < 100; ++i) {
    branches += base::Cat(i == 0 ? "" : ", ", "program(%x: f32[]) { %k: f32[] = constant ", i,
                          ".5  %y: f32[] = mul(%x, %k)  return %y }");
  }
  const std::string text =
      base::Cat("program f(%x: f32[110]) { %n: i32[110] = iota() dtype=i32 shape=[110] dimension=0\n",
                " %r: f32[110] = vmap(%n, %x) size=110 in_axes=[0,0] out_axes=[0] axis_name=\"\" schedule=\"lanes\" ",
                "body=program(%n: i32[], %x: f32[]) { %five: i32[] = constant 5  %i: i32[] = sub(%n, %five)\n",
                " %y: f32[] = cond(%i, %x) branches=[", branches, "]\n return %y }\n return %r }");
  const auto l = Lower(text);
  int depth = 0, deepest = 0;
  for (const ricci_inst& inst : l->kernels.at(0).insts) {
    depth += inst.op == RICCI_K_IF;
    depth -= inst.op == RICCI_K_END && depth > 0;
    deepest = std::max(deepest, depth);
  }
  EXPECT_EQ(deepest, 7);
  ExpectSameAsReference(text);
}

size_t Loops(const pass::Lowered& l) {
  size_t n = 0;
  for (const kernel::Kernel& k : l.kernels) {
    n += static_cast<size_t>(std::ranges::count(k.insts, RICCI_K_FOR, &ricci_inst::op));
  }
  return n;
}

// Many keys of a sort are compared by a loop over them: a key adds what stores and moves it, and no loop of its own,
// which LLVM would unroll.
TEST_F(RepeatedWork, ManyKeysAreComparedByALoop) {
  const auto sorted = [](int keys, int length) {
    std::string params, operands, results, returned;
    for (int i = 0; i < keys; ++i) {
      const std::string comma = i == 0 ? "" : ", ", type = base::Cat(": f32[", length, "]");
      params += base::Cat(comma, "%x", i, type), operands += base::Cat(comma, "%x", i);
      results += base::Cat(comma, "%r", i, type), returned += base::Cat(comma, "%r", i);
    }
    return base::Cat("program f(", params, ") { ", results, " = sort(", operands, ") dimension=0 num_keys=", keys,
                     "\n return ", returned, " }");
  };
  for (const int length : {20, 60, 200}) {
    const auto forty = Lower(sorted(40, length)), eighty = Lower(sorted(80, length));
    EXPECT_LE(Instructions(*eighty) - Instructions(*forty), 40 * 24) << length;
    EXPECT_LE(Loops(*eighty) - Loops(*forty), 40 / 8) << length;
    ExpectSameAsReference(sorted(10, length));
  }
}

}  // namespace
}  // namespace ricci::testing
