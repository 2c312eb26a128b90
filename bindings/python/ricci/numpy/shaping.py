"""Functions of jax.numpy that change shapes: reshape, transpose, broadcast."""
import builtins
import math
import operator

import numpy as np

from ..tracing.operands import (axes_of, axis_of, broadcast_shapes_of, emit, expanded, public, shape_of,
                                shape_of_value, value)
from ..tracing.value import TracingError


@public
def reshape(a, shape, order="C", *, copy=None):
    """The elements in another shape; one size may be -1. `order` "F" runs through the first dimension fastest."""
    x = value("reshape", a)
    sizes = [shape] if not isinstance(shape, (tuple, list, np.ndarray)) else list(shape)
    try:
        sizes = [operator.index(n) for n in sizes]
    except TracingError:
        raise
    except TypeError:
        raise TypeError(f"reshape: shape is {shape!r}; integers are expected") from None
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


def _at_least(name, rank, expand):
    def function(*arys):
        found = [expand(value(name, a)) for a in arys]
        return found[0] if len(found) == 1 else found
    function.__name__, function.__doc__ = name, f"With at least {rank} dimension{'s' if rank > 1 else ''}."
    return public(function)


def _to_2d(x):
    return emit("reshape", x, new_sizes=[*[1] * builtins.max(2 - x.ndim, 0), *x.shape])


def _to_3d(x):
    return emit("reshape", x, new_sizes=[[1, 1, 1], [1, *x.shape, 1], [*x.shape, 1]][x.ndim] if x.ndim < 3 else x.shape)


atleast_1d = _at_least("atleast_1d", 1, lambda x: emit("reshape", x, new_sizes=x.shape or [1]))
atleast_2d, atleast_3d = _at_least("atleast_2d", 2, _to_2d), _at_least("atleast_3d", 3, _to_3d)


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
