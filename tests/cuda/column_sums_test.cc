// Sums of columns, of which a thread takes sixteen rows at a time where their number allows it: the bytes are those of
// `ref`.
#include <gtest/gtest.h>

#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

class ColumnSums : public SameBytes {
 protected:
  // Of f32, with `equations` from %x to %v.
  Program Of(int64_t rows, int64_t columns, const std::string& equations, const std::string& reduce = "reduce_sum") {
    const std::string c = std::to_string(columns), type = "f32[" + std::to_string(rows) + "," + c + "]";
    std::string text =
        "program f(%x: T) {\n" + equations + "  %s: f32[" + c + "] = " + reduce + "(%v) axes=[0]\n  return %s\n}";
    for (size_t at; (at = text.find('T')) != text.npos;) text.replace(at, 1, type);
    return runner_.Parse(text);
  }
  bool IsUnrolled(const Program& f) {
    return runner_.Dump(f, "source", "cuda").find("#pragma unroll\n") != std::string::npos;
  }
};

constexpr const char* kShifted = "  %v: T = add(%x, %x)\n";

TEST_F(ColumnSums, OfManyRows) {
  struct {
    int64_t rows, columns;
    bool is_unrolled;
  } constexpr kCases[] = {{128, 64, true}, {256, 40, true}, {1280, 33, true}, {127, 64, false}, {136, 40, false}};
  for (const auto& [rows, columns, is_unrolled] : kCases) {
    const Program f = Of(rows, columns, kShifted);
    EXPECT_EQ(IsUnrolled(f), is_unrolled) << rows << " " << runner_.Dump(f, "source", "cuda");
    ExpectSameBytes(f);
    ExpectSameBytes(Of(rows, columns, kShifted, "reduce_max"));
  }
}

// Few columns of many rows are in parts; not all of the last 32 columns need be there.
TEST_F(ColumnSums, InParts) {
  struct {
    int64_t rows, columns;
    bool is_in_parts;
  } constexpr kCases[] = {
      {1024, 64, true}, {1500, 40, true}, {2048, 33, true}, {1023, 64, false}, {1024, 32 * 513, false}};
  for (const auto& [rows, columns, is_in_parts] : kCases) {
    const Program f = Of(rows, columns, kShifted);
    const std::string text = runner_.Dump(f, "source", "cuda");
    EXPECT_EQ(text.find("first of two launches") != text.npos, is_in_parts) << text;
    if (columns > 64) continue;
    for (const uint64_t shift : {0, 1}) ExpectSameBytes(f, {.shift = shift});
    ExpectSameBytes(Of(rows, columns, kShifted, "reduce_max"));
  }
}

// The code that it takes is bounded.
TEST_F(ColumnSums, OfMuchWork) {
  std::string equations = "  %e0: T = add(%x, %x)\n";
  for (int i = 0; i < 40; ++i) {
    equations += "  %e" + std::to_string(i + 1) + ": T = " + (i % 2 == 0 ? "sub" : "max") + "(%x, %e" +
                 std::to_string(i) + ")\n";
  }
  const Program f = Of(256, 64, equations + "  %v: T = add(%e40, %x)\n");
  EXPECT_FALSE(IsUnrolled(f));
  ExpectSameBytes(f);
}

}}  // namespace ricci::testing
