// Rows that a team keeps in registers from one loop to the next (plugins/cuda/schedule/kept_rows.h): each element is
// read once, each value computed once, and the bytes are those of `ref`.
#include <gtest/gtest.h>

#include "cuda/same_bytes.h"

namespace ricci::testing { namespace {

class KeptRows : public SameBytes {
 protected:
  // With T for the type, R for rows and N for their length.
  Program Of(std::string text, const std::string& type, int64_t rows, int64_t n) {
    const auto put = [&](char letter, const std::string& value) {
      for (size_t at; (at = text.find(letter)) != text.npos;) text.replace(at, 1, value);
    };
    put('T', type), put('R', std::to_string(rows)), put('N', std::to_string(n));
    return runner_.Parse(text);
  }
  size_t Times(const Program& f, const std::string& what) {
    const std::string text = runner_.Dump(f, "source", "cuda");
    size_t times = 0;
    for (size_t at = 0; (at = text.find(what, at)) != text.npos; ++at) ++times;
    return times;
  }
  void ExpectKept(const Program& f, int64_t values) {
    const std::string said = "// a row is read once: a thread keeps up to " + std::to_string(values) + " values";
    EXPECT_EQ(Times(f, said), 1u) << runner_.Dump(f, "source", "cuda");
    EXPECT_EQ(Times(f, "b0[") + Times(f, "(b0 + "), 1u) << runner_.Dump(f, "source", "cuda");
    ExpectSameBytes(f);
    ExpectSameBytes(f, {.shift = 1});
  }
  void ExpectReadAgain(const Program& f, const std::string& reason) {
    EXPECT_EQ(Times(f, "a row is read once"), 0u);
    EXPECT_NE(runner_.Dump(f, "decisions", "cuda").find(reason), std::string::npos)
        << runner_.Dump(f, "decisions", "cuda");
    ExpectSameBytes(f);
  }
};

// A maximum, a sum of differences, results of both: as a softmax, but exact.
constexpr const char* kThreeLoops = R"(program f(%x: T[R,N]) {
  %m: T[R] = reduce_max(%x) axes=[1]
  %b: T[R,N] = broadcast_in_dim(%m) shape=[R,N] broadcast_dimensions=[0]
  %d: T[R,N] = sub(%x, %b)
  %e: T[R,N] = abs(%d)
  %w: f32[R,N] = convert_element_type(%e) new_dtype=f32
  %s: f32[R] = reduce_sum(%w) axes=[1]
  %c: f32[R,N] = broadcast_in_dim(%s) shape=[R,N] broadcast_dimensions=[0]
  %y: f32[R,N] = add(%w, %c)
  return %y
})";

TEST_F(KeptRows, OfWarps) {
  struct {
    int64_t n, values;
  } constexpr kCases[] = {{32, 1}, {64, 2}, {100, 4}, {128, 4}, {1000, 32}, {1022, 32}, {1023, 32}, {1024, 32}};
  for (const auto& [n, values] : kCases) ExpectKept(Of(kThreeLoops, "f32", 40, n), values);
}

// What is too long for a warp is a block's.
TEST_F(KeptRows, OfBlocks) {
  struct {
    int64_t rows, n, values;
  } constexpr kCases[] = {{40, 1025, 5}, {40, 1500, 6}, {30, 2048, 8}, {8, 8188, 32}, {8, 8192, 32}};
  for (const auto& [rows, n, values] : kCases) {
    const Program f = Of(kThreeLoops, "f32", rows, n);
    EXPECT_EQ(Times(f, "// 256 threads for a point"), 1u) << n;
    ExpectKept(f, values);
  }
  ExpectReadAgain(Of(kThreeLoops, "f32", 7, 8196), "a row is read again in each loop: a thread would hold 33 values");
}

TEST_F(KeptRows, OfOtherTypes) {
  ExpectKept(Of(kThreeLoops, "f64", 40, 512), 32);  // two registers each
  ExpectKept(Of(kThreeLoops, "f64", 40, 516), 6);
  for (const char* type : {"bf16", "f16"}) {
    for (const int64_t n : {256, 1000, 1022, 1023, 1024}) ExpectKept(Of(kThreeLoops, type, 40, n), (n + 31) / 32);
  }
}

// Seeds change the order of threads; blocks meet in between.
TEST_F(KeptRows, ManyRows) {
  for (const uint64_t seed : {1, 2, 3}) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    ExpectSameBytes(Of(kThreeLoops, "f32", 300, 1100));
    ExpectSameBytes(Of(kThreeLoops, "f32", 1000, 260));
  }
  OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
  EXPECT_EQ(OfStandin<const char*()>("ricci_standin_complaints")(), std::string());
}

// The exponential is computed once, whatever is kept for it.
TEST_F(KeptRows, WhatIsExpensive) {
  const Program f = Of(R"(program f(%x: T[R,N]) {
  %m: T[R] = reduce_max(%x) axes=[1]
  %b: T[R,N] = broadcast_in_dim(%m) shape=[R,N] broadcast_dimensions=[0]
  %d: T[R,N] = sub(%x, %b)
  %e: T[R,N] = exp(%d)
  %s: T[R] = reduce_sum(%e) axes=[1]
  %c: T[R,N] = broadcast_in_dim(%s) shape=[R,N] broadcast_dimensions=[0]
  %y: T[R,N] = div(%e, %c)
  return %y
})",
                       "f32", 40, 256);
  EXPECT_EQ(Times(f, "ricci_dev_exp_f32("), 1u);
  EXPECT_EQ(Times(f, "(b0 + "), 1u);
  EXPECT_EQ(Run(f, "cuda", {}), Run(f, "cuda", {.shift = 1}));
}

