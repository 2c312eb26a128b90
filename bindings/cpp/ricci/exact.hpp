// ricci/exact.hpp: the exact integers of ricci/exact.h in C++: made by Exact, given back by Narrow or a clear error.
//
// Every sum, product or narrowing of a size, count, axis or attribute in a rule is written with these:
// `Want(e, Exact(reps) * size, "dimension ", i)`. A lint refuses plain arithmetic on attributes.
#ifndef RICCI_EXACT_HPP_
#define RICCI_EXACT_HPP_
#include <optional>

#include "ricci/error.hpp"

namespace ricci { inline namespace v0 {

inline ricci_exact Exact(int64_t v) { return ricci_exact_of(v); }
// `v` if it is in [min, max].
inline std::optional<int64_t> Narrow(ricci_exact v, int64_t min = INT64_MIN, int64_t max = INT64_MAX) {
  int64_t out = 0;
  return ricci_exact_narrow(v, min, max, &out) != 0 ? std::optional(out) : std::nullopt;
}
// `v` if it can be a dimension; if not, throws INVALID_ARGUMENT with the text of `parts` before the number.
template <typename... Parts>
int64_t AsDimension(ricci_exact v, const Parts&... parts) {
  if (const std::optional<int64_t> n = Narrow(v, 0, RICCI_MAX_DIM)) return *n;
  Fail(parts..., v, v.lost == 0 && v.value < 0 ? ", it must not be negative" : ", at most 2^62 is allowed");
}
// Limited to what an int64 holds: for bounds that are clamped anyway.
inline int64_t Clamped(ricci_exact v, int64_t min = INT64_MIN, int64_t max = INT64_MAX) {
  return ricci_exact_clamp(v, min, max);
}

}}  // namespace ricci::v0
#endif
