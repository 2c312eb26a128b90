// ricci/scipy_special.hpp: jax.scipy.special. Include it next to ricci.hpp.
#ifndef RICCI_SCIPY_SPECIAL_HPP_
#define RICCI_SCIPY_SPECIAL_HPP_
#include "ricci/reductions.hpp"

namespace ricci { inline namespace v0 { namespace scipy { namespace special {

Value digamma(const Operand& x);
Value erf(const Operand& x);
Value erfc(const Operand& x);
Value erfinv(const Operand& x);
// 1 / (1 + exp(-x)) and its inverse, log(x / (1 - x)).
Value expit(const Operand& x);
Value logit(const Operand& x);
Value logsumexp(const Operand& x, const Axes& axes = {}, bool keepdims = false);
// The logarithm of the sum of weights * exp(x).
Value logsumexp(const Operand& x, const Axes& axes, const Operand& weights, bool keepdims = false);
Value softmax(const Operand& x, AxisNumber axis = -1);
Value log_softmax(const Operand& x, AxisNumber axis = -1);

// ---- the gamma family ----
Value gamma(const Operand& x);
Value gammaln(const Operand& x);
// The sign of gamma.
Value gammasgn(const Operand& x);
Value factorial(const Operand& n);
Value beta(const Operand& a, const Operand& b);
Value betaln(const Operand& a, const Operand& b);
// gamma(z + m) / gamma(z).
Value poch(const Operand& z, const Operand& m);
Value polygamma(const Operand& n, const Operand& x);
Value zeta(const Operand& x, const Operand& q);
// The logarithm of the multivariate gamma function of dimension d.
Value multigammaln(const Operand& a, int64_t d);

// The logarithm of gamma; NaN for x that are not positive.
Value loggamma(const Operand& x);
// In how many ways k of n things are taken, with `repetition` also several times; 0 outside of 0 <= k <= n.
Value comb(const Operand& n, const Operand& k, bool repetition = false);
// The regularized incomplete gamma functions, lower and upper: gammainc + gammaincc = 1.
Value gammainc(const Operand& a, const Operand& x);
Value gammaincc(const Operand& a, const Operand& x);
// The regularized incomplete beta function.
Value betainc(const Operand& a, const Operand& b, const Operand& x);

// ---- modified Bessel functions of the first kind, of order 0 and 1; those with e times exp(-|x|) ----
Value i0(const Operand& x);
Value i0e(const Operand& x);
Value i1(const Operand& x);
Value i1e(const Operand& x);

// ---- exponential integrals of real x ----
// The integral of exp(-x t) / t^n over t > 1 for whole n >= 0; exp1 is that of n = 1. NaN for negative x.
Value expn(const Operand& n, const Operand& x);
Value exp1(const Operand& x);
// The integral of exp(t) / t over t < x, as its principal value.
Value expi(const Operand& x);

// The sine and cosine integrals: of sin(t) / t over 0 < t < x, and euler's constant + log|x| + that of (cos(t) - 1) /
// t.
std::pair<Value, Value> sici(const Operand& x);
// The Fresnel integrals of sin(pi t^2 / 2) and cos(pi t^2 / 2) over 0 < t < x.
std::pair<Value, Value> fresnel(const Operand& x);
// The integral of log(t) / (1 - t) over 1 < t < x, which is the dilogarithm of 1 - x. NaN for negative x.
Value spence(const Operand& x);

// ---- relatives of the error function ----
// The Faddeeva function exp(-z^2) erfc(-i z), complex for a real z too.
Value wofz(const Operand& z);
// exp(x^2) erfc(x), of real or complex x.
Value erfcx(const Operand& x);
// Dawson's integral: exp(-x^2) times the integral of exp(t^2) over 0 < t < x.
Value dawsn(const Operand& x);
// Owen's T: the integral of exp(-h^2 (1 + t^2) / 2) / (1 + t^2) over 0 < t < a, over 2 pi.
Value owens_t(const Operand& h, const Operand& a);

// ---- hypergeometric functions of real arguments ----
// The sum of (a)_k / (b)_k x^k / k!; infinite at b = 0, but 1 at a = 0.
Value hyp1f1(const Operand& a, const Operand& b, const Operand& x);
// The sum of (a)_k (b)_k / (c)_k x^k / k!, for x < 1 its continuation; infinite for larger x unless the sum is finite.
// The derivatives in a, b and c are sums of as many terms, which lose digits near x = 1.
Value hyp2f1(const Operand& a, const Operand& b, const Operand& c, const Operand& x);

// ---- by recurrence ----
// The Bessel functions of the first kind of the orders 0 to v: [v + 1, shape of z...]. `n_iter` is the order from which
// the recurrence runs down: well above |z| and at least v.
Value bessel_jn(const Operand& z, int64_t v, int64_t n_iter = 50);
// The spherical harmonic of degree n and order m, complex; theta is the angle from the pole, phi the longitude. As
// shapes cannot depend on data, `n_max` is given: a greater n counts as n_max. 0 where |m| > n.
Value sph_harm_y(const Operand& n, const Operand& m, const Operand& theta, const Operand& phi, int64_t n_max);
// Bernoulli's numbers B_0 = 1, B_1 = -1/2, ..., B_n in f32, made where `in` is.
Value bernoulli(const Operand& in, int64_t n);

// ---- entropies: 0 at x = 0 ----
Value xlogy(const Operand& x, const Operand& y);
Value xlog1py(const Operand& x, const Operand& y);
// (x^lmbda - 1) / lmbda, log(x) at lmbda = 0; and that of 1 + x.
Value boxcox(const Operand& x, const Operand& lmbda);
Value boxcox1p(const Operand& x, const Operand& lmbda);
// -x log(x); -inf for negative x.
Value entr(const Operand& x);
// x log(x / y), and that minus x plus y.
Value rel_entr(const Operand& p, const Operand& q);
Value kl_div(const Operand& p, const Operand& q);

// ---- the normal distribution ----
Value ndtr(const Operand& x);
Value ndtri(const Operand& p);
Value log_ndtr(const Operand& x);

}}}}  // namespace ricci::v0::scipy::special
#endif
