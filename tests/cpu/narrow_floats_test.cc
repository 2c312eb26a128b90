// Floats of 16 bits and less on every backend. Each of the 65,536 values of 16-bit floats gives the bits of the
// reference, or NaN for NaN.
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// `body` defines %r from %x and %y of the dtype; %x runs over all bit patterns, %y is one of the given ones.
void ExpectSameBits(const std::string& dtype, const std::string& body) {
  constexpr int kAll = 1 << 16;
  ProgramRunner r;
  const std::string t = dtype + "[65536]";
  const std::string text =
      "program f(%a: i32[65536], %b: i32[65536]) {\n %u: u16[65536] = convert_element_type(%a) "
      "new_dtype=u16\n %v: u16[65536] = convert_element_type(%b) new_dtype=u16\n %x: " +
      t + " = bitcast_convert_type(%u) new_dtype=" + dtype + "\n %y: " + t +
      " = bitcast_convert_type(%v) new_dtype=" + dtype + "\n %r: " + t + " = " + body +
      "\n %w: u16[65536] = bitcast_convert_type(%r) new_dtype=u16\n %o: i32[65536] = "
      "convert_element_type(%w) new_dtype=i32\n %n: bool[65536] = ne(%r, %r)\n %q: i32[65536] = "
      "constant 65536\n %z: i32[65536] = select_n(%n, %o, %q)\n return %z }";
  const Program f = r.Parse(text);
  Numbers x(kAll);
  for (int i = 0; i < kAll; ++i) x[static_cast<size_t>(i)] = i;
  for (int bits : {0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xff80, 0x7f80, 0x0001}) {
    r.RunEverywhere(f, {x, Numbers(kAll, bits)}, 0);
  }
}

TEST(NarrowFloats, NextAfter) {
  for (const char* dtype : {"f16", "bf16"}) ExpectSameBits(dtype, "nextafter(%x, %y)");
}

TEST(NarrowFloats, Extrema) {
  for (const char* dtype : {"f16", "bf16"}) {
    for (const char* op : {"max", "min"}) ExpectSameBits(dtype, std::string(op) + "(%x, %y)");
  }
}

TEST(NarrowFloats, RoundingKeepsSubnormalNumbers) {
  for (const char* dtype : {"f16", "bf16"}) {
    for (const char* op : {"add", "mul", "sub"}) ExpectSameBits(dtype, std::string(op) + "(%x, %y)");
  }
}

constexpr const char* kTiny[] = {"f8e4m3fn", "f8e5m2", "f8e8m0fnu", "f4e2m1fn"};

// `body` defines %r: f32[n] from %x: T[n] and %y: T[n], of numbers given as f32.
void ExpectSameNumbers(const std::string& t, const std::string& body, const Numbers& x, const Numbers& y) {
  ProgramRunner r;
  const std::string n = "[" + std::to_string(x.size()) + "]", to = " new_dtype=" + t;
  const std::string head = "program f(%a: f32" + n + ", %b: f32" + n + ") { %x: " + t + n +
                           " = convert_element_type(%a)" + to + " %y: " + t + n + " = convert_element_type(%b)" + to;
  r.RunEverywhere(r.Parse(head + " %s: " + t + n + " = " + body + " %r: f32" + n +
                          " = convert_element_type(%s) new_dtype=f32 return %r }"),
                  {x, y}, 0);
}

// Numbers around what these formats can hold: every second one is halfway between two of some format.
Numbers AcrossTheirRange() {
  Numbers x = {0, -0.0, INFINITY, -INFINITY, NAN, 448, 464, 465, 57344, 61440, 61441, 0x1p-127, 0x1.8p-127, 0x1p-149};
  for (int exponent = -20; exponent <= 17; ++exponent) {
    for (int sixteenth = 16; sixteenth < 32; ++sixteenth) {
      x.push_back(std::ldexp(sixteenth, exponent - 4));
      x.push_back(-std::ldexp(sixteenth + 0.001, exponent - 4));
    }
  }
  return x;
}

TEST(NarrowFloats, TinyOnesAreRoundedOnce) {
  const Numbers x = AcrossTheirRange(), y(x.rbegin(), x.rend());
  for (const char* dtype : kTiny) {
    for (const char* op : {"add", "sub", "mul", "div", "max", "min"}) {
      ExpectSameNumbers(dtype, std::string(op) + "(%x, %y)", x, y);
    }
    for (const char* op : {"neg", "abs", "sign", "sqrt", "floor"}) {
      ExpectSameNumbers(dtype, std::string(op) + "(%x)", x, y);
    }
  }
}

TEST(NarrowFloats, StepsAndPrecisionOfTinyOnes) {
  const Numbers x = AcrossTheirRange();
  for (const char* dtype : kTiny) {
    for (double y : {0.0, -0.0, 1.0, -1.5, 1e9, -1e9, double{NAN}, double{INFINITY}}) {
      ExpectSameNumbers(dtype, "nextafter(%x, %y)", x, Numbers(x.size(), y));
    }
    for (const char* bits : {"exponent_bits=4 mantissa_bits=1", "exponent_bits=3 mantissa_bits=3",
                             "exponent_bits=8 mantissa_bits=0", "exponent_bits=2 mantissa_bits=30"}) {
      ExpectSameNumbers(dtype, std::string("reduce_precision(%x) ") + bits, x, x);
    }
  }
}

TEST(NarrowFloats, IntegersBecomeTinyOnesWithOneRounding) {
  for (const char* dtype : kTiny) {
    for (const char* from : {"i64", "u64"}) {
      ProgramRunner r;
      // 1.5 * 2^62 is halfway between two powers of two; one more is not, and f64 cannot hold it.
      const std::string i = from;
      r.RunEverywhere(r.Parse("program f(%a: i32[2]) { %i: " + i + "[2] = convert_element_type(%a) new_dtype=" + i +
                              " %h: " + i + "[2] = constant 6917529027641081856 %s: " + i +
                              "[2] = add(%i, %h) %t: " + dtype + "[2] = convert_element_type(%s) new_dtype=" + dtype +
                              " %r: f32[2] = convert_element_type(%t) new_dtype=f32 return %r }"),
                      {{0, 1}}, 0);
    }
  }
}

TEST(NarrowFloats, ReductionsOfTinyOnes) {
  Numbers x(1000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<double>(i * 7 % 5) / 4;
  for (const std::string t : kTiny) {
    ProgramRunner r;
    for (const char* op : {"reduce_sum", "reduce_max", "reduce_min"}) {
      r.RunEverywhere(r.Parse("program f(%a: f32[1000]) { %x: " + t + "[1000] = convert_element_type(%a) new_dtype=" +
                              t + " %y: " + t + "[10,100] = reshape(%x) new_sizes=[10,100] %s: " + t + "[10] = " + op +
                              "(%y) axes=[1] %r: f32[10] = convert_element_type(%s) new_dtype=f32 return %r }"),
                      {x}, 0);
    }
  }
}

}  // namespace
}  // namespace ricci::testing
