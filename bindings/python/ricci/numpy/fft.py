"""Functions of jax.numpy.fft: discrete Fourier transforms, along three dimensions at most.

Real operands of the complex transforms become complex, f16 and bf16 become f32. `n` and `s` are lengths: the operand is
cut or padded with zeros at the end. `norm` says where the factor 1/n is: backward (None; in the inverse), ortho (its root
in both) or forward.
"""
import math
import operator

from ..abi.dtypes import numpy_of
from ..tracing.operands import axes_of, axis_of, converted, dtype_or, emit, promoted, public, splat, value
from ..tracing.promotion import COMPLEX, F32, complex_of
from .choices import conj
from .creation import arange
from .elementwise import divide, multiply, subtract
from .joining import concatenate, pieces, roll
from .reductions import wide
from .shaping import moveaxis


def _factor(function, norm, points, inverse):
    """What the result of the primitive, which scales the inverse by 1 / points, is multiplied with."""
    if norm in (None, "backward"):
        return 1
    if norm not in ("ortho", "forward"):
        raise ValueError(f"{function}: norm is {norm!r}; it must be backward, ortho or forward")
    factor = math.sqrt(points) if norm == "ortho" else points
    return factor if inverse else 1 / factor


def _fitted(function, x, n, axis):
    if x.shape[axis] >= n:
        return pieces(function, x, axis, [n])[0] if x.shape[axis] > n else x
    high = [n - x.shape[d] if d == axis else 0 for d in range(x.ndim)]
    return emit("pad", x, splat(0, x.kind, ()), low=[0] * x.ndim, high=high, interior=[0] * x.ndim)


def _operand(function, a, kind):
    (x,) = promoted(function, a, inexact=True)
    own = wide(x.kind)
    if kind != "RFFT":
        return converted(x, complex_of(own), weak=False)
    if own in COMPLEX:
        raise TypeError(f"{function}: the array is {numpy_of(own)}; it must be real")
    return converted(x, own, weak=False)


def _transform(function, kind, x, axes, lengths, norm):
    """Of an operand, along `axes`, to results of `lengths` elements (a half of the last one is the operand of IRFFT)."""
    if len(axes) > 3:
        raise ValueError(f"{function}: {len(axes)} dimensions are transformed; at most 3 are possible")
    if any(n < 1 for n in lengths):
        raise ValueError(f"{function}: the lengths are {tuple(lengths)}; each must be at least 1")
    if not axes:
        return x
    last = tuple(range(x.ndim - len(axes), x.ndim))
    x = moveaxis(x, axes, last)
    for d, n in zip(last, lengths):
        x = _fitted(function, x, n // 2 + 1 if kind == "IRFFT" and d == last[-1] else n, d)
    found = emit("fft", x, fft_type=kind, fft_lengths=lengths)
    factor = _factor(function, norm, math.prod(lengths), kind in ("IFFT", "IRFFT"))
    return moveaxis(found if factor == 1 else multiply(found, factor), last, axes)


def _lengths(kind, x, axes):
    """Of the result where none are given."""
    found = [x.shape[d] for d in axes]
    if kind == "IRFFT" and found:
        found[-1] = 2 * (found[-1] - 1)
    return found


def _along(function, kind, a, n, axis, norm):
    x = _operand(function, a, kind)
    axes = (axis_of(function, axis, x.ndim),)
    return _transform(function, kind, x, axes, _lengths(kind, x, axes) if n is None else [operator.index(n)], norm)


def _along_all(function, kind, a, s, axes, norm):
    x = _operand(function, a, kind)
    if axes is None:
        if s is not None and len(s) > x.ndim:
            raise ValueError(f"{function}: {len(s)} lengths are given; the array has {x.ndim} dimensions")
        axes = range(x.ndim if s is None else len(s))
        axes = [x.ndim - len(axes) + d for d in axes]
    axes = axes_of(function, tuple(axes), x.ndim)
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{function}: {len(s)} lengths and {len(axes)} axes are given")
    return _transform(function, kind, x, axes, _lengths(kind, x, axes) if s is None else list(map(operator.index, s)), norm)


_KINDS = {"fft": ("FFT", "The transform"), "ifft": ("IFFT", "The inverse transform"),
          "rfft": ("RFFT", "The first n / 2 + 1 elements of the transform of real numbers"),
          "irfft": ("IRFFT", "The real inverse transform of n / 2 + 1 elements")}


def _define(name, kind, doc):
    def one(a, n=None, axis=-1, norm=None):
        return _along(name, kind, a, n, axis, norm)

    def two(a, s=None, axes=(-2, -1), norm=None):
        return _along_all(f"{name}2", kind, a, s, axes, norm)

    def several(a, s=None, axes=None, norm=None):
        return _along_all(f"{name}n", kind, a, s, axes, norm)
    for function, own, where in ((one, name, "`axis`"), (two, f"{name}2", "two dimensions"),
                                 (several, f"{name}n", "`axes`: all, or as many last ones as `s` has")):
        function.__name__ = function.__qualname__ = own
        function.__doc__ = f"{doc}, along {where}."
        globals()[own] = public(function)


for _name, (_kind, _doc) in _KINDS.items():
    _define(_name, _kind, _doc)


def _exchanged(norm):
    """The norm of the transform in the other direction."""
    return {None: "forward", "backward": "forward", "forward": "backward"}.get(norm, norm)


@public
def hfft(a, n=None, axis=-1, norm=None):
    """The real transform of the first n / 2 + 1 elements of a signal whose others are their conjugates."""
    return _along("hfft", "IRFFT", conj(value("hfft", a)), n, axis, _exchanged(norm))


@public
def ihfft(a, n=None, axis=-1, norm=None):
    """The inverse of `hfft`."""
    return conj(_along("ihfft", "RFFT", a, n, axis, _exchanged(norm)))


def _positive(function, n):
    n = operator.index(n)
    if n < 1:
        raise ValueError(f"{function}: n is {n}; it must be at least 1")
    return n


@public
def fftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of the elements of a transform of `n` points at the distance `d`."""
    n = _positive("fftfreq", n)
    i = arange(n, dtype=numpy_of(dtype_or(dtype, F32)))
    before, after = pieces("fftfreq", i, 0, [(n + 1) // 2])
    return divide(concatenate([before, subtract(after, n)]), multiply(d, n))


@public
def rfftfreq(n, d=1.0, *, dtype=None, device=None):
    """The frequencies of the n / 2 + 1 elements of a transform of `n` real numbers at the distance `d`."""
    n = _positive("rfftfreq", n)
    return divide(arange(n // 2 + 1, dtype=numpy_of(dtype_or(dtype, F32))), multiply(d, n))


def _shifted(function, x, axes, more):
    x = value(function, x)
    axes = axes_of(function, axes, x.ndim)
    return roll(x, tuple((x.shape[d] + more) // 2 for d in axes), axes) if axes else x


@public
def fftshift(x, axes=None):
    """The frequency 0 moved to the middle of `axes` (all)."""
    return _shifted("fftshift", x, axes, 0)


@public
def ifftshift(x, axes=None):
    """The inverse of `fftshift`."""
    return _shifted("ifftshift", x, axes, 1)
