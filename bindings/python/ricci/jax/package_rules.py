"""Primitives that packages add to JAX, and one of JAX: JAX functions with rules of their own, which are traced to programs.

linear_solve of lineax becomes custom_linear_solve where lineax takes the operator for regular: its rule is that of
custom_linear_solve then, which has derivatives of every order. Least squares and minimal norms become custom_jvp around
linear_call: their derivative is lineax's rule, and where they are linear in the right-hand side, lineax's transposed
solve is the transpose. Second derivatives of these in the operator are an error of linear_call; of a gradient that JAX
makes Ricci has the derivative.
"""
import contextlib
import functools

import jax
from jax._src.interpreters import ad
from jax._src.lax.scaled_dot import _scaled_dot_impl

from ..abi.builder import Builder
from .avals import is_differentiable, type_of
from .jaxpr import Body


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
    moving = body.moves(eqn.invars) if function is None else None
    held = importer.program(importer.alike(eqn, _implementation, function), eqn.primitive.name, moving)
    return body.builder.emit("call", body.reads(eqn.invars), len(eqn.outvars), body=held)


def implementation(importer, eqn):
    """What an equation of equinox does, as a jaxpr; None if it has rules of its own."""
    name = eqn.primitive.name
    is_function = (_innermost(eqn.params).name if name == "vprim" else name) in IMPLEMENTED
    return importer.alike(eqn, _implementation, None) if is_function else None


def _zero(aval):
    return ad.Zero(aval.to_tangent_aval())


class _Solve:
    """One linear_solve(operator, state, vector, options, solver, throw) -> solution, result, stats."""

    def __init__(self, eqn):
        self.primitive, self.params = eqn.primitive, eqn.params
        self.ins, self.outs = [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
        self.call = _implementation(eqn)  # which tells `flatten` the tree of the results
        operator, _, vector, *_ = jax.tree_util.tree_unflatten(self.params["treedef"], self._positions())
        self.linear = jax.tree_util.tree_leaves(vector)
        self.moving = {*jax.tree_util.tree_leaves(operator), *self.linear}  # lineax stops the gradient of the others
        self.fixed = [i for i in range(len(self.ins)) if i not in self.linear]
        self.n_solution = self.params["flatten"].get()[0].children()[0].num_leaves

    def _positions(self):
        """For each leaf of the arguments the number of the operand that it is; None for what is static."""
        from equinox.internal._primitive import _missing_dynamic
        positions = iter(range(len(self.ins)))
        return [next(positions) if x is _missing_dynamic else None for x in self.params["static"]]

    def _given(self, values):
        """The arguments, of the values of the operands."""
        from equinox.internal._primitive import _combine
        return jax.tree_util.tree_unflatten(self.params["treedef"], _combine(values, self.params["static"]))

    @property
    def is_regular(self):
        """Does lineax's rule take the operator for regular?"""
        solver = self._given([_struct(a) for a in self.ins])[4]
        types = [[(a.shape, a.dtype) for a in avals]
                 for avals in ([self.ins[i] for i in self.linear], self.outs[:self.n_solution])]
        return solver.assume_full_rank() and types[0] == types[1]

    def product(self, transposed):
        """The operands that are not linear, a vector -> what the operator or its transpose makes of it."""
        def run(*given):
            operator, _, vector, *_ = self._given(self.ordered(given[:len(self.fixed)], given[len(self.fixed):]))
            return jax.tree_util.tree_leaves((operator.transpose() if transposed else operator).mv(vector))
        return jax.make_jaxpr(run)(*(_struct(self.ins[i]) for i in self.fixed + self.linear))

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


def _solution_program(importer, solve, n_results, moving=True):
    """The fixed operands, the vector -> the solution, or the first `n_results` results."""
    avals = [solve.ins[i] for i in solve.fixed + solve.linear]
    inner = Body(importer, "solve", [type_of(a) for a in avals])
    params, n = inner.builder.params, len(solve.fixed)
    outs = inner.run(solve.call.jaxpr, solve.call.consts, solve.ordered(params[:n], params[n:]), [moving] * len(avals))
    return inner.builder.finish(outs[:n_results])


def _linear(importer, solve, build, operands):
    """The results, with the solution as a linear function of the vector."""
    held = _solution_program(importer, solve, solve.n_solution)
    with _inside(importer):
        transpose = importer.program(solve.transpose)
    fixed, linear = [operands[i] for i in solve.fixed], [operands[i] for i in solve.linear]
    solution = build.emit("linear_call", fixed + linear, solve.n_solution, num_residuals=len(fixed), call=held,
                          transpose=transpose)
    rest = build.emit("call", operands, len(solve.outs), body=importer.program(solve.call))[solve.n_solution:]
    return solution + rest


def _regular(importer, solve, body, eqn):
    """The solvers are never differentiated: nothing moves in them."""
    operands = body.reads(eqn.invars)
    fixed, linear = [operands[i] for i in solve.fixed], [operands[i] for i in solve.linear]
    held = {"matvec": importer.program(solve.product(transposed=False)),
            "vecmat": importer.program(solve.product(transposed=True)),
            "solve": _solution_program(importer, solve, len(solve.outs), moving=False),
            "transpose_solve": importer.program(solve.transpose, moving=[False] * len(solve.transpose.in_avals))}
    return body.builder.emit("custom_linear_solve", fixed * len(held) + linear, len(solve.outs), **held)


def linear_solve(importer, body, eqn):
    solve = importer.alike(eqn, _Solve)
    if solve.is_regular and any(body.moves(eqn.invars)):
        return _regular(importer, solve, body, eqn)
    # Without a tangent, or as the transpose of a transpose, which linear_call never asks for.
    if importer.solves_around > 1 or not any(body.moves(eqn.invars)):
        held = importer.program(solve.call, moving=[any(body.moves(eqn.invars))] * len(solve.ins))
        return body.builder.emit("call", body.reads(eqn.invars), len(eqn.outvars), body=held)
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
    one = importer.program(importer.alike(eqn, _one_of_many), mapped.name, [any(body.moves(eqn.invars))] * len(axes))
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
