// ElementWriter: complex numbers as pairs, in kernels that hold only floating numbers.
#include "pass/kernel/element_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernel/kernel.h"

namespace ricci::testing { namespace {

using pass::ElementWriter;
using pass::Val;
using Numbers = std::vector<float>;

// Runs the kernel of `w` on buffers of f32.
Numbers Evaluate(ElementWriter& w, std::vector<Numbers> buffers) {
  const auto kernel = w.Finish();
  if (!kernel.ok()) {
    ADD_FAILURE() << kernel.status().message();
    return {};
  }
  std::vector<void*> data;
  for (Numbers& b : buffers) data.push_back(b.data());
  const ricci_kernel_table table = kernel->View();
  uint32_t failed = RICCI_NO_CHECK;
  EXPECT_TRUE(kernel::Interpret(table, data.data(), &failed).ok());
  return buffers.back();
}
std::string Failure(const ElementWriter& w) { return std::string(w.status().message()); }

TEST(ElementWriter, APairIsTwoElements) {
  ElementWriter w("k");
  const uint32_t in = w.Buffer(RICCI_C64, 2, RICCI_ACCESS_READ), out = w.Buffer(RICCI_C64, 2, RICCI_ACCESS_WRITE);
  EXPECT_EQ(w.BufferAt(in).dtype, uint32_t{RICCI_F32});
  EXPECT_EQ(w.BufferAt(in).elements, 4);
  const Val z = w.Load(in, w.Index(1));
  EXPECT_EQ(w.DType(z), uint32_t{RICCI_C64});
  w.Store(out, w.Index(0), w.Op(RICCI_S_MUL, z, z));
  w.Store(out, w.Index(1), z);
  EXPECT_EQ(Evaluate(w, {{9, 9, 3, 2}, Numbers(4)}), (Numbers{5, 12, 3, 2}));
}

TEST(ElementWriter, PrivateArraysHoldPairs) {
  ElementWriter w("k");
  const uint32_t in = w.Buffer(RICCI_C64, 3, RICCI_ACCESS_READ), out = w.Buffer(RICCI_C64, 1, RICCI_ACCESS_WRITE);
  const kernel::LocalId sum = w.Local(RICCI_C64, 1);
  const Val zero = w.Index(0);
  const float none[2] = {};
  w.Set(sum, zero, w.Element(RICCI_C64, reinterpret_cast<const std::byte*>(none)));
  const Val i = w.For(zero, w.Index(3));
  w.Set(sum, zero, w.Op(RICCI_S_ADD, w.Get(sum, zero), w.Load(in, i)));
  w.End();
  w.Store(out, zero, w.Get(sum, zero));
  EXPECT_EQ(Evaluate(w, {{1, 2, 3, 4, 5, 6}, Numbers(2)}), (Numbers{9, 12}));
}

// One loop for each part, for any number of trips: none, one, few that are unrolled, many.
TEST(ElementWriter, SumsArePairs) {
  for (const int64_t n : {0, 1, 3, 40}) {
    ElementWriter w("k");
    const uint32_t in = w.Buffer(RICCI_C64, n, RICCI_ACCESS_READ), out = w.Buffer(RICCI_C64, 1, RICCI_ACCESS_WRITE);
    const Val i = w.Reduce(RICCI_S_ADD, w.Index(0), w.Index(n));
    const Val z = w.Load(in, i);
    w.Store(out, w.Index(0), w.Yield(w.Op(RICCI_S_MUL, z, z)));
    Numbers data;
    float re = 0, im = 0;
    for (int64_t k = 0; k < n; ++k) {
      const float a = static_cast<float>(k % 7), b = static_cast<float>(k % 5) - 2;
      data.insert(data.end(), {a, b});
      re += a * a - b * b;
      im += 2 * a * b;
    }
    EXPECT_EQ(Evaluate(w, {data, Numbers(2)}), (Numbers{re, im})) << n;
  }
}

// A loop in the body of a sum is written again for the second part.
TEST(ElementWriter, SumsOfSums) {
  ElementWriter w("k");
  const uint32_t in = w.Buffer(RICCI_C64, 100, RICCI_ACCESS_READ), out = w.Buffer(RICCI_C64, 1, RICCI_ACCESS_WRITE);
  const Val i = w.Reduce(RICCI_S_ADD, w.Index(0), w.Index(10)), j = w.Reduce(RICCI_S_ADD, w.Index(0), w.Index(10));
  const Val inner = w.Yield(w.Load(in, w.Add(w.Mul(i, w.Index(10)), j)));
  w.Store(out, w.Index(0), w.Yield(inner));
  Numbers data(200, 1);
  for (size_t k = 1; k < data.size(); k += 2) data[k] = -2;
  EXPECT_EQ(Evaluate(w, {data, Numbers(2)}), (Numbers{100, -200}));
}

// By real, then imaginary parts; the second of two where a part that decides is NaN.
TEST(ElementWriter, PairsAreOrdered) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const struct {
    Numbers x, y, greater, lesser;
  } cases[] = {{{1, 5}, {2, -5}, {2, -5}, {1, 5}},  {{1, 5}, {1, -5}, {1, 5}, {1, -5}},
               {{1, 5}, {1, 5}, {1, 5}, {1, 5}},    {{kNaN, 1}, {2, 3}, {2, 3}, {2, 3}},
               {{1, kNaN}, {1, 3}, {1, 3}, {1, 3}}, {{2, kNaN}, {1, 3}, {2, kNaN}, {1, 3}}};
  for (const auto& c : cases) {
    ElementWriter w("k");
    const uint32_t in = w.Buffer(RICCI_C64, 2, RICCI_ACCESS_READ), out = w.Buffer(RICCI_C64, 2, RICCI_ACCESS_WRITE);
    const Val x = w.Load(in, w.Index(0)), y = w.Load(in, w.Index(1));
    w.Store(out, w.Index(0), w.Op(RICCI_S_MAX, x, y));
    w.Store(out, w.Index(1), w.Op(RICCI_S_MIN, x, y));
    const Numbers got = Evaluate(w, {{c.x[0], c.x[1], c.y[0], c.y[1]}, Numbers(4)});
    const Numbers want{c.greater[0], c.greater[1], c.lesser[0], c.lesser[1]};
    for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) << i;
  }
}

