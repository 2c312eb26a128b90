"""jit: a Python function that is traced once for each kind of call, and compiled."""
import collections
import functools
import inspect
import sys
import threading

from ..abi import arguments as given
from ..abi.context import default_context
from ..abi.dtypes import KEY, numpy_of
from ..calls import native
from ..calls.described import described, of_call
from ..calls.executable import Executable
from ..calls.frames import hide_frames, without_frames
from ..calls.keys import to_host
from ..calls.trees import Leaf
from ..calls.user_trees import flatten
from ..tracing.closing import ShapeDtypeStruct, check_callable, closed, leaf_name, leaf_types, name_of
from ..tracing.promotion import C64, F32, I32, I64
from ..tracing.trace import current
from ..tracing.value import Value
from .function import Function

_KEPT = 4096  # kinds of call of one function, those used last
_NUMBERS = {I32: 1, I64: 2, F32: 3, C64: 4}  # NumberKind of native_arrays.h, for what is weak


def _as_tuple(x):
    return (x,) if isinstance(x, (int, str)) else tuple(x or ())


def _parameters(function):
    """(names of positional arguments, of those by name alone, whether there may be more of each)."""
    try:
        every = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return [], [], True, True
    kinds = {p.kind for p in every}
    return ([p.name for p in every if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)],
            [p.name for p in every if p.kind == p.KEYWORD_ONLY],
            inspect.Parameter.VAR_POSITIONAL in kinds, inspect.Parameter.VAR_KEYWORD in kinds)


class _Entry:
    """What is known of one kind of call."""

    def __init__(self, made, executable):
        self.made, self.executable = made, executable
        self.kind = self.tree = None  # what the extension knows of it, and by what its structure is found

    def was_used(self):
        """Did the extension make such a call since it was asked?"""
        return self.kind is not None and self.kind.take_used()


