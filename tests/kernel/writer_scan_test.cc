// Updates and scans of a kernel as text: combiners, short ones unrolled, and messages of misuse.
#include <gtest/gtest.h>

#include "kernel/writer.h"

namespace ricci::kernel { namespace {

// out[at[i]] += in[i]; `also` writes more.
template <typename Also>
absl::StatusOr<Kernel> Sums(uint32_t combiner, Also also) {
  Writer w("sums");
  const uint32_t at = w.Buffer(RICCI_I64, 100, RICCI_ACCESS_READ), in = w.Buffer(RICCI_F32, 100, RICCI_ACCESS_READ);
  const uint32_t out = w.Buffer(RICCI_F32, 5, RICCI_ACCESS_READ_WRITE);
  Val i = 0;
  const int64_t extents[] = {100};
  w.Parallel(extents, &i);
  const Val to = w.Load(at, i);
  w.Combine(out, to, combiner, w.Load(in, i));
  also(w, out, i);
  w.End();
  return w.Finish();
}

TEST(WriterScan, UpdatesCombine) {
  const absl::StatusOr<Kernel> k = Sums(RICCI_S_ADD, [](Writer&, uint32_t, Val) {});
  ASSERT_TRUE(k.ok()) << k.status();
  EXPECT_EQ(ToText(*k), R"(kernel sums(b0: i64[100] read, b1: f32[100] read, b2: f32[5] read_write) domain [100] {
  %1: i64 = domain 0
  %2: i64 = load b0[%1]
  %3: f32 = load b1[%1]
  add b2[%2] with %3
}
)");
  int64_t at[100];
  float in[100], out[5] = {1, 1, 1, 1, 1};
  for (int64_t i = 0; i < 100; ++i) at[i] = i % 4, in[i] = static_cast<float>(i);
  void* const buffers[] = {at, in, out};
  ASSERT_TRUE(Interpret(k->View(), buffers).ok());
  EXPECT_EQ(out[0], 1201);
  EXPECT_EQ(out[3], 1276);
  EXPECT_EQ(out[4], 1);
}

TEST(WriterScan, MisuseOfUpdates) {
  const auto has = [](const absl::StatusOr<Kernel>& k, const std::string& part) {
    EXPECT_NE(std::string(k.status().message()).find(part), std::string::npos) << k.status();
  };
  has(Sums(RICCI_S_SUB, [](Writer&, uint32_t, Val) {}), "the combiner must be add, mul, max, min");
  has(Sums(RICCI_S_ADD, [](Writer& w, uint32_t out, Val i) { w.Load(out, i); }),
      "may not access that buffer otherwise");
  has(Sums(RICCI_S_ADD, [](Writer& w, uint32_t out, Val i) { w.Store(out, i, w.Float(RICCI_F32, 1)); }),
      "may not access that buffer otherwise");
  has(Sums(RICCI_S_ADD, [](Writer& w, uint32_t out, Val i) { w.Combine(out, i, RICCI_S_ADD, i); }),
      "buffer 2 is f32 and the value is i64");
}

// out[i] is all of in[0] to in[i], combined by `op`.
absl::StatusOr<Kernel> Prefixes(int64_t n, uint32_t op, double identity) {
  Writer w("scan");
  const uint32_t in = w.Buffer(RICCI_F32, n, RICCI_ACCESS_READ), out = w.Buffer(RICCI_F32, n, RICCI_ACCESS_WRITE);
  Val left = 0, right = 0, prefix = 0;
  w.Scan(w.Index(0), w.Index(n), {{w.Float(RICCI_F32, identity)}}, &left, &right);
  const Val i = w.Combiner({{w.Op(op, left, right)}});
  w.Prefix({{w.Load(in, i)}}, &prefix);
  w.Store(out, i, prefix);
  w.End();
  return w.Finish();
}

TEST(WriterScan, ScansHoldTheirCombiner) {
  EXPECT_EQ(ToText(*Prefixes(100, RICCI_S_ADD, 0)), R"(kernel scan(b0: f32[100] read, b1: f32[100] write) {
  scan %4 in 0..100 {
    %5: f32 = left 0 from 0.0
    %6: f32 = right 0
    %7: f32 = add %5, %6
    combined 0 = %7
    %9: f32 = load b0[%4]
    %10: f32 = prefix 0 with %9
    store b1[%4] = %10
  }
}
)");
}

TEST(WriterScan, ShortScansUnroll) {
  const absl::StatusOr<Kernel> k = Prefixes(3, RICCI_S_MUL, 2);
  ASSERT_TRUE(k.ok()) << k.status();
  EXPECT_EQ(ToText(*k).find("scan %"), std::string::npos) << ToText(*k);
  float x[] = {3, 5, 7}, y[3] = {};
  void* const buffers[] = {x, y};
  ASSERT_TRUE(Interpret(k->View(), buffers).ok());
  EXPECT_EQ(y[0], 6);
  EXPECT_EQ(y[1], 30);
  EXPECT_EQ(y[2], 210);
}

// Wrong parts of a scan are refused where they are written.
TEST(WriterScan, MisuseOfScans) {
  const auto error = [](auto&& write) {
    Writer w("scan");
    const Val identity[] = {w.Float(RICCI_F32, 0)};
    Val left = 0, right = 0;
    w.Scan(w.Index(0), w.Index(100), identity, &left, &right);
    write(w, left, right);
    return std::string(w.Finish().status().message());
  };
  Val prefix = 0;
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(error([&](Writer& w, Val left, Val) { w.Prefix({{left}}, &prefix); }), "after the combiner");
  has(error([&](Writer& w, Val left, Val) { w.Combiner({{left, left}}); }), "one value for each state");
  has(error([&](Writer& w, Val, Val) { w.Combiner({{w.Index(1)}}); }), "the dtype is not that of the identity");
  has(error([&](Writer& w, Val left, Val) {
        const LocalId local = w.Local(RICCI_F32, 1);
        w.Set(local, w.Index(0), left);
        w.Combiner({{left}});
      }),
      "only scalar operations");
  has(error([&](Writer& w, Val left, Val right) {
        w.Combiner({{w.Add(left, right)}});
        w.End();
      }),
      "no prefix");
  has(error([&](Writer& w, Val left, Val right) {
        w.Combiner({{w.Add(left, right)}});
        w.Prefix({{w.Float(RICCI_F32, 1)}}, &prefix);
        w.Prefix({{w.Float(RICCI_F32, 1)}}, &prefix);
      }),
      "a scan has one");
  has(error([&](Writer& w, Val left, Val right) {
        w.Combiner({{w.Add(left, right)}});
        w.Prefix({{left}}, &prefix);
      }),
      "prefix");
}

}  // namespace
}  // namespace ricci::kernel
