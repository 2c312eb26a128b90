// Hoisting: what is the same on every trip of a loop, or for every element of a vmap, is stored once, in one place of
// the arena. Counted in bytes of the arena, and in bytes that kernels write to it in a whole run.
#include "pass/lowered_program.h"
#include "transform/grad.h"

namespace ricci::testing { namespace {

constexpr int64_t kMatrix = 64 * 64 * sizeof(float), kVector = 64 * sizeof(float);
// A loop's counter, aligned; its condition lies where a trip puts something else later.
constexpr int64_t kCounter = 64;

class HoistMemory : public LoweredProgram {
 protected:
  static pass::Options Without(std::string_view skip) {
    auto stages = pass::ChooseStages("", skip);
    EXPECT_TRUE(stages.ok()) << stages.status();
    pass::Options options{.target = pass::Target("cpu")};
    options.stages = *stages;
    return options;
  }
  std::unique_ptr<pass::Lowered> With(std::string_view text, std::string_view skip = {}) {
    return Lower(text, Without(skip));
  }
  // The gradient by parameter 1.
  std::unique_ptr<pass::Lowered> WithGradient(std::string_view text, std::string_view skip = {}) {
    ricci_program* f = Parse(text);
    const uint32_t arg = 1;
    auto grad = transform::Grad(*ir::FromAbi(f), {&arg, 1}, false);
    ricci_program_release(f);
    EXPECT_TRUE(grad.ok()) << grad.status();
    auto lowered = pass::Lower(**grad, Without(skip));
    EXPECT_TRUE(lowered.ok()) << lowered.status();
    return *std::move(lowered);
  }
  static int64_t Arena(const pass::Lowered& l) { return static_cast<int64_t>(l.plan.arena_bytes); }
  // Bytes that kernels write into arrays of the arena in a run, the numbers of loops aside. `trips`: of a loop whose
  // number of trips the plan does not know.
  static int64_t Written(const pass::Lowered& l, int64_t trips = 0) {
    int64_t bytes = 0;
    std::vector<int64_t> times = {1};
    for (const ricci_plan_step& step : l.plan.steps) {
      if (step.kind == RICCI_STEP_WHILE) times.push_back(times.back() * (step.index == 0 ? trips : step.index));
      if (step.kind == RICCI_STEP_CASE) times.push_back(times.back());
      if (step.kind == RICCI_STEP_END) times.pop_back();
      if (step.kind != RICCI_STEP_KERNEL) continue;
      for (uint32_t a = 0; a < step.n_args; ++a) {
        const ricci_plan_buffer& b = l.plan.buffers[l.plan.args[step.args + a]];
        const bool writes = (l.kernels[step.index].buffers[a].access & RICCI_ACCESS_WRITE) != 0;
        if (writes && b.kind == RICCI_BUFFER_ARENA && b.bytes > 8)
          bytes += times.back() * static_cast<int64_t>(b.bytes);
      }
    }
    return bytes;
  }
};

// A loop in the plan, c' = s c + x; `maps` computes the matrix s from w alone.
std::string Scan(int64_t length, std::string_view maps) {
  const std::string n = std::to_string(length);
  return base::Cat("program f(%w: f32[64,64], %c: f32[64], %xs: f32[", n, ",64]) {\n",
                   "%y: f32[64] = scan(%w, %c, %xs) length=", n, " num_consts=1 num_carry=1 reverse=false",
                   " run_in=\"plan\" body=program(%w: f32[64,64], %c: f32[64], %x: f32[64]) {\n", maps,
                   "%p: f32[64] = dot_general(%s, %c) lhs_contract=[1] rhs_contract=[0]\n",
                   "%n: f32[64] = add(%p, %x)\nreturn %n }\nreturn %y }");
}
constexpr std::string_view kSine = "%s: f32[64,64] = sin(%w)\n";

TEST_F(HoistMemory, AnInvariantOfALoopIsStoredOnce) {
  for (const int64_t length : {2, 50, 5000}) {
    SCOPED_TRACE(length);
    const std::string text = Scan(length, kSine);
    const auto hoisted = With(text), off = With(text, "hoist");
    EXPECT_EQ(Arena(*hoisted), kMatrix + kVector + kCounter) << "however long the loop is";
    EXPECT_EQ(Written(*hoisted), kMatrix + length * kVector);
    EXPECT_EQ(Written(*off), length * (kMatrix + kVector));
  }
  ExpectSameAsReference(Scan(50, kSine));
}

// Only what the loop reads is kept. The array before it is dead when the loop begins, and its memory takes the small
// values of the loop.
TEST_F(HoistMemory, ValuesThatOnlyHoistedOnesReadAreNotKept) {
  const std::string chain = Scan(50,
                                 "%t: f32[64,64] = cumsum(%w) axis=0 reverse=false\n"
                                 "%u: f32[64,64] = cumsum(%t) axis=0 reverse=true\n"
                                 "%v: f32[64,64] = cumsum(%u) axis=0 reverse=false\n"
                                 "%s: f32[64,64] = sin(%v)\n");
  const auto hoisted = With(chain), off = With(chain, "hoist");
  EXPECT_EQ(Arena(*hoisted), 2 * kMatrix);
  EXPECT_EQ(Written(*hoisted), 4 * kMatrix + 50 * kVector);
  EXPECT_EQ(Written(*off), 50 * (4 * kMatrix + kVector));
}

TEST_F(HoistMemory, SeveralInvariantsHaveAPlaceEach) {
  const auto text = [](int64_t length) {
    const std::string n = std::to_string(length);
    return base::Cat(
        "program f(%w: f32[64,64], %c: f32[64]) {\n%y: f32[64] = scan(%w, %c) length=", n,
        " num_consts=1 num_carry=1 reverse=false run_in=\"plan\" body=program(%w: f32[64,64], %c: f32[64]) {",
        "%s: f32[64,64] = sin(%w)\n%e: f32[64,64] = exp(%w)\n",
        "%p: f32[64] = dot_general(%s, %c) lhs_contract=[1] rhs_contract=[0]\n",
        "%q: f32[64] = dot_general(%e, %p) lhs_contract=[1] rhs_contract=[0]\nreturn %q }\nreturn %y }");
  };
  for (const int64_t length : {2, 500}) {
    const auto hoisted = With(text(length)), off = With(text(length), "hoist");
    EXPECT_EQ(Arena(*hoisted), 2 * kMatrix + kVector + kCounter);
    EXPECT_EQ(Written(*hoisted), 2 * kMatrix + length * kVector);
    EXPECT_EQ(Written(*off), length * (2 * kMatrix + kVector));
  }
}

// Out of both loops.
TEST_F(HoistMemory, AnInvariantOfNestedLoopsIsStoredOnce) {
  constexpr std::string_view kText = R"(
program f(%w: f32[64,64], %c: f32[64]) {
  %y: f32[64] = scan(%w, %c) length=7 num_consts=1 num_carry=1 reverse=false run_in="plan" body=program(%w: f32[64,64], %c: f32[64]) {
    %z: f32[64] = scan(%w, %c) length=5 num_consts=1 num_carry=1 reverse=false run_in="plan" body=program(%w: f32[64,64], %c: f32[64]) {
      %s: f32[64,64] = sin(%w)
      %p: f32[64] = dot_general(%s, %c) lhs_contract=[1] rhs_contract=[0]
      return %p
    }
    return %z
  }
  return %y
})";
  const auto hoisted = With(kText), off = With(kText, "hoist");
  EXPECT_EQ(Arena(*hoisted), kMatrix + kVector + 2 * kCounter);
  EXPECT_EQ(Written(*hoisted), kMatrix + 35 * kVector);
  EXPECT_EQ(Written(*off), 35 * (kMatrix + kVector));
  ExpectSameAsReference(kText);
}

// A while may have no trip: what costs little is computed before it all the same.
TEST_F(HoistMemory, AnInvariantOfAWhileIsStoredOnce) {
  constexpr std::string_view kText = R"(
program f(%w: f32[64,64], %c: f32[64], %n: f32[]) {
  %y: f32[64], %m: f32[] = while(%w, %c, %n) cond_nconsts=0 body_nconsts=1 run_in="plan" cond=program(%c: f32[64], %n: f32[]) {
    %zero: f32[] = constant 0.0
    %go: bool[] = gt(%n, %zero)
    return %go
  } body=program(%w: f32[64,64], %c: f32[64], %n: f32[]) {
    %s: f32[64,64] = sin(%w)
    %p: f32[64] = dot_general(%s, %c) lhs_contract=[1] rhs_contract=[0]
    %one: f32[] = constant 1.0
    %m: f32[] = sub(%n, %one)
    return %p, %m
  }
  return %y
})";
  const auto hoisted = With(kText), off = With(kText, "hoist");
  for (const int64_t trips : {0, 1, 9}) {
    EXPECT_EQ(Written(*hoisted, trips), kMatrix + trips * kVector);
    EXPECT_EQ(Written(*off, trips), trips * (kMatrix + kVector));
  }
  EXPECT_EQ(Arena(*hoisted), kMatrix + kVector + kCounter);
}

