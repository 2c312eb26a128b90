// Comparison of a result with the expected one, element by element.
#include <cmath>
#include <cstring>
#include <sstream>

#include "replay_case.h"
#include "ricci/float_format.h"

namespace replay {
namespace {

bool IsFloat(uint32_t dtype) { return ricci_float_format_of(dtype).exponent_bits != 0; }
// A complex number is compared by its parts, which are adjacent.
uint32_t PartOf(uint32_t dtype) {
  return dtype == RICCI_C64 ? uint32_t{RICCI_F32} : dtype == RICCI_C128 ? uint32_t{RICCI_F64} : dtype;
}

double ToDouble(uint32_t dtype, uint64_t bits) { return ricci_float_decode(ricci_float_format_of(dtype), bits); }

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

std::string Difference(const Array& array, const void* got) {
  Array want = array;
  want.dtype = PartOf(array.dtype);
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
