"""x[index] and x.at[index]: NumPy's indices as slices, gathers and scatters.

An index is slices, `...`, None, integers, and arrays of integers, any of which may be values of the trace but slices. The
dimensions that arrays index are B, broadcast together; they are in the place of the first of them, or in front if
something stands between them, as in NumPy. As in JAX, what is outside is the nearest element when it is read and is left
out when it is written; an integer that is known must be inside. The indices of one gather or scatter are [B..., S..., k]:
S are the parts of dimensions that a scatter cuts, k the dimensions of x that are looked up.
"""
import math

import numpy as np

from ..tracing.given_numbers import given
from ..tracing.operands import axis_of, broadcast_shapes_of, converted, emit, expanded, public, value
from ..tracing.promotion import I32, INTEGERS, UNSIGNED
from ..tracing.trace import current, evaluate
from ..tracing.value import Value
from .creation import ones_like
from .elementwise import divide, power
from .index_items import parsed

_MODES = {"drop": "fill", "fill": "fill", "clip": "clip", "promise_in_bounds": "promise_in_bounds"}


def _is_full(item, shape):
    return item.what == range(shape[item.dim])


def _sliced(x, items):
    """x cut to the slices of the index, which are whole afterwards."""
    cuts = [i for i in items if i.kind == "slice" and not _is_full(i, x.shape)]
    start, limit, step = [0] * x.ndim, list(x.shape), [1] * x.ndim
    backwards = []
    for i in cuts:
        r = i.what if i.what.step > 0 else i.what[::-1]
        if i.what.step < 0:
            backwards.append(i.dim)
        start[i.dim], limit[i.dim], step[i.dim] = (r[0], r[-1] + 1, r.step) if len(r) else (0, 0, 1)
        i.what = range(len(r))
    if cuts:
        x = emit("slice", x, start_indices=start, limit_indices=limit, strides=step)
    return emit("rev", x, dimensions=backwards) if backwards else x


def _at_scalars(x, items):
    """x at the integers of the index, whose dimensions have size 1 afterwards; some are values."""
    scalars = {i.dim: i.what for i in items if i.kind in ("int", "array")}
    if not scalars:
        return x
    sizes = [1 if d in scalars else n for d, n in enumerate(x.shape)]
    if all(isinstance(s, int) for s in scalars.values()):
        start = [scalars.get(d, 0) for d in range(x.ndim)]
        return emit("slice", x, start_indices=start, limit_indices=[a + n for a, n in zip(start, sizes)])
    starts = [_wrapped(scalars[d], x.shape[d]) if d in scalars else current().constant(np.int32(0))
              for d in range(x.ndim)]
    return emit("dynamic_slice", x, *(converted(current().lift(s), I32) for s in starts), slice_sizes=sizes)


def _wrapped(index, size):
    """Negative indices counted from the end."""
    if isinstance(index, int):
        return np.int32(index)
    if not isinstance(index, Value):
        return np.where(index < 0, index + size, index).astype(np.int32)
    if index.kind in UNSIGNED:
        return index
    zero, length = (current().constant(np.asarray(n, index.dtype), index.kind, index.shape) for n in (0, size))
    return emit("select_n", emit("lt", index, zero), index, emit("add", index, length))


def _stacked(indices, shape):
    """Indices broadcast to `shape`, stacked along a last dimension."""
    if not any(isinstance(i, Value) for i in indices):
        return current().lift(np.stack([np.broadcast_to(i, shape) for i in indices], -1).astype(np.int32))
    own = [converted(current().lift(i if isinstance(i, Value) else np.asarray(i, np.int32)), I32) for i in indices]
    return emit("stack", *(expanded(i, shape) for i in own), axis=len(shape))


class _Layout:
    """What an index with arrays refers to: the layout of the result, and that of a gather or scatter."""

    def __init__(self, x, items):
        self.items, self.shape = items, x.shape
        looked_up = [n for n, i in enumerate(items) if i.kind in ("int", "array")]
        arrays = [items[n] for n in looked_up]
        self.indices = {i.dim: _wrapped(i.what, x.shape[i.dim]) for i in arrays}
        self.batch = broadcast_shapes_of("index", [np.asarray(v).shape if not isinstance(v, Value) else v.shape
                                                   for v in self.indices.values()])
        is_one = not looked_up or looked_up[-1] - looked_up[0] + 1 == len(looked_up)
        self.first = looked_up[0] if looked_up and is_one else -1
        self.slices = [i for i in items if i.kind == "slice"]

    def result(self, with_new=True):
        """[(what, size)] of each dimension of the result: what is `new`, a number of B, or an item."""
        lead = [("B", n) for n in self.batch]
        found = [] if self.first >= 0 else list(lead)
        for n, i in enumerate(self.items):
            if n == self.first:
                found += lead
            if i.kind == "slice":
                found.append((i, len(i.what)))
            elif i.kind == "new" and with_new:
                found.append(("new", 1))
        return found

    def result_shape(self):
        return [n for _, n in self.result()]

    def order(self, slices):
        """For each dimension of [B..., slices...] its place in the result."""
        layout = [what for what, _ in self.result(with_new=False)]
        lead = [n for n, what in enumerate(layout) if what == "B"]
        return lead + [next(n for n, what in enumerate(layout) if what is i) for i in slices]


