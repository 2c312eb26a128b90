// Functions of complex numbers: order by real, then imaginary parts, and continuations of real functions.
#include "case.h"
#include "ricci/lax.hpp"
#include "ricci/nn_functions.hpp"
#include "ricci/scipy_special.hpp"

namespace ricci::testing {
namespace {

// Equal real parts: z with its conjugates, 2 x 6.
Value Twins(const Given& g) { return concatenate({g.z, conj(g.z)}, 1); }
// Element i of a vector.
Value ElementOf(const Value& v, int64_t i) { return squeeze(slice(v, i, i + 1)); }
// With NaN and infinities, 2 x 3.
Value Odd(const Given& g) { return g.n + g.y * constant(g.ctx, std::complex<double>(0, 1)); }

const Case kCases[] = {
    // ---- order ----
    {"[f(q, axis=1) for q in [jnp.hstack([z, z.conj()])] for f in (jnp.max, jnp.min, jnp.ptp, jnp.sort, jnp.argsort)]",
     [](const Given& g) -> Results {
       const Value q = Twins(g);
       return Values{max(q, 1), min(q, 1), ptp(q, 1), sort(q, 1), argsort(q, 1)};
     }},
    {"[f(z, x + 1j) for f in (jnp.maximum, jnp.minimum, jnp.fmax, jnp.fmin)]",
     [](const Given& g) -> Results {
       const Value w = g.x + constant(g.ctx, std::complex<double>(0, 1));
       return Values{maximum(g.z, w), minimum(g.z, w), fmax(g.z, w), fmin(g.z, w)};
     }},
    {"[f(n + 1j * y, p + 0j) for f in (jnp.maximum, jnp.minimum, jnp.fmax, jnp.fmin)]",
     [](const Given& g) -> Results {
       const Value q = Odd(g), w = astype(g.p, DType::kC64);
       return Values{maximum(q, w), minimum(q, w), fmax(q, w), fmin(q, w)};
     }},
    {"[f(z, q) for q in [z[::-1].conj(), z.conj(), z] for f in (jnp.less, jnp.less_equal, jnp.greater, "
     "jnp.greater_equal)]",
     [](const Given& g) -> Results {
       Values out;
       for (const Value& q : {conj(flip(g.z, 0)), conj(g.z), positive(g.z)}) {
         for (const Value& v : {g.z<q, g.z <= q, g.z> q, g.z >= q}) out.push_back(v);
       }
       return out;
     }},
    {"(z < 1, z >= 0.5, x > zv[0], jnp.max(z, initial=2), jnp.min(z, axis=0, where=b, initial=9))",
     [](const Given& g) -> Results {
       return Values{g.z<1, g.z >= 0.5, g.x> ElementOf(positive(g.zv), 0), max(g.z, {}, false, {.initial = 2}),
                     min(g.z, 0, false, {.initial = 9, .where = g.b})};
     }},
    {"[f(n + 1j * y) for f in (jnp.nanmax, jnp.nanmin, jnp.isinf, jnp.isnan, jnp.isfinite, jnp.nan_to_num)]",
     [](const Given& g) -> Results {
       const Value q = Odd(g);
       return Values{nanmax(q), nanmin(q), isinf(q), isnan(q), isfinite(q), nan_to_num(q)};
     }},
    {"(jnp.sort(n + 1j * y, axis=None), jnp.sort_complex(zv), jnp.lexsort((zv, v)))",
     [](const Given& g) -> Results {
       return Values{sort(ravel(Odd(g))), sort_complex(g.zv), lexsort({g.zv, g.v})};
     }},
    {"[f(q) for q in [jnp.concatenate([zv, zv[::-1]])] for f in (lambda a: jnp.unique(a, size=5), lambda a: "
     "jnp.union1d(a, zv[:2], size=4), lambda a: jnp.intersect1d(a, zv[:2], size=2), lambda a: jnp.isin(a, zv[1:]))]",
     [](const Given& g) -> Results {
       const Value q = concatenate({g.zv, flip(g.zv)}, 0), two = slice(g.zv, 0, 2), rest = slice(g.zv, 1, 4);
       return Values{unique(q, 5), union1d(q, two, 4), intersect1d(q, two, 2), isin(q, rest)};
     }},
    {"[jnp.searchsorted(jnp.sort(zv), q, side=s) for q in [jnp.concatenate([zv, zv.conj()])] for s in ('left', "
     "'right')]",
     [](const Given& g) -> Results {
       const Value q = concatenate({g.zv, conj(g.zv)}, 0), sorted = sort(g.zv);
       return Values{searchsorted(sorted, q), searchsorted(sorted, q, "right")};
     }},
    {"(jnp.sign(z), jnp.sign(0 * z), zv.at[jnp.array([0, 0, 1])].max(zv[1:]), zv.at[jnp.array([0, 0, 1])].min(zv[1:]))",
     [](const Given& g) -> Results {
       const Array places(g.ctx, {0, 0, 1});
       const Value rest = slice(g.zv, 1, 4);
       return Values{sign(g.z), sign(0 * g.z), at(g.zv, {places}).max(rest), at(g.zv, {places}).min(rest)};
     }},
    // ---- derivatives: of the real part, the conjugate of the gradient of real numbers ----
    {"[jax.grad(lambda a: f(a).real, holomorphic=False)(zv) for f in (jnp.max, jnp.min, lambda a: jnp.sort(a)[1], "
     "lambda "
     "a: jnp.maximum(a, a.conj())[2], jax.nn.logsumexp)]",
     [](const Given& g) -> Results {
       const auto of = [&](auto f) { return positive(grad([f](Value a) { return real(f(a)); })(g.zv)); };
       return Values{of([](Value a) { return max(a); }), of([](Value a) { return min(a); }),
                     of([](Value a) { return ElementOf(sort(a), 1); }),
                     of([](Value a) { return ElementOf(maximum(a, conj(a)), 2); }),
                     of([](Value a) { return logsumexp(a); })};
     }},
    // ---- logarithms of sums ----
    {"[f(z, axis=0) for f in (jax.nn.logsumexp, jax.nn.softmax, jax.nn.log_softmax)] + [jnp.logaddexp(z, z[::-1] * 2), "
     "jnp.logaddexp2(z, z[::-1] * 2), lax.cumlogsumexp(zv, 0)]",
     [](const Given& g) -> Results {
       const Value w = flip(g.z, 0) * 2;
       return Values{logsumexp(g.z, 0), softmax(g.z, 0),    log_softmax(g.z, 0),
                     logaddexp(g.z, w), logaddexp2(g.z, w), lax::cumlogsumexp(positive(g.zv), 0)};
     },
     64},
    {"[f(zv, 0) for f in (lax.cummax, lax.cummin)] + [lax.clamp(zv[1], zv, zv[2])]",
     [](const Given& g) -> Results {
       const Value z = positive(g.zv);
       return Values{lax::cummax(z, 0), lax::cummin(z, 0), lax::clamp(ElementOf(z, 1), z, ElementOf(z, 2))};
     }},
    // ---- inverses ----
    {"[f(z) for f in (jnp.arcsin, jnp.arccos, jnp.arctan, jnp.arcsinh, jnp.arccosh, jnp.arctanh)] + [jnp.arctan2(z, z "
     "+ "
     "2)]",
     [](const Given& g) -> Results {
       return Values{asin(g.z), acos(g.z), atan(g.z), asinh(g.z), acosh(g.z), atanh(g.z), arctan2(g.z, g.z + 2)};
     },
     32},
    // ---- special functions ----
    {"[f(z) for f in (jax.scipy.special.gamma, jax.scipy.special.loggamma)]",
     [](const Given& g) -> Results {
       return Values{scipy::special::gamma(g.z), scipy::special::loggamma(g.z)};
     },
     512},
    {"[f(q) for q in [np.asarray(d + 1j * x, np.complex128)] for f in (scipy.special.gamma, scipy.special.loggamma)]",
     [](const Given& g) -> Results {
       const Value q = g.d + g.x * constant(g.ctx, std::complex<double>(0, 1));
       return Values{scipy::special::gamma(q), scipy::special::loggamma(q)};
     },
     64},
    {"[f(z, x) for f in (jax.scipy.special.xlogy, jax.scipy.special.xlog1py, jax.scipy.special.boxcox, "
     "jax.scipy.special.boxcox1p)] + [f(z) for f in (jax.scipy.special.logit, jax.scipy.special.expit, jnp.sinc)]",
     [](const Given& g) -> Results {
       namespace s = scipy::special;
       return Values{s::xlogy(g.z, g.x),
                     s::xlog1py(g.z, g.x),
                     s::boxcox(g.z, g.x),
                     s::boxcox1p(g.z, g.x),
                     s::logit(g.z),
                     s::expit(g.z),
                     sinc(g.z)};
     },
     256},
    // ---- activations ----
    {"[f(z) for f in (jax.nn.relu, jax.nn.relu6, jax.nn.leaky_relu, jax.nn.elu, jax.nn.celu, jax.nn.selu, "
     "jax.nn.hard_tanh, jax.nn.hard_sigmoid, jax.nn.hard_silu, jax.nn.sparse_plus, jax.nn.log1mexp)]",
     [](const Given& g) -> Results {
       return Values{relu(g.z),          nn::relu6(g.z),       nn::leaky_relu(g.z), nn::elu(g.z),
                     nn::celu(g.z),      nn::selu(g.z),        nn::hard_tanh(g.z),  nn::hard_sigmoid(g.z),
                     nn::hard_silu(g.z), nn::sparse_plus(g.z), nn::log1mexp(g.z)};
     },
     32},
    {"[f(z) for f in (jax.nn.silu, jax.nn.softplus, jax.nn.log_sigmoid, jax.nn.mish, jax.nn.soft_sign, "
     "jax.nn.squareplus, jax.nn.gelu)]",
     [](const Given& g) -> Results {
       return Values{silu(g.z),           softplus(g.z), nn::log_sigmoid(g.z), nn::mish(g.z), nn::soft_sign(g.z),
                     nn::squareplus(g.z), gelu(g.z)};
     },
     128},
};

}  // namespace

std::span<const Case> ComplexCases() { return kCases; }

}  // namespace ricci::testing