class Jitted(native.Caller):
    """What `jit` gives. Any thread may call it."""

    def __init__(self, function, static_argnums=(), static_argnames=(), donate_argnums=(), donate_argnames=(),
                 device=None, context=None):
        check_callable("jit", function)
        functools.update_wrapper(self, function, updated=())
        self._function, self._device, self._context = function, device, context
        self._options = static_argnums, static_argnames, donate_argnums, donate_argnames, device, context
        self._static = self._selected("static", static_argnums, static_argnames)
        self._donated = self._selected("donate", donate_argnums, donate_argnames)
        both = self._static & self._donated
        if both:
            raise ValueError(f"jit: argument {sorted(both, key=str)[0]} is static and donated")
        self._entries, self._lock = collections.OrderedDict(), threading.Lock()
        self._trees = {}  # by structure and static values: those of the extension

    def _selected(self, option, numbers, names):
        """Numbers of positional arguments and names of arguments, each with its other form where it has one."""
        own, others, any_number, any_name = _parameters(self._function)
        selected = set()
        for number in _as_tuple(numbers):
            number = given.integer("jit", f"{option}_argnums", number)
            if not -len(own) <= number < (number + 1 if any_number else len(own)):
                raise ValueError(f"jit: {option}_argnums is {number}; {name_of(self._function)} has "
                                 f"{given.count(len(own), 'positional argument')}")
            number = number + len(own) if number < 0 else number
            selected |= {number, own[number]} if number < len(own) else {number}
        for name in _as_tuple(names):
            if not any_name and name not in own + others:
                raise ValueError(f"jit: {option}_argnames is {name!r}; the arguments of {name_of(self._function)} are "
                                 f"{', '.join(own + others) or 'none'}")
            selected |= {name, own.index(name)} if name in own else {name}
        return selected

    def __reduce__(self):
        """By name where its module has it, as functions are pickled; else its function and options."""
        found = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        return self.__qualname__ if found is self else (Jitted, (self._function, *self._options))

    def __repr__(self):
        return f"<ricci.jit of {name_of(self._function)}>"

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    # ---- kinds of call ----

    def _split(self, arguments, named):
        """(static values by place, the rest with None in their place)."""
        static = tuple((i, x) for i, x in enumerate(arguments) if i in self._static)
        static += tuple((k, x) for k, x in sorted(named.items()) if k in self._static)
        if not static:
            return (), (arguments, named)
        rest = tuple(None if i in self._static else x for i, x in enumerate(arguments))
        return static, (rest, {k: None if k in self._static else x for k, x in named.items()})

    def _key(self, arguments, named):
        static, rest = self._split(arguments, named)
        leaves, structure = flatten(rest)
        types = tuple(leaf_types("jit", leaves, _Names(structure)))
        key = structure, types, tuple((k, type(x), x) for k, x in static), self._device
        try:
            hash(key)
        except TypeError:
            wrong = next((k, x) for k, x in static if not _is_hashable(x))
            raise TypeError(f"jit: the static argument {wrong[0]} is of type {type(wrong[1]).__name__}, which has no hash; "
                            "use a tuple in place of a list, or pass arrays as arguments that are not static") from None
        return key, static, leaves

    def _of_rest(self, static):
        """The function without its static arguments."""
        if not static:
            return self._function
        held = dict(static)

        @functools.wraps(self._function)
        def function(*arguments, **named):
            arguments = tuple(held.get(i, x) for i, x in enumerate(arguments))
            return self._function(*arguments, **{k: held.get(k, x) for k, x in named.items()})
        return function

    def _traced(self, key, static):
        return closed("jit", self._of_rest(static), key[0], key[1], context=self._used_context(),
                      lifts=False if current() is None else None, widens=True)

    def _used_context(self):
        trace = current()
        return (self._context or default_context()) if trace is None else trace.context

    def _kept(self, key):
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                self._entries.move_to_end(key)
            return entry

    def _keep(self, key, entry):
        with self._lock:
            self._entries[key] = entry
            while len(self._entries) > _KEPT:
                key, oldest = self._entries.popitem(last=False)
                if oldest.was_used():
                    self._entries[key] = oldest
                elif oldest.kind is not None and self._unlearn(oldest.kind):
                    self._trees.pop(oldest.tree, None)
        return entry

    def _flags(self, structure):
        """Which leaves are donated."""
        if not self._donated:
            return ()
        arguments, named = structure.children
        flags = [i in self._donated for i, child in enumerate(arguments.children) for _ in range(child.size)]
        return flags + [k in self._donated for k, child in zip(named.data, named.children) for _ in range(child.size)]

    def _compiled(self, key, static):
        entry = self._kept((key, None))
        if entry is None:
            made = self._traced(key, static)
            structure = key[0]
            executable = Executable(made.program, self._device, self._flags(structure),
                                    names=lambda: list(_Names(structure)))
            entry = self._keep((key, None), _Entry(made, executable))
        return entry

    # ---- calls ----

    def _call(self, arguments, named):
        try:
            key, static, leaves = self._key(arguments, named)
            trace = current()
            if trace is not None:
                return self._inside(trace, key, static, leaves)
            entry = self._compiled(key, static)
            result = entry.made.output.build(entry.executable(*map(to_host, leaves)))
            if entry.executable.target is not None:
                self._teach(entry, key)
            return result
        except BaseException as error:
            hide_frames(error)
            raise

    def _prepared(self, executable, i, leaf):
        """What the extension passes for a leaf of the right type that code cannot read where it is."""
        return executable._argument(i, leaf)

    def _teach(self, entry, key):
        """Such calls need no Python code from now on, if the extension knows the types and structures."""
        structure, types, static, _ = key
        if any(dtype == KEY or weak and dtype not in _NUMBERS for dtype, _, weak in types):
            return
        with self._lock:
            if self._entries.get((key, None)) is not entry:
                return  # forgotten by another thread
            if entry.kind is None:
                entry.tree = structure, static
                tree = self._trees.get(entry.tree)
                if tree is None:
                    tree = self._trees[entry.tree] = native.Tree(self._described(structure, static))
                numbers = [_NUMBERS[dtype] if weak else 0 for dtype, _, weak in types]
                output = native.Tree(described(entry.made.output))
                entry.kind = native.Kind(tree, entry.executable.target, output, numbers, entry.executable)
            self._learn(entry.kind)

    def _described(self, structure, static):
        """The nodes of (arguments, keywords), with static values in the places of arguments."""
        (arguments, named), values = structure.children, {position: [("S", value)] for position, _, value in static}
        return of_call([values.get(i) or described(child) for i, child in enumerate(arguments.children)],
                       {k: values.get(k) or described(child) for k, child in zip(named.data, named.children)})

    def _inside(self, trace, key, static, leaves):
        """A call in a traced function: one equation. A program that captures values belongs to that trace alone."""
        kept = (key, trace.context, trace.lifts)
        entry = self._kept(kept)
        if entry is None:
            entry = _Entry(self._traced(key, static), None)
            if not entry.made.captured:
                self._keep(kept, entry)
        made = entry.made
        found = trace.emit("call", made.operands(leaves), {"body": made.program})
        return made.output.build([Value(trace, v.number, *v.type, weak) for v, weak in zip(found, made.weak)])

    # ---- what was traced ----

    @without_frames
    def function(self, *arguments, **named):
        """The ricci.Function for arguments of these types: its program, derivatives, `save`. Arrays are not looked at,
        so a ShapeDtypeStruct will do; static arguments are bound."""
        if current() is not None:
            raise TypeError("jit: function() is for outside of traced functions")
        key, static, _ = self._key(arguments, named)
        made, (given, keywords) = self._compiled_or_traced(key, static), key[0].children
        inputs = [c for i, c in enumerate(given.children) if i not in self._static]
        named = {k: c for k, c in zip(keywords.data, keywords.children) if k not in self._static}
        donate = {i for i, flag in enumerate(self._flags(key[0])) if flag}
        return Function(made.program, [_leaf(c) for c in inputs], {k: _leaf(c) for k, c in named.items()}, made.output,
                        donate, self._device)

    def _compiled_or_traced(self, key, static):
        entry = self._kept((key, None))
        return self._traced(key, static) if entry is None else entry.made

    @without_frames
    def profile(self, *arguments, **named):
        """(result, Spans) as Function.profile."""
        return self.function(*arguments, **named).profile(*self._data(arguments), **self._data_by_name(named))

    @without_frames
    def check_finite(self, *arguments, **named):
        """As Function.check_finite: an Error where a NaN or an infinity comes from."""
        self.function(*arguments, **named).check_finite(*self._data(arguments), **self._data_by_name(named))

    def _data(self, arguments):
        return [x for i, x in enumerate(arguments) if i not in self._static]

    def _data_by_name(self, named):
        return {k: x for k, x in named.items() if k not in self._static}

    def lower(self, *arguments, **named):
        """As in JAX: `.text`, `.compile()`."""
        return self.function(*arguments, **named).lower()

    def cache_size(self):
        """How many kinds of call are kept."""
        return len(self._entries)

    def clear_cache(self):
        """Forgets what was traced and compiled."""
        with self._lock:
            self._entries.clear()
            self._trees.clear()
            if native.IS_THERE:
                self._forget()


