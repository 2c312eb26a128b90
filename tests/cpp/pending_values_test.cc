// Operations on Arrays alone: pending Values, what computes them, and how long their programs become.
#include <sstream>

#include "binding_fixture.h"
#include "ricci/printing.hpp"

namespace ricci::testing { namespace {

using Pending = BindingTest;

TEST_F(Pending, AreComputedWhereAnArrayIsWanted) {
  const Array x = Vec({1, 2, 3});
  const Array y = x * 2 + 1;
  ExpectClose(y, {3, 5, 7});
  const Value kept = square(x);
  ExpectClose(kept, {1, 4, 9});
  ExpectClose(kept + x, {2, 6, 12});  // a value that was computed is used again
  ExpectClose(sum(kept) * kept, {14, 56, 126});
  const Values parts = split(x, 3);
  ExpectClose(parts[2], {3});
  ExpectClose(parts[0], {1});
}

TEST_F(Pending, OfTwoProgramsMeet) {
  const Array x = Vec({1, 2}), y = Vec({3, 5});
  const Value a = x + 1, b = y * 2;
  ExpectClose(a * b, {12, 30});
  ExpectClose(b - a, {4, 7});
  ExpectClose(jit([&](Value v) { return v + a; })(x), {3, 5});  // captured by a traced function
  ExpectClose(jit(vmap([&](Value v) { return v * b[0]; }))(x), {6, 12});
}

TEST_F(Pending, TransformsTakeThem) {
  const Array x = Vec({1, 2});
  const Array slope = grad([](Value v) { return sum(v * v * v); })(x + 1);
  ExpectClose(slope, {12, 27});
  ExpectClose(vmap([](Value v) { return v * 2; })(x + 1), {4, 6});
}

TEST_F(Pending, StartFromAContext) {
  ExpectInts(arange(ctx, 4), {0, 1, 2, 3});
  ExpectClose(ones(ctx, {2}) * 3, {3, 3});
  EXPECT_ERROR_HERE(ctx + Vec({1}), "add: a context holds no elements; it can only be where an array is made");
}

TEST_F(Pending, ALongLoopStaysShort) {
  Value x = Vec({1}) * 1;
  for (int i = 0; i < 20'000; ++i) x = x + 1;
  ExpectClose(x, {20'001});
}

TEST_F(Pending, Errors) {
  const Array x = Vec({1, 2}), y = Vec({1, 2, 3});
  EXPECT_ERROR_HERE(x + y, "add: shapes [2] and [3] do not broadcast");
  EXPECT_ERROR_HERE(jit([](Value v) { return Array(v).rank() > 0 ? v : v; })(x),
                    "array: a value of a function that is being traced has no elements yet; return it from the "
                    "function");
  Context other;
  EXPECT_ERROR_HERE(x + Array(other, 1.0f),
                    "add: the array f32[] belongs to another context; make all arrays of a call "
                    "in one");
}

TEST_F(Pending, AreCompiledOnce) {
  const Array x = Vec({1, 2, 3});
  const auto run = [&] { return Array(tanh(x) * 0.5); };
  const Array first = run();
  const Array again = run();
  EXPECT_EQ(first.to_vector<float>(), again.to_vector<float>());
}

TEST_F(Pending, PrintLikeNumpy) {
  EXPECT_EQ(to_string(Vec({1, 2.5f, -3})), "[ 1.   2.5 -3. ]");
  EXPECT_EQ(to_string(Num(1)), "1.0");
  EXPECT_EQ(to_string(Num(0.1f)), "0.1");
  EXPECT_EQ(to_string(Num(1e-7f)), "1e-07");
  EXPECT_EQ(to_string(Array(arange(ctx, 6))), "[0 1 2 3 4 5]");
  EXPECT_EQ(to_string(reshape(arange(ctx, 6) * 5, {2, 3})), "[[ 0  5 10]\n [15 20 25]]");
  EXPECT_EQ(to_string(Vec({1, 2}) > 1.5), "[False  True]");
  EXPECT_EQ(to_string(Vec({1e10f, 2.5f})), "[1.0e+10 2.5e+00]");
  EXPECT_EQ(to_string(Vec({NAN, -INFINITY, 1})), "[ nan -inf   1.]");
  EXPECT_EQ(to_string(Vec({1.0f / 3, 2.0f / 3})), "[0.33333334 0.6666667 ]");
  EXPECT_EQ(to_string(Vec({1, 2}) * std::complex<float>(0.5f, -1)), "[0.5-1.j 1. -2.j]");
  EXPECT_EQ(to_string(zeros(ctx, {0, 3})), "[]");
  EXPECT_EQ(to_string(arange(ctx, 2000)), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(to_string(zeros(ctx, {2, 1, 2})), "[[[0. 0.]]\n\n [[0. 0.]]]");
  EXPECT_EQ(to_string(arange(ctx, 30)),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]");
  std::ostringstream out;
  out << Vec({1, 2});
  EXPECT_EQ(out.str(), "[1. 2.]");
}

}  // namespace
}  // namespace ricci::testing
