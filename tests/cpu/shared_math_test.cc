// Special functions that a kernel uses often are called, not inlined: the values are those of the inlined formula.
#include <gtest/gtest.h>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

// `n` results op(x + i); more than a few of them share one function.
std::string Many(const std::string& op, const std::string& type, int n) {
  std::string text = "program f(%x: " + type + ") {\n", results;
  for (int i = 0; i < n; ++i) {
    const std::string at = std::to_string(i);
    text +=
        "%c" + at + ": " + type + " = constant " + at + ".0e-2\n%s" + at + ": " + type + " = add(%x, %c" + at + ")\n";
    text += "%r" + at + ": " + type + " = " + op + "(%s" + at + (op == "pow" ? ", %x)\n" : ")\n");
    results += (i == 0 ? " return %r" : ", %r") + at;
  }
  return text + results + " }";
}

TEST(SharedMath, ManyUsesGiveTheBitsOfOne) {
  for (const char* op : {"sin", "exp", "lgamma", "atanh", "pow"}) {
    for (const char* type : {"f32[]", "f64[]", "f32[37]", "f64[37]", "f32[1200]"}) {
      ProgramRunner runner;
      const int64_t n = std::atoll(type + 4);
      Numbers x(static_cast<size_t>(n == 0 ? 1 : n));
      for (size_t i = 0; i < x.size(); ++i) x[i] = 0.3 + 0.2 * std::sin(static_cast<double>(i));
      const Numbers few = runner.RunEverywhere(runner.Parse(Many(op, type, 3)), {x}, 1e-6)[2];
      const std::vector<Numbers> many = runner.RunEverywhere(runner.Parse(Many(op, type, 40)), {x}, 1e-6);
      for (size_t i = 0; i < few.size(); ++i) {
        ASSERT_FALSE(std::isnan(few[i])) << op << " " << type << " " << i;
        EXPECT_EQ(few[i], many[2][i]) << op << " " << type << " " << i;
      }
    }
  }
}

// Both kinds of lanes in one module, and calls inside a loop.
TEST(SharedMath, ScalarsAndLanesInOneLoop) {
  std::string body = "program (%a: f32[], %v: f32[20]) {\n";
  for (int i = 0; i < 24; ++i) {
    const std::string before = i == 0 ? "a" : "a" + std::to_string(i - 1), at = std::to_string(i);
    const std::string row = i == 0 ? "v" : "v" + std::to_string(i - 1);
    body += "%a" + at + ": f32[] = sin(%" + before + ")\n%v" + at + ": f32[20] = sin(%" + row + ")\n";
  }
  body += "return %a23, %v23 }";
  ProgramRunner runner;
  Numbers v(20);
  for (size_t i = 0; i < v.size(); ++i) v[i] = 0.1 * static_cast<double>(i);
  const std::string text = "program f(%a: f32[], %v: f32[20]) { %p: f32[], %q: f32[20] = scan(%a, %v) body=" + body +
                           " length=3 num_consts=0 num_carry=2 return %p, %q }";
  EXPECT_EQ(runner.RunEverywhere(runner.Parse(text), {{0.5}, v}, 1e-4).size(), 2u);
}

}  // namespace
}  // namespace ricci::testing
