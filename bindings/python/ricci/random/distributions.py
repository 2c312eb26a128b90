"""The distributions of jax.random that are made of uniform, normal and gamma numbers, in the order of its steps.

Quotients of gamma numbers are taken from their logarithms, because those of a small shape underflow.
"""
from ..abi.dtypes import numpy_of
from ..nn import softmax
from ..numpy.choices import where
from ..numpy.elementwise import abs as absolute
from ..numpy.elementwise import exp, log, maximum, sign, sqrt, square
from ..numpy.linalg import qr
from ..numpy.order import diagonal
from ..numpy.reductions import sum as total
from ..numpy.shaping import expand_dims, matrix_transpose
from ..tracing.operands import broadcast_shapes_of, converted, emit, expanded, public, shape_of, value
from .draws import exponential, float_kind, normal, one_key, rademacher, two_keys, unit


def parameters(function, given, shape, kind):
    """(shape of the draws, the parameters as values of it): that of the parameters if None."""
    values = [converted(value(function, x), kind) for x in given]
    own = broadcast_shapes_of(function, [v.shape for v in values])
    shape = own if shape is None else shape_of(function, shape)
    if broadcast_shapes_of(function, [shape, own]) != shape:
        raise ValueError(f"{function}: shape is {shape}; the parameters have shape {own}, which does not broadcast to it")
    return shape, [expanded(v, shape) for v in values]


def _of_parameters(function, given, shape, dtype):
    """(dtype, its number, shape of the draws, parameters)."""
    kind = float_kind(function, dtype)
    return (numpy_of(kind), kind, *parameters(function, given, shape, kind))


# ---- gamma ----


def _gamma(function, key, a, shape, dtype, log_space):
    _, _, _, (shapes,) = _of_parameters(function, [a], shape, dtype)
    return emit("random_gamma", one_key(function, key), shapes, log_space=log_space)


@public
def gamma(key, a, shape=None, dtype=None):
    """Floats of the gamma distribution of shape `a`."""
    return _gamma("gamma", key, a, shape, dtype, log_space=False)


@public
def loggamma(key, a, shape=None, dtype=None):
    """The logarithms of `gamma`, which are finite where that is 0."""
    return _gamma("loggamma", key, a, shape, dtype, log_space=True)


@public
def beta(key, a, b, shape=None, dtype=None):
    """Floats of the beta distribution."""
    dtype, _, shape, (a, b) = _of_parameters("beta", [a, b], shape, dtype)
    first, second = two_keys("beta", key)
    x, y = loggamma(first, a, shape, dtype), loggamma(second, b, shape, dtype)
    greater = maximum(x, y)
    share, rest = exp(x - greater), exp(y - greater)
    return share / (share + rest)


@public
def dirichlet(key, alpha, shape=None, dtype=None):
    """Vectors of the Dirichlet distribution; `alpha` are its concentrations along the last dimension."""
    kind = float_kind("dirichlet", dtype)
    alpha = converted(value("dirichlet", alpha), kind)
    if not alpha.ndim:
        raise ValueError("dirichlet: alpha is a number; a vector is expected")
    shape = alpha.shape[:-1] if shape is None else shape_of("dirichlet", shape)
    return softmax(loggamma(key, alpha, (*shape, alpha.shape[-1]), numpy_of(kind)), -1)


@public
def chisquare(key, df, shape=None, dtype=None):
    """Floats of the chi-square distribution with `df` degrees of freedom."""
    dtype, _, shape, (df,) = _of_parameters("chisquare", [df], shape, dtype)
    return 2 * exp(loggamma(key, 0.5 * df, shape, dtype))


@public
def t(key, df, shape=(), dtype=None):
    """Floats of Student's distribution with `df` degrees of freedom."""
    dtype, _, shape, (df,) = _of_parameters("t", [df], shape, dtype)
    first, second = two_keys("t", key)
    half, n = df / 2, normal(first, shape, dtype)
    return n * sqrt(half / gamma(second, half, shape, dtype))


@public
def f(key, dfnum, dfden, shape=None, dtype=None):
    """Floats of the F distribution."""
    dtype, _, shape, (dfnum, dfden) = _of_parameters("f", [dfnum, dfden], shape, dtype)
    of_denominator, of_numerator = two_keys("f", key)
    numerator = chisquare(of_numerator, dfnum, shape, dtype) / dfnum
    return numerator / (chisquare(of_denominator, dfden, shape, dtype) / dfden)


