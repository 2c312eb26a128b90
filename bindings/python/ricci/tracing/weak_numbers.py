"""How weak values keep their digits until their dtype is known.

A number of Python, and what functions make of such numbers alone, has 32 bits unless something says otherwise. What has
64 bits may come late: `a = ricci.numpy.sqrt(2)` and then `a * x`, an argument of `jit`, a value that is broadcast first.
A conversion of the 32 bits would lose half of the digits, so a value has a recipe, the number, parameter or equation that
it comes from, and is made again in 64 bits from there: once in a trace, and what is not used after that is dead code.

Values inside of a function of `ricci.numpy` have one too where they come from numbers alone, so that its weak result has.
"""
import collections

from ..abi.builder import DType
from .promotion import BOOL, C64, C128, F32, F64, I32, I64, U64, kind_of

WIDE = {F32: F64, I32: I64, C64: C128}
_WIDE_TYPES = (F64, I64, U64, C128)

# `make(trace, dtype, operands)` gives the value in a dtype of WIDE, of operands that are made again; `number` is that of
# Python if it is one.
_Recipe = collections.namedtuple("_Recipe", "operands make number", defaults=(None,))


def of_number(number, shape):
    """The recipe of a number of Python, in all elements of `shape`."""
    return _Recipe((), lambda trace, kind, _: trace.number(number, kind, shape), number)


def of_parameter(index, shape):
    """That of a parameter of the trace, which one of 64 bits can replace."""
    return _Recipe((), lambda trace, kind, _: trace.wide_parameter(index, kind, shape))


def of_captured(value):
    """That of a value of a trace around."""
    return _Recipe((), lambda trace, kind, _: trace.lift(value._trace.converted(value, kind)))


def of_equation(row, operands, attributes, index):
    """That of result number `index` of an equation; None if something else than numbers goes into it, or if it must not
    be computed twice."""
    if row.holds_programs or row.is_effectful or not any(v.recipe for v in operands):
        return None
    if not all(v.weak or v.recipe or v.kind == BOOL for v in operands):
        return None
    wide = {name: DType(WIDE.get(x, x)) if isinstance(x, DType) else x for name, x in attributes.items()}
    return _Recipe(tuple(operands), lambda trace, _, values: trace.emit(row.name, values, wide)[index])


def number_for(value, kind):
    """The number of Python that a weak value is, to be rounded once to the float or complex `kind`; else None."""
    is_one = value.weak and value.recipe is not None and value.recipe.number is not None
    return value.recipe.number if is_one and kind_of(kind) >= max(2, kind_of(value.kind)) else None


def is_late(value, kind):
    """Is it a weak value of 32 bits that meets 64?"""
    return value.weak and value.recipe is not None and value.kind in WIDE and kind in _WIDE_TYPES


def in_wide(value):
    """A value with a recipe in 64 bits. Without recursion, for a program may apply thousands of operations to numbers."""
    trace, stack = value._trace, [value]
    while stack:
        v = stack[-1]
        missing = [] if id(v) in trace.wide else [x for x in v.recipe.operands if _needs_more(trace, x)]
        stack += missing
        if missing:
            continue
        stack.pop()
        if id(v) not in trace.wide:
            made = v.recipe.make(trace, WIDE[v.kind], [_operand(trace, x) for x in v.recipe.operands])
            trace.wide[id(v)] = v, made
    return trace.wide[id(value)][1]


def _needs_more(trace, x):
    return x.recipe is not None and x.kind in WIDE and id(x) not in trace.wide


def _operand(trace, x):
    if id(x) in trace.wide:
        return trace.wide[id(x)][1]
    return trace.converted(x, WIDE[x.kind]) if x.kind in WIDE else x
