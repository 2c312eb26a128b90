"""JAX equations that hold jaxprs, or that become several equations: one function for each.

A rule takes the importer, the body under construction and the equation, and returns the values of its results.
"""
import numpy as np
from jax._src import core

from ..abi import _abi
from ..abi.builder import DType
from ..abi.dtypes import number_of
from ..abi.library import Error
from .apply import is_apply, scatter_apply
from .attributes import attributes_of, window_attributes
from .avals import host_array, is_key_dtype, type_of
from .batching import custom_vmap
from .callback_rules import CALLBACK_RULES, only_raises
from .checkpoint import checkpoint
from .custom import custom_jvp, custom_vjp, linear_call
from .jaxpr import Body
from .key_rules import KEY_RULES, concerns_words, on_words
from .package_rules import PACKAGE_RULES, implementation
from .sparse_rules import SPARSE_RULES


def call(importer, body, eqn):
    """jit, closed_call and their like: a jaxpr under whatever name. That of remat_opt, which is what a custom_vjp with
    optimize_remat becomes in its derivative, computes results and residuals.

    In a checkpoint it is inlined: results of a call are saved whatever the policy says, those of its equations are not.
    """
    program = importer.program(_closed(eqn), str(eqn.params.get("name") or ""), body.moves(eqn.invars))
    if importer.policies:
        return body.builder.inline(program, body.reads(eqn.invars))
    return body.builder.emit("call", body.reads(eqn.invars), len(eqn.outvars), body=program)


def _closed(eqn):
    """The jaxpr of a call."""
    p = eqn.params
    held = next(p[name] for name in ("jaxpr", "call_jaxpr", "call", "callee", "fun_jaxpr", "fwd_jaxpr") if name in p)
    return held if isinstance(held, core.ClosedJaxpr) else core.ClosedJaxpr(held, ())


def held_jaxpr(importer, eqn):
    """What an equation computes, as a jaxpr of the same operands; None if it is not a call."""
    rule = RULES.get(eqn.primitive.name)
    if rule in (call, checkpoint):
        return _closed(eqn)
    return implementation(importer, eqn)


def custom(rule):
    """A custom operation with its rule; where nothing has a tangent it is a call."""
    def of(importer, body, eqn):
        return (rule if any(body.moves(eqn.invars)) else call)(importer, body, eqn)
    return of


def scan(importer, body, eqn):
    p, moving = eqn.params, body.moves(eqn.invars)
    n, end = p["num_consts"], p["num_consts"] + p["num_carry"]
    moving[n:end] = importer.moving.carry(p["jaxpr"].jaxpr, moving[:n], moving[n:end], moving[end:])
    step = importer.program(p["jaxpr"], moving=moving)
    return body.builder.emit("scan", body.reads(eqn.invars), len(eqn.outvars), body=step,
                             length=p["length"], reverse=p["reverse"], num_consts=p["num_consts"],
                             num_carry=p["num_carry"], unroll=int(p["unroll"]))


def while_loop(importer, body, eqn):
    p = eqn.params
    cond, step, n_cond, n_step = p["cond_jaxpr"], p["body_jaxpr"], p["cond_nconsts"], p["body_nconsts"]
    operands, moving = body.reads(eqn.invars), body.moves(eqn.invars)
    carry = importer.moving.carry(step.jaxpr, moving[n_cond:n_cond + n_step], moving[n_cond + n_step:])
    cond_program = importer.program(cond, moving=moving[:n_cond] + carry)
    step_program = importer.program(step, moving=moving[n_cond:n_cond + n_step] + carry)
    if cond.out_avals[0].shape:  # jax.vmap has mapped a loop whose trip counts differ
        step_program = _masked_step(importer, cond, step, moving[:n_cond], moving[n_cond:n_cond + n_step] + carry)
        cond_program = _any_goes_on(importer, cond, moving[:n_cond] + carry)
        operands[n_cond:n_cond] = operands[:n_cond]
        n_step += n_cond
    return body.builder.emit("while", operands, len(eqn.outvars), cond=cond_program, body=step_program,
                             cond_nconsts=n_cond, body_nconsts=n_step)


def _any_goes_on(importer, cond, moving):
    body = Body(importer, "any", [type_of(a) for a in cond.in_avals])
    (flags,) = body.run(cond.jaxpr, cond.consts, body.builder.params, moving)
    return body.builder.finish(body.builder.emit("reduce_or", [flags], axes=range(len(cond.out_avals[0].shape))))


