"""Batching rules in Python: what `custom_vmap` operations of a context refer to by name.

A rule is called while a program is transformed, possibly on another thread than the one that made it. Its exception
becomes an Error of the transformation that asked for the batch, with the exception as its cause.

A rule makes operations on whole batches, so `schedule="lanes"` is refused. Programs hold its name; the context keeps
the rule until its end. Derivatives are those of the function before `vmap`, those of what the rule made after it.
Forward mode under `vmap` is that of the rule whichever was taken first, unless only tangents are batched (`jacfwd`), as
in JAX.
"""
import ctypes

from . import _abi
from .builder import Builder
from .from_c import address_of, caused_status, status_function
from .library import lib, struct


def _array(kind, address, n):
    return (kind * n).from_address(address) if n else ()


def _filled(context, rule, builder, op, arguments):
    n_in, n_out = op.n_in, op.n_out
    batched = [d >= 0 for d in _array(ctypes.c_int32, arguments.in_dims, n_in)]
    values = list(_array(ctypes.c_uint64, getattr(arguments, "in"), n_in))
    results, flags = rule(Builder.borrowed(context, builder), arguments.axis_size, values, batched)
    if n_out:
        _array(ctypes.c_uint64, arguments.out, n_out)[:] = results
        _array(ctypes.c_int32, arguments.out_dims, n_out)[:] = [0 if f else -1 for f in flags]


def add_batching_rule(context, name, rule):
    """Makes `rule(builder, size, values, batched)` known as `name`, until the context ends.

    It gives (values, which of them are batched); the batch is dimension 0 of operands and results.
    """
    held = status_function(4, f"custom_vmap: rule {name}", lambda _, builder, op, arguments: _filled(
        context, rule, builder, _abi.ricci_op.from_address(op), _abi.ricci_batch_args.from_address(arguments)),
        caused_status)
    context.callbacks.append(held)
    callback = struct(_abi.ricci_callback, batch=address_of(held))
    lib.ricci_context_add_callback(context._handle, name.encode(), len(name.encode()), ctypes.byref(callback))
