"""Callbacks of JAX: functions that the context knows by name and that a program calls while it runs.

As in JAX they get jax.Arrays, and their results have the dtypes that `jax_enable_x64` gives them, whose value is that of
the import. A name follows from the function, so that importing it again gives an equal program: a closure that is made
again for each trace is another function and gets a number.
"""
import dis
import functools
import itertools
import threading

import jax
import numpy as np
from jax._src import dtypes

from ..abi import _abi
from ..abi.callbacks import add_callback
from ..abi.dtypes import type_text
from ..abi.library import Error
from ..calls.keys import from_host, to_host
from .avals import type_of

_lock = threading.Lock()
# What JAX calls them, and the row that has the rule; legacy_vectorized has none, so vmap refuses it.
_VMAP_METHODS = {None: "", "sequential": "sequential", "sequential_unrolled": "sequential",
                 "expand_dims": "expand_dims", "broadcast_all": "broadcast_all", "legacy_vectorized": ""}


def name_of(function):
    """What names of callbacks and rules begin with."""
    kind = function if hasattr(function, "__qualname__") else type(function)
    name = f"{kind.__module__}.{kind.__qualname__}"
    return f"python.{name}" if name.startswith("ricci.") else name  # C keeps the names that begin with ricci.


def registered(context, key, name, add):
    """The name by which the context knows what `key` is; `add(name)` makes it known. Keys keep what they are about."""
    names = context.rule_names
    with _lock:
        if key not in names:
            taken = set(names.values())
            numbered = itertools.chain([name], (f"{name}#{i}" for i in itertools.count(2)))
            name = next(n for n in numbered if n not in taken)
            add(name)
            names[key] = name
        return names[key]


class _Host:
    """A function of flat jax.Arrays as one of NumPy arrays."""

    def __init__(self, function, key_operands):
        self.function, self.wide, self.key_operands = function, jax.config.jax_enable_x64, key_operands

    def __call__(self, *arrays):
        with jax.enable_x64(self.wide):
            given = [from_host(a, (_abi.RICCI_KEY, a.shape)) if is_key else jax.numpy.asarray(a)
                     for a, is_key in zip(arrays, self.key_operands)]
            return [dtypes.canonicalize_value(np.asarray(to_host(x))) for x in self.function(*given)]


def _callback(importer, eqn, function, identity, name):
    """The name of the function that an equation calls."""
    key_operands = tuple(type_of(v.aval)[0] == _abi.RICCI_KEY for v in eqn.invars)
    host = _Host(function, key_operands)
    key = ("callback", *identity, host.wide, key_operands)
    return registered(importer.context, key, name, lambda n: add_callback(importer.context, n, host))


def _of_flat(importer, eqn):
    flat = eqn.params["callback"]
    return _callback(importer, eqn, flat, (_key(flat.callback_func), flat.in_tree), name_of(flat.callback_func))


class _Same:
    """A key that is equal for the same object only, which it keeps."""

    def __init__(self, held):
        self.held = held

    def __eq__(self, other):
        return isinstance(other, _Same) and self.held is other.held

    def __hash__(self):
        return id(self.held)


def _key(x):
    """Equal for equal values of one type, so for every look at a method of one object."""
    try:
        hash(x)
    except TypeError:
        return _Same(x)
    return type(x), x


def _results_text(eqn):
    return ", ".join(type_text(type_of(v.aval)) for v in eqn.outvars)


def pure_callback(importer, body, eqn):
    method = eqn.params["vmap_method"]
    if method not in _VMAP_METHODS:
        raise Error(f"vmap_method {method} is not one of {', '.join(filter(None, _VMAP_METHODS))}")
    return body.builder.emit("pure_callback", body.reads(eqn.invars), len(eqn.outvars),
                             callback=_of_flat(importer, eqn), results=_results_text(eqn),
                             vmap_method=_VMAP_METHODS[method])


def io_callback(importer, body, eqn):
    return body.builder.emit("io_callback", body.reads(eqn.invars), len(eqn.outvars), callback=_of_flat(importer, eqn),
                             results=_results_text(eqn), ordered=bool(eqn.params["ordered"]))


def _emit_debug(importer, body, eqn, function, identity, name):
    if not importer.debug:
        return []
    return body.builder.emit("debug_callback", body.reads(eqn.invars), 0,
                             callback=_callback(importer, eqn, function, identity, name))


def _cells(function):
    """What a closure holds, by the names of its variables."""
    return dict(zip(function.__code__.co_freevars, (c.cell_contents for c in function.__closure__ or ())))


def debug_callback(importer, body, eqn):
    """JAX makes a closure around the function for each trace: the name follows from what is in it."""
    flat = eqn.params["callback"]
    cells = _cells(flat) if hasattr(flat, "__code__") else {}
    if {"callback", "in_tree", "static_args"} <= cells.keys():
        function, static = cells["callback"], cells["static_args"].items()
        identity = _key(function), cells["in_tree"], tuple((i, _key(x)) for i, x in static)
    else:
        function, identity = flat, (_key(flat),)
    return _emit_debug(importer, body, eqn, lambda *xs: flat(*xs), identity, name_of(function))


def debug_print(importer, body, eqn):
    p = eqn.params
    static = tuple((i, _key(x)) for i, x in p["static_args"])
    identity = p["fmt"], p["in_tree"], static, repr(p["np_printoptions"]), _key(p["logging_record"])
    run = functools.partial(eqn.primitive.impl, **p)
    return _emit_debug(importer, body, eqn, run, identity, f"jax.debug.print {p['fmt']!r}")


def _returns(function):
    """Whether a function can end other than by raising, as far as its code says."""
    code = getattr(function, "__code__", None)
    return code is None or any(i.opname.startswith(("RETURN_", "YIELD_")) for i in dis.get_instructions(code))


def only_raises(jaxpr):
    """Whether a jaxpr calls a function of the host that never returns."""
    return any(eqn.primitive.name == "pure_callback" and not _returns(eqn.params["callback"].callback_func)
               for eqn in jaxpr.eqns)


CALLBACK_RULES = {"pure_callback": pure_callback, "io_callback": io_callback, "debug_callback": debug_callback,
                  "debug_print": debug_print}
