// The gamma function of complex numbers and its logarithm.
#ifndef RICCI_BINDINGS_CPP_HOST_COMPLEX_GAMMA_H_
#define RICCI_BINDINGS_CPP_HOST_COMPLEX_GAMMA_H_
#include "ricci/value.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

// NaN at the poles 0, -1, -2, ...
Value ComplexGamma(const Value& z);
// Continuous but for a cut along the negative real numbers, as in SciPy.
Value ComplexLogGamma(const Value& z);

}}}}  // namespace ricci::v0::scipy::special
#endif
