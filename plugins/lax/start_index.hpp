// Start indices of any integer dtype: as kernel indices, clamped or checked against their range; as known numbers.
#ifndef RICCI_LAX_START_INDEX_HPP_
#define RICCI_LAX_START_INDEX_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// `v` as i64; u64 values beyond that become 2^62, which is out of every range.
inline Scalar WideIndex(Scalar v) {
  if (v.dtype() == DType::kU64) v = Min(v, Like(v, int64_t{1} << 62));
  return Convert(v, DType::kI64);
}
// Limited to [0, last].
inline Scalar ClampedIndex(Scalar v, int64_t last) {
  const Scalar wide = WideIndex(v);
  return Min(Max(wide, Like(wide, 0)), Like(wide, last));
}
// Whether `wide`, an i64, is in [0, last].
inline Scalar IsInRange(Scalar wide, int64_t last) {
  const Scalar is_below = wide <= last;
  return (wide >= 0) & is_below;
}

// The elements of an integer constant; empty for any other value, and for one number that stands for more than
// RICCI_MAX_RANK of them: such a list may be as long as a type allows. What a u64 holds beyond i64 becomes the greatest
// i64.
inline Shape KnownIntegers(const Value& v) {
  const void* data = nullptr;
  uint64_t bytes = 0;
  ricci_builder_constant(v.builder, v.id, &data, &bytes);
  const DType dtype = v.dtype();
  if (data == nullptr || !IsInt(dtype)) return {};
  const auto size = static_cast<size_t>(SizeOf(dtype));
  const size_t n = bytes / size;
  if (n == 1 && v.type().elements() > int64_t{RICCI_MAX_RANK}) return {};
  Shape out;
  for (int64_t i = 0; i < v.type().elements(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, static_cast<const char*>(data) + (n == 1 ? 0 : static_cast<size_t>(i) * size), size);
    const auto unused = static_cast<int>(64 - BitsOf(dtype));
    out.push_back(In(dtype, kUnsigned) ? static_cast<int64_t>(std::min<uint64_t>(bits, INT64_MAX))
                                       : static_cast<int64_t>(bits << unused) >> unused);
  }
  return out;
}

}}}  // namespace ricci::v0::lax
#endif
