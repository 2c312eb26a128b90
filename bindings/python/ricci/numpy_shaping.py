"""Functions of jax.numpy that move elements: shapes, joining, cutting, padding, sorting."""
import builtins
import math
import operator

import numpy as np

from .numpy_creation import below_diagonal, splat
from .numpy_operands import (axes_of, axis_of, broadcast_shapes_of, converted, dtype_or, emit, expanded, promoted, public,
                             shape_of, shape_of_value, value)
from .promotion import COMPLEX, I32
from .tracing import current
from .value import Value, refuse

# ---- shapes ----


@public
def reshape(a, shape, order="C", *, copy=None):
    """The elements in another shape; one size may be -1. `order` "F" runs through the first dimension fastest."""
    x = value("reshape", a)
    sizes = [shape] if not isinstance(shape, (tuple, list, np.ndarray)) else list(shape)
    sizes = [operator.index(n) for n in sizes]
    if sizes.count(-1) == 1:
        known = -math.prod(sizes)
        if known and x.size % known == 0:
            sizes[sizes.index(-1)] = x.size // known
    if math.prod(sizes) != x.size or builtins.any(n < 0 for n in sizes):
        raise ValueError(f"reshape: an array of shape {x.shape} has {x.size} elements, {tuple(shape_text(shape))} does "
                         "not")
    if order == "F":
        return transpose(emit("reshape", transpose(x), new_sizes=sizes[::-1]))
    if order not in ("C", "A"):
        raise ValueError(f"reshape: order is {order!r}; it must be C or F")
    return x if x.shape == tuple(sizes) else emit("reshape", x, new_sizes=sizes)


def shape_text(shape):
    return shape if isinstance(shape, (tuple, list, np.ndarray)) else (shape,)


@public
def ravel(a, order="C"):
    """With one dimension."""
    return reshape(a, (-1,) if value("ravel", a).size else (0,), order)


@public
def transpose(a, axes=None):
    """With the dimensions in the order `axes`, reversed if None."""
    x = value("transpose", a)
    order = tuple(reversed(range(x.ndim))) if axes is None else axes_of("transpose", tuple(axes), x.ndim)
    if len(order) != x.ndim:
        raise ValueError(f"transpose: axes are {tuple(axes)}; the array has {x.ndim} dimensions")
    return x if order == tuple(range(x.ndim)) else emit("transpose", x, permutation=order)


@public
def permute_dims(a, /, axes):
    """As `transpose`."""
    return transpose(a, axes)


@public
def matrix_transpose(x, /):
    """With the last two dimensions swapped."""
    v = value("matrix_transpose", x)
    if v.ndim < 2:
        raise ValueError(f"matrix_transpose: the array has {v.ndim} dimensions; at least 2 are expected")
    return swapaxes(v, -1, -2)


@public
def swapaxes(a, axis1, axis2):
    """With two dimensions swapped."""
    x = value("swapaxes", a)
    i, j = axis_of("swapaxes", axis1, x.ndim, "axis1"), axis_of("swapaxes", axis2, x.ndim, "axis2")
    order = list(range(x.ndim))
    order[i], order[j] = j, i
    return transpose(x, order)


@public
def moveaxis(a, source, destination):
    """With the dimensions `source` moved to `destination`, the others in their order."""
    x = value("moveaxis", a)
    come, go = axes_of("moveaxis", source, x.ndim), axes_of("moveaxis", destination, x.ndim)
    if len(come) != len(go):
        raise ValueError(f"moveaxis: {len(come)} axes are moved to {len(go)} places")
    order = [d for d in range(x.ndim) if d not in come]
    for to, d in sorted(zip(go, come)):
        order.insert(to, d)
    return transpose(x, order)


@public
def rollaxis(a, axis, start=0):
    """With dimension `axis` moved to before `start`."""
    x = value("rollaxis", a)
    axis = axis_of("rollaxis", axis, x.ndim)
    start = start + x.ndim if start < 0 else start
    return moveaxis(x, axis, start - (axis < start))


@public
def expand_dims(a, axis):
    """With dimensions of size 1 at the places `axis` of the result."""
    x = value("expand_dims", a)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    axes = axes_of("expand_dims", axis, x.ndim + count)
    sizes = iter(x.shape)
    return emit("reshape", x, new_sizes=[1 if d in axes else next(sizes) for d in range(x.ndim + count)])


@public
def squeeze(a, axis=None):
    """Without dimensions of size 1: `axis`, or all."""
    x = value("squeeze", a)
    axes = [d for d, n in enumerate(x.shape) if n == 1] if axis is None else axes_of("squeeze", axis, x.ndim)
    for d in axes:
        if x.shape[d] != 1:
            raise ValueError(f"squeeze: dimension {d} has size {x.shape[d]}, not 1")
    return emit("squeeze", x, dimensions=list(axes)) if axes else x


