// Prefix scans that a team shares, against `ref`.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "cuda/simulated_gpu.h"
#include "ricci/plugin.hpp"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class ScansOnGpu : public ::testing::Test {
 protected:
  ScansOnGpu() { EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu))); }

  // One operation on an array of that type; `team`: what the text says about it.
  void Expect(const std::string& op, const std::string& type, const std::string& attrs, const Numbers& x,
              const std::string& team, double tolerance) {
    const Program f = runner_.Parse("program f(%x: " + type + ") {\n  %y: " + type + " = " + op + "(%x) " + attrs +
                                    "\n  return %y\n}");
    const std::string text = runner_.Dump(f, "native", "cuda");
    EXPECT_NE(text.find(team), std::string::npos) << text;
    const auto order = OfStandin<void(uint64_t)>("ricci_standin_seed");
    for (const uint64_t seed : {2, 1}) {
      order(seed);
      runner_.RunEverywhere(f, {x}, tolerance);
    }
  }

  // By `parts` blocks for each line: the same bits in any order of threads and blocks.
  void ExpectParts(const Program& f, const std::vector<Numbers>& in, int parts, double tolerance) {
    const std::string text = runner_.Dump(f, "native", "cuda");
    EXPECT_NE(text.find("// first of two launches: " + std::to_string(parts) + " parts of each scan, a block for each"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("// second of two launches: a block for each part"), std::string::npos) << text;
    const std::vector<Numbers> want = runner_.Run(f, in, "ref");
    std::vector<Numbers> first;
    const auto order = OfStandin<void(uint64_t)>("ricci_standin_seed");
    for (const uint64_t seed : {2, 1}) {
      order(seed);
      const std::vector<Numbers> out = runner_.Run(f, in, "cuda");
      ASSERT_EQ(out.size(), want.size());
      if (first.empty()) first = out;
      for (size_t r = 0; r < out.size(); ++r) {
        EXPECT_EQ(std::memcmp(out[r].data(), first[r].data(), out[r].size() * sizeof(double)), 0) << "result " << r;
        ExpectNear(out[r], want[r], tolerance);
      }
    }
  }
  static void ExpectNear(const Numbers& got, const Numbers& want, double tolerance) {
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
      ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::fabs(want[i]))) << "element " << i;
    }
  }
  void ExpectParts(const std::string& op, const std::string& type, const std::string& attrs, const Numbers& x,
                   int parts, double tolerance) {
    SCOPED_TRACE(op + " of " + type);
    ExpectParts(runner_.Parse("program f(%x: " + type + ") {\n  %y: " + type + " = " + op + "(%x) " + attrs +
                              "\n  return %y\n}"),
                {x}, parts, tolerance);
  }

  ProgramRunner runner_;
};

Numbers Waves(size_t n) {
  Numbers out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<double>((i * 29) % 64) / 64 - 0.5;
  return out;
}
Numbers Whole(size_t n) {
  Numbers out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<double>((i * 31) % 19) - 9;
  return out;
}

TEST_F(ScansOnGpu, OfRowsByWarps) {
  constexpr const char* kWarps = "// 32 threads for a point";
  for (const bool reverse : {false, true}) {
    const std::string attrs = std::string("axis=1 reverse=") + (reverse ? "true" : "false");
    Expect("cumsum", "f64[3,100]", attrs, Waves(300), kWarps, 1e-12);
    Expect("cumsum", "f32[3,96]", attrs, Waves(288), kWarps, 1e-5);
    Expect("cumprod", "i32[2,70]", attrs, Whole(140), kWarps, 0);
    Expect("cummax", "i32[2,33]", attrs, Whole(66), kWarps, 0);
    Expect("cummin", "u32[2,65]", attrs, Numbers(130, 7), kWarps, 0);
    Expect("cumlogsumexp", "f32[2,100]", attrs, Waves(200), kWarps, 1e-5);
  }
}

