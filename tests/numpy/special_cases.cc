// jax.scipy.special: integrals, relatives of the error function, hypergeometric functions and recurrences.
//
// Most run over a range of arguments in f32 and f64, and over NaN and infinities; so do their derivatives.
#include "case.h"
#include "ricci/scipy_special.hpp"

namespace ricci::testing {
namespace {

using namespace scipy;

constexpr DType kF64 = DType::kF64;
// first / by, ..., (last - 1) / by.
Array Range(const Given& g, int64_t first, int64_t last, double by, DType dtype = DType::kF32) {
  return astype(arange(g.ctx, first, last), dtype) / by;
}
template <typename F>
Results GradOf(const F& f, const Array& x) {
  return grad([&](Value a) { return sum(f(a)); })(x);
}
// The derivatives of first order of the sum of f in each of its two, three or four arguments.
template <typename F, typename... X>
Results GradsOf(const F& f, const X&... x) {
  return [&]<size_t... kArg>(std::index_sequence<kArg...>)->Results {
    const auto all = grad<kArg...>([&](auto... a) { return sum(f(a...)); })(x...);
    Results out(std::get<0>(all));
    ((kArg > 0 ? out.push_back(std::get<kArg>(all)) : void()), ...);
    return out;
  }
  (std::index_sequence_for<X...>());
}

const Case kCases[] = {
    // ---- integrals ----
    {"jsp.special.sici(jnp.arange(-80, 81) / 4.0)",
     [](const Given& g) -> Results { return special::sici(Range(g, -80, 81, 4)); }, 16},
    {"scipy.special.sici(jnp.arange(-80, 81).astype('float64') / 4)",
     [](const Given& g) -> Results { return special::sici(Range(g, -80, 81, 4, kF64)); }, 16},
    {"jsp.special.sici(jnp.array([-jnp.inf, jnp.inf, jnp.nan, 1e-30, 1e5, -3e12, 0.0]))",
     [](const Given& g) -> Results {
       return special::sici(Array(g.ctx, {-INFINITY, INFINITY, NAN, 1e-30f, 1e5f, -3e12f, 0.0f}));
     },
     16},
    {"jax.grad(lambda a: jsp.special.sici(a)[0].sum())(jnp.arange(-40, 41) / 4.0)",
     [](const Given& g) -> Results {
       return GradOf([](const Value& a) { return special::sici(a).first; }, Range(g, -40, 41, 4));
     }},
    {"jax.grad(lambda a: jsp.special.sici(a)[1].sum())(p)",
     [](const Given& g) -> Results { return GradOf([](const Value& a) { return special::sici(a).second; }, g.p); }},
    {"jsp.special.sici(h)", [](const Given& g) -> Results { return special::sici(g.h); }},
    {"jsp.special.fresnel(jnp.arange(-40, 41) / 8.0)",
     [](const Given& g) -> Results { return special::fresnel(Range(g, -40, 41, 8)); }, 16},
    {"scipy.special.fresnel(jnp.arange(-160, 161).astype('float64') / 16)",
     [](const Given& g) -> Results { return special::fresnel(Range(g, -160, 161, 16, kF64)); }, 16},
    {"jsp.special.fresnel(n)", [](const Given& g) -> Results { return special::fresnel(g.n); }},
    {"scipy.special.fresnel(jnp.array([1e5, -4e20, 1e-20]).astype('float64'))",
     [](const Given& g) -> Results {
       return special::fresnel(Array(g.ctx, {double{1e5f}, double{-4e20f}, double{1e-20f}}));
     }},
    {"(lambda a: scipy.special.sindg(a) + scipy.special.cosdg(a))(90 * (np.arange(-40, 41) / 8) ** 2)",
     [](const Given& g) -> Results {
       const auto both = [](const Value& a) {
         const auto [s, c] = special::fresnel(a);
         return s + c;
       };
       return GradOf(both, Range(g, -40, 41, 8, kF64));
     },
     16},
    {"jsp.special.spence(jnp.arange(-8, 160) / 16.0)",
     [](const Given& g) -> Results { return special::spence(Range(g, -8, 160, 16)); }},
    {"scipy.special.spence(jnp.arange(-8, 160).astype('float64') / 16)",
     [](const Given& g) -> Results { return special::spence(Range(g, -8, 160, 16, kF64)); }},
    {"jsp.special.spence(jnp.array([1e30, 1e-30, jnp.nan, -jnp.inf]))",
     [](const Given& g) -> Results {
       return special::spence(Array(g.ctx, {1e30f, 1e-30f, NAN, -INFINITY}));
     }},
    {"(lambda a: jnp.log(a) / (1 - a))(jnp.array([0.25, 1.5, 3.0, 20.0]))",
     [](const Given& g) -> Results {
       return GradOf([](const Value& a) { return special::spence(a); }, Array(g.ctx, {0.25f, 1.5f, 3.0f, 20.0f}));
     }},

    // ---- relatives of the error function ----
    {"scipy.special.erfcx(np.arange(-36, 160, dtype=np.float32) / 4)",
     [](const Given& g) -> Results { return special::erfcx(Range(g, -36, 160, 4)); }, 128},
    {"scipy.special.erfcx(jnp.arange(0, 120).astype('float64'))",
     [](const Given& g) -> Results { return special::erfcx(Range(g, 0, 120, 1, kF64)); }, 16},
    {"jsp.special.erfcx(n)", [](const Given& g) -> Results { return special::erfcx(g.n); }},
    {"jsp.special.erfcx(h)", [](const Given& g) -> Results { return special::erfcx(g.h); }},
    {"jsp.special.erfcx(z)", [](const Given& g) -> Results { return special::erfcx(g.z); }, 64},
    {"jax.grad(lambda a: jsp.special.erfcx(a).sum())(u)",
     [](const Given& g) -> Results { return GradOf([](const Value& a) { return special::erfcx(a); }, g.u); }, 16},
    {"jax.grad(lambda a: jax.grad(lambda b: jsp.special.erfcx(b).sum())(a).sum())(u)",
     [](const Given& g) -> Results {
       return GradOf([](const Value& a) { return grad([](Value b) { return sum(special::erfcx(b)); })(a); }, g.u);
     },
     32},
    {"jsp.special.dawsn(jnp.arange(-80, 81) / 8.0)",
     [](const Given& g) -> Results { return special::dawsn(Range(g, -80, 81, 8)); }},
    {"scipy.special.dawsn(jnp.arange(-80, 81).astype('float64') / 8)",
     [](const Given& g) -> Results { return special::dawsn(Range(g, -80, 81, 8, kF64)); }},
    {"jsp.special.dawsn(n)", [](const Given& g) -> Results { return special::dawsn(g.n); }},
    {"jax.grad(lambda a: jsp.special.dawsn(a).sum())(x)",
     [](const Given& g) -> Results { return GradOf([](const Value& a) { return special::dawsn(a); }, g.x); }, 16},
    {"jsp.special.wofz(z)", [](const Given& g) -> Results { return special::wofz(g.z); }, 64},
    {"jsp.special.wofz(x)", [](const Given& g) -> Results { return special::wofz(g.x); }, 16},
    {"scipy.special.wofz(d)", [](const Given& g) -> Results { return special::wofz(g.d); }, 64},
    {"jax.grad(lambda a: jnp.abs(jsp.special.wofz(a)).sum())(u)",
     [](const Given& g) -> Results { return GradOf([](const Value& a) { return abs(special::wofz(a)); }, g.u); }, 32},
    {"jsp.special.owens_t(jnp.arange(-20, 21)[:, None] / 4.0, jnp.arange(-12, 13) / 4.0)",
     [](const Given& g) -> Results {
       return special::owens_t(expand_dims(Range(g, -20, 21, 4), 1), Range(g, -12, 13, 4));
     }},
    {"scipy.special.owens_t(jnp.arange(-20, 21)[:, None].astype('float64') / 4, jnp.arange(-12, 13) / 4)",
     [](const Given& g) -> Results {
       return special::owens_t(expand_dims(Range(g, -20, 21, 4, kF64), 1), Range(g, -12, 13, 4));
     },
     64},
    {"jsp.special.owens_t(n, 0.5)", [](const Given& g) -> Results { return special::owens_t(g.n, 0.5); }},
    {"jax.grad(lambda a, b: jsp.special.owens_t(a, b).sum(), (0, 1))(x, y)",
     [](const Given& g) -> Results {
       return GradsOf([](const Value& a, const Value& b) { return special::owens_t(a, b); }, g.x, g.y);
     }},

    // ---- hypergeometric functions ----
    {"jsp.special.hyp1f1(jnp.arange(1, 6)[:, None] / 2.0, 1.75, jnp.arange(0, 41) / 4.0)",
     [](const Given& g) -> Results {
       return special::hyp1f1(expand_dims(Range(g, 1, 6, 2), 1), 1.75, Range(g, 0, 41, 4));
     },
     32},
    {"scipy.special.hyp1f1(jnp.arange(-6, 6)[:, None].astype('float64') / 2, 1.75, jnp.arange(-16, 41) / 4)",
     [](const Given& g) -> Results {
       return special::hyp1f1(expand_dims(Range(g, -6, 6, 2, kF64), 1), 1.75, Range(g, -16, 41, 4));
     },
     256},
    {"jsp.special.hyp1f1(jnp.array([0., 2., 1., 0.]), jnp.array([1., 2., 0., 0.]), 0.5)",
     [](const Given& g) -> Results {
       return special::hyp1f1(Array(g.ctx, {0.0f, 2.0f, 1.0f, 0.0f}), Array(g.ctx, {1.0f, 2.0f, 0.0f, 0.0f}), 0.5);
     }},
    {"scipy.special.hyp1f1(1.5, 2.25, jnp.array([120., 300.]).astype('float64'))",
     [](const Given& g) -> Results {
       return special::hyp1f1(1.5, 2.25, Array(g.ctx, {120.0, 300.0}));
     },
     1024},
    {"jax.grad(lambda a, b, c: jsp.special.hyp1f1(a, b, c).sum(), (0, 1, 2))(p, p + 0.5, x)",
     [](const Given& g) -> Results {
       const auto f = [](const Value& a, const Value& b, const Value& c) { return special::hyp1f1(a, b, c); };
       return GradsOf(f, g.p, Array(g.p + 0.5), g.x);
     },
     64},
    {"jsp.special.hyp2f1(jnp.arange(1, 5)[:, None] / 2.0, 1.25, 2.75, jnp.arange(-28, 29) / 32.0)",
     [](const Given& g) -> Results {
       return special::hyp2f1(expand_dims(Range(g, 1, 5, 2), 1), 1.25, 2.75, Range(g, -28, 29, 32));
     },
     32},
    {"scipy.special.hyp2f1(jnp.arange(-4, 5)[:, None].astype('float64'), 1.25, 2.75, jnp.arange(-28, 29) / 32)",
     [](const Given& g) -> Results {
       return special::hyp2f1(expand_dims(Range(g, -4, 5, 1, kF64), 1), 1.25, 2.75, Range(g, -28, 29, 32));
     },
     1024},
    {"jsp.special.hyp2f1(1.0, 1.5, jnp.array([2.5, 3.5, 4.5, 5.5, 3.75]), 1.0)",
     [](const Given& g) -> Results {
       return special::hyp2f1(1.0, 1.5, Array(g.ctx, {2.5f, 3.5f, 4.5f, 5.5f, 3.75f}), 1.0);
     },
     64},
    {"scipy.special.hyp2f1(1.0, 1.5, jnp.array([2.5, 3.5, 4.5, 5.5])[:, None].astype('float64'), jnp.arange(58, 64) / "
     "64)",
     [](const Given& g) -> Results {
       return special::hyp2f1(1.0, 1.5, expand_dims(Array(g.ctx, {2.5, 3.5, 4.5, 5.5}), 1), Range(g, 58, 64, 64));
     },
     256},
    {"jsp.special.hyp2f1(jnp.array([0., 1., 1., 2., 1.]), 1.5, jnp.array([1., 0., -2., 2., 1.5]), jnp.array([0.5, 0.5, "
     "0.5, 0.25, 0.75]))",
     [](const Given& g) -> Results {
       return special::hyp2f1(Array(g.ctx, {0.0f, 1.0f, 1.0f, 2.0f, 1.0f}), 1.5,
                              Array(g.ctx, {1.0f, 0.0f, -2.0f, 2.0f, 1.5f}),
                              Array(g.ctx, {0.5f, 0.5f, 0.5f, 0.25f, 0.75f}));
     },
     16},
    // Where c - a - b is nearly whole: numbers to 50 digits.
    {"jnp.asarray(np.array([[-46.274288096581962, -582886.30866651447, -6.4280029669000422e+17], "
     "[-46.274288287179168, -582886.3137157493, -6.4280031117063654e+17], [-46.273716368687417, "
     "-582871.16271213768, -6.4275686064829952e+17], [-46.465593833169393, -587961.22675305814, "
     "-6.5744854886780506e+17], [-39.677916223465715, -416768.77076048148, -2.6396897351558362e+17], "
     "[-1.0037518448438314, -4.0483139558426391, -13.017246839498885], [-1.003751852886406, "
     "-4.0483139862966908, -13.017247019200568], [-1.0037277197827148, -4.0482226040189602, "
     "-13.016707801917073], [-1.0118214198179811, -4.078897927746354, -13.198444449321425], "
     "[-0.72127797318242848, -3.0146147467909259, -7.7297815082188759], [0.68780928523772544, "
     "0.61765446980531313, 0.61603234819499797], [0.68780928493596249, 0.61765446937728552, "
     "0.61603234776087812], [0.68781019043381397, 0.61765575375555259, 0.61603365041976665], "
     "[0.68750727935565037, 0.61722602422042905, 0.61559779409796311], [0.6994566493799238, "
     "0.63406666316752125, 0.63266337141274764]]), 'float64')",
     [](const Given& g) -> Results {
       const Array c(g.ctx, {-1.6874999999999, -1.687500001, -1.687497, -1.6885, -1.6475, 0.3125000000001, 0.312499999,
                             0.312503, 0.3115, 0.3525, 1.3125000000001, 1.312499999, 1.312503, 1.3115, 1.3525});
       return special::hyp2f1(0.75, -0.4375, expand_dims(c, 1),
                              Array(g.ctx, {0.90625, 0.9990234375, 0.9999999990686774}));
     },
     128},
    // Where c - a - b is nearly whole: numbers to 50 digits.
    {"jnp.asarray(np.array([[-1.00375021, -4.04830742, -8.53371334], [-1.00399315, -4.04922771, "
     "-8.53641987], [-0.995737791, -4.01799536, -8.4447546], [-0.661177993, -2.80459785, -5.17315483], "
     "[0.687809348, 0.617654562, 0.616035342], [0.687800229, 0.617641628, 0.616022229], [0.688110769, "
     "0.618081987, 0.616468847], [0.702242076, 0.637959599, 0.636606157]], 'f'))",
     [](const Given& g) -> Results {
       const Array c(g.ctx, {0.312500209f, 0.312469989f, 0.313499987f, 0.362500012f, 1.31250024f, 1.31246996f,
                             1.31350005f, 1.36249995f});
       return special::hyp2f1(0.75, -0.4375, expand_dims(c, 1), Array(g.ctx, {0.90625f, 0.999023438f, 0.999999046f}));
     },
     128},
    {"jax.grad(lambda a, b, c, e: jsp.special.hyp2f1(a, b, c, e).sum(), (0, 1, 2, 3))(p[0], p[1], p[0] + 3, u[1:4])",
     [](const Given& g) -> Results {
       const auto f = [](const Value& a, const Value& b, const Value& c, const Value& e) {
         return special::hyp2f1(a, b, c, e);
       };
       return GradsOf(f, Array(index(g.p, {0})), Array(index(g.p, {1})), Array(index(g.p, {0}) + 3),
                      Array(slice(g.u, 1, 4)));
     },
     64},

    // ---- recurrences ----
    {"jsp.special.bernoulli(31)", [](const Given& g) -> Results { return special::bernoulli(g.ctx, 31); }, 64},
    {"jsp.special.bernoulli(0)", [](const Given& g) -> Results { return special::bernoulli(g.ctx, 0); }},
    {"jsp.special.bernoulli(2)", [](const Given& g) -> Results { return special::bernoulli(g.x, 2); }},
    {"scipy.special.jv(np.arange(5)[:, None], np.arange(8, 65) / 4)",
     [](const Given& g) -> Results { return special::bessel_jn(Range(g, 8, 65, 4, kF64), 4); }, 64},
    {"jsp.special.bessel_jn(jnp.arange(8, 33).reshape(5, 5) / 4.0, v=2, n_iter=30)",
     [](const Given& g) -> Results {
       return special::bessel_jn(reshape(Range(g, 8, 33, 4), {5, 5}), 2, 30);
     },
     32},
    {"scipy.special.jvp(3, np.arange(8, 65) / 4)",
     [](const Given& g) -> Results {
       return GradOf([](const Value& a) { return special::bessel_jn(a, 3)[3]; }, Range(g, 8, 65, 4, kF64));
     },
     256},
    {"jnp.array([[1., 1.], [0., 5e-21], [0., 0.]])",
     [](const Given& g) -> Results {
       return special::bessel_jn(Array(g.ctx, {0.0f, 1e-20f}), 2);
     }},
    {"jsp.special.sph_harm_y(jnp.array([0, 1, 2, 3, 4, 7]), jnp.array([0, 1, -2, 3, -3, 4]), jnp.array([0.5, 1.5, 2.5, "
     "0.25, 1.0, 2.0]), jnp.array([1.5, -2.0, 3.25, 0.5, 4.0, -1.0]), n_max=7)",
     [](const Given& g) -> Results {
       return special::sph_harm_y(Array(g.ctx, {0, 1, 2, 3, 4, 7}), Array(g.ctx, {0, 1, -2, 3, -3, 4}),
                                  Array(g.ctx, {0.5f, 1.5f, 2.5f, 0.25f, 1.0f, 2.0f}), ravel(g.x), 7);
     },
     32},
    {"jax.grad(lambda a: jsp.special.sph_harm_y(jnp.array([3, 4, 5]), jnp.array([1, -2, 0]), a, p[1], n_max=5).real"
     ".sum())(p[0])",
     [](const Given& g) -> Results {
       const Array n(g.ctx, {3, 4, 5}), m(g.ctx, {1, -2, 0}), phi(index(g.p, {1}));
       return GradOf([&](const Value& a) { return real(special::sph_harm_y(n, m, a, phi, 5)); },
                     Array(index(g.p, {0})));
     },
     64},
};

}  // namespace

std::span<const Case> SpecialCases() { return kCases; }

}  // namespace ricci::testing
