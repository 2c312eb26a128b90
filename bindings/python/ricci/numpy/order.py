"""Functions of jax.numpy of diagonals, triangles and order."""
import builtins
import math

import numpy as np

from ..tracing.operands import axes_of, axis_of, converted, emit, expanded, filled, promoted, public, splat, value
from ..tracing.promotion import COMPLEX, I32
from ..tracing.trace import current
from .creation import below_diagonal
from .elementwise import compared, real_value
from .indexing import take_along_axis, taken
from .joining import pieces
from .reductions import sum as total
from .shaping import moveaxis, ravel, transpose

# ---- diagonals ----


def _triangle(function, m, k, lower):
    x = value(function, m)
    if x.ndim < 2:
        raise ValueError(f"{function}: the array has {x.ndim} dimensions; at least 2 are expected")
    below = expanded(below_diagonal(*x.shape[-2:], k if lower else k - 1), x.shape)
    zero = filled(x, 0)
    return emit("select_n", below, zero, x) if lower else emit("select_n", below, x, zero)


@public
def tril(m, k=0):
    """Zero above the diagonal number `k`."""
    return _triangle("tril", m, k, lower=True)


@public
def triu(m, k=0):
    """Zero below the diagonal number `k`."""
    return _triangle("triu", m, k, lower=False)


@public
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonal number `offset` of two dimensions, as the last one."""
    x = value("diagonal", a)
    x = moveaxis(x, (axis1, axis2), (-2, -1))
    n, m = x.shape[-2:]
    size = builtins.max(builtins.min(n + builtins.min(offset, 0), m - builtins.max(offset, 0)), 0)
    i = np.arange(size, dtype=np.int32)
    return taken(x, (..., i - builtins.min(offset, 0), i + builtins.max(offset, 0)))


@public
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of a diagonal."""
    return total(diagonal(a, offset, axis1, axis2), -1, dtype)


@public
def diag(v, k=0):
    """The matrix with a vector on its diagonal number `k`, or the diagonal of a matrix."""
    x = value("diag", v)
    if x.ndim == 2:
        return diagonal(x, k)
    if x.ndim != 1:
        raise ValueError(f"diag: the array has {x.ndim} dimensions; 1 or 2 are expected")
    size = x.size + builtins.abs(k)
    wide = emit("pad", x, splat(0, x.kind, ()), low=[builtins.max(k, 0)], high=[builtins.max(-k, 0)], interior=[0])
    row = emit("iota", dtype="int32", shape=[size, size], dimension=0)
    column = emit("iota", dtype="int32", shape=[size, size], dimension=1)
    hit = emit("eq", emit("add", row, splat(k, I32, [size, size])), column)
    return emit("select_n", hit, splat(0, x.kind, [size, size]),
                emit("broadcast_in_dim", wide, shape=[size, size], broadcast_dimensions=[1]))



@public
def diagflat(v, k=0):
    """The matrix with the elements of an array on its diagonal number `k`."""
    return diag(ravel(v), k)

# ---- sorting ----


@public
def sort(a, axis=-1, *, stable=True, descending=False):
    """In increasing order along `axis`, NaN last; of the flattened array if None."""
    x = value("sort", a)
    if axis is None:
        x, axis = ravel(x), 0
    d = axis_of("sort", axis, x.ndim)
    if x.kind in COMPLEX:
        found = take_along_axis(x, argsort(x, d), d)
    else:
        found = current().emit("sort", [x], {"dimension": d, "is_stable": bool(stable), "num_keys": 1})[0]
    return emit("rev", found, dimensions=[d]) if descending else found


@public
def argsort(a, axis=-1, *, stable=True, descending=False):
    """The indices, i32, that sort along `axis`; equal elements stay in their order."""
    x = value("argsort", a)
    if axis is None:
        x, axis = ravel(x), 0
    d = axis_of("argsort", axis, x.ndim)
    index = emit("iota", dtype="int32", shape=x.shape, dimension=d)
    x = emit("rev", x, dimensions=[d]) if descending else x
    keys = [emit("real", x), emit("imag", x)] if x.kind in COMPLEX else [x]
    index = emit("rev", index, dimensions=[d]) if descending else index
    found = current().emit("sort", [*keys, index], {"dimension": d, "is_stable": True, "num_keys": len(keys)})[-1]
    return emit("rev", found, dimensions=[d]) if descending else found


@public
def lexsort(keys, axis=-1):
    """The indices, i32, that sort by the last of `keys`, then by the one before it, and so on."""
    values = [value("lexsort", k) for k in keys]
    if not values or builtins.any(v.shape != values[0].shape for v in values):
        raise ValueError(f"lexsort: keys have the shapes {', '.join(str(v.shape) for v in values)}; arrays of one shape are "
                         "expected")
    parts = [p for v in reversed(values)
             for p in ([emit("real", v), emit("imag", v)] if v.kind in COMPLEX else [v])]
    d = axis_of("lexsort", axis, values[0].ndim)
    index = emit("iota", dtype="int32", shape=values[0].shape, dimension=d)
    return current().emit("sort", [*parts, index], {"dimension": d, "is_stable": True, "num_keys": len(parts)})[-1]


def rows_of(x, axes):
    """With the dimensions `axes` as one, the last."""
    rest = [d for d in range(x.ndim) if d not in axes]
    return emit("reshape", transpose(x, [*rest, *axes]), new_sizes=[*(x.shape[d] for d in rest),
                                                                    math.prod(x.shape[d] for d in axes)])


@public
def median(a, axis=None, keepdims=False):
    """The middle element, or the mean of the two in the middle."""
    (x,) = promoted("median", real_value("median", a), inexact=True)
    axes = axes_of("median", axis, x.ndim)
    ordered = sort(rows_of(x, axes), -1)
    n = ordered.shape[-1]
    low, high = (pieces("median", ordered, -1, [i, i + 1])[1] for i in ((n - 1) // 2, n // 2))
    found = emit("mul", emit("add", low, high), splat(0.5, x.kind, low.shape))
    nan = pieces("median", ordered, -1, [n - 1])[1]
    found = emit("select_n", emit("ne", nan, nan), found, nan)
    return emit("reshape", found, new_sizes=[1 if d in axes else s for d, s in enumerate(x.shape)] if keepdims else
                found.shape[:-1])


@public
def searchsorted(a, v, side="left"):
    """Where each of `v` would be inserted into the sorted vector `a`, as i32: before (left) or after equal elements."""
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is {side!r}; it must be left or right")
    x, y = promoted("searchsorted", a, v)
    if x.ndim != 1:
        raise ValueError(f"searchsorted: a has {x.ndim} dimensions; a vector is expected")
    shape = (*y.shape, x.size)
    wide = emit("broadcast_in_dim", x, shape=shape, broadcast_dimensions=[y.ndim])
    own = emit("broadcast_in_dim", y, shape=shape, broadcast_dimensions=range(y.ndim))
    below = compared("lt" if side == "left" else "le", wide, own)
    return emit("reduce_sum", converted(below, I32), axes=[y.ndim])
