"""Values on their way into and out of programs: NumPy arrays as they are, those of JAX as NumPy's, keys as words.

JAX is not imported here: only a program that was imported from it can be given its arrays.
"""
import sys

import numpy as np

from ..abi.dtypes import KEY


def _jax():
    return sys.modules.get("jax")


def is_threefry(impl):
    """Is it the generator whose keys are an element type here? Those of others are arrays of their words, u32."""
    return impl.name == "threefry2x32"


def is_typed_key(x):
    """Is it an array of typed keys of JAX?"""
    jax = _jax()
    return jax is not None and isinstance(x, jax.Array) and jax.dtypes.issubdtype(x.dtype, jax.dtypes.prng_key)


def is_tracer(x):
    """Is it a value of a function that JAX traces?"""
    jax = _jax()
    return jax is not None and isinstance(x, jax.core.Tracer)


def to_host(x):
    """A leaf as a NumPy array, which shares its memory where it is the host's; a typed key of JAX as u64, one of
    another generator as its words."""
    if type(x) is np.ndarray:
        return x
    jax = _jax()
    if is_tracer(x):
        raise TypeError(f"{x} is a value of a function that JAX traces; Ricci runs outside of it, or in a pure_callback")
    if is_typed_key(x):
        if not is_threefry(x.dtype._impl):
            return np.asarray(jax.random.key_data(x))
        return np.ascontiguousarray(jax.random.key_data(x)).view(np.uint64)[..., 0]
    if isinstance(x, (int, float, complex)):
        return x
    if hasattr(x, "__array__") or not hasattr(x, "__dlpack__"):
        return np.asarray(x)
    return np.from_dlpack(x)  # shared, not copied


def from_host(array, dtype_and_shape):
    """A result; keys as JAX's if JAX is there."""
    jax = _jax()
    if dtype_and_shape[0] != KEY or jax is None:
        return array
    return jax.random.wrap_key_data(array[..., None].view(np.uint32))
