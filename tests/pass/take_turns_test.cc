// Large carries of a scan go from one buffer to another and back: no trip copies them.
#include "pass/lowered_program.h"

namespace ricci::testing { namespace {

using TakeTurns = LoweredProgram;

// `length` times the mean of each element and its neighbour: an element needs others, so no trip may write in place.
std::string Smooth(int size, int length) {
  const std::string n = std::to_string(size), m = std::to_string(size - 1), type = "f32[" + n + "]";
  return "program f(%x: " + type + ") { %y: " + type + " = scan(%x) length=" + std::to_string(length) +
         " num_consts=0 num_carry=1 reverse=false body=program(%c: " + type + ") {\n" + " %a: f32[" + m +
         "] = slice(%c) start_indices=[1] limit_indices=[" + n + "]\n" + " %z: f32[] = constant 0.0  %b: " + type +
         " = pad(%a, %z) low=[0] high=[1] interior=[0]\n" + " %h: f32[] = constant 0.5  %w: " + type +
         " = broadcast_in_dim(%h) shape=[" + n + "] broadcast_dimensions=[]\n %s: " + type +
         " = add(%c, %b)  %m: " + type + " = mul(%s, %w)  return %m }" + " return %y }";
}

// Copies in loops, and outside of them.
std::pair<int, int> Copies(const pass::Lowered& l) {
  int depth = 0, inside = 0, outside = 0;
  for (const ricci_plan_step& step : l.plan.steps) {
    depth += step.kind == RICCI_STEP_WHILE;
    depth -= step.kind == RICCI_STEP_END;
    if (step.kind == RICCI_STEP_COPY) ++(depth > 0 ? inside : outside);
  }
  return {inside, outside};
}

TEST_F(TakeTurns, NoTripCopiesALargeCarry) {
  EXPECT_EQ(Copies(*Lower(Smooth(2048, 10))), std::pair(0, 1)) << "of the initial value";
  EXPECT_EQ(Copies(*Lower(Smooth(2048, 11))), std::pair(0, 2)) << "the last trip's, too, where their number is odd";
  for (const int length : {1, 2, 3, 10, 11}) ExpectSameAsReference(Smooth(2048, length));
}

// Loops within loops: the plan grows with their number, it does not double with each.
TEST_F(TakeTurns, OnlyTheInnermostLoop) {
  const auto nested = [](int levels) {
    std::string head, tail;
    for (int i = 0; i < levels; ++i) {
      head += "%y: f32[2048] = scan(%x) length=6 num_consts=0 num_carry=1 reverse=false body=program(%x: f32[2048]) { ";
      tail += " return %y }";
    }
    return "program f(%x: f32[2048]) { " + head + "%y: f32[2048] = rev(%x) dimensions=[0]" + tail + " return %y }";
  };
  const size_t two = Lower(nested(2))->plan.steps.size(), ten = Lower(nested(10))->plan.steps.size();
  EXPECT_LE(ten, 6 * two);
  ExpectSameAsReference(nested(2));
}

// A carry that a kernel may write over needs no second buffer: one trip per iteration, and no extra memory.
TEST_F(TakeTurns, NotWhatIsWrittenInPlace) {
  const auto text = [](int length) {
    return "program f(%x: f32[9000]) { %y: f32[9000] = scan(%x) length=" + std::to_string(length) +
           " num_consts=0 num_carry=1 reverse=false body=program(%c: f32[9000]) { %s: f32[9000] = sin(%c)  return %s }"
           " return %y }";
  };
  const auto l = Lower(text(11));
  EXPECT_EQ(Copies(*l), std::pair(0, 1));
  EXPECT_EQ(l->plan.steps.size(), 8u)
      << "of them copy, counter_start, while, counter_less, cond, sin, counter_next, end";
  EXPECT_LT(l->plan.arena_bytes, 1000u);
  ExpectSameAsReference(text(11));
}

// Of two exchanged carries and a third one, in odd and even numbers of trips.
TEST_F(TakeTurns, SeveralCarries) {
  for (const int length : {2, 3, 4, 7}) {
    const std::string text =
        "program f(%x: f32[40,40], %y: f32[40,40], %z: f32[40,40]) { %r: f32[40,40], %s: f32[40,40], %t: f32[40,40] ="
        " scan(%x, %y, %z) length=" +
        std::to_string(length) +
        " num_consts=0 num_carry=3 reverse=false body=program(%a: f32[40,40], %b: f32[40,40], %c: f32[40,40]) {"
        " %d: f32[40,40] = rev(%c) dimensions=[0]  %e: f32[40,40] = sub(%d, %a)  return %b, %a, %e }"
        " return %r, %s, %t }";
    EXPECT_EQ(Copies(*Lower(text)).first, 4) << length;
    ExpectSameAsReference(text);
  }
}

TEST_F(TakeTurns, ASmallCarryIsCopied) { EXPECT_EQ(Copies(*Lower(Smooth(300, 10))).first, 1); }

}  // namespace
}  // namespace ricci::testing
