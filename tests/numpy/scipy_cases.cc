// jax.scipy.special and jax.scipy.stats.
#include "case.h"
#include "ricci/scipy_signal.hpp"
#include "ricci/scipy_special.hpp"
#include "ricci/scipy_stats.hpp"

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
    {"jsp.stats.norm.logpdf(x)", [](const Given& g) -> Results { return stats::norm::logpdf(g.x); }},
    {"jsp.stats.norm.pdf(x, y, p)", [](const Given& g) -> Results { return stats::norm::pdf(g.x, g.y, g.p); }, 64},
    {"jsp.stats.norm.cdf(x, 1, 2)", [](const Given& g) -> Results { return stats::norm::cdf(g.x, 1, 2); }},
    {"jsp.stats.norm.logcdf(x)", [](const Given& g) -> Results { return stats::norm::logcdf(g.x); }, 32},
    {"jsp.stats.norm.sf(i)", [](const Given& g) -> Results { return stats::norm::sf(g.i); }},
    {"jsp.stats.norm.logsf(x, scale=0.5)", [](const Given& g) -> Results { return stats::norm::logsf(g.x, 0, 0.5); },
     32},
    {"jsp.stats.norm.ppf(jnp.abs(u), 1)", [](const Given& g) -> Results { return stats::norm::ppf(abs(g.u), 1); }, 32},
    {"jsp.stats.norm.isf(jnp.abs(u))", [](const Given& g) -> Results { return stats::norm::isf(abs(g.u)); }, 32},
    {"jsp.stats.expon.logpdf(x, 0.2, p)", [](const Given& g) -> Results { return stats::expon::logpdf(g.x, 0.2, g.p); },
     16},
    {"jsp.stats.expon.cdf(x)", [](const Given& g) -> Results { return stats::expon::cdf(g.x); }},
    {"jsp.stats.expon.sf(x)", [](const Given& g) -> Results { return stats::expon::sf(g.x); }},
    {"jsp.stats.expon.ppf(jnp.abs(u))", [](const Given& g) -> Results { return stats::expon::ppf(abs(g.u)); }},
    {"jsp.stats.uniform.logpdf(x, -1, 3)",
     [](const Given& g) -> Results { return stats::uniform::logpdf(g.x, -1, 3); }},
    {"jsp.stats.uniform.cdf(x, -1, 3)", [](const Given& g) -> Results { return stats::uniform::cdf(g.x, -1, 3); }},
    {"jsp.stats.laplace.logpdf(x, y, p)",
     [](const Given& g) -> Results { return stats::laplace::logpdf(g.x, g.y, g.p); }, 16},
    {"jsp.stats.laplace.cdf(x)", [](const Given& g) -> Results { return stats::laplace::cdf(g.x); }},
    {"jsp.stats.logistic.logpdf(x, 1, 2)",
     [](const Given& g) -> Results { return stats::logistic::logpdf(g.x, 1, 2); }},
    {"jsp.stats.logistic.cdf(x)", [](const Given& g) -> Results { return stats::logistic::cdf(g.x); }},
    {"jsp.stats.logistic.sf(x)", [](const Given& g) -> Results { return stats::logistic::sf(g.x); }},
    {"jsp.stats.logistic.ppf(jnp.abs(u))", [](const Given& g) -> Results { return stats::logistic::ppf(abs(g.u)); }},
    {"jsp.stats.cauchy.logpdf(x, 1, 2)", [](const Given& g) -> Results { return stats::cauchy::logpdf(g.x, 1, 2); }},
    {"jsp.stats.cauchy.cdf(x)", [](const Given& g) -> Results { return stats::cauchy::cdf(g.x); }},
    {"jsp.stats.gamma.logpdf(x, 1.5)", [](const Given& g) -> Results { return stats::gamma::logpdf(g.x, 1.5); }, 16},
    {"jsp.stats.gamma.pdf(p, p, 0, 2)", [](const Given& g) -> Results { return stats::gamma::pdf(g.p, g.p, 0, 2); },
     16},
    {"jsp.stats.beta.logpdf(u, 2, 1.5)", [](const Given& g) -> Results { return stats::beta::logpdf(g.u, 2, 1.5); },
     16},
    {"jsp.stats.chi2.logpdf(p, 3)", [](const Given& g) -> Results { return stats::chi2::logpdf(g.p, 3); }, 16},
    {"jsp.stats.t.logpdf(x, p, 0, 2)", [](const Given& g) -> Results { return stats::t::logpdf(g.x, g.p, 0, 2); }, 16},
    {"jsp.stats.pareto.logpdf(p, 2)", [](const Given& g) -> Results { return stats::pareto::logpdf(g.p, 2); }, 16},
    {"jsp.stats.bernoulli.logpmf(j, 0.3)",
     [](const Given& g) -> Results { return stats::bernoulli::logpmf(g.j, 0.3); }},
    {"jsp.stats.geom.pmf(j, 0.3)", [](const Given& g) -> Results { return stats::geom::pmf(g.j, 0.3); }},
    {"jsp.stats.poisson.logpmf(j, 1.5)", [](const Given& g) -> Results { return stats::poisson::logpmf(g.j, 1.5); },
     16},
    {"jsp.special.boxcox(p, jnp.array([0.0, 0.5, -1.0]))",
     [](const Given& g) -> Results {
       return special::boxcox(g.p, Array(g.ctx, {0.0f, 0.5f, -1.0f}));
     },
     16},
    {"jsp.special.boxcox1p(p, 0.3)", [](const Given& g) -> Results { return special::boxcox1p(g.p, 0.3); }, 16},
    {"jsp.stats.gumbel_r.logpdf(x, 1, 2)", [](const Given& g) -> Results { return stats::gumbel_r::logpdf(g.x, 1, 2); },
     16},
    {"jsp.stats.gumbel_r.cdf(x)", [](const Given& g) -> Results { return stats::gumbel_r::cdf(g.x); }, 16},
    {"jsp.stats.gumbel_l.logpdf(x, 1, 2)", [](const Given& g) -> Results { return stats::gumbel_l::logpdf(g.x, 1, 2); },
     16},
    {"jsp.stats.gumbel_l.cdf(x)", [](const Given& g) -> Results { return stats::gumbel_l::cdf(g.x); }, 16},
    {"jsp.stats.gennorm.logpdf(x, 1.5)", [](const Given& g) -> Results { return stats::gennorm::logpdf(g.x, 1.5); },
     16},
    {"jsp.stats.nbinom.logpmf(j, 3, 0.4)", [](const Given& g) -> Results { return stats::nbinom::logpmf(g.j, 3, 0.4); },
     16},
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
