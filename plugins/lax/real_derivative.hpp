// For choices that jax.lax makes among complex numbers, but does not differentiate.
#ifndef RICCI_LAX_REAL_DERIVATIVE_HPP_
#define RICCI_LAX_REAL_DERIVATIVE_HPP_
#include "ricci/plugin.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// Fails if the result is complex.
inline void WantRealDerivative(const Eqn& e) {
  if (!IsComplex(e.out().dtype())) return;
  throw Error(RICCI_UNIMPLEMENTED, Text(e.name(), ": it has no derivative for complex numbers"));
}

}}}  // namespace ricci::v0::lax
#endif
