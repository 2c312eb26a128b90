"""Functions of jax.numpy of sampled functions: differences, integrals, interpolation."""
import numpy as np

from .indexing import taken
from .numpy_choices import clip, where
from .numpy_elementwise import divide, equal, filled, multiply, not_equal, subtract
from .numpy_joining import pieces
from .numpy_operands import axis_of, emit, promoted, public, value
from .numpy_order import searchsorted
from .numpy_reductions import sum as total
from .promotion import BOOL


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
    own, places = promoted("interp", x, xp, inexact=True)
    (values,) = promoted("interp", fp, inexact=True)
    if places.ndim != 1 or places.shape != values.shape or not places.size:
        raise ValueError(f"interp: xp and fp have shapes {places.shape} and {values.shape}; vectors of one size are "
                         "expected")
    i = clip(searchsorted(places, own, side="right"), 1, max(places.size - 1, 1))
    before = subtract(i, 1)
    width = subtract(taken(places, i), taken(places, before))
    none = equal(width, 0)
    part = divide(subtract(own, taken(places, before)), where(none, filled(width, 1), width))
    low, high = taken(values, before), taken(values, i)
    found = where(none, low, emit("add", low, multiply(part, subtract(high, low))))
    found = where(own < taken(places, 0), taken(values, 0) if left is None else left, found)
    return where(own > taken(places, -1), taken(values, -1) if right is None else right, found)
