"""Arrays of given numbers, as by jax.numpy."""
import builtins
import math

import numpy as np

from ..abi.dtypes import numpy_of
from ..tracing.operands import (common_kind, converted, dtype_or, emit, expanded, public, shape_of, shape_of_value,
                                splat, value, weakened)
from ..tracing.promotion import BOOL, F32, F64, I32, INTEGERS, U64, real_of
from ..tracing.trace import current
from ..tracing.value import Value, refuse

_MOST_ELEMENTS = 2**62  # of an array


@public
def zeros(shape, dtype=None, *, device=None):
    """Zeros, f32 unless `dtype` is given."""
    return splat(0, dtype_or(dtype, F32), shape_of("zeros", shape))


@public
def ones(shape, dtype=None, *, device=None):
    """Ones, f32 unless `dtype` is given."""
    return splat(1, dtype_or(dtype, F32), shape_of("ones", shape))


@public
def empty(shape, dtype=None, *, device=None):
    """Zeros: memory always has contents."""
    return zeros(shape, dtype)


@public
def full(shape, fill_value, dtype=None, *, device=None):
    """An array of `fill_value`, broadcast to `shape`."""
    found = value("full", fill_value)
    own = converted(found, dtype_or(dtype, found.kind), weak=found.weak and dtype is None)
    return weakened(expanded(own, shape_of("full", shape)), [own])


def _like(name, number):
    def function(a, dtype=None, shape=None, *, device=None):
        kind, weak = common_kind(name, [a])
        found = splat(number, dtype_or(dtype, kind), shape_of_value(a) if shape is None else shape_of(name, shape))
        return converted(found, found.kind, weak=weak and dtype is None)
    function.__name__, function.__doc__ = name, f"{name.split('_')[0]} in the shape and type of `a`."
    return public(function)


zeros_like, ones_like, empty_like = _like("zeros_like", 0), _like("ones_like", 1), _like("empty_like", 0)


@public
def full_like(a, fill_value, dtype=None, shape=None, *, device=None):
    """`fill_value` in the shape and type of `a`."""
    kind, weak = common_kind("full_like", [a])
    found = full(shape_of_value(a) if shape is None else shape, fill_value, numpy_of(kind) if dtype is None else dtype)
    return converted(found, found.kind, weak=weak and dtype is None)


def static(function, *numbers):
    """Numbers that determine a size must be known."""
    for x in numbers:
        if isinstance(x, Value):
            refuse(x, f"{function}: the size of the result, which follows from", "make it one of static_argnums")
    return numbers


def _count(first, last, by):
    """How many of first, first + by, ... come before `last`; exact for integers."""
    text = f"arange: from {first} to {last} by {by}"
    if builtins.any(isinstance(x, complex) for x in (first, last, by)):
        raise ValueError(f"{text}; these must be real numbers")
    if by == 0:
        raise ValueError("arange: step is 0")
    if builtins.all(isinstance(x, int) for x in (first, last, by)):
        count = -((first - last) // by)
        if count > _MOST_ELEMENTS:
            raise ValueError(f"{text} are too many elements")
    else:
        count = (last - first) / by
        if not builtins.abs(count) < 1e15:
            raise ValueError(f"{text} has no end")
    return builtins.max(math.ceil(count), 0)


@public
def arange(start, stop=None, step=None, dtype=None, *, device=None):
    """start, start + step, ... below stop; i32, or f32 if a number has a fraction, unless `dtype` is given."""
    given = [x.item() if isinstance(x, (np.generic, np.ndarray)) and x.ndim == 0 else x
             for x in static("arange", start, stop, step)]
    first, last, by = (0, given[0], 1) if stop is None else (given[0], given[1], 1)
    by = by if step is None else given[2]
    count = _count(first, last, by)
    kind = dtype_or(dtype, common_kind("arange", [x for x in (start, stop, step) if x is not None])[0])
    if kind == BOOL:
        raise TypeError(f"arange: from {first} to {last} by {by} cannot be of bool; give another dtype")
    ends = first, first + builtins.max(count - 1, 0) * by
    if dtype is None and kind == U64 and builtins.min(ends) < 0:
        raise ValueError(f"arange: from {first} to {last} by {by}: no integer type holds all of it; give a dtype")
    # As jax.numpy: all is computed in the type of the result, of 16 bits and fewer in f32 if there is a step.
    own = real_of(kind)
    narrow = step is not None and own not in (*INTEGERS, F32, F64)
    index = emit("iota", dtype=numpy_of(F32 if narrow else own), shape=[count], dimension=0)
    if step is not None:
        index = emit("mul", index, splat(by, index.kind, [count]))
    return converted(index if first == 0 else emit("add", index, splat(first, index.kind, [count])), kind)


@public
def eye(N, M=None, k=0, dtype=None, *, device=None):
    """Ones on the diagonal number `k` of N rows and M columns."""
    n, m, k = static("eye", N, N if M is None else M, k)
    rows = emit("iota", dtype="int32", shape=[n, m], dimension=0)
    columns = emit("iota", dtype="int32", shape=[n, m], dimension=1)
    return converted(emit("eq", emit("add", rows, splat(k, I32, [n, m])), columns), dtype_or(dtype, F32))


@public
def identity(n, dtype=None):
    """The identity matrix."""
    return eye(n, dtype=dtype)


@public
def tri(N, M=None, k=0, dtype=None):
    """Ones on and below the diagonal number `k`."""
    n, m, k = static("tri", N, N if M is None else M, k)
    return converted(below_diagonal(n, m, k), dtype_or(dtype, F32))


def below_diagonal(n, m, k):
    """Where the column is at most the row + k."""
    rows = emit("iota", dtype="int32", shape=[n, m], dimension=0)
    columns = emit("iota", dtype="int32", shape=[n, m], dimension=1)
    return emit("ge", emit("add", rows, splat(k, I32, [n, m])), columns)


@public
def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """A list with each vector repeated along the dimensions of the others."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is {indexing!r}; it must be xy or ij")
    values = [value("meshgrid", x) for x in xi]
    order = list(range(len(values)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = 1, 0
    shape = [0] * len(values)
    for v, d in zip(values, order):
        if v.ndim > 1:
            raise ValueError(f"meshgrid: an array has {v.ndim} dimensions; vectors are expected")
        shape[d] = v.size
    found = []
    for v, d in zip(values, order):
        own = [n if i == d and sparse or not sparse else 1 for i, n in enumerate(shape)]
        v = emit("reshape", v, new_sizes=[v.size])
        found.append(emit("broadcast_in_dim", v, shape=own, broadcast_dimensions=[d]))
    return found


@public
def from_dlpack(x, /, *, device=None, copy=None):
    """An array of another library as a value."""
    return current().lift(np.from_dlpack(x))


@public
def copy(a, order=None):
    """The array itself: arrays of programs are immutable."""
    return value("copy", a)
