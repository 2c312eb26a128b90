"""Traces: programs under construction while a Python function runs, and `bind`, which adds an equation to one.

The innermost trace of a thread is the current one, and what is computed goes there. A value of a trace around it becomes
one more parameter (a capture), which the code that emits the finished program passes. Arrays of NumPy are constants,
except in `evaluate`: what is computed outside of any traced function is traced there too, with the arrays as
parameters, and the numbers that the user gave (`given_numbers`), so that the same work on others of the same types is
compiled once.
"""
import contextlib

import numpy as np

from ..abi.builder import Builder
from ..abi.context import default_context
from ..abi.dtypes import KEY, number_of, numpy_of, type_text
from ..abi.thread_state import state
from ..abi.user_line import user_location
from ..calls.executable import Executable
from ..calls.frames import without_frames
from ..calls.keys import is_typed_key, to_host
from ..calls.user_trees import flatten
from .given_numbers import GIVEN, given
from .promotion import BOOL, I32, INTEGERS, number_of_scalar
from .rows import row_of
from .value import Value, refuse_foreign
from .weak_numbers import in_wide, is_late, number_for, of_captured, of_equation, of_number, of_parameter

SCALARS = (bool, int, float, complex)
_KEPT = 512  # compiled programs of a context, those used last


def current():
    """The innermost trace of this thread, or None."""
    traces = state.traces
    return traces[-1] if traces else None


def is_array(x):
    """Is it a value, a number, or an array of some library?"""
    if isinstance(x, (Value, np.ndarray, np.generic, *SCALARS)):
        return True
    return not isinstance(x, type) and (hasattr(x, "dtype") and hasattr(x, "shape") or hasattr(x, "__array__")
                                        or hasattr(x, "__dlpack__"))


def is_number(x):
    """Is it a number of Python, whose dtype is weak?"""
    return isinstance(x, SCALARS) and not isinstance(x, np.generic)


def type_of(x):
    """(dtype, shape, whether it is weak) of what `is_array`."""
    if type(x) is np.ndarray:
        return number_of(x.dtype), x.shape, False
    if isinstance(x, Value):
        return x.kind, x.shape, x.weak
    if is_number(x):
        return number_of_scalar(x), (), not isinstance(x, bool)
    if is_typed_key(x):
        return KEY, tuple(x.shape), False
    array = x if isinstance(x, (np.ndarray, np.generic)) else None
    if array is None and not (hasattr(x, "dtype") and hasattr(x, "shape")):
        array = np.asarray(x)
    x = x if array is None else array
    return number_of(x.dtype), tuple(x.shape), False


def number_as(x, dtype):
    """A number of Python as an array of `dtype`. An integer wraps around in a narrower type, as in JAX, unless it is wider
    than the i32 that it is by itself."""
    if dtype not in INTEGERS or not isinstance(x, int):
        return np.asarray(x, numpy_of(dtype))
    info = np.iinfo(numpy_of(dtype))
    if info.min <= x <= info.max:
        return np.asarray(x, info.dtype)
    if number_of_scalar(x) != I32:
        file, line, _ = user_location()
        raise OverflowError(f"{file}:{line}: the integer {x} does not fit {type_text((dtype, ()))}, which holds {info.min} "
                            f"to {info.max}; give it as an array of its own dtype, or convert the other operand")
    return np.asarray(x).astype(info.dtype)


def _bytes_of(array):
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def _is_unchanged(array, copy):
    """Has it the bytes that it had when it was copied?"""
    return np.array_equal(_bytes_of(array), _bytes_of(copy))


