// Reductions beside each other (plugins/cuda/tile/joined_loops.h): one loop that reads an element once, and the bytes
// of `ref`.
#include <gtest/gtest.h>

#include "cuda/counting.h"
#include "cuda/gpu_program.h"
#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

class JoinedLoops : public SameBytes {
 protected:
  // `equations` of %x: T, where T is an array of that type, R what is left of it without `axes`, I the same of indices.
  Program Of(const std::string& type, const std::vector<int64_t>& shape, const std::vector<size_t>& axes,
             std::string text) {
    std::string all, rest, reduced;
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool is_reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
      (is_reduced ? reduced : rest) += std::to_string(is_reduced ? static_cast<int64_t>(d) : shape[d]) + ",";
      all += std::to_string(shape[d]) + ",";
    }
    for (std::string* list : {&all, &rest, &reduced}) {
      if (!list->empty()) list->pop_back();
    }
    const std::pair<std::string, std::string> names[] = {{"T", type + "[" + all + "]"},
                                                         {"R", type + "[" + rest + "]"},
                                                         {"I", "i32[" + rest + "]"},
                                                         {"AXES", "axes=[" + reduced + "]"}};
    for (const auto& [name, value] : names) {
      for (size_t at = 0; (at = text.find("$" + name, at)) != text.npos;) text.replace(at, name.size() + 1, value);
    }
    return runner_.Parse(text);
  }
  std::string Source(const Program& f) { return runner_.Dump(f, "source", "cuda"); }
  static size_t Count(const std::string& text, std::string_view word) {
    size_t n = 0;
    for (size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) ++n;
    return n;
  }
};

constexpr const char* kMoments = R"(program f(%x: $T) {
  %q: $T = mul(%x, %x)
  %m: $R = reduce_sum(%x) $AXES
  %s: $R = reduce_sum(%q) $AXES
  return %m, %s
})";

struct Case {
  const char* name;
  std::vector<int64_t> shape;
  std::vector<size_t> axes;
  const char* said;  // in the text
};
const Case kCases[] = {
    {"Rows of a warp in order", {64, 512}, {1}, "a row is read once"},
    {"Long rows in parts", {3, 40000}, {1}, "first of two launches"},
    {"Channels in parts", {8, 3, 56, 56}, {0, 2, 3}, "first of two launches"},
    {"Channels, of which batches are written out", {3, 300, 30, 30}, {0, 2, 3}, "one of 900 trips"},
    {"Channels, over rows", {5, 70, 48, 44}, {0, 2, 3}, "over "},
    {"Channels of odd size", {2, 7, 37, 31}, {0, 2, 3}, "threads for a point"},
    {"Columns in parts", {2048, 40}, {0}, "first of two launches"},
    {"Columns, unrolled", {256, 40}, {0}, "threads for a point"},
    {"A thread for a point", {20, 40000}, {0}, ""},
};

TEST_F(JoinedLoops, SumsOfElementsAndSquares) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    for (const char* type : {"f32", "i32"}) {
      const Program f = Of(type, c.shape, c.axes, kMoments);
      const std::string source = Source(f);
      EXPECT_EQ(Count(source, "\n// "), source.find("_parts(") != source.npos ? 2u : 1u) << source;
      const bool is_joined = source.find("are one loop") != source.npos;
      EXPECT_NE(is_joined, source.find("a row is read once") != source.npos) << source;
      EXPECT_NE(source.find(c.said), std::string::npos) << source;
      for (const uint64_t shift : {0, 1}) ExpectSameBytes(f, {.shift = shift});
    }
  }
}

// Each of three reductions of one array has its own combiner; what a loop needs from outside is there before it.
TEST_F(JoinedLoops, OfSeveralCombiners) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.name);
    ExpectSameBytes(Of("f32", c.shape, c.axes, R"(program f(%x: $T) {
  %q: $T = mul(%x, %x)
  %l: $R = reduce_min(%x) $AXES
  %m: $R = reduce_max(%x) $AXES
  %s: $R = reduce_sum(%q) $AXES
  %d: $R = sub(%m, %l)
  return %m, %s, %l, %d
})"));
  }
}

