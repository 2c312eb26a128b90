// Elements that lie two to four apart: loaded as vectors and sorted in registers, at sizes near those of the lanes, up
// to the last element of a buffer; and both parts of complex numbers, stored together.
#include "base/status.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

Numbers Counted(int64_t n, const std::string& type) {
  Numbers out(static_cast<size_t>(n));
  for (size_t i = 0; i < out.size(); ++i) {
    const double v = static_cast<double>((i * 37) % 101) - 50;
    out[i] = type == "bool" ? static_cast<double>(v > 0) : type[0] == 'f' ? v / 8 : v;
  }
  return out;
}

TEST(NearSteps, SlicesOfAllSizes) {
  ProgramRunner r;
  for (const int64_t step : {2, 3, 4, 5}) {
    for (const int64_t n : {1, 2, 3, 4, 8, 15, 16, 17, 32, 48, 64, 80}) {
      for (const int64_t first : {int64_t{0}, step - 1}) {
        const int64_t size = first + step * (n - 1) + 1;
        const Program f =
            r.Parse(base::Cat("program f(%x: f32[", size, "]) { %y: f32[", n, "] = slice(%x) start_indices=[", first,
                              "] limit_indices=[", size, "] strides=[", step, "] return %y }"));
        r.RunEverywhere(f, {Counted(size, "f32")}, 0);
      }
    }
  }
}

TEST(NearSteps, OfOtherTypes) {
  ProgramRunner r;
  for (const std::string type : {"bool", "i32", "i64", "f64"}) {
    for (const int64_t step : {2, 3, 4}) {
      const int64_t size = step * 64 - step + 1;
      const Program f = r.Parse(base::Cat("program f(%x: ", type, "[3,", size, "]) { %y: ", type,
                                          "[3,64] = slice(%x) start_indices=[0,0] limit_indices=[3,", size,
                                          "] strides=[1,", step, "] return %y }"));
      r.RunEverywhere(f, {Counted(3 * size, type)}, 0);
    }
  }
}

// Points of three and four coordinates, as arrays of structures have them.
TEST(NearSteps, Coordinates) {
  ProgramRunner r;
  for (const int64_t n : {5, 16, 64, 100}) {
    const Program f = r.Parse(base::Cat("program f(%x: f32[", n, ",3], %q: f32[", n, ",4]) { %a: f32[", n,
                                        "] = reduce_sum(%x) axes=[1] %s: f32[", n, ",4] = mul(%q, %q) %b: f32[", n,
                                        "] = reduce_sum(%s) axes=[1] %y: f32[", n, "] = mul(%a, %b) return %y }"));
    r.RunEverywhere(f, {Counted(3 * n, "f32"), Counted(4 * n, "f32")}, 1e-6);
  }
}

// Parts that are made, multiplied and taken apart, also where a result is written over its operand.
TEST(NearSteps, PartsOfComplexNumbers) {
  ProgramRunner r;
  for (const int64_t n : {1, 2, 7, 8, 16, 17, 32, 64, 100}) {
    for (const int64_t bits : {32, 64}) {
      const std::string real = base::Cat("f", bits, "[", n, "]"), pair = base::Cat("c", 2 * bits, "[", n, "]");
      const Program f = r.Parse(base::Cat(
          "program f(%a: ", real, ", %b: ", real, ") { %x: ", pair, " = complex(%a, %b) %y: ", pair,
          " = mul(%x, %x) %z: ", pair, " = cumsum(%y) axis=0 reverse=false %w: ", pair, " = mul(%z, %x) %t: ", pair,
          " = rev(%w) dimensions=[0] %p: ", real, " = real(%t) %q: ", real, " = imag(%t) return %p, %q }"));
      r.RunEverywhere(f, {Counted(n, "f32"), Counted(n, "f32")}, 1e-5);
    }
  }
}

// Rows that end within a vector, with a factor of each row and one of each column, so that rows stay apart: nothing is
// gathered, and nothing after the end of a row is touched.
TEST(NearSteps, RowsOfComplexNumbersThatEndWithinAVector) {
  ProgramRunner r;
  for (const int64_t n : {9, 17, 20, 31, 33, 49, 65}) {
    for (const int64_t bits : {32, 64}) {
      const auto real = [&](const std::string& dims) { return base::Cat("f", bits, "[", dims, "]"); };
      const auto pair = [&](const std::string& dims) { return base::Cat("c", 2 * bits, "[", dims, "]"); };
      const std::string columns = base::Cat(n), both = base::Cat("5,", n);
      const Program f =
          r.Parse(base::Cat("program f(%a: ", real(both), ", %b: ", real(both), ", %r: ", real("5"),
                            ", %c: ", real(columns), ") { %x: ", pair(both), " = complex(%a, %b) %s: ", pair(both),
                            " = optimization_barrier(%x) %h: ", pair("5"), " = complex(%r, %r) %k: ", pair(columns),
                            " = complex(%c, %c) %i: ", pair(both), " = broadcast_in_dim(%h) shape=[", both,
                            "] broadcast_dimensions=[0] %l: ", pair(both), " = broadcast_in_dim(%k) shape=[", both,
                            "] broadcast_dimensions=[1] %y: ", pair(both), " = mul(%s, %i) %z: ", pair(both),
                            " = mul(%y, %l) %t: ", pair(both), " = optimization_barrier(%z) %p: ", real(both),
                            " = real(%t) %q: ", real(both), " = imag(%t) return %p, %q }"));
      const std::string code = r.Dump(f, "assembly", "cpu");
      EXPECT_EQ(code.find("gather"), std::string::npos) << n;
      EXPECT_EQ(code.find("scatter"), std::string::npos) << n;
      r.RunEverywhere(f, {Counted(5 * n, "f32"), Counted(5 * n, "f32"), Counted(5, "f32"), Counted(n, "f32")}, 1e-5);
    }
  }
}
// Every other coordinate of such rows.
TEST(NearSteps, RowsThatEndWithinAVector) {
  ProgramRunner r;
  for (const int64_t step : {2, 3, 4}) {
    for (const int64_t n : {9, 17, 31, 49}) {
      const int64_t size = step * (n - 1) + 1;
      const std::string rows = base::Cat("f32[5,", n, "]");
      const Program f = r.Parse(base::Cat("program f(%x: f32[5,", size, "], %r: f32[5]) { %s: ", rows,
                                          " = slice(%x) start_indices=[0,0] limit_indices=[5,", size, "] strides=[1,",
                                          step, "] %b: ", rows, " = broadcast_in_dim(%r) shape=[5,", n,
                                          "] broadcast_dimensions=[0] %y: ", rows, " = mul(%s, %b) return %y }"));
      r.RunEverywhere(f, {Counted(5 * size, "f32"), Counted(5, "f32")}, 1e-6);
    }
  }
}

}}  // namespace ricci::testing
