"""Functions of jax.numpy of signals: convolutions and windows."""
import operator

import numpy as np

from ..tracing.operands import converted, dtype_or, emit, promoted, public, splat
from ..tracing.promotion import COMPLEX, F32, REAL_FLOATS
from .choices import conj
from .creation import arange
from .elementwise import abs as absolute
from .elementwise import divide, multiply, subtract
from .shaping import reshape

# ---- convolutions ----


def _reversed(x):
    return emit("rev", x, dimensions=[0])


def _two(function, a, v, mode, dtype):
    """Both vectors in one type, and the zeros before and after the longer one."""
    x, y = promoted(function, a, v, inexact=dtype is None)
    if x.ndim != 1 or y.ndim != 1 or not x.size or not y.size:
        raise ValueError(f"{function}: arrays of shapes {x.shape} and {y.shape} are given; vectors with elements are "
                         "expected")
    n = min(x.size, y.size)
    low = {"valid": 0, "same": n // 2, "full": n - 1}.get(mode)
    if low is None:
        raise ValueError(f"{function}: mode is {mode!r}; it must be full, same or valid")
    kind = dtype_or(dtype, x.kind)
    return converted(x, kind), converted(y, kind), [low, n - 1 - low if mode == "same" else low]


def _slid(x, y, padding):
    """The sum of products of `y` and each window of `x`."""
    x, y = (reshape(v, (1, 1, v.size)) for v in (x, y))
    found = emit("conv_general_dilated", x, y, window_strides=[1], padding=padding, lhs_spec=[0, 1, 2],
                 rhs_spec=[0, 1, 2], out_spec=[0, 1, 2])
    return reshape(found, (found.size,))


@public
def convolve(a, v, mode="full", *, precision=None, preferred_element_type=None):
    """sum(a[i] v[k - i]) for each k: all (full), as many as the longer vector has (same), or without ends (valid)."""
    x, y, padding = _two("convolve", a, v, mode, preferred_element_type)
    if x.size < y.size:
        x, y = y, x
    return _slid(x, _reversed(y), padding)


@public
def correlate(a, v, mode="valid", *, precision=None, preferred_element_type=None):
    """sum(a[i + k] conj(v[i])) for each k; `mode` as in `convolve`."""
    x, y, padding = _two("correlate", a, v, mode, preferred_element_type)
    y = conj(y) if y.kind in COMPLEX else y
    return _slid(x, y, padding) if x.size >= y.size else _reversed(_slid(y, x, padding))


# ---- windows ----


def _window(name, of, doc):
    def function(M):
        n = operator.index(M)
        numbers = np.ones(max(n, 0)) if n <= 1 else of(n)
        return splat(numbers.astype(np.float32), F32, numbers.shape)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc}: M weights, f32."
    return public(function)


bartlett = _window("bartlett", np.bartlett, "A triangle from 0 over 1 to 0")
blackman = _window("blackman", np.blackman, "0.42 - 0.5 cos(2 pi n / (M - 1)) + 0.08 cos(4 pi n / (M - 1))")
hamming = _window("hamming", np.hamming, "0.54 - 0.46 cos(2 pi n / (M - 1))")
hanning = _window("hanning", np.hanning, "0.5 - 0.5 cos(2 pi n / (M - 1))")


@public
def i0(x):
    """The modified Bessel function of order 0."""
    (v,) = promoted("i0", x, inexact=True)
    if v.kind not in REAL_FLOATS:
        raise TypeError(f"i0: an operand is {v.dtype}; real numbers are expected")
    size = absolute(v)
    return multiply(emit("exp", size), emit("bessel_i0e", size))


@public
def kaiser(M, beta):
    """i0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / i0(beta): M weights."""
    n = operator.index(M)
    (b,) = promoted("kaiser", beta, inexact=True)
    if n <= 1:
        return splat(1, F32, (max(n, 0),))
    position = subtract(divide(arange(n, dtype=np.float32), (n - 1) / 2), 1)
    inside = emit("sqrt", emit("max", subtract(1, multiply(position, position)), splat(0, F32, (n,))))
    return divide(i0(multiply(b, inside)), i0(b))
