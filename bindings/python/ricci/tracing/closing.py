"""A Python function of trees as a program: what all transformations and loops begin with.

The function may use values of the traces around it. They are the program's last parameters, and `Closed.captured` lists
what has to be passed for them. Programs that are held together (branches, condition and body) get the same ones.
"""
import functools

import numpy as np

from ..abi import arguments as given
from ..abi.arguments import count
from ..abi.builder import Builder, DType
from ..abi.dtypes import numpy_of, type_text
from ..abi.program import is_differentiable
from ..calls.frames import hide_frames
from ..calls.user_trees import flatten
from .given_numbers import given_trees
from .operands import converted
from .promotion import number_of_dtype
from .trace import Trace, current, evaluate, is_array, type_of


class ShapeDtypeStruct:
    """A shape and a dtype in the place of an array, where only these are looked at."""

    def __init__(self, shape, dtype):
            self.shape, self.dtype = tuple(shape), numpy_of(number_of_dtype(dtype))

    def __repr__(self):
        return f"ShapeDtypeStruct({self.shape}, {self.dtype})"

    def __eq__(self, other):
        return isinstance(other, ShapeDtypeStruct) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self):
        return hash((self.shape, self.dtype))


class Closed:
    """`program`: of the leaves of the arguments, then of `captured`. `output`: the structure of the result."""

    def __init__(self, program, captured, output, weak):
        self.program, self.captured, self.output, self.weak = program, captured, output, weak

    @property
    def types(self):
        """(dtype, shape, weak) of the leaves of the result."""
        return [(*t, w) for t, w in zip(self.program.results, self.weak)]

    def operands(self, leaves):
        """What the program takes for these leaves of the arguments: numbers of Python in the dtypes that it has for them,
        and the captures."""
        trace = current()
        return [trace.converted(trace.lift(x), t[0]) for x, t in zip(leaves, self.program.params)] + self.captured

    def taken(self, types):
        """The types of the leaves of the arguments as the program has them."""
        return [(*t, *own[2:]) for t, own in zip(self.program.params, types)]


def in_a_trace(function):
    """Outside of any trace the function is traced and run at once."""
    @functools.wraps(function)
    def call(*arguments, **named):
        try:
            if current() is not None:
                return function(*arguments, **named)
            own, by_name = given_trees(*arguments, **named)
            return evaluate(lambda: function(*own, **by_name), copies=True)
        except BaseException as error:
            hide_frames(error)
            raise
    return call


def name_of(function):
    """What its program is called."""
    inner = getattr(function, "func", function)
    name = getattr(inner, "__name__", type(inner).__name__)
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name).strip("_") or "function"


def leaf_name(path):
    """What messages call a leaf of (arguments, keywords): `argument 1['w']`."""
    group, rest = path[:3], path[3:]
    if group == "[1]":
        key, _, rest = rest[1:].partition("]")
        return f"argument {key.strip(chr(39))}{rest}"
    number, _, rest = rest[1:].partition("]")
    return f"argument {number}{rest}"


def check_callable(transformation, function):
    if not callable(function):
        raise TypeError(f"{transformation}: {function!r} is not callable")


def leaf_types(function, leaves, names):
    """The types of leaves, each of which must be an array; `names` is looked at for a message only."""
    for i, leaf in enumerate(leaves):
        if type(leaf) is not np.ndarray and not is_array(leaf):
            raise TypeError(f"{function}: {list(names)[i]} is of type {type(leaf).__name__}; an array or a number is "
                            "expected (pass others by static_argnums of jit, or bind them by functools.partial)")
    return [type_of(leaf) for leaf in leaves]


def closed(transformation, function, structure, types, *, spread=True, lifts=None, context=None, cast=None,
           widens=False):
    """`function` of arguments of that structure, (arguments, keywords), whose leaves have these types.

    `cast`: dtypes that the leaves of the result are converted to, None for those that stay. `widens`: a weak argument that
    meets 64 bits has 64 bits in the program (`Closed.operands`).
    """
    check_callable(transformation, function)
    parent = current()
    trace = Trace(context or parent.context, name_of(function), types, parent, lifts, widens)
    with trace.active():
        built = structure.build(trace.params)
        out = function(*built[0], **built[1]) if spread else function(*built)
        leaves, output = flatten(out)
        for leaf, path in zip(leaves, output.paths()):
            if not is_array(leaf):
                raise TypeError(f"{transformation}: the function {name_of(function)} returns {'a leaf' if path else ''}"
                                f"{path and ' ' + path + ' '}of type {type(leaf).__name__}; arrays are expected")
        values = [trace.lift(leaf) for leaf in leaves]
        if cast:
                    values = [v if kind is None else converted(v, kind) for v, kind in zip(values, cast)]
        weak = [v.weak for v in values]
        program = _with_wide(trace.finish(values), trace.replaced)
    return Closed(program, trace.captured, output, weak)


def _with_wide(program, replaced):
    """The program with a parameter of 64 bits in the place of each one that is `replaced`; where it takes the 32 bits of
    that, they are converted."""
    if not replaced:
        return program
    last = {own: i for i, own in replaced.items()}
    kept = [i for i in range(len(program.params)) if i not in last]
    b = Builder(program.context, program.name, [program.params[replaced.get(i, i)] for i in kept])
    at = dict(zip(kept, b.params))
    at |= {own: at[i] for own, i in last.items()}
    for i in replaced:
        at[i] = b.emit("convert_element_type", [at[i]], new_dtype=DType(program.params[i][0]))[0]
    return b.finish(b.inline(program, [at[i] for i in range(len(program.params))]))


def reordered(program, order):
    """The program with parameter order[i] in the place of parameter i."""
    b = Builder(program.context, program.name, [program.params[i] for i in order])
    own = dict(zip(order, b.params))
    return b.finish(b.inline(program, [own[i] for i in range(len(program.params))]))


def captures_first(made):
    """The program of a Closed with what it captures as its first parameters."""
    n, k = len(made.program.params), len(made.captured)
    return reordered(made.program, [*range(n - k, n), *range(n - k)]) if k else made.program


def all_captured(*many):
    """What several Closed capture, each value once."""
    found = {id(v): v for made in many for v in made.captured}
    return list(found.values())


def with_captures(made, captured):
    """The program of a Closed with parameters for all of `captured` at the end."""
    if [id(v) for v in made.captured] == [id(v) for v in captured]:
        return made.program
    n = len(made.program.params) - len(made.captured)
    b = Builder(made.program.context, made.program.name, [*made.program.params[:n], *(v.type for v in captured)])
    param_of = {id(v): b.params[n + i] for i, v in enumerate(captured)}
    return b.finish(b.inline(made.program, [*b.params[:n], *(param_of[id(v)] for v in made.captured)]))


def check_differentiable(transformation, types, names):
    for t, name in zip(types, names):
        if not is_differentiable(t[:2]):
            raise TypeError(f"{transformation}: {name} is {type_text(t[:2])}, which has no derivative; floats have "
                            "(x.astype(float)), and `argnums` chooses arguments")


def numbers_of(transformation, argnums, n):
    """(numbers of positional arguments, whether one was given as such)."""
    numbers, single = given.integer_or_integers(transformation, "argnums", argnums)
    for number in numbers:
        if not -n <= number < n:
            raise ValueError(f"{transformation}: argnums is {argnums}; {count(n, 'positional argument')} are given")
    return [number % n for number in numbers], single
