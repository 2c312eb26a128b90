"""Functions of jax.numpy.linalg that count small singular values as 0: pseudo-inverses, least squares, ranks."""
import builtins

import numpy as np

from ..abi.dtypes import limits_of, numpy_of
from ..tracing.operands import converted, emit, filled, promoted, public
from ..tracing.promotion import I32, real_of
from ..transforms.custom_rules import custom_jvp
from .choices import isnan, where
from .elementwise import divide, multiply, subtract
from .linalg_factors import adjoint, inv, matrices, norm, svd, svdvals
from .products import matmul
from .reductions import any as is_any
from .reductions import max as greatest
from .reductions import sum as total
from .shaping import expand_dims


def _epsilon(x):
    return float(limits_of(numpy_of(real_of(x.kind))).eps)


@custom_jvp
def _pseudo_inverse(x, limit):
    """By singular values: those up to `limit` times the largest are left out.

    Its derivative: G. H. Golub, V. Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems
    whose variables separate", 1973.
    """
    u, s, vh = svd(x, full_matrices=False)
    kept = where(s > multiply(limit, s[..., 0:1]), s, np.inf)
    return matmul(adjoint(vh), divide(adjoint(u), converted(expand_dims(kept, -1), x.kind)))


@_pseudo_inverse.defjvp
def _pseudo_inverse_rule(primals, tangents):
    (x, limit), (t, _) = primals, tangents
    p = _pseudo_inverse(x, limit)
    ph, th = adjoint(p), adjoint(t)
    first = matmul(matmul(p, t), p)
    second, third = matmul(matmul(p, ph), th), matmul(matmul(th, ph), p)
    second = second - matmul(matmul(second, x), p)
    third = third - matmul(p, matmul(x, third))
    return p, second + third - first


@public
def pinv(a, rtol=None, hermitian=False, *, rcond=None):
    """The pseudo-inverse; singular values up to `rtol` (10 max(m, n) eps) times the largest count as 0."""
    if rtol is not None and rcond is not None:
        raise ValueError("pinv: rtol and rcond are two names of one argument")
    x = matrices("pinv", a)
    if not x.size:
        return adjoint(x)
    rtol = rcond if rtol is None else rtol
    return _pseudo_inverse(x, expand_dims(10 * builtins.max(x.shape[-2:]) * _epsilon(x) if rtol is None else rtol, -1))


@public
def matrix_rank(M, rtol=None, *, hermitian=False, tol=None):
    """How many singular values are above `rtol` (the largest times max(m, n) eps), i32; 1 for a vector that is not 0."""
    if rtol is not None and tol is not None:
        raise ValueError("matrix_rank: rtol and tol are two names of one argument")
    (x,) = promoted("matrix_rank", M, inexact=True)
    if x.ndim < 2:
        return converted(is_any(emit("ne", x, filled(x, 0))), I32)
    s, limit = svdvals(x), tol if rtol is None else rtol
    if limit is None:
        limit = multiply(greatest(s, -1), builtins.max(x.shape[-2:]) * _epsilon(x))
    return total(s > expand_dims(limit, -1), -1)


@public
def cond(x, p=None):
    """The condition number of matrices, in a norm `p` (None and 2: the ratio of the extreme singular values)."""
    m = matrices("cond", x)
    if not m.size:
        raise ValueError(f"cond: an array of shape {m.shape} has no elements")
    if p in (None, 2, -2):
        s = svdvals(m)
        found = divide(s[..., 0], s[..., -1]) if p != -2 else divide(s[..., -1], s[..., 0])
        if p != -2:
            return found
    else:
        m = matrices("cond", m, square=True)
        found = multiply(norm(m, p, (-2, -1)), norm(inv(m), p, (-2, -1)))
    return where(isnan(found) & ~is_any(isnan(m), (-2, -1)), np.inf, found)


@public
def lstsq(a, b, rcond=None, *, numpy_resid=False):
    """(x, residuals, rank, singular values) with the least |a x - b|^2 and, of those, the least |x|. The residuals are
    those of every column; singular values below `rcond` (max(m, n) eps) times the largest count as 0."""
    x, y = promoted("lstsq", a, b, inexact=True)
    if numpy_resid:
        raise ValueError("lstsq: numpy_resid is True; a result whose size depends on data is not there")
    if x.ndim != 2 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        raise ValueError(f"lstsq: arrays of shapes {x.shape} and {y.shape} are given; a matrix, and a vector or a matrix "
                         "of as many rows are expected")
    if not x.size:
        raise ValueError(f"lstsq: a matrix of shape {x.shape} has no elements")
    columns = expand_dims(y, -1) if y.ndim == 1 else y
    least = builtins.max(x.shape) * _epsilon(x) if rcond is None else where(rcond < 0, _epsilon(x), rcond)
    u, s, vh = svd(x, full_matrices=False)
    used = (s > 0) & (s >= multiply(least, s[0]))
    safe = converted(where(used, s, filled(s, 1)), x.kind)
    inverse = where(used, divide(filled(safe, 1), safe), filled(safe, 0))
    found = matmul(adjoint(vh), multiply(expand_dims(inverse, -1), matmul(adjoint(u), columns)))
    error = norm(subtract(columns, matmul(x, found)), axis=0)
    return (emit("reshape", found, new_sizes=[found.size]) if y.ndim == 1 else found, multiply(error, error),
            total(used, None), s)
