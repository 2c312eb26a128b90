"""Functions of jax.nn: activations, softmax, one_hot."""
import math

import numpy as np

from ..abi.dtypes import numpy_of
from ..numpy import elementwise as _np
from ..numpy.choices import clip as _clip
from ..numpy.choices import where as _where
from ..numpy.elementwise import logaddexp as _logaddexp
from ..numpy.joining import pieces
from ..numpy.reductions import max as _greatest
from ..numpy.reductions import mean as _mean
from ..numpy.reductions import sum as _total
from ..tracing.operands import axes_of, axis_of, converted, dtype_or, emit, expanded, filled, promoted, public, value
from ..tracing.promotion import F32
from . import attention
from .attention import *  # noqa: F403


def _float(function, x):
    return promoted(function, x, inexact=True)[0]


@public
def relu(x):
    """max(x, 0), whose derivative at 0 is 0."""
    v = value("relu", x)
    zero = filled(v, 0)
    return emit("select_n", emit("le", v, zero), v, zero)


@public
def relu6(x):
    """min(max(x, 0), 6), whose derivative at 0 and 6 is 0."""
    v = value("relu6", x)
    six = filled(v, 6)
    return emit("select_n", emit("ge", v, six), relu(v), six)


@public
def sigmoid(x):
    """1 / (1 + exp(-x))."""
    return emit("logistic", _float("sigmoid", x))


@public
def softplus(x):
    """log(1 + exp(x))."""
    return _logaddexp(x, 0)


@public
def log_sigmoid(x):
    """log(sigmoid(x))."""
    v = _float("log_sigmoid", x)
    return emit("neg", softplus(emit("neg", v)))


@public
def silu(x):
    """x sigmoid(x)."""
    v = _float("silu", x)
    return emit("mul", v, emit("logistic", v))


swish = silu


@public
def tanh(x):
    """The hyperbolic tangent."""
    return emit("tanh", _float("tanh", x))


@public
def elu(x, alpha=1.0):
    """x above 0, alpha (exp(x) - 1) below."""
    v = _float("elu", x)
    zero = filled(v, 0)
    above = emit("gt", v, zero)
    safe = emit("select_n", above, v, zero)
    low = emit("mul", converted(expanded(value("elu", alpha), v.shape), v.kind), emit("expm1", safe))
    return emit("select_n", above, low, v)


@public
def leaky_relu(x, negative_slope=0.01):
    """x above 0, negative_slope x below."""
    v = _float("leaky_relu", x)
    slope = converted(expanded(value("leaky_relu", negative_slope), v.shape), v.kind)
    return emit("select_n", emit("ge", v, filled(v, 0)), emit("mul", slope, v), v)


@public
def gelu(x, approximate=True):
    """x times the normal distribution up to x; by tanh if `approximate`."""
    v = _float("gelu", x)
    half, one = filled(v, 0.5), filled(v, 1)
    if not approximate:
        scaled = emit("div", emit("neg", v), filled(v, np.sqrt(2)))
        return emit("mul", emit("mul", half, v), emit("erfc", scaled))
    cubic = emit("add", v, emit("mul", filled(v, 0.044715), emit("integer_pow", v, y=3)))
    inner = emit("mul", filled(v, np.sqrt(2 / np.pi)), cubic)
    return emit("mul", v, emit("mul", half, emit("add", one, emit("tanh", inner))))


@public
def identity(x):
    """x."""
    return value("identity", x)


@public
def celu(x, alpha=1.0):
    """x above 0, alpha (exp(x / alpha) - 1) below."""
    v = _float("celu", x)
    return _np.add(_np.maximum(v, 0), _np.multiply(alpha, _np.expm1(_np.divide(_np.minimum(v, 0), alpha))))


@public
def selu(x):
    """`elu` with the scale and alpha that keep mean 0 and variance 1 (Klambauer et al. 2017)."""
    return _np.multiply(1.0507009873554805, elu(x, 1.6732632423543772))