TEST_F(ScansOnGpu, OfNarrowFloats) {
  const Program f = runner_.Parse(R"(program f(%x: f32[2,50]) {
  %h: f16[2,50] = convert_element_type(%x) new_dtype=f16
  %c: f16[2,50] = cumsum(%h) axis=1 reverse=false
  %m: f16[2,50] = cummax(%h) axis=1 reverse=true
  %y: f32[2,50] = convert_element_type(%c) new_dtype=f32
  %z: f32[2,50] = convert_element_type(%m) new_dtype=f32
  return %y, %z
})");
  runner_.RunEverywhere(f, {Waves(100)}, 2e-3);
}

TEST_F(ScansOnGpu, OfLongLinesByBlocks) {
  constexpr const char* kBlocks = "// 256 threads for a point";
  Expect("cumsum", "i64[5000]", "axis=0 reverse=false", Whole(5000), kBlocks, 0);
  Expect("cumlogsumexp", "f64[4096]", "axis=0 reverse=true", Waves(4096), kBlocks, 1e-12);
  Expect("cummax", "f32[2,3001]", "axis=1 reverse=false", Waves(6002), kBlocks, 0);
}

// Products of complex numbers: two states, whose parts need each other.
TEST_F(ScansOnGpu, OfSeveralStates) {
  const Program f = runner_.Parse(R"(program f(%x: f64[300], %y: f64[300]) {
  %z: c128[300] = complex(%x, %y)
  %p: c128[300] = cumprod(%z) axis=0 reverse=false
  %a: f64[300] = real(%p)
  %b: f64[300] = imag(%p)
  return %a, %b
})");
  EXPECT_NE(runner_.Dump(f, "native", "cuda").find("// 32 threads for a point"), std::string::npos);
  Numbers x(300), y(300);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::cos(static_cast<double>(i)), y[i] = std::sin(static_cast<double>(i));
  runner_.RunEverywhere(f, {x, y}, 1e-11);
}

// Elements that fuse, a loop within the loop of the scan, and a second scan of what the first one gives.
TEST_F(ScansOnGpu, AmongOtherOperations) {
  const Program f = runner_.Parse(R"(program f(%x: f32[3,70], %w: f32[70,4]) {
  %d: f32[3,70] = exp(%x)
  %c: f32[3,70] = cumsum(%d) axis=1 reverse=false
  %l: f32[3,70] = log(%c)
  %m: f32[3,70] = cummax(%l) axis=1 reverse=true
  %s: f32[70] = reduce_sum(%w) axes=[1]
  %b: f32[3,70] = broadcast_in_dim(%s) shape=[3,70] broadcast_dimensions=[1]
  %p: f32[3,70] = mul(%b, %x)
  %q: f32[3,70] = cumsum(%p) axis=1 reverse=false
  return %m, %q
})");
  runner_.RunEverywhere(f, {Waves(210), Waves(280)}, 1e-5);
}

// Few columns: lanes go down one together, each store within its column.
TEST_F(ScansOnGpu, OfColumns) {
  Expect("cumsum", "f32[100,5]", "axis=0 reverse=false", Waves(500), "// 32 threads for a point", 1e-5);
}

// ---- few long lines, by several blocks each ----

// The last part may be cut, and those after it empty.
TEST_F(ScansOnGpu, OfVeryLongLinesInParts) {
  ExpectParts("cumsum", "f32[20000]", "axis=0 reverse=false", Waves(20000), 4, 1e-4);
  ExpectParts("cumsum", "f64[3,9001]", "axis=1 reverse=true", Waves(27003), 2, 1e-11);
  ExpectParts("cumprod", "i64[12289]", "axis=0 reverse=false", Whole(12289), 3, 0);
  Numbers falling(82000);
  for (size_t i = 0; i < falling.size(); ++i) falling[i] = static_cast<double>(90000 - i + i * 7919 % 1000);
  ExpectParts("cummin", "u32[82000]", "axis=0 reverse=false", falling, 20, 0);
  ExpectParts("cumlogsumexp", "f32[8192]", "axis=0 reverse=false", Waves(8192), 2, 1e-5);
  ExpectParts("cumsum", "i32[10000,2]", "axis=0 reverse=false", Whole(20000), 2, 0);
  // Fewer than twice the least part: one block's.
  Expect("cumsum", "i32[8191]", "axis=0 reverse=false", Whole(8191), "// 256 threads for a point", 0);
}