def taken(x, index, mode=None, fill_value=None, **hints):
    """x[index]."""
    if current() is None or not isinstance(x, Value):
        raise TypeError("indices of something that is not a value")
    x = current().lift(x)
    found = _taken(x, parsed(x.shape, index), mode, fill_value, **hints)
    return converted(found, found.kind, weak=x.weak)


def _taken(x, items, mode, fill_value, **hints):
    x = _sliced(x, items)
    arrays = [i for i in items if i.kind == "array"]
    if not (mode in (None, "clip") and all(np.ndim(i.what) == 0 if not isinstance(i.what, Value) else not i.what.ndim
                                           for i in arrays)):
        return _gathered(x, items, mode, fill_value, **hints)
    x = _at_scalars(x, items)
    shape = [1 if i.kind == "new" else len(i.what) for i in items if i.kind in ("new", "slice")]
    return x if list(x.shape) == shape else emit("reshape", x, new_sizes=shape)


def _gathered(x, items, mode, fill_value, unique_indices=False, indices_are_sorted=False):
    layout = _Layout(x, items)
    dims = sorted(layout.indices)
    windows = layout.slices
    rank = len(layout.batch)
    found = emit("gather", x, _stacked([layout.indices[d] for d in dims], layout.batch),
                 offset_dims=range(rank, rank + len(windows)), collapsed_slice_dims=dims, start_index_map=dims,
                 slice_sizes=[1 if d in dims else n for d, n in enumerate(x.shape)], mode=mode_of(mode, "clip"),
                 fill_value=fill_value, indices_are_sorted=indices_are_sorted, unique_indices=unique_indices)
    order = layout.order(windows)
    if order != sorted(order):
        found = emit("transpose", found, permutation=list(np.argsort(order)))
    shape = layout.result_shape()
    return found if list(found.shape) == shape else emit("reshape", found, new_sizes=shape)


def mode_of(mode, otherwise):
    if mode is None:
        return otherwise
    if mode not in _MODES:
        raise ValueError(f"mode is {mode!r}; it must be one of {', '.join(_MODES)}")
    return _MODES[mode]


def _scattered(x, items, updates, kind, mode, unique_indices, indices_are_sorted):
    """x with `updates`, of the shape of the result of the index, written or combined there."""
    layout = _Layout(x, items)
    cut = [i for i in layout.slices if not _is_full(i, x.shape)]
    whole = [i for i in layout.slices if _is_full(i, x.shape)]
    shape = (*layout.batch, *(len(i.what) for i in cut))
    indices = {d: _with_trailing(v, len(cut)) for d, v in layout.indices.items()}
    for n, i in enumerate(cut):
        indices[i.dim] = np.asarray(i.what, np.int32).reshape([-1] + [1] * (len(cut) - n - 1))
    dims = sorted(indices)
    if not dims:  # all of x
        return emit(_OF_ALL[kind], x, emit("reshape", updates, new_sizes=x.shape))
    updates = emit("reshape", updates, new_sizes=[n for _, n in layout.result(with_new=False)])
    order = layout.order(cut + whole)
    if order != sorted(order):
        updates = emit("transpose", updates, permutation=order)
    return emit(kind, x, _stacked([indices[d] for d in dims], shape), updates,
                update_window_dims=range(len(shape), len(shape) + len(whole)), inserted_window_dims=dims,
                scatter_dims_to_operand_dims=dims, mode=mode_of(mode, "fill"), unique_indices=unique_indices,
                indices_are_sorted=indices_are_sorted)


def _with_trailing(index, n):
    """An index with `n` more dimensions of size 1 at the end."""
    if not n:
        return index
    if isinstance(index, Value):
        return emit("reshape", index, new_sizes=[*index.shape, *[1] * n])
    return np.reshape(index, (*np.shape(index), *[1] * n))


_COMBINED = {"set": "scatter", "add": "scatter-add", "subtract": "scatter-sub", "multiply": "scatter-mul",
             "min": "scatter-min", "max": "scatter-max"}


_OF_ALL = {"scatter-add": "add", "scatter-sub": "sub", "scatter-mul": "mul", "scatter-min": "min", "scatter-max": "max"}


class At:
    """`x.at`: x.at[index].set(y) and its kin give changed copies of x."""

    def __init__(self, x):
        self._x = x

    def __getitem__(self, index):
        return _Selected(self._x, index)

    def __repr__(self):
        return f"{self._x!r}.at"


