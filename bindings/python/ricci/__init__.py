"""Ricci in Python: traced functions, their derivatives and batches, and native code. See README.md."""
from . import lax, linalg, nn, numpy, random, tree
from ._library import Cancelled, DeadlineExceeded, Error
from .batch import vmap
from .branching import cond, switch
from .builder import Builder, DType
from .closing import ShapeDtypeStruct
from .compiling import eval_shape, jit
from .context import Context, add_plugin, default_context, set_default_context
from .custom_batching import custom_vmap
from .custom_rules import custom_jvp, custom_vjp
from .derivatives import (checkpoint, checkpoint_name, grad, hessian, jacfwd, jacrev, jvp, linearize, stop_gradient,
                          value_and_grad, vjp)
from .device_array import Array, asarray, from_dlpack
from .executable import Executable
from .frames import show_all_frames
from .function import Function, load
from .host_callbacks import debug_callback, debug_print, io_callback, pure_callback
from .loops import fori_loop, scan, while_loop
from .program import Program
from .python_rows import check_primitive, primitive
from .runs import Cancel, Span, limits
from .scans import associative_scan, map
from .solves import custom_linear_solve, custom_root
from .tracing import bind
from .value import TracingError, Value

__version__ = "0.1.0"
__all__ = """
    Array Builder Cancel Cancelled Context DType DeadlineExceeded Error Executable Function Program ShapeDtypeStruct
    Span TracingError Value add_plugin asarray associative_scan bind check_primitive checkpoint checkpoint_name cond
    custom_jvp custom_linear_solve custom_root custom_vjp custom_vmap debug_callback debug_print default_context
    eval_shape fori_loop from_dlpack from_jax grad hessian io_callback jacfwd jacrev jit jvp lax limits linalg
    linearize load map missing nn numpy primitive pure_callback random scan set_default_context show_all_frames
    stop_gradient switch tree value_and_grad vjp vmap while_loop
""".split()


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
