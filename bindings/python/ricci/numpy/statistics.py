"""Statistics of jax.numpy: covariances, quantiles, histograms."""
import operator

import numpy as np

from ..tracing.operands import axes_of, converted, emit, expanded, filled, promoted, public, shape_of_value, value
from ..tracing.promotion import BOOL, COMPLEX, I32, INEXACT, INTEGERS, number_of_dtype
from ..tracing.value import Value, refuse
from .arrays import asarray
from .choices import clip, conj, imag, isnan, real, where
from .creation import zeros, zeros_like
from .differences import diff
from .elementwise import abs as absolute
from .elementwise import divide, equal, multiply, real_value, subtract
from .indexing import at, take_along_axis
from .joining import concatenate
from .order import diag, rows_of, searchsorted, sort
from .products import dot
from .ranges import linspace
from .reductions import any as is_any
from .reductions import average, wide
from .reductions import max as greatest
from .reductions import min as least
from .reductions import sum as total
from .shaping import atleast_2d, moveaxis, reshape, squeeze, transpose

# ---- covariances ----


def _samples(function, m, y, rowvar):
    """Variables by samples."""
    values = promoted(function, *([m] if y is None else [m, y]), inexact=True)
    for v in values:
        if v.ndim > 2:
            raise ValueError(f"{function}: an array has {v.ndim} dimensions; vectors or matrices are expected")
    rows = [transpose(v) if not rowvar and v.ndim == 2 else atleast_2d(v) for v in values]
    return concatenate(rows, 0)


def _weights(name, w, n):
    w = absolute(value("cov", w))
    if w.shape != (n,):
        raise ValueError(f"cov: {name} has shape {w.shape}; there are {n} samples")
    return w


@public
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None):
    """The covariances of variables: rows of `m` and `y`, columns if not `rowvar`. Divided by the number of samples less
    `ddof` (1, or 0 if `bias`). `fweights` are how often each sample was seen, `aweights` weights."""
    x = _samples("cov", m, y, rowvar)
    x = x if dtype is None else converted(x, number_of_dtype(dtype))
    if x.kind not in INEXACT:
        raise TypeError(f"cov: dtype is {x.dtype}; a float or complex dtype is expected")
    n, w = x.shape[1], None
    ddof = (0 if bias else 1) if ddof is None else ddof
    if fweights is not None:
        w = _weights("fweights", fweights, n)
        if w.kind not in INTEGERS:
            raise TypeError(f"cov: fweights are {w.dtype}; integers are expected")
    if aweights is not None:
        own = _weights("aweights", aweights, n)
        w = own if w is None else multiply(w, own)
    count = n if w is None else total(w)
    divisor = subtract(count, ddof if aweights is None or not ddof else
                       divide(multiply(ddof, total(multiply(w, own))), count))
    x = subtract(x, reshape(average(x, 1, w), (x.shape[0], 1)))
    weighted = x if w is None else multiply(x, w)
    return squeeze(divide(dot(x, conj(transpose(weighted))), divisor))


@public
def corrcoef(x, y=None, rowvar=True, dtype=None):
    """The correlations of variables, as `cov` takes them."""
    c = cov(x, y, rowvar, dtype=dtype)
    if not c.ndim:
        return divide(c, c)
    scale = converted(emit("sqrt", real(diag(c))), c.kind)
    n = c.shape[0]
    c = divide(divide(c, reshape(scale, (n, 1))), reshape(scale, (1, n)))
    if c.kind in COMPLEX:
        return emit("complex", clip(real(c), -1, 1), clip(imag(c), -1, 1))
    return clip(c, -1, 1)


# ---- quantiles ----

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


def _quantile(function, a, q, axis, method, keepdims, skips_nan):
    (x,) = promoted(function, real_value(function, a), inexact=True)
    x, kind = converted(x, wide(x.kind)), x.kind
    x, part = promoted(function, x, q)
    if method not in _METHODS:
        raise ValueError(f"{function}: method is {method!r}; it must be {', '.join(_METHODS[:-1])} or {_METHODS[-1]}")
    if part.ndim > 1:
        raise ValueError(f"{function}: q has {part.ndim} dimensions; a number or a vector is expected")
    axes = axes_of(function, axis, x.ndim)
    rows = rows_of(x, axes)
    if not rows.shape[-1]:
        raise ValueError(f"{function}: an array of shape {x.shape} has no elements along axis {axis}")
    found = _in_rows(rows, reshape(part, (part.size,)), method, skips_nan)
    shape = [1 if d in axes else s for d, s in enumerate(x.shape)] if keepdims else rows.shape[:-1]
    return converted(reshape(moveaxis(found, -1, 0), (*part.shape, *shape)), kind, weak=False)


