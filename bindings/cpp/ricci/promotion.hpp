// ricci/promotion.hpp: the dtype and shape that several operands get, as in jax.numpy.
//
// The type lattice of JAX with 64-bit types enabled, except that a floating result that no operand decides is f32. A
// C++ number is weak: it takes on the dtype of what it meets unless it is of a higher kind (bool < integer < float). A
// Value itself is never weak.
#ifndef RICCI_PROMOTION_HPP_
#define RICCI_PROMOTION_HPP_
#include <algorithm>

#include "ricci/value.hpp"

namespace ricci::inline v0 {

enum class Weak : uint8_t { kNone, kBool, kInt, kFloat };

inline constexpr DType kDefaultInt = DType::kI32, kDefaultFloat = DType::kF32;

// The signed integer type of `bytes`.
inline DType SignedOf(int64_t bytes) {
  return bytes == 1 ? DType::kI8 : bytes == 2 ? DType::kI16 : bytes == 4 ? DType::kI32 : DType::kI64;
}
inline DType PromoteInts(DType a, DType b) {
  if (In(a, kUnsigned) == In(b, kUnsigned)) return SizeOf(a) >= SizeOf(b) ? a : b;
  const DType u = In(a, kUnsigned) ? a : b, s = In(a, kUnsigned) ? b : a;
  if (SizeOf(s) > SizeOf(u)) return s;
  return SizeOf(u) == 8 ? kDefaultFloat : SignedOf(2 * SizeOf(u));
}
// kNone is neutral; also returned where two dtypes have no common one (keys).
inline DType Promote(DType a, DType b) {
  if (a == b || b == DType::kNone) return a;
  if (a == DType::kNone) return b;
  if (!In(a, kAny) || !In(b, kAny)) return DType::kNone;
  if (a == DType::kBool) return b;
  if (b == DType::kBool) return a;
  if (IsInt(a) && IsInt(b)) return PromoteInts(a, b);
  if (IsInt(a)) return b;
  if (IsInt(b)) return a;
  if (SizeOf(a) == SizeOf(b)) return kDefaultFloat;  // f16 and bf16
  return SizeOf(a) > SizeOf(b) ? a : b;
}
// `d` (kNone: nothing is decided) with a weak number beside it.
inline DType PromoteWeak(DType d, Weak w) {
  if (w == Weak::kFloat) return IsFloat(d) ? d : kDefaultFloat;
  if (w == Weak::kInt) return d == DType::kNone || d == DType::kBool ? kDefaultInt : d;
  if (w == Weak::kBool && d == DType::kNone) return DType::kBool;
  return d;
}
inline DType ToInexact(DType d) { return IsFloat(d) ? d : kDefaultFloat; }

// Grows `shape` to what it and `other` broadcast to; false if they do not.
inline bool BroadcastInto(Shape& shape, Dims other) {
  if (other.size() > shape.size()) shape.insert(shape.begin(), other.size() - shape.size(), 1);
  const size_t first = shape.size() - other.size();
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& d = shape[first + i];
    if (d != other[i] && d != 1 && other[i] != 1) return false;
    if (d == 1) d = other[i];
  }
  return true;
}

}  // namespace ricci::inline v0
#endif
