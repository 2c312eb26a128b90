"""Products of jax.numpy: dot, matmul, tensordot, einsum, ... as dot_general."""
import builtins
import math

from ..abi.dtypes import numpy_of
from ..tracing.operands import (axes_of, axis_of, broadcast_shapes_of, converted, dtype_or, emit, expanded, filled,
                                promoted, public)
from ..tracing.promotion import BOOL, I32
from .elementwise import multiply
from .joining import stack, unstack
from .order import diagonal
from .shaping import moveaxis


def general(x, y, contract, batch=((), ()), dtype=None):
    """dot_general of two values of one type; of bools, of 0 and 1, then != 0."""
    if x.kind == BOOL:
        found = general(converted(x, I32), converted(y, I32), contract, batch)
        return emit("ne", found, filled(found, 0))
    return emit("dot_general", x, y, lhs_contract=contract[0], rhs_contract=contract[1], lhs_batch=batch[0],
                rhs_batch=batch[1], preferred_element_type=None if dtype is None else numpy_of(dtype))


def _two(function, a, b, preferred_element_type=None):
    x, y = promoted(function, a, b)
    kind = dtype_or(preferred_element_type, x.kind)
    return converted(x, kind), converted(y, kind)


def _check(function, x, y, i, j):
    if x.shape[i] != y.shape[j]:
        raise ValueError(f"{function}: shapes {x.shape} and {y.shape} do not fit: dimension {i % x.ndim} of the first has "
                         f"size {x.shape[i]}, dimension {j % y.ndim} of the second {y.shape[j]}")


@public
def dot(a, b, *, precision=None, preferred_element_type=None):
    """The sum of products over the last dimension of a and the last but one of b."""
    x, y = _two("dot", a, b, preferred_element_type)
    if not x.ndim or not y.ndim:
        shape = x.shape or y.shape
        return emit("mul", expanded(x, shape), expanded(y, shape))
    j = builtins.max(y.ndim - 2, 0)
    _check("dot", x, y, -1, j)
    return general(x, y, ((x.ndim - 1,), (j,)))


@public
def matmul(a, b, *, precision=None, preferred_element_type=None):
    """Products of matrices, the last two dimensions; a vector is a row on the left and a column on the right."""
    x, y = _two("matmul", a, b, preferred_element_type)
    if not x.ndim or not y.ndim:
        raise ValueError(f"matmul: shapes are {x.shape} and {y.shape}; a scalar has no rows, use multiply")
    if x.ndim == 1 or y.ndim == 1:
        j = builtins.max(y.ndim - 2, 0)
        _check("matmul", x, y, -1, j)
        return general(x, y, ((x.ndim - 1,), (j,)))
    _check("matmul", x, y, -1, -2)
    if y.ndim == 2:
        return general(x, y, ((x.ndim - 1,), (0,)))
    lead = broadcast_shapes_of("matmul", [x.shape[:-2], y.shape[:-2]])
    x, y = expanded(x, (*lead, *x.shape[-2:])), expanded(y, (*lead, *y.shape[-2:]))
    n = len(lead)
    return general(x, y, ((n + 1,), (n,)), (range(n), range(n)))


@public
def vdot(a, b, *, precision=None, preferred_element_type=None):
    """The sum of conj(a) b over all elements."""
    x, y = _two("vdot", a, b, preferred_element_type)
    if x.size != y.size:
        raise ValueError(f"vdot: arrays of {x.size} and {y.size} elements are given")
    x, y = (emit("reshape", v, new_sizes=[v.size]) for v in (x, y))
    return general(emit("conj", x) if x.dtype.kind == "c" else x, y, ((0,), (0,)))


@public
def vecdot(x1, x2, /, *, axis=-1, precision=None, preferred_element_type=None):
    """The sum of conj(x1) x2 along `axis`, the other dimensions broadcast."""
    x, y = _two("vecdot", x1, x2, preferred_element_type)
    shape = broadcast_shapes_of("vecdot", [x.shape, y.shape])
    x, y = expanded(x, shape), expanded(y, shape)
    d = axis_of("vecdot", axis, len(shape))
    rest = [i for i in range(len(shape)) if i != d]
    return general(emit("conj", x) if x.dtype.kind == "c" else x, y, ((d,), (d,)), (rest, rest))


@public
def matvec(x1, x2, /):
    """Products of matrices and vectors, the last dimensions."""
    x, y = _two("matvec", x1, x2)
    _check("matvec", x, y, -1, -1)
    found = matmul(x, emit("reshape", y, new_sizes=[*y.shape, 1]))
    return emit("reshape", found, new_sizes=found.shape[:-1])


