// Results of teams over the memory of an operand that each thread of the team reads: none may read what another has
// written already. The simulated GPU reports the race, and bytes must be those of `ref`.
#include <gtest/gtest.h>

#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

class TeamsInPlace : public SameBytes {
 protected:
  ~TeamsInPlace() override {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
    EXPECT_EQ(OfStandin<const char*()>("ricci_standin_complaints")(), std::string());
  }
  // x plus sums of `a` over its dimension `axis`, in the memory of x.
  void Expect(const std::string& x, const std::string& a, const std::string& axis, const std::string& threads) {
    ExpectOf("program f(%x: f32[" + x + "], %a: f32[" + a + "]) {\n  %r: f32[" + x + "] = reduce_sum(%a) axes=[" +
                 axis + "]\n  %y: f32[" + x + "] = add(%r, %x)\n  return %y\n}",
             threads);
  }
  // The result in the memory of the first argument.
  void ExpectOf(const std::string& program, const std::string& threads) {
    const Program f = runner_.Parse(program);
    const std::string text = runner_.Dump(f, "native", "cuda");
    EXPECT_NE(text.find("// " + threads + " threads for a point"), text.npos) << text;
    for (const uint64_t seed : {1, 2, 3}) {
      OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
      ExpectSameBytes(f, {.donate = true});
    }
  }
};

// Threads beyond the last trip repeat it: they, too, must not read what its thread has written.
TEST_F(TeamsInPlace, ScansThatAreCut) {
  for (const auto& [scan, n, threads] : {std::tuple("cumsum", "43", "32"), {"cummax", "5001", "256"}}) {
    for (const std::string reverse : {"true", "false"}) {
      const std::string type = "f32[" + std::string(n) + "]";
      ExpectOf("program f(%x: " + type + ", %a: " + type + ") {\n  %p: " + type + " = abs(%x)\n  %y: " + type + " = " +
                   scan + "(%p) axis=0 reverse=" + reverse + "\n  return %y\n}",
               threads);
    }
  }
}

TEST_F(TeamsInPlace, OfBlocks) { Expect("16", "16,4096", "1", "256"); }
TEST_F(TeamsInPlace, OfWarps) { Expect("600", "600,64", "1", "32"); }
TEST_F(TeamsInPlace, OfColumns) { Expect("100", "64,100", "0", "8"); }

}}  // namespace ricci::testing
