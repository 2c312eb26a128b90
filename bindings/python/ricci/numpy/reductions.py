"""Reductions, cumulative functions and statistics of jax.numpy."""
import numpy as np

from ..abi.dtypes import numpy_of
from ..tracing.operands import (axes_of, axis_of, converted, dtype_or, emit, expanded, filled, promoted, public, truth,
                                value)
from ..tracing.promotion import (BOOL, COMPLEX, F32, I32, INEXACT, REAL_FLOATS, SIGNED, UNSIGNED, inexact_of,
                                 number_of_dtype, real_of)
from ..tracing.trace import current
from .choices import isclose, isnan
from .elementwise import equal

_U32 = number_of_dtype("uint32")


def kept(x, axes, keepdims, shape):
    """With dimensions of size 1 in the place of those reduced."""
    if not keepdims:
        return x
    return emit("reshape", x, new_sizes=[1 if d in axes else n for d, n in enumerate(shape)])


def _reduced(function, primitive, x, axis, keepdims, initial=None, where=None, neutral=None, combine=None):
    axes = axes_of(function, axis, x.ndim)
    if where is not None:
        if neutral is None:
            raise ValueError(f"{function}: where needs initial: there is no value for no elements")
        x = emit("select_n", expanded(truth(function, where), x.shape), filled(x, neutral), x)
    if neutral is None and initial is None and 0 in [x.shape[d] for d in axes]:
        raise ValueError(f"{function}: an array of shape {x.shape} has no elements along axis {axis}; give initial")
    found = kept(converted(emit(primitive, x, axes=axes), x.kind, weak=False), axes, keepdims, x.shape)
    if initial is None:
        return found
    start = converted(value(function, initial), found.kind, weak=False)
    return emit(combine, found, expanded(start, found.shape))


def _sum_kind(x, dtype):
    """Sums of small integers are i32 or u32."""
    if dtype is not None:
        return number_of_dtype(dtype)
    if x.kind == BOOL or (x.kind in SIGNED and x.kind < I32):
        return I32
    return _U32 if x.kind in UNSIGNED and x.kind < _U32 else x.kind


@public
def sum(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):  # noqa: A001, a name of jax.numpy
    """The sum over `axis` (all if None)."""
    x = value("sum", a)
    x = converted(x, _sum_kind(x, dtype))
    return _reduced("sum", "reduce_sum", x, axis, keepdims, initial, where, 0, "add")


@public
def prod(a, axis=None, dtype=None, *, keepdims=False, initial=None, where=None):
    """The product over `axis`."""
    x = value("prod", a)
    x = converted(x, _sum_kind(x, dtype))
    return _reduced("prod", "reduce_prod", x, axis, keepdims, initial, where, 1, "mul")


@public
def max(a, axis=None, keepdims=False, initial=None, where=None):  # noqa: A001
    """The greatest element over `axis`; NaN if one is."""
    neutral = initial if where is not None else None
    return _reduced("max", "reduce_max", value("max", a), axis, keepdims, initial, where, neutral, "max")


@public
def min(a, axis=None, keepdims=False, initial=None, where=None):  # noqa: A001
    """The least element over `axis`; NaN if one is."""
    neutral = initial if where is not None else None
    return _reduced("min", "reduce_min", value("min", a), axis, keepdims, initial, where, neutral, "min")


amax, amin = max, min


@public
def any(a, axis=None, *, keepdims=False, where=None):  # noqa: A001
    """Is any element over `axis` true?"""
    return _reduced("any", "reduce_or", truth("any", a), axis, keepdims, None, where, False)


@public
def all(a, axis=None, *, keepdims=False, where=None):  # noqa: A001
    """Are all elements over `axis` true?"""
    return _reduced("all", "reduce_and", truth("all", a), axis, keepdims, None, where, True)


@public
def count_nonzero(a, axis=None, keepdims=False):
    """How many elements over `axis` are not 0, as i32."""
    x = truth("count_nonzero", a)
    return sum(x, axes_of("count_nonzero", axis, x.ndim), keepdims=keepdims)


def _size(function, x, axis):
    return int(np.prod([x.shape[d] for d in axes_of(function, axis, x.ndim)]))


def _counts(function, x, axis, where):
    """How many elements of the mask `where` are taken, with the dimensions kept."""
    mask = converted(expanded(truth(function, where), x.shape), x.kind)
    return sum(mask, axis, keepdims=True)


@public
def mean(a, axis=None, dtype=None, *, keepdims=False, where=None):
    """The mean over `axis`; integers become floats."""
    return _mean("mean", value("mean", a), axis, dtype, keepdims, where)


def wide(kind):
    """What means are computed in: sums soon exceed floats of two bytes."""
    return F32 if kind in REAL_FLOATS and numpy_of(kind).itemsize == 2 else kind


