// Reductions and cumulative operations: axes, keepdims, masks, NaN, no elements.
#include "case.h"

namespace ricci::testing {
namespace {

// Sums of their elements, or of squares, exceed f16.
Value Many(const Given& g, DType dtype = DType::kF16) { return ones(g.ctx, {70000}, dtype) * 3; }
Value Spread(const Given& g) { return ones(g.ctx, {3000, 2, 3}, DType::kF16) * g.h * 100; }

const Case kCases[] = {
    {"(jnp.cumsum(k), jnp.cumprod(k), jnp.nancumsum(k), jnp.cumulative_sum(k), jnp.cumulative_prod(k), jnp.cumsum(c))",
     [](const Given& g) -> Results {
       return Values{cumsum(g.k), cumprod(g.k), nancumsum(g.k), cumulative_sum(g.k), cumulative_prod(g.k), cumsum(g.c)};
     }},
    {"jnp.sum(x)", [](const Given& g) -> Results { return sum(g.x); }},
    {"jnp.sum(i, -1)", [](const Given& g) -> Results { return sum(g.i, -1); }},
    {"jnp.sum(k)", [](const Given& g) -> Results { return sum(g.k); }},
    {"jnp.sum(b, 0)", [](const Given& g) -> Results { return sum(g.b, 0); }},
    {"jnp.sum(t, (0, 2), keepdims=True)",
     [](const Given& g) -> Results {
       return sum(g.t, {0, 2}, true);
     }},
    {"jnp.sum(e, 0)", [](const Given& g) -> Results { return sum(g.e, 0); }},
    {"jnp.sum(h)", [](const Given& g) -> Results { return sum(g.h); }},
    {"jnp.sum(x, 0, where=b)", [](const Given& g) -> Results { return sum(g.x, 0, false, {.where = g.b}); }},
    {"jnp.sum(i, 1, dtype=jnp.float32, initial=5)",
     [](const Given& g) -> Results { return sum(g.i, 1, false, {.dtype = DType::kF32, .initial = 5}); }},
    {"jnp.prod(x, 1)", [](const Given& g) -> Results { return prod(g.x, 1); }},
    {"jnp.prod(i, where=b)", [](const Given& g) -> Results { return prod(g.i, {}, false, {.where = g.b}); }},
    {"jnp.max(x, 0)", [](const Given& g) -> Results { return max(g.x, 0); }},
    {"jnp.max(e, initial=-3)", [](const Given& g) -> Results { return max(g.e, {}, false, {.initial = -3}); }},
    {"jnp.max(i, 1, where=b, initial=-9)",
     [](const Given& g) -> Results { return max(g.i, 1, false, {.initial = -9, .where = g.b}); }},
    {"jnp.min(x, -2, keepdims=True, where=b, initial=9)",
     [](const Given& g) -> Results { return min(g.x, -2, true, {.initial = 9, .where = g.b}); }},
    {"jnp.amax(i)", [](const Given& g) -> Results { return amax(g.i); }},
    {"jnp.amin(i, 1)", [](const Given& g) -> Results { return amin(g.i, 1); }},
    {"jnp.all(b, 1)", [](const Given& g) -> Results { return all(g.b, 1); }},
    {"jnp.any(x, 0)", [](const Given& g) -> Results { return any(g.x, 0); }},
    {"jnp.mean(i)", [](const Given& g) -> Results { return mean(g.i); }},
    {"jnp.mean(l)", [](const Given& g) -> Results { return mean(g.l); }},
    {"jnp.mean(x, 1, keepdims=True, where=b)", [](const Given& g) -> Results { return mean(g.x, 1, true, g.b); }},
    {"jnp.mean(e)", [](const Given& g) -> Results { return mean(g.e); }},
    {"jnp.mean(z, 0)", [](const Given& g) -> Results { return mean(g.z, 0); }},
    {"jnp.var(x, 1, ddof=1)", [](const Given& g) -> Results { return var(g.x, 1, 1); }},
    {"jnp.std(i, 0, keepdims=True)", [](const Given& g) -> Results { return std(g.i, 0, 0, true); }},
    {"jnp.var(z)", [](const Given& g) -> Results { return var(g.z); }},
    {"jnp.argmax(x, 0)", [](const Given& g) -> Results { return argmax(g.x, 0); }},
    {"jnp.argmax(x, keepdims=True)", [](const Given& g) -> Results { return argmax(g.x, kFlat, true); }},
    {"jnp.argmin(i, 1, keepdims=True)", [](const Given& g) -> Results { return argmin(g.i, 1, true); }},
    {"jnp.cumsum(x)", [](const Given& g) -> Results { return cumsum(g.x); }},
    {"jnp.cumsum(b, 1)", [](const Given& g) -> Results { return cumsum(g.b, 1); }},
    {"jnp.cumprod(i, 0)", [](const Given& g) -> Results { return cumprod(g.i, 0); }},
    {"jnp.cumulative_sum(x, axis=1, include_initial=True)",
     [](const Given& g) -> Results { return cumulative_sum(g.x, 1, DType::kNone, true); }},
    {"jnp.cumulative_prod(v)", [](const Given& g) -> Results { return cumulative_prod(g.v); }},
    {"jnp.count_nonzero(b)", [](const Given& g) -> Results { return count_nonzero(g.b); }},
    {"jnp.count_nonzero(i, 0, keepdims=True)", [](const Given& g) -> Results { return count_nonzero(g.i, 0, true); }},
    {"jnp.ptp(x, 1)", [](const Given& g) -> Results { return ptp(g.x, 1); }},
    {"jnp.ptp(i)", [](const Given& g) -> Results { return ptp(g.i); }},
    {"jnp.nansum(n)", [](const Given& g) -> Results { return nansum(g.n); }},
    {"jnp.nansum(n, 0)", [](const Given& g) -> Results { return nansum(g.n, 0); }},
    {"jnp.nansum(i, 0)", [](const Given& g) -> Results { return nansum(g.i, 0); }},
    {"jnp.nanprod(n, 1, keepdims=True)", [](const Given& g) -> Results { return nanprod(g.n, 1, true); }},
    {"jnp.nanmax(n, 1)", [](const Given& g) -> Results { return nanmax(g.n, 1); }},
    {"jnp.nanmax(n * jnp.nan)", [](const Given& g) -> Results { return nanmax(g.n * NAN); }},
    {"jnp.nanmin(n, 0)", [](const Given& g) -> Results { return nanmin(g.n, 0); }},
    {"jnp.nanmean(n, 0)", [](const Given& g) -> Results { return nanmean(g.n, 0); }},
    {"jnp.nanmean(i)", [](const Given& g) -> Results { return nanmean(g.i); }},
    {"jnp.nanvar(jnp.where(b, x, jnp.nan), 1, ddof=1)",
     [](const Given& g) -> Results { return nanvar(where(g.b, g.x, NAN), 1, 1); }},
    {"jnp.nanstd(jnp.where(b, x, jnp.nan))", [](const Given& g) -> Results { return nanstd(where(g.b, g.x, NAN)); }},
    {"jnp.nanargmax(n, 1)", [](const Given& g) -> Results { return nanargmax(g.n, 1); }},
    {"jnp.nanargmin(n)", [](const Given& g) -> Results { return nanargmin(g.n); }},
    {"jnp.nanargmin(n * jnp.nan, 0)", [](const Given& g) -> Results { return nanargmin(g.n * NAN, 0); }},
    {"jnp.nancumsum(n, 1)", [](const Given& g) -> Results { return nancumsum(g.n, 1); }},
    {"jnp.nancumprod(jnp.where(b, x, jnp.nan))",
     [](const Given& g) -> Results { return nancumprod(where(g.b, g.x, NAN)); }},
    {"jax.scipy.special.logsumexp(x, 1)", [](const Given& g) -> Results { return logsumexp(g.x, 1); }},
    {"jax.nn.softmax(x, 0)", [](const Given& g) -> Results { return softmax(g.x, 0); }},
    {"jnp.mean(jnp.ones((70000,), jnp.float16) * 3)", [](const Given& g) -> Results { return mean(Many(g)); }},
    {"jnp.mean(jnp.ones((70000,), jnp.float16) * 3, where=jnp.ones((70000,)) > 0)",
     [](const Given& g) -> Results { return mean(Many(g), {}, false, ones(g.ctx, {70000}) > 0); }},
    {"jnp.nanmean(jnp.ones((70000,), jnp.float16) * 3) #= jnp.float16(3)",
     [](const Given& g) -> Results { return nanmean(Many(g)); }},
    {"jnp.nanmean(jnp.ones((70000,), jnp.bfloat16) * 3) #= jnp.bfloat16(3)",
     [](const Given& g) -> Results { return nanmean(Many(g, DType::kBF16)); }},
    {"jnp.nanmean(jnp.ones((3000, 2, 3), jnp.float16) * h * 100, (0, 1)) #= jnp.mean(h, 0) * 100",
     [](const Given& g) -> Results {
       return nanmean(Spread(g), {0, 1});
     }},
    {"jnp.var(jnp.ones((3000, 2, 3), jnp.float16) * h * 100)",
     [](const Given& g) -> Results { return var(Spread(g)); }},
    {"jnp.nanvar(jnp.ones((3000, 2, 3), jnp.float16) * h * 100, (0, 2), ddof=1)",
     [](const Given& g) -> Results {
       return nanvar(Spread(g), {0, 2}, 1);
     }},
    {"jnp.std(jnp.ones((3000, 2, 3), jnp.float16) * h * 100, (0, 1))",
     [](const Given& g) -> Results {
       return std(Spread(g), {0, 1});
     }},
    {"jnp.nanstd(jnp.ones((3000, 2, 3), jnp.float16) * h * 100)",
     [](const Given& g) -> Results { return nanstd(Spread(g)); }},
    {"jnp.mean(h, 1)", [](const Given& g) -> Results { return mean(g.h, 1); }},
    {"jnp.mean(h, where=b)", [](const Given& g) -> Results { return mean(g.h, {}, false, g.b); }},
    {"jnp.var(h, 0, keepdims=True)", [](const Given& g) -> Results { return var(g.h, 0, 0, true); }},
    {"jnp.nanmean(h, 0, keepdims=True)", [](const Given& g) -> Results { return nanmean(g.h, 0, true); }},
    {"jnp.nanvar(h, 1)", [](const Given& g) -> Results { return nanvar(g.h, 1); }},
    {"jnp.nanvar(d)", [](const Given& g) -> Results { return nanvar(g.d); }},
    {"jnp.nanmean(z, 1)", [](const Given& g) -> Results { return nanmean(g.z, 1); }},
    {"jnp.nanvar(z)", [](const Given& g) -> Results { return nanvar(g.z); }},
    {"jnp.mean(k)", [](const Given& g) -> Results { return mean(g.k); }},
    {"jnp.var(k)", [](const Given& g) -> Results { return var(g.k); }},
    {"jnp.std(l)", [](const Given& g) -> Results { return std(g.l); }},
    {"jnp.mean(c)", [](const Given& g) -> Results { return mean(g.c); }},
    {"jnp.nanmean(c)", [](const Given& g) -> Results { return nanmean(g.c); }},
    {"jnp.nanvar(i, 0)", [](const Given& g) -> Results { return nanvar(g.i, 0); }},
    {"jnp.nanmin(k)", [](const Given& g) -> Results { return nanmin(g.k); }},
    {"jnp.prod(c)", [](const Given& g) -> Results { return prod(g.c); }},
    {"jnp.max(k)", [](const Given& g) -> Results { return max(g.k); }},
    {"jnp.min(h, 0)", [](const Given& g) -> Results { return min(g.h, 0); }},
    {"jnp.ptp(k)", [](const Given& g) -> Results { return ptp(g.k); }},
    {"jnp.nansum(h)", [](const Given& g) -> Results { return nansum(g.h); }},
    {"jnp.cumsum(h)", [](const Given& g) -> Results { return cumsum(g.h); }},
    {"jnp.prod(d, 0)", [](const Given& g) -> Results { return prod(g.d, 0); }},
    {"jnp.argmax(k)", [](const Given& g) -> Results { return argmax(g.k); }},
    {"jnp.nanargmax(h, 0)", [](const Given& g) -> Results { return nanargmax(g.h, 0); }},
    {"jax.scipy.special.logsumexp(jnp.zeros((70000,), jnp.float16)) #= jnp.float16(np.log(70000))",
     [](const Given& g) -> Results { return logsumexp(zeros(g.ctx, {70000}, DType::kF16)); }},
    {"jnp.linalg.norm(x, axis=1)", [](const Given& g) -> Results { return norm(g.x, 1); }},
};

}  // namespace

std::span<const Case> ReductionCases() { return kCases; }

}  // namespace ricci::testing
