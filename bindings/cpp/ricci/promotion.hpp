// ricci/promotion.hpp: the dtype and shape that several operands get, as in jax.numpy.
//
// The type lattice of JAX with 64-bit types enabled, except that a floating result is f32 if no operand determines its
// dtype. A C++ number is weak: it takes the dtype of the other operands unless it is of a higher kind (bool < integer <
// float < complex). A Value itself is never weak.
#ifndef RICCI_PROMOTION_HPP_
#define RICCI_PROMOTION_HPP_
#include "ricci/value.hpp"

namespace ricci { inline namespace v0 {

enum class Weak : uint8_t { kNone, kBool, kInt, kFloat, kComplex };

inline constexpr DType kDefaultInt = DType::kI32, kDefaultFloat = DType::kF32, kDefaultComplex = DType::kC64;

// kNone is neutral; it is also returned if two dtypes have no common one (keys).
DType Promote(DType a, DType b);
// `d` (kNone: not determined yet) promoted with a weak number.
DType PromoteWeak(DType d, Weak w);
DType ToInexact(DType d);

// Changes `shape` to what it and `other` broadcast to; false if they do not broadcast.
bool BroadcastInto(Shape& shape, Dims other);

}}  // namespace ricci::v0
#endif