def _masked_step(importer, cond, step, cond_moving, moving):
    """A trip for the elements whose condition holds; the others keep their carry. `cond_moving`: which constants of the
    condition move, `moving`: which constants and carries of the trip."""
    n_cond = len(cond_moving)
    cond_consts = cond.in_avals[:n_cond]
    body = Body(importer, "masked", [type_of(a) for a in (*cond_consts, *step.in_avals)])
    build, params = body.builder, body.builder.params
    n_carry = len(step.out_avals)
    carry = params[len(params) - n_carry:]
    (flags,) = body.run(cond.jaxpr, cond.consts, params[:n_cond] + carry, cond_moving + moving[len(moving) - n_carry:])
    results = []
    for old, new in zip(carry, body.run(step.jaxpr, step.consts, params[n_cond:], moving)):
        shape = build.type_of(old)[1]
        which = build.broadcast(flags, shape, range(len(build.type_of(flags)[1])))
        results += build.emit("select_n", [which, old, new])
    return build.finish(results)


def cond(importer, body, eqn):
    """Without `debug` a branch that only raises, as equinox.error_if makes, is left out with its condition."""
    branches = eqn.params["branches"]
    goes_on = [b for b in branches if importer.debug or not only_raises(b.jaxpr)]
    moving = body.moves(eqn.invars[1:])
    if len(branches) == 2 and len(goes_on) == 1:
        return body.builder.emit("call", body.reads(eqn.invars[1:]), len(eqn.outvars),
                                 body=importer.program(goes_on[0], moving=moving))
    return body.builder.emit("cond", body.reads(eqn.invars), len(eqn.outvars),
                             branches=[importer.program(b, moving=moving) for b in branches])


def platform_index(importer, body, eqn):
    """The branch of lax.platform_dependent for the CPU."""
    platforms = eqn.params["platforms"]
    which = next((i for i, names in enumerate(platforms) if names is None or "cpu" in names), None)
    if which is None:
        raise Error(f"none of the platforms {platforms} is cpu")
    (var,) = eqn.outvars
    return [body.constant(host_array(var.aval.dtype.type(which)), *type_of(var.aval))]


COMPLEX = (_abi.RICCI_C64, _abi.RICCI_C128)


def custom_linear_solve(importer, body, eqn):
    """The solvers are never differentiated: nothing moves in them."""
    parts = {part: held for part, held in eqn.params["jaxprs"]._asdict().items() if held is not None}
    moves = any(body.moves(eqn.invars))
    moving = {part: [moves and part in ("matvec", "vecmat")] * len(held.in_avals) for part, held in parts.items()}
    return body.builder.emit("custom_linear_solve", body.reads(eqn.invars), len(eqn.outvars),
                             **{part: importer.program(held, moving=moving[part]) for part, held in parts.items()})


def forward(importer, body, eqn):
    """Results that are the operands: a program does not say where they are stored."""
    return body.reads(eqn.invars)


def dot_general(importer, body, eqn):
    """Of operands of two dtypes too: the result has the dtype that both are promoted to."""
    attributes = attributes_of("dot_general", eqn.params)
    if eqn.invars[0].aval.dtype != eqn.invars[1].aval.dtype:
        attributes.setdefault("preferred_element_type", DType(number_of(eqn.outvars[0].aval.dtype)))
    return body.builder.emit("dot_general", body.reads(eqn.invars), **attributes)


def conj(importer, body, eqn):
    """JAX takes a real number for a complex one."""
    if np.issubdtype(eqn.invars[0].aval.dtype, np.complexfloating):
        return importer.same(body, eqn)
    (x,) = body.reads(eqn.invars)
    return body.builder.emit("complex", [x, body.zeros(eqn.invars[0].aval)])


def equality(importer, body, eqn):
    """Keys are equal if all of their words are."""
    if not is_key_dtype(eqn.invars[0].aval.dtype):
        return importer.same(body, eqn)
    build, shape = body.builder, eqn.outvars[0].aval.shape
    words = [build.emit("random_unwrap", [build.expand(x, shape)])[0] for x in body.reads(eqn.invars)]
    all_of_them = {"eq": "reduce_and", "ne": "reduce_or"}[eqn.primitive.name]
    return build.emit(all_of_them, build.emit(eqn.primitive.name, words), axes=[len(shape)])


def tie(importer, body, eqn):
    """The second operand, after the first; a program has no order but that of its data."""
    return body.reads(eqn.invars[1:])


def empty(importer, body, eqn):
    """Uninitialised memory: zeros, as JAX makes it on CPUs."""
    return [body.zeros(v.aval) for v in eqn.outvars]