TEST(ElementWriter, MisuseIsNamed) {
  const auto with_pair = [](auto f) {
    ElementWriter w("k");
    const uint32_t in = w.Buffer(RICCI_C64, 4, RICCI_ACCESS_READ), out = w.Buffer(RICCI_C64, 4, RICCI_ACCESS_WRITE);
    f(w, w.Load(in, w.Index(0)), out);
    return Failure(w);
  };
  EXPECT_EQ(with_pair([](ElementWriter& w, Val z, uint32_t) { (void)w.Op(RICCI_S_REM, z, z); }),
            "kernel: rem has no form for (c64, c64)");
  EXPECT_EQ(with_pair([](ElementWriter& w, Val z, uint32_t) { (void)w.Op(RICCI_S_ADD, z, w.Float(RICCI_F32, 1)); }),
            "kernel: add has no form for (c64, f32)");
  EXPECT_EQ(with_pair([](ElementWriter& w, Val, uint32_t) { (void)w.Complex(w.Float(RICCI_F32, 1), w.Index(1)); }),
            "kernel: a complex number is made from two values of f32 or of f64, not from f32 and i64");
  EXPECT_EQ(with_pair([](ElementWriter& w, Val, uint32_t out) {
              w.Store(out, w.Index(0), w.Float(RICCI_F32, 1));
            }).substr(0, 13),
            "kernel: store");
  EXPECT_EQ(with_pair([](ElementWriter& w, Val z, uint32_t) {
              (void)w.Reduce(RICCI_S_MUL, w.Index(0), w.Index(9));
              (void)w.Yield(z);
            }),
            "kernel: complex numbers are only reduced by add");
}

}  // namespace
}  // namespace ricci::testing
