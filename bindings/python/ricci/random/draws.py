"""Keys of jax.random, bits, uniform and normal numbers and what is near to them, with the same bits for the same keys.

A key is its two words, u32[2], as jax.random.PRNGKey gives it, so that it can be an argument, a carry and a NumPy array.
The typed keys of jax.random.key are taken too, and a split of one gives typed keys.
"""
import builtins
import math

import numpy as np

from ..abi.dtypes import KEY, limits_of, numpy_of
from ..numpy.arrays import asarray
from ..numpy.creation import arange
from ..numpy.elementwise import log, multiply, subtract
from ..numpy.indexing import taken
from ..numpy.linalg import cholesky
from ..numpy.order import argsort, searchsorted
from ..numpy.products import matvec
from ..numpy.reductions import argmax, cumsum
from ..numpy.shaping import moveaxis, ravel
from ..tracing.operands import (axis_of, broadcast_shapes_of, converted, dtype_or, emit, expanded, filled, promoted,
                                public, shape_of, splat, value)
from ..tracing.promotion import COMPLEX, F32, I32, INTEGERS, REAL_FLOATS, UNSIGNED, number_of_dtype, real_of
from ..tracing.trace import current

_U32, _IMPL = number_of_dtype("uint32"), "threefry2x32"


@public
def PRNGKey(seed):  # noqa: N802, the name of jax.random
    """The key of an integer: u32[2]."""
    return emit("random_unwrap", emit("random_seed", value("key", seed)))


@public
def key(seed):
    """As `PRNGKey`."""
    return PRNGKey(seed)


def _key(function, x):
    """A key as the primitives take it."""
    v = value(function, x)
    if v.kind == KEY:
        return v
    if v.kind != _U32 or v.shape[-1:] != (2,):
        raise TypeError(f"{function}: key is {v.dtype}{list(v.shape)}; a key, uint32[2], is expected "
                        "(ricci.random.PRNGKey(seed) makes one)")
    return emit("random_wrap", v)


def one_key(function, x):
    found = _key(function, x)
    if found.shape:
        raise ValueError(f"{function}: keys of shape {found.shape} are given; one is expected (ricci.vmap takes several)")
    return found


def _as_given(found, x):
    return found if getattr(x, "kind", None) == KEY else emit("random_unwrap", found)


@public
def clone(key):
    """The key itself: here keys are not checked for being used again."""
    return _as_given(_key("clone", key), key)


@public
def key_data(keys):
    """The words of keys, u32[..., 2]."""
    return emit("random_unwrap", _key("key_data", keys))


@public
def wrap_key_data(key_bits_array, *, impl=None):
    """The keys that have these words."""
    _check_impl("wrap_key_data", impl)
    return _as_given(_key("wrap_key_data", key_bits_array), key_bits_array)


def key_impl(keys):
    """The name of the generator."""
    return _IMPL


def key_dtype(impl=None):
    """The dtype of keys, that of their words."""
    _check_impl("key_dtype", impl)
    return np.dtype(np.uint32)


def _check_impl(function, impl):
    if impl not in (None, _IMPL):
        raise ValueError(f"{function}: impl is {impl!r}; {_IMPL} is the only generator")


@public
def split(key, num=2):  # noqa: F811
    """`num` new keys, or new keys in the shape `num`."""
    return _as_given(emit("random_split", one_key("split", key), shape=shape_of("split", num)), key)


@public
def fold_in(key, data):
    """A new key from a key and an integer."""
    return _as_given(emit("random_fold_in", one_key("fold_in", key), converted(value("fold_in", data), _U32)), key)


def _bits(key, width, shape):
    return emit("random_bits", key, bit_width=width, shape=shape)


@public
def bits(key, shape=(), dtype=None):
    """Random bits, u32 unless `dtype` is given."""
    kind = dtype_or(dtype, _U32)
    if kind not in UNSIGNED:
        raise TypeError(f"bits: dtype is {numpy_of(kind)}; an unsigned one is expected")
    return _bits(one_key("bits", key), 8 * numpy_of(kind).itemsize, shape_of("bits", shape))


def float_kind(function, dtype):
    kind = dtype_or(dtype, F32)
    if kind not in REAL_FLOATS:
        raise TypeError(f"{function}: dtype is {numpy_of(kind)}; a float is expected")
    return kind