def reshape(importer, body, eqn):
    (x,), order = body.reads(eqn.invars), eqn.params["dimensions"]
    if order is not None:
        (x,) = body.builder.emit("transpose", [x], permutation=order)
    return body.builder.emit("reshape", [x], new_sizes=eqn.params["new_sizes"])


def convert_element_type(importer, body, eqn):
    (x,), new = body.reads(eqn.invars), eqn.params["new_dtype"]
    return [x] if new == eqn.invars[0].aval.dtype else body.builder.emit(
        "convert_element_type", [x], **attributes_of("convert_element_type", eqn.params))


def sort(importer, body, eqn):
    """Complex numbers are ordered by their real, then by their imaginary parts: two operands in place of one."""
    if not any(np.issubdtype(v.aval.dtype, np.complexfloating) for v in eqn.invars if not is_key_dtype(v.aval.dtype)):
        return importer.same(body, eqn)
    build, p = body.builder, eqn.params
    parts = [[x] if build.type_of(x)[0] not in COMPLEX else build.emit("real", [x]) + build.emit("imag", [x])
             for x in body.reads(eqn.invars)]
    operands = sum(parts, [])
    sorted_parts = iter(build.emit("sort", operands, len(operands), **attributes_of("sort", p) | {
        "num_keys": sum(map(len, parts[:p["num_keys"]]))}))
    found = [[next(sorted_parts) for _ in x] for x in parts]
    return [x[0] if len(x) == 1 else build.emit("complex", x)[0] for x in found]


def select_n(importer, body, eqn):
    """The number of a case may be of any width in JAX; it is less than the count of cases."""
    which, *cases = body.reads(eqn.invars)
    if body.builder.type_of(which)[0] not in (_abi.RICCI_BOOL, _abi.RICCI_I32):
        (which,) = body.builder.emit("convert_element_type", [which], new_dtype=DType(_abi.RICCI_I32))
    shape = eqn.outvars[0].aval.shape
    return body.builder.emit("select_n", [which, *(body.builder.expand(x, shape) for x in cases)])


def scatter(importer, body, eqn):
    return scatter_apply(importer, body, eqn) if is_apply(eqn) else importer.same(body, eqn)


def _combined(importer, body, eqn, computation, attributes):
    return body.builder.emit(eqn.primitive.name, body.reads(eqn.invars), len(eqn.outvars),
                             computation=importer.program(computation), **attributes)


def reduce(importer, body, eqn):
    """With any computation; those that have a primitive of their own are that in JAX too."""
    return _combined(importer, body, eqn, eqn.params["jaxpr"], {"dimensions": eqn.params["dimensions"]})


def reduce_window(importer, body, eqn):
    p = eqn.params
    return _combined(importer, body, eqn, core.ClosedJaxpr(p["jaxpr"], p["consts"]), window_attributes(p))


def collective(importer, body, eqn):
    """What jax.vmap with an axis_name makes of one: a reduction by dimensions. Without vmap no such axis exists."""
    axes = eqn.params["axes"]
    if not all(isinstance(a, int) for a in axes):
        raise Error(f"no vmap around it has the axis {', '.join(str(a) for a in axes if not isinstance(a, int))}")
    if eqn.params["axis_index_groups"] is not None:
        raise Error("axis_index_groups has no counterpart")
    ours = "reduce_" + eqn.primitive.name.removeprefix("p")
    return [body.builder.emit(ours, [body.read(x)], axes=axes)[0] for x in eqn.invars]


RULES = {
    **PACKAGE_RULES,
    **dict.fromkeys(("jit", "pjit", "closed_call", "core_call", "composite", "custom_partitioning", "remat_opt"), call),
    "scan": scan, "while": while_loop, "cond": cond, "platform_index": platform_index, "remat2": checkpoint,
    "custom_jvp_call": custom(custom_jvp), "custom_vjp_call": custom(custom_vjp),
    "linear_call": custom(linear_call), "custom_vmap_call": custom_vmap, "custom_linear_solve": custom_linear_solve, "device_put": forward,
    "reshape": reshape, "dot_general": dot_general, "conj": conj, "eq": equality, "ne": equality, "tie": tie,
    **dict.fromkeys(("empty", "empty2"), empty),
    "convert_element_type": convert_element_type,
    "select_n": select_n, "scatter": scatter, "sort": sort, "reduce": reduce, "reduce_window": reduce_window,
    **dict.fromkeys(("psum", "pmax", "pmin"), collective),
    **CALLBACK_RULES, **KEY_RULES, **SPARSE_RULES,
}


def rule_of(eqn):
    """The rule of an equation; None for what is the same primitive in Ricci."""
    return on_words if concerns_words(eqn) else RULES.get(eqn.primitive.name)
