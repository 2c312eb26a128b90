// Reductions that are cut into chunks, because there are fewer results than tasks: few long rows, few columns,
// everything into one; with work before and after them, against the reference.
#include <gtest/gtest.h>

#include "support/program_runner.h"

namespace ricci::testing { namespace {

std::string Shape(const std::vector<int64_t>& v) {
  std::string text = "[";
  for (size_t i = 0; i < v.size(); ++i) text += (i == 0 ? "" : ",") + std::to_string(v[i]);
  return text + "]";
}

// op over `axes` of a `dtype` array with small elements, and an operation on the result.
void ExpectSame(const std::string& op, const std::string& dtype, const std::vector<int64_t>& shape,
                const std::vector<int64_t>& axes, double tolerance) {
  std::vector<int64_t> kept;
  int64_t n = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    n *= shape[d];
    if (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) == axes.end()) kept.push_back(shape[d]);
  }
  const std::string t = dtype + Shape(shape), r = dtype + Shape(kept);
  const std::string text = "program f(%x: " + t + ") { %n: " + t + " = neg(%x) %s: " + r + " = " + op +
                           "(%n) axes=" + Shape(axes) + " %r: " + r + " = square(%s) return %r, %s }";
  Numbers x;
  for (int64_t i = 0; i < n; ++i) {
    const double v = std::sin(0.7 * static_cast<double>(i)) + (op == "reduce_prod" ? 1.5 : 0);
    x.push_back(dtype == "i32" ? std::floor(v * 100) : op == "reduce_prod" ? -1 - 1e-5 * v : v);
  }
  ProgramRunner runner;
  EXPECT_EQ(runner.RunEverywhere(runner.Parse(text), {x}, tolerance).size(), 2u) << text;
}

constexpr int64_t kLong = 140001;

// NaNs of either sign win; +0 is greater than -0; without elements it is the infinity.
TEST(Extremes, OfFloats) {
  const Numbers kinds[] = {{-0.0, 0.0},     {0.0, -0.0}, {-INFINITY, -3e38}, {INFINITY, 3e38},
                           {1e-45, -1e-45}, {NAN, 1},    {-NAN, 1},          {-NAN, -INFINITY},
                           {NAN, INFINITY}, {-1, -2},    {0.5, -0.25},       {-INFINITY}};
  for (const Numbers& kind : kinds) {
    for (const int64_t n : {1, 7, 16, 40, 333}) {
      Numbers x(static_cast<size_t>(2 * n));
      for (size_t i = 0; i < x.size(); ++i) x[i] = kind[i * 7 % 5 % kind.size()];
      for (const std::string op : {"reduce_max", "reduce_min"}) {
        for (const int axis : {0, 1}) {
          ProgramRunner r;
          const std::string in = "f32[2," + std::to_string(n) + "]", out = axis == 0 ? std::to_string(n) : "2";
          const auto got =
              r.RunEverywhere(r.Parse("program f(%x: " + in + ") { %m: f32[" + out + "] = " + op + "(%x) axes=[" +
                                      std::to_string(axis) + "] %o: f32[" + out + "] = constant 1.0 %s: f32[" + out +
                                      "] = div(%o, %m) return %m, %s }"),
                              {x}, 0);
          ASSERT_EQ(got.size(), 2u);
        }
      }
    }
  }
  ProgramRunner r;
  r.RunEverywhere(r.Parse("program f(%x: f32[3,0]) { %m: f32[3] = reduce_max(%x) axes=[1] return %m }"), {{}}, 0);
}

TEST(LongReductions, FewLongRows) {
  for (const int64_t rows : {1, 2, 3, 5}) {
    for (const char* op : {"reduce_sum", "reduce_max", "reduce_min"}) {
      for (const char* dtype : {"f32", "f64", "i32"}) ExpectSame(op, dtype, {rows, kLong}, {1}, 1e-4);
    }
  }
  ExpectSame("reduce_prod", "f64", {2, kLong}, {1}, 1e-9);
  ExpectSame("reduce_sum", "f64", {2, 2, 70001}, {2}, 1e-9);
}

TEST(LongReductions, FewColumns) {
  for (const int64_t columns : {1, 2, 3, 4, 5, 8, 16, 17, 40}) {
    for (const char* op : {"reduce_sum", "reduce_max"}) {
      for (const char* dtype : {"f32", "f64", "i32"}) ExpectSame(op, dtype, {kLong / columns, columns}, {0}, 1e-4);
    }
  }
  ExpectSame("reduce_prod", "f64", {kLong, 3}, {0}, 1e-9);
  ExpectSame("reduce_sum", "f64", {3, 20001, 7}, {1}, 1e-9);
}

TEST(LongReductions, NestedOnes) {
  ExpectSame("reduce_sum", "f64", {500, 600}, {0, 1}, 1e-9);
  ExpectSame("reduce_sum", "f64", {40, 50, 90, 3}, {0, 1, 2}, 1e-9);
  ExpectSame("reduce_sum", "f64", {3, 3000, 41}, {1, 2}, 1e-9);
  ExpectSame("reduce_max", "f32", {20, kLong / 10}, {0, 1}, 0);
  ExpectSame("reduce_sum", "f64", {4, kLong}, {0, 1}, 1e-9);
}

// Booleans are bits as values and bytes in memory, between chunks too.
TEST(LongReductions, Booleans) {
  ProgramRunner runner;
  for (const char* shape : {"2,140001", "140001,2"}) {
    const bool rows = std::string(shape) == "2,140001";
    const std::string axis = rows ? "1" : "0", t = std::string("[") + shape + "]";
    Numbers x(280002, 0.5);
    x[rows ? 200000 : 200001] = 2;
    const auto out =
        runner.RunEverywhere(runner.Parse("program f(%x: f32" + t + ") { %c: f32" + t + " = constant 1.0 %p: bool" + t +
                                          " = gt(%x, %c) %o: bool[2] = " + "reduce_or(%p) axes=[" + axis +
                                          "] %r: f32[2] = convert_element_type(%o) new_dtype=f32 return %r }"),
                             {x});
    EXPECT_EQ(out[0], (Numbers{0, 1})) << shape;
  }
}

}  // namespace
}  // namespace ricci::testing