@public
def broadcast_to(array, shape, *, out_sharding=None):
    """Repeated to `shape`."""
    x, shape = value("broadcast_to", array), shape_of("broadcast_to", shape)
    if broadcast_shapes_of("broadcast_to", [x.shape, shape]) != shape:
        raise ValueError(f"broadcast_to: an array of shape {x.shape} does not broadcast to {shape}")
    return expanded(x, shape)


def broadcast_shapes(*shapes):
    """The shape that all broadcast to."""
    return broadcast_shapes_of("broadcast_shapes", [shape_of("broadcast_shapes", s) for s in shapes])


@public
def broadcast_arrays(*args):
    """All repeated to one shape, as a list."""
    values = [value("broadcast_arrays", a) for a in args]
    shape = broadcast_shapes_of("broadcast_arrays", [v.shape for v in values])
    return [expanded(v, shape) for v in values]


def _at_least(name, rank, place):
    def function(*arys):
        found = [place(value(name, a)) for a in arys]
        return found[0] if len(found) == 1 else found
    function.__name__, function.__doc__ = name, f"With at least {rank} dimension{'s' if rank > 1 else ''}."
    return public(function)


def _to_2d(x):
    return emit("reshape", x, new_sizes=[*[1] * builtins.max(2 - x.ndim, 0), *x.shape])


def _to_3d(x):
    return emit("reshape", x, new_sizes=[[1, 1, 1], [1, *x.shape, 1], [*x.shape, 1]][x.ndim] if x.ndim < 3 else x.shape)


atleast_1d = _at_least("atleast_1d", 1, lambda x: emit("reshape", x, new_sizes=x.shape or [1]))
atleast_2d, atleast_3d = _at_least("atleast_2d", 2, _to_2d), _at_least("atleast_3d", 3, _to_3d)

# ---- joining and cutting ----


def _sequence(function, arrays):
    """The operands of a function of several arrays, promoted; a value stands for its slices."""
    given = list(arrays)
    if not given:
        raise ValueError(f"{function}: no arrays are given")
    return promoted(function, *given)


@public
def concatenate(arrays, axis=0, dtype=None):
    """One after the other along `axis`; flattened if None."""
    values = _sequence("concatenate", arrays)
    if axis is None:
        values, axis = [ravel(v) for v in values], 0
    ranks = {v.ndim for v in values}
    if ranks == {0} or len(ranks) > 1:
        raise ValueError(f"concatenate: arrays have {', '.join(str(v.ndim) for v in values)} dimensions; they must have "
                         "one number of them, at least 1")
    values = [converted(v, dtype_or(dtype, v.kind), weak=False) for v in values]
    return emit("concatenate", *values, dimension=axis_of("concatenate", axis, values[0].ndim))


@public
def concat(arrays, /, *, axis=0):
    """As `concatenate`."""
    return concatenate(arrays, axis)


@public
def stack(arrays, axis=0, dtype=None):
    """One after the other along a new dimension `axis`."""
    values = _sequence("stack", arrays)
    shapes = {v.shape for v in values}
    if len(shapes) > 1:
        raise ValueError(f"stack: arrays have the shapes {', '.join(map(str, sorted(shapes)))}; they must have one")
    values = [converted(v, dtype_or(dtype, v.kind), weak=False) for v in values]
    return emit("stack", *values, axis=axis_of("stack", axis, values[0].ndim + 1))


@public
def unstack(x, /, *, axis=0):
    """The slices along `axis` as a tuple."""
    v = value("unstack", x)
    d = axis_of("unstack", axis, v.ndim)
    if v.shape[d] == 0:
        return ()
    return tuple(current().emit("unstack", [v], {"axis": d}))


@public
def vstack(tup, dtype=None):
    """Rows one after the other."""
    return concatenate([atleast_2d(a) for a in tup], 0, dtype)


@public
def hstack(tup, dtype=None):
    """Columns one after the other; vectors end to end."""
    parts = [atleast_1d(a) for a in tup]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype)


@public
def dstack(tup, dtype=None):
    """One after the other along the third dimension."""
    return concatenate([atleast_3d(a) for a in tup], 2, dtype)


@public
def column_stack(tup):
    """Vectors as columns."""
    return concatenate([emit("reshape", v, new_sizes=[v.size, 1]) if v.ndim < 2 else v
                        for v in (value("column_stack", a) for a in tup)], 1)


@public
def append(arr, values, axis=None):
    """`values` after `arr`."""
    return concatenate([arr, values], axis)


def _pieces(function, x, axis, ends):
    """Cut before each of `ends`."""
    d = axis_of(function, axis, x.ndim)
    bounds = [0, *(builtins.min(builtins.max(e + x.shape[d] if e < 0 else e, 0), x.shape[d]) for e in ends), x.shape[d]]
    found = []
    for low, high in zip(bounds, bounds[1:]):
        start, limit = [0] * x.ndim, list(x.shape)
        start[d], limit[d] = low, builtins.max(low, high)
        found.append(emit("slice", x, start_indices=start, limit_indices=limit))
    return found


