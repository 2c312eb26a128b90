"""Functions of jax.numpy.linalg over values: factorisations, solutions of linear equations, norms, products."""
import builtins
import collections
import math

import numpy as np

from ..abi.dtypes import numpy_of
from ..tracing.operands import axes_of, broadcast_shapes_of, emit, expanded, filled, promoted, public
from ..tracing.promotion import COMPLEX, real_of
from ..tracing.trace import current
from .creation import eye
from .elementwise import abs as absolute
from .order import diagonal, trace
from .products import cross, einsum, matmul, outer, tensordot, vecdot
from .reductions import kept
from .reductions import max as greatest
from .reductions import min as least
from .reductions import prod as product
from .reductions import sum as total
from .shaping import matrix_transpose, moveaxis, reshape, transpose


QRResult = collections.namedtuple("QRResult", "Q R")
SVDResult = collections.namedtuple("SVDResult", "U S Vh")
EigResult = collections.namedtuple("EigResult", "eigenvalues eigenvectors")
EighResult = collections.namedtuple("EighResult", "eigenvalues eigenvectors")
SlogdetResult = collections.namedtuple("SlogdetResult", "sign logabsdet")


def matrices(function, a, square=False):
    (x,) = promoted(function, a, inexact=True)
    if x.ndim < 2 or square and x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{function}: an array of shape {x.shape} is given; {'square ' if square else ''}matrices are "
                         "expected")
    return x


@public
def cholesky(a, *, upper=False):
    """The lower triangular l with l l^H = a, or the upper one; NaN where a is not positive definite."""
    x = matrices("cholesky", a, square=True)
    x = emit("mul", emit("add", x, adjoint(x)), filled(x, 0.5))
    found = emit("cholesky", x)
    return adjoint(found) if upper else found


def adjoint(x):
    return emit("conj", matrix_transpose(x)) if x.kind in COMPLEX else matrix_transpose(x)


@public
def qr(a, mode="reduced"):
    """q and r with a = q r (reduced or complete), or r alone."""
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"qr: mode is {mode!r}; it must be reduced, complete or r")
    q, r = current().emit("qr", [matrices("qr", a)], {"full_matrices": mode == "complete"})
    return r if mode == "r" else QRResult(q, r)


@public
def svd(a, full_matrices=True, compute_uv=True, hermitian=False):
    """u, s, vh with a = u diag(s) vh; the singular values s alone if not `compute_uv`."""
    found = current().emit("svd", [matrices("svd", a)], {"full_matrices": bool(full_matrices) and bool(compute_uv),
                                                           "compute_uv": bool(compute_uv)})
    return SVDResult(found[1], found[0], found[2]) if compute_uv else found[0]


@public
def svdvals(x, /):
    """The singular values, in descending order."""
    return svd(x, compute_uv=False)


@public
def eigh(a, UPLO=None, symmetrize_input=True):
    """(eigenvalues in ascending order, eigenvectors as columns) of Hermitian matrices."""
    x = matrices("eigh", a, square=True)
    if symmetrize_input:
        x = emit("mul", emit("add", x, adjoint(x)), filled(x, 0.5))
    v, w = current().emit("eigh", [x], {"lower": UPLO in (None, "L")})
    return EighResult(w, v)


@public
def eigvalsh(a, UPLO="L"):
    """The eigenvalues of Hermitian matrices, in ascending order."""
    return eigh(a, UPLO)[0]


def _eig(function, a, vectors):
    return current().emit("eig", [matrices(function, a, square=True)], {
        "compute_left_eigenvectors": False, "compute_right_eigenvectors": vectors})


@public
def eig(a):
    """(complex eigenvalues, eigenvectors as columns) of square matrices."""
    return EigResult(*_eig("eig", a, True))


@public
def eigvals(a):
    """The eigenvalues of square matrices; complex."""
    return _eig("eigvals", a, False)[0]


def _triangular(a, b, lower, unit=False):
    return emit("triangular_solve", a, b, left_side=True, lower=lower, transpose_a=False, conjugate_a=False,
                unit_diagonal=unit)


