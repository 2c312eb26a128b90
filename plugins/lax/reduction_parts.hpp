// What reductions of all kinds share: the identity of a combiner, the dtype of a sum, loops over a box in order.
#ifndef RICCI_LAX_REDUCTION_PARTS_HPP_
#define RICCI_LAX_REDUCTION_PARTS_HPP_
#include <limits>

#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The least (or greatest) value of an integer type.
inline int64_t LeastInteger(DType d) { return In(d, kUnsigned) ? 0 : INT64_MIN >> (64 - BitsOf(d)); }
inline int64_t GreatestInteger(DType d) { return ~LeastInteger(d); }

// Below everything that max (or, of the other sign, min) can meet.
template <bool is_max>
Scalar ExtremumIdentity(Scalar like) {
  if (IsComplex(like.dtype())) return Like(like, is_max ? -kInfinity : kInfinity);
  if (IsFloat(like.dtype())) return Like(like, is_max ? LeastFloat(like.dtype()) : GreatestFloat(like.dtype()));
  return Like(like, is_max ? LeastInteger(like.dtype()) : GreatestInteger(like.dtype()));
}

// max and min of bool are or and and.
constexpr uint32_t ForBool(uint32_t combiner) {
  if (combiner == RICCI_S_MAX) return RICCI_S_OR;
  if (combiner == RICCI_S_MIN) return RICCI_S_AND;
  return combiner;
}
// Sums and products of floats of 16 bits and less are taken in f32.
inline DType SumDType(DType d, uint32_t combiner = RICCI_S_ADD) {
  return IsNarrowFloat(d) && (combiner == RICCI_S_ADD || combiner == RICCI_S_MUL) ? DType::kF32 : d;
}
// Of RICCI_S_ADD, MAX, MIN, and of OR and AND of bool.
inline Scalar IdentityOf(uint32_t combiner, Scalar like) {
  switch (combiner) {
    case RICCI_S_MAX:
      return ExtremumIdentity<true>(like);
    case RICCI_S_MIN:
      return ExtremumIdentity<false>(like);
    case RICCI_S_AND:
      return Like(like, true);
    default:
      return Like(like, 0);
  }
}

// Calls f for each point of the box, in order.
template <typename F>
void LoopBox(const KernelBuilder& k, Dims extents, F&& f, const Index& at = {}) {
  if (extents.empty()) return f(at);
  k.Loop(extents[0], [&](Scalar i) {
    Index inner = at;
    inner.push_back(i);
    LoopBox(k, extents.subspan(1), f, inner);
  });
}

// The elements `load` gives over the box, combined in order, the first with `identity`. Kernel reductions combine no
// pairs, so those of complex numbers, but for sums, are such a loop.
template <typename Combine, typename Load>
Scalar ReduceInOrder(const KernelBuilder& k, const Eqn& e, Dims extents, Scalar identity, Combine&& combine,
                     Load&& load) {
  const KernelArray sum = k.Local(e.Type(identity.dtype(), {}));
  sum.Store({}, identity);
  LoopBox(k, extents, [&](const Index& inner) { sum.Store({}, combine(sum.Load({}), load(inner))); });
  return sum.Load({});
}

}}}  // namespace ricci::v0::lax
#endif
