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

// CRC-32, as zlib computes it.
uint32_t Checksum(uint32_t dtype, size_t n, const void* numbers) {
  const size_t size = ricci_dtype_size(dtype);
  uint32_t crc = ~uint32_t{0};
  for (size_t i = 0; i < n; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(numbers) + i * size, size);
    if (IsFloat(dtype) && std::isnan(ToDouble(dtype, bits))) bits = ~uint64_t{0};
    for (size_t byte = 0; byte < size; ++byte) {
      crc ^= static_cast<uint32_t>(bits >> (8 * byte) & 0xff);
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    }
  }
  return ~crc;
}

std::string ChecksumDifference(const Array& array, const void* got) {
  size_t n = PartOf(array.dtype) == array.dtype ? 1 : 2;
  for (int64_t d : array.dims) n *= static_cast<size_t>(d);
  if (Checksum(PartOf(array.dtype), n, got) == *array.checksum) return "";
  return "other bits than JAX's; `generate.py OUT --all GROUP` writes these for a replay";
}

}  // namespace

std::string Difference(const Array& array, const void* got, size_t shown) {
  if (array.checksum) return ChecksumDifference(array, got);
  Array want = array;
  want.dtype = PartOf(array.dtype);
  const size_t size = ricci_dtype_size(want.dtype), n = want.bytes.size() / size;
  std::string text;
  size_t wrong = 0;
  for (size_t i = 0; i < n; ++i) {
    const size_t place = want.places.empty() ? i : static_cast<size_t>(want.places[i]);
    uint64_t w = 0, g = 0;
    std::memcpy(&w, want.bytes.data() + i * size, size);
    std::memcpy(&g, static_cast<const char*>(got) + place * size, size);
    if (Agree(want, w, g)) continue;
    if (wrong++ < shown) {
      text += (text.empty() ? "element " : ", element ") + std::to_string(place) + " is " + Text(want.dtype, g) +
              ", not " + Text(want.dtype, w);
    }
  }
  return wrong == 0 ? "" : text + " (" + std::to_string(wrong) + " of " + std::to_string(n) + " differ)";
}

}  // namespace replay