def _in_rows(rows, q, method, skips_nan):
    """The quantiles `q` (a vector) of the rows, as the last dimension."""
    unknown = isnan(rows)
    if not skips_nan:
        unknown = expanded(is_any(unknown, -1, keepdims=True), rows.shape)
    ordered = sort(where(unknown, np.nan, rows), -1)
    known = converted(emit("not", unknown), I32) if skips_nan else filled(converted(unknown, I32), 1)
    last = subtract(converted(total(known, -1, keepdims=True), rows.kind), 1)
    position = multiply(q, last)
    floor, ceiling = emit("floor", position), emit("ceil", position)
    part = subtract(position, floor)
    low, high = (take_along_axis(ordered, converted(clip(clip(i, None, last), 0, None), I32), -1)
                 for i in (floor, ceiling))
    if method == "linear":
        return low * (1 - part) + high * part
    if method == "midpoint":
        return (low + high) * 0.5
    return low if method == "lower" else high if method == "higher" else where(part <= 0.5, low, high)


def _define(name, doc, skips_nan, scale):
    def function(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False):
        if out is not None or overwrite_input:
            raise ValueError(f"{name}: out and overwrite_input are not there: arrays do not change")
        q = value(name, q)
        return _quantile(name, a, divide(q, scale) if scale != 1 else q, axis, method, keepdims, skips_nan)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc}; between two elements by `method`: {', '.join(_METHODS)}."
    return public(function)


quantile = _define("quantile", "What the part `q`, a number or a vector, of the elements is below", False, 1)
percentile = _define("percentile", "What `q` percent of the elements are below", False, 100)
nanquantile = _define("nanquantile", "As `quantile`, of the elements that are not NaN", True, 1)
nanpercentile = _define("nanpercentile", "As `percentile`, of the elements that are not NaN", True, 100)


@public
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The median of the elements that are not NaN."""
    return nanquantile(a, 0.5, axis, out, overwrite_input, keepdims=keepdims)


# ---- counts ----


@public
def bincount(x, weights=None, minlength=0, *, length=None):
    """How often each of 0, 1, ... is in a vector of integers, or the sums of their weights. Of a value `length` must be
    given; what is not below it is left out."""
    if length is None and isinstance(x, Value):
        refuse(x, "bincount: the size of the result, which follows from", "give length")
    if length is None:
        length = max(int(np.max(x, initial=-1)) + 1, minlength)
    v = value("bincount", x)
    v = converted(v, I32) if v.kind == BOOL else v
    if v.kind not in INTEGERS or v.ndim != 1:
        raise TypeError(f"bincount: an array {v.dtype}{list(v.shape)} is given; a vector of integers is expected")
    w = filled(converted(v, I32), 1) if weights is None else value("bincount", weights)
    if w.shape != v.shape:
        raise ValueError(f"bincount: weights have shape {w.shape}, the array {v.shape}")
    return at(zeros(operator.index(length), w.dtype))[clip(v, 0, None)].add(w, mode="drop")


@public
def digitize(x, bins, right=False):
    """The number of the bin of each element: bins[i - 1] <= x < bins[i], or with `right` < and <=; bins may decrease."""
    own, edges = value("digitize", x), value("digitize", bins)
    if edges.ndim != 1:
        raise ValueError(f"digitize: bins have {edges.ndim} dimensions; a vector is expected")
    if not edges.size:
        return converted(zeros_like(own), I32)
    side = "left" if right else "right"
    up = searchsorted(edges, own, side=side)
    down = subtract(edges.size, searchsorted(emit("rev", edges, dimensions=[0]), own, side=side))
    return where(edges[-1] >= edges[0], up, down)


@public
def histogram_bin_edges(a, bins=10, range=None, weights=None):  # noqa: A002, names of jax.numpy
    """`bins` + 1 numbers from the least to the greatest element, or over `range`; a vector `bins` is itself."""
    (x,) = promoted("histogram_bin_edges", a, inexact=True)
    if isinstance(bins, str):
        raise ValueError(f"histogram_bin_edges: bins is {bins!r}; a number or a vector is expected")
    if len(shape_of_value(bins)) == 1:
        return asarray(bins, x.dtype)
    low, high = (least(x), greatest(x)) if range is None else (asarray(r, x.dtype) for r in range)
    same = equal(low, high)
    low, high = where(same, low - 0.5, low), where(same, high + 0.5, high)
    return linspace(low, high, operator.index(bins) + 1, dtype=x.dtype)


@public
def histogram(a, bins=10, range=None, weights=None, density=None):  # noqa: A002, names of jax.numpy
    """(how many elements, or the sums of their weights, are in each bin; the edges). The last bin has its upper edge."""
    x, w = promoted("histogram", a, a if weights is None else weights, inexact=True)
    if w.shape != x.shape:
        raise ValueError(f"histogram: weights have shape {w.shape}, the array {x.shape}")
    w = filled(x, 1) if weights is None else w
    edges = histogram_bin_edges(x, bins, range)
    i = where(equal(x, edges[-1]), edges.size - 1, searchsorted(edges, x, side="right"))
    counts = at(zeros(edges.size, x.dtype))[i].add(w)[1:]
    if density:
        counts = counts / diff(edges) / total(counts)
    return counts, edges
