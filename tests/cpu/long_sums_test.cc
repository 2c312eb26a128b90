// Sums of many terms in loops: random numbers whose key or counter is the loop's. LLVM must not see them whole, or it
// takes seconds to look for ways to split them (plugins/cpu/llvm/optimizer.cc).
#include "support/program_runner.h"

namespace ricci::testing { namespace {

size_t Frozen(ProgramRunner& r, const Program& f) {
  const std::string code = r.Dump(f, "native", "cpu");
  size_t n = 0;
  for (size_t at = code.find(" freeze "); at != std::string::npos; at = code.find(" freeze ", at + 1)) ++n;
  return n;
}

TEST(LongSums, RandomNumbersOfALoopsCounterAreCut) {
  ProgramRunner r;
  const Program f = r.Parse(
      "program f(%i: u32[], %x: u32[]) { %j: u32[], %y: u32[] = scan(%i, %x) length=5 num_carry=2 num_consts=0 "
      "reverse=false body=program(%i: u32[], %x: u32[]) { %one: u32[] = constant 1 %j: u32[] = add(%i, %one) "
      "%a: u32[], %b: u32[] = threefry2x32(%i, %j, %i, %i) %c: u32[] = add(%a, %b) %d: u32[] = add(%c, %x) "
      "return %j, %d } return %j, %y }");
  EXPECT_GE(Frozen(r, f), 3);
  r.RunEverywhere(f, {{7}, {3}}, 0);
}

TEST(LongSums, AddressesAreNot) {
  ProgramRunner r;
  const Program f = r.Parse(
      "program f(%x: f32[3,4,5,6], %y: f32[6,5,4,3]) { %t: f32[3,4,5,6] = transpose(%y) permutation=[3,2,1,0] "
      "%z: f32[3,4,5,6] = add(%x, %t) return %z }");
  EXPECT_EQ(Frozen(r, f), 0);
}

}}  // namespace ricci::testing