def _mantissa(dtype):
    return 7 if dtype.name == "bfloat16" else np.finfo(dtype).nmant


def unit(key, shape, kind):
    """Floats in [0, 1): a random mantissa with the exponent of 1, less 1."""
    dtype = numpy_of(kind)
    width, mantissa = 8 * dtype.itemsize, _mantissa(dtype)
    used = 8 if mantissa < 8 else width
    found, word = _bits(key, used, shape), np.dtype(f"uint{width}")
    found = converted(found, number_of_dtype(word))
    shifted = emit("shift_right_logical", found, filled(found, used - mantissa))
    one = np.ones((), dtype).view(word)
    floats = emit("bitcast_convert_type", emit("or", shifted, filled(found, one)), new_dtype=dtype)
    return emit("sub", floats, filled(floats, 1))


def _between(key, shape, kind, low, high):
    x = unit(key, shape, kind)
    low, high = (expanded(converted(current().lift(n, None if hasattr(n, "kind") else kind), kind), shape)
                 for n in (low, high))
    return emit("max", low, emit("add", emit("mul", x, emit("sub", high, low)), low))


@public
def uniform(key, shape=(), dtype=None, minval=0.0, maxval=1.0):
    """Floats in [minval, maxval), evenly."""
    return _between(one_key("uniform", key), shape_of("uniform", shape), float_kind("uniform", dtype), minval, maxval)


@public
def normal(key, shape=(), dtype=None):
    """Floats of the standard normal distribution, or complex numbers of variance 1."""
    kind = dtype_or(dtype, F32)
    if kind in COMPLEX:
        return _complex_normal(key, shape, kind)
    kind = float_kind("normal", dtype)
    dtype = numpy_of(kind)
    low = np.nextafter(np.array(-1, dtype), np.array(0, dtype))
    x = _between(one_key("normal", key), shape_of("normal", shape), kind, low, np.array(1, dtype))
    return emit("mul", filled(x, np.sqrt(2)), emit("erf_inv", x))


def _complex_normal(key, shape, kind):
    parts = (normal(k, shape, numpy_of(real_of(kind))) for k in two_keys("normal", key))
    found = emit("complex", *parts)
    return emit("div", found, filled(found, np.sqrt(2)))


def two_keys(function, key):
    """Two keys of one."""
    return keys_of(one_key(function, key), 2)


def keys_of(key, n):
    """`n` keys of a value that is one."""
    return current().emit("unstack", [emit("random_split", key, shape=[n])], {"axis": 0})


@public
def truncated_normal(key, lower, upper, shape=None, dtype=None):
    """Floats of the standard normal distribution between `lower` and `upper`."""
    kind = float_kind("truncated_normal", dtype)
    low, high = (converted(value("truncated_normal", n), kind) for n in (lower, upper))
    shape = broadcast_shapes_of("truncated_normal", [low.shape, high.shape]) if shape is None else shape_of(
        "truncated_normal", shape)
    low, high = expanded(low, shape), expanded(high, shape)
    root = filled(low, np.sqrt(2))
    a, b = (emit("erf", emit("div", v, root)) for v in (low, high))
    found = emit("mul", root, emit("erf_inv", _between(one_key("truncated_normal", key), shape, kind, a, b)))
    inf, none = filled(low, np.inf), filled(low, -np.inf)
    return emit("clamp", emit("nextafter", low, inf), found, emit("nextafter", high, none))


@public
def exponential(key, shape=(), dtype=None):
    """Floats of the exponential distribution with mean 1."""
    x = unit(one_key("exponential", key), shape_of("exponential", shape), float_kind("exponential", dtype))
    return emit("neg", emit("log1p", emit("neg", x)))


@public
def gumbel(key, shape=(), dtype=None):
    """Floats of the Gumbel distribution."""
    kind = float_kind("gumbel", dtype)
    tiny = limits_of(numpy_of(kind)).tiny
    x = _between(one_key("gumbel", key), shape_of("gumbel", shape), kind, tiny, 1.0)
    return emit("neg", emit("log", emit("neg", emit("log", x))))


@public
def laplace(key, shape=(), dtype=None):
    """Floats of the Laplace distribution."""
    kind = float_kind("laplace", dtype)
    x = _between(one_key("laplace", key), shape_of("laplace", shape), kind, -1.0 + limits_of(numpy_of(kind)).epsneg, 1.0)
    return emit("mul", emit("sign", x), emit("log1p", emit("neg", emit("abs", x))))


