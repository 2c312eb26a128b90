// Floats to integers: rounded towards zero, clamped to the type, NaN to 0; in vectors and in the remainder after them.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

Numbers Edges() {
  Numbers x = {0, -0.0, 0.5, -0.5, 0.999, -0.999, 1, -1.5, INFINITY, -INFINITY, NAN, 1e20, -1e20, 1e38, -1e38};
  for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64}) {
    const double power = std::ldexp(1, bits);
    for (const double v : {power, power - 1, power + 1, power * (1 - 0x1p-24), power * (1 + 0x1p-23), power - 0.5}) {
      x.push_back(v);
      x.push_back(-v);
    }
  }
  return x;
}

TEST(Conversions, FloatsToIntegersSaturate) {
  const Numbers x = Edges();
  const std::string shape = "[" + std::to_string(x.size()) + "]";
  for (const std::string from : {"f32", "f64", "f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn"}) {
    const std::string given = from == "f64" ? "f64" : "f32";
    for (const std::string to : {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"}) {
      ProgramRunner r;
      // Read as two halves, so that 64 bits are compared exactly.
      const bool wide = to == "i64" || to == "u64";
      const std::string half = to.substr(0, 1) + "64", c = wide ? "4294967296" : "65536";
      r.RunEverywhere(r.Parse("program f(%x: " + given + shape + ") { %n: " + from + shape +
                              " = convert_element_type(%x) new_dtype=" + from + " %i: " + to + shape +
                              " = convert_element_type(%n) new_dtype=" + to + " %w: " + half + shape +
                              " = convert_element_type(%i) new_dtype=" + half + " %c: " + half + shape +
                              " = constant " + c + " %q: " + half + shape + " = div(%w, %c) %s: " + half + shape +
                              " = rem(%w, %c) %h: f64" + shape + " = convert_element_type(%q) new_dtype=f64 %l: f64" +
                              shape + " = convert_element_type(%s) new_dtype=f64 return %h, %l }"),
                      {x}, 0);
    }
  }
}

}  // namespace
}  // namespace ricci::testing
