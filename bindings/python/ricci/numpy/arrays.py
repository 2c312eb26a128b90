"""Arrays of what the host has, and indices of arrays, as by jax.numpy."""
import builtins

import numpy as np

from ..abi.dtypes import numpy_of
from ..calls.user_trees import leaves
from ..tracing.operands import converted, dtype_or, emit, public, shape_of, shape_of_value, value
from ..tracing.promotion import F32, I32, number_of_scalar, result_type
from ..tracing.trace import current, is_number
from ..tracing.value import Value
from .creation import static, zeros
from .joining import stack


@public
def asarray(a, dtype=None, order=None, *, copy=None, device=None):
    """An array of a number, an array, or nested lists of numbers and values."""
    if isinstance(a, (list, tuple)):
        found = _of_lists(a, dtype_or(dtype, None))
    else:
        found = value("asarray", a)
    return converted(found, dtype_or(dtype, found.kind), weak=found.weak and dtype is None)


def _of_lists(a, kind=None):
    """An array of nested lists; numbers of Python are of `kind`, and what they are by themselves if that is None."""
    items = leaves(a)
    if builtins.any(isinstance(x, Value) for x in items):
        return stack([_of_lists(x, kind) if isinstance(x, (list, tuple)) else x for x in a])
    array = np.asarray(a)
    if not builtins.all(map(is_number, items)):
        return current().lift(array)
    own = result_type([(number_of_scalar(x), True) for x in items])[0] if items else F32
    return current().lift(array, own if kind is None else kind)


@public
def array(object, dtype=None, copy=True, order="K", ndmin=0, *, device=None):  # noqa: A002, names of jax.numpy
    """As `asarray`, with at least `ndmin` dimensions."""
    found = asarray(object, dtype)
    lead = builtins.max(ndmin - found.ndim, 0)
    return emit("reshape", found, new_sizes=[*[1] * lead, *found.shape]) if lead else found


def _indices_of(name, doc, of):
    def function(*numbers, **named):
        return tuple(map(asarray, (np.asarray(i, np.int32) for i in of(*static(name, *numbers), **named))))
    function.__name__, function.__doc__ = name, doc
    return public(function)


tril_indices = _indices_of("tril_indices", "Rows and columns (n, k=0, m=None) of the elements on and below a diagonal.",
                           np.tril_indices)
triu_indices = _indices_of("triu_indices", "Rows and columns (n, k=0, m=None) of the elements on and above a diagonal.",
                           np.triu_indices)
diag_indices = _indices_of("diag_indices", "The indices (n, ndim=2) of the elements on the diagonal.", np.diag_indices)


def _indices_from(name, of):
    def function(arr, *numbers, **named):
        shape = shape_of_value(arr)
        if len(shape) < 2:
            raise ValueError(f"{name}: the array has {len(shape)} dimensions; at least 2 are expected")
        return of(shape[-2], *numbers, m=shape[-1], **named)
    function.__name__, function.__doc__ = name, f"As `{of.__name__}`, of the matrices of an array; k=0 is the diagonal."
    return public(function)


tril_indices_from = _indices_from("tril_indices_from", tril_indices)
triu_indices_from = _indices_from("triu_indices_from", triu_indices)


@public
def indices(dimensions, dtype=None, sparse=False):
    """The index along each dimension of a shape: an array with a first dimension for them, or a tuple if `sparse`."""
    shape, kind = shape_of("indices", dimensions), numpy_of(dtype_or(dtype, I32))
    own = [shape if not sparse else [n if i == d else 1 for i, n in enumerate(shape)] for d in range(len(shape))]
    found = [emit("iota", dtype=kind, shape=s, dimension=d) for d, s in enumerate(own)]
    return tuple(found) if sparse else stack(found) if found else zeros((0,), kind)