@public
def vecmat(x1, x2, /):
    """Products of vectors, conjugate, and matrices, the last dimensions."""
    x, y = _two("vecmat", x1, x2)
    _check("vecmat", x, y, -1, -2)
    x = emit("conj", x) if x.dtype.kind == "c" else x
    found = matmul(emit("reshape", x, new_sizes=[*x.shape[:-1], 1, x.shape[-1]]), y)
    return emit("reshape", found, new_sizes=[*found.shape[:-2], found.shape[-1]])


@public
def inner(a, b, *, precision=None, preferred_element_type=None):
    """The sum of products over the last dimension of both."""
    x, y = _two("inner", a, b, preferred_element_type)
    if not x.ndim or not y.ndim:
        return dot(x, y)
    _check("inner", x, y, -1, -1)
    return general(x, y, ((x.ndim - 1,), (y.ndim - 1,)))


@public
def outer(a, b, out=None):
    """Each element of a times each of b."""
    x, y = (emit("reshape", v, new_sizes=[v.size]) for v in promoted("outer", a, b))
    return multiply(emit("broadcast_in_dim", x, shape=[x.size, y.size], broadcast_dimensions=[0]),
                    emit("broadcast_in_dim", y, shape=[x.size, y.size], broadcast_dimensions=[1]))


@public
def tensordot(a, b, axes=2, *, precision=None, preferred_element_type=None):
    """The sum of products over `axes`: a number of last dimensions of a and first of b, or a pair of lists."""
    x, y = _two("tensordot", a, b, preferred_element_type)
    if isinstance(axes, int):
        if not 0 <= axes <= builtins.min(x.ndim, y.ndim):
            raise ValueError(f"tensordot: axes is {axes}; the arrays have {x.ndim} and {y.ndim} dimensions")
        first, second = tuple(range(x.ndim - axes, x.ndim)), tuple(range(axes))
    else:
        first, second = axes_of("tensordot", axes[0], x.ndim), axes_of("tensordot", axes[1], y.ndim)
    if len(first) != len(second):
        raise ValueError(f"tensordot: {len(first)} axes of the first array and {len(second)} of the second are given")
    for i, j in zip(first, second):
        _check("tensordot", x, y, i, j)
    return general(x, y, (first, second))


