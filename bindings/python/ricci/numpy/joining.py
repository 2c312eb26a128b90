"""Functions of jax.numpy that join, cut, repeat and pad."""
import builtins

import numpy as np

from ..abi.dtypes import type_text
from ..tracing.operands import axes_of, axis_of, converted, dtype_or, emit, promoted, public, splat, value
from ..tracing.promotion import I32, I64, INTEGERS
from ..tracing.trace import SCALARS, current, type_of
from ..tracing.value import Value, refuse
from .creation import arange
from .elementwise import remainder, subtract
from .indexing import taken
from .shaping import atleast_1d, atleast_2d, atleast_3d, ravel, reshape, swapaxes


def _sequence(function, arrays):
    """The operands of a function of several arrays, promoted; a value stands for its slices."""
    if isinstance(arrays, SCALARS):
        raise TypeError(f"{function}: arrays are {arrays!r}; a list of arrays is expected")
    given = list(arrays)
    if not given:
        raise ValueError(f"{function}: no arrays are given")
    return promoted(function, *given)


@public
def concatenate(arrays, axis=0, dtype=None):
    """Concatenated along `axis`; flattened if None."""
    values = _sequence("concatenate", arrays)
    if axis is None:
        values, axis = [ravel(v) for v in values], 0
    ranks = {v.ndim for v in values}
    if ranks == {0} or len(ranks) > 1:
        raise ValueError(f"concatenate: arrays have {', '.join(str(v.ndim) for v in values)} dimensions; they must have "
                         "one number of them, at least 1")
    values = [converted(v, dtype_or(dtype, v.kind), weak=v.weak and dtype is None) for v in values]
    return emit("concatenate", *values, dimension=axis_of("concatenate", axis, values[0].ndim))


@public
def concat(arrays, /, *, axis=0):
    """As `concatenate`."""
    return concatenate(arrays, axis)


@public
def stack(arrays, axis=0, dtype=None):
    """Stacked along a new dimension `axis`."""
    values = _sequence("stack", arrays)
    shapes = {v.shape for v in values}
    if len(shapes) > 1:
        raise ValueError(f"stack: arrays have the shapes {', '.join(map(str, sorted(shapes)))}; they must have one")
    values = [converted(v, dtype_or(dtype, v.kind), weak=v.weak and dtype is None) for v in values]
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
    """Concatenated by rows."""
    return concatenate([atleast_2d(a) for a in tup], 0, dtype)


@public
def hstack(tup, dtype=None):
    """Concatenated by columns; vectors end to end."""
    parts = [atleast_1d(a) for a in tup]
    return concatenate(parts, 0 if parts[0].ndim == 1 else 1, dtype)


@public
def dstack(tup, dtype=None):
    """Concatenated along the third dimension."""
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


def pieces(function, x, axis, ends):
    """Cut before each of `ends`."""
    d = axis_of(function, axis, x.ndim)
    bounds = [0, *(builtins.min(builtins.max(e + x.shape[d] if e < 0 else e, 0), x.shape[d]) for e in ends), x.shape[d]]
    if bounds == sorted(bounds):
        sizes = [high - low for low, high in zip(bounds, bounds[1:])]
        return list(current().emit("split", [x], {"sizes": sizes, "axis": d}))
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
        return pieces("split", x, axis, [int(i) for i in given])
    size = x.shape[axis_of("split", axis, x.ndim)]
    if given < 1 or size % given:
        raise ValueError(f"split: {size} elements along axis {axis} make no {given} equal pieces; use array_split")
    return pieces("split", x, axis, range(size // given, size, size // given))


@public
def array_split(ary, indices_or_sections, axis=0):
    """As `split`; the first pieces are longer if they cannot be equal."""
    x, given = value("array_split", ary), indices_or_sections
    if isinstance(given, (tuple, list, np.ndarray)):
        return split(x, given, axis)
    size = x.shape[axis_of("array_split", axis, x.ndim)]
    ends = np.cumsum([size // given + (i < size % given) for i in range(given)])[:-1]
    return pieces("array_split", x, axis, [int(e) for e in ends])


@public
def vsplit(ary, indices_or_sections):
    """`split` along the first dimension."""
    return split(ary, indices_or_sections, 0)


@public
def hsplit(ary, indices_or_sections):
    """`split` along the second dimension, of a vector along its only one."""
    x = value("hsplit", ary)
    return split(x, indices_or_sections, 0 if x.ndim == 1 else 1)


@public
def dsplit(ary, indices_or_sections):
    """`split` along the third dimension."""
    return split(ary, indices_or_sections, 2)


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
        by = _shift(by)
        if isinstance(by, Value):
            position = remainder(subtract(arange(x.shape[d]), by), x.shape[d])
            x = taken(x, (slice(None),) * d + (position,))
            continue
        cut = -int(by) % x.shape[d]
        first, second = pieces("roll", x, d, [cut])
        x = emit("concatenate", second, first, dimension=d)
    return x


def _shift(by):
    """One shift, known or a value, as an i32 if its own type is narrow."""
    kind, shape, _ = type_of(by)
    if kind not in INTEGERS or shape not in ((), (1,)):
        raise TypeError(f"roll: a shift is {type_text((kind, shape))}; an integer is expected (a tuple for several axes)")
    if not isinstance(by, Value):
        return int(np.reshape(by, ()))
    by = emit("reshape", by, new_sizes=[]) if shape else by
    return by if by.kind in (I32, I64) else converted(by, I64)


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
        fill = converted(value("pad", constant_values), x.kind, weak=x.weak)
        return emit("pad", x, fill, low=width[:, 0], high=width[:, 1], interior=[0] * x.ndim)
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
