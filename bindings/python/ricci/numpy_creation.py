"""Arrays made from nothing or from the host's data, as by jax.numpy."""
import builtins
import math

import numpy as np

from .dtypes import numpy_of
from .numpy_operands import (broadcast_shapes_of, common_kind, converted, dtype_or, emit, expanded, public,
                             shape_of, shape_of_value, splat, value, weakened)
from .promotion import (BOOL, COMPLEX, F32, F64, I32, INTEGERS, U64, inexact_of, number_of_dtype, number_of_scalar,
                        real_of, result_type)
from .tracing import current, is_number
from .tree import leaves
from .value import Value, refuse

_MOST_ELEMENTS = 2**62  # of an array


@public
def asarray(a, dtype=None, order=None, *, copy=None, device=None):
    """An array of a number, an array, or nested lists of numbers and values."""
    if isinstance(a, (list, tuple)):
        found = _of_lists(a, dtype_or(dtype, None))
    else:
        found = value("asarray", a)
    return converted(found, dtype_or(dtype, found.kind), weak=found.weak and dtype is None)


def _of_lists(a, kind=None):
    """An array of nested lists; numbers of Python are of `kind`, and what they are by themselves if that is None."""
    items = leaves(a)
    if builtins.any(isinstance(x, Value) for x in items):
        from .numpy_joining import stack
        return stack([_of_lists(x, kind) if isinstance(x, (list, tuple)) else x for x in a])
    array = np.asarray(a)
    if not builtins.all(map(is_number, items)):
        return current().lift(array)
    own = result_type([(number_of_scalar(x), True) for x in items])[0] if items else F32
    return current().lift(array, own if kind is None else kind)


@public
def array(object, dtype=None, copy=True, order="K", ndmin=0, *, device=None):  # noqa: A002, names of jax.numpy
    """As `asarray`, with at least `ndmin` dimensions."""
    found = asarray(object, dtype)
    lead = builtins.max(ndmin - found.ndim, 0)
    return emit("reshape", found, new_sizes=[*[1] * lead, *found.shape]) if lead else found


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


def _static(function, *numbers):
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
             for x in _static("arange", start, stop, step)]
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


def _ends(function, start, stop, dtype):
    """Both ends as floats or complex numbers that are wide enough for `dtype`."""
    kind = common_kind(function, [start, stop], inexact=True)[0] if dtype is None else inexact_of(number_of_dtype(dtype))
    return [converted(value(function, x), kind) for x in (start, stop)]


@public
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` numbers from start to stop, evenly apart, with `stop` if `endpoint`; a new axis for them. Rounded down if
    `dtype` is one of integers."""
    from .numpy_shaping import moveaxis
    (num,) = _static("linspace", num)
    low, high = _ends("linspace", start, stop, dtype)
    kind, gaps = low.kind, num - 1 if endpoint else num
    shape = broadcast_shapes_of("linspace", [low.shape, high.shape])
    low, high = expanded(low, shape), expanded(high, shape)
    step = emit("div", emit("sub", high, low), splat(builtins.max(gaps, 1), kind, shape))
    out = (num, *shape)
    index = emit("iota", dtype=numpy_of(kind), shape=out, dimension=0)
    part = emit("div", index, splat(builtins.max(gaps, 1), kind, out))
    one = splat(1, kind, out)
    # As JAX: both ends are exact.
    found = emit("add", emit("mul", expanded(low, out), emit("sub", one, part)), emit("mul", expanded(high, out), part))
    if endpoint and num > 1:
        last = emit("eq", index, splat(num - 1, kind, out))
        found = emit("select_n", last, found, expanded(high, out))
    own = dtype_or(dtype, kind)
    found = emit("floor", found) if own in INTEGERS else found
    found = moveaxis(converted(found, own, weak=False), 0, axis)
    return (found, step) if retstep else found


@public
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """base to the powers of `linspace`."""
    from .numpy_elementwise import power
    low, high = _ends("logspace", start, stop, dtype)
    found = power(base, linspace(low, high, num, endpoint, axis=axis))
    return converted(found, dtype_or(dtype, found.kind))


@public
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from start to stop, each the same multiple of the one before; not of complex numbers."""
    from .numpy_elementwise import abs as absolute
    from .numpy_elementwise import exp, log, multiply, sign
    from .numpy_shaping import moveaxis
    low, high = _ends("geomspace", start, stop, dtype)
    if low.kind in COMPLEX:
        raise TypeError(f"geomspace: operands are {low.dtype}; real numbers are expected")
    found = multiply(sign(low), exp(linspace(log(absolute(low)), log(absolute(high)), num, endpoint)))
    return moveaxis(converted(found, dtype_or(dtype, found.kind), weak=False), 0, axis)


def _indices_of(name, doc, of):
    def function(*numbers, **named):
        return tuple(map(asarray, (np.asarray(i, np.int32) for i in of(*_static(name, *numbers), **named))))
    function.__name__, function.__doc__ = name, doc
    return public(function)


tril_indices = _indices_of("tril_indices", "Rows and columns (n, k=0, m=None) of the elements on and below a diagonal.",
                           np.tril_indices)
triu_indices = _indices_of("triu_indices", "Rows and columns (n, k=0, m=None) of the elements on and above a diagonal.",
                           np.triu_indices)
diag_indices = _indices_of("diag_indices", "The indices (n, ndim=2) of the elements on the diagonal.", np.diag_indices)


def _indices_from(name, of):
    def function(arr, *numbers, **named):
        shape = shape_of_value(arr)
        if len(shape) < 2:
            raise ValueError(f"{name}: the array has {len(shape)} dimensions; at least 2 are expected")
        return of(shape[-2], *numbers, m=shape[-1], **named)
    function.__name__, function.__doc__ = name, f"As `{of.__name__}`, of the matrices of an array; k=0 is the diagonal."
    return public(function)


tril_indices_from = _indices_from("tril_indices_from", tril_indices)
triu_indices_from = _indices_from("triu_indices_from", triu_indices)


@public
def indices(dimensions, dtype=None, sparse=False):
    """The index along each dimension of a shape: an array with a first dimension for them, or a tuple if `sparse`."""
    from .numpy_joining import stack
    shape, kind = shape_of("indices", dimensions), numpy_of(dtype_or(dtype, I32))
    own = [shape if not sparse else [n if i == d else 1 for i, n in enumerate(shape)] for d in range(len(shape))]
    found = [emit("iota", dtype=kind, shape=s, dimension=d) for d, s in enumerate(own)]
    return tuple(found) if sparse else stack(found) if found else zeros((0,), kind)


@public
def eye(N, M=None, k=0, dtype=None, *, device=None):
    """Ones on the diagonal number `k` of N rows and M columns."""
    n, m, k = _static("eye", N, N if M is None else M, k)
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
    n, m, k = _static("tri", N, N if M is None else M, k)
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
