// Counts that stop at their largest value: statistics and costs, where more than that is as good as that.
//
// Sizes and offsets are not counted so: there a number that does not fit is an error.
#ifndef RICCI_BASE_SATURATING_H_
#define RICCI_BASE_SATURATING_H_
#include <limits>

namespace ricci::inline v0::base {

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

}  // namespace ricci::inline v0::base
#endif
