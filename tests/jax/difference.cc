// Comparison of a result with the expected one, element by element.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "replay_case.h"
#include "ricci/base.h"

namespace replay {
namespace {

double FromNarrow(uint64_t bits, int mantissa, int exponent) {
  const int bias = (1 << (exponent - 1)) - 1;
  const auto fraction = static_cast<double>(bits & ((uint64_t{1} << mantissa) - 1));
  const int e = static_cast<int>(bits >> mantissa) & ((1 << exponent) - 1);
  const double sign = (bits >> (mantissa + exponent) & 1) != 0 ? -1 : 1;
  if (e == (1 << exponent) - 1) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  const double unit = std::ldexp(1.0, -mantissa);
  return sign * (e == 0 ? std::ldexp(fraction * unit, 1 - bias) : std::ldexp(1 + fraction * unit, e - bias));
}

bool IsFloat(uint32_t dtype) { return dtype >= RICCI_F16 && dtype <= RICCI_F64; }

double ToDouble(uint32_t dtype, uint64_t bits) {
  switch (dtype) {
    case RICCI_F16:
      return FromNarrow(bits, 10, 5);
    case RICCI_BF16:
      return FromNarrow(bits, 7, 8);
    case RICCI_F32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

bool Agree(const Array& a, uint64_t want_bits, uint64_t got_bits) {
  if (want_bits == got_bits) return true;
  if (!IsFloat(a.dtype)) return false;
  const double want = ToDouble(a.dtype, want_bits), got = ToDouble(a.dtype, got_bits);
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (a.rtol == 0 && a.atol == 0) return false;
  if (std::isinf(want) || std::isinf(got)) return want == got;
  return std::abs(got - want) <= a.atol + a.rtol * std::abs(want);
}

std::string Text(uint32_t dtype, uint64_t bits) {
  std::ostringstream out;
  out.precision(dtype == RICCI_F64 ? 17 : 9);
  IsFloat(dtype) ? out << ToDouble(dtype, bits) : out << "0x" << std::hex << bits;
  return out.str();
}

}  // namespace

std::string Difference(const Array& want, const void* got) {
  const size_t size = ricci_dtype_size(want.dtype), n = want.bytes.size() / size;
  std::string first;
  size_t wrong = 0;
  for (size_t i = 0; i < n; ++i) {
    uint64_t w = 0, g = 0;
    std::memcpy(&w, want.bytes.data() + i * size, size);
    std::memcpy(&g, static_cast<const char*>(got) + i * size, size);
    if (Agree(want, w, g)) continue;
    if (wrong++ == 0)
      first = "element " + std::to_string(i) + " is " + Text(want.dtype, g) + ", not " + Text(want.dtype, w);
  }
  return wrong == 0 ? "" : first + " (" + std::to_string(wrong) + " of " + std::to_string(n) + " differ)";
}

}  // namespace replay
