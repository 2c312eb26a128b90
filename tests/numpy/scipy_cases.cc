// jax.scipy.special and jax.scipy.signal.
#include "case.h"
#include "ricci/scipy_signal.hpp"
#include "ricci/scipy_special.hpp"

namespace ricci::testing {
namespace {

using namespace scipy;

const Case kCases[] = {
    {"jsp.special.digamma(p)", [](const Given& g) -> Results { return special::digamma(g.p); }, 16},
    {"jsp.special.erfinv(u)", [](const Given& g) -> Results { return special::erfinv(g.u); }, 16},
    {"jsp.special.expit(x)", [](const Given& g) -> Results { return special::expit(g.x); }},
    {"jsp.special.logit(jnp.abs(u))", [](const Given& g) -> Results { return special::logit(abs(g.u)); }},
    {"jsp.special.logsumexp(x, 1, b=jnp.abs(y))",
     [](const Given& g) -> Results { return special::logsumexp(g.x, 1, abs(g.y)); }},
    {"jsp.special.logsumexp(x, b=y)", [](const Given& g) -> Results { return special::logsumexp(g.x, {}, g.y); }},
    {"jsp.special.gamma(x + 0.3)", [](const Given& g) -> Results { return special::gamma(g.x + 0.3); }, 64},
    {"jsp.special.gammaln(p)", [](const Given& g) -> Results { return special::gammaln(g.p); }, 16},
    {"jsp.special.gammasgn(x + 0.3)", [](const Given& g) -> Results { return special::gammasgn(g.x + 0.3); }},
    {"jsp.special.factorial(j)", [](const Given& g) -> Results { return special::factorial(g.j); }, 16},
    {"jsp.special.beta(p, 1.5)", [](const Given& g) -> Results { return special::beta(g.p, 1.5); }, 32},
    {"jsp.special.betaln(p, 2)", [](const Given& g) -> Results { return special::betaln(g.p, 2); }, 32},
    {"jsp.special.poch(p, 2)", [](const Given& g) -> Results { return special::poch(g.p, 2); }, 64},
    {"jsp.special.polygamma(2, p)", [](const Given& g) -> Results { return special::polygamma(2, g.p); }, 64},
    {"jsp.special.zeta(p + 1, 2.5)", [](const Given& g) -> Results { return special::zeta(g.p + 1, 2.5); }, 64},
    {"jsp.special.multigammaln(p + 1, 2)", [](const Given& g) -> Results { return special::multigammaln(g.p + 1, 2); },
     32},
    {"jsp.special.loggamma(x)", [](const Given& g) -> Results { return special::loggamma(g.x); }, 16},
    {"jsp.special.comb(jnp.array([5, 3, -1, 4]), j[:4])",
     [](const Given& g) -> Results {
       return special::comb(Array(g.ctx, {5, 3, -1, 4}), slice(g.j, 0, 4));
     },
     64},
    {"jsp.special.comb(5, j, repetition=True)", [](const Given& g) -> Results { return special::comb(5, g.j, true); },
     64},
    {"jsp.special.gammainc(p, jnp.abs(x))", [](const Given& g) -> Results { return special::gammainc(g.p, abs(g.x)); },
     32},
    {"jsp.special.gammaincc(p, 2)", [](const Given& g) -> Results { return special::gammaincc(g.p, 2); }, 32},
    {"jsp.special.betainc(p, 1.5, 0.3)", [](const Given& g) -> Results { return special::betainc(g.p, 1.5, 0.3); }, 32},
    {"jsp.special.exp1(jnp.concatenate([p.ravel(), jnp.array([0.0, -1.0, 30.0])]))",
     [](const Given& g) -> Results {
       return special::exp1(concatenate({ravel(g.p), Array(g.ctx, {0.0f, -1.0f, 30.0f})}));
     },
     32},
    {"jsp.special.expn(j[:4], p[:, :1])",
     [](const Given& g) -> Results { return special::expn(slice(g.j, 0, 4), slice(g.p, 0, 1, 1)); }, 32},
    {"jsp.special.expn(3, jnp.abs(x))", [](const Given& g) -> Results { return special::expn(3, abs(g.x)); }, 64},
    {"jsp.special.expi(x)", [](const Given& g) -> Results { return special::expi(g.x); }, 32},
    {"jsp.special.expi(x * 12)", [](const Given& g) -> Results { return special::expi(g.x * 12); }, 256},
    {"jax.grad(lambda a: jsp.special.exp1(a).sum())(p)",
     [](const Given& g) -> Results { return grad([](Value a) { return sum(special::exp1(a)); })(g.p); }, 128},
    {"jsp.special.i0(x)", [](const Given& g) -> Results { return special::i0(g.x); }, 16},
    {"jsp.special.i0e(i)", [](const Given& g) -> Results { return special::i0e(g.i); }, 16},
    {"jsp.special.i1(x)", [](const Given& g) -> Results { return special::i1(g.x); }, 16},
    {"jsp.special.i1e(d)", [](const Given& g) -> Results { return special::i1e(g.d); }, 64},
    {"jsp.special.xlogy(j, jnp.arange(5))",
     [](const Given& g) -> Results { return special::xlogy(g.j, arange(g.ctx, 5)); }},
    {"jsp.special.xlog1py(s, u)", [](const Given& g) -> Results { return special::xlog1py(g.s, g.u); }},
    {"jsp.special.entr(s)", [](const Given& g) -> Results { return special::entr(g.s); }},
    {"jsp.special.rel_entr(x, y)", [](const Given& g) -> Results { return special::rel_entr(g.x, g.y); }},
    {"jsp.special.kl_div(s, jnp.abs(u))", [](const Given& g) -> Results { return special::kl_div(g.s, abs(g.u)); }},
    {"jsp.special.ndtr(x)", [](const Given& g) -> Results { return special::ndtr(g.x); }},
    {"jsp.special.ndtri(jnp.array([1e-30, 1e-6, 0.1, 0.3, 0.5, 0.9, 1.0, 0.0]))",
     [](const Given& g) -> Results {
       return special::ndtri(Array(g.ctx, {1e-30f, 1e-6f, 0.1f, 0.3f, 0.5f, 0.9f, 1.0f, 0.0f}));
     },
     32},
    {"jsp.special.log_ndtr(x * 10)", [](const Given& g) -> Results { return special::log_ndtr(g.x * 10); }, 32},
    {"jsp.special.boxcox(p, jnp.array([0.0, 0.5, -1.0]))",
     [](const Given& g) -> Results {
       return special::boxcox(g.p, Array(g.ctx, {0.0f, 0.5f, -1.0f}));
     },
     16},
    {"jsp.special.boxcox1p(p, 0.3)", [](const Given& g) -> Results { return special::boxcox1p(g.p, 0.3); }, 16},
    {"jsp.signal.detrend(x)", [](const Given& g) -> Results { return signal::detrend(g.x); }, 64},
    {"jsp.signal.detrend(t, 1, 'constant')",
     [](const Given& g) -> Results { return signal::detrend(g.t, 1, "constant"); }, 16},
    {"jsp.signal.detrend(t, bp=[2])", [](const Given& g) -> Results { return signal::detrend(g.t, -1, "linear", {2}); },
     64},
    {"jsp.signal.detrend(t, 1)", [](const Given& g) -> Results { return signal::detrend(g.t, 1); }, 64},
    {"jsp.signal.convolve(x, m)", [](const Given& g) -> Results { return signal::convolve(g.x, g.m); }, 16},
    {"jsp.signal.convolve(t, t[:, :2, :3], mode='same')",
     [](const Given& g) -> Results {
       return signal::convolve(g.t, index(g.t, {kAll, Slice{0, 2}, Slice{0, 3}}), "same");
     },
     32},
    {"jsp.signal.convolve(u, v, mode='valid')",
     [](const Given& g) -> Results { return signal::convolve(g.u, g.v, "valid"); }, 16},
    {"jsp.signal.correlate(x, m[:2, :2], mode='same')",
     [](const Given& g) -> Results {
       return signal::correlate(g.x, index(g.m, {Slice{0, 2}, Slice{0, 2}}), "same");
     },
     16},
    {"jsp.signal.correlate2d(m, x)", [](const Given& g) -> Results { return signal::correlate2d(g.m, g.x); }, 16},
    {"jsp.signal.convolve2d(m, x, mode='valid')",
     [](const Given& g) -> Results { return signal::convolve2d(g.m, g.x, "valid"); }, 16},
    {"jsp.signal.fftconvolve(t, t[:, :2, :3], mode='full')",
     [](const Given& g) -> Results {
       return signal::fftconvolve(g.t, index(g.t, {kAll, Slice{0, 2}, Slice{0, 3}}));
     },
     64},
    {"jsp.signal.fftconvolve(u, v, mode='same')",
     [](const Given& g) -> Results { return signal::fftconvolve(g.u, g.v, "same"); }, 32},
};

}  // namespace

std::span<const Case> ScipyCases() { return kCases; }

}  // namespace ricci::testing