// An operand that all trips share is not an element of the row.
TEST_F(KeptRows, OperandsOfRows) {
  const Program f = Of(R"(program f(%x: T[R,N], %g: T[R], %v: T[N]) {
  %h: T[R,N] = broadcast_in_dim(%g) shape=[R,N] broadcast_dimensions=[0]
  %u: T[R,N] = broadcast_in_dim(%v) shape=[R,N] broadcast_dimensions=[1]
  %p: T[R,N] = mul(%x, %h)
  %q: T[R,N] = add(%p, %u)
  %s: T[R] = reduce_sum(%q) axes=[1]
  %b: T[R,N] = broadcast_in_dim(%s) shape=[R,N] broadcast_dimensions=[0]
  %y: T[R,N] = sub(%q, %b)
  return %y
})",
                       "f32", 40, 200);
  EXPECT_EQ(Times(f, "b2["), 0u);
  EXPECT_EQ(Times(f, "(b2 + "), 1u);
  ExpectKept(f, 7);
}

// Where a row and what is computed of it are too many together, the row alone is kept.
TEST_F(KeptRows, LoadsAloneWhereAllIsTooMuch) {
  const Program f = Of(R"(program f(%x: T[R,N]) {
  %m: T[R] = reduce_max(%x) axes=[1]
  %b: T[R,N] = broadcast_in_dim(%m) shape=[R,N] broadcast_dimensions=[0]
  %d: T[R,N] = sub(%x, %b)
  %s: T[R] = reduce_sum(%d) axes=[1]
  %c: T[R,N] = broadcast_in_dim(%s) shape=[R,N] broadcast_dimensions=[0]
  %e: T[R,N] = mul(%x, %d)
  %y: T[R,N] = add(%e, %c)
  return %y
})",
                       "f32", 40, 1024);
  ExpectKept(f, 32);
}

// A loop with `operations` of each element after one that reads them.
std::string LongLoop(int operations) {
  std::string text = R"(program f(%x: T[R,N]) {
  %m: T[R] = reduce_max(%x) axes=[1]
  %e0: T[R,N] = broadcast_in_dim(%m) shape=[R,N] broadcast_dimensions=[0]
)";
  for (int i = 0; i < operations; ++i) {
    const std::string now = "%e" + std::to_string(i + 1), last = "%e" + std::to_string(i);
    text += "  " + now + ": T[R,N] = " + (i % 2 == 0 ? "sub(%x, " : "max(%x, ") + last + ")\n";
  }
  return text + "  return %e" + std::to_string(operations) + "\n}";
}

// The code that loops written out take is bounded.
TEST_F(KeptRows, NotMuchWork) {
  EXPECT_EQ(Times(Of(LongLoop(40), "f32", 8, 8192), "a row is read once"), 1u);
  ExpectReadAgain(Of(LongLoop(80), "f32", 8, 8192),
                  "a row is read again in each loop: the loops are much work for each thread");
}

// So much work is not made for several trips at a time: these are other threads' than those of the first loop.
TEST_F(KeptRows, TripsOfOtherThreads) {
  ExpectReadAgain(Of(LongLoop(80), "f32", 40, 256),
                  "a row is read again in each loop: only some of its loops read several elements at a time");
}

// A row that only a block could keep, and that is not kept: then a warp is enough.
TEST_F(KeptRows, ABlockIsForRowsThatAreKept) {
  const Program f = Of(LongLoop(80), "f32", 40, 1100);
  ExpectReadAgain(f, "a row is read again in each loop: only some of its loops read several elements at a time");
  EXPECT_EQ(Times(f, "// 32 threads for a point"), 1u) << runner_.Dump(f, "source", "cuda");
}

// Each element has one place in the row only: what a loop reads elsewhere it reads.
TEST_F(KeptRows, OtherElementsAreRead) {
  const Program f = Of(R"(program f(%x: T[R,N]) {
  %m: T[R] = reduce_max(%x) axes=[1]
  %b: T[R,N] = broadcast_in_dim(%m) shape=[R,N] broadcast_dimensions=[0]
  %r: T[R,N] = rev(%x) dimensions=[1]
  %y: T[R,N] = sub(%r, %b)
  return %y
})",
                       "f32", 40, 256);
  EXPECT_EQ(Times(f, "a row is read once"), 0u);
  ExpectSameBytes(f);
}

TEST_F(KeptRows, RowsThatAreDonated) {
  const Program f = Of(R"(program f(%x: T[R,N], %z: T[R]) {
  %m: T[R] = reduce_max(%x) axes=[1]
  %a: T[R] = add(%m, %z)
  %b: T[R,N] = broadcast_in_dim(%a) shape=[R,N] broadcast_dimensions=[0]
  %y: T[R,N] = sub(%x, %b)
  return %y
})",
                       "f32", 40, 260);
  EXPECT_EQ(Times(f, "a row is read once"), 1u);
  ExpectSameBytes(f, {.donate = true, .alias = -1});
}

}}  // namespace ricci::testing