@public
def glu(x, axis=-1):
    """The first half along `axis` times the sigmoid of the second."""
    v = _float("glu", x)
    d = axis_of("glu", axis, v.ndim)
    if v.shape[d] % 2:
        raise ValueError(f"glu: dimension {d} has size {v.shape[d]}; an even one is expected")
    first, second = pieces("glu", v, d, [v.shape[d] // 2])
    return emit("mul", first, emit("logistic", second))


@public
def hard_sigmoid(x):
    """relu6(x + 3) / 6."""
    return _np.divide(relu6(_np.add(x, 3)), 6.0)


@public
def hard_silu(x):
    """x hard_sigmoid(x)."""
    return _np.multiply(x, hard_sigmoid(x))


hard_swish = hard_silu


@public
def hard_tanh(x):
    """x between -1 and 1, these outside."""
    return _where(_np.greater(x, 1), 1, _where(_np.less(x, -1), -1, x))


@public
def soft_sign(x):
    """x / (|x| + 1)."""
    v = _float("soft_sign", x)
    return emit("div", v, emit("add", emit("abs", v), filled(v, 1)))


@public
def mish(x):
    """x tanh(softplus(x))."""
    v = _float("mish", x)
    return emit("mul", v, emit("tanh", softplus(v)))


@public
def squareplus(x, b=4):
    """(x + sqrt(x^2 + b)) / 2."""
    v = _float("squareplus", x)
    return _np.divide(_np.add(v, _np.sqrt(_np.add(_np.square(v), b))), 2)


@public
def sparse_plus(x):
    """0 below -1, (x + 1)^2 / 4 between, x above 1."""
    v = _float("sparse_plus", x)
    middle = _np.divide(_np.square(_np.add(v, 1)), 4)
    return _where(_np.less_equal(v, -1), 0, _where(_np.greater_equal(v, 1), v, middle))


@public
def sparse_sigmoid(x):
    """(x + 1) / 2, limited to [0, 1]."""
    return _np.multiply(0.5, _clip(_np.add(_float("sparse_sigmoid", x), 1), 0, 2))


@public
def standardize(x, axis=-1, mean=None, variance=None, epsilon=1e-05, where=None):
    """(x - mean) / sqrt(variance + epsilon), along `axis`."""
    v = _float("standardize", x)
    axes = axes_of("standardize", axis, v.ndim)
    if mean is None:
        mean = _mean(v, axes, keepdims=True, where=where)
    if variance is None:
        variance = _np.subtract(_mean(_np.square(v), axes, keepdims=True, where=where), _np.square(mean))
    return _np.multiply(_np.subtract(v, mean), emit("rsqrt", value("standardize", _np.add(variance, epsilon))))


def _shifted(function, x, axis):
    """x less its greatest element along `axis`, which has no derivative."""
    v = _float(function, x)
    axes = axes_of(function, axis, v.ndim)
    top = emit("stop_gradient", _greatest(v, axes, keepdims=True))
    return v, emit("sub", v, expanded(top, v.shape)), axes


@public
def softmax(x, axis=-1):
    """exp(x) over its sum along `axis`."""
    v, shifted, axes = _shifted("softmax", x, axis)
    e = emit("exp", shifted)
    return emit("div", e, expanded(_total(e, axes, keepdims=True), v.shape))


@public
def log_softmax(x, axis=-1):
    """The logarithm of `softmax`."""
    v, shifted, axes = _shifted("log_softmax", x, axis)
    total = emit("log", _total(emit("exp", shifted), axes, keepdims=True))
    return emit("sub", shifted, expanded(total, v.shape))


@public
def logsumexp(a, axis=None, b=None, keepdims=False):
    """log(sum(b exp(a))) along `axis`, without overflow."""
    v = _float("logsumexp", a)
    axes = axes_of("logsumexp", axis, v.ndim)
    top = emit("stop_gradient", _greatest(v, axes, keepdims=True))
    top = emit("select_n", emit("is_finite", top), filled(top, 0), top)
    e = emit("exp", emit("sub", v, expanded(top, v.shape)))
    if b is not None:
        e = emit("mul", e, expanded(converted(value("logsumexp", b), v.kind), v.shape))
    found = emit("add", emit("log", _total(e, axes, keepdims=True)), top)
    return found if keepdims else emit("reshape", found, new_sizes=[n for d, n in enumerate(v.shape) if d not in axes])


@public
def one_hot(x, num_classes, *, dtype=None, axis=-1):
    """1 at the class that x has along a new last dimension, else 0."""
    v = value("one_hot", x)
    shape = (*v.shape, num_classes)
    classes = emit("iota", dtype=v.dtype, shape=shape, dimension=v.ndim)
    hit = emit("eq", emit("broadcast_in_dim", v, shape=shape, broadcast_dimensions=range(v.ndim)), classes)
    found = emit("convert_element_type", hit, new_dtype=numpy_of(dtype_or(dtype, F32)))
    if axis in (-1, v.ndim):
        return found
    order = list(range(v.ndim))
    order.insert(axis, v.ndim)
    return emit("transpose", found, permutation=order)


@public
def log1mexp(x):
    """log(1 - exp(-x)) of positive numbers, by whichever formula is exact there.

    M. Maechler, "Accurately computing log(1 - exp(-|a|))", 2012.
    """
    v = _float("log1mexp", x)
    is_small, one = emit("lt", v, filled(v, math.log(2))), filled(v, 1)
    # Each formula gets 1 where the other one counts, so that derivatives there are not NaN.
    small, large = emit("select_n", is_small, one, v), emit("select_n", is_small, v, one)
    return emit("select_n", is_small, emit("log1p", emit("neg", emit("exp", emit("neg", large)))),
                emit("log", emit("neg", emit("expm1", emit("neg", small)))))


@public
def logmeanexp(x, axis=None, where=None, keepdims=False):
    """log(mean(exp(x))) along `axis`, of the elements where `where` holds, without overflow."""
    v = _float("logmeanexp", x)
    ones = filled(v, 1)
    if where is not None:
        kept = expanded(value("logmeanexp", where), v.shape)
        ones, v = emit("select_n", kept, filled(v, 0), ones), emit("select_n", kept, filled(v, -np.inf), v)
    return _np.subtract(logsumexp(v, axis, None, keepdims), _np.log(_total(ones, axis, keepdims=keepdims)))


__all__ += ["swish", "hard_swish", *attention.__all__]  # noqa: F821, made by `public`


def __getattr__(name):
    raise AttributeError(f"module 'ricci.nn' has no attribute {name!r}; ricci.from_jax imports functions of jax.nn")