class Trace:
    """A program under construction. `types`: (dtype, shape) or (dtype, shape, weak) of its parameters. `widens`: those
    that are weak may be `replaced`."""

    def __init__(self, context, name, types, parent=None, lifts=None, widens=False):
        self.builder = Builder(context, name, [t[:2] for t in types])
        self.params = [Value(self, n, *t, recipe=of_parameter(i, t[1]) if widens and t[2:] == (True,) else None)
                       for i, (n, t) in enumerate(zip(self.builder.params, types))]
        self._begin(context, parent, parent is not None and parent.lifts if lifts is None else lifts)

    def _begin(self, context, parent, lifts):
        self.context, self.parent, self.lifts, self.is_open = context, parent, lifts, True
        self.copies = False  # are arrays that become parameters copied, since they may change before the program runs?
        self.captured, self.arrays = [], []  # values of `parent`; arrays, of the outermost trace only
        self._seen, self._constants = {}, {}
        self.wide = {}  # by id: values, and the same in 64 bits
        self.replaced = {}  # by the index of a parameter: the last parameter, which has 64 bits for it

    @classmethod
    def borrowed(cls, builder, values):
        """The trace of a rule, into the builder that it got, on these values of it."""
        self = cls.__new__(cls)
        self.builder = builder
        self._begin(builder.context, None, False)
        self.params = [None if v is None else Value(self, v, *builder.type_of(v)) for v in values]
        return self

    @contextlib.contextmanager
    def active(self):
        traces = state.__dict__.setdefault("traces", [])
        traces.append(self)
        try:
            yield self
        finally:
            traces.pop()
            self.is_open = False
            self.params, self._seen, self._constants, self.wide = [], {}, {}, {}  # values refer to their trace: no cycle is left

    # ---- operands ----

    def lift(self, x, dtype=None):
        """`x` as a value of this trace; of `dtype` if it is not a value."""
        if isinstance(x, Value):
            return x if x._trace is self else self._capture(x)
        kind, shape, weak = type_of(x)
        if is_number(x):
            return self.number(x, kind if dtype is None else dtype, (), weak)
        array = np.asarray(to_host(x))
        made = self._lifted(array, (kind, shape)) if self.lifts else self.constant(array, kind)
        if dtype in (None, kind):
            return made
        return self.emit("convert_element_type", [made], {"new_dtype": numpy_of(dtype)})[0]

    def number(self, x, dtype, shape=(), weak=False):
        """A number of Python in all elements of a constant, or of a parameter if it was given."""
        if self.lifts and isinstance(x, GIVEN):
            made = self._lifted_number(x, dtype, shape, weak)
        else:
            made = self.constant(number_as(x, dtype), dtype, shape, weak)
        made.recipe = of_number(x, made.shape)
        return made

    def wide_parameter(self, index, dtype, shape):
        """A parameter of 64 bits in the place of parameter number `index`."""
        made = Value(self, self.builder.param(dtype, shape), dtype, shape, weak=True)
        self.replaced[index] = len(self.builder.params) - 1
        return made

    def constant(self, array, dtype=None, shape=None, weak=False):
        """A constant; of one element for all if `shape` is given. An array that was one before and has changed since, as a
        buffer does, is another one."""
        array = np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)
        dtype = number_of(array.dtype) if dtype is None else dtype
        shape = array.shape if shape is None else tuple(shape)
        is_small = array.nbytes <= 64
        key = (array.tobytes() if is_small else id(array), dtype, shape)
        kept = self._constants.get(key)
        if kept is None or not is_small and not _is_unchanged(array, kept[2]):
            copy = None if is_small else array.copy()
            self._constants[key] = self.builder.constant(array, dtype, shape), array, copy
        return Value(self, self._constants[key][0], dtype, shape, weak)

    def _outermost(self):
        trace = self
        while trace.parent is not None:
            trace = trace.parent
        return trace

    def _lifted_number(self, x, dtype, shape, weak):
        """A number as a parameter of the outermost trace, in all elements."""
        trace, key = self._outermost(), (id(x), dtype)
        if key not in trace._seen:
            trace._seen[key] = Value(trace, trace.builder.param(dtype, ()), dtype, (), weak), x
            trace.arrays.append(number_as(x, dtype))
        own = self.lift(trace._seen[key][0])
        if not shape:
            return Value(self, own.number, dtype, (), weak)
        spread = self.emit("broadcast_in_dim", [own], {"shape": tuple(shape), "broadcast_dimensions": ()})[0]
        return Value(self, spread.number, dtype, spread.shape, weak)

    def _lifted(self, array, kind):
        """An array as a parameter of the outermost trace."""
        trace = self._outermost()
        kept = trace._seen.get(id(array))
        if kept is None or trace.copies and not _is_unchanged(array, kept[2]):
            held = array.copy() if trace.copies else array
            kept = trace._seen[id(array)] = Value(trace, trace.builder.param(*kind), *kind), array, held
            trace.arrays.append(held)
        return self.lift(kept[0])

    def _capture(self, value):
        trace = self.parent
        while trace is not None and trace is not value._trace:
            trace = trace.parent
        if trace is None:
            refuse_foreign(value)
        key = id(value)
        if key not in self._seen:
            self.captured.append(self.parent.lift(value))
            own = Value(self, self.builder.param(value.kind, value.shape), value.kind, value.shape, value.weak,
                        value.recipe and of_captured(value))
            self._seen[key] = own, value  # so that no other value gets its id
        return self._seen[key][0]

    # ---- equations ----

    def emit(self, name, operands, attributes):
        """The values of the results of one more equation."""
        row = row_of(self.context, name)
        if row.operands is not None and len(operands) != len(row.operands):
            raise TypeError(f"{name}: operands are {', '.join(row.operands) or 'none'}; {len(operands)} given")
        attributes = row.checked(attributes)
        for i, x in enumerate(operands):
            if isinstance(x, (list, tuple)) and any(isinstance(v, Value) for v in x):
                raise TypeError(f"{name}: operand {i} is a {type(x).__name__} of values; an array is expected "
                                "(ricci.numpy.stack makes one)")
        values = [self.lift(x) for x in operands]
        numbers = [v.number for v in values]
        self.builder.at(*user_location())
        if row.results is None:
            types = self.builder.infer(name, numbers, **attributes)
            made = self.builder.emit(name, numbers, len(types), **attributes)
        else:
            made = self.builder.emit(name, numbers, len(row.results), **attributes)
            types = [self.builder.type_of(v) for v in made]
        # A number of Python stays weak through what keeps its dtype, whatever bools choose; what programs give has the types
        # they say.
        own = [v for v in values if v.kind != BOOL]
        weak = bool(own) and not row.holds_programs and all(v.weak for v in own)
        return [Value(self, v, *t, weak and t[0] == own[0].kind, of_equation(row, values, attributes, i))
                for i, (v, t) in enumerate(zip(made, types))]

    def converted(self, x, kind):
        """A value as `kind`; a weak one with all its digits."""
        number = number_for(x, kind)
        if number is not None and x.kind != kind:
            return self.number(number, kind, x.shape)
        x = in_wide(x) if is_late(x, kind) else x
        return x if x.kind == kind else self.emit("convert_element_type", [x], {"new_dtype": numpy_of(kind)})[0]

    def inline(self, program, operands):
        """The values of the results of a program, whose equations are appended."""
        self.builder.at(*user_location())
        made = self.builder.inline(program, [self.lift(x).number for x in operands])
        return [Value(self, v, *t) for v, t in zip(made, program.results)]

    def finish(self, results):
        """The program with these results; what `captured` lists are its last parameters."""
        numbers = [self.lift(x).number for x in results]
        self.is_open = False
        return self.builder.finish(numbers)