def _leaf(structure):
    return Leaf() if structure.kind is None else structure


class _Names:
    """The names of leaves of (arguments, keywords), made when a message needs them."""

    def __init__(self, structure):
        self._structure = structure

    def __iter__(self):
        return map(leaf_name, self._structure.paths())


def _is_hashable(x):
    try:
        hash(x)
    except TypeError:
        return False
    return True


def jit(function=None, *, static_argnums=(), static_argnames=(), donate_argnums=(), donate_argnames=(), device=None,
        context=None):
    """`function` compiled: traced for each new structure, dtypes and shapes of its arguments, then run without Python.

    Arguments and results are trees of arrays. `static_argnums` and `static_argnames` are arguments that Python needs to
    know (hashable; another value is traced again). The memory of `donate_argnums` may be reused for results. Also a
    decorator, `@ricci.jit` and `@ricci.jit(static_argnums=1)`. Within a traced function a call is one equation.
    """
    def of(f):
        return Jitted(f, static_argnums, static_argnames, donate_argnums, donate_argnames, device, context)
    return of if function is None else of(function)


@without_frames
def eval_shape(function, *arguments, **named):
    """The result with a ShapeDtypeStruct in the place of each array; nothing is computed."""
    made = Jitted(function).function(*arguments, **named)
    return made.output.build([ShapeDtypeStruct(shape, numpy_of(dtype)) for dtype, shape in made.program.results])