TEST_F(ScansOnGpu, OfPartsWithoutNumbers) {
  Numbers x = Waves(20580);
  x[0] = -0.0, x[5000] = -INFINITY, x[9000] = NAN;
  ExpectParts("cummax", "f32[20580]", "axis=0 reverse=false", x, 5, 0);
  ExpectParts("cummin", "f64[20580]", "axis=0 reverse=true", x, 5, 0);
  ExpectParts("cumsum", "f32[20580]", "axis=0 reverse=false", x, 5, 1e-4);
}

TEST_F(ScansOnGpu, OfNarrowFloatsInParts) {
  ExpectParts(runner_.Parse(R"(program f(%x: f32[9000]) {
  %h: bf16[9000] = convert_element_type(%x) new_dtype=bf16
  %c: bf16[9000] = cumsum(%h) axis=0 reverse=false
  %y: f32[9000] = convert_element_type(%c) new_dtype=f32
  return %y
})"),
              {Waves(9000)}, 2, 1e-2);
}

// Elements that fuse, and what follows each prefix.
TEST_F(ScansOnGpu, OfPartsAmongOtherOperations) {
  const Program f = runner_.Parse(R"(program f(%x: f64[9000], %s: f64[]) {
  %b: f64[9000] = broadcast_in_dim(%s) shape=[9000] broadcast_dimensions=[]
  %p: f64[9000] = mul(%x, %b)
  %c: f64[9000] = cumsum(%p) axis=0 reverse=false
  %y: f64[9000] = add(%c, %x)
  return %y
})");
  ExpectParts(f, {Waves(9000), {0.75}}, 2, 1e-11);
}

TEST_F(ScansOnGpu, OfSeveralStatesInParts) {
  const Program f = runner_.Parse(R"(program f(%x: f64[9000], %y: f64[9000]) {
  %z: c128[9000] = complex(%x, %y)
  %p: c128[9000] = cumprod(%z) axis=0 reverse=true
  %a: f64[9000] = real(%p)
  %b: f64[9000] = imag(%p)
  return %a, %b
})");
  Numbers x(9000), y(9000);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::cos(static_cast<double>(i)), y[i] = std::sin(static_cast<double>(i));
  ExpectParts(f, {x, y}, 2, 1e-9);
}

TEST_F(ScansOnGpu, OfPartsInALoopOfThePlan) {
  ExpectParts(runner_.Parse(R"(program f(%x: i32[9000]) {
  %k: i32[] = constant 3
  %n: i32[], %y: i32[9000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%i: i32[], %v: i32[9000]) {
    %zero: i32[] = constant 0
    %more: bool[] = gt(%i, %zero)
    return %more
  } body=program(%i: i32[], %v: i32[9000]) {
    %one: i32[] = constant 1
    %less: i32[] = sub(%i, %one)
    %w: i32[9000] = cumsum(%v) axis=0 reverse=false
    return %less, %w
  }
  return %y
})"),
              {Whole(9000)}, 2, 0);
}

// ---- a combiner whose sides differ ----

