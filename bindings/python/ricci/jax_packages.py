"""Primitives that packages add to JAX, and one of JAX: JAX functions with rules of their own, which are traced to programs.

linear_solve of lineax becomes custom_jvp around linear_call: its derivative is lineax's rule, and where it is linear in
its right-hand side, lineax's transposed solve is its transpose. Second derivatives in the operator are an error of
linear_call.
"""
import contextlib
import functools

import jax
from jax._src.interpreters import ad
from jax._src.lax.scaled_dot import _scaled_dot_impl

from .builder import Builder
from .jax_program import Body, is_differentiable, type_of


def _struct(aval):
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype)


def _implementation(eqn, function=None):
    """What the primitive does as a jaxpr: `function`, or its `impl`."""
    def run(*xs):
        outs = (function or eqn.primitive.impl)(*xs, **eqn.params)
        return list(outs) if eqn.primitive.multiple_results else [outs]
    return jax.make_jaxpr(run)(*(_struct(v.aval) for v in eqn.invars))


def implemented(importer, body, eqn, function=None):
    """A primitive that is a JAX function and has its derivative."""
    return body.builder.emit("call", body.reads(eqn.invars), len(eqn.outvars),
                             body=importer.program(importer.alike(eqn, _implementation, function), eqn.primitive.name))


def _zero(aval):
    return ad.Zero(aval.to_tangent_aval())