@public
def split(ary, indices_or_sections, axis=0):
    """A list of equal pieces, or of the pieces before and after the given indices."""
    x, given = value("split", ary), indices_or_sections
    if isinstance(given, (tuple, list, np.ndarray)):
        return _pieces("split", x, axis, [int(i) for i in given])
    size = x.shape[axis_of("split", axis, x.ndim)]
    if given < 1 or size % given:
        raise ValueError(f"split: {size} elements along axis {axis} make no {given} equal pieces; use array_split")
    return _pieces("split", x, axis, range(size // given, size, size // given))


@public
def array_split(ary, indices_or_sections, axis=0):
    """As `split`; the first pieces are longer if they cannot be equal."""
    x, given = value("array_split", ary), indices_or_sections
    if isinstance(given, (tuple, list, np.ndarray)):
        return split(x, given, axis)
    size = x.shape[axis_of("array_split", axis, x.ndim)]
    ends = np.cumsum([size // given + (i < size % given) for i in range(given)])[:-1]
    return _pieces("array_split", x, axis, [int(e) for e in ends])


@public
def tile(A, reps):
    """Repeated as a whole along each dimension."""
    x = value("tile", A)
    reps = (reps,) if not isinstance(reps, (tuple, list, np.ndarray)) else tuple(reps)
    rank = builtins.max(x.ndim, len(reps))
    x = emit("reshape", x, new_sizes=[*[1] * (rank - x.ndim), *x.shape])
    return emit("tile", x, reps=[*[1] * (rank - len(reps)), *reps])


@public
def repeat(a, repeats, axis=None, *, total_repeat_length=None):
    """Each element `repeats` times, a number or numbers that are known; flattened if `axis` is None."""
    x = value("repeat", a)
    if axis is None:
        x, axis = ravel(x), 0
    d = axis_of("repeat", axis, x.ndim)
    if isinstance(repeats, Value):
        refuse(repeats, "repeat: the size of the result, which follows from", "make it one of static_argnums")
    index = np.repeat(np.arange(x.shape[d], dtype=np.int32), repeats)
    if total_repeat_length is not None:
        index = np.resize(index, total_repeat_length) if len(index) >= total_repeat_length else np.append(
            index, np.full(total_repeat_length - len(index), index[-1]))
    from .indexing import taken
    return taken(x, (slice(None),) * d + (index,))


@public
def flip(m, axis=None):
    """Reversed along `axis` (all if None)."""
    x = value("flip", m)
    return emit("rev", x, dimensions=axes_of("flip", axis, x.ndim))


@public
def flipud(m):
    """Reversed along the first dimension."""
    return flip(m, 0)


@public
def fliplr(m):
    """Reversed along the second dimension."""
    return flip(m, 1)


@public
def rot90(m, k=1, axes=(0, 1)):
    """Turned `k` times by 90 degrees in the plane of two dimensions."""
    x = value("rot90", m)
    i, j = axes_of("rot90", tuple(axes), x.ndim)
    if k % 4 == 0:
        return x
    if k % 4 == 2:
        return flip(x, (i, j))
    return swapaxes(flip(x, j), i, j) if k % 4 == 1 else flip(swapaxes(x, i, j), j)


@public
def roll(a, shift, axis=None):
    """Moved around by `shift`, a number or one for each of `axis`; of the flattened array if None."""
    x = value("roll", a)
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = axes_of("roll", axis, x.ndim) if not isinstance(axis, (tuple, list)) else tuple(
        axis_of("roll", d, x.ndim) for d in axis)
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(axes)
    for d, by in zip(axes, shifts):
        if x.shape[d] == 0:
            continue
        if isinstance(by, Value):
            from .indexing import taken
            from .numpy_creation import arange
            from .numpy_elementwise import remainder, subtract
            place = remainder(subtract(arange(x.shape[d]), by), x.shape[d])
            x = taken(x, (slice(None),) * d + (place,))
            continue
        cut = -int(by) % x.shape[d]
        first, second = _pieces("roll", x, d, [cut])
        x = emit("concatenate", second, first, dimension=d)
    return x


_PAD_MODES = ("constant", "edge", "reflect", "symmetric", "wrap")


@public
def pad(array, pad_width, mode="constant", *, constant_values=0):
    """`pad_width`: a number, (before, after), or one pair for each dimension. Modes: constant, edge, reflect, symmetric,
    wrap."""
    x = value("pad", array)
    if mode not in _PAD_MODES:
        raise ValueError(f"pad: mode is {mode!r}; it must be one of {', '.join(_PAD_MODES)}")
    if isinstance(pad_width, dict):
        width = np.zeros((x.ndim, 2), int)
        for d, w in pad_width.items():
            width[axis_of("pad", d, x.ndim)] = w
    else:
        width = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2))
    if (width < 0).any():
        raise ValueError(f"pad: pad_width is {pad_width}; it must not be negative")
    if mode == "constant" and np.ndim(constant_values) == 0:
        fill = converted(value("pad", constant_values), x.kind)
        return emit("pad", x, fill, low=width[:, 0], high=width[:, 1], interior=[0] * x.ndim)
    from .indexing import taken
    for d, (low, high) in enumerate(width):
        if mode == "constant":
            pair = np.broadcast_to(np.asarray(constant_values), (x.ndim, 2))[d]
            for before, size, number in ((True, low, pair[0]), (False, high, pair[1])):
                edge = splat(number, x.kind, [size if i == d else n for i, n in enumerate(x.shape)])
                x = emit("concatenate", *((edge, x) if before else (x, edge)), dimension=d)
            continue
        if not (low or high):
            continue
        index = np.pad(np.arange(x.shape[d], dtype=np.int32), (low, high), mode)
        x = taken(x, (slice(None),) * d + (index,))
    return x


# ---- diagonals ----


def _triangle(function, m, k, lower):
    x = value(function, m)
    if x.ndim < 2:
        raise ValueError(f"{function}: the array has {x.ndim} dimensions; at least 2 are expected")
    below = expanded(below_diagonal(*x.shape[-2:], k if lower else k - 1), x.shape)
    zero = splat(0, x.kind, x.shape)
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
    from .indexing import taken
    return taken(x, (..., i - builtins.min(offset, 0), i + builtins.max(offset, 0)))


@public
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of a diagonal."""
    from .numpy_reductions import sum as total
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


# ---- sorting ----


@public
def sort(a, axis=-1, *, stable=True, descending=False):
    """In increasing order along `axis`, NaN last; of the flattened array if None."""
    x = value("sort", a)
    if axis is None:
        x, axis = ravel(x), 0
    d = axis_of("sort", axis, x.ndim)
    if x.kind in COMPLEX:
        found = taken_along(x, argsort(x, d), d)
    else:
        found = current().emit("sort", [x], {"dimension": d, "is_stable": bool(stable), "num_keys": 1})[0]
    return flip(found, d) if descending else found


@public
def argsort(a, axis=-1, *, stable=True, descending=False):
    """The indices, i32, that sort along `axis`; equal elements stay in their order."""
    x = value("argsort", a)
    if axis is None:
        x, axis = ravel(x), 0
    d = axis_of("argsort", axis, x.ndim)
    index = emit("iota", dtype="int32", shape=x.shape, dimension=d)
    x = flip(x, d) if descending else x
    keys = [emit("real", x), emit("imag", x)] if x.kind in COMPLEX else [x]
    index = flip(index, d) if descending else index
    found = current().emit("sort", [*keys, index], {"dimension": d, "is_stable": True, "num_keys": len(keys)})[-1]
    return flip(found, d) if descending else found


def taken_along(x, index, d):
    from .indexing import take_along_axis
    return take_along_axis(x, index, d)


@public
def median(a, axis=None, keepdims=False):
    """The middle element, or the mean of the two in the middle."""
    (x,) = promoted("median", a, inexact=True)
    axes = axes_of("median", axis, x.ndim)
    rest = [d for d in range(x.ndim) if d not in axes]
    flat = emit("reshape", transpose(x, [*rest, *axes]), new_sizes=[*(x.shape[d] for d in rest),
                                                                    math.prod(x.shape[d] for d in axes)])
    n = flat.shape[-1]
    ordered = sort(flat, -1)
    low, high = (_pieces("median", ordered, -1, [i, i + 1])[1] for i in ((n - 1) // 2, n // 2))
    found = emit("mul", emit("add", low, high), splat(0.5, x.kind, low.shape))
    nan = _pieces("median", ordered, -1, [n - 1])[1]
    found = emit("select_n", emit("ne", nan, nan), found, nan)
    return emit("reshape", found, new_sizes=[1 if d in axes else s for d, s in enumerate(x.shape)] if keepdims else
                [x.shape[d] for d in rest])


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
    below = emit("lt" if side == "left" else "le", wide, own)
    return emit("reduce_sum", converted(below, I32), axes=[y.ndim])


def ndim(a):
    """The number of dimensions."""
    return len(shape_of_value(a))


def shape(a):
    """The size of each dimension."""
    return shape_of_value(a)


def size(a, axis=None):
    """The number of elements, or of those along `axis`."""
    return math.prod(shape_of_value(a)) if axis is None else shape_of_value(a)[axis]


__all__ += ["broadcast_shapes", "ndim", "shape", "size"]  # noqa: F821, made by `public`
