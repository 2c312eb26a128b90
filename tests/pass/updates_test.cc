// Updates of a part of a large array: only the part is written if the array is not used again.
#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

using Updates = LoweredProgram;

constexpr char kCache[] = R"(program cache(%x: f32[100,64], %u: f32[1,64], %s: f32[4]) {
  %a: f32[1] = slice(%s) start_indices=[1] limit_indices=[2]
  %b: f32[] = reshape(%a) new_sizes=[]
  %c: f32[] = constant 300.0
  %d: f32[] = mul(%b, %c)
  %i: i32[] = convert_element_type(%d) new_dtype=i32
  %z: i32[] = constant 0
  %r: f32[100,64] = dynamic_update_slice(%x, %u, %i, %z)
  return %r })";

size_t Copies(const pass::Lowered& l) {
  size_t n = 0;
  for (const ricci_plan_step& s : l.plan.steps) n += s.kind == RICCI_STEP_COPY;
  return n;
}
int64_t Points(const kernel::Kernel& k) {
  int64_t n = 1;
  for (int64_t extent : k.domain) n *= extent;
  return n;
}

TEST_F(Updates, AKeptOperandIsCopiedOnce) {
  const auto l = Lower(kCache);
  EXPECT_EQ(Copies(*l), 1u);
  EXPECT_EQ(Points(l->kernels.back()), 64);
  EXPECT_EQ(l->output_alias[0], -1);
  ExpectSameAsReference(kCache);
}

TEST_F(Updates, ADonatedOperandIsTheResult) {
  const uint8_t donate[] = {1, 0, 0};
  pass::Options options;
  options.donate = donate;
  const auto l = Lower(kCache, options);
  EXPECT_EQ(l->output_alias[0], 0);
}

TEST_F(Updates, AnIntermediateArrayIsWrittenInPlace) {
  constexpr char kText[] = R"(program f(%x: f32[100,64], %u: f32[3,5]) {
  %e: f32[100,64] = exp(%x)
  %i: i32[] = constant 7
  %r: f32[100,64] = dynamic_update_slice(%e, %u, %i, %i)
  %q: f32[100,64] = dynamic_update_slice(%r, %u, %i, %i)
  return %q })";
  const auto l = Lower(kText);
  EXPECT_EQ(Copies(*l), 0u);
  EXPECT_EQ(l->plan.arena_bytes, 0u);
  ExpectSameAsReference(kText);
}

TEST_F(Updates, AnOperandThatIsReadLaterIsKept) {
  constexpr char kText[] = R"(program f(%x: f32[100,64], %u: f32[3,5]) {
  %e: f32[100,64] = exp(%x)
  %i: i32[] = constant 7
  %r: f32[100,64] = dynamic_update_slice(%e, %u, %i, %i)
  %p: f32[64,100] = reshape(%e) new_sizes=[64,100]
  %q: f32[64,64] = dot_general(%r, %p) lhs_contract=[0] rhs_contract=[1]
  return %q })";
  EXPECT_EQ(Copies(*Lower(kText)), 1u);
  ExpectSameAsReference(kText, 1e-4);
}

TEST_F(Updates, ThePartMayBeOfTheArrayItself) {
  constexpr char kText[] = R"(program f(%x: f32[100,64]) {
  %e: f32[100,64] = tanh(%x)
  %i: i32[] = constant 7
  %s: f32[3,5] = slice(%e) start_indices=[6,6] limit_indices=[9,11]
  %r: f32[100,64] = dynamic_update_slice(%e, %s, %i, %i)
  return %r })";
  ExpectSameAsReference(kText);
}

// The carry of a loop is changed in place, one row per trip.
constexpr char kLoop[] = R"(program f(%x: f32[100,64], %u: f32[30,64]) {
  %z: i32[] = constant 0
  %n: i32[], %r: f32[100,64] = scan(%z, %x, %u) length=30 reverse=false num_consts=0 num_carry=2 unroll=1
    body=program(%i: i32[], %a: f32[100,64], %v: f32[64]) {
      %one: i32[] = constant 1
      %zero: i32[] = constant 0
      %next: i32[] = add(%i, %one)
      %old: f32[1,64] = dynamic_slice(%a, %next, %zero) slice_sizes=[1,64]
      %w: f32[1,64] = reshape(%v) new_sizes=[1,64]
      %sum: f32[1,64] = add(%old, %w)
      %b: f32[100,64] = dynamic_update_slice(%a, %sum, %i, %zero)
      return %next, %b
    }
  return %r })";

TEST_F(Updates, TheCarryOfALoopIsWrittenInPlace) {
  const auto l = Lower(kLoop);
  size_t depth = 0, large = 0;
  for (const ricci_plan_step& s : l->plan.steps) {
    depth += s.kind == RICCI_STEP_WHILE;
    depth -= s.kind == RICCI_STEP_END;
    if (depth == 0) continue;
    if (s.kind == RICCI_STEP_COPY) large += l->plan.buffers[l->plan.args[s.args]].bytes > 1000;
    if (s.kind == RICCI_STEP_KERNEL) large += Points(l->kernels[s.index]) > 64;
  }
  EXPECT_EQ(large, 0u);
  ExpectSameAsReference(kLoop);
}

TEST_F(Updates, ConstantsAreUpdatedWhenTheyFold) {
  ExpectSameAsReference(R"(program f() {
  %x: f32[3] = constant [1.0, 2.0, 3.0]
  %s: f32[4] = constant 0.5
  %i: i32[1,1] = constant 1
  %u: f32[1] = constant 7.0
  %a: f32[3] = scatter-add(%x, %i, %u) update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode="clip"
  %b: f32[4] = scatter-max(%s, %i, %u) update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode="clip"
  return %a, %b })");
}

TEST_F(Updates, AnArrayWithoutElementsStaysAsItIs) {
  ExpectSameAsReference(R"(program f(%u: f32[1]) {
  %x: f32[0] = constant 1.0
  %i: i32[1,1] = constant 1
  %a: f32[0] = scatter-max(%x, %i, %u) update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode="clip"
  return %a })");
}

TEST_F(Updates, AScanWithoutTripsLowers) {
  ExpectSameAsReference(R"(program f(%c: f32[300,300], %x: f32[0,300,300]) {
  %r: f32[300,300], %y: f32[0,300,300] = scan(%c, %x) length=0 num_consts=0 num_carry=1 reverse=true body=program(%a: f32[300,300], %b: f32[300,300]) {
    %d: f32[300,300] = dot_general(%a, %b) lhs_contract=[1] rhs_contract=[0]
    return %d, %b }
  return %r, %y })");
}

}  // namespace
}  // namespace ricci::testing
