"""custom_jvp, custom_vjp and linear_call of JAX: their rules, Python functions, are traced to programs.

A rule may apply the function whose rule it is. If it does so with the same program, that equation gets the attribute
`self` and has derivatives of every order. If not, such as with other shapes, the rule inside the rule is traced too, as
often as `order` says; what lies deeper computes its value, and a run that needs its derivative fails with a message.
"""
import jax
import numpy as np
from jax._src import core, linear_util
from jax._src.interpreters import ad

from . import _abi
from .builder import DType
from .jax_program import Body, host_array, is_differentiable, type_of

LIMIT = _abi.RICCI_UNIMPLEMENTED


def _wrapped_functions(outer):
    """`outer` and the functions in what JAX has wrapped around them."""
    seen, waiting = set(), [outer]
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        yield thing
        if isinstance(thing, linear_util.WrappedFun):
            waiting.append(thing.f)
        held = [c.cell_contents for c in getattr(thing, "__closure__", None) or ()]
        waiting += [h for h in held if isinstance(h, linear_util.WrappedFun) or callable(h)]


def rule_function(wrapped):
    """The user's function."""
    return [thing.f for thing in _wrapped_functions(wrapped) if isinstance(thing, linear_util.WrappedFun)][-1]


def _forget(wrapped):
    """Makes JAX trace it again: what it remembers comes without the trees of the trace."""
    for thing in _wrapped_functions(wrapped):
        names = getattr(getattr(thing, "__code__", None), "co_freevars", ())
        if "cells" in names:
            thing.__closure__[names.index("cells")].cell_contents.clear()


class _Held:
    """Marks the programs of one custom operation as inside it."""

    def __init__(self, importer, kind, rule, program, place):
        self.stack, self.entry = importer.enclosing[kind], (rule, program, place)

    def __enter__(self):
        self.stack.append(self.entry)

    def __exit__(self, *_):
        self.stack.pop()


def _self_level(importer, kind, rule, program):
    """Which enclosing operation this one is; 0 if none."""
    for level, (other, held, _) in enumerate(reversed(importer.enclosing[kind]), 1):
        if held is not None and other is rule and held == program:
            return level
    return 0


def _too_deep(importer, kind, place):
    return sum(p == place and held is not None for _, held, p in importer.enclosing[kind]) > importer.order


def _split(jaxpr, n):
    return jaxpr.in_avals[:n], jaxpr.in_avals[n:]


def _deeper(importer, place):
    return f"the rule {place} was traced {importer.order} deep; import with order={importer.order + 1} for more"


def _failing(body, values, text):
    """`values`, through a check that fails: reached only by derivatives that are not there."""
    no = body.constant(np.False_, _abi.RICCI_BOOL)
    return [body.builder.emit("check", [no, v], code=LIMIT, message=text)[0] for v in values]


def _linear(body, tangents, aval):
    """Some value of that type which is linear in all tangents, so that reverse mode meets it too."""
    build, (dtype, shape) = body.builder, type_of(aval)
    value = body.zeros(aval)
    for t in tangents:
        own, dims = build.type_of(t)
        if own in (_abi.RICCI_C64, _abi.RICCI_C128) and own != dtype:
            (t,) = build.emit("real", [t])
        (t,) = build.emit("reduce_sum", [t], axes=range(len(dims)))
        if build.type_of(t)[0] != dtype:
            (t,) = build.emit("convert_element_type", [t], new_dtype=DType(dtype))
        (value,) = build.emit("add", [value, build.expand(t, shape)])
    return value


def _check_closed(consts):
    for x in consts:
        if isinstance(x, core.Tracer):
            raise TypeError(f"it closes over a value of another trace, {x}")


def _custom(importer, body, eqn, primitive, wrapped, programs):
    """The call with its rules, which `programs` gives for the place of the user's function, or with what stands for
    them inside of themselves."""
    name, place, rule = str(eqn.params.get("name") or ""), wrapped.debug_info.func_src_info, rule_function(wrapped)
    with _Held(importer, primitive, rule, None, place):
        call = importer.program(eqn.params["call_jaxpr"], name)
    attributes = {"call": call}
    level = _self_level(importer, primitive, rule, call)
    if level:
        attributes["self"] = level
    else:
        with _Held(importer, primitive, rule, call, place):
            attributes |= programs(importer, eqn, place)
    return body.builder.emit(primitive, body.reads(eqn.invars), len(eqn.outvars), **attributes)


