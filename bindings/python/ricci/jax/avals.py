"""Abstract values of JAX and what they are in Ricci."""
import jax
import numpy as np
from jax._src import core

from ..abi._abi import RICCI_BOOL, RICCI_U32
from ..abi.dtypes import KEY, number_of
from ..abi.library import Error
from ..calls.keys import is_threefry


def is_key_dtype(dtype):
    return jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key)


def is_words(aval):
    """Is it a key of another generator than threefry2x32, which is an array of its words here?"""
    return isinstance(aval, core.ShapedArray) and is_key_dtype(aval.dtype) and not is_threefry(aval.dtype._impl)


def is_nothing(aval):
    """Is it a tangent of integers, which holds nothing? Bools stand for it, all False."""
    return isinstance(aval, core.ShapedArray) and aval.dtype == jax.dtypes.float0


def is_differentiable(aval):
    return not is_key_dtype(aval.dtype) and jax.dtypes.issubdtype(aval.dtype, np.inexact)


def type_of(aval):
    """The (dtype, shape) of an abstract value."""
    if not isinstance(aval, core.ShapedArray):
        raise Error(f"values of the kind {aval.str_short()} are not there")
    if not all(isinstance(n, (int, np.integer)) for n in aval.shape):
        raise Error(f"the shape of {aval.str_short()} is symbolic; give it numbers")
    shape = tuple(map(int, aval.shape))
    if is_nothing(aval):
        return RICCI_BOOL, shape
    if is_words(aval):
        return RICCI_U32, shape + aval.dtype._impl.key_shape
    return KEY if is_key_dtype(aval.dtype) else number_of(aval.dtype), shape


def host_array(x):
    """The elements of a constant: keys as the u64 that their two words are, those of other generators as their words."""
    if isinstance(x, core.Tracer):
        raise Error(f"a custom rule closes over a value that is being traced: {x}")
    if hasattr(x, "dtype") and is_key_dtype(x.dtype):
        if not is_threefry(x.dtype._impl):
            return np.asarray(jax.random.key_data(x))
        return np.ascontiguousarray(jax.random.key_data(x)).view(np.uint64)[..., 0]
    array = np.asarray(x)
    return np.zeros(array.shape, np.bool_) if array.dtype == jax.dtypes.float0 else array
