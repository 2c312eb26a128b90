"""The parts of an index: what NumPy's slices, `...`, None, integers and arrays in it refer to.

Nothing is computed here: an index is checked against the shape of its array, and bools become integers.
"""
import numpy as np

from ..tracing.operands import is_operand
from ..tracing.value import Value, refuse


class Item:
    """One part of an index: `kind` is new, int, slice or array; `dim` the dimension of x, None for new."""

    def __init__(self, kind, what, dim):
        self.kind, self.what, self.dim = kind, what, dim


def _bool_items(what, dim, shape):
    """The places where a bool array that is known holds, as integer arrays."""
    if isinstance(what, Value):
        refuse(what, "how many elements hold in", "use ricci.numpy.where(mask, x, y), which keeps the size")
    if what.shape != tuple(shape[dim:dim + what.ndim]):
        raise IndexError(f"a bool index has shape {what.shape}, the array there {tuple(shape[dim:dim + what.ndim])}")
    return [Item("array", positions, dim + i) for i, positions in enumerate(np.nonzero(what))]


def _item(what, dim, shape):
    """The items of one part that is neither None nor `...`."""
    if isinstance(what, slice):
        if any(isinstance(n, Value) for n in (what.start, what.stop, what.step)):
            known = next(n for n in (what.start, what.stop, what.step) if isinstance(n, Value))
            refuse(known, "the size of the slice, which follows from", "use ricci.lax.dynamic_slice(x, i, slice_sizes=...)"
                   " for a slice of known size")
        return [Item("slice", range(*what.indices(shape[dim])), dim)]
    if isinstance(what, (list, tuple)):
        raise TypeError(f"an index is a {type(what).__name__}; use numpy.asarray for an array of integers")
    if isinstance(what, (bool, np.bool_)) or not is_operand(what):
        raise TypeError(f"an index is {what!r}; integers, slices, None, ... and arrays of integers or bools are expected")
    if not isinstance(what, Value):
        array = np.asarray(what)
        if array.ndim == 0 and array.dtype.kind in "iu":
            return [Item("int", _inside(int(array), dim, shape[dim]), dim)]
        what = array
    if what.dtype == np.bool_:
        return _bool_items(what, dim, shape)
    if what.dtype.kind not in "iu":
        raise TypeError(f"an index has elements {what.dtype}; integers or bools are expected")
    return [Item("array", what, dim)]


def _inside(i, dim, size):
    if not -size <= i < size:
        raise IndexError(f"index {i} is outside of dimension {dim}, which has size {size}")
    return i % size


def _taken_dims(part):
    """How many dimensions of x a part of an index takes."""
    if part is None:
        return 0
    return part.ndim if getattr(part, "dtype", None) == np.bool_ and getattr(part, "ndim", 0) else 1


def parsed(shape, index):
    """The items of an index of an array of that shape, those that `...` and missing parts stand for among them."""
    parts = index if isinstance(index, tuple) else (index,)
    dots = [i for i, p in enumerate(parts) if p is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has ... twice")
    given = sum(_taken_dims(p) for p in parts if p is not Ellipsis)
    if given > len(shape):
        raise IndexError(f"{given} indices are given for {len(shape)} dimension{'' if len(shape) == 1 else 's'}")
    rest = [slice(None)] * (len(shape) - given)
    at = dots[0] if dots else len(parts)
    parts = [*parts[:at], *rest, *parts[at + 1:]]
    items, dim = [], 0
    for part in parts:
        if part is None:
            items.append(Item("new", None, None))
            continue
        items += _item(part, dim, shape)
        dim += _taken_dims(part)
    return items
