"""lax.scatter_apply, as in x.at[i].apply(f): f of the elements at some places, once for each time a place is given.

A scatter-add of ones counts the places. f of all elements is one vmap, from which a selection takes those that count; a
place that is given several times takes several trips. Where none can be, there is no loop, and so reverse mode, which
JAX lacks.
"""
import math

import numpy as np
from jax._src import core

from .dtypes import number_of
from .jax_attributes import scatter_attributes
from .jax_program import Body, type_of

_I32 = number_of(np.dtype(np.int32))


def is_apply(eqn):
    update = eqn.params["update_jaxpr"]
    return update is not None and bool(update.eqns)


def _applied(build, f, x):
    """f of each element of x."""
    shape = build.type_of(x)[1]
    n = math.prod(shape)
    (flat,) = build.emit("reshape", [x], new_sizes=(n,))
    (y,) = build.emit("vmap", [flat, flat], body=f, size=n, in_axes=(0, 0), out_axes=(0,))
    (out,) = build.emit("reshape", [y], new_sizes=shape)
    return out


def _trip(build, f, count, trip, x):
    """x with f of the elements whose count is above `trip`, a scalar."""
    (more,) = build.emit("gt", [count, build.broadcast(trip, build.type_of(count)[1], ())])
    (out,) = build.emit("select_n", [more, x, _applied(build, f, x)])
    return out


def _loop(importer, body, f, count, x):
    """As many trips as the greatest count. Operands: the greatest, the counts; carried: the trip, x."""
    build = body.builder
    count_type, x_type = build.type_of(count), build.type_of(x)
    scalar = (_I32, ())
    (most,) = build.emit("reduce_max", [count], axes=range(len(count_type[1])))
    goes_on = Body(importer, "goes_on", [scalar, scalar, x_type]).builder
    cond = goes_on.finish(goes_on.emit("lt", [goes_on.params[1], goes_on.params[0]]))
    step = Body(importer, "apply", [count_type, scalar, x_type])
    inner, (counts, trip, carried) = step.builder, step.builder.params
    (following,) = inner.emit("add", [trip, step.constant(np.int32(1), _I32)])
    step_program = inner.finish([following, _trip(inner, f, counts, trip, carried)])
    operands = [most, count, body.constant(np.int32(0), _I32), x]
    return build.emit("while", operands, 2, cond=cond, body=step_program, cond_nconsts=1, body_nconsts=1)[1:]


def scatter_apply(importer, body, eqn):
    p, build = eqn.params, body.builder
    x, indices, updates = body.reads(eqn.invars)
    f = importer.program(core.ClosedJaxpr(p["update_jaxpr"], p["update_consts"]))
    (dtype, shape), update_shape = type_of(eqn.invars[0].aval), build.type_of(updates)[1]
    if math.prod(shape) == 0:
        return [x]
    one, zero = (body.constant(np.int32(n), _I32) for n in (1, 0))
    (count,) = build.emit("scatter-add", [build.broadcast(zero, shape, ()), indices,
                                          build.broadcast(one, update_shape, ())], **scatter_attributes(p))
    if p["unique_indices"] or math.prod(build.type_of(indices)[1][:-1]) <= 1:
        return [_trip(build, f, count, zero, x)]
    return _loop(importer, body, f, count, x)