class _Selected:
    """x.at[index]. Its methods take `mode` (drop, fill, clip or promise_in_bounds) and hints about the indices."""

    def __init__(self, x, index):
        self._x, self._index = x, index

    def _changed(self, kind, values, mode=None, unique_indices=False, indices_are_sorted=False):
        if current() is None:
            (own,), _ = given(values)
            return evaluate(lambda: self._changed(kind, own, mode, unique_indices, indices_are_sorted))
        x = value("at", self._x)
        items = parsed(x.shape, self._index)
        shape = _Layout(x, items).result_shape()
        own = value("at", values)
        if own.kind != x.kind:
            own = converted(own, x.kind)
        if own.ndim > len(shape) or any(n not in (1, m) for n, m in zip(own.shape[::-1], shape[::-1])):
            raise ValueError(f"at: values of shape {own.shape} do not fit a place of shape {tuple(shape)}")
        own = expanded(own, shape)
        if kind == "scatter" and all(i.kind == "new" or i.kind == "int" or i.kind == "slice" and i.what.step == 1
                                     for i in items):
            return _overwritten(x, items, own)
        return _scattered(x, items, own, kind, mode, unique_indices, indices_are_sorted)

    def get(self, *, indices_are_sorted=False, unique_indices=False, mode=None, fill_value=None):
        """x[index], with a mode and what is read outside of x in mode fill."""
        if current() is None:
            return evaluate(lambda: self.get(mode=mode, fill_value=fill_value))
        return taken(value("at", self._x), self._index, mode, fill_value, unique_indices=unique_indices,
                     indices_are_sorted=indices_are_sorted)

    def divide(self, values, **how):
        """x with the places divided by `values`."""
        return divide(self._x, _Selected(ones_like(self._x), self._index).multiply(values, **how))

    def power(self, values, **how):
        """x with the places raised to the power `values`."""
        return power(self._x, _Selected(ones_like(self._x), self._index).multiply(values, **how))

    def apply(self, function, **how):
        """x with `function` applied to the places; one that is given several times counts once."""
        if current() is None:
            return evaluate(lambda: self.apply(function, **how), copies=True)
        return self.set(function(self.get()), **how)


def _make_method(name, kind):
    def method(self, values, *, indices_are_sorted=False, unique_indices=False, mode=None):
        return self._changed(kind, values, mode, unique_indices, indices_are_sorted)
    method.__name__, method.__doc__ = name, f"x with {kind} of `values` at the places."
    return method


for _name, _kind in _COMBINED.items():
    setattr(_Selected, _name, _make_method(_name, _kind))
_Selected.mul, _Selected.sub = _Selected.multiply, _Selected.subtract


def _overwritten(x, items, values):
    """A block of x replaced."""
    block = [1] * x.ndim
    starts = [0] * x.ndim
    for i in items:
        if i.kind == "slice":
            block[i.dim], starts[i.dim] = len(i.what), i.what.start
        elif i.kind == "int":
            starts[i.dim] = i.what
    if not math.prod(block):
        return x
    return emit("dynamic_update_slice", x, emit("reshape", values, new_sizes=block),
                *(current().lift(np.int32(s)) for s in starts))


# ---- functions of jax.numpy ----


def at(x):
    """`x.at` for any array: ricci.numpy.at(x)[index].set(y)."""
    return At(x)


@public
def take(a, indices, axis=None, out=None, mode=None, unique_indices=False, indices_are_sorted=False, fill_value=None):
    """a[indices] along `axis`, of the flattened array if None. Outside is NaN (the least integer), or as `mode` says."""
    if out is not None:
        raise ValueError("take: out is not there: results are new arrays")
    x = value("take", a)
    if axis is None:
        x, axis = emit("reshape", x, new_sizes=[x.size]), 0
    d = axis_of("take", axis, x.ndim)
    index = indices if isinstance(indices, (Value, np.ndarray)) else np.asarray(indices)
    return taken(x, (slice(None),) * d + (current().lift(index),), mode or "fill", fill_value,
                 unique_indices=unique_indices, indices_are_sorted=indices_are_sorted)


@public
def take_along_axis(arr, indices, axis=-1, mode=None, fill_value=None):
    """The element of each line along `axis` at the place that `indices` has for it."""
    x, index = value("take_along_axis", arr), value("take_along_axis", indices)
    if index.kind not in INTEGERS:
        raise TypeError(f"take_along_axis: indices are {index.dtype}; integers are expected")
    if axis is None:
        x, axis = emit("reshape", x, new_sizes=[x.size]), 0
    d = axis_of("take_along_axis", axis, x.ndim)
    if x.ndim != index.ndim:
        raise ValueError(f"take_along_axis: the array has {x.ndim} dimensions, the indices have {index.ndim}")
    line = [1] * x.ndim
    own = []
    for i, n in enumerate(x.shape):
        shape = list(line)
        shape[i] = n
        own.append(index if i == d else np.arange(n, dtype=np.int32).reshape(shape) if n != 1 else np.zeros(
            shape, np.int32))
    return taken(x, tuple(own), mode or "fill", fill_value)


__all__.append("at")  # noqa: F821, made by `public`