@public
def solve(a, b):
    """The x with a x = b; b is a vector, or matrices as a has."""
    x, y = promoted("solve", a, b, inexact=True)
    x = matrices("solve", x, square=True)
    is_vector = y.ndim == 1
    columns = emit("reshape", y, new_sizes=[y.size, 1]) if is_vector else y
    if columns.shape[-2] != x.shape[-1]:
        raise ValueError(f"solve: matrices of shape {x.shape} and right sides of shape {y.shape} do not fit")
    lead = broadcast_shapes_of("solve", [x.shape[:-2], columns.shape[:-2]])
    x = expanded(x, (*lead, *x.shape[-2:]))
    columns = expanded(columns, (*lead, *columns.shape[-2:]))
    lu, _, permutation = current().emit("lu", [x], {})
    # The rows of b in the order of the pivots, as a product with the permutation's matrix.
    n = x.shape[-1]
    rows = emit("iota", dtype="int32", shape=[*lead, n, n], dimension=len(lead) + 1)
    own = emit("broadcast_in_dim", permutation, shape=[*lead, n, n], broadcast_dimensions=range(len(lead) + 1))
    swap = emit("convert_element_type", emit("eq", rows, own), new_dtype=numpy_of(x.kind))
    found = _triangular(lu, _triangular(lu, matmul(swap, columns), True, unit=True), False)
    return emit("reshape", found, new_sizes=found.shape[:-1]) if is_vector else found


@public
def inv(a):
    """The inverse."""
    x = matrices("inv", a, square=True)
    return solve(x, expanded(eye(x.shape[-1], dtype=x.dtype), x.shape))


@public
def tensorinv(a, ind=2):
    """The inverse of tensordot(a, ., a.ndim - ind): the first `ind` dimensions are the rows."""
    (x,) = promoted("tensorinv", a, inexact=True)
    if not 0 < ind <= x.ndim or math.prod(x.shape[:ind]) != math.prod(x.shape[ind:]):
        raise ValueError(f"tensorinv: an array of shape {x.shape} with ind {ind} is not a square matrix")
    n = math.prod(x.shape[:ind])
    return reshape(inv(reshape(x, (n, n))), (*x.shape[ind:], *x.shape[:ind]))


@public
def tensorsolve(a, b, axes=None):
    """The x with tensordot(a, x, x.ndim) = b; `axes` of a are moved to its end before."""
    x, y = promoted("tensorsolve", a, b, inexact=True)
    for axis in axes or ():
        x = moveaxis(x, axis, -1)
    rest = x.shape[y.ndim:]
    if x.shape[:y.ndim] != y.shape or math.prod(rest) != y.size:
        raise ValueError(f"tensorsolve: arrays of shapes {x.shape} and {y.shape} do not fit: the first dimensions must be "
                         "those of b, and the others as many elements")
    return reshape(solve(reshape(x, (y.size, y.size)), reshape(y, (y.size,))), rest)


def _elimination(function, a):
    """(the pivots of square matrices, the function that gives a product of theirs the sign of the exchanges of rows)."""
    lu, pivots, _ = current().emit("lu", [matrices(function, a, square=True)], {})
    steps = emit("iota", dtype="int32", shape=pivots.shape, dimension=pivots.ndim - 1)
    swaps = total(emit("ne", pivots, steps), -1)
    odd = emit("rem", swaps, filled(swaps, 2))
    is_odd = emit("ne", odd, filled(odd, 0))
    return diagonal(lu, 0, -2, -1), lambda found: emit("select_n", is_odd, found, emit("neg", found))


@public
def slogdet(a, *, method=None):
    """(sign, logarithm of the absolute value) of the determinant."""
    pivots, signed = _elimination("slogdet", a)
    return SlogdetResult(signed(product(emit("sign", pivots), -1)), total(emit("log", absolute(pivots)), -1))


def _by_minors(m):
    """The determinant of up to three rows, along the first one."""
    def of(row, columns):
        if row == m.shape[-1] - 1:
            return m[..., row, columns[0]]
        found = None
        for i, column in enumerate(columns):
            rest = emit("mul", m[..., row, column], of(row + 1, columns[:i] + columns[i + 1:]))
            found = rest if found is None else emit("sub" if i % 2 else "add", found, rest)
        return found
    return of(0, tuple(range(m.shape[-1])))


@public
def det(a):
    """The determinant. Up to three rows by minors, whose derivatives exist where it is 0."""
    m = matrices("det", a, square=True)
    if 0 < m.shape[-1] <= 3:
        return _by_minors(m)
    pivots, signed = _elimination("det", a)
    return signed(product(pivots, -1))


