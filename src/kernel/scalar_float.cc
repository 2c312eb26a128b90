// Rounding is done on the integer fields: adding the rounded mantissa to the shifted exponent carries into it when the
// mantissa overflows, and an exponent that reaches the top is infinity, so neither needs a case of its own.
#include "kernel/scalar_float.h"

#include <cmath>

namespace ricci::inline v0::kernel {
namespace {

constexpr uint64_t kHidden = uint64_t{1} << 52;

// v / 2^shift to nearest even.
uint64_t ShiftRounded(uint64_t v, int shift) {
  if (shift > 62) return 0;
  const uint64_t kept = v >> shift;
  const uint64_t rest = v & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
}

}  // namespace

double DecodeHalf(uint64_t bits) {
  const uint64_t exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double v;
  if (exponent == 31) {
    v = mantissa ? std::nan("") : INFINITY;
  } else if (exponent == 0) {
    v = std::ldexp(static_cast<double>(mantissa), -24);
  } else {
    v = std::bit_cast<double>(((exponent + 1023 - 15) << 52) | (mantissa << 42));
  }
  return (bits >> 15) & 1 ? -v : v;
}

uint64_t EncodeNarrow(FloatFormat f, double v) {
  const uint64_t bits = std::bit_cast<uint64_t>(v);
  const uint64_t sign = bits >> 63 ? f.sign() : 0;
  if (std::isnan(v)) return sign | f.quiet_nan();
  if (std::isinf(v)) return sign | f.infinity();
  const int exponent = static_cast<int>((bits >> 52) & 2047) - 1023;
  if (exponent == -1023) return sign;  // below half of the smallest number of every narrower format
  const uint64_t mantissa = (bits & (kHidden - 1)) | kHidden;
  const int lowest = 1 - f.bias();
  const int shift = 52 - f.mantissa_bits + (exponent < lowest ? lowest - exponent : 0);
  // The hidden bit of a normal number counts as one more exponent step.
  const uint64_t steps = exponent < lowest ? 0 : static_cast<uint64_t>(exponent - lowest);
  const uint64_t magnitude = (steps << f.mantissa_bits) + ShiftRounded(mantissa, shift);
  return sign | (magnitude >= f.infinity() ? f.infinity() : magnitude);
}

uint64_t NextAfter(FloatFormat f, uint64_t x, uint64_t y) {
  const uint64_t magnitude_mask = f.sign() - 1;
  const uint64_t ax = x & magnitude_mask, ay = y & magnitude_mask;
  if (ax > f.infinity() || ay > f.infinity()) return f.quiet_nan();
  if (x == y || (ax == 0 && ay == 0)) return y;
  if (ax == 0) return (y & f.sign()) | 1;
  const bool away = (x & f.sign()) == (y & f.sign()) && ay > ax;
  return away ? x + 1 : x - 1;
}

double RoundToOdd(uint64_t v) {
  if (v < (uint64_t{1} << 53)) return static_cast<double>(v);
  const int shift = 11 - std::countl_zero(v);
  const uint64_t lost = v & ((uint64_t{1} << shift) - 1);
  return std::ldexp(static_cast<double>((v >> shift) | (lost ? 1 : 0)), shift);
}

}  // namespace ricci::inline v0::kernel