@public
def logistic(key, shape=(), dtype=None):
    """Floats of the logistic distribution."""
    kind = float_kind("logistic", dtype)
    x = _between(one_key("logistic", key), shape_of("logistic", shape), kind, limits_of(numpy_of(kind)).tiny, 1.0)
    return emit("log", emit("div", x, emit("sub", filled(x, 1), x)))


@public
def cauchy(key, shape=(), dtype=None):
    """Floats of the Cauchy distribution."""
    kind = float_kind("cauchy", dtype)
    x = _between(one_key("cauchy", key), shape_of("cauchy", shape), kind, limits_of(numpy_of(kind)).eps, 1.0)
    return emit("tan", emit("mul", filled(x, np.pi), emit("sub", x, filled(x, 0.5))))


@public
def lognormal(key, sigma=1.0, shape=None, dtype=None):
    """exp(sigma z), z of the standard normal distribution."""
    kind = dtype_or(dtype, F32)
    kind = kind if kind in COMPLEX else float_kind("lognormal", dtype)
    width = converted(value("lognormal", sigma), kind)
    shape = width.shape if shape is None else shape_of("lognormal", shape)
    return emit("exp", emit("mul", normal(key, shape, numpy_of(kind)), expanded(width, shape)))


@public
def rademacher(key, shape=(), dtype=None):
    """-1 or 1, i32 unless `dtype` is given."""
    x = converted(bernoulli(key, 0.5, shape_of("rademacher", shape)), dtype_or(dtype, I32))
    return emit("sub", emit("mul", x, filled(x, 2)), filled(x, 1))


@public
def multivariate_normal(key, mean, cov, shape=None, dtype=None):
    """Vectors of the normal distribution with that mean and covariance, whose Cholesky factor must exist."""
    kind = float_kind("multivariate_normal", dtype)
    middle, spread = (converted(value("multivariate_normal", n), kind) for n in (mean, cov))
    if not middle.ndim or spread.shape[-2:] != (middle.shape[-1],) * 2:
        raise ValueError(f"multivariate_normal: mean has shape {middle.shape} and cov {spread.shape}; (..., n) and "
                         "(..., n, n) are expected")
    lead = broadcast_shapes_of("multivariate_normal", [middle.shape[:-1], spread.shape[:-2]])
    lead = lead if shape is None else shape_of("multivariate_normal", shape)
    draws = normal(key, (*lead, middle.shape[-1]), numpy_of(kind))
    return emit("add", expanded(middle, draws.shape), matvec(expanded(cholesky(spread), (*lead, *spread.shape[-2:])), draws))


@public
def bernoulli(key, p=0.5, shape=None):
    """True with probability `p`."""
    (chance,) = promoted("bernoulli", p, inexact=True)
    shape = chance.shape if shape is None else shape_of("bernoulli", shape)
    x = unit(one_key("bernoulli", key), shape, chance.kind)
    return emit("lt", x, expanded(chance, shape))


def _limited(v, kind):
    """An integer as `kind`, the nearest it holds."""
    info, own = np.iinfo(numpy_of(kind)), np.iinfo(v.dtype)
    low, high = builtins.max(info.min, own.min), builtins.min(info.max, own.max)
    return converted(emit("clamp", filled(v, low), v, filled(v, high)), kind)


@public
def randint(key, shape, minval, maxval, dtype=None):
    """Integers in [minval, maxval), i32 unless `dtype` is given."""
    kind, shape = dtype_or(dtype, I32), shape_of("randint", shape)
    if kind not in INTEGERS:
        raise TypeError(f"randint: dtype is {numpy_of(kind)}; an integer one is expected")
    low, high = (value("randint", n) for n in (minval, maxval))
    low, high = (v if v.kind in INTEGERS else converted(v, I32) for v in (low, high))
    info = np.iinfo(numpy_of(kind))
    if info.bits >= 32:
        return _integers(key, shape, low, high, kind)
    # Words of 32 bits, whose remainders are less uneven than those of narrow ones.
    limits = (low, info.min, info.max), (high, info.min, int(info.max) + 1)
    low, high = (emit("clamp", splat(a, I32, v.shape), converted(v, I32), splat(b, I32, v.shape)) for v, a, b in limits)
    return converted(_integers(key, shape, low, high, I32), kind)