def _mean(function, x, axis, dtype=None, keepdims=False, where=None):
    axis, kind = axes_of(function, axis, x.ndim), dtype_or(dtype, inexact_of(x.kind))
    x = converted(x, wide(kind))
    total = sum(x, axis, keepdims=keepdims, where=where)
    if where is None:
        count = filled(total, _size(function, x, axis))
    else:
        count = emit("reshape", _counts(function, x, axis, where), new_sizes=total.shape)
    return converted(emit("div", total, count), kind)


@public
def var(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=None, correction=None):
    """The variance over `axis`, with `ddof` fewer degrees of freedom."""
    return _var("var", value("var", a), axis, dtype, ddof if correction is None else correction, keepdims, where)


def _var(function, x, axis, dtype=None, ddof=0, keepdims=False, where=None):
    axis, kind = axes_of(function, axis, x.ndim), dtype_or(dtype, inexact_of(x.kind))
    x = converted(x, wide(kind))
    away = emit("sub", x, expanded(_mean(function, x, axis, keepdims=True, where=where), x.shape))
    if where is not None:  # before the square, whose slope would be that of a NaN that is left out
        away = emit("select_n", expanded(truth(function, where), x.shape), filled(away, 0), away)
    square = emit("real", emit("mul", away, emit("conj", away))) if x.kind in COMPLEX else emit("mul", away, away)
    total = sum(square, axis, keepdims=keepdims, where=where)
    if where is None:
        count = filled(total, _size(function, x, axis) - ddof)
    else:
        count = emit("reshape", _counts(function, square, axis, where), new_sizes=total.shape)
        count = emit("sub", count, filled(count, ddof))
    return converted(emit("div", total, count), real_of(kind))


@public
def std(a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=None, correction=None):
    """The root of `var`."""
    ddof = ddof if correction is None else correction
    return emit("sqrt", _var("std", value("std", a), axis, dtype, ddof, keepdims, where))


@public
def average(a, axis=None, weights=None, returned=False, keepdims=False):
    """The mean over `axis` weighted by `weights` (of a's shape, or along one axis); with their sum if `returned`."""
    if weights is None:
        found = _mean("average", value("average", a), axis, keepdims=keepdims)
        total = filled(found, _size("average", value("average", a), axis))
        return (found, total) if returned else found
    x, w = promoted("average", a, weights, inexact=True)
    if w.shape != x.shape:
        if axis is None or w.ndim != 1:
            raise ValueError(f"average: weights have shape {w.shape}, the array {x.shape}; one axis must be given")
        d = axis_of("average", axis, x.ndim)
        if w.shape[0] != x.shape[d]:
            raise ValueError(f"average: there are {w.shape[0]} weights for {x.shape[d]} elements along axis {axis}")
        w = emit("broadcast_in_dim", w, shape=x.shape, broadcast_dimensions=[d])
    axis = axes_of("average", axis, x.ndim)
    total = sum(w, axis, keepdims=keepdims)
    found = emit("div", sum(emit("mul", x, w), axis, keepdims=keepdims), total)
    return (found, total) if returned else found


@public
def ptp(a, axis=None, keepdims=False):
    """The greatest less the least element."""
    x = value("ptp", a)
    axis = axes_of("ptp", axis, x.ndim)
    return emit("sub", max(x, axis, keepdims), min(x, axis, keepdims))


def _arg(function, primitive, a, axis, keepdims):
    x = value(function, a)
    if x.kind == BOOL:
        x = converted(x, I32)
    flat = emit("reshape", x, new_sizes=[x.size]) if axis is None else x
    d = 0 if axis is None else axis_of(function, axis, x.ndim)
    if not flat.shape or flat.shape[d] == 0:
        raise ValueError(f"{function}: an array of shape {x.shape} has no elements along axis {axis}")
    found = converted(emit(primitive, flat, axes=[d], index_dtype="int32"), I32, weak=False)
    return kept(found, range(x.ndim) if axis is None else (d,), keepdims, x.shape)


@public
def argmax(a, axis=None, *, keepdims=None):
    """The index of the greatest element, i32; of the flattened array if `axis` is None."""
    return _arg("argmax", "argmax", a, axis, keepdims)


@public
def argmin(a, axis=None, *, keepdims=None):
    """The index of the least element, i32; of the flattened array if `axis` is None."""
    return _arg("argmin", "argmin", a, axis, keepdims)


# ---- without NaN ----


def _known(x, neutral):
    """With `neutral` in the place of NaN."""
    return emit("select_n", isnan(x), x, filled(x, neutral)) if x.kind in INEXACT else x


def _without_nan(name, over, neutral):
    def function(a, axis=None, *, keepdims=False):
        x = value(name, a)
        return over(_known(x, neutral), axes_of(name, axis, x.ndim), keepdims=keepdims)
    function.__name__, function.__doc__ = name, f"{over.__name__} of the elements that are not NaN."
    return public(function)


nansum, nanprod = _without_nan("nansum", sum, 0), _without_nan("nanprod", prod, 1)


