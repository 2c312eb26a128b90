// What a point has to itself is accessed several elements at once (plugins/cuda/schedule/runs.h): the same bytes as
// `cpu`, for small matrices of all sizes, types and addresses.
#include <gtest/gtest.h>

#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

class RunsOfPoints : public SameBytes {
 protected:
  ~RunsOfPoints() override { EXPECT_EQ(OfStandin<const char*()>("ricci_standin_complaints")(), std::string()); }

  // Of 500 matrices x + y + 512 I, which are positive definite.
  Program Factors(int64_t n, const std::string& type) {
    const std::string size = "[500," + std::to_string(n) + "," + std::to_string(n) + "]", t = type + size;
    const auto iota = [&](const char* d) {
      return "iota() dtype=" + type + " shape=" + size + " dimension=" + d + "\n";
    };
    return runner_.Parse("program f(%x: " + t + ", %y: " + t + ") {\n  %i: " + t + " = " + iota("1") + "  %j: " + t +
                         " = " + iota("2") + "  %e: bool" + size + " = eq(%i, %j)\n  %z: " + t +
                         " = constant 0.0\n  %c: " + t + " = constant 512.0\n  %d: " + t +
                         " = select_n(%e, %z, %c)\n  %s: " + t + " = add(%x, %y)\n  %a: " + t +
                         " = add(%s, %d)\n  %l: " + t + " = cholesky(%a)\n  return %l\n}");
  }
  // What the text says; empty: no such accesses.
  void ExpectBytesAtOnce(const Program& f, const std::string& bytes) {
    const std::string text = runner_.Dump(f, "native", "cuda"), said = " bytes at once of ";
    const size_t at = text.find(said);
    const std::string found =
        at == text.npos ? "" : text.substr(text.rfind(' ', at - 1) + 1, at - text.rfind(' ', at - 1) - 1);
    EXPECT_EQ(found, bytes) << text;
  }
};

TEST_F(RunsOfPoints, SmallMatrices) {
  const std::pair<int64_t, const char*> kSizes[] = {{2, "16"}, {3, ""}, {4, "16"}, {5, ""}, {6, "16"}};
  for (const auto& [n, bytes] : kSizes) {
    const Program f = Factors(n, "f32");
    ExpectBytesAtOnce(f, bytes);
    for (const uint64_t shift : {0, 1, 2, 4}) ExpectSameBytes(f, {.shift = shift, .like = "cpu"});
  }
  for (const int64_t n : {2, 3, 4}) {
    const Program f = Factors(n, "f64");
    ExpectBytesAtOnce(f, n == 3 ? "" : "16");
    for (const uint64_t shift : {0, 1}) ExpectSameBytes(f, {.shift = shift, .like = "cpu"});
  }
}

}}  // namespace ricci::testing
