// A start index given at run time, of any integer dtype, as a kernel index: clamped or tested against its range.
#ifndef RICCI_LAX_START_INDEX_HPP_
#define RICCI_LAX_START_INDEX_HPP_
#include "ricci/plugin.hpp"

namespace ricci::inline v0::lax {

// `v` as i64; what a u64 holds beyond that becomes 2^62, which is out of every range.
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
inline Scalar IsInRange(Scalar wide, int64_t last) { return (wide >= 0) & (wide <= last); }

}  // namespace ricci::inline v0::lax
#endif
