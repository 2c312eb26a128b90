#include "kernel/scalar/scalar_float.h"

#include <bit>
#include <cmath>

namespace ricci { inline namespace v0 { namespace kernel {

template struct FloatBits<RICCI_F16>;
template struct FloatBits<RICCI_BF16>;
template struct FloatBits<RICCI_F8E4M3FN>;
template struct FloatBits<RICCI_F8E5M2>;
template struct FloatBits<RICCI_F8E8M0FNU>;
template struct FloatBits<RICCI_F4E2M1FN>;

uint64_t NextAfter(const ricci_float_format& f, uint64_t x, uint64_t y) {
  const uint64_t ax = x & ~f.sign, ay = y & ~f.sign, top = f.infinity != 0 ? f.infinity : f.largest;
  if (ax > top || ay > top) return f.nan;
  if (x == y) return y;
  if (ax == 0 && f.has_zero != 0) return ay == 0 ? y : (y & f.sign) | 1;
  const bool away = (x & f.sign) == (y & f.sign) && ay > ax;
  return away ? x + 1 : x - 1;
}

double RoundToOdd(uint64_t v) {
  if (v < (uint64_t{1} << 53)) return static_cast<double>(v);
  const int shift = 11 - std::countl_zero(v);
  const uint64_t lost = v & ((uint64_t{1} << shift) - 1);
  return std::ldexp(static_cast<double>((v >> shift) | (lost ? 1 : 0)), shift);
}

}}}  // namespace ricci::v0::kernel
