"""Jacobians: the mapped derivative of a program at every unit tangent or cotangent.

As in JAX, the block of result r and argument a has the shape of r followed by that of a. The unit vectors of all leaves
are one batch; they are made by the program, from the positions of its elements.
"""
import math

import numpy as np

from ..abi._abi import RICCI_C64, RICCI_C128, RICCI_I64
from ..abi.builder import Builder, DType
from ..abi.dtypes import numpy_of, type_text
from ..abi.program import is_differentiable


def _units(b, types):
    """For each type the batch of its part of every unit vector, and the offset of its own units in it."""
    sizes = [math.prod(shape) for _, shape in types]
    total, at, batches = sum(sizes), 0, []
    for (dtype, shape), size in zip(types, sizes):
        index = b.emit("iota", [], dtype=DType(RICCI_I64), shape=[total, size], dimension=0)[0]
        own = b.emit("iota", [], dtype=DType(RICCI_I64), shape=[total, size], dimension=1)[0]
        offset = b.constant(np.int64(at), shape=[total, size])
        hit = b.emit("eq", [index, b.emit("add", [own, offset])[0]])
        unit = b.emit("convert_element_type", hit, new_dtype=DType(dtype))
        batches.append(b.emit("reshape", unit, new_sizes=[total, *shape])[0])
        at += size
    return batches, sizes


def _block(b, value, start, size, shape, axis):
    """Units [start, start + size) of dimension `axis` of `value`, that dimension unfolded to `shape`."""
    own = b.type_of(value)[1]
    low, high = [0] * len(own), list(own)
    low[axis], high[axis] = start, start + size
    cut = b.emit("slice", [value], start_indices=low, limit_indices=high)
    return b.emit("reshape", cut, new_sizes=[*own[:axis], *shape, *own[axis + 1:]])[0]


def selected(program, which):
    """The program with the results `which` only."""
    b = Builder(program.context, program.name, program.params)
    results = b.inline(program, b.params)
    return b.finish([results[i] for i in which])


def _is_complex(dtype_and_shape):
    return dtype_and_shape[0] in (RICCI_C64, RICCI_C128)


def _check_kinds(name, of, given, by, others):
    """A block has a number for each element: complex numbers on one side only would need two."""
    if any(map(_is_complex, given)) and not all(map(_is_complex, others)):
        raise TypeError(f"{name}: a complex {of} needs complex {by}s only; take real and imaginary parts")


def forward_jacobian(program, leaves):
    """Results: for each result of `program`, its block for each of `leaves`; integers have a block of zeros."""
    _check_kinds("jacfwd", "argument", [program.params[i] for i in leaves], "result",
                 filter(is_differentiable, program.results))
    active = [i in leaves for i in range(len(program.params))]
    order = [i for i in range(len(program.params)) if active[i]]
    jvp = program.jvp(active)
    b = Builder(program.context, f"jacfwd_{program.name}", program.params)
    units, sizes = _units(b, [program.params[i] for i in order])
    n_out = len(program.results)
    moving = sum(map(is_differentiable, program.results))
    in_axes = [-1] * len(program.params) + [0] * len(order)
    mapped = selected(jvp, range(n_out, n_out + moving)).vmap(in_axes, [0] * moving, sum(sizes))
    found = b.inline(mapped, b.params + units)
    starts = dict(zip(order, np.cumsum([0, *sizes[:-1]])))
    results, rest = [], iter(found)
    for dtype, shape in program.results:
        if not is_differentiable((dtype, shape)):
            results += [b.constant(np.zeros((), numpy_of(dtype)), dtype, (*shape, *program.params[i][1])) for i in leaves]
            continue
        (last,) = b.emit("transpose", [next(rest)], permutation=[*range(1, len(shape) + 1), 0])
        for i in leaves:
            size, own = math.prod(program.params[i][1]), program.params[i][1]
            results.append(_block(b, last, int(starts[i]), size, own, len(shape)))
    return b.finish(results)


def reverse_jacobian(program, leaves):
    """The same, one cotangent of a result element at a time."""
    for t in program.results:
        if not is_differentiable(t):
            raise TypeError(f"jacrev: the function has a result that is not floating but {type_text(t)}")
    _check_kinds("jacrev", "result", program.results, "argument", [program.params[i] for i in leaves])
    wanted = [i in leaves for i in range(len(program.params))]
    order = [i for i in range(len(program.params)) if wanted[i]]
    fwd, bwd = program.vjp(wanted)
    b = Builder(program.context, f"jacrev_{program.name}", program.params)
    residuals = b.inline(fwd, b.params)[len(program.results):]
    units, sizes = _units(b, program.results)
    mapped = bwd.vmap([-1] * len(residuals) + [0] * len(units), [0] * len(order), sum(sizes))
    found = dict(zip(order, b.inline(mapped, residuals + units)))
    results, at = [], 0
    for (_, shape), size in zip(program.results, sizes):
        results += [_block(b, found[i], at, size, shape, 0) for i in leaves]
        at += size
    return b.finish(results)
