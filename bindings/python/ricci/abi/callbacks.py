"""Python functions that programs call while they run: pure_callback, io_callback and debug_callback by their names.

A function gets copies of the operands, which it may keep, and gives the results. What it raises is raised again by the
call of the compiled program, the very exception. On a GPU `enqueue` returns after the calls, and a result raises it.

Programs hold the name, so that a saved file has no function: where the name is unknown, compiling says which is
missing. The context keeps the function until its end.
"""
import ctypes

import numpy as np

from . import _abi
from .dtypes import numpy_of
from .from_c import address_of, status_function
from .library import lib, struct


def memory(address, dtype, shape):
    """The array of that dtype and shape at an address."""
    array = np.empty(shape, dtype)
    if not array.nbytes:
        return array
    data = (ctypes.c_uint8 * array.nbytes).from_address(address)
    return np.frombuffer(data, dtype).reshape(shape)


def _arrays(context, n, types, addresses):
    """The arrays of the operands or of the results of a call."""
    if not n:
        return []
    types, addresses = (ctypes.c_uint32 * n).from_address(types), (ctypes.c_void_p * n).from_address(addresses)
    described = [context.dtype_and_shape(t) for t in types]
    return [memory(a, numpy_of(dtype), shape) for a, (dtype, shape) in zip(addresses, described)]


def _checked(name, values, wanted):
    """What a function gave, as arrays; RuntimeError as in JAX if they are others than the program says."""
    values = [values] if isinstance(values, np.ndarray) else list(() if values is None else values)
    if len(values) != len(wanted):
        raise RuntimeError(f"callback {name}: mismatched number of results: {len(wanted)} expected, {len(values)} given")
    arrays = [np.asarray(v) for v in values]
    for i, (given, array) in enumerate(zip(arrays, wanted)):
        if given.shape != array.shape or given.dtype != array.dtype:
            raise RuntimeError(f"callback {name}: result {i} is {given.dtype}{list(given.shape)}; "
                               f"{array.dtype}{list(array.shape)} is expected")
    return arrays


def _call(context, name, function, call):
    given = _arrays(context, call.n_in, call.in_types, getattr(call, "in"))
    wanted = _arrays(context, call.n_out, call.out_types, call.out)
    for to, result in zip(wanted, _checked(name, function(*(a.copy() for a in given)), wanted)):
        to[...] = result


def add_callback(context, name, function):
    """Makes `function(*arrays)`, which gives an array, a sequence of them or None, known as `name`."""
    held = status_function(2, name, lambda _, address: _call(
        context, name, function, _abi.ricci_callback_call.from_address(address)))
    callback = struct(_abi.ricci_callback, call=address_of(held))
    lib.ricci_context_add_callback(context._handle, name.encode(), len(name.encode()), ctypes.byref(callback))
    context.callbacks.append(held)
