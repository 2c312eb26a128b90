// Counts that stop at their largest value, for statistics and costs, where any larger number would mean the same.
//
// Not for sizes and offsets: there a number that does not fit is an error.
#ifndef RICCI_BASE_SATURATING_H_
#define RICCI_BASE_SATURATING_H_
#include <limits>

namespace ricci { inline namespace v0 { namespace base {

// a + b, where both are 0 or more.
template <typename T>
constexpr T AddUpToMost(T a, T b) {
  T sum{};
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<T>::max() : sum;
}
// a * b, where both are 0 or more.
template <typename T>
constexpr T MulUpToMost(T a, T b) {
  T product{};
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<T>::max() : product;
}

}}}  // namespace ricci::v0::base
#endif