def custom_jvp(importer, body, eqn):
    return _custom(importer, body, eqn, "custom_jvp", eqn.params["jvp_jaxpr_fun"],
                   lambda *at: {"jvp": _jvp_program(*at)})


def _jvp_program(importer, eqn, place):
    """Primals, tangents of those that have some -> results, tangents of those that have some."""
    closed, n_consts = eqn.params["call_jaxpr"], eqn.params["num_consts"]
    consts, avals = _split(closed, n_consts)
    tangents = [a for a in closed.in_avals if is_differentiable(a)]
    body = Body(importer, "jvp", [type_of(a) for a in (*closed.in_avals, *tangents)])
    params, n = body.builder.params, len(closed.in_avals)

    def without(text):
        outs = body.run(closed.jaxpr, closed.consts, params[:n])
        linear = [_linear(body, params[n:], a) for a in closed.out_avals if is_differentiable(a)]
        return body.builder.finish(outs + _failing(body, linear, text))
    if _too_deep(importer, "custom_jvp", place):
        return without(_deeper(importer, place))
    # Tangents of integers are float0, which holds nothing: False stands for it.
    symbolic, nothing = eqn.params["symbolic_zeros"], body.constant(np.False_, _abi.RICCI_BOOL)
    in_zeros = [symbolic and not is_differentiable(a) for a in avals]
    try:
        jaxpr, jaxpr_consts, out_zeros = eqn.params["jvp_jaxpr_fun"].call_wrapped(*in_zeros)
        _check_closed(jaxpr_consts)
    except Exception as error:  # whatever the user's rule raises; JAX meets it when it differentiates
        return without(f"the rule {place} cannot be traced: {error}")
    given = iter(params[n + sum(map(is_differentiable, consts)):])
    moving = [next(given) if is_differentiable(a) else nothing for a, zero in zip(avals, in_zeros) if not zero]
    outs = body.run(jaxpr, jaxpr_consts, params[n_consts:n] + moving)
    primals, moving = outs[:len(out_zeros)], iter(outs[len(out_zeros):])
    found = [None if zero else next(moving) for zero in out_zeros]
    results = [body.zeros(a) if t is None else t for a, t in zip(closed.out_avals, found) if is_differentiable(a)]
    return body.builder.finish(primals + results)


def custom_vjp(importer, body, eqn):
    return _custom(importer, body, eqn, "custom_vjp", eqn.params["fwd_jaxpr_thunk"], _vjp_programs)


def _vjp_programs(importer, eqn, place):
    p = eqn.params
    closed, n_consts = p["call_jaxpr"], p["num_consts"]
    avals = closed.in_avals[n_consts:]
    fwd = Body(importer, "fwd", [type_of(a) for a in closed.in_avals])
    params = fwd.builder.params

    def without(text):
        outs = fwd.run(closed.jaxpr, closed.consts, params)
        return {"fwd": fwd.builder.finish(outs), "bwd": _failing_bwd(importer, closed, text)}
    if _too_deep(importer, "custom_vjp", place):
        return without(_deeper(importer, place))
    try:
        moving, jaxpr, consts, forwarded = _traced_fwd(p, avals)
        _check_closed(consts)
        n_own = sum(f is None for f in forwarded)
        own_atoms = iter(jaxpr.outvars[:n_own])
        atoms = [next(own_atoms) if f is None else closed.jaxpr.invars[f] for f in forwarded]
        bwd = _bwd_jaxpr(p["bwd"], atoms, closed.out_avals, avals)
    except Exception as error:  # whatever the user's rule raises; JAX meets it when it differentiates
        return without(f"the rule {place} cannot be traced: {error}")
    outs = fwd.run(jaxpr, consts, params[n_consts:])
    own = iter(outs[:n_own])
    residuals = [next(own) if f is None else params[f] for f in forwarded]
    return {"fwd": fwd.builder.finish(outs[n_own:] + residuals),
            "bwd": _bwd_program(importer, closed, n_consts, bwd, moving, place)}


