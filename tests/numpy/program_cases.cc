// Small programs as their users write them, from several corners of the surface each: the expression is the same in
// JAX.
#include "case.h"
#include "ricci/fft.hpp"
#include "ricci/scipy_linalg.hpp"
#include "ricci/scipy_signal.hpp"
#include "ricci/scipy_special.hpp"
#include "ricci/scipy_stats.hpp"

namespace ricci::testing {
namespace {

// Arrays and Values as results.
template <typename... T>
Results All(const T&... xs) {
  Results out{Values()};
  (out.push_back(Array(xs)), ...);
  return out;
}

const Case kCases[] = {
    // The centers that a step of k-means moves, by distances of all pairs.
    {"(lambda p, c: (lambda n: (n.T @ p / jnp.maximum(n.sum(0), 1)[:, None], jnp.argmax(n, "
     "1)))(jax.nn.one_hot(jnp.argmin("
     "((p[:, None] - c) ** 2).sum(-1), 1), 3)))(t.reshape(-1, 2), jnp.stack([x[0, :2], y[0, 1:], p[1, :2]]))",
     [](const Given& g) -> Results {
       const Value points = reshape(g.t, {-1, 2});
       const Value centers =
           stack({slice(index(g.x, {0}), 0, 2), slice(index(g.y, {0}), 1, 3), slice(index(g.p, {1}), 0, 2)});
       const Value n = one_hot(argmin(sum(square(expand_dims(points, 1) - centers), -1), 1), 3);
       return All(matmul(transpose(n), points) / expand_dims(maximum(sum(n, 0), 1), 1), argmax(n, 1));
     },
     32},
    // The log-likelihood of a Gaussian process, and its slope in the length.
    {"jax.value_and_grad(lambda l: (lambda f: -0.5 * u @ jsp.linalg.cho_solve((f, True), u) - "
     "jnp.log(jnp.diag(f)).sum())("
     "jnp.linalg.cholesky(jnp.exp(-((u[:, None] - u) / l) ** 2) + 0.1 * jnp.eye(5))))(w)",
     [](const Given& g) -> Results {
       const auto likelihood = [&](Value l) {
         const Value k = exp(-square((expand_dims(g.u, 1) - g.u) / l)) + 0.1 * eye(g.ctx, 5);
         const Value f = linalg::cholesky(k);
         return -0.5 * dot(g.u, scipy::linalg::cho_solve({f, true}, g.u)) - sum(log(diag(f)));
       };
       const auto [value, slope] = value_and_grad(likelihood)(g.w);
       return All(value, slope);
     },
     256},
    // A filter: predictions and corrections of a state by a sequence of measurements.
    {"lax.scan(lambda c, z: (lambda pp: (lambda k: ((c[0] + k * (z - c[0]), (1 - k) * pp), c[0] + k * (z - c[0])))(pp "
     "/ (pp + "
     "0.5)))(c[1] + 0.1), (w, w), s)",
     [](const Given& g) -> Results {
       const auto filter = [](Value start, Value signal) {
         const auto step = [](const std::pair<Value, Value>& c, const Value& z) {
           const Value predicted = c.second + 0.1, gain = predicted / (predicted + 0.5);
           const Value state = c.first + gain * (z - c.first);
           return std::pair(std::pair(state, (1 - gain) * predicted), state);
         };
         const auto [carry, states] = scan(step, std::pair(start, start), signal);
         return Values{carry.first, carry.second, states};
       };
       const Arrays all = jit(filter)(g.w, g.s);
       return All(all[0], all[1], all[2]);
     },
     16},
    // The best path through states, forward with backpointers and then back.
    {"(lambda e, a: (lambda r: (lambda l: (l.max(), lax.scan(lambda j, b: (b[j], b[j]), jnp.argmax(l), r[1], "
     "reverse=True)[1]))("
     "r[0]))(lax.scan(lambda l, o: ((l[:, None] + a).max(0) + o, (l[:, None] + a).argmax(0)), e[0], e[1:])))(t[0][:, "
     ":3], m)",
     [](const Given& g) -> Results {
       const Value e = index(g.t, {0, kAll, Slice{0, 3}}), a = g.m + 0;
       const auto forward = [&](const Value& l, const Value& o) {
         const Value all = expand_dims(l, 1) + a;
         return std::pair(max(all, 0) + o, argmax(all, 0));
       };
       const auto [last, back] = scan(forward, Value(e[0]), slice(e, 1, 3));
       const auto follow = [](const Value& j, const Value& b) {
         const Value before = take(b, j);
         return std::pair(before, before);
       };
       return All(max(last), scan(follow, argmax(last), back, {.reverse = true}).second);
     }},
    // Newton's method for two equations, until the step is short.
    {"lax.while_loop(lambda c: c[1] > 1e-6, lambda c: (lambda d: (c[0] - d, "
     "jnp.abs(d).max()))(jnp.linalg.solve(jax.jacfwd("
     "lambda q: jnp.stack([q[0] ** 2 + q[1] - 3, q[0] - jnp.exp(q[1])]))(c[0]), jnp.stack([c[0][0] ** 2 + c[0][1] - 3, "
     "c[0][0] - "
     "jnp.exp(c[0][1])]))), (p[0, 1:], jnp.float32(1)))[0]",
     [](const Given& g) -> Results {
       const auto solved = [](Value start) {
         const auto f = [](const Value& q) {
           const Value a = q[0], b = q[1];
           return stack({square(a) + b - 3, a - exp(b)});
         };
         const auto body = [&](const std::pair<Value, Value>& c) {
           const Value d = linalg::solve(jacfwd(f)(c.first), f(c.first));
           return std::pair(c.first - d, max(abs(d)));
         };
         const auto more = [](const std::pair<Value, Value>& c) { return c.second > 1e-6; };
         return while_loop(more, body, std::pair(start, constant(start, 1.0f))).first;
       };
       return jit(solved)(Array(index(g.p, {0, Slice{1, 3}})));
     },
     32},
    // The gradients of single examples of a classifier.
    {"jax.vmap(jax.grad(lambda a, q, k: -jnp.take(jax.nn.log_softmax(a @ q), k)), (None, 0, 0))(m, x, jnp.array([2, "
     "0]))",
     [](const Given& g) -> Results {
       const auto loss = [](Value a, Value q, Value k) { return -take(log_softmax(matmul(a, q)), k); };
       return vmap(grad(loss), {kUnbatched, 0, 0})(g.m, g.x, Array(g.ctx, {2, 0}));
     },
     16},
    // Four steps of Runge and Kutta, and their derivative in the start and in a parameter.
    {"jax.grad(lambda q, k: lax.fori_loop(0, 4, lambda _, q: (lambda f: (lambda a: (lambda b: (lambda c: (lambda d: q "
     "+ (a + 2 * b + 2 "
     "* c + d) / 60)(f(q + 0.1 * c)))(f(q + 0.05 * b)))(f(q + 0.05 * a)))(f(q)))(lambda q: jnp.stack([q[1], -k * "
     "jnp.sin(q[0])])), "
     "q).sum(), (0, 1))(u[:2], w)",
     [](const Given& g) -> Results {
       const auto end = [&](Value start, Value k) {
         const auto f = [&](const Value& q) { return stack({Value(q[1]), -k * sin(Value(q[0]))}); };
         const auto step = [&](const Value&, const Value& q) {
           const Value a = f(q), b = f(q + 0.05 * a), c = f(q + 0.05 * b), d = f(q + 0.1 * c);
           return q + (a + 2 * b + 2 * c + d) / 60;
         };
         return sum(fori_loop(0, 4, step, start));
       };
       const auto [of_start, of_k] = grad<0, 1>(end)(Array(slice(g.u, 0, 2)), g.w);
       return All(of_start, of_k);
     },
     32},
    // Contrast of an image by the distribution of its values.
    {"(lambda i: (lambda c: c[jnp.clip(jnp.digitize(i, jnp.linspace(-3, 3, 9)) - 1, 0, "
     "7)])(jnp.cumsum(jnp.histogram(i, jnp.linspace(-3, "
     "3, 9))[0]) / i.size))(t)",
     [](const Given& g) -> Results {
       const Value edges = linspace(g.ctx, -3, 3, 9), counts = histogram(g.t, edges).first;
       const Value share = cumsum(counts) / 24;
       return take(share, clip(digitize(g.t, edges) - 1, 0, 7));
     }},
    // A product of polynomials by transforms, and its roots.
    {"(lambda a, b: (jnp.fft.irfft(jnp.fft.rfft(a, 8) * jnp.fft.rfft(b, 8), 8), "
     "jnp.sort(jnp.abs(jnp.roots(jnp.polymul(a, b), "
     "strip_zeros=False)))))(v, s[2:])",
     [](const Given& g) -> Results {
       const Value a = g.v + 0, b = slice(g.s, 2, 5);
       return All(fft::irfft(fft::rfft(a, 8) * fft::rfft(b, 8), 8), sort(abs(roots(polymul(a, b)))));
     },
     64},
    // The nearest matrix of rank 1, and what it leaves.
    {"(lambda f: (f[1][0] * jnp.outer(f[0][:, 0], f[2][0]), jnp.linalg.norm(x - f[1][0] * jnp.outer(f[0][:, 0], "
     "f[2][0]))))("
     "jnp.linalg.svd(x, full_matrices=False))",
     [](const Given& g) -> Results {
       const auto [q, s, vh] = linalg::svd(g.x, false);
       const Value near = Value(s[0]) * outer(index(q, {kAll, 0}), Value(vh[0]));
       return All(near, linalg::norm(g.x - near));
     },
     32},
    // Sums by group, the greatest of each group, and where each group begins.
    {"(lambda o, k: (jnp.zeros(4).at[k].add(u), jnp.full(4, -jnp.inf).at[k].max(u), jnp.searchsorted(k[o], "
     "jnp.arange(4)), u[o]))("
     "jnp.lexsort((u, j)), j)",
     [](const Given& g) -> Results {
       const Value order = lexsort({g.u, g.j}), keys = take(g.j, order);
       return All(at(zeros(g.ctx, {4}), g.j).add(g.u), at(full(g.ctx, {4}, -INFINITY, DType::kF32), g.j).max(g.u),
                  searchsorted(keys, arange(g.ctx, 4)), take(g.u, order));
     }},
    // Attention with a mask, and rows that see nothing.
    {"(lambda q, k: (lambda z: jnp.where(jnp.isfinite(z).any(-1, keepdims=True), jax.nn.softmax(z, axis=-1), "
     "0))(jnp.where(jnp.tri(3, 3, -1, "
     "bool), jnp.einsum('bqd,bkd->bqk', q, k) / 2, -jnp.inf)))(t, t[::-1])",
     [](const Given& g) -> Results {
       const Value scores = einsum("bqd,bkd->bqk", g.t, flip(g.t, 0)) / 2;
       const Value seen = where(tri(g.ctx, 3, 3, -1, DType::kBool), scores, -INFINITY);
       return where(any(isfinite(seen), -1, true), softmax(seen, -1), 0);
     },
     16},
    // The product of the second derivative and a vector, forward over reverse.
    {"jax.jvp(jax.grad(lambda q: jnp.prod(jnp.tanh(q)) + jnp.logaddexp(q[0], q[1] * q[2])), (v[:3],), (u[:3],))",
     [](const Given& g) -> Results {
       const auto f = [](Value q) { return prod(tanh(q)) + logaddexp(Value(q[0]), Value(q[1]) * Value(q[2])); };
       const auto [slope, along] =
           jvp(grad(f), std::tuple(Array(slice(g.v, 0, 3))), std::tuple(Array(slice(g.u, 0, 3))));
       return All(slope, along);
     },
     32},
    // Whole numbers with signs: quotients, rests, shifts and bits.
    {"(i // 4, i % 4, jnp.remainder(i, -5), jnp.fmod(i, -5), i >> 1, (i ^ 6) | (i & 3), jnp.floor_divide(i, -3), ~i, "
     "jnp.bitwise_count(i.astype('uint8')), jnp.gcd(i, 12))",
     [](const Given& g) -> Results {
       return All(floor_divide(g.i, 4), mod(g.i, 4), remainder(g.i, -5), fmod(g.i, -5), g.i >> 1, (g.i ^ 6) | (g.i & 3),
                  floor_divide(g.i, -3), ~g.i, bitwise_count(astype(g.i, DType::kU8)), gcd(g.i, 12));
     }},
    // dtypes that meet.
    {"(h + i, h * k[0], i / k[1], b + b, b * w, (i > 2) + k[2], h @ h.T, jnp.mean(i, 0), jnp.where(b, h, i), l[0] * w, "
     "d + x, z + d)",
     [](const Given& g) -> Results {
       const auto k = [&](int64_t n) { return index(g.k, {n}); };
       return All(g.h + g.i, g.h * k(0), g.i / k(1), g.b + g.b, g.b * g.w, (g.i > 2) + k(2),
                  matmul(g.h, transpose(g.h)), mean(g.i, 0), where(g.b, g.h, g.i), index(g.l, {0}) * g.w, g.d + g.x,
                  g.z + g.d);
     }},
    // Elements that are NaN.
    {"(jnp.nanmedian(n, 1), jnp.nan_to_num(n, nan=7, posinf=8), jnp.nanargmax(jnp.where(jnp.isinf(n), 0, n), 1), "
     "jnp.sort(n, 1), "
     "jnp.maximum(n, 0), jnp.fmax(n, 0), jnp.sign(n), jnp.clip(n, -1, 1), jnp.argsort(n, 1), jnp.nanquantile(n, 0.3, "
     "axis=0))",
     [](const Given& g) -> Results {
       return All(nanmedian(g.n, 1), nan_to_num(g.n, 7, 8), nanargmax(where(isinf(g.n), 0, g.n), 1), sort(g.n, 1),
                  maximum(g.n, 0), fmax(g.n, 0), sign(g.n), clip(g.n, -1, 1), argsort(g.n, 1),
                  nanquantile(g.n, 0.3, 0));
     }},
    // Draws from one key: what is split, shuffled, chosen and drawn.
    {"(lambda k: (jax.random.permutation(k[0], s), jax.random.choice(k[1], v, (3,), replace=False), "
     "jax.random.categorical(k[2], t[0], "
     "axis=0), jax.random.randint(k[3], (4,), -5, 9), jax.random.bernoulli(k[4], p / "
     "4)))(jax.random.split(jax.random.key(7), 5))",
     [](const Given& g) -> Results {
       const Values keys = random::split(random::key(g.ctx, 7), 5);
       const auto k = [&](size_t n) { return keys[n]; };
       return All(random::permutation(k(0), g.s), random::choice(k(1), g.v, {3}, {.replace = false}),
                  random::categorical(k(2), index(g.t, {0}), 0), random::randint(k(3), {4}, -5, 9),
                  random::bernoulli(k(4), g.p / 4));
     }},
    // A gradient through complex numbers: the power that a filter lets through.
    {"jax.grad(lambda q: (jnp.abs(jnp.fft.fft(q)) ** 2 @ jnp.array([1., 0.5, 0., 0.5])).real + jnp.real(jnp.exp(1j * "
     "q).prod()))(v)",
     [](const Given& g) -> Results {
       const auto power = [&](Value q) {
         const Value passed = dot(square(abs(fft::fft(q))), Array(g.ctx, {1.0f, 0.5f, 0.0f, 0.5f}));
         return real(passed) + real(prod(exp(std::complex<float>(0, 1) * q)));
       };
       return grad(power)(g.v);
     },
     64},
    // Rolling means, differences and what a signal has in common with another.
    {"(jnp.convolve(s, jnp.ones(3) / 3, 'same'), jnp.diff(s, n=2, prepend=0.0), jnp.correlate(s, v, 'full'), "
     "jnp.gradient(s, 0.5), "
     "jnp.interp(jnp.arange(-2.0, 5.0), s, s ** 2, left=-1, right=jnp.inf), jsp.signal.detrend(s), jnp.unwrap(4 * s))",
     [](const Given& g) -> Results {
       return All(convolve(g.s, ones(g.ctx, {3}) / 3, "same"), diff(g.s, 2, -1, 0.0), correlate(g.s, g.v, "full"),
                  gradient(g.s, 0.5, 0),
                  interp(arange(g.ctx, -2.0, 5.0), g.s, square(g.s), {.left = -1, .right = INFINITY}),
                  scipy::signal::detrend(g.s), unwrap(4 * g.s));
     },
     32},
    // Blocks of matrices, their products and rests by several rules.
    {"(jnp.block([[m, x.T], [x, jnp.zeros((2, 2))]]), jnp.kron(x, jnp.eye(2)), jnp.pad(x, ((1, 2), (0, 3)), "
     "'reflect'), jnp.rot90(x, 3), "
     "jnp.tensordot(t, x, ((1,), (1,))), jnp.trace(t, 1, 0, 2), jnp.delete(x, jnp.array([0, 2]), 1), jnp.insert(v, 1, "
     "9), jnp.roll(t, "
     "(1, -2), (0, 2)), jnp.cross(x, y))",
     [](const Given& g) -> Results {
       return All(block({{g.m, transpose(g.x)}, {g.x, zeros(g.ctx, {2, 2})}}), kron(g.x, eye(g.ctx, 2)),
                  pad(g.x, {{1, 2}, {0, 3}}, "reflect"), rot90(g.x, 3), tensordot(g.t, g.x, Shape{1}, Shape{1}),
                  trace(g.t, 1, 0, 2), delete_(g.x, Shape{0, 2}, 1), insert(g.v, 1, 9), roll(g.t, {1, -2}, {0, 2}),
                  cross(g.x, g.y));
     },
     16},
    // A chain of Markov: its stationary distribution by a null vector, by a power and by a solution.
    {"(lambda a: (jnp.linalg.matrix_power(a, 64)[0], jnp.linalg.lstsq(jnp.vstack([a.T - jnp.eye(3), jnp.ones(3)]), "
     "jnp.array([0., 0., 0., "
     "1.]))[0], jnp.linalg.cond(a), jnp.linalg.matrix_rank(a - jnp.eye(3))))(jax.nn.softmax(m, axis=1))",
     [](const Given& g) -> Results {
       const Value a = softmax(g.m, 1), one = eye(g.ctx, 3);
       const Value rows = vstack({transpose(a) - one, ones(g.ctx, {3})});
       return All(Value(linalg::matrix_power(a, 64)[0]), linalg::lstsq(rows, Array(g.ctx, {0.0f, 0.0f, 0.0f, 1.0f})).x,
                  linalg::cond(a), linalg::matrix_rank(a - one));
     },
     128},
    // What jit, checkpoint and custom derivatives leave as it is.
    {"jax.hessian(lambda q: jax.checkpoint(lambda r: jnp.sum(jnp.sin(r) * jnp.cumsum(r ** 3)))(q) + "
     "jnp.linalg.norm(q))(u[:3])",
     [](const Given& g) -> Results {
       const auto inner = [](Value r) { return sum(sin(r) * cumsum(pow(r, 3))); };
       const auto f = [&](Value q) { return checkpoint(inner)(q) + linalg::norm(q); };
       return hessian(f)(Array(slice(g.u, 0, 3)));
     },
     64},
    // Distributions: what they give at the same points, with slopes in a parameter.
    {"(jsp.stats.norm.logsf(p, 0.5, 2), jsp.stats.gamma.cdf(p, 2.5), jax.grad(lambda a: jsp.stats.beta.logpdf(p / 4, "
     "a, 2.0).sum())(w), "
     "jsp.stats.t.logpdf(x, 4.0), jsp.special.logsumexp(x, axis=0, b=y ** 2), jsp.special.betainc(2.0, 1.5, p / 4), "
     "jsp.special.ndtri(p / 4))",
     [](const Given& g) -> Results {
       using namespace scipy;
       const Value share = g.p / 4;
       return All(stats::norm::logsf(g.p, 0.5, 2), stats::gamma::cdf(g.p, 2.5),
                  grad([&](Value a) { return sum(stats::beta::logpdf(g.p / 4, a, 2.0)); })(g.w),
                  stats::t::logpdf(g.x, 4.0), special::logsumexp(g.x, 0, square(g.y)),
                  special::betainc(2.0, 1.5, share), special::ndtri(share));
     },
     64},
};

}  // namespace

std::span<const Case> ProgramCases() { return kCases; }

}  // namespace ricci::testing
