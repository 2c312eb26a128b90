"""Functions of jax.numpy of sampled functions: differences, slopes, integrals, interpolation."""
import numpy as np

from ..tracing.operands import axes_of, axis_of, converted, emit, filled, promoted, public, value
from ..tracing.promotion import BOOL, INTEGERS
from .choices import clip, where
from .elementwise import abs as absolute
from .elementwise import divide, equal, multiply, not_equal, real_value, remainder, subtract
from .indexing import taken
from .joining import concatenate, pieces
from .order import searchsorted
from .reductions import cumsum
from .reductions import sum as total
from .shaping import ravel


@public
def diff(a, n=1, axis=-1, prepend=None, append=None):
    """The differences of neighbours along `axis`, taken `n` times."""
    x = value("diff", a)
    d = axis_of("diff", axis, x.ndim)
    if prepend is not None or append is not None:
        raise ValueError("diff: prepend and append are not there: use concatenate")
    if n < 0:
        raise ValueError(f"diff: n is {n}; it must not be negative")
    for _ in range(n):
        if x.shape[d] == 0:
            return x
        first, last = pieces("diff", x, d, [x.shape[d] - 1])[0], pieces("diff", x, d, [1])[1]
        x = not_equal(last, first) if x.kind == BOOL else subtract(last, first)
    return x


@public
def trapezoid(y, x=None, dx=1.0, axis=-1):
    """The integral of `y` along `axis` by trapezoids, at the places `x` or at steps of `dx`."""
    (v,) = promoted("trapezoid", y, inexact=True)
    d = axis_of("trapezoid", axis, v.ndim)
    low, high = pieces("trapezoid", v, d, [v.shape[d] - 1])[0], pieces("trapezoid", v, d, [1])[1]
    if x is None:
        step = dx
    else:
        (x,) = promoted("trapezoid", x, inexact=True)
        step = diff(x, axis=d if x.ndim > 1 else 0)
        if step.ndim == 1:
            step = emit("reshape", step, new_sizes=[step.size if i == d else 1 for i in range(v.ndim)])
    return multiply(0.5, total(multiply(emit("add", low, high), step), d))


@public
def interp(x, xp, fp, left=None, right=None):
    """The values at `x` of the line through the points (xp, fp), xp increasing; outside its ends, or `left`, `right`."""
    own, points = promoted("interp", x, xp, inexact=True)
    (values,) = promoted("interp", fp, inexact=True)
    if points.ndim != 1 or points.shape != values.shape or not points.size:
        raise ValueError(f"interp: xp and fp have shapes {points.shape} and {values.shape}; vectors of one size are "
                         "expected")
    i = clip(searchsorted(points, own, side="right"), 1, max(points.size - 1, 1))
    before = subtract(i, 1)
    width = subtract(taken(points, i), taken(points, before))
    none = equal(width, 0)
    part = divide(subtract(own, taken(points, before)), where(none, filled(width, 1), width))
    low, high = taken(values, before), taken(values, i)
    found = where(none, low, emit("add", low, multiply(part, subtract(high, low))))
    found = where(own < taken(points, 0), taken(values, 0) if left is None else left, found)
    return where(own > taken(points, -1), taken(values, -1) if right is None else right, found)


@public
def ediff1d(ary, to_end=None, to_begin=None):
    """The differences of neighbours of the flattened array, between `to_begin` and `to_end`."""
    x = ravel(ary)
    before, after = ([] if p is None else [converted(ravel(p), x.kind, weak=False)] for p in (to_begin, to_end))
    return concatenate([*before, subtract(x[1:], x[:-1]), *after])


@public
def unwrap(p, discont=None, axis=-1, period=2 * np.pi):
    """Without jumps of more than `discont` (half a period): multiples of the period are added."""
    x, period = promoted("unwrap", real_value("unwrap", p), period)
    d = axis_of("unwrap", axis, x.ndim)
    if not x.shape[d]:
        return x
    half = period // 2 if x.kind in INTEGERS else period / 2
    step = diff(x, axis=d)
    near = remainder(step + half, period) - half
    near = where(equal(near, -half) & (step > 0), half, near)
    change = where(absolute(step) < (period / 2 if discont is None else discont), 0, near - step)
    first, rest = pieces("unwrap", x, d, [1])
    return concatenate([first, rest + cumsum(change, d)], d)


@public
def gradient(f, *varargs, axis=None, edge_order=None):
    """The slopes of samples along each of `axis` (all; a list of arrays): of both neighbours, at the ends of one. The
    distances are 1, a number for all, or one for each axis: a number, or the places as a vector."""
    if edge_order is not None:
        raise ValueError("gradient: edge_order is not there: slopes at the ends are those of the two last samples")
    x, *steps = promoted("gradient", f, *varargs, inexact=True)
    axes = axes_of("gradient", axis, x.ndim)
    if len(steps) not in (0, 1, len(axes)) or len(steps) == 1 and len(axes) > 1 and steps[0].ndim:
        raise ValueError(f"gradient: {len(steps)} distances are given for {len(axes)} axes")
    steps = steps * len(axes) if len(steps) == 1 else steps or [1] * len(axes)
    found = [_slopes(x, h, d) for h, d in zip(steps, axes)]
    return found[0] if axis is not None and not isinstance(axis, (tuple, list)) or x.ndim == 1 else found


def _slopes(x, h, d):
    n = x.shape[d]
    if n < 2:
        raise ValueError(f"gradient: axis {d} has {n} samples; at least 2 are needed")
    if getattr(h, "ndim", 0):
        if h.shape != (n,):
            raise ValueError(f"gradient: places of shape {h.shape} are given for {n} samples")
        step = emit("reshape", subtract(h[1:], h[:-1]), new_sizes=[n - 1 if i == d else 1 for i in range(x.ndim)])
    else:
        step = None
    slope = divide(diff(x, axis=d), h if step is None else step)
    first, after = pieces("gradient", slope, d, [1])
    before, last = pieces("gradient", slope, d, [n - 2])
    if step is None:
        inner = multiply(before + after, 0.5)
    else:  # a parabola through three places
        low, high = pieces("gradient", step, d, [n - 2])[0], pieces("gradient", step, d, [1])[1]
        inner = (before * high + after * low) / (low + high)
    return concatenate([first, inner, last], d)
