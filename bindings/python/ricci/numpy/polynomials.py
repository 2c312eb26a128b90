"""Polynomials of jax.numpy: vectors of coefficients, the one of the highest power first."""
import operator

import numpy as np

from ..tracing.operands import broadcast_shapes_of, emit, expanded, promoted, public, value
from ..transforms.loops import scan
from .creation import zeros
from .elementwise import divide, multiply, power
from .filters import convolve
from .joining import concatenate
from .least_squares import lstsq
from .reductions import sum as total
from .shaping import expand_dims, transpose


def _vectors(function, *given, inexact=False):
    values = promoted(function, *given, inexact=inexact)
    for v in values:
        if v.ndim != 1:
            raise ValueError(f"{function}: an array has {v.ndim} dimensions; a vector of coefficients is expected")
    return values


@public
def polyval(p, x, *, unroll=16):
    """The value at `x` of the polynomial with the coefficients `p`, along their first dimension; by Horner's scheme."""
    c, v = promoted("polyval", p, x)
    if not c.ndim:
        raise ValueError("polyval: p is a number; coefficients along a dimension are expected")
    shape = broadcast_shapes_of("polyval", [c.shape[1:], v.shape])
    start = expanded(zeros((), v.dtype), shape)
    return scan(lambda y, own: (y * v + own, None), start, c, unroll=max(min(unroll, c.shape[0]), 1))[0]


def _added(function, combine, a1, a2):
    x, y = _vectors(function, a1, a2)
    n = max(x.size, y.size)
    x, y = (concatenate([zeros(n - v.size, v.dtype), v]) if v.size < n else v for v in (x, y))
    return emit(combine, x, y)


@public
def polyadd(a1, a2):
    """The sum of two polynomials."""
    return _added("polyadd", "add", a1, a2)


@public
def polysub(a1, a2):
    """The difference of two polynomials."""
    return _added("polysub", "sub", a1, a2)


@public
def polymul(a1, a2, *, trim_leading_zeros=False):
    """The product of two polynomials."""
    if trim_leading_zeros:
        raise ValueError("polymul: trim_leading_zeros is True; a result whose size depends on data is not there")
    x, y = _vectors("polymul", a1, a2, inexact=True)
    return convolve(*(v if v.size else zeros(1, v.dtype) for v in (x, y)))


def _order(function, m):
    m = operator.index(m)
    if m < 0:
        raise ValueError(f"{function}: m is {m}; it must not be negative")
    return m


def _falling(n, m):
    """n (n - 1) ... (n - m + 1) for each of `n`, where factors below 1 count as 1."""
    return np.prod([np.maximum(n - i, 1.0) for i in range(m)], axis=0, dtype=np.float64)


@public
def polyder(p, m=1):
    """The derivative number `m`."""
    (x,), m = _vectors("polyder", p, inexact=True), _order("polyder", m)
    if not m:
        return x
    kept = x[:max(x.size - m, 0)]
    return multiply(kept, _falling(np.arange(m, m + kept.size)[::-1], m).astype(x.dtype))


@public
def polyint(p, m=1, k=None):
    """The integral number `m`; `k` are its constants, the one of the highest power first, or a number for all."""
    x, own = promoted("polyint", p, 0 if k is None else k, inexact=True)
    m = _order("polyint", m)
    if own.ndim > 1 or own.size not in (1, m) or x.ndim != 1:
        raise ValueError(f"polyint: arrays of shapes {x.shape} and {own.shape} are given; a vector of coefficients, and 1 "
                         f"or {m} constants are expected")
    if not m:
        return x
    every = concatenate([x, expanded(emit("reshape", own, new_sizes=[own.size]), (m,))])
    return divide(every, _falling(np.arange(every.size)[::-1], m).astype(x.dtype))


@public
def vander(x, N=None, increasing=False):
    """The powers of a vector as columns: from N - 1 to 0, or from 0 on if `increasing`."""
    v = value("vander", x)
    if v.ndim != 1:
        raise ValueError(f"vander: the array has {v.ndim} dimensions; a vector is expected")
    n = v.size if N is None else operator.index(N)
    if n < 0:
        raise ValueError(f"vander: N is {n}; it must not be negative")
    powers = np.arange(n, dtype=v.dtype)
    return power(expand_dims(v, 1), powers if increasing else powers[::-1])


@public
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The coefficients of the polynomial of degree `deg` with the least squared distance from (x, y), `y` a vector or
    columns; `w` are weights of the distances. `full` adds residuals, rank, singular values and rcond."""
    if cov:
        raise ValueError("polyfit: cov is not there")
    points, values = promoted("polyfit", x, y, inexact=True)
    if points.ndim != 1 or not points.size or values.ndim not in (1, 2) or values.shape[0] != points.size:
        raise ValueError(f"polyfit: x and y have shapes {points.shape} and {values.shape}; a vector, and as many rows are "
                         "expected")
    rcond = points.size * float(np.finfo(points.dtype).eps) if rcond is None else rcond
    columns = vander(points, _order("polyfit", deg) + 1)
    if w is not None:
        (own,) = _vectors("polyfit", w)
        columns = multiply(columns, expand_dims(own, 1))
        values = transpose(multiply(transpose(values), own))
    scale = emit("sqrt", total(multiply(columns, columns), 0))
    found, residuals, rank, s = lstsq(divide(columns, scale), values, rcond)
    found = transpose(divide(transpose(found), scale))
    return (found, residuals, rank, s, rcond) if full else found