def _traced_fwd(p, avals):
    """(which arguments may have tangents, jaxpr, its constants, residuals that are operands).

    A rule that is told which do (symbolic_zeros) may refuse some: then those it takes one by one.
    """
    def trace(flags):
        _forget(p["fwd_jaxpr_thunk"])
        return (flags, *p["fwd_jaxpr_thunk"].call_wrapped(*flags), p["out_trees"]()[2])
    full = [is_differentiable(a) for a in avals]
    try:
        return trace(full)
    except Exception:
        if not p["symbolic_zeros"]:
            raise
    best = [False] * len(full)
    for i in range(len(full)):
        if full[i]:
            try:
                trace([f or k == i for k, f in enumerate(best)])
                best[i] = True
            except Exception:
                continue  # the rule refuses this argument
    return trace(best)  # again: the backward rule needs the trees of this trace


def _failing_bwd(importer, closed, text):
    body = Body(importer, "bwd", [type_of(a) for a in closed.out_avals if is_differentiable(a)])
    zeros = [body.zeros(a) for a in closed.in_avals if is_differentiable(a)]
    return body.builder.finish(_failing(body, zeros, text))


def _bwd_jaxpr(bwd, residuals, outs, ins):
    """Residuals, cotangents of the results that have some -> cotangents of the arguments that have some."""
    def f(*given):
        rest = iter(given[len(residuals):])
        # The rule may look at a residual that is a number of the program.
        known = [x.val if isinstance(x, core.Literal) else g for x, g in zip(residuals, given)]
        cts = [next(rest) if is_differentiable(a) else np.zeros(a.shape, jax.dtypes.float0) for a in outs]
        found = bwd.call_wrapped(*known, *cts)
        return [jax.numpy.zeros(a.shape, a.dtype) if type(ct) is ad.Zero else ct
                for a, ct in zip(ins, found) if is_differentiable(a)]
    shapes = [jax.ShapeDtypeStruct(a.shape, a.dtype)
              for a in (*(x.aval for x in residuals), *filter(is_differentiable, outs))]
    return jax.make_jaxpr(f)(*shapes)


def _bwd_program(importer, closed, n_consts, jaxpr, moving, place):
    """The same with zeros for what the function closes over; asking for that of a refused argument fails."""
    body = Body(importer, "bwd", [type_of(a) for a in jaxpr.in_avals])
    zeros = [body.zeros(a) for a in closed.in_avals[:n_consts] if is_differentiable(a)]
    found = body.run(jaxpr.jaxpr, jaxpr.consts, body.builder.params)
    kept = [m for m, a in zip(moving, closed.in_avals[n_consts:]) if is_differentiable(a)]
    refused = f"the rule {place} refuses to differentiate with respect to this argument"
    cts = [ct if keep else _failing(body, [ct], refused)[0] for ct, keep in zip(found, kept)]
    return body.builder.finish(zeros + cts)


def _transpose_program(importer, eqn):
    """Constants of the call, residuals, cotangents -> cotangents of the linear operands."""
    p = eqn.params
    n_consts = p["num_callee_consts"]
    n = n_consts + p["num_res"]
    closed, consts = p["transpose_thunk"]()
    body = Body(importer, "transpose", [type_of(v.aval) for v in (*eqn.invars[:n], *eqn.outvars)])
    own = [body.constant(host_array(x), type_of(a)[0]) for x, a in zip(consts, closed.in_avals)]
    return body.builder.finish(body.run(closed.jaxpr, closed.consts, own + body.builder.params[n_consts:]))


def linear_call(importer, body, eqn):
    """The constants of the function count as residuals; the transpose has its own, which are constants there."""
    p = eqn.params
    return body.builder.emit("linear_call", body.reads(eqn.invars), len(eqn.outvars), call=importer.program(p["callee"]),
                             transpose=_transpose_program(importer, eqn),
                             num_residuals=p["num_callee_consts"] + p["num_res"])