// Of 16 bits two are computed at once, of 8 bits nothing is joined.
TEST_F(JoinedLoops, OfNarrowFloats) {
  for (const char* type : {"bf16", "f16", "f8e4m3fn"}) {
    ExpectSameBytes(Of(type, {3, 4096}, {1}, R"(program f(%x: $T) {
  %n: $T = neg(%x)
  %m: $R = reduce_max(%x) $AXES
  %s: $R = reduce_max(%n) $AXES
  return %m, %s
})"));
  }
}

// One joins the first loop although another one is between them, which needs what the first leaves.
TEST_F(JoinedLoops, AcrossALoopThatNeedsTheFirst) {
  constexpr const char* kText = R"(program f(%x: $T) {
  %m: $R = reduce_max(%x) $AXES
  %b: $T = broadcast_in_dim(%m) shape=[SHAPE] broadcast_dimensions=[ROW]
  %d: $T = sub(%x, %b)
  %l: $R = reduce_min(%d) $AXES
  %s: $R = reduce_sum(%x) $AXES
  %a: $R = add(%l, %s)
  return %m, %a
})";
  for (const auto& [shape, along] : {std::pair<std::vector<int64_t>, size_t>{{3, 20000}, 1}, {{600, 40}, 0}}) {
    std::string text = kText;
    const std::string sizes = std::to_string(shape[0]) + "," + std::to_string(shape[1]),
                      row = std::to_string(1 - along);
    text.replace(text.find("SHAPE"), 5, sizes);
    text.replace(text.find("ROW"), 3, row);
    const Program f = Of("f32", shape, {along}, text);
    EXPECT_EQ(Count(Source(f), "are one loop"), 1u) << Source(f);
    ExpectSameBytes(f);
  }
}

// The loop of an index is none that may join: it needs the extremum. That of the extremum is.
TEST_F(JoinedLoops, BesideTheIndexOfAnExtremum) {
  for (const Case& c : kCases) {
    if (c.axes.size() != 1) continue;
    SCOPED_TRACE(c.name);
    ExpectSameBytes(Of("f32", c.shape, c.axes, R"(program f(%x: $T) {
  %i: $I = argmax(%x) $AXES index_dtype=i32
  %s: $R = reduce_sum(%x) $AXES
  return %i, %s
})"));
  }
}

// What needs the result of another loop has a loop of its own, and so has what reads something else.
TEST_F(JoinedLoops, OthersAreNot) {
  const Program needs = Of("f32", {3, 40000}, {1}, R"(program f(%x: $T) {
  %m: $R = reduce_max(%x) $AXES
  %b: $T = broadcast_in_dim(%m) shape=[3,40000] broadcast_dimensions=[0]
  %d: $T = sub(%x, %b)
  %s: $R = reduce_sum(%d) $AXES
  return %m, %s
})");
  EXPECT_EQ(Count(Source(needs), "\n// "), 4u) << Source(needs);
  ExpectSameBytes(needs);
  ExpectSameBytes(runner_.Parse(R"(program f(%x: f32[300,300]) {
  %m: f32[300] = reduce_sum(%x) axes=[0]
  %s: f32[300] = reduce_sum(%x) axes=[1]
  return %m, %s
})"));
}

// The GPU reads the array once.
TEST_F(JoinedLoops, ReadOnce) {
  const auto requests = [&](const std::string& results) {
    GpuProgram f(GpuOf(runner_.ctx()));
    const std::string text =
        "program f(%x: f32[2,4,32,64]) {\n  %q: f32[2,4,32,64] = mul(%x, %x)\n"
        "  %m: f32[4] = reduce_sum(%x) axes=[0,2,3]\n"
        "  %s: f32[4] = reduce_sum(%q) axes=[0,2,3]\n  return " +
        results + "\n}";
    EXPECT_TRUE(Ok(f.Compile(runner_.ctx(), text)));
    EXPECT_TRUE(Ok(f.Give({Floats(1 << 14, 1.0f)})));
    const Counting counting;
    EXPECT_TRUE(Ok(f.Enqueue()));
    std::vector<Floats> out;
    EXPECT_TRUE(Ok(f.Read(out)));
    return Counted().least_sectors;
  };
  const uint64_t one = requests("%m"), both = requests("%m, %s");
  EXPECT_GE(one, uint64_t{1} << 11);
  EXPECT_LE(both, one + one / 16);
}

}}  // namespace ricci::testing
