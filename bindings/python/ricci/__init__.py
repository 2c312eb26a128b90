"""Ricci in Python: traced functions, their derivatives and batches, and native code. See README.md."""
from . import lax, nn, numpy, random, tree
from .abi.builder import Builder, DType
from .abi.context import Context, add_plugin, default_context, set_default_context
from .abi.device_array import Array, asarray, from_dlpack
from .abi.library import Cancelled, DeadlineExceeded, Error
from .abi.program import Program
from .abi.runs import Cancel, Span, limits
from .calls.executable import Executable
from .calls.frames import show_all_frames
from .numpy import linalg
from .numpy.scans import associative_scan, fori_loop, map
from .tracing.closing import ShapeDtypeStruct
from .tracing.python_rows import check_primitive, primitive
from .tracing.trace import bind
from .tracing.value import TracingError, Value
from .transforms.batch import vmap
from .transforms.branching import cond, switch
from .transforms.compiling import eval_shape, jit
from .transforms.custom_batching import custom_vmap
from .transforms.custom_rules import custom_jvp, custom_vjp
from .transforms.derivatives import (checkpoint, checkpoint_name, grad, hessian, jacfwd, jacrev, jvp, linearize,
                                     stop_gradient, value_and_grad, vjp)
from .transforms.function import Function, load
from .transforms.host_callbacks import debug_callback, debug_print, io_callback, pure_callback
from .transforms.loops import scan, while_loop
from .transforms.solves import custom_linear_solve, custom_root

__version__ = "0.1.0"
__all__ = """
    Array Builder Cancel Cancelled Context DType DeadlineExceeded Error Executable Function Program ShapeDtypeStruct
    Span TracingError Value add_plugin asarray associative_scan bind check_primitive checkpoint checkpoint_name cond
    custom_jvp custom_linear_solve custom_root custom_vjp custom_vmap debug_callback debug_print default_context
    eval_shape fori_loop from_dlpack from_jax grad hessian io_callback jacfwd jacrev jit jvp lax limits linalg
    linearize load map missing nn numpy primitive pure_callback random scan set_default_context show_all_frames
    stop_gradient switch tree value_and_grad vjp vmap while_loop
""".split()

for _class in (Array, Builder, Cancel, Cancelled, Context, DType, DeadlineExceeded, Error, Executable, Function, Program,
               ShapeDtypeStruct, Span, TracingError, Value):
    _class.__module__ = __name__  # tracebacks and `repr` name what users write


def __getattr__(name):
    """What needs JAX is imported on first use."""
    if name not in ("from_jax", "missing"):
        raise AttributeError(f"module 'ricci' has no attribute {name!r}")
    try:
        from .jax import importing
    except ModuleNotFoundError as error:
        if error.name != "jax":
            raise
        raise ModuleNotFoundError(f"ricci.{name} needs JAX: pip install jax==0.10.2", name="jax") from None
    return getattr(importing, name)
