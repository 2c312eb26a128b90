"""Calls without Python code: the extension `ricci_calls`, where it can be loaded.

It is an optional part, beside the ctypes layer, and does nothing that this package does not do without it: `Caller` is the
base of what can be called, and `_call(arguments, named)` of a class the whole behaviour. A class teaches it kinds of calls
(`_learn`) that need no Python code from then on. `WHY_NOT` says why there is none, or is None: its file is not built
(Python's headers were missing), the interpreter does not load files of the stable ABI, NumPy's layout is another, or
RICCI_PYTHON_CALLS=ctypes in the environment asks for it.
"""
import ctypes
import importlib.machinery
import importlib.util
import os
import sys

import numpy as np

from ..abi import raised
from ..abi.device_array import Array
from ..abi.installation import find
from ..abi.library import check_status, lib
from ..abi.thread_state import state
from .frames import without_frames
from .keys import is_tracer, is_typed_key

FILE = "ricci_calls.abi3.so"
_FUNCTIONS = ("call_create", "call_run_at", "call_release", "executable_retain", "executable_release")
_ARRAYS = (np.ndarray, np.generic, Array)


class _Caller:
    def __call__(self, /, *arguments, **named):
        return self._call(arguments, named)


def is_plain(x):
    """Is it a leaf whatever the classes of the user are, and data: an array of NumPy, of ours or of JAX, or a number?"""
    return isinstance(x, (*_ARRAYS, bool, int, float, complex)) or _is_jax_array(x)


def _is_jax_array(x):
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(x, jax.Array) and not is_tracer(x)


def _converted(x):
    """An array of NumPy for an array of another class, all of which `numpy.asarray` converts then; else None."""
    return np.asarray(x) if isinstance(x, _ARRAYS) or _is_jax_array(x) and not is_typed_key(x) else None


@without_frames
def _failed(status):
    """Raises what a status says, or what a function left that was called from C."""
    check_status(status, None, None)


def _samples():
    """Arrays of NumPy and what they hold: the layout in memory is compared with it."""
    arrays = np.ones(3), np.ones((4, 2), np.int8)[1:, 1:], np.zeros((2, 0, 5), np.float32), np.frombuffer(b"text", np.int8)
    return [(a, a.ctypes.data, a.shape, a.dtype, a.flags.num) for a in arrays]


def _opened():
    if ".abi3.so" not in importlib.machinery.EXTENSION_SUFFIXES:
        raise ImportError("this interpreter loads no extensions of the stable ABI")
    loader = importlib.machinery.ExtensionFileLoader("ricci_calls", find(FILE))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("ricci_calls", loader))
    loader.exec_module(module)
    addresses = tuple(ctypes.cast(getattr(lib, f"ricci_{name}"), ctypes.c_void_p).value for name in _FUNCTIONS)
    table = importlib.import_module("numpy._core.multiarray" if hasattr(np, "_core") else "numpy.core.multiarray")
    module.setup(addresses, np.ndarray, table._ARRAY_API, _samples(), np.dtype(bool), state, raised.escapes(), _failed,
                 _converted, np.asarray)
    return module


def _load():
    """(the module or None, why there is none)."""
    if os.environ.get("RICCI_PYTHON_CALLS") == "ctypes":
        return None, "RICCI_PYTHON_CALLS=ctypes is set"
    try:
        return _opened(), None
    except ImportError as error:
        return None, str(error)


_module, WHY_NOT = _load()
IS_THERE = _module is not None
Caller = _module.Caller if IS_THERE else _Caller
if IS_THERE:
    Kind, Target, Tree = _module.Kind, _module.Target, _module.Tree
