"""Ricci in Python: programs, their derivatives and batches, and native code. See README.md."""
from ._library import Error
from .builder import Builder, DType
from .context import Context, default_context
from .device_array import Array, asarray
from .executable import Executable
from .function import Function, load
from .program import Program

__all__ = ["Array", "Builder", "Context", "DType", "Error", "Executable", "Function", "Program", "asarray",
           "default_context", "from_jax", "load", "missing"]


def __getattr__(name):
    """What needs JAX is imported on first use."""
    if name not in ("from_jax", "missing"):
        raise AttributeError(f"module 'ricci' has no attribute {name!r}")
    try:
        from . import jax_import
    except ModuleNotFoundError as error:
        if error.name != "jax":
            raise
        raise ModuleNotFoundError(f"ricci.{name} needs JAX: pip install jax==0.10.2", name="jax") from None
    return getattr(jax_import, name)