@without_frames
def bind(name, /, *operands, **attributes):
    """The results of the primitive `name`: one value, or a list if its number of results is not one.

    Attributes are keywords (ricci.lax lists them); None leaves an optional one out. Nothing is promoted or broadcast.
    """
    trace = current()
    if trace is None:
        own, _ = given(*operands)
        return evaluate(lambda: bind(name, *own, **attributes))
    made = trace.emit(name, operands, attributes)
    row = row_of(trace.context, name)
    return made[0] if row.results is not None and len(row.results) == 1 else made


def compiled(program, device=None):
    """The Executable of a program; an equal one is compiled once. The context keeps those used last."""
    context = program.context
    with context.lock:
        kept = context.executables
        key = program, device
        if key in kept:
            kept.move_to_end(key)
            return kept[key]
    made = Executable(program, device)
    with context.lock:
        kept[key] = made
        while len(kept) > _KEPT:
            kept.popitem(last=False)
    return made


def evaluate(function, context=None, copies=False):
    """What `function()` gives, with arrays of NumPy for its values: all it computes is one program, which is run.

    `copies`: the function is the user's and may write to its arrays before the program runs.
    """
    trace = Trace(default_context() if context is None else context, "eager", [], lifts=True)
    trace.copies = copies
    with trace.active():
        leaves, structure = flatten(function())
        values = [x for x in leaves if isinstance(x, Value)]
        program = trace.finish(values) if values else None
    if program is None:
        return structure.build(leaves)
    results = iter(compiled(program)(*trace.arrays))
    return structure.build([next(results) if isinstance(x, Value) else x for x in leaves])