@public
def nanmean(a, axis=None, *, keepdims=False):
    """The mean of the elements that are not NaN."""
    x = value("nanmean", a)
    known = emit("not", isnan(x)) if x.kind in INEXACT else None
    return _mean("nanmean", x, axis, keepdims=keepdims, where=known)


@public
def nanvar(a, axis=None, *, ddof=0, keepdims=False):
    """The variance of the elements that are not NaN."""
    return _nanvar("nanvar", a, axis, ddof, keepdims)


def _nanvar(function, a, axis, ddof, keepdims):
    x = value(function, a)
    known = emit("not", isnan(x)) if x.kind in INEXACT else None
    return _var(function, x, axis, ddof=ddof, keepdims=keepdims, where=known)


@public
def nanstd(a, axis=None, *, ddof=0, keepdims=False):
    """The root of `nanvar`."""
    return emit("sqrt", _nanvar("nanstd", a, axis, ddof, keepdims))


def _extreme_without_nan(name, over, neutral, otherwise):
    def function(a, axis=None, *, keepdims=False):
        x = value(name, a)
        axes = axes_of(name, axis, x.ndim)  # before `over`, so that the message has this name
        if x.kind not in REAL_FLOATS:
            return over(x, axis, keepdims=keepdims)
        found = over(_known(x, neutral), axis, keepdims=keepdims)
        none = all(isnan(x), axes, keepdims=keepdims)
        return emit("select_n", none, found, filled(found, otherwise))
    function.__name__ = name
    function.__doc__ = f"{over.__name__} of the elements that are not NaN; {otherwise} if there are none."
    return public(function)


nanmax = _extreme_without_nan("nanmax", max, -np.inf, np.nan)
nanmin = _extreme_without_nan("nanmin", min, np.inf, np.nan)
nanargmax = _extreme_without_nan("nanargmax", argmax, -np.inf, -1)
nanargmin = _extreme_without_nan("nanargmin", argmin, np.inf, -1)

# ---- cumulative ----


def _cumulative(function, primitive, a, axis, dtype):
    x = value(function, a)
    x = converted(x, dtype_or(dtype, I32 if x.kind == BOOL else x.kind), weak=False)
    if axis is None:
        x, axis = emit("reshape", x, new_sizes=[x.size]), 0
    return emit(primitive, x, axis=axis_of(function, axis, x.ndim), reverse=False)


@public
def cumsum(a, axis=None, dtype=None):
    """Sums of the elements up to each one; of the flattened array if `axis` is None."""
    return _cumulative("cumsum", "cumsum", a, axis, dtype)


@public
def cumprod(a, axis=None, dtype=None):
    """Products of the elements up to each one."""
    return _cumulative("cumprod", "cumprod", a, axis, dtype)


def _cumulative_without_nan(name, over, neutral):
    def function(a, axis=None, dtype=None):
        return over(_known(value(name, a), neutral), axis, dtype)
    function.__name__, function.__doc__ = name, f"{over.__name__} of the elements that are not NaN."
    return public(function)


nancumsum, nancumprod = _cumulative_without_nan("nancumsum", cumsum, 0), _cumulative_without_nan("nancumprod", cumprod, 1)


@public
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Do all elements hold in `isclose`?"""
    return all(isclose(a, b, rtol, atol, equal_nan))


@public
def array_equal(a1, a2, equal_nan=False):
    """Do both have one shape, and equal elements?"""
    x, y = value("array_equal", a1), value("array_equal", a2)
    if x.shape != y.shape:
        return current().constant(np.False_)
    same = equal(x, y)
    if equal_nan and x.kind in INEXACT and y.kind in INEXACT:
        same = emit("or", same, emit("and", isnan(x), isnan(y)))
    return all(same)


def _cumulative_along(name, over, sum_kind, neutral):
    def function(x, /, *, axis=None, dtype=None, include_initial=False):
        v = value(name, x)
        if axis is None and v.ndim != 1:
            raise ValueError(f"{name}: axis is None, the array has {v.ndim} dimensions; give axis")
        d = axis_of(name, axis or 0, v.ndim)
        found = over(v, d, dtype) if sum_kind is None else over(converted(v, sum_kind(v, dtype)), d)
        if not include_initial:
            return found
        low = [int(i == d) for i in range(v.ndim)]
        return emit("pad", found, filled_scalar(found, neutral), low=low, high=[0] * v.ndim, interior=[0] * v.ndim)
    function.__name__ = name
    function.__doc__ = (f"As `{over.__name__}`, of an array with one dimension if `axis` is None; `include_initial` puts "
                        f"{'a zero' if neutral == 0 else 'a one'} before.")
    return public(function)


cumulative_sum = _cumulative_along("cumulative_sum", cumsum, _sum_kind, 0)
cumulative_prod = _cumulative_along("cumulative_prod", cumprod, None, 1)


def filled_scalar(like, number):
    """A scalar of the type of `like`."""
    return like._trace.constant(np.asarray(number, like.dtype), like.kind)


__all__ += ["amax", "amin"]  # noqa: F821, made by `public`
