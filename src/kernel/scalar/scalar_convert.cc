#include "kernel/scalar/scalar_convert.h"

#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "kernel/scalar/scalar_element.h"

namespace ricci { inline namespace v0 { namespace kernel {
namespace {

constexpr uint32_t kDTypes[] = {RICCI_BOOL, RICCI_I8,       RICCI_I16,    RICCI_I32,       RICCI_I64,     RICCI_U8,
                                RICCI_U16,  RICCI_U32,      RICCI_U64,    RICCI_F16,       RICCI_BF16,    RICCI_F32,
                                RICCI_F64,  RICCI_F8E4M3FN, RICCI_F8E5M2, RICCI_F8E8M0FNU, RICCI_F4E2M1FN};
constexpr size_t kCount = std::size(kDTypes);
// The index in kDTypes; kCount if it is not there.
constexpr size_t IndexOf(uint32_t dtype) {
  size_t i = 0;
  while (i < kCount && kDTypes[i] != dtype) ++i;
  return i;
}
constexpr std::array<uint8_t, RICCI_KEY + 1> MakeIndices() {
  std::array<uint8_t, RICCI_KEY + 1> out{};
  for (uint32_t d = 0; d <= RICCI_KEY; ++d) out[d] = static_cast<uint8_t>(IndexOf(d));
  return out;
}
constexpr std::array<uint8_t, RICCI_KEY + 1> kIndices = MakeIndices();

template <typename T>
T Saturate(double v) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(v)) return 0;
  // The upper limit of the 64-bit types is rounded up as a double, hence >=.
  if (v >= static_cast<double>(Limits::max())) return Limits::max();
  if (v <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<T>(v);
}

// Exact enough that the rounding after it is the only one.
template <typename T>
double Widen(T v, bool to_f64) {
  if constexpr (std::is_same_v<T, double> || sizeof(T) < 8) {
    return static_cast<double>(v);
  } else {
    if (to_f64) return static_cast<double>(v);
    const bool negative = v < 0;
    const uint64_t magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
    return negative ? -RoundToOdd(magnitude) : RoundToOdd(magnitude);
  }
}

template <uint32_t kFrom, uint32_t kTo>
uint64_t ConvertBits(uint64_t bits, uint64_t, uint64_t) {
  using From = ElementOf<kFrom>;
  using To = ElementOf<kTo>;
  using T = typename To::T;
  if constexpr (kFrom == kTo) return bits;
  const auto v = From::Decode(bits);
  if constexpr (std::is_same_v<T, bool>) {
    return v != 0;
  } else if constexpr (std::is_same_v<T, double>) {
    return To::Encode(Widen(v, kTo == RICCI_F64));
  } else if constexpr (std::is_same_v<typename From::T, double>) {
    return To::Encode(Saturate<T>(v));
  } else {
    return To::Encode(static_cast<T>(v));
  }
}

template <uint32_t kFrom, size_t... kTo>
constexpr std::array<ScalarFn, kCount> MakeRow(std::index_sequence<kTo...>) {
  return {ConvertBits<kFrom, kDTypes[kTo]>...};
}
template <size_t... kFrom>
constexpr std::array<std::array<ScalarFn, kCount>, kCount> MakeMatrix(std::index_sequence<kFrom...>) {
  return {MakeRow<kDTypes[kFrom]>(std::make_index_sequence<kCount>())...};
}
constexpr auto kConversions = MakeMatrix(std::make_index_sequence<kCount>());

}  // namespace

ScalarFn FindConversion(uint32_t from, uint32_t to) {
  if (from > RICCI_KEY || to > RICCI_KEY || kIndices[from] == kCount || kIndices[to] == kCount) return nullptr;
  return kConversions[kIndices[from]][kIndices[to]];
}

}}}  // namespace ricci::v0::kernel
