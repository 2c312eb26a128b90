// Floats of 8 bits by the instructions of GPUs from sm_89 on: two of them become f16, which holds all their numbers, at
// once, and f32 are rounded to them. Elsewhere, and without a GPU, it is the arithmetic of device_convert.cc.
//
// Widened the numbers are the same, and any NaN is the NaN of PTX. The instruction that rounds has no form but one that
// makes the greatest number of what is greater, and of infinity: so it is asked only for what rounds to a number, and
// the rest, with NaN, gets the bits that JAX gives it, by a selection.
#include "cuda/device/device_text.h"
#include "cuda/device/types.h"
#include "ricci/float_format.h"

namespace ricci::cuda {
namespace {

constexpr int kFirstArchitecture = 890;

// As PTX says it, of two.
std::string PairName(uint32_t dtype) { return dtype == RICCI_F8E4M3FN ? "e4m3x2" : "e5m2x2"; }

std::string Widening(uint32_t dtype, const std::string& pair) {
  return "\"cvt.rn.f16x2." + PairName(dtype) + " %0, %1;\" : \"=r\"(r) : \"h\"(" + pair + ")";
}

// The bits of the greatest f32 that rounds to a number of the format: what lies half a step above its greatest one
// rounds to the even neighbour.
uint32_t LastInside(uint32_t dtype) {
  const ricci_float_format f = ricci_float_format_of(dtype);
  const double largest = ricci_float_decode(f, f.largest), below = ricci_float_decode(f, f.largest - 1);
  const uint32_t half_above = ricci_f32_bits(static_cast<float>(largest + (largest - below) / 2));
  return f.largest % 2 == 0 ? half_above : half_above - 1;
}

}  // namespace

bool HasF8Instructions(uint32_t dtype) { return dtype == RICCI_F8E4M3FN || dtype == RICCI_F8E5M2; }

std::string WidenF8(DeviceText& d, uint32_t dtype, const std::function<std::string()>& otherwise) {
  return ByInstruction(d, "u32", kFirstArchitecture, Widening(dtype, "(u16)v"), otherwise,
                       [&] { return Widened(d, RICCI_F16, "r"); });
}

std::string NarrowToF8(DeviceText& d, uint32_t dtype, const std::function<std::string()>& otherwise) {
  const ricci_float_format f = ricci_float_format_of(dtype);
  const std::string overflow = std::to_string(f.overflow) + "u", nan = std::to_string(f.nan) + "u",
                    instruction = "\"cvt.rn.satfinite." + PairName(dtype) +
                                  ".f32 %0, %1, %2;\" : \"=h\"(r) : \"f\"(0.0f), \"f\"(x)";
  return ByInstruction(d, "u16", kFirstArchitecture, instruction, otherwise, [&] {
    return Fill("($x & 2147483647u) <= $l ? (u8)r : (u8)(($x >> 24 & $s) | $o)",
                {{'x', BitsOfReal(d, RICCI_F32, "x")},
                 {'l', std::to_string(LastInside(dtype)) + "u"},
                 {'s', std::to_string(f.sign) + "u"},
                 {'o', f.overflow == f.nan ? nan : "(x == x ? " + overflow + " : " + nan + ")"}});
  });
}

std::string F32OfF8Pair(DeviceText& d, uint32_t dtype, const std::string& pair, const std::string& half) {
  const std::string name = "ricci_dev_f32_of_" + std::string(DTypeName(dtype)) + "x2";
  return d.Function(name,
                    [&] {
                      return "f32 " + name + "(u16 pair, i32 half) {\n" +
                             ByInstruction(
                                 d, "u32", kFirstArchitecture, Widening(dtype, "pair"),
                                 [&] { return "  return " + Widened(d, dtype, "pair >> 8 * half & 255") + ";\n"; },
                                 [&] { return Widened(d, RICCI_F16, "r >> 16 * half"); });
                    }) +
         "(" + pair + ", " + half + ")";
}

std::string WidenedF8Pair(DeviceText& d, uint32_t from, uint32_t to, const std::string& pair) {
  const std::string name = "ricci_dev_" + std::string(DTypeName(to)) + "x2_of_" + std::string(DTypeName(from)) + "x2";
  const auto by_f32 = [&] {
    return PairOfF32(d, to, F32OfF8Pair(d, from, "pair", "0"), F32OfF8Pair(d, from, "pair", "1"));
  };
  return d.Function(name,
                    [&] {
                      const std::string begin = "u32 " + name + "(u16 pair) {\n";
                      const auto otherwise = [&] { return "  return " + by_f32() + ";\n"; };
                      if (to != RICCI_F16) return begin + otherwise() + "}";
                      return begin + ByInstruction(d, "u32", kFirstArchitecture, Widening(from, "pair"), otherwise);
                    }) +
         "(" + pair + ")";
}

}  // namespace ricci::cuda
