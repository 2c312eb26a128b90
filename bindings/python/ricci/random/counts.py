"""The distributions of jax.random over whole numbers, in the order of its steps.

Poisson and binomial numbers are drawn by counting where few are expected, and by rejection otherwise (W. Hoermann, "The
transformed rejection method for generating Poisson random variables" and "The generation of binomial random variates",
1993, algorithm BTRS). As in JAX both are computed for all elements, and all draw until the last one is done.
"""
import numpy as np

from ..abi.dtypes import numpy_of
from ..numpy.choices import ceil, clip, floor, isnan, where
from ..numpy.elementwise import abs as absolute
from ..numpy.elementwise import log, log1p, sqrt
from ..numpy.reductions import any as is_any
from ..numpy.shaping import moveaxis
from ..tracing.operands import common_kind, converted, dtype_or, emit, expanded, public, shape_of, splat, value
from ..tracing.promotion import BOOL, F32, I32, INTEGERS
from ..transforms.loops import scan, while_loop
from .distributions import parameters
from .draws import float_kind, keys_of, one_key, unit

_STIRLING = (0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
             0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287)


def _integer_kind(function, dtype):
    kind = dtype_or(dtype, I32)
    if kind not in INTEGERS:
        raise TypeError(f"{function}: dtype is {numpy_of(kind)}; an integer one is expected")
    return kind


@public
def geometric(key, p, shape=None, dtype=None):
    """How many trials of probability `p` there are up to the first success, i32 unless `dtype` is given."""
    kind, own = _integer_kind("geometric", dtype), common_kind("geometric", [p], inexact=True)[0]
    shape, (p,) = parameters("geometric", [p], shape, own)
    u = unit(one_key("geometric", key), shape, own)
    return converted(floor(log(where(u == 0, 1, u)) / log1p(-p)) + 1, kind)


# ---- Poisson ----


def _poisson_by_counting(key, lam):
    def step(state):
        count, key, logs = state
        key, own = keys_of(key, 2)
        return where(logs > -lam, count + 1, count), key, logs + log(unit(own, lam.shape, F32))
    zeros = splat(0, F32, lam.shape)
    return while_loop(lambda state: is_any(state[2] > -lam), step, (zeros, key, zeros))[0] - 1


def _poisson_by_rejection(key, lam):
    log_lam, b = log(lam), 0.931 + 2.53 * sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse, limit = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)

    def step(state):
        count, accepted, key = state
        key, first, second = keys_of(key, 3)
        u, v = unit(first, lam.shape, F32) - 0.5, unit(second, lam.shape, F32)
        edge = 0.5 - absolute(u)
        k = floor((2 * a / edge + b) * u + lam + 0.43)
        density = -lam + k * log_lam - emit("lgamma", k + 1)
        outside = (k < 0) | (edge < 0.013) & (v > edge)
        accept = (edge >= 0.07) & (v <= limit) | ~outside & (log(v * inverse / (a / (edge * edge) + b)) <= density)
        return where(accept, k, count), accepted | accept, key
    first = splat(-1, F32, lam.shape), splat(False, BOOL, lam.shape), key
    return while_loop(lambda state: is_any(~state[1]), step, first)[0]


@public
def poisson(key, lam, shape=None, dtype=None):
    """Poisson numbers with mean `lam`, i32 unless `dtype` is given."""
    kind, key = _integer_kind("poisson", dtype), one_key("poisson", key)
    shape, (lam,) = parameters("poisson", [lam], shape, F32)  # as in JAX, whatever `lam` is
    few = isnan(lam) | (lam < 10)
    found = where(few, converted(_poisson_by_counting(key, where(few, lam, 0.0)), kind),
                  converted(_poisson_by_rejection(key, where(few, 1e5, lam)), kind))
    return where(lam == 0, splat(0, kind, shape), found)


# ---- binomial ----


def _binomial_by_counting(key, n, p):
    """The trials between one success and the next are a geometric number each."""
    misses = log1p(-p)

    def step(state):
        count, trials, key = state
        own, key = keys_of(key, 2)
        return where(trials <= n, count + 1, count), trials + ceil(log(unit(own, p.shape, p.kind)) / misses), key
    zeros = splat(0, p.kind, p.shape)
    return while_loop(lambda state: is_any(state[1] <= n), step, (zeros, zeros, key))[0] - 1


