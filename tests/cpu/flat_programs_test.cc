// Long flat programs: code grows linearly with them, and no block of it becomes so long that the time of LLVM's code
// generator, the square of a block's length, matters. Counted in lines of code, not in time.
#include <sstream>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

using Shape = std::string (*)(int n);

std::string Updates(int n) {  // of different elements with one value: the chain of selections becomes one
  std::ostringstream t;
  t << "program f(%x0: f32[500]) {\n%v: f32[1] = constant 1.5\n";
  for (int i = 0; i < n; ++i) {
    t << "%i" << i << ": i32[] = constant " << i << "\n%x" << i + 1 << ": f32[500] = dynamic_update_slice(%x" << i
      << ", %v, %i" << i << ")\n";
  }
  t << "return %x" << n << "\n}";
  return t.str();
}
std::string LargeUpdates(int n) {  // in place, one kernel each
  std::string text = Updates(n);
  for (size_t at; (at = text.find("[500]")) != std::string::npos;) text.replace(at, 5, "[5000]");
  return text;
}

// A program of n parameters of `type`.
std::string OfParams(int n, const std::string& first, const std::string& type, const std::string& body) {
  std::ostringstream t;
  t << "program f(" << first;
  for (int i = 0; i < n; ++i) t << (i + first.size() ? ", " : "") << "%c" << i << ": " << type;
  t << ") {\n" << body << "}";
  return t.str();
}
std::string AllParams(int n) {
  std::ostringstream t;
  for (int i = 0; i < n; ++i) t << (i == 0 ? "%c" : ", %c") << i;
  return t.str();
}

std::string Cases(int n) {
  return OfParams(n, "%w: i32[64]", "f32[64]", "%r: f32[64] = select_n(%w, " + AllParams(n) + ")\nreturn %r\n");
}
std::string Pieces(int n) {
  const std::string type = "f32[" + std::to_string(64 * n) + "]";
  return OfParams(n, "", "f32[64]", "%r: " + type + " = concatenate(" + AllParams(n) + ") dimension=0\nreturn %r\n");
}
std::string Stacked(int n) {
  const std::string type = "f32[" + std::to_string(n) + "]";
  return OfParams(n, "", "f32[]", "%r: " + type + " = stack(" + AllParams(n) + ") axis=0\nreturn %r\n");
}
std::string SumOfParams(int n) {
  std::ostringstream t;
  for (int i = 1; i < n; ++i) {
    t << "%s" << i << ": f32[] = add(" << (i == 1 ? "%c" : "%s") << i - 1 << ", %c" << i << ")\n";
  }
  t << "return %s" << n - 1 << "\n";
  return OfParams(n, "", "f32[]", t.str());
}
std::string Constants(int n) {
  std::ostringstream t;
  t << "program f(%s0: f32[64]) {\n";
  for (int i = 0; i < n; ++i) {
    t << "%k" << i << ": f32[64] = constant " << 1 + 1.0 / (i + 2) << "\n%s" << i + 1 << ": f32[64] = mul(%s" << i
      << ", %k" << i << ")\n";
  }
  t << "return %s" << n << "\n}";
  return t.str();
}
// Every value is read twice: there are 2^n paths from the result to the parameter.
std::string Squares(int n) {
  std::ostringstream t;
  t << "program f(%s0: f32[8,16]) {\n";
  for (int i = 0; i < n; ++i) t << "%s" << i + 1 << ": f32[8,16] = mul(%s" << i << ", %s" << i << ")\n";
  t << "return %s" << n << "\n}";
  return t.str();
}
std::string Results(int n) {
  std::ostringstream t;
  t << "program f(%x: f32[], %s0: f32[]) {\n";
  for (int i = 0; i < n; ++i) {
    t << "%s" << i + 1 << ": f32[] = " << (i % 2 ? "mul" : "add") << "(%s" << i << ", %x)\n";
  }
  t << "return %s1";
  for (int i = 2; i <= n; ++i) t << ", %s" << i;
  t << "\n}";
  return t.str();
}

