// What LLVM's code generator may call for instructions that a processor lacks (fused multiply-add before FMA, rounding
// before SSE4.1, 16-bit floats before F16C) and for copies of memory. Some compilers' libraries have the conversions of
// 16-bit floats too, but not every one that a host may be linked with.
#include "cpu/llvm/code_symbols.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ricci::cpu {
namespace {

// v rounded to f16, ties to even. Exact for every f32 as it is for every f64.
uint16_t HalfOf(double v) {
  const auto bits = std::bit_cast<uint64_t>(v), magnitude = bits & ~(uint64_t{1} << 63);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  if (std::isnan(v)) return static_cast<uint16_t>(sign | 0x7e00 | (bits >> 42 & 0x1ff));
  if (std::fabs(v) >= 65520) return sign | 0x7c00;
  if (std::fabs(v) < 0x1p-14)
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(std::fabs(v) * 0x1p24)));
  constexpr unsigned kDropped = 42;
  constexpr uint64_t kBias = uint64_t{1023 - 15} << 10;
  const uint64_t rounded = magnitude + ((uint64_t{1} << (kDropped - 1)) - 1) + (magnitude >> kDropped & 1);
  return static_cast<uint16_t>(sign | ((rounded >> kDropped) - kBias));
}

float FloatOf(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16, exponent = half >> 10 & 31, digits = half & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | (digits == 0 ? 0 : 0x400000 | digits << 13));
  const float size = exponent == 0 ? static_cast<float>(digits) * 0x1p-24F
                                   : std::bit_cast<float>((exponent + 112) << 23 | digits << 13);
  return std::bit_cast<float>(std::bit_cast<uint32_t>(size) | sign);
}

// Code passes an f16 as the low bits of a vector register, which is where it passes an f32 too.
extern "C" float RicciExtendHalf(float low) { return FloatOf(static_cast<uint16_t>(std::bit_cast<uint32_t>(low))); }
extern "C" float RicciHalfOfFloat(float v) { return std::bit_cast<float>(uint32_t{HalfOf(static_cast<double>(v))}); }
extern "C" float RicciHalfOfDouble(double v) { return std::bit_cast<float>(uint32_t{HalfOf(v)}); }

template <typename F>
void* Address(F* f) {
  void* p;
  std::memcpy(&p, &f, sizeof p);
  return p;
}
using F1 = float(float);
using D1 = double(double);

const CodeSymbol* LibrarySymbols(size_t* n) {
  static const CodeSymbol table[] = {
      {"memcpy", Address(&std::memcpy)},
      {"memmove", Address(&std::memmove)},
      {"memset", Address(&std::memset)},
      {"fma", Address<double(double, double, double)>(&::fma)},
      {"fmaf", Address<float(float, float, float)>(&::fmaf)},
      {"floor", Address<D1>(&::floor)},
      {"floorf", Address<F1>(&::floorf)},
      {"ceil", Address<D1>(&::ceil)},
      {"ceilf", Address<F1>(&::ceilf)},
      {"trunc", Address<D1>(&::trunc)},
      {"truncf", Address<F1>(&::truncf)},
      {"round", Address<D1>(&::round)},
      {"roundf", Address<F1>(&::roundf)},
      {"roundeven", Address<D1>(&::nearbyint)},  // no code changes the rounding mode
      {"roundevenf", Address<F1>(&::nearbyintf)},
      {"__extendhfsf2", Address(&RicciExtendHalf)},
      {"__truncsfhf2", Address(&RicciHalfOfFloat)},
      {"__truncdfhf2", Address(&RicciHalfOfDouble)},
  };
  *n = std::size(table);
  return table;
}

}  // namespace

void* FindCodeSymbol(std::string_view name) {
  size_t n;
  const CodeSymbol* library = LibrarySymbols(&n);
  for (const std::span<const CodeSymbol> table : {std::span(library, n), MathSymbols(), RuntimeSymbols()}) {
    for (const CodeSymbol& s : table) {
      if (name == s.name) return s.address;
    }
  }
  return nullptr;
}

}  // namespace ricci::cpu