// In lanes every element would compute it: one matrix for all of them instead.
TEST_F(HoistMemory, WhatNoElementOfAVmapChangesIsStoredOnce) {
  for (const int64_t batch : {10, 1000}) {
    const std::string n = std::to_string(batch);
    const std::string text = base::Cat(
        "program f(%w: f32[64,64], %x: f32[", n, ",64]) {\n%y: f32[", n, ",64] = vmap(%w, %x) size=", n,
        " in_axes=[-1,0] out_axes=[0] schedule=\"lanes\" body=program(%w: f32[64,64], %x: f32[64]) {\n", kSine,
        "%p: f32[64] = dot_general(%s, %x) lhs_contract=[1] rhs_contract=[0]\nreturn %p }\nreturn %y }");
    const auto hoisted = With(text), off = With(text, "hoist");
    EXPECT_EQ(Arena(*hoisted), kMatrix);
    EXPECT_EQ(Written(*hoisted), kMatrix);
    EXPECT_EQ(Arena(*off), 0) << "computed again for each element, in registers";
    EXPECT_EQ(hoisted->flops, static_cast<uint64_t>(64 * 64 * (1 + 2 * batch)));
    EXPECT_EQ(off->flops, static_cast<uint64_t>(64 * 64 * (batch + 2 * batch)));
  }
}

// Reverse mode keeps a vector of each trip, and one copy of the matrix that all trips of both loops read.
TEST_F(HoistMemory, AnInvariantResidualIsStoredOnce) {
  for (const int64_t length : {10, 500}) {
    const std::string text = base::Cat(
        "program f(%w: f32[64,64], %c: f32[64]) {\n%y: f32[64] = scan(%w, %c) length=", length,
        " num_consts=1 num_carry=1 reverse=false run_in=\"plan\" body=program(%w: f32[64,64], %c: f32[64]) {\n", kSine,
        "%p: f32[64] = dot_general(%s, %c) lhs_contract=[1] rhs_contract=[0]\n%t: f32[64] = sin(%p)\nreturn %t }\n",
        "%r: f32[] = reduce_sum(%y) axes=[0]\nreturn %r }");
    const int64_t own = length * kVector + 2 * kVector + kCounter;  // the residuals, a carry and a product
    EXPECT_EQ(Arena(*WithGradient(text)), kMatrix + own);
    EXPECT_EQ(Arena(*WithGradient(text, "hoist")), 2 * kMatrix + own) << "the forward loop computes one of its own";
  }
}

}  // namespace
}  // namespace ricci::testing
