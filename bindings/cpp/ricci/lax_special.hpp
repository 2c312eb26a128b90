// ricci/lax_special.hpp: the special functions of jax.lax; lax.hpp includes it.
#ifndef RICCI_LAX_SPECIAL_HPP_
#define RICCI_LAX_SPECIAL_HPP_
#include "ricci/emit.hpp"

namespace ricci { inline namespace v0 { namespace lax {

// The modified Bessel functions of the first kind, of order 0 and 1, times exp(-|x|).
inline Value bessel_i0e(const Value& x) { return Emit1("bessel_i0e", {x}); }
inline Value bessel_i1e(const Value& x) { return Emit1("bessel_i1e", {x}); }
// The regularized incomplete beta function I(x; a, b).
inline Value betainc(const Value& a, const Value& b, const Value& x) {
  return Emit1("regularized_incomplete_beta", {a, b, x});
}
inline Value digamma(const Value& x) { return Emit1("digamma", {x}); }
inline Value erf(const Value& x) { return Emit1("erf", {x}); }
inline Value erf_inv(const Value& x) { return Emit1("erf_inv", {x}); }
inline Value erfc(const Value& x) { return Emit1("erfc", {x}); }
// The regularized incomplete gamma functions P(a, x) and Q(a, x) = 1 - P(a, x), and the derivative of P by a.
inline Value igamma(const Value& a, const Value& x) { return Emit1("igamma", {a, x}); }
inline Value igammac(const Value& a, const Value& x) { return Emit1("igammac", {a, x}); }
inline Value igamma_grad_a(const Value& a, const Value& x) { return Emit1("igamma_grad_a", {a, x}); }
inline Value lgamma(const Value& x) { return Emit1("lgamma", {x}); }
inline Value polygamma(const Value& m, const Value& x) { return Emit1("polygamma", {m, x}); }
// The derivative by a of a sample x of the gamma distribution of shape a.
inline Value random_gamma_grad(const Value& a, const Value& x) { return Emit1("random_gamma_grad", {a, x}); }
inline Value zeta(const Value& x, const Value& q) { return Emit1("zeta", {x, q}); }

}}}  // namespace ricci::v0::lax
#endif