struct CodeSize {
  int64_t lines = 0, longest_block = 0;
};
CodeSize Count(const std::string& code) {
  CodeSize size;
  std::istringstream in(code);
  int64_t block = 0;
  for (std::string line; std::getline(in, line); ++size.lines) {
    block = line.starts_with("  ") ? block + 1 : 0;
    size.longest_block = std::max(size.longest_block, block);
  }
  return size;
}

struct Kind {
  const char* name;
  Shape shape;
};
class FlatPrograms : public ::testing::TestWithParam<Kind> {};

TEST_P(FlatPrograms, CodeIsLinearAndInShortBlocks) {
  ProgramRunner r;
  const auto measure = [&](int n) { return Count(r.Dump(r.Parse(GetParam().shape(n)), "native", "cpu")); };
  const CodeSize half = measure(400), whole = measure(800);
  EXPECT_GT(half.lines, 50);
  EXPECT_LE(static_cast<double>(whole.lines), 2.2 * static_cast<double>(half.lines));
  EXPECT_LE(whole.longest_block, 400);
}

// n operations on arrays of 64 elements in a loop. Written out element by element they would be 64 n lines at least.
std::string ArraysInLoop(int n) {
  std::ostringstream t;
  t << "program f(%x: f32[64], %y: f32[64]) {\n%r: f32[64] = scan(%x, %y) body=program body(%a: f32[64], %s0: f32[64]) "
       "{\n";
  for (int i = 0; i < n; ++i)
    t << "%s" << i + 1 << ": f32[64] = mul(%s" << i << ", " << (i % 2 ? "%a" : "%s0") << ")\n";
  t << "return %s" << n << "\n} length=20 num_consts=1 num_carry=1 reverse=false\nreturn %r\n}";
  return t.str();
}

TEST(ArraysInLoops, AreLoops) {
  ProgramRunner r;
  EXPECT_LE(Count(r.Dump(r.Parse(ArraysInLoop(100)), "native", "cpu")).lines, 16 * 100);
}

// Every carry becomes a phi at the head of the loop, which no cut may divide: carry i moves to i - 1, in five trips.
std::string ManyCarries(int n, const std::string& loop) {
  std::ostringstream in, params, results, next;
  for (int i = 0; i < n; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    in << comma << "%c" << i;
    params << comma << "%c" << i << ": f32[]";
    results << comma << "%r" << i << ": f32[]";
    next << comma << "%c" << (i + 1) % n;
  }
  std::ostringstream t;
  t << "program f(" << params.str() << ") {\n" << results.str() << " = ";
  if (loop == "scan") {
    t << "scan(" << in.str() << ") length=5 num_consts=0 num_carry=" << n << " body=program(" << params.str()
      << ") {\nreturn " << next.str() << " }\n";
  } else {
    t << "while(" << in.str() << ") cond_nconsts=0 body_nconsts=0 cond=program(" << params.str()
      << ") {\n%z: f32[] = constant 5.0\n%p: bool[] = ne(%c0, %z)\nreturn %p } body=program(" << params.str()
      << ") {\nreturn " << next.str() << " }\n";
  }
  t << "return %r0\n}";
  return t.str();
}

TEST(Loops, OfHundredsOfCarries) {
  ProgramRunner r;
  std::vector<Numbers> in;
  for (int i = 0; i < 500; ++i) in.push_back({static_cast<double>(i)});
  for (const char* loop : {"scan", "while"}) {
    EXPECT_EQ(r.Run(r.Parse(ManyCarries(500, loop)), in, "cpu")[0][0], 5) << loop;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, FlatPrograms,
                         ::testing::Values(Kind{"updates", Updates}, Kind{"large_updates", LargeUpdates},
                                           Kind{"cases", Cases}, Kind{"pieces", Pieces}, Kind{"stacked", Stacked},
                                           Kind{"params", SumOfParams}, Kind{"constants", Constants},
                                           Kind{"results", Results}, Kind{"squares", Squares}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace ricci::testing