def _stirling_tail(k):
    """What Stirling's formula leaves of log(k!)."""
    is_small, k = k <= 9, clip(k, 0.0, 9.0)
    square = (k + 1) * (k + 1)
    tail = (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)
    exact = splat(0, k.kind, k.shape)
    for i, number in enumerate(_STIRLING):
        exact = where(floor(k) == i, number, exact)
    return where(is_small, exact, tail)


def _binomial_by_rejection(key, n, p):
    deviation = sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a, center, limit = -0.0873 + 0.0248 * b + 0.01 * p, n * p + 0.5, 0.92 - 4.2 / b
    odds, scale, mode = p / (1 - p), (2.83 + 5.1 / b) * deviation, floor((n + 1) * p)

    def density(k):
        return ((mode + 0.5) * log((mode + 1) / (odds * (n - mode + 1))) + (n + 1) * log((n - mode + 1) / (n - k + 1))
                + (k + 0.5) * log(odds * (n - k + 1) / (k + 1)) + _stirling_tail(mode) + _stirling_tail(n - mode)
                - _stirling_tail(k) - _stirling_tail(n - k))

    def step(state):
        count, accepted, key = state
        key, first, second = keys_of(key, 3)
        u, v = unit(first, p.shape, p.kind) - 0.5, unit(second, p.shape, p.kind)
        edge = 0.5 - absolute(u)
        k = floor((2 * a / edge + b) * u + center)
        outside = (k < 0) | (k > n)
        accept = (edge >= 0.07) & (v <= limit) | ~outside & (log(v * scale / (a / (edge * edge) + b)) <= density(k))
        return where(accept, k, count), accepted | accept, key
    first = splat(-1, p.kind, p.shape), splat(False, BOOL, p.shape), key
    return while_loop(lambda state: is_any(~state[1]), step, first)[0]


@public
def binomial(key, n, p, shape=None, dtype=None):
    """How many of `n` trials of probability `p` succeed, as floats; NaN for invalid `n` or `p`."""
    kind, own = float_kind("binomial", dtype), common_kind("binomial", [p], inexact=True)[0]
    key = one_key("binomial", key)
    shape, (n, p) = parameters("binomial", [n, p], shape, own)
    is_rare = p < 0.5
    q = where(is_rare, p, 1.0 - p)
    no_count, no_chance, no_end = isnan(n) | (n < 0), isnan(q) | (q < 0), n == np.inf
    q = where(no_chance, 0.01, q)
    few, count = no_count | isnan(n * q) | (n * q <= 10), floor(n)
    # Of infinitely many trials without a chance rejection would accept nothing, and counting would not end.
    counted = _binomial_by_counting(key, where(few & ~no_end, count, 0.0), q)
    rejected = _binomial_by_rejection(key, where(few, 1e4, count), where(few, 0.5, q))
    found = where(few, converted(counted, kind), converted(rejected, kind))
    invalid = no_chance | no_count
    found = where(no_end & ~invalid, np.inf, where(invalid, np.nan, found))
    return where(is_rare | no_count | isnan(q) | no_end, found, converted(count, kind) - found)


@public
def multinomial(key, n, p, *, shape=None, dtype=None, unroll=1):
    """How often each outcome is drawn in `n` draws, as floats; `p` are the probabilities along the last dimension."""
    kind, own = float_kind("multinomial", dtype), common_kind("multinomial", [n, p], inexact=True)[0]
    n, p = (converted(value("multinomial", x), own) for x in (n, p))
    if not p.ndim:
        raise ValueError("multinomial: p is a number; a vector is expected")
    shape = p.shape if shape is None else shape_of("multinomial", shape)
    n, p = expanded(n, shape[:-1]), moveaxis(expanded(p, shape), -1, 0)
    left = emit("cumsum", p, axis=0, reverse=True)
    shares = p / where(left == 0, 1, left)  # of its probability in those that are left
    keys = emit("random_split", one_key("multinomial", key), shape=[shape[-1]])

    def outcome(rest, given):
        share, own_key = given
        count = binomial(own_key, rest, clip(share, 0, 1), dtype=rest.dtype)
        return rest - count, count
    counts = scan(outcome, n, (shares, keys), unroll=unroll)[1]
    return converted(moveaxis(counts, 0, -1), kind)