@public
def generalized_normal(key, p, shape=(), dtype=None):
    """Floats with the density exp(-|x|^p), but for a factor."""
    kind, shape = float_kind("generalized_normal", dtype), shape_of("generalized_normal", shape)
    first, second = two_keys("generalized_normal", key)
    size = gamma(first, 1 / p, shape, numpy_of(kind))
    return rademacher(second, shape, numpy_of(kind)) * size ** (1 / p)


@public
def ball(key, d, p=2, shape=(), dtype=None):
    """Points of the unit ball of `d` dimensions in the norm `p`, evenly."""
    dtype, shape = numpy_of(float_kind("ball", dtype)), shape_of("ball", shape)
    first, second = two_keys("ball", key)
    g = generalized_normal(first, p, (*shape, d), dtype)
    radius = (total(absolute(g) ** p, -1) + exponential(second, shape, dtype)) ** (1 / p)
    return g / expand_dims(radius, -1)


# ---- normal ----


@public
def maxwell(key, shape=(), dtype=None):
    """Floats of Maxwell's distribution: lengths of normal vectors of three dimensions."""
    dtype, shape = numpy_of(float_kind("maxwell", dtype)), shape_of("maxwell", shape)
    return sqrt(total(square(normal(key, (*shape, 3), dtype)), -1))


@public
def double_sided_maxwell(key, loc, scale, shape=(), dtype=None):
    """Floats of Maxwell's distribution with either sign, times `scale`, plus `loc`. The parameters add their own shape."""
    dtype, _, own, (loc, scale) = _of_parameters("double_sided_maxwell", [loc, scale], None, dtype)
    shape = (shape_of("double_sided_maxwell", shape) or own) + own
    first, second = two_keys("double_sided_maxwell", key)
    size = maxwell(first, shape, dtype)
    return rademacher(second, shape, dtype) * size * scale + loc


@public
def wald(key, mean, shape=None, dtype=None):
    """Floats of the inverse Gaussian distribution."""
    dtype, kind, shape, (mean,) = _of_parameters("wald", [mean], shape, dtype)
    first, second = two_keys("wald", key)
    y, z = square(normal(first, shape, dtype)), unit(second, shape, kind)
    both = square(mean)
    x = mean + both * y / 2 - mean / 2 * sqrt(4 * mean * y + both * square(y))
    return where(z <= mean / (mean + x), x, both / x)


@public
def orthogonal(key, n, shape=(), dtype=None, m=None):
    """Matrices of `n` rows and `m` columns with orthogonal columns (rows, if there are less of them), evenly.

    F. Mezzadri, "How to generate random matrices from the classical compact groups", 2007.
    """
    m = n if m is None else m
    q, r = qr(normal(key, (*shape_of("orthogonal", shape), max(n, m), min(n, m)), dtype))
    found = q * expand_dims(sign(diagonal(r, 0, -2, -1)), -2)
    return matrix_transpose(found) if n < m else found


# ---- uniform ----


@public
def rayleigh(key, scale, shape=None, dtype=None):
    """Floats of Rayleigh's distribution."""
    _, kind, shape, (scale,) = _of_parameters("rayleigh", [scale], shape, dtype)
    return scale * sqrt(log(unit(one_key("rayleigh", key), shape, kind)) * -2)


@public
def pareto(key, b, shape=None, dtype=None):
    """Floats of the Pareto distribution."""
    dtype, _, shape, (b,) = _of_parameters("pareto", [b], shape, dtype)
    return exp(exponential(key, shape, dtype) / b)


@public
def weibull_min(key, scale, concentration, shape=(), dtype=None):
    """Floats of Weibull's distribution."""
    dtype, _, shape, (scale, concentration) = _of_parameters("weibull_min", [scale, concentration], shape, dtype)
    return exponential(key, shape, dtype) ** (1 / concentration) * scale


@public
def triangular(key, left, mode, right, shape=None, dtype=None):
    """Floats whose density rises from `left` to `mode` and falls to `right`."""
    _, kind, shape, (left, mode, right) = _of_parameters("triangular", [left, mode, right], shape, dtype)
    u, width = unit(one_key("triangular", key), shape, kind), right - left
    rising = left + sqrt(u * width * (mode - left))
    return where(u < (mode - left) / width, rising, right - sqrt((1 - u) * width * (right - mode)))
