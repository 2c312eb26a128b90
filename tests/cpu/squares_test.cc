// Transposed arrays, whole and inside larger kernels, at sizes near those of squares.
#include "base/status.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

Numbers Counted(int64_t n) {
  Numbers out(static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>((i * 37) % 101) / 8 - 6;
  return out;
}
bool InSquares(ProgramRunner& r, const Program& f) {
  return r.Dump(f, "decisions", "cpu").find("transposed") != std::string::npos;
}

TEST(Squares, OfAllSizes) {
  ProgramRunner r;
  bool any = false;
  for (int64_t m : {3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50}) {
    for (int64_t n : {3, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50}) {
      const Program f = r.Parse(base::Cat("program f(%x: f32[", m, ",", n, "]) { %t: f32[", n, ",", m,
                                          "] = transpose(%x) permutation=[1,0] return %t }"));
      r.RunEverywhere(f, {Counted(m * n)}, 0);
      any |= InSquares(r, f);
    }
  }
  EXPECT_TRUE(any || r.Devices().size() == 1);
}

TEST(Squares, OfOtherTypes) {
  ProgramRunner r;
  for (const char* type : {"bool", "i32", "f64"}) {
    const Program f = r.Parse(base::Cat("program f(%x: ", type, "[2,19,35]) { %t: ", type,
                                        "[2,35,19] = transpose(%x) permutation=[0,2,1] return %t }"));
    Numbers in = Counted(int64_t{2} * 19 * 35);
    for (double& v : in) v = type[0] == 'b' ? static_cast<double>(v > 0) : std::floor(v);
    r.RunEverywhere(f, {in}, 0);
  }
}

// Several arrays, in order and transposed, and several results.
TEST(Squares, WithinLargerKernels) {
  ProgramRunner r;
  const Program f = r.Parse(R"(program f(%x: f32[40,33], %y: f32[33,40], %z: f32[33]) {
  %t: f32[33,40] = transpose(%x) permutation=[1,0]
  %b: f32[33,40] = broadcast_in_dim(%z) shape=[33,40] broadcast_dimensions=[0]
  %s: f32[33,40] = mul(%t, %y)
  %u: f32[33,40] = add(%s, %b)
  %v: f32[33,40] = tanh(%u)
  %w: f32[33,40] = sub(%y, %t)
  return %v, %w })");
  r.RunEverywhere(f, {Counted(40 * 33), Counted(33 * 40), Counted(33)}, 1e-6);
  EXPECT_TRUE(InSquares(r, f) || r.Devices().size() == 1);
}

// A matrix and its transpose: the same buffer in both orders.
TEST(Squares, OfTheSameArray) {
  ProgramRunner r;
  const Program f = r.Parse(R"(program f(%x: f32[37,37]) {
  %t: f32[37,37] = transpose(%x) permutation=[1,0]
  %s: f32[37,37] = add(%x, %t)
  return %s })");
  r.RunEverywhere(f, {Counted(37 * 37)}, 0);
}

// The other operand is not used again, so the result may take its memory.
TEST(Squares, WhereTheResultTakesTheMemoryOfAnOperand) {
  ProgramRunner r;
  const Program f = r.Parse(R"(program f(%x: f32[35,37], %y: f32[37,35]) {
  %m: f32[35,35] = dot_general(%x, %y) lhs_contract=[1] rhs_contract=[0]
  %n: f32[37,37] = dot_general(%y, %x) lhs_contract=[1] rhs_contract=[0]
  %t: f32[37,37] = transpose(%n) permutation=[1,0]
  %e: f32[37,37] = dot_general(%t, %n) lhs_contract=[1] rhs_contract=[0]
  %s: f32[37,37] = sub(%e, %t)
  return %s, %m })");
  r.RunEverywhere(f, {Counted(35 * 37), Counted(37 * 35)}, 1e-3);
}

}  // namespace
}  // namespace ricci::testing
