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

// What two places write is that of the first; constants have none, and a kernel of no places has no list.
TEST(Writer, InstructionsHaveTheirPlaces) {
  Fixture f(16);
  Val i;
  f.w.Parallel({{16}}, &i);
  EXPECT_EQ(f.w.SetLocation(7), 0u);
  const Val x = f.w.Load(f.in, i);
  EXPECT_EQ(f.w.SetLocation(8), 7u);
  f.w.Store(f.out, i, f.w.Mul(f.w.Load(f.in, i), f.w.Float(RICCI_F32, 2)));
  EXPECT_EQ(f.w.Load(f.in, i), x);
  EXPECT_EQ(f.w.SetLocation(0), 8u);
  f.w.End();
  const absl::StatusOr<Kernel> k = f.w.Finish();
  ASSERT_TRUE(k.ok());
  EXPECT_EQ(k->locations, (std::vector<uint64_t>{0, 0, 0, 7, 8, 8})) << ToText(*k);
  EXPECT_EQ(k->View().locations, k->locations.data());
  Fixture nowhere(16);
  nowhere.w.Store(nowhere.out, nowhere.w.Index(0), nowhere.w.Float(RICCI_F32, 2));
  EXPECT_EQ(nowhere.w.Finish()->View().locations, nullptr);
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
