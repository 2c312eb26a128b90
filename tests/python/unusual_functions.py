"""Legal functions of JAX that few programs have: (name, function, arguments), as in jax_functions.py."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.lax.lax import tie_p

X = np.array([0.5, 1.5, -0.25], np.float32)
M = np.arange(9, dtype=np.float32).reshape(3, 3) / 9 + np.eye(3, dtype=np.float32)
Z = np.array([1 + 2j, -0.5 + 1j, 0.3 - 2j], np.complex64)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 2))
def applied(f, x, k):
    return f(x) * k


applied.defvjp(lambda f, x, k: (f(x) * k, x), lambda f, k, x, ct: (ct * k * 2 * jnp.cos(x),))


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def tripled(f, x):
    return f(x)


tripled.defjvp(lambda f, p, t: (f(p[0]), 3 * t[0]))


@jax.custom_vjp
def scaled(p, x, n):
    return {"o": p["w"] * x * n, "n": x.shape[0]}


def _scaled_bwd(saved, ct):
    p, x, n = saved
    return {"w": ct["o"] * x * 2}, None, np.zeros(n.shape, jax.dtypes.float0)


scaled.defvjp(lambda p, x, n: (scaled(p, x, n), (p, x, n)), _scaled_bwd)


@jax.custom_jvp
def one_sided(x, y):
    return x * jnp.sin(y)


one_sided.defjvps(lambda t, _, x, y: t * jnp.sin(y) * 2, None)


def _custom():
    yield "custom_vjp_of_trees", lambda w, x: scaled({"w": w}, x, jnp.arange(3))["o"].sum(), (X, X)
    yield "custom_jvp_of_one", lambda x, y: one_sided(x, y).sum(), (X, X)
    again = jax.custom_vjp(jnp.sin)
    again.defvjp(lambda x: (jnp.sin(x), x), lambda x, ct: (2 * ct * jnp.cos(x),), optimize_remat=True)
    yield "custom_vjp_in_a_checkpoint", lambda x: jax.checkpoint(again)(x).sum(), (X,)
    yield "custom_vjp_nondiff", lambda x: applied(jnp.sin, x, 3.0).sum(), (X,)
    yield "custom_jvp_nondiff", lambda x: tripled(jnp.sin, x), (X,)
    yield "custom_gradient", jax.custom_gradient(lambda x: (x ** 2, lambda g: (g * 5 * x,))), (X,)
    newton = lambda f, y: lax.fori_loop(0, 30, lambda _, y: y - f(y) / (3 * y * y + 1e-6), y)  # noqa: E731
    yield "custom_root", lambda x: lax.custom_root(lambda y: y ** 3 - x.sum(), 1.0, newton,
                                                   lambda g, y: y / g(1.0)), (X,)
    yield "linear_solve", lambda m, x: lax.custom_linear_solve(
        lambda v: m @ v, x, lambda _, b: jnp.linalg.solve(m, b), lambda _, b: jnp.linalg.solve(m.T, b)), (M, X)
    yield "linear_transpose", lambda x: jax.linear_transpose(lambda v: 3 * v[::-1], x)(x * 2)[0], (X,)
    yield "closure_convert", lambda x: (lambda f, c: f(x, *c))(*jax.closure_convert(lambda y: y * x, x)), (X,)
    yield "hessian", lambda x: jax.hessian(lambda v: (jnp.sin(v) * v[::-1]).sum())(x), (X,)
    yield "linearize", lambda x: jax.linearize(jnp.sin, x)[1](x), (X,)


def _axes():
    def of(f):
        return lambda m: jax.vmap(f, axis_name="i")(m), (M,)
    yield "axis_index", *of(lambda r: r * lax.axis_index("i") + lax.axis_size("i"))
    yield "all_gather", *of(lambda r: lax.all_gather(r, "i")[::-1].sum(0) * r)
    yield "ppermute", *of(lambda r: lax.ppermute(r, "i", [(0, 1), (1, 2), (2, 0)]))
    yield "all_to_all", *of(lambda r: lax.all_to_all(r, "i", 0, 0))
    yield "psum_scatter", *of(lambda r: lax.psum_scatter(r, "i"))
    yield "mapped_cond", lambda m: jax.vmap(lambda r: lax.cond(r[0] > 0.5, jnp.sin, lambda v: v * 2, r))(m), (M,)
    yield "mapped_scatter", lambda m: jax.vmap(lambda r, i: r.at[i].add(2.0))(m, jnp.arange(3)), (M,)
    yield "ufunc", lambda x: jnp.frompyfunc(lambda a, b: a * b + a, nin=2, nout=1, identity=0).reduce(x), (X,)
    yield "vectorize", jnp.vectorize(lambda a, b: jnp.dot(a, b), signature="(n),(n)->()"), (X, X)


def _control():
    which = lambda x, i: lax.switch(i, [jnp.sin, jnp.cos, lambda x: x * 2], x)  # noqa: E731
    yield "switch_too_high", which, (X, np.int32(7))
    yield "matrix_scan", lambda m: lax.associative_scan(lambda a, b: a @ b, jnp.stack([m, m * 2, m / 3, m, m]),
                                                        reverse=True), (M,)
    yield "static_checkpoint", lambda x: jax.checkpoint(lambda k, x: jnp.sin(x) * k, static_argnums=(0,))(3, x), (X,)
    yield "static_jit", lambda x: jax.jit(lambda x, n: x ** n, static_argnums=1)(x, 3), (X,)
    yield "donated_jit", lambda x: jax.jit(lambda x: x * 2, donate_argnums=0)(x), (X,)
    yield "map_in_batches", lambda x: lax.map(lambda a: a * jnp.sin(a), x, batch_size=2), (X,)
    yield "scan_without_arrays", lambda x: lax.scan(lambda c, _: (c * 2, c.sum()), x, None, length=4)[1], (X,)
    yield "barrier", lambda x: lax.optimization_barrier((x, x * 2))[1], (X,)
    yield "piecewise", lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v ** 2]), (X,)
    yield "references", _references, (X,)
    yield "reference_in_a_scan", lambda x: lax.scan(_reference_step, 1.0, x)[0], (X,)


def _references(x):
    r = jax.new_ref(x)
    r[0] = x[1] * 2
    r[1] += x[2]

    def step(i, c):
        r[i] = r[i] * jnp.sin(c)
        return c + r[i]
    return lax.fori_loop(0, 3, step, 1.0), r[...]


def _reference_step(c, a):
    r = jax.new_ref(c)
    r[...] = r[...] * a
    return r[...], None


def _types():
    none = np.zeros((0, 3), np.float32)
    yield "no_rows", lambda x: (x.sum(0), x @ x.T, jnp.sin(x), jnp.concatenate([x, x])), (none,)
    yield "no_steps", lambda x: lax.scan(lambda c, a: (c + a, c * a), jnp.zeros(3), x), (none,)
    yield "sorts_nothing", lambda x: (jnp.sort(x), jnp.cumsum(x), jnp.argsort(x)), (none[:, 0],)
    yield "bools", lambda b: (b & ~b, b.sum(), jnp.where(b, 1.0, 2.0), jnp.cumsum(b), b * 2.5), (X > 0,)
    yield "narrow", lambda n: (n // 2, n % 2, n << 1, -n, n * n, n.sum(), ~n), (np.arange(3, dtype=np.int8),)
    yield "mixed", lambda x: x.astype(jnp.float16) + jnp.int8(3) + jnp.arange(3, dtype=jnp.uint8), (X,)
    yield "complex", lambda z: (jnp.abs(z).sum(), z.real, jnp.conj(z) * z, jnp.angle(z), jnp.sqrt(z)), (Z,)
    yield "parts_of_floats", lambda x: (jnp.frexp(x), jnp.ldexp(x, jnp.array([1, 2, 3])), jnp.modf(x)), (X,)
    large = np.arange(300000, dtype=np.float32)
    yield "large_closure", lambda x: (jnp.asarray(large)[:3] * x).sum(), (X,)
    draw = lambda k, _: (lambda a: (a[0], jax.random.normal(a[1])))(jax.random.split(k))  # noqa: E731
    yield "key_in_a_scan", lambda k: lax.scan(draw, k, None, length=3)[1], (jax.random.key(0),)
    yield "key_shapes", lambda k: jax.random.key_data(jnp.stack([k, k])[::-1].reshape(2, 1)[1]), (jax.random.key(0),)
    yield "raw_key", lambda k: (jax.random.normal(k, (3,)), jax.random.fold_in(k, 3)), (jax.random.PRNGKey(3),)


def _primitives():
    """Operands and attributes that jax.lax takes and jax.numpy does not make."""
    ints, key = np.arange(3, dtype=np.int32), jax.random.split(jax.random.key(4), 3)
    yield "conj_of_reals", lambda x: lax.real(lax.conj(x)) + lax.imag(lax.conj(x)), (X,)
    yield "dot_of_two_dtypes", lambda x, i: (lax.dot(i, x), lax.dot(x, i), lax.dot(i, i)), (X, ints)
    yield "equal_keys", lambda k: (k == k[::-1], k != k[0]), (key,)
    yield "truths", lambda m: jnp.linalg.svd(m, 0, 0), (M,)
    yield "empty", lambda x: (lax.empty((2, 3), np.float32) * 0 + x, jnp.empty_like(x) * 0), (X,)
    yield "tied", lambda x: lax.optimization_barrier(x) + tie_p.bind(x, 2 * x), (X,)
    yield "sunk", lambda x: (lax.dce_sink(x * 2), x * 3)[1], (X,)
    wide = jnp.stack([M[0], M[1] * 2, M[2], M[2]])[None]  # [1, 4, 3]
    scales = jnp.array([[[0.5, 2, 1]] * 2], jnp.float8_e8m0fnu)  # one for two rows
    yield "scaled_dot", lambda a: lax.scaled_dot(a.transpose(0, 2, 1), a, lhs_scale=scales.transpose(0, 2, 1),
                                                 rhs_scale=scales), (wide.astype(jnp.bfloat16),)
    twice = jax.custom_vjp(jnp.sin)
    twice.defvjp(lambda x: (jnp.sin(x), jnp.exp(x)), lambda r, ct: (2 * ct * r,), optimize_remat=True)
    yield "residuals_of_a_rematerialized_rule", lambda x: jax.grad(lambda y: twice(y).sum())(x), (X,)


def unusual():
    for group in (_custom, _axes, _control, _primitives, _types):
        yield from group()