@public
def norm(x, ord=None, axis=None, keepdims=False):
    """The norm of vectors (`axis` a number: 2, inf, -inf, 0 or any order) or matrices (two axes: fro, nuc, 1, 2, inf)."""
    (v,) = promoted("norm", x, inexact=True)
    if axis is None and ord is None:
        return _root(v, tuple(range(v.ndim)), keepdims)
    axes = axes_of("norm", axis, v.ndim)
    if len(axes) == 1:
        return _vector_norm(v, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: axis names {len(axes)} dimensions; one or two are expected")
    return _matrix_norm(v, ord, axes, keepdims)


def _root(v, axes, keepdims):
    size = emit("real", emit("mul", v, emit("conj", v))) if v.kind in COMPLEX else emit("mul", v, v)
    return emit("sqrt", total(size, axes, keepdims=keepdims))


def _vector_norm(v, ord, axes, keepdims):
    if ord in (None, 2):
        return _root(v, axes, keepdims)
    size = absolute(v)
    if ord == np.inf:
        return greatest(size, axes, keepdims, initial=0)
    if ord == -np.inf:
        return least(size, axes, keepdims)
    if ord == 0:
        kind = numpy_of(real_of(v.kind))
        return total(emit("convert_element_type", emit("ne", v, filled(v, 0)), new_dtype=kind), axes, keepdims=keepdims)
    if ord == 1:
        return total(size, axes, keepdims=keepdims)
    powers = total(emit("pow", size, filled(size, ord)), axes, keepdims=keepdims)
    return emit("pow", powers, filled(powers, 1 / ord))


def _matrix_norm(v, ord, axes, keepdims):
    if ord in (None, "fro"):
        return _root(v, axes, keepdims)
    rest = [d for d in range(v.ndim) if d not in axes]
    x = transpose(v, [*rest, *axes])
    if ord in (1, -1, np.inf, -np.inf):
        sums = total(absolute(x), -2 if builtins.abs(ord) == 1 else -1)
        found = greatest(sums, -1, initial=0) if ord > 0 else least(sums, -1)
    elif ord in (2, -2, "nuc"):
        s = svdvals(x)
        found = total(s, -1) if ord == "nuc" else greatest(s, -1, initial=0) if ord > 0 else least(s, -1)
    else:
        raise ValueError(f"norm: ord is {ord!r}; of matrices it must be fro, nuc, 1, -1, 2, -2, inf or -inf")
    return kept(found, axes, keepdims, v.shape)


@public
def vector_norm(x, /, *, axis=None, keepdims=False, ord=2):
    """The norm of all elements, or of vectors along `axis`."""
    (v,) = promoted("vector_norm", x, inexact=True)
    axes = axes_of("vector_norm", axis, v.ndim)
    return _vector_norm(v, ord, axes, keepdims)


@public
def matrix_norm(x, /, *, keepdims=False, ord="fro"):
    """The norm of the matrices in the last two dimensions."""
    v = matrices("matrix_norm", x)
    return _matrix_norm(v, ord, (v.ndim - 2, v.ndim - 1), keepdims)


@public
def matrix_power(a, n):
    """The product of `n` copies; of the inverse if n is negative."""
    x = matrices("matrix_power", a, square=True)
    if n < 0:
        x, n = inv(x), -n
    found = expanded(eye(x.shape[-1], dtype=x.dtype), x.shape)
    while n:
        found = matmul(found, x) if n & 1 else found
        x, n = matmul(x, x) if n > 1 else x, n >> 1
    return found


@public
def multi_dot(arrays, *, precision=None):
    """The product of matrices, in a cheap order; the first and the last may be vectors."""
    values = promoted("multi_dot", *arrays)
    if len(values) < 2:
        raise ValueError(f"multi_dot: {len(values)} arrays are given; at least 2 are expected")
    letters = [[i, i + 1] for i in range(len(values))]
    letters[0] = letters[0][-values[0].ndim:]
    letters[-1] = letters[-1][:values[-1].ndim]
    for i, (v, own) in enumerate(zip(values, letters)):
        if v.ndim != len(own) or not v.ndim:
            raise ValueError(f"multi_dot: array {i} has shape {v.shape}; a matrix is expected, or a vector at the ends")
        if i and v.shape[0] != values[i - 1].shape[-1]:
            raise ValueError(f"multi_dot: arrays {i - 1} and {i} have shapes {values[i - 1].shape} and {v.shape}, which do "
                             "not fit")
    return einsum(*(part for pair in zip(values, letters) for part in pair))


__all__ += ["cross", "diagonal", "matmul", "matrix_transpose", "outer", "tensordot", "trace", "vecdot"]  # noqa: F821
