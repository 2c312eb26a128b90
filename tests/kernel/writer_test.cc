// Kernels as text: folding, value numbering, blocks, the domain, and messages of misuse.
#include "kernel/writer.h"

#include <gtest/gtest.h>

namespace ricci::kernel { namespace {

std::string Finished(Writer& w) {
  absl::StatusOr<Kernel> k = w.Finish();
  return k.ok() ? ToText(*k) : std::string(k.status().message());
}

struct Fixture {
  Writer w{"k"};
  uint32_t in, out;
  explicit Fixture(int64_t n = 1024) {
    in = w.Buffer(RICCI_F32, n, RICCI_ACCESS_READ);
    out = w.Buffer(RICCI_F32, n, RICCI_ACCESS_WRITE);
  }
  std::string Text() { return Finished(w); }
};

TEST(Writer, ElementwiseBecomesADomain) {
  Fixture f(16);
  Val i;
  f.w.Parallel({{16}}, &i);
  f.w.Store(f.out, i, f.w.Mul(f.w.Load(f.in, i), f.w.Float(RICCI_F32, 2)));
  f.w.End();
  EXPECT_EQ(f.Text(),
            "kernel k(b0: f32[16] read, b1: f32[16] write) domain [16] {\n"
            "  %2: i64 = domain 0\n"
            "  %3: f32 = load b0[%2]\n"
            "  %4: f32 = mul %3, 2.0\n"
            "  store b1[%2] = %4\n"
            "}\n");
}

TEST(Writer, ReshapeOfFlatIndexCancels) {
  Fixture f(1024);
  Val i[2];
  f.w.Parallel({{32, 32}}, i);
  const Val flat = f.w.Linear(i, {{32, 1}});
  const Val c = f.w.Index(32);
  const Val back[] = {f.w.Div(flat, c), f.w.Rem(flat, c)};
  EXPECT_EQ(back[0], i[0]);
  EXPECT_EQ(back[1], i[1]);
  const Val four = f.w.Index(4), eight = f.w.Index(8);
  const Val q = f.w.Div(flat, four);
  EXPECT_EQ(f.w.Add(f.w.Mul(q, four), f.w.Rem(flat, four)), flat);
  EXPECT_EQ(f.w.Div(f.w.Div(flat, four), eight), i[0]);
  EXPECT_EQ(f.w.ConstantBits(f.w.Less(flat, f.w.Index(1024))), 1);
}

TEST(Writer, DigitsOfNestedDivisions) {
  Fixture f(1024);
  const Val x = f.w.For(f.w.Index(0), f.w.Index(1000));
  const auto c = [&](int64_t v) { return f.w.Index(v); };
  EXPECT_EQ(f.w.Div(f.w.Div(x, c(3)), c(5)), f.w.Div(x, c(15)));
  EXPECT_EQ(f.w.Rem(f.w.Rem(x, c(15)), c(5)), f.w.Rem(x, c(5)));
  EXPECT_EQ(f.w.Div(f.w.Rem(x, c(15)), c(3)), f.w.Rem(f.w.Div(x, c(3)), c(5)));
  const Val high = f.w.Mul(f.w.Div(x, c(15)), c(15)), middle = f.w.Mul(f.w.Rem(f.w.Div(x, c(3)), c(5)), c(3));
  EXPECT_EQ(f.w.Add(f.w.Add(high, middle), f.w.Rem(x, c(3))), x);
  EXPECT_EQ(f.w.ConstantIndex(f.w.Rem(f.w.Mul(x, c(6)), c(3))), 0);
}

TEST(Writer, EqualInstructionsBecomeOneWithinTheirBlock) {
  Fixture f;
  const Val i = f.w.For(f.w.Index(0), f.w.Index(8));
  const Val a = f.w.Load(f.in, i);
  EXPECT_EQ(f.w.Load(f.in, i), a);
  EXPECT_EQ(f.w.Add(a, f.w.Load(f.in, f.w.Index(3))), f.w.Add(f.w.Load(f.in, f.w.Index(3)), a));
  f.w.If(f.w.Less(i, f.w.Index(4)));
  const Val inside = f.w.Op(RICCI_S_EXP, a);
  f.w.End();
  EXPECT_FALSE(f.w.Usable(inside));
  EXPECT_NE(f.w.Op(RICCI_S_EXP, a), inside);
  f.w.End();
  EXPECT_TRUE(f.w.ok());
}

TEST(Writer, StoresAreForwardedUntilSomethingMayHaveChanged) {
  Writer w("k");
  const Val zero = w.Index(0), one = w.Index(1);
  const LocalId a = w.Local(RICCI_I32, 4);
  const Val seven = w.Const(RICCI_I32, 7), nine = w.Const(RICCI_I32, 9);
  w.Set(a, zero, seven);
  w.Set(a, one, nine);
  EXPECT_EQ(w.Get(a, zero), seven);  // another element was set
  const Val i = w.For(zero, w.Index(40));
  const Val in_loop = w.Get(a, zero);
  EXPECT_NE(in_loop, seven);
  w.Set(a, w.Rem(i, w.Index(4)), nine);
  EXPECT_NE(w.Get(a, zero), in_loop);
  w.End();
  EXPECT_NE(w.Get(a, one), nine);
  w.If(w.Equal(w.Get(a, one), seven));
  w.Set(a, zero, nine);
  w.Else();
  EXPECT_NE(w.Get(a, zero), nine);
  w.End();
  EXPECT_NE(w.Get(a, zero), nine);
  EXPECT_TRUE(w.ok());
}

TEST(Writer, ConstantBranchesAndEmptyLoopsGo) {
  Fixture f;
  const auto store = [&](double v) { f.w.Store(f.out, f.w.Index(0), f.w.Float(RICCI_F32, v)); };
  f.w.If(f.w.Bool(true));
  store(1);
  f.w.Else();
  store(2);
  f.w.End();
  f.w.If(f.w.Less(f.w.Index(5), f.w.Index(3)));
  store(3);
  f.w.End();
  f.w.For(f.w.Index(4), f.w.Index(4));
  store(4);
  f.w.End();
  const Val i = f.w.For(f.w.Index(6), f.w.Index(7));
  EXPECT_EQ(f.w.ConstantIndex(i), 6);
  store(5);
  f.w.End();
  EXPECT_EQ(f.Text(),
            "kernel k(b0: f32[1024] read, b1: f32[1024] write) {\n"
            "  store b1[0] = 1.0\n"
            "  store b1[0] = 5.0\n"
            "}\n");
}

TEST(Writer, FactsHoldInBranches) {
  Fixture f;
  const Val i = f.w.For(f.w.Index(0), f.w.Index(100));
  const Val p = f.w.Less(i, f.w.Index(10));
  f.w.If(p);
  EXPECT_EQ(f.w.RangeOf(i), (Range{0, 9}));
  EXPECT_EQ(f.w.Select(p, i, f.w.Index(3)), i);
  EXPECT_EQ(f.w.Rem(i, f.w.Index(10)), i);
  f.w.Else();
  EXPECT_EQ(f.w.RangeOf(i), (Range{10, 99}));
  f.w.End();
  EXPECT_EQ(f.w.RangeOf(i), (Range{0, 99}));
  EXPECT_NE(f.w.Rem(i, f.w.Index(10)), i);
}

TEST(Writer, DeadCodeAndReduction) {
  Fixture f(64);
  Val i;
  f.w.Parallel({{4}}, &i);
  const LocalId unread = f.w.Local(RICCI_F32, 16);
  const Val j = f.w.Reduce(RICCI_S_ADD, f.w.Index(0), f.w.Index(16));
  const Val x = f.w.Load(f.in, f.w.Linear({{i, j}}, {{16, 1}}));
  f.w.Set(unread, j, x);
  const Val sum = f.w.Yield(x);
  f.w.Op(RICCI_S_SIN, sum);
  f.w.Store(f.out, i, sum);
  f.w.End();
  EXPECT_EQ(f.Text(),
            "kernel k(b0: f32[64] read, b1: f32[64] write) domain [4] {\n"
            "  %3: i64 = domain 0\n"
            "  reduce add %4 in 0..16 {\n"
            "    %5: i64 = mul %3, 16\n"
            "    %6: i64 = add %5, %4\n"
            "    %7: f32 = load b0[%6]\n"
            "  } %8: f32 = yield %7\n"
            "  store b1[%3] = %8\n"
            "}\n");
}

// y = A x for a private x: the loops over it are gone, and so is the array.
TEST(Writer, ShortLoopsOverPrivateArraysUnroll) {
  Fixture f(6);
  const LocalId x = f.w.Local(RICCI_F32, 2);
  Val i = f.w.For(f.w.Index(0), f.w.Index(2));
  f.w.Set(x, i, f.w.Load(f.in, f.w.Add(i, f.w.Index(4))));
  f.w.End();
  i = f.w.For(f.w.Index(0), f.w.Index(2));
  const Val k = f.w.Reduce(RICCI_S_ADD, f.w.Index(0), f.w.Index(2));
  const Val a = f.w.Load(f.in, f.w.Linear({{i, k}}, {{2, 1}}));
  f.w.Store(f.out, i, f.w.Yield(f.w.Mul(a, f.w.Get(x, k))));
  f.w.End();
  EXPECT_EQ(f.Text(),
            "kernel k(b0: f32[6] read, b1: f32[6] write) {\n"
            "  %7: f32 = load b0[4]\n"
            "  %8: f32 = load b0[5]\n"
            "  %9: f32 = load b0[0]\n"
            "  %10: f32 = mul %9, %7\n"
            "  %11: f32 = load b0[1]\n"
            "  %12: f32 = mul %11, %8\n"
            "  %13: f32 = add %10, %12\n"
            "  store b1[0] = %13\n"
            "  %15: f32 = load b0[2]\n"
            "  %16: f32 = mul %15, %7\n"
            "  %17: f32 = load b0[3]\n"
            "  %18: f32 = mul %17, %8\n"
            "  %19: f32 = add %16, %18\n"
            "  store b1[1] = %19\n"
            "}\n");
}

// Two trips around a long reduction stay a loop; around a short one they unroll.
TEST(Writer, ShortLoopsAroundLongOnesStay) {
  for (const int64_t inner : {5, 5000}) {
    Fixture f(2 * inner);
    const Val i = f.w.Reduce(RICCI_S_ADD, f.w.Index(0), f.w.Index(2));
    const Val k = f.w.Reduce(RICCI_S_ADD, f.w.Index(0), f.w.Index(inner));
    const Val sum = f.w.Yield(f.w.Load(f.in, f.w.Linear({{i, k}}, {{inner, 1}})));
    f.w.Store(f.out, f.w.Index(0), f.w.Yield(sum));
    EXPECT_EQ(f.Text().find("in 0..2 {") != std::string::npos, inner == 5000);
  }
}

TEST(Writer, WhileAndIfAsText) {
  Fixture f(64);
  const Val zero = f.w.Index(0);
  const LocalId n = f.w.Local(RICCI_I64, 1);
  f.w.Set(n, zero, f.w.Index(1));
  f.w.While();
  const Val v = f.w.Get(n, zero);
  f.w.Cond(f.w.Less(v, f.w.Index(50)));
  f.w.If(f.w.Equal(f.w.Rem(v, f.w.Index(2)), zero));
  f.w.Set(n, zero, f.w.Add(v, f.w.Index(3)));
  f.w.Else();
  f.w.Set(n, zero, f.w.Mul(v, f.w.Index(2)));
  f.w.End();
  f.w.End();
  f.w.Store(f.out, f.w.Get(n, zero), f.w.Float(RICCI_F32, 1));
  EXPECT_EQ(f.Text(),
            "kernel k(b0: f32[64] read, b1: f32[64] write) {\n"
            "  %7 = local i64[1]\n"
            "  set %7[0] = 1\n"
            "  while {\n"
            "    %10: i64 = get %7[0]\n"
            "    %11: bool = lt %10, 50\n"
            "  } holds %11 {\n"
            "    %13: i64 = rem %10, 2\n"
            "    %14: bool = eq %13, 0\n"
            "    if %14 {\n"
            "      %16: i64 = add %10, 3\n"
            "      set %7[0] = %16\n"
            "    } else {\n"
            "      %19: i64 = mul %10, 2\n"
            "      set %7[0] = %19\n"
            "    }\n"
            "  }\n"
            "  %23: i64 = get %7[0]\n"
            "  store b1[%23] = 1.0\n"
            "}\n");
}

TEST(Writer, FloatsKeepTheirBits) {
  Fixture f;
  const Val x = f.w.Load(f.in, f.w.Index(0));
  const auto c = [&](double v) { return f.w.Float(RICCI_F32, v); };
  EXPECT_EQ(f.w.Mul(x, c(1)), x);
  EXPECT_EQ(f.w.Sub(x, c(0)), x);
  EXPECT_NE(f.w.Add(x, c(0)), x);
  EXPECT_EQ(f.w.Add(x, c(-0.0)), x);
  EXPECT_NE(f.w.Mul(x, c(0)), c(0));
  EXPECT_EQ(f.w.Op(RICCI_S_NEG, f.w.Op(RICCI_S_NEG, x)), x);
  EXPECT_EQ(f.w.Convert(f.w.Convert(x, RICCI_F64), RICCI_F32), x);
  EXPECT_NE(f.w.Convert(f.w.Convert(x, RICCI_F16), RICCI_F32), x);
  EXPECT_EQ(f.w.Add(c(1.5), c(2)), c(3.5));
  EXPECT_FALSE(f.w.ConstantBits(f.w.Equal(x, x)));  // NaN
}

TEST(Writer, IndicesComeBackThroughNarrowIntegers) {
  Fixture f;
  const Val i = f.w.For(f.w.Index(0), f.w.Index(100));
  const Val narrow = f.w.Convert(i, RICCI_I32);
  const Val twice = f.w.Add(f.w.Mul(narrow, f.w.Const(RICCI_I32, 2)), f.w.Const(RICCI_I32, 1));
  EXPECT_EQ(f.w.Convert(twice, RICCI_I64), f.w.Add(f.w.Mul(i, f.w.Index(2)), f.w.Index(1)));
  EXPECT_EQ(f.w.StrideIn(f.w.Convert(twice, RICCI_I64), i), 2);
}

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

TEST(Writer, UpdatesCombine) {
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

TEST(Writer, MisuseOfUpdates) {
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

TEST(Writer, ScansHoldTheirCombiner) {
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

TEST(Writer, ShortScansUnroll) {
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
TEST(Writer, MisuseOfScans) {
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

TEST(Writer, MisuseIsKeptUntilTheEnd) {
  {
    Fixture f;
    const Val bad = f.w.Add(f.w.Index(1), f.w.Float(RICCI_F32, 1));
    EXPECT_EQ(bad, 0);
    f.w.Store(f.out, f.w.Index(0), bad);
    EXPECT_EQ(f.Text(), "kernel k: add: no scalar operation on i64, f32; convert the operands");
  }
  {
    Fixture f;
    f.w.If(f.w.Equal(f.w.Load(f.in, f.w.Index(0)), f.w.Float(RICCI_F32, 1)));
    const Val inner = f.w.Load(f.in, f.w.Index(1));
    f.w.End();
    f.w.Store(f.out, f.w.Index(0), inner);
    EXPECT_EQ(f.Text(), "kernel k: store: value 7 is used outside the block that defines it");
  }
  {
    Fixture f;
    f.w.For(f.w.Index(0), f.w.Index(9));
    EXPECT_EQ(f.Text(), "kernel k: finish: a block is still open");
  }
  {
    Fixture f;
    f.w.Store(f.in, f.w.Index(0), f.w.Float(RICCI_F32, 1));
    EXPECT_EQ(f.Text(), "kernel k: store: buffer 0 does not allow it");
  }
  {
    Fixture f;
    f.w.End();
    EXPECT_EQ(f.Text(), "kernel k: end: no block is open");
  }
}

}  // namespace
}  // namespace ricci::kernel
