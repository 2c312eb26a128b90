// AllBitsProgram: conversions from and to a narrow float, over all bits that it has.
#ifndef RICCI_TESTS_CUDA_ALL_BITS_H_
#define RICCI_TESTS_CUDA_ALL_BITS_H_
#include <string>

namespace ricci::testing {

// A program without parameters. Its results: every pattern of bits of `type` as an f32; then every upper half of an
// f32, with four lower halves that are before, at and after the middle of two numbers, as `type`. As numbers of f32,
// or, with `as_bits`, as their bits, so that NaNs are compared too.
inline std::string AllBitsProgram(const std::string& type, int bits, bool as_bits) {
  const std::string shape = "[" + std::to_string(1 << bits) + "]", of = "u" + std::to_string(bits), all = "[65536]";
  std::string text = "program f() {\n", results;
  const auto line = [&](const std::string& name, const std::string& t, const std::string& rest) {
    text += "  %" + name + ": " + t + " = " + rest + "\n";
  };
  const auto give = [&](const std::string& name, const std::string& unsigned_type, const std::string& size) {
    const std::string t = as_bits ? unsigned_type : "f32";
    line("of_" + name, t + size,
         (as_bits ? "bitcast_convert_type(%" : "convert_element_type(%") + name + ") new_dtype=" + t);
    results += (results.empty() ? "%of_" : ", %of_") + name;
  };
  line("i", of + shape, "iota() dtype=" + of + " shape=" + shape + " dimension=0");
  line("x", type + shape, "bitcast_convert_type(%i) new_dtype=" + type);
  line("w", "f32" + shape, "convert_element_type(%x) new_dtype=f32");
  give("w", "u32", shape);
  line("h", "u32" + all, "iota() dtype=u32 shape=[65536] dimension=0");
  line("k", "u32" + all, "constant 65536");
  line("m", "u32" + all, "mul(%h, %k)");
  for (const std::string low : {"0", "32767", "32768", "32769"}) {
    line("c" + low, "u32" + all, "constant " + low);
    line("s" + low, "u32" + all, "add(%m, %c" + low + ")");
    line("f" + low, "f32" + all, "bitcast_convert_type(%s" + low + ") new_dtype=f32");
    line("n" + low, type + all, "convert_element_type(%f" + low + ") new_dtype=" + type);
    give("n" + low, of, all);
  }
  return text + "  return " + results + "\n}";
}

}  // namespace ricci::testing
#endif
