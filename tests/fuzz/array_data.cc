#include "fuzz/array_data.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace ricci::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();

double DrawFloat(Dice& dice, DType dtype, bool special) {
  if (special && dice.Chance(0.2)) {
    const FloatInfo info = InfoOf(dtype);
    const double kSpecial[] = {0.0, -0.0, 1.0, -1.0, kInf, -kInf, kNaN, info.tiny, -info.tiny / 4, 0.5, 2.0, -2.5};
    return dice.Pick(kSpecial);
  }
  return FormatOf(dtype).sign != 0 ? dice.Real(-2, 2) : dice.Real(0.1, 2);
}

uint64_t DrawInteger(Dice& dice, DType dtype, bool special) {
  const int64_t bits = BitsOf(dtype);
  if (special && dice.Chance(0.1)) {
    const uint64_t top = uint64_t{1} << (bits - 1);
    const uint64_t kSpecial[] = {top, top - 1, ~uint64_t{0}, 0, 1, static_cast<uint64_t>(bits), dice.Bits()};
    return dice.Pick(kSpecial);
  }
  return static_cast<uint64_t>(dice.Between(In(dtype, kUnsigned) ? 0 : -3, 9));
}

}  // namespace

Bytes DrawElements(Dice& dice, DType dtype, int64_t n, bool special) {
  special = special && dice.Chance(0.3);
  Bytes out;
  for (int64_t i = 0; i < n; ++i) {
    Element e;
    if (IsComplex(dtype)) {
      const double re = DrawFloat(dice, PartOf(dtype), special);
      e = Encode(dtype, std::complex<double>(re, DrawFloat(dice, PartOf(dtype), special)));
    } else if (IsFloat(dtype)) {
      e = Encode(dtype, DrawFloat(dice, dtype, special));
    } else if (dtype == DType::kBool) {
      e = Encode(dtype, dice.Below(2));
    } else {
      e = Encode(dtype, dtype == DType::kKey ? dice.Bits() : DrawInteger(dice, dtype, special));
    }
    for (uint32_t k = 0; k < e.size; ++k) out.push_back(static_cast<std::byte>(e.bytes[k]));
  }
  return out;
}

double ReadFloat(DType dtype, const std::byte* from) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, static_cast<size_t>(SizeOf(dtype)));
  return ricci_float_decode(FormatOf(dtype), bits);
}

std::string ElementText(DType dtype, const std::byte* from) {
  if (IsComplex(dtype)) {
    const DType part = PartOf(dtype);
    return "(" + ElementText(part, from) + ", " + ElementText(part, from + SizeOf(part)) + ")";
  }
  if (dtype == DType::kBool) return from[0] != std::byte{0} ? "true" : "false";
  if (IsFloat(dtype)) {
    const double v = ReadFloat(dtype, from);
    if (std::isnan(v)) return "nan";
    if (std::isinf(v)) return v > 0 ? "inf" : "-inf";
    char text[40];
    std::snprintf(text, sizeof text, dtype == DType::kF64 ? "%.17g" : "%.9g", v);
    const std::string s(text);
    return s.find_first_of(".e") == std::string::npos ? s + ".0" : s;
  }
  uint64_t bits = 0;
  const auto size = static_cast<size_t>(SizeOf(dtype));
  std::memcpy(&bits, from, size);
  if (!In(dtype, kSigned)) return std::to_string(bits);
  const auto shift = static_cast<int>(64 - 8 * size);
  return std::to_string(static_cast<int64_t>(bits << shift) >> shift);
}

std::string ArrayText(const ArrayType& type, const Bytes& bytes) {
  const auto size = static_cast<size_t>(SizeOf(type.dtype()));
  std::string out = "[";
  for (size_t at = 0; at < bytes.size(); at += size)
    out += (at == 0 ? "" : ", ") + ElementText(type.dtype(), &bytes[at]);
  return out + "]";
}

}  // namespace ricci::testing
