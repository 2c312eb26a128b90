"""Python functions in traced ones, as jax.pure_callback and its kin have them.

The context knows a function by a name, which the program holds. The same function, called in the same way, has one name,
so that tracing it again gives an equal program.
"""
import itertools

import numpy as np

from ..abi.callbacks import add_callback
from ..abi.dtypes import numpy_of, type_text
from ..calls.user_trees import flatten
from ..tracing.closing import check_callable, in_a_trace, leaf_name, leaf_types
from ..tracing.promotion import number_of_dtype
from ..tracing.trace import current

_METHODS = {None: None, "sequential": "sequential", "sequential_unrolled": "sequential", "expand_dims": "expand_dims",
            "broadcast_all": "broadcast_all"}


class _Host:
    """A function of trees as one of flat arrays, equal to another that calls the same one in the same way."""

    def __init__(self, kind, function, given, wanted, types):
        self.kind, self.function, self.given, self.wanted, self.types = kind, function, given, wanted, types

    def _key(self):
        return self.kind, self.given, self.wanted, self.types

    def __eq__(self, other):
        return isinstance(other, _Host) and self._key() == other._key() and self._function() == other._function()

    def _function(self):
        """Each access to a method makes a new object; other functions are equal if they are the same."""
        f = self.function
        return (id(f.__self__), f.__func__) if hasattr(f, "__self__") and hasattr(f, "__func__") else id(f)

    def __hash__(self):
        return hash((self._key(), self._function()))

    def __call__(self, *arrays):
        arguments, named = self.given.build(arrays)
        found = self.function(*arguments, **named)
        if self.wanted is None:
            return None
        return [_converted(x, numpy_of(kind)) for x, (kind, _) in zip(self.wanted.flatten(found), self.types)]


def _converted(x, dtype):
    """In another width of the same kind, as JAX does it."""
    array = np.asarray(x)
    return array.astype(dtype) if np.can_cast(array.dtype, dtype, "same_kind") else array


def _registered(context, host):
    names = context.rule_names
    with context.lock:
        if host not in names:
            base = f"host.{getattr(host.function, '__qualname__', type(host.function).__name__)}"
            taken = set(names.values())
            name = next(n for n in (f"{base}#{i}" for i in itertools.count(1)) if n not in taken)
            add_callback(context, name, host)
            names[host] = name
        return names[host]


def _emitted(kind, function, wanted, arguments, named, **attributes):
    """The values that the call gives, in the tree `wanted` of what has shapes and dtypes."""
    check_callable(kind, function)
    leaves, given = flatten((arguments, named))
    leaf_types(kind, leaves, map(leaf_name, given.paths()))
    results, output = flatten(wanted)
    types = tuple((number_of_dtype(r.dtype), tuple(r.shape)) for r in results)
    has_results = kind != "debug_callback"
    host = _Host(kind, function, given, output if has_results else None, types)
    if has_results:
        attributes["results"] = ", ".join(map(type_text, types))
    found = current().emit(kind, leaves, {"callback": _registered(current().context, host), **attributes})
    return output.build(found)


@in_a_trace
def pure_callback(callback, result_shape_dtypes, *args, vmap_method=None, **kwargs):
    """What `callback(*args, **kwargs)`, a function of arrays of NumPy without side effects, gives: a tree as
    `result_shape_dtypes`, of ShapeDtypeStructs or arrays. It has no derivative (custom_jvp); `vmap_method`, which vmap
    needs: sequential, expand_dims or broadcast_all."""
    if vmap_method not in _METHODS:
        raise ValueError(f"pure_callback: vmap_method is {vmap_method!r}; it must be one of "
                         f"{', '.join(filter(None, _METHODS))}")
    return _emitted("pure_callback", callback, result_shape_dtypes, args, kwargs, vmap_method=_METHODS[vmap_method])


@in_a_trace
def io_callback(callback, result_shape_dtypes, *args, ordered=False, **kwargs):
    """The same of a function with side effects: it is called once, in the order of the program. vmap refuses one that is
    `ordered`."""
    return _emitted("io_callback", callback, result_shape_dtypes, args, kwargs, ordered=bool(ordered))


def debug_callback(callback, *args, ordered=False, **kwargs):
    """Calls a function with arrays while the program runs; derivatives pass it by. Calls keep the order of the program,
    `ordered` or not."""
    if current() is None:
        callback(*args, **kwargs)
        return
    _emitted("debug_callback", callback, (), args, kwargs)


class _Print:
    def __init__(self, fmt):
        self.fmt, self.__qualname__ = fmt, "debug_print"

    def __call__(self, *args, **kwargs):
        print(self.fmt.format(*args, **kwargs))


_prints = {}


def debug_print(fmt, *args, ordered=False, **kwargs):
    """Prints `fmt.format(*args, **kwargs)` with the elements, while the program runs."""
    if not isinstance(fmt, str):
        raise TypeError(f"debug_print: fmt is {fmt!r}; a text is expected")
    debug_callback(_prints.setdefault(fmt, _Print(fmt)), *args, ordered=ordered, **kwargs)
