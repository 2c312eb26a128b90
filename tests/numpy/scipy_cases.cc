// jax.scipy.special and jax.scipy.signal.
#include <cmath>

#include "case.h"
#include "ricci/scipy_signal.hpp"
#include "ricci/scipy_special.hpp"

namespace ricci::testing {
namespace {

using namespace scipy;

// 1e-3 to 1e8.
Array Powers(const Given& g) {
  std::vector<double> all;
  for (int i = -3; i <= 8; ++i) all.push_back(std::pow(10.0, i));
  return Array(g.ctx, all);
}

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
    // ---- large arguments, where JAX subtracts logarithms of gamma functions: the difference of two is exact for b = 2
    // (and SciPy cancels too, up to a ratio of 1e6: in f64 it is the reference near the borders of the formulas only).
    {"[-np.log(p) for p in [10.0 ** np.arange(-3.0, 9)]] + [-np.log(p) - np.log1p(p) for p in [10.0 ** np.arange(-3.0, "
     "9)]] + [np.log(2) - np.log(p) - np.log1p(p) - np.log(p + 2) for p in [10.0 ** np.arange(-3.0, 9)]]",
     [](const Given& g) -> Results {
       const Array all = Powers(g);
       return Values{special::betaln(all, 1), special::betaln(2, all), special::betaln(all, 3)};
     }},
    {"scipy.special.betaln(np.linspace(6, 10, 17)[:, None], np.linspace(6, 10, 17))",
     [](const Given& g) -> Results {
       const Value all = astype(arange(g.ctx, 17), DType::kF64) * 0.25 + 6;
       return special::betaln(expand_dims(all, 1), all);
     },
     64},
    {"np.float32(scipy.special.betaln(np.float64(np.float32(10.0 ** np.arange(-3.0, 9)))[:, None], "
     "np.float64(np.float32(10.0 ** np.arange(-3.0, 9)))))",
     [](const Given& g) -> Results {
       const Array all(astype(Powers(g), DType::kF32));
       return special::betaln(expand_dims(all, 1), all);
     },
     32},
    {"np.float64(1 / (10.0 ** np.arange(-3.0, 9) + 1) - 2)",
     [](const Given& g) -> Results {
       const Array all = Powers(g);
       return all * grad([](Value a) { return sum(special::betaln(a, 2)); })(all);
     },
     32},
    {"np.float64(1 + (1 - 1 / (10.0 ** np.arange(-3.0, 9) + 1)) ** 2)",
     [](const Given& g) -> Results {
       const Array all = Powers(g);
       const auto slope = [](Value a) { return sum(grad([](Value b) { return sum(special::betaln(b, 2)); })(a)); };
       return all * all * grad(slope)(all);
     },
     64},
    {"np.float32(1 / (10.0 ** np.arange(-3.0, 9) + 1) - 2)",
     [](const Given& g) -> Results {
       const Array all(astype(Powers(g), DType::kF32));
       return all * grad([](Value a) { return sum(special::betaln(a, 2)); })(all);
     },
     32},
    // The slope by the other argument, and where both are equal.
    {"np.float64(scipy.special.psi(10.0 ** np.arange(-3.0, 9)) - scipy.special.psi(2 * 10.0 ** np.arange(-3.0, 9)))",
     [](const Given& g) -> Results {
       const Array all = Powers(g);
       return grad([](Value b, Value a) { return sum(special::betaln(a, b)); })(all, all);
     },
     64},
    {"np.float32(scipy.special.beta(1e6, [0.5, 1.5, 3]))",
     [](const Given& g) -> Results {
       return special::beta(1e6, Array(g.ctx, {0.5f, 1.5f, 3.0f}));
     },
     32},
    {"np.float32(scipy.special.comb(1e6, [1, 2, 3]))",
     [](const Given& g) -> Results {
       return special::comb(1e6, Array(g.ctx, {1.0f, 2.0f, 3.0f}));
     },
     64},
    {"np.float32(scipy.special.poch(1e6, [0.5, 1, 2.5]))",
     [](const Given& g) -> Results {
       return special::poch(1e6, Array(g.ctx, {0.5f, 1.0f, 2.5f}));
     },
     64},
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
    {"jsp.signal.stft(t.ravel(), nperseg=8)",
     [](const Given& g) -> Results {
       const auto [f, t, z] = signal::stft(ravel(g.t), 1, {.nperseg = 8});
       return Values{f, t, z};
     },
     16},
    {"jsp.signal.stft(t, 2.0, 'hamming', 3, 1, 5, 'linear', boundary='odd', axis=1)",
     [](const Given& g) -> Results {
       const auto [f, t, z] = signal::stft(g.t, 2,
                                           {.window = "hamming",
                                            .nperseg = 3,
                                            .noverlap = 1,
                                            .nfft = 5,
                                            .detrend = "linear",
                                            .boundary = "odd",
                                            .axis = 1});
       return Values{f, t, z};
     },
     64},
    {"jsp.signal.stft(t.ravel(), 0.5, 'blackman', 7, 5, detrend='constant', boundary='even')",
     [](const Given& g) -> Results {
       const auto [f, t, z] =
           signal::stft(ravel(g.t), 0.5,
                        {.window = "blackman", .nperseg = 7, .noverlap = 5, .detrend = "constant", .boundary = "even"});
       return Values{f, t, z};
     },
     64},
    {"jsp.signal.stft(t.ravel(), 1.0, v, 4, return_onesided=False, boundary='constant', padded=False)",
     [](const Given& g) -> Results {
       const auto [f, t, z] = signal::stft(
           ravel(g.t), 1,
           {.window = g.v, .nperseg = 4, .return_onesided = false, .boundary = "constant", .padded = false});
       return Values{f, t, z};
     },
     32},
    {"jsp.signal.stft(z.ravel(), 1.0, 'bartlett', 4, boundary=None)",
     [](const Given& g) -> Results {
       const auto [f, t, z] =
           signal::stft(ravel(g.z), 1, {.window = "bartlett", .nperseg = 4, .boundary = std::nullopt});
       return Values{f, t, z};
     },
     32},
    {"jsp.signal.istft(jsp.signal.stft(t.ravel(), 4.0, nperseg=6)[2], 4.0)",
     [](const Given& g) -> Results { return signal::istft(signal::stft(ravel(g.t), 4, {.nperseg = 6}).z, 4); }, 32},
    {"jsp.signal.istft(jsp.signal.stft(t.ravel(), nperseg=8, nfft=12, noverlap=5, return_onesided=False)[2], 1.0, "
     "'hann', 8, 5, 12, False)",
     [](const Given& g) -> Results {
       const auto z =
           signal::stft(ravel(g.t), 1, {.nperseg = 8, .noverlap = 5, .nfft = 12, .return_onesided = false}).z;
       return signal::istft(z, 1, {.nperseg = 8, .noverlap = 5, .nfft = 12, .input_onesided = false});
     },
     32},
    {"jsp.signal.istft(z.T, 1.0, 'hamming', boundary=False, time_axis=0, freq_axis=1)",
     [](const Given& g) -> Results {
       return signal::istft(transpose(g.z), 1,
                            {.window = "hamming", .boundary = false, .time_axis = 0, .freq_axis = 1});
     },
     32},
    {"jax.grad(lambda a: jnp.abs(jsp.signal.stft(a, nperseg=8)[2]).sum())(t.ravel() + 1)",
     [](const Given& g) -> Results {
       return grad([](Value a) { return sum(abs(signal::stft(a, 1, {.nperseg = 8}).z)); })(Array(ravel(g.t) + 1));
     },
     64},
    {"jsp.signal.welch(t.ravel(), nperseg=8)",
     [](const Given& g) -> Results { return signal::welch(ravel(g.t), 1, {.nperseg = 8}); }, 32},
    {"jsp.signal.welch(t.ravel())", [](const Given& g) -> Results { return signal::welch(ravel(g.t)); }, 64},
    {"jsp.signal.welch(t.ravel(), 10.0, 'hamming', 5, 2, 9, 'linear', True, 'spectrum', average='median')",
     [](const Given& g) -> Results {
       return signal::welch(ravel(g.t), 10,
                            {.window = "hamming",
                             .nperseg = 5,
                             .noverlap = 2,
                             .nfft = 9,
                             .detrend = "linear",
                             .scaling = "spectrum",
                             .average = "median"});
     },
     64},
    {"jsp.signal.welch(t, nperseg=2, detrend=False, axis=1)",
     [](const Given& g) -> Results {
       return signal::welch(g.t, 1, {.nperseg = 2, .detrend = std::nullopt, .axis = 1});
     },
     32},
    {"jsp.signal.csd(t.ravel(), jnp.sin(t.ravel()), nperseg=6)",
     [](const Given& g) -> Results { return signal::csd(ravel(g.t), sin(ravel(g.t)), 1, {.nperseg = 6}); }, 32},
    {"jsp.signal.csd(t.ravel(), t.ravel()[:15] + 2, 3.0, nperseg=6, average='median', return_onesided=False)",
     [](const Given& g) -> Results {
       return signal::csd(ravel(g.t), slice(ravel(g.t), 0, 15) + 2, 3,
                          {.nperseg = 6, .return_onesided = false, .average = "median"});
     },
     32},
};

}  // namespace

std::span<const Case> ScipyCases() { return kCases; }

}  // namespace ricci::testing
