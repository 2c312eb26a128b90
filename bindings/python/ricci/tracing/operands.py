"""What every function of ricci.numpy does with its operands: promotion, broadcasting, axes, and being public.

A public function that is called outside of any trace is traced and run at once, and gives arrays of NumPy.
"""
import functools
import operator
import sys

import numpy as np

from ..abi.dtypes import numpy_of
from ..calls.frames import hide_frames
from .given_numbers import given
from .promotion import BOOL, I32, inexact_of, number_of_dtype, result_type
from .trace import current, evaluate, is_array, is_number, type_of
from .value import TracingError, Value


def public(function):
    """Makes a function one of the namespace of its module."""
    @functools.wraps(function)
    def call(*arguments, **named):
        try:
            if current() is not None:
                return function(*arguments, **named)
            own, by_name = given(*arguments, **named)
            return evaluate(lambda: function(*own, **by_name))
        except BaseException as error:
            hide_frames(error)
            raise
    sys.modules[function.__module__].__dict__.setdefault("__all__", []).append(function.__name__)
    return call


def is_operand(x):
    return is_array(x) and not isinstance(x, (list, tuple))


def emit(primitive, *operands, **attributes):
    """The single result of an equation of the current trace."""
    return current().emit(primitive, operands, attributes)[0]


def splat(number, kind, shape, weak=False):
    """A number in a type, as a constant of the current trace."""
    number = number.item() if isinstance(number, np.generic) else number
    if is_number(number):
        return current().number(number, kind, shape, weak)
    return current().constant(np.asarray(number, numpy_of(kind)), kind, shape, weak)


def filled(like, number):
    """A number in the type and shape of a value; weak where that is."""
    return splat(number, like.kind, like.shape, like.weak)


def checked(function, x):
    """An error unless `x` can be an operand; lists are none, as in jax.numpy."""
    if not is_operand(x):
        raise TypeError(f"{function}: an array or a number is expected, {type(x).__name__} is given"
                        + ("; numpy.asarray or ricci.numpy.asarray makes an array of it"
                           if isinstance(x, (list, tuple)) else ""))
    return x


def value(function, x):
    """An operand as a value of the current trace."""
    return current().lift(checked(function, x))


def converted(x, kind, weak=None):
    """A value as `kind`, a number of the C ABI."""
    x = current().converted(x, kind)
    return x if weak is None or x.weak == weak else Value(x._trace, x.number, x.kind, x.shape, weak, x.recipe)


def common_kind(function, operands, inexact=False):
    """(dtype, whether it is weak) that the operands are promoted to."""
    kind, weak = result_type([(k, w) for k, _, w in (type_of(checked(function, x)) for x in operands)])
    return (inexact_of(kind) if inexact else kind), weak


def promoted(function, *operands, inexact=False, numeric=False):
    """The operands as values of one type; bools are i32 if `numeric`."""
    kind, weak = common_kind(function, operands, inexact)
    kind = I32 if numeric and kind == BOOL else kind
    return [converted(current().lift(x, kind if not isinstance(x, Value) and not np.ndim(x) else None), kind, weak)
            for x in operands]


def broadcast_shapes_of(function, shapes):
    """The shape that all broadcast to."""
    rank, found = max(map(len, shapes), default=0), []
    for d in range(-rank, 0):
        sizes = {s[d] for s in shapes if len(s) >= -d} - {1}
        if len(sizes) > 1:
            raise ValueError(f"{function}: shapes {', '.join(map(str, map(tuple, shapes)))} do not broadcast: dimension "
                             f"{d} has the sizes {' and '.join(map(str, sorted(sizes)))}")
        found.append(sizes.pop() if sizes else 1)
    return tuple(found)


def expanded(x, shape):
    """A value broadcast to `shape`."""
    if x.shape == tuple(shape):
        return x
    lead = len(shape) - len(x.shape)
    kept = [d for d, n in enumerate(x.shape) if n == shape[lead + d]]
    if len(kept) < len(x.shape):
        x = emit("squeeze", x, dimensions=[d for d in range(len(x.shape)) if d not in kept])
    return emit("broadcast_in_dim", x, shape=shape, broadcast_dimensions=[lead + d for d in kept])


def aligned(function, *operands, inexact=False, numeric=False):
    """The operands as values of one type and one shape."""
    values = promoted(function, *operands, inexact=inexact, numeric=numeric)
    shape = broadcast_shapes_of(function, [v.shape for v in values])
    return [expanded(v, shape) for v in values]


def weakened(result, values):
    """The result, weak if all operands are."""
    return converted(result, result.kind, all(v.weak for v in values)) if values else result


def truth(function, x):
    """x != 0."""
    v = value(function, x)
    return v if v.kind == BOOL else emit("ne", v, filled(v, 0))


def axis_of(function, axis, rank, name="axis"):
    """An axis counted from the front."""
    try:
        number = operator.index(axis)
    except TracingError:
        raise
    except TypeError:
        raise TypeError(f"{function}: {name} is {axis!r}; an integer is expected") from None
    if not -rank <= number < rank:
        raise ValueError(f"{function}: {name} is {number}; the array has {rank} dimension{'' if rank == 1 else 's'}")
    return number % rank


def axes_of(function, axis, rank):
    """Several axes: all for None."""
    if axis is None:
        return tuple(range(rank))
    axes = tuple(axis_of(function, a, rank) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))
    if len(set(axes)) < len(axes):
        raise ValueError(f"{function}: axis is {axis}, which names one dimension twice")
    return axes


def shape_of(function, shape):
    """A shape as a tuple of integers."""
    try:
        given = (shape,) if not isinstance(shape, (tuple, list, np.ndarray)) else tuple(shape)
        found = tuple(map(operator.index, given))
    except TracingError:
        raise
    except TypeError:
        raise TypeError(f"{function}: shape is {shape!r}; integers are expected") from None
    if any(n < 0 for n in found):
        raise ValueError(f"{function}: shape is {found}; sizes must not be negative")
    return found


def shape_of_value(x):
    """The shape of an operand; () of a number."""
    return tuple(x.shape) if hasattr(x, "shape") else np.shape(x)


def dtype_or(dtype, otherwise):
    """The number of `dtype`; `otherwise` for None."""
    return otherwise if dtype is None else number_of_dtype(dtype)