def _integers(key, shape, low, high, kind):
    """Integers of 32 or 64 bits between two values."""
    greatest = np.iinfo(numpy_of(kind)).max
    over = emit("gt", high, filled(high, builtins.min(greatest, np.iinfo(high.dtype).max)))
    low, high = expanded(_limited(low, kind), shape), expanded(_limited(high, kind), shape)
    width = 8 * numpy_of(kind).itemsize
    first, second = two_keys("randint", key)
    upper, lower = _bits(first, width, shape), _bits(second, width, shape)
    word = number_of_dtype(f"uint{width}")
    span = converted(emit("sub", high, low), word)
    one = filled(span, 1)
    span = emit("select_n", emit("le", high, low), span, one)
    longer = emit("and", expanded(over, shape), emit("gt", high, low))
    span = emit("select_n", longer, span, emit("add", span, one))
    # Of 2^(2 width) numbers the remainder, in words: (upper mod span) * (2^width mod span) + lower mod span.
    half = emit("rem", filled(span, 2 ** (width // 2)), span)
    factor = emit("rem", emit("mul", half, half), span)
    offset = emit("add", emit("mul", emit("rem", upper, span), factor), emit("rem", lower, span))
    return emit("add", low, converted(emit("rem", offset, span), kind))


def _shuffled(key, x, axis):
    rounds = int(np.ceil(3 * np.log(builtins.max(1, x.size)) / np.log(np.iinfo(np.uint32).max)))
    for _ in range(rounds):
        keys = emit("random_split", key, shape=[2])
        key, own = current().emit("unstack", [keys], {"axis": 0})
        x = current().emit("sort", [_bits(own, 32, x.shape), x], {"dimension": axis, "num_keys": 1})[1]
    return x


@public
def permutation(key, x, axis=0, independent=False):
    """An array with its slices along `axis` in a random order; of an integer, of arange(x)."""
    k = one_key("permutation", key)
    if isinstance(x, (int, np.integer)):
        return _shuffled(k, arange(int(x)), 0)
    v = value("permutation", x)
    d = axis_of("permutation", axis, v.ndim)
    if independent or v.ndim == 1:
        return _shuffled(k, v, d)
    return taken(v, (slice(None),) * d + (_shuffled(k, arange(v.shape[d]), 0),))


@public
def categorical(key, logits, axis=-1, shape=None):
    """Indices along `axis`, i32, with the logarithms of probabilities `logits`."""
    (v,) = promoted("categorical", logits, inexact=True)
    d = axis_of("categorical", axis, v.ndim)
    batch = tuple(n for i, n in enumerate(v.shape) if i != d)
    shape = batch if shape is None else shape_of("categorical", shape)
    lead = shape[:len(shape) - len(batch)]
    dim = d + len(lead)
    whole = [*shape]
    whole.insert(dim, v.shape[d])
    return argmax(emit("add", gumbel(key, whole, numpy_of(v.kind)), expanded(v, whole)), axis=dim)


@public
def choice(key, a, shape=(), replace=True, p=None, axis=0):
    """Elements of `a` (of arange(a) if it is an integer) along `axis`, by the probabilities `p`."""
    shape = shape_of("choice", shape)
    v = arange(int(a)) if isinstance(a, (int, np.integer)) else moveaxis(asarray(a), axis, 0)
    n, draws = v.shape[0], math.prod(shape)
    if not replace and draws > n:
        raise ValueError(f"choice: {draws} draws from {n} elements without replacement")
    if p is None and replace:
        index = randint(key, shape, 0, n)
    elif p is None:
        return _reshaped(permutation(key, v)[:draws], (*shape, *v.shape[1:]))
    elif replace:
        total = cumsum(asarray(p))
        r = multiply(total[-1], subtract(1, uniform(key, shape, total.dtype)))
        index = searchsorted(total, ravel(r))
        index = _reshaped(index, shape)
    else:
        g = subtract(0, gumbel(key, (n,), asarray(p).dtype)) - log(asarray(p))
        index = _reshaped(argsort(g)[:draws], shape)
    return taken(v, index)


def _reshaped(x, shape):
    return emit("reshape", x, new_sizes=shape)


__all__ += ["key_dtype", "key_impl"]  # noqa: F821, made by `public`
