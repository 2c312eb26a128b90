// 16-bit floats on every backend: each of the 65,536 values gives the bits of the reference, or NaN for NaN.
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

}  // namespace
}  // namespace ricci::testing
