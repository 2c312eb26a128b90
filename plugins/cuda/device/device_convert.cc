// Conversions between element types as text: those of ricci/float_format.h, in 32 bits.
//
// Floats of 16 bits and less are computed in f32 and rounded once for each operation. Conversions of 16 bits are
// instructions (`cvt`; of bf16 from sm_80 on). Elsewhere integer arithmetic gives the same bits, but for which NaN it
// is. Conversions of 8 bits and less are integer arithmetic, where device_f8.cc has no instruction.
#include <cmath>
#include <cstdio>
#include <functional>

#include "cuda/device/device_text.h"
#include "cuda/device/types.h"
#include "ricci/float_format.h"

namespace ricci::cuda {
namespace {

std::string Number(uint64_t v) { return std::to_string(v) + (v >> 32 != 0 ? "ull" : "u"); }
std::string Hex(double v) {
  char text[40];
  std::snprintf(text, sizeof text, "%a", v);
  return text;
}

// bf16 is the upper half of f32: no other narrow format has its exponents.
bool IsHalfOfF32(uint32_t dtype) { return dtype == RICCI_BF16; }

// The number that the bits of a narrow format are; every one of them is an f32.
std::string WidenBody(DeviceText& d, uint32_t dtype) {
  const ricci_float_format f = ricci_float_format_of(dtype);
  const int up = 23 - f.mantissa_bits;
  const uint64_t hidden = uint64_t{1} << f.mantissa_bits, all = (hidden << f.exponent_bits) - 1;
  std::string below = "4194304u";  // 2^-127, of the format without a zero
  if (f.has_zero != 0) {
    below = BitsOfReal(d, RICCI_F32, "(f32)size * " + Hex(std::ldexp(1, 1 - f.bias - f.mantissa_bits)) + "f");
  }
  std::string text = Fill("  const u32 size = v & $a;\n  u32 r = size < $h ? $b : (size << $u) + $o;\n",
                          {{'a', Number(all)},
                           {'h', Number(hidden)},
                           {'b', below},
                           {'u', std::to_string(up)},
                           {'o', Number(static_cast<uint64_t>(127 - f.bias) << 23)}});
  if (f.largest != all) {
    std::string special = Fill("((size ^ $n) & $h) << $u | 2143289344u",
                               {{'n', Number(f.nan)}, {'h', Number(hidden - 1)}, {'u', std::to_string(up)}});
    if (f.infinity != 0) special = "size == " + Number(f.infinity) + " ? 2139095040u : " + special;
    text += "  if (size > " + Number(f.largest) + ") r = " + special + ";\n";
  }
  const std::string sign =
      Fill("(v & $s) << $m", {{'s', Number(f.sign)}, {'m', std::to_string(31 - f.exponent_bits - f.mantissa_bits)}});
  return text + "  return " + RealOfBits(d, RICCI_F32, f.sign == 0 ? "r" : "r | " + sign) + ";\n";
}

std::string WidenText(DeviceText& d, uint32_t dtype) {
  const std::string begin = Fill("f32 ricci_dev_f32_of_$n(u32 v) {\n", {{'n', DTypeName(dtype)}});
  if (HasF8Instructions(dtype)) return begin + WidenF8(d, dtype, [&] { return WidenBody(d, dtype); });
  if (dtype != RICCI_F16) return begin + WidenBody(d, dtype) + "}";
  return begin + ByInstruction(d, "f32", 530, "\"cvt.f32.f16 %0, %1;\" : \"=f\"(r) : \"h\"((u16)v)",
                               [&] { return WidenBody(d, dtype); });
}

// Rounded to nearest even. Added to a number whose last bit is the smallest step, what is below the normal numbers is
// rounded to steps.
std::string NarrowBody(DeviceText& d, uint32_t dtype) {
  if (IsHalfOfF32(dtype)) {
    return "  const u32 bits = " + BitsOfReal(d, RICCI_F32, "x") +
           ";\n  if (x != x) return (u16)(bits >> 31 << 15 | 32704u);\n"
           "  return (u16)((bits + (bits >> 16 & 1u) + 32767u) >> 16);\n";
  }
  const ricci_float_format f = ricci_float_format_of(dtype);
  const int dropped = 23 - f.mantissa_bits;
  const std::string anchor = Hex(std::ldexp(1, 24 - f.bias - f.mantissa_bits)) + "f";
  const std::string below = BitsOfReal(d, RICCI_F32, RealOfBits(d, RICCI_F32, "size") + " + " + anchor) + " - " +
                            BitsOfReal(d, RICCI_F32, anchor);
  // Without mantissa bits the last digit is the hidden one, which is odd.
  const std::string odd = f.mantissa_bits == 0 ? "1u" : Fill("(steps >> $d & 1u)", {{'d', std::to_string(dropped)}});
  std::string text = Fill(
      "  const u32 bits = $x, size = bits & 2147483647u, steps = size - $o;\n"
      "  u32 r = size < $l ? $b : (steps + $q + $h) >> $d;\n"
      "  if (r > $g) r = $v;\n  if (size > 2139095040u) r = $e;\n",
      {{'x', BitsOfReal(d, RICCI_F32, "x")},
       {'o', Number(static_cast<uint64_t>(127 - f.bias) << 23)},
       {'l', Number(static_cast<uint64_t>(128 - f.bias) << 23)},
       {'b', below},
       {'q', odd},
       {'h', Number((uint64_t{1} << (dropped - 1)) - 1)},
       {'d', std::to_string(dropped)},
       {'g', Number(f.largest)},
       {'v', Number(f.overflow)},
       {'e', Number(f.nan)}});
  text += f.sign != 0 ? "  if (bits != size) r ^= " + Number(f.sign) + ";\n"
                      : "  if (bits != size) r = " + Number(f.nan) + ";\n";
  if (f.has_zero == 0) text += "  if (size == 0u) r = " + Number(f.nan) + ";\n";
  return text + Fill("  return ($t)r;\n", {{'t', TypeName(dtype)}});
}

std::string NarrowText(DeviceText& d, uint32_t dtype) {
  const std::string name(DTypeName(dtype)),
      begin = Fill("$t ricci_dev_$n_of_f32(f32 x) {\n", {{'t', TypeName(dtype)}, {'n', name}});
  if (HasF8Instructions(dtype)) return begin + NarrowToF8(d, dtype, [&] { return NarrowBody(d, dtype); });
  if (dtype != RICCI_F16 && dtype != RICCI_BF16) return begin + NarrowBody(d, dtype) + "}";
  return begin + ByInstruction(d, "u16", dtype == RICCI_F16 ? 530 : 800,
                               "\"cvt.rn." + name + ".f32 %0, %1;\" : \"=h\"(r) : \"f\"(x)",
                               [&] { return NarrowBody(d, dtype); });
}

// An f64 as an f32 that rounds further as the f64 itself would: what is inexact gets an odd last bit.
std::string Odd(DeviceText& d, const std::string& value) {
  return d.Function(
             "ricci_dev_f32_odd",
             [&] {
               return "f32 ricci_dev_f32_odd(f64 x) {\n  const f32 nearest = (f32)x;\n  const f64 back = nearest;\n"
                      "  const u32 bits = " +
                      BitsOfReal(d, RICCI_F32, "nearest") +
                      ";\n"
                      "  if (back == x || x != x) return nearest;\n"
                      "  return " +
                      RealOfBits(d, RICCI_F32, "(fabs(back) > fabs(x) ? bits - 1u : bits) | 1u") + ";\n}";
             }) +
         "(" + value + ")";
}

// A 64-bit integer that f64 holds exactly and that rounds to fewer than 40 bits as the given one does.
std::string ForOneRounding(DeviceText& d, uint32_t from, const std::string& value) {
  const std::string type(TypeName(from)), name = "ricci_dev_short_" + type;
  return d.Function(name,
                    [&] {
                      const std::string inside = IsSigned(from)
                                                     ? "v + 9007199254740992ll >= 0 && v <= 9007199254740992ll"
                                                     : "v <= 9007199254740992ull";
                      return type + " " + name + "(" + type + " v) {\n  if (" + inside + ") return v;\n" +
                             "  return (" + type +
                             ")(((u64)v & ~4095ull) | (((u64)v & 4095ull) != 0 ? 2048ull : 0ull));\n}";
                    }) +
         "(" + value + ")";
}

// Saturating, NaN to 0.
std::string ToInteger(DeviceText& d, uint32_t from, uint32_t to, const std::string& value) {
  const std::string name = Fill("ricci_dev_$t_of_$f", {{'t', TypeName(to)}, {'f', TypeName(from)}});
  return d.Function(name,
                    [&] {
                      const uint32_t bits = BitsOf(to);
                      const bool is_signed = IsSigned(to);
                      const uint64_t top = uint64_t{1} << (bits - 1);
                      const std::string suffix = from == RICCI_F32 ? "f" : "";
                      return Fill(
                          "$t $n($f x) {\n  if (x >= $e) return ($t)$g;\n  if (x < $l) return ($t)$s;\n  return x == x "
                          "? ($t)x : ($t)0;\n}",
                          {{'t', TypeName(to)},
                           {'n', name},
                           {'f', TypeName(from)},
                           {'e', Hex(std::ldexp(1, static_cast<int>(is_signed ? bits - 1 : bits))) + suffix},
                           {'l', Hex(is_signed ? -std::ldexp(1, static_cast<int>(bits) - 1) : 0) + suffix},
                           {'g', Number(is_signed ? top - 1 : 2 * top - 1)},
                           {'s', Number(is_signed ? top : 0)}});
                    }) +
         "(" + value + ")";
}

std::string Cast(uint32_t to, const std::string& value) { return "(" + std::string(TypeName(to)) + ")(" + value + ")"; }

std::string View(DeviceText& d, const std::string& from, const std::string& to, const std::string& value) {
  const std::string name = "ricci_dev_" + to + "_bits_" + from;
  return d.Function(name,
                    [&] {
                      return Fill("$t $n($f v) {\n  union { $f from; $t to; } u;\n  u.from = v;\n  return u.to;\n}",
                                  {{'t', to}, {'n', name}, {'f', from}});
                    }) +
         "(" + value + ")";
}

}  // namespace

std::string ByInstruction(DeviceText& d, const std::string& type, int first, const std::string& instruction,
                          const std::function<std::string()>& otherwise, const std::function<std::string()>& result) {
  const bool before = d.SetForSome(true);
  const std::string rest = otherwise(), value = result ? result() : "r";
  d.SetForSome(before);
  return "#if __CUDA_ARCH__ >= " + std::to_string(first) + "\n  " + type + " r;\n  asm(" + instruction +
         ");\n  return " + value + ";\n#else\n" + rest + "#endif\n}";
}

std::string RealOfBits(DeviceText& d, uint32_t dtype, const std::string& bits) {
  return View(d, std::string(UnsignedName(dtype)), std::string(TypeName(dtype)), bits);
}
std::string BitsOfReal(DeviceText& d, uint32_t dtype, const std::string& real) {
  return View(d, std::string(TypeName(dtype)), std::string(UnsignedName(dtype)), real);
}

std::string Widened(DeviceText& d, uint32_t dtype, const std::string& value) {
  if (IsHalfOfF32(dtype)) {
    const bool is_one = value.find(' ') == value.npos;
    return RealOfBits(d, RICCI_F32, "(u32)" + (is_one ? value : "(" + value + ")") + " << 16");
  }
  const std::string name = "ricci_dev_f32_of_" + std::string(DTypeName(dtype));
  return d.Function(name, [&] { return WidenText(d, dtype); }) + "(" + value + ")";
}
std::string Narrowed(DeviceText& d, uint32_t dtype, const std::string& value) {
  const std::string name = "ricci_dev_" + std::string(DTypeName(dtype)) + "_of_f32";
  return d.Function(name, [&] { return NarrowText(d, dtype); }) + "(" + value + ")";
}

std::string Convert(DeviceText& d, uint32_t from, uint32_t to, const std::string& value) {
  if (from == to) return value;
  if (IsNarrow(from)) return Convert(d, RICCI_F32, to, Widened(d, from, value));
  if (to == RICCI_BOOL) return "(" + value + ") != 0";
  if (IsNarrow(to)) {
    if (from == RICCI_F32) return Narrowed(d, to, value);
    if (from == RICCI_F64) return Narrowed(d, to, Odd(d, value));
    if (BitsOf(from) <= 16) return Narrowed(d, to, Cast(RICCI_F32, value));  // which holds it
    const bool is_long = from == RICCI_I64 || from == RICCI_U64;
    return Convert(d, RICCI_F64, to, Cast(RICCI_F64, is_long ? ForOneRounding(d, from, value) : value));
  }
  if (IsFloat(from) && !IsFloat(to)) return ToInteger(d, from, to, value);
  return Cast(to, value);
}

std::string Bitcast(DeviceText& d, uint32_t from, uint32_t to, const std::string& value) {
  if (TypeName(from) == TypeName(to)) return value;
  const bool reals = from == RICCI_F32 || from == RICCI_F64 || to == RICCI_F32 || to == RICCI_F64;
  return reals ? View(d, std::string(TypeName(from)), std::string(TypeName(to)), value) : Cast(to, value);
}

}  // namespace ricci::cuda