// h[i] = a[i] h[i - 1] + b[i] along the last dimension: maps x -> a x + b, composed.
void Recurrence(KernelBuilder& k, const Eqn& e) {
  const ArrayType a = e.in(0);
  const int64_t n = a.dim(1), lines = a.dim(0);
  k.Parallel(Dims(&lines, 1), [&](const Index& line) {
    const auto at = [&](Scalar i) { return Index{line[0], i}; };
    const Scalar identity[] = {k.Constant(a.dtype(), 1), k.Constant(a.dtype(), 0)};
    k.Scan(
        n, identity,
        [](const Index& first, const Index& then) {
          return Index{then[0] * first[0], then[0] * first[1] + then[1]};
        },
        [&](Scalar i) {
          return Index{k.Operand(0).Load(at(i)), k.Operand(1).Load(at(i))};
        },
        [&](Scalar i, const Index& upto) { k.Result().Store(at(i), upto[1]); });
  });
}
// The last number that is not 0.
void Latest(KernelBuilder& k, const Eqn& e) {
  const int64_t n = e.in(0).dim(0);
  const Scalar none = k.Constant(e.in(0).dtype(), 0);
  k.Scan(
      n, {&none, 1},
      [](const Index& first, const Index& then) { return Index{Select(then[0] == 0, first[0], then[0])}; },
      [&](Scalar i) { return Index{k.Operand(0).Load({i})}; },
      [&](Scalar i, const Index& upto) { k.Result().Store({i}, upto[0]); });
}
ArrayTypes TypeOfRecurrence(const Eqn& e) { return e.in(0); }
constexpr Lowering kRecurrenceLowerings[] = {{.loops = Recurrence}}, kLatestLowerings[] = {{.loops = Latest}};
constexpr Row kRecurrenceRows[] = {{.name = "test.recurrence",
                                    .type = TypeOfRecurrence,
                                    .lowerings = kRecurrenceLowerings,
                                    .missing = "jvp, transpose, batch: not of interest"},
                                   {.name = "test.latest",
                                    .type = TypeOfRecurrence,
                                    .lowerings = kLatestLowerings,
                                    .missing = "jvp, transpose, batch: not of interest"}};
RowList RecurrenceRows() { return kRecurrenceRows; }
RowList (*const kRecurrenceTables[])() = {RecurrenceRows};
constexpr ricci_plugin kRecurrencePlugin =
    Describe("recurrence", "1", [](void*, ricci_ctx* ctx) { return AttachRows(ctx, kRecurrenceTables); });
ricci_status* QueryRecurrence(const ricci_host_info*, const ricci_plugin** out) {
  *out = &kRecurrencePlugin;
  return nullptr;
}

TEST_F(ScansOnGpu, OfRecurrences) {
  EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QueryRecurrence)));
  const auto of = [&](const std::string& type) {
    return runner_.Parse("program f(%a: " + type + ", %b: " + type + ") {\n  %h: " + type +
                         " = test.recurrence(%a, %b)\n  return %h\n}");
  };
  runner_.RunEverywhere(of("i32[2,300]"), {Whole(600), Waves(600)}, 0);
  Numbers odd(41200), b(41200);
  for (size_t i = 0; i < odd.size(); ++i) odd[i] = i % 2 == 0 ? 3 : -5, b[i] = static_cast<double>(i % 11) - 5;
  ExpectParts(of("i32[2,20600]"), {odd, b}, 5, 0);
}

// More parts than a block combines at once. The accesses are those of other texts, so they are not checked again.
TEST_F(ScansOnGpu, OfManyParts) {
  EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QueryRecurrence)));
  Numbers x(258 * 4096);
  for (size_t i = 0; i < x.size(); i += 300000) x[i] = static_cast<double>(i + 1);
  x[256 * 4096 + 1000] = 5;  // in the last part but one
  const Program f =
      runner_.Parse("program f(%x: i32[1056768]) {\n  %y: i32[1056768] = test.latest(%x)\n  return %y\n}");
  OfStandin<void(uint32_t)>("ricci_standin_check")(0);
  EXPECT_NE(runner_.Dump(f, "native", "cuda").find(": 258 parts of each scan"), std::string::npos);
  ExpectNear(runner_.Run(f, {x}, "cuda")[0], runner_.Run(f, {x}, "ref")[0], 0);
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
}

}}  // namespace ricci::testing
