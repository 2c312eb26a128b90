"""Numbers evenly apart, as by jax.numpy."""
import builtins

from ..abi.dtypes import numpy_of
from ..tracing.operands import broadcast_shapes_of, common_kind, converted, dtype_or, emit, expanded, public, splat, value
from ..tracing.promotion import COMPLEX, INTEGERS, inexact_of, number_of_dtype
from .creation import static
from .elementwise import abs as absolute
from .elementwise import exp, log, multiply, power, sign
from .shaping import moveaxis


def _ends(function, start, stop, dtype):
    """Both ends as floats or complex numbers that are wide enough for `dtype`."""
    kind = common_kind(function, [start, stop], inexact=True)[0] if dtype is None else inexact_of(number_of_dtype(dtype))
    return [converted(value(function, x), kind) for x in (start, stop)]


@public
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, *, device=None):
    """`num` numbers from start to stop, evenly apart, with `stop` if `endpoint`; a new axis for them. Rounded down if
    `dtype` is one of integers."""
    (num,) = static("linspace", num)
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
    low, high = _ends("logspace", start, stop, dtype)
    found = power(base, linspace(low, high, num, endpoint, axis=axis))
    return converted(found, dtype_or(dtype, found.kind))


@public
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """`num` numbers from start to stop, each the same multiple of the one before; not of complex numbers."""
    low, high = _ends("geomspace", start, stop, dtype)
    if low.kind in COMPLEX:
        raise TypeError(f"geomspace: operands are {low.dtype}; real numbers are expected")
    found = multiply(sign(low), exp(linspace(log(absolute(low)), log(absolute(high)), num, endpoint)))
    return moveaxis(converted(found, dtype_or(dtype, found.kind), weak=False), 0, axis)