class _Solve:
    """One linear_solve(operator, state, vector, options, solver, throw) -> solution, result, stats."""

    def __init__(self, eqn):
        self.primitive, self.params = eqn.primitive, eqn.params
        self.ins, self.outs = [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
        self.call = _implementation(eqn)  # which tells `flatten` the tree of the results
        operator, _, vector, *_ = jax.tree_util.tree_unflatten(self.params["treedef"], self._places())
        self.linear = jax.tree_util.tree_leaves(vector)
        self.moving = {*jax.tree_util.tree_leaves(operator), *self.linear}  # lineax stops the gradient of the others
        self.fixed = [i for i in range(len(self.ins)) if i not in self.linear]
        self.n_solution = self.params["flatten"].get()[0].children()[0].num_leaves

    def _places(self):
        """For each leaf of the arguments the number of the operand that it is; None for what is static."""
        from equinox.internal._primitive import _missing_dynamic
        places = iter(range(len(self.ins)))
        return [next(places) if x is _missing_dynamic else None for x in self.params["static"]]

    def ordered(self, fixed, linear):
        """The operands from those that are not linear and those that are."""
        values = dict(zip(self.fixed + self.linear, [*fixed, *linear]))
        return [values[i] for i in range(len(self.ins))]

    @functools.cached_property
    def jvp(self):
        """Operands, tangents of those that have some -> results, tangents of those that have some."""
        differentiable = [i for i, a in enumerate(self.ins) if is_differentiable(a)]

        def rule(*given):
            found = dict(zip(differentiable, given[len(self.ins):]))
            tangents = [found[i] if i in self.moving and i in found else _zero(a) for i, a in enumerate(self.ins)]
            outs, moving = ad.primitive_jvps[self.primitive](given[:len(self.ins)], tangents, **self.params)
            moving = [ad.instantiate_zeros(t) for t, a in zip(moving, self.outs) if is_differentiable(a)]
            return [*outs, *moving]
        return jax.make_jaxpr(rule)(*map(_struct, (*self.ins, *(self.ins[i] for i in differentiable))))

    @functools.cached_property
    def transpose(self):
        """Operands that are not linear, cotangents of the solution -> cotangents of the vector."""
        def rule(*given):
            fixed, cts = given[:len(self.fixed)], given[len(self.fixed):]
            cts = [*cts, *map(_zero, self.outs[self.n_solution:])]
            dynamic = self.ordered(fixed, [ad.UndefinedPrimal(self.ins[i]) for i in self.linear])
            found = ad.primitive_transposes[self.primitive](cts, *dynamic, **self.params)
            return [ad.instantiate_zeros(found[i]) for i in self.linear]
        avals = [self.ins[i] for i in self.fixed] + self.outs[:self.n_solution]
        return jax.make_jaxpr(rule)(*map(_struct, avals))


@contextlib.contextmanager
def _inside(importer):
    """While rules of a linear_solve are imported."""
    importer.solves_around += 1
    try:
        yield
    finally:
        importer.solves_around -= 1


def _solution_program(importer, solve):
    """What linear_call holds: the fixed operands, the vector -> the solution."""
    avals = [solve.ins[i] for i in solve.fixed + solve.linear]
    inner = Body(importer, "solve", [type_of(a) for a in avals])
    params, n = inner.builder.params, len(solve.fixed)
    outs = inner.run(solve.call.jaxpr, solve.call.consts, solve.ordered(params[:n], params[n:]))
    return inner.builder.finish(outs[:solve.n_solution])


def _linear(importer, solve, build, operands):
    """The results, with the solution as a linear function of the vector."""
    held = _solution_program(importer, solve)
    with _inside(importer):
        transpose = importer.program(solve.transpose)
    fixed, linear = [operands[i] for i in solve.fixed], [operands[i] for i in solve.linear]
    solution = build.emit("linear_call", fixed + linear, solve.n_solution, num_residuals=len(fixed), call=held,
                          transpose=transpose)
    rest = build.emit("call", operands, len(solve.outs), body=importer.program(solve.call))[solve.n_solution:]
    return solution + rest


def linear_solve(importer, body, eqn):
    solve = importer.alike(eqn, _Solve)
    if importer.solves_around > 1:  # the transpose of a transpose: linear_call never asks for it
        return body.builder.emit("call", body.reads(eqn.invars), len(eqn.outvars), body=importer.program(solve.call))
    if importer.solves_around == 1:
        return _linear(importer, solve, body.builder, body.reads(eqn.invars))
    inner = Builder(importer.context, "linear_solve", [type_of(a) for a in solve.ins])
    call = inner.finish(_linear(importer, solve, inner, inner.params))
    with _inside(importer):
        jvp = importer.program(solve.jvp)
    return body.builder.emit("custom_jvp", body.reads(eqn.invars), len(eqn.outvars), call=call, jvp=jvp)


def scaled_dot(importer, body, eqn):
    """jax.lax.scaled_dot, which has no `impl` but what it is lowered to."""
    return implemented(importer, body, eqn, _scaled_dot_impl)


def vprim(importer, body, eqn):
    """A primitive of equinox that jax.vmap has mapped, which is a primitive again.

    What is a JAX function is mapped by JAX, because it may be another one in a batch (select_if_vmap). One with rules is
    imported as it is and mapped by Ricci, so its derivative is the batch of its own.
    """
    axes, size, mapped = (eqn.params[name] for name in ("__batch_axes", "__axis_size", "prim"))
    if _innermost(eqn.params).name in IMPLEMENTED:
        return implemented(importer, body, eqn)
    one = importer.program(importer.alike(eqn, _one_of_many), mapped.name)
    many = one.vmap([-1 if axis is None else axis for axis in axes], [0] * len(eqn.outvars), size)
    return body.builder.emit("call", body.reads(eqn.invars), len(eqn.outvars), body=many)


def _one_of_many(eqn):
    """What a vprim maps, as a jaxpr."""
    p = eqn.params
    avals = [v.aval if axis is None else v.aval.update(shape=v.aval.shape[:axis] + v.aval.shape[axis + 1:])
             for v, axis in zip(eqn.invars, p["__batch_axes"])]
    return jax.make_jaxpr(lambda *xs: p["prim"].bind(*xs, **dict(p["params"])))(*map(_struct, avals))


def _innermost(params):
    """The primitive that was mapped, once or several times."""
    return _innermost(dict(params["params"])) if params["prim"].name == "vprim" else params["prim"]


# Of equinox.
IMPLEMENTED = ("maybe_set", "nonbatchable", "nondifferentiable_backward", "nontraceable", "select_if_vmap",
               "unvmap_all", "unvmap_any", "unvmap_max")
PACKAGE_RULES = {**dict.fromkeys(IMPLEMENTED, implemented), "linear_solve": linear_solve, "vprim": vprim,
                 "scaled_dot": scaled_dot}
