"""Functions of jax.nn: activations, softmax, one_hot."""
import numpy as np

from .dtypes import numpy_of
from .numpy_elementwise import filled
from .numpy_elementwise import logaddexp as _logaddexp
from .numpy_operands import axes_of, converted, dtype_or, emit, expanded, promoted, public, value
from .numpy_reductions import max as _greatest
from .numpy_reductions import sum as _total
from .promotion import F32


def _float(function, x):
    return promoted(function, x, inexact=True)[0]


@public
def relu(x):
    """max(x, 0), whose derivative at 0 is 0."""
    v = value("relu", x)
    zero = filled(v, 0)
    return emit("select_n", emit("gt", v, zero), zero, v)


@public
def relu6(x):
    """min(max(x, 0), 6)."""
    v = value("relu6", x)
    return emit("min", emit("max", v, filled(v, 0)), filled(v, 6))


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


__all__.append("swish")  # noqa: F821, made by `public`
