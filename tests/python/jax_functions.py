"""Functions written with JAX alone, by group: (name, function, arguments).

Arguments are small and lie where the functions are smooth. What the importer does with each is checked by
test_from_jax.py.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.ode import odeint
from jax.scipy import integrate, optimize, signal, special, stats

from linear_algebra_functions import lax_linalg, numpy_linalg, scipy_linalg
from unusual_functions import unusual

_RNG = np.random.default_rng(0)


def real(*shape):
    return _RNG.standard_normal(shape).astype(np.float32)


def unit(*shape):
    return _RNG.uniform(0.1, 0.9, shape).astype(np.float32)


def positive(*shape):
    return _RNG.uniform(0.5, 3, shape).astype(np.float32)


def whole(*shape, high=3):
    return _RNG.integers(0, high, shape).astype(np.int32)


def definite(n):
    a = real(n, n)
    return a @ a.T + n * np.eye(n, dtype=np.float32)


def _numpy():
    x, m, v = real(4), real(3, 4), real(5)
    for name in ("sin cos tan tanh sinh cosh arctan arcsinh exp exp2 expm1 square cbrt sinc sign floor ceil trunc rint "
                 "absolute negative deg2rad degrees reciprocal nan_to_num sort argsort cumsum flip ravel isfinite "
                 "diff ptp mean std var median sum prod max min argmax argmin any all gradient ediff1d nanmean nansum "
                 "nanmax nanstd i0 unwrap angle real conj").split():
        yield name, getattr(jnp, name), (x,)
    for name in "log log2 log10 log1p sqrt arccosh cumprod".split():
        yield name, getattr(jnp, name), (positive(4) + 1,)
    for name in "arcsin arccos arctanh".split():
        yield name, getattr(jnp, name), (unit(4),)
    for name in ("add subtract multiply arctan2 hypot logaddexp logaddexp2 maximum minimum fmax fmin copysign "
                 "outer inner dot vdot kron convolve correlate polyval heaviside nextafter less equal").split():
        yield name, getattr(jnp, name), (x, real(4))
    for name in "divide power float_power mod fmod remainder floor_divide divmod".split():
        yield name, getattr(jnp, name), (positive(4), positive(4))
    for name in "gcd lcm bitwise_and bitwise_or bitwise_xor left_shift right_shift floor_divide mod".split():
        yield f"{name}_int", getattr(jnp, name), (whole(4, high=9) + 1, whole(4, high=9) + 1)
    yield "matmul", jnp.matmul, (m, real(4, 2))
    yield "einsum", lambda a, b: jnp.einsum("ij,kj,k->i", a, b, b[:, 0]), (m, real(2, 4))
    yield "tensordot", lambda a, b: jnp.tensordot(a, b, [[1], [0]]), (m, real(4, 2))
    yield "where", lambda a: jnp.where(a > 0, a, jnp.sin(a)), (x,)
    yield "clip", lambda a: jnp.clip(a, -0.5, 0.5), (x,)
    yield "percentile", lambda a: jnp.percentile(a, jnp.array([20.0, 70.0])), (v,)
    yield "interp", lambda a: jnp.interp(a, jnp.arange(4.0), jnp.sin(jnp.arange(4.0))), (unit(3) * 3,)
    yield "searchsorted", lambda a, b: jnp.searchsorted(jnp.sort(a), b), (v, x)
    yield "take", lambda a, i: jnp.take(a, i, axis=1), (m, whole(2))
    yield "take_along", lambda a: jnp.take_along_axis(a, jnp.argsort(a, axis=1), axis=1), (m,)
    yield "put", lambda a, i: a.at[i].set(2.0).at[0].add(a[1]).at[1].multiply(3.0).at[2].max(0.3), (v, whole(2))
    yield "apply_at", lambda a: a.at[1].apply(jnp.sin), (v,)
    yield "roll", lambda a: jnp.roll(a, 1, axis=1), (m,)
    yield "pad_reflect", lambda a: jnp.pad(a, 2, mode="reflect"), (m,)
    yield "tile", lambda a: jnp.tile(a, (2, 1)), (m,)
    yield "repeat", lambda a: jnp.repeat(a, 2, axis=0), (m,)
    yield "stack", lambda a, b: jnp.stack([a, b], axis=1), (x, real(4))
    yield "split", lambda a: jnp.split(a, 2, axis=1), (m,)
    yield "tril", jnp.tril, (m,)
    yield "diag", lambda a: jnp.diag(a) + jnp.eye(4), (x,)
    yield "vander", lambda a: jnp.vander(a, 3), (x,)
    yield "meshgrid", jnp.meshgrid, (x, v)
    yield "cross", jnp.cross, (real(2, 3), real(2, 3))
    yield "cov", jnp.cov, (m,)
    yield "corrcoef", jnp.corrcoef, (m,)
    yield "histogram", lambda a: jnp.histogram(a, bins=3)[0], (v,)
    yield "bincount", lambda a: jnp.bincount(a, length=4), (whole(6),)
    yield "unique", lambda a: jnp.unique(a, size=3), (whole(6),)
    yield "nonzero", lambda a: jnp.nonzero(a > 0, size=3)[0], (v,)
    yield "packbits", jnp.packbits, (whole(8, high=2),)
    yield "lexsort", lambda a, b: jnp.lexsort((a, b)), (x, whole(4))
    wave = (real(4) + 1j * real(4)).round().astype(np.complex64)  # some real parts are equal
    yield "complex_sort", lambda a: (jnp.sort(a), jnp.argsort(a), lax.sort((jnp.real(a) > 0, a), num_keys=1)), (wave,)
    yield "piecewise", lambda a: jnp.piecewise(a, [a < 0, a > 1], [jnp.sin, jnp.cos, 0.5]), (x,)
    yield "trapezoid", jnp.trapezoid, (x,)
    yield "roots", lambda a: jnp.polyint(a), (x,)
    yield "fft", lambda a: jnp.abs(jnp.fft.fft(a)), (x,)
    yield "rfft_pair", lambda a: jnp.fft.irfft(jnp.fft.rfft(a) * 2, 5), (v,)
    yield "apply_along", lambda a: jnp.apply_along_axis(jnp.cumsum, 1, a), (m,)


def _special():
    for name in ("erf erfc gammaln digamma expit log_ndtr ndtr entr i0e i1e i0 i1 exp1 expi sinc spence "
                 "factorial log_softmax softmax logsumexp").split():
        if hasattr(special, name):
            yield name, getattr(special, name), (positive(4),)
    for name in "erfinv ndtri logit bernoulli".split():
        if name != "bernoulli":
            yield name, getattr(special, name), (unit(4),)
    for name in "beta betaln gammainc gammaincc zeta xlogy xlog1py rel_entr kl_div poch".split():
        yield name, getattr(special, name), (positive(4) + 1, positive(4) + 1)
    yield "betainc", special.betainc, (positive(3), positive(3), unit(3))
    yield "polygamma", lambda x: special.polygamma(1, x), (positive(3),)
    yield "multigammaln", lambda x: special.multigammaln(x, 2), (positive(3) + 1,)
    yield "sph_harm", lambda t: jnp.real(special.sph_harm_y(jnp.array([1]), jnp.array([1]), t, t, n_max=1)), (unit(1),)


def _stats():
    for name in "norm cauchy laplace logistic expon gumbel_r".split():
        law = getattr(stats, name)
        yield f"{name}.logpdf", law.logpdf, (positive(4),)
        if hasattr(law, "cdf"):
            yield f"{name}.cdf", law.cdf, (positive(4),)
    yield "t.logpdf", stats.t.logpdf, (real(4), positive(4))
    yield "gamma.logpdf", stats.gamma.logpdf, (positive(4), positive(4))
    yield "beta.logpdf", stats.beta.logpdf, (unit(4), positive(4), positive(4))
    yield "poisson.logpmf", stats.poisson.logpmf, (whole(4), positive(4))
    yield "mvn.logpdf", lambda x, m, c: stats.multivariate_normal.logpdf(x, m, c), (real(3), real(3), definite(3))
    yield "dirichlet.logpdf", lambda a: stats.dirichlet.logpdf(jnp.array([0.2, 0.3, 0.5]), a), (positive(3),)
    yield "kde", lambda x: stats.gaussian_kde(x)(jnp.array([0.1, 0.5])), (real(6),)


def _nn():
    for name in ("relu relu6 elu celu selu gelu silu softplus sigmoid log_sigmoid soft_sign hard_tanh hard_silu mish "
                 "leaky_relu squareplus softmax log_softmax standardize logsumexp sparse_plus glu normalize").split():
        if hasattr(jax.nn, name):
            yield name, getattr(jax.nn, name), (real(2, 4),)
    yield "one_hot", lambda i: jax.nn.one_hot(i, 4), (whole(3),)
    yield "attention", lambda q, k: jax.nn.dot_product_attention(q, k, k, is_causal=True), (
        real(1, 3, 2, 4), real(1, 3, 2, 4))
    layout = ("NHWC", "HWIO", "NHWC")
    yield "conv", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout), (
        real(1, 5, 5, 2), real(3, 3, 2, 3))
    yield "max_pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID"), (real(4, 4),)
    pooled = lambda x: lax.reduce_window(x * x, -jnp.inf, lax.max, (2, 2), (1, 1), "SAME").sum()  # noqa: E731
    yield "max_pool_slopes", jax.grad(pooled), (real(4, 4),)
    yield "product_pool", lambda x: lax.reduce_window(x, 1.0, lax.mul, (2, 2), (1, 2), "SAME"), (real(4, 4),)
    yield "ragged_dot", lax.ragged_dot, (real(5, 2), real(3, 2, 4), np.array([2, 0, 3], np.int32))
    yield "avg_pool", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (2, 2), "VALID"), (real(4, 4),)
    yield "resize", lambda x: jax.image.resize(x, (6, 3), "bilinear"), (real(4, 4),)
    init = jax.nn.initializers.glorot_normal()
    yield "glorot", lambda k: init(k, (3, 4)), (jax.random.key(1),)


def _random():
    key = jax.random.key(3)
    for name in ("normal uniform bernoulli exponential gumbel laplace logistic cauchy rademacher rayleigh maxwell "
                 "truncated_normal").split():
        arguments = (-1.0, 1.0) if name == "truncated_normal" else ()
        shape = {"shape": (3, 2)} if name != "rayleigh" else {}
        more = (0.7,) if name == "rayleigh" else ()
        yield name, lambda k, f=getattr(jax.random, name), a=arguments + more, s=shape: f(k, *a, **s), (key,)
    yield "split", lambda k: jax.random.key_data(jax.random.split(k, 3)), (key,)
    yield "raw_keys", lambda k: jax.random.normal(jax.random.split(k)[0], (2,)), (jax.random.PRNGKey(1),)
    yield "key_inside", lambda x: x * jax.random.normal(jax.random.key(7), x.shape), (real(3),)
    yield "key_constant", lambda x, k=key: x * jax.random.uniform(jax.random.fold_in(k, 2), x.shape), (real(3),)
    yield "keys_out", lambda k: jax.random.clone(jax.random.fold_in(k, 1)), (key,)
    yield "randint", lambda k: jax.random.randint(k, (5,), 0, 10), (key,)
    yield "permutation", lambda k: jax.random.permutation(k, 6), (key,)
    yield "choice", lambda k: jax.random.choice(k, jnp.arange(8.0), (3,), replace=False), (key,)
    yield "categorical", lambda k, x: jax.random.categorical(k, x), (key, real(2, 3))
    yield "mvn", lambda k, c: jax.random.multivariate_normal(k, jnp.zeros(3), c), (key, definite(3))
    yield "gamma", lambda k, a: jax.random.gamma(k, a), (key, positive(3))
    yield "beta", lambda k: jax.random.beta(k, 2.0, 3.0), (key,)
    yield "poisson", lambda k: jax.random.poisson(k, 3.0, (3,)), (key,)
    yield "dirichlet", lambda k: jax.random.dirichlet(k, jnp.ones(3)), (key,)
    yield "orthogonal", lambda k: jax.random.orthogonal(k, 3), (key,)
    yield "ball", lambda k: jax.random.ball(k, 2), (key,)


def _loops():
    x = real(3)
    yield "fori", lambda a: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c) + i, a), (x,)
    yield "scan", lambda a: lax.scan(lambda c, y: (c * y + 1, {"s": c}), a[0], a), (x,)
    yield "reverse_scan", lambda a: lax.scan(lambda c, y: (c * y, c), a[0], a, reverse=True)[1], (x,)
    yield "associative_scan", lambda a: lax.associative_scan(jnp.multiply, a), (real(5),)
    yield "map", lambda a: lax.map(lambda y: jnp.sin(y) * a[0], a), (x,)
    yield "switch", lambda i, a: lax.switch(i, [jnp.sin, jnp.cos, lambda y: y], a), (whole(), x)
    yield "cond", lambda a: lax.cond(a[0] > 0, lambda y: y * 2, lambda y: y - 1, a), (x,)
    yield "platform", lambda a: lax.platform_dependent(a, cpu=jnp.sin, default=jnp.cos), (x,)
    halve = lambda y: lax.while_loop(lambda c: c > 1, lambda c: c / 2, y)  # noqa: E731
    yield "while", lambda y: halve(y), (np.float32(9.0),)
    yield "mapped_while", jax.vmap(halve), (positive(3) * 4,)
    yield "remat", jax.checkpoint(lambda a: jnp.sin(jnp.exp(a)).sum()), (x,)
    dots = jax.checkpoint_policies.dots_saveable
    yield "remat_dots", jax.checkpoint(lambda a, b: jnp.tanh(a @ b) @ b, policy=dots), (definite(3), x)
    pendulum = lambda s, t: jnp.stack([s[1], -jnp.sin(s[0])])  # noqa: E731
    yield "odeint", lambda y: odeint(pendulum, y, jnp.linspace(0.0, 1.0, 3)), (real(2),)
    valley = lambda s: ((s - 1) ** 2 * (1 + s ** 2)).sum()  # noqa: E731
    yield "bfgs", lambda y: optimize.minimize(valley, y, method="BFGS").x, (real(2),)
    pairs = lambda a, b: (a[0] * b[0], jnp.maximum(a[1], b[1]))  # noqa: E731
    yield "reduce_pairs", lambda a: lax.reduce((a, a), (np.float32(1), np.float32(-9)), pairs, (0,)), (real(3, 2),)
    yield "reduce_windows", lambda a: lax.reduce_window((a, a), (1.0, -9.0), pairs, (2,), (1,), "VALID"), (real(5),)
    standard = lambda y: (y - lax.pmean(y, "i")) / lax.pmax(jnp.abs(y), "i") + lax.pmin(y, "i")  # noqa: E731
    yield "vmap_axis", lambda a: jax.vmap(standard, axis_name="i")(a), (real(3, 2),)
    total = lambda y: lax.psum(y, ("i", "j")) * y  # noqa: E731
    yield "vmap_axes", lambda a: jax.vmap(jax.vmap(total, axis_name="j"), axis_name="i")(a), (real(3, 2),)
    yield "trapezoid", integrate.trapezoid, (real(4),)
    yield "fftconvolve", lambda a, b: signal.fftconvolve(a, b), (real(5), real(3))
    yield "welch", lambda a: signal.welch(a, nperseg=8)[1], (real(16),)


GROUPS = {"numpy": _numpy, "numpy_linalg": numpy_linalg, "scipy_linalg": scipy_linalg,
          "lax_linalg": lax_linalg, "special": _special, "stats": _stats, "nn": _nn,
          "random": _random, "loops": _loops, "unusual": unusual}