@public
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of three elements along `axis`."""
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = promoted("cross", a, b)
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(f"cross: vectors have {x.shape[-1]} and {y.shape[-1]} elements; 3 are expected")
    shape = broadcast_shapes_of("cross", [x.shape, y.shape])
    x, y = unstack(expanded(x, shape), axis=-1), unstack(expanded(y, shape), axis=-1)
    return stack([emit("sub", emit("mul", x[i], y[j]), emit("mul", x[j], y[i])) for i, j in ((1, 2), (2, 0), (0, 1))],
                 axisc)


@public
def kron(a, b):
    """Blocks: b times each element of a."""
    x, y = promoted("kron", a, b)
    rank = builtins.max(x.ndim, y.ndim)
    left = [*[1] * (rank - x.ndim), *x.shape]
    right = [*[1] * (rank - y.ndim), *y.shape]
    shape = [n for pair in zip(left, right) for n in pair]
    x, y = emit("reshape", x, new_sizes=left), emit("reshape", y, new_sizes=right)
    wide = emit("mul", emit("broadcast_in_dim", x, shape=shape, broadcast_dimensions=range(0, 2 * rank, 2)),
                emit("broadcast_in_dim", y, shape=shape, broadcast_dimensions=range(1, 2 * rank, 2)))
    return emit("reshape", wide, new_sizes=[n * m for n, m in zip(left, right)])


# ---- einsum ----


def _as_text(given):
    """(text, operands) of einsum(a, [0, 1], b, [1, 2], [0, 2]): numbers in the place of letters."""
    lists = given[1::2] if len(given) % 2 == 0 else (*given[1::2], given[-1])
    texts = []
    for own in lists:
        if not isinstance(own, (list, tuple)):
            raise TypeError(f"einsum: subscripts are of type {type(given[0]).__name__}; a text is expected, or a list of "
                            "numbers after each operand")
        for n in own:
            if n is not Ellipsis and not (isinstance(n, int) and 0 <= n < 52):
                raise ValueError(f"einsum: a subscript is {n!r}; numbers from 0 to 51 and ... are expected")
        texts.append("".join("..." if n is Ellipsis else chr(ord("A") + n if n < 26 else ord("a") + n - 26) for n in own))
    operands = given[:len(given) - len(given) % 2:2]
    inputs = ",".join(texts[:len(operands)])
    return (inputs if len(given) % 2 == 0 else f"{inputs}->{texts[-1]}"), operands


def _letters(text, ranks):
    """(lists of letters of the operands, that of the result); dimensions of `...` are upper-case Greek letters."""
    text = text.replace(" ", "")
    left, arrow, right = text.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ranks):
        raise ValueError(f"einsum: {text} has {len(inputs)} operands, {len(ranks)} are given")
    extra = builtins.max((r - len(t.replace("...", "")) for t, r in zip(inputs, ranks) if "..." in t), default=0)
    dots = [chr(0x391 + i) for i in range(extra)]
    found = []
    for t, rank in zip(inputs, ranks):
        own = rank - len(t.replace("...", ""))
        if own < 0 or (own and "..." not in t):
            raise ValueError(f"einsum: the operand {t!r} has {rank} dimensions")
        found.append(list(t.replace("...", "".join(dots[extra - own:]))) if "..." in t else list(t))
    if not arrow:
        every = [c for t in found for c in t]
        return found, dots + sorted(c for c in set(every) if every.count(c) == 1 and c not in dots)
    return found, list(right.replace("...", "".join(dots)))


def _diagonal(x, letters):
    """Without letters that are there twice."""
    for c in list(letters):
        while letters.count(c) > 1:
            i = letters.index(c)
            j = letters.index(c, i + 1)
            x = diagonal(x, 0, i, j)
            letters = [d for n, d in enumerate(letters) if n not in (i, j)] + [c]
    return x, letters


def _summed(x, letters, kept):
    axes = [i for i, c in enumerate(letters) if c not in kept]
    if not axes:
        return x, letters
    return emit("reduce_sum", x, axes=axes), [c for c in letters if c in kept]


def _without_ones(x, letters, sizes):
    """Without dimensions of size 1 where another operand has more."""
    ones = [i for i, c in enumerate(letters) if x.shape[i] == 1 and sizes[c] != 1]
    if not ones:
        return x, letters
    return emit("squeeze", x, dimensions=ones), [c for i, c in enumerate(letters) if i not in ones]


def _pair(a, b, kept):
    """The product of two operands; letters that nothing else has are summed."""
    (x, xs), (y, ys) = a, b
    x, xs = _summed(x, xs, kept | set(ys))
    y, ys = _summed(y, ys, kept | set(xs))
    both = [c for c in xs if c in ys]
    batch, contract = [c for c in both if c in kept], [c for c in both if c not in kept]
    found = general(x, y, ([xs.index(c) for c in contract], [ys.index(c) for c in contract]),
                    ([xs.index(c) for c in batch], [ys.index(c) for c in batch]))
    return found, batch + [c for c in xs if c not in both] + [c for c in ys if c not in both]


def _cost(a, b, kept, sizes):
    letters = set(a[1]) | set(b[1])
    return math.prod(sizes[c] for c in letters), math.prod(sizes[c] for c in letters if c in kept)


@public
def einsum(subscripts, /, *operands, optimize="auto", precision=None, preferred_element_type=None):
    """Sums of products by Einstein's notation: einsum("ij,jk->ik", a, b), also einsum(a, [0, 1], b, [1, 2], [0, 2]). The
    cheapest pair is multiplied first."""
    if not isinstance(subscripts, str):
        subscripts, operands = _as_text((subscripts, *operands))
    values = promoted("einsum", *operands)
    letters, out = _letters(subscripts, [v.ndim for v in values])
    sizes = {}
    for v, own in zip(values, letters):
        for c, n in zip(own, v.shape):
            if sizes.setdefault(c, n) != n and 1 not in (n, sizes[c]):
                raise ValueError(f"einsum: {c} has the sizes {sizes[c]} and {n}")
            sizes[c] = builtins.max(sizes[c], n) if n and sizes[c] else 0
    missing = [c for c in out if c not in sizes]
    if missing or len(set(out)) < len(out):
        raise ValueError(f"einsum: the result {''.join(out)!r} of {subscripts!r} has letters that no operand has, or one "
                         "twice")
    terms = [_without_ones(*_diagonal(v, own), sizes) for v, own in zip(values, letters)]
    while len(terms) > 1:
        def kept(i, j):
            return set(out).union(*(t[1] for n, t in enumerate(terms) if n not in (i, j)))
        i, j = builtins.min(((i, j) for j in range(len(terms)) for i in range(j)),
                            key=lambda ij: _cost(terms[ij[0]], terms[ij[1]], kept(*ij), sizes))
        made = _pair(terms[i], terms[j], kept(i, j))
        terms = [t for n, t in enumerate(terms) if n not in (i, j)] + [made]
    x, own = _summed(*terms[0], set(out))
    order = [own.index(c) for c in out if c in own]
    x = emit("transpose", x, permutation=order) if order != sorted(order) else x
    shape = [sizes[c] for c in out]
    return x if list(x.shape) == shape else emit("broadcast_in_dim", x, shape=shape, broadcast_dimensions=[
        i for i, c in enumerate(out) if c in own])
