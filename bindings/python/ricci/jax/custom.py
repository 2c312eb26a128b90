"""custom_jvp, custom_vjp and linear_call of JAX: their rules, Python functions, are traced to programs (traced_rules.py).

A rule may apply the function whose rule it is. If it does so with the same program, that equation gets the attribute
`self` and has derivatives of every order. If not, such as with other shapes, the rule inside the rule is traced too, as
often as `order` says; what lies deeper computes its value, and a run that needs its derivative fails with a message.

A rule that closes over a value of the function around it gets that as one more operand, which has no derivative of its
own: the function does not depend on it. Of a function that JAX has traced before (`jax.jit` within `jax.grad`) such a
value is not known any more, as in JAX. An argument that a rule refuses to be differentiated by fails when that happens,
and so does a rule that cannot be traced.
"""
import numpy as np

from ..abi import _abi
from ..abi.builder import Builder, DType
from ..abi.dtypes import DIFFERENTIABLE, numpy_of
from .avals import host_array, is_differentiable, type_of
from .jaxpr import Body
from .traced_rules import JvpRule, VjpRule, rule_function

LIMIT = _abi.RICCI_UNIMPLEMENTED
_OTHER = "no program"  # of a function that has other operands in its own rule


class _Held:
    """Marks the programs of one custom operation as inside it."""

    def __init__(self, importer, kind, *entry):
        self.stack, self.entry = importer.enclosing[kind], entry  # rule, program, location, what the rule refuses

    def __enter__(self):
        self.stack.append(self.entry)

    def __exit__(self, *_):
        self.stack.pop()


def _self_level(importer, kind, rule, program):
    """(which enclosing operation this one is; 0 if none, the arguments that its rule refuses)."""
    for level, (other, held, _, refused) in enumerate(reversed(importer.enclosing[kind]), 1):
        if held is not None and other is rule and held == program:
            return level, refused
    return 0, ()


def _too_deep(importer, kind, location):
    """Would a rule of `location` be inside of more of them than `order` says?"""
    return sum(p == location and held is not None for _, held, p, _ in importer.enclosing[kind]) >= importer.order


def _split(jaxpr, n):
    return jaxpr.in_avals[:n], jaxpr.in_avals[n:]


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


class _Operation:
    """One custom operation: its function, its rule (None if there is none) and why there is none."""

    def __init__(self, importer, eqn, primitive, location, make, moving):
        self.closed, self.location, self.rule, self.why = eqn.params["call_jaxpr"], location, None, ""
        self.importer, self.n_consts, self.moving = importer, eqn.params["num_consts"], moving
        self.refused, self.captured, self.extra, self.positions = (), [], [], []
        if _too_deep(importer, primitive, location):
            self.why = f"the rule {location} was traced {importer.order} deep; import with order={importer.order + 1} for more"
            return
        try:
            self.rule = importer.rule(eqn, make, moving[self.n_consts:])
            self.refused = (*[False] * self.n_consts, *self.rule.refused)
            self.captured = self.rule.captured
        except Exception as error:  # whatever the user's rule raises; JAX meets it when it differentiates
            self.why = f"the rule {location} cannot be traced: {error}"

    def take(self, body, operands):
        """Finds what the rule closes over in the body around it; those that are not operands become operands
        (`extra`)."""
        try:
            values = [body.value_of(x) for x in self.captured]
        except LookupError as error:
            self.rule, self.refused, self.captured = None, (), []  # as if it could not be traced
            self.why = f"the rule {self.location} cannot be traced: {error.args[0]}"
            return operands
        operands = operands + [v for v in dict.fromkeys(values) if v not in operands]
        self.extra = [body.builder.type_of(v) for v in operands[len(self.closed.in_avals):]]
        self.positions = [operands.index(v) for v in values]
        return operands

    @property
    def types(self):
        return [type_of(a) for a in self.closed.in_avals] + self.extra

    def tangents(self):
        """Which operands have tangents."""
        return [is_differentiable(a) for a in self.closed.in_avals] + [t[0] in DIFFERENTIABLE for t in self.extra]

    def body(self, name, more=()):
        """A body whose first parameters are the operands; what the rule closes over is among them."""
        made = Body(self.importer, name, [*self.types, *more])
        made.outer = {id(x): made.builder.params[i] for x, i in zip(self.captured, self.positions)}
        return made

    def call(self, program):
        """The function, which takes no notice of what only its rule uses."""
        if not self.extra:
            return program
        build = Builder(self.importer.context, program.name, self.types)
        return build.finish(build.inline(program, build.params[:len(self.closed.in_avals)]))


def _custom(importer, body, eqn, primitive, wrapped, make, programs):
    """The call with its rules, which `programs` gives for an _Operation, or with what stands for them inside of
    themselves."""
    name, location, rule = str(eqn.params.get("name") or ""), wrapped.debug_info.func_src_info, rule_function(wrapped)
    moving = body.moves(eqn.invars)
    # Nothing differentiates the function of a custom_vjp: `fwd` takes its place.
    moving_inside = moving if primitive == "custom_jvp" else [False] * len(moving)
    importer.met[-1].add(location)
    with _Held(importer, primitive, rule, None, location, ()):
        call = importer.program(eqn.params["call_jaxpr"], name, moving_inside)
    operands = body.reads(eqn.invars)
    level, refused = _self_level(importer, primitive, rule, call)
    if level:
        return body.builder.emit(primitive, _guarded(importer, body, operands, refused, location), len(eqn.outvars),
                                 call=call, self=level)
    operation = _Operation(importer, eqn, primitive, location, make, moving)
    operands = operation.take(body, operands)
    refused = operation.refused if primitive == "custom_jvp" else ()  # a custom_vjp refuses in its backward rule
    with _Held(importer, primitive, rule, _OTHER if operation.extra else call, location, refused):
        held = programs(importer, operation)
    operands = _guarded(importer, body, operands, refused, location)
    return body.builder.emit(primitive, operands, len(eqn.outvars), call=operation.call(call), **held)


def _refusal(location):
    return f"the rule {location} refuses to differentiate with respect to this argument"


def _guarded(importer, body, operands, refused, location):
    """The operands, with a derivative that fails for those that the rule refuses, if it is asked for: an operand without a
    tangent has none after it either."""
    def guarded(x):
        own = body.builder.type_of(x)
        same, guard = Builder(importer.context, "same", [own]), Body(importer, "guard", [own, own])
        primal, tangent = guard.builder.params
        jvp = guard.builder.finish([primal, *_failing(guard, [tangent], _refusal(location))])
        return body.builder.emit("custom_jvp", [x], call=same.finish(same.params), jvp=jvp)[0]
    return [guarded(x) if i < len(refused) and refused[i] else x for i, x in enumerate(operands)]


def custom_jvp(importer, body, eqn):
    return _custom(importer, body, eqn, "custom_jvp", eqn.params["jvp_jaxpr_fun"], JvpRule,
                   lambda *at: {"jvp": _jvp_program(*at)})


def _jvp_program(importer, op):
    """Primals, tangents of those that have some -> results, tangents of those that have some."""
    closed, active = op.closed, op.tangents()
    body = op.body("jvp", [t for t, a in zip(op.types, active) if a])
    params, n, n_all = body.builder.params, len(closed.in_avals), len(active)
    given = iter(params[n_all:])
    tangents = [next(given) if a else None for a in active]
    moving_outs = [a for a in closed.out_avals if is_differentiable(a)]
    if op.rule is None:
        outs = body.run(closed.jaxpr, closed.consts, params[:n], op.moving)
        linear = [_linear(body, params[n_all:], a) for a in moving_outs]
        return body.builder.finish(outs + _failing(body, linear, op.why))
    rule, own = op.rule, tangents[op.n_consts:n]
    nothing = body.constant(np.False_, _abi.RICCI_BOOL)  # stands for float0
    moving = [nothing if t is None else t for t, m in zip(own, rule.moving) if m]
    outs = body.run(rule.jaxpr, rule.consts, params[op.n_consts:n] + moving,
                    op.moving[op.n_consts:] + [t is not nothing for t in moving])
    primals, rest = outs[:len(rule.out_zeros)], iter(outs[len(rule.out_zeros):])
    found = [None if zero else next(rest) for zero in rule.out_zeros]
    results = [body.zeros(a) if t is None else t for a, t in zip(closed.out_avals, found) if is_differentiable(a)]
    refused = [t for t, r in zip(tangents, op.refused) if r]  # zero, or fails before it comes here
    if refused:
        results = [body.builder.emit("add", [t, _linear(body, refused, a)])[0] for t, a in zip(results, moving_outs)]
    return body.builder.finish(primals + results)


def custom_vjp(importer, body, eqn):
    return _custom(importer, body, eqn, "custom_vjp", eqn.params["fwd_jaxpr_thunk"], VjpRule, _vjp_programs)


def _vjp_programs(importer, op):
    closed, fwd = op.closed, op.body("fwd")
    params, n = fwd.builder.params, len(closed.in_avals)
    if op.rule is None:
        return {"fwd": fwd.builder.finish(fwd.run(closed.jaxpr, closed.consts, params[:n], op.moving)),
                "bwd": _failing_bwd(importer, op)}
    rule = op.rule
    outs = fwd.run(rule.jaxpr, rule.consts, params[op.n_consts:n], op.moving[op.n_consts:])
    own = iter(outs[:rule.n_own])
    residuals = [next(own) if f is None else params[f] for f in rule.forwarded]
    residuals += [params[i] for i in op.positions]
    return {"fwd": fwd.builder.finish(outs[rule.n_own:] + residuals), "bwd": _bwd_program(importer, op)}


def _failing_bwd(importer, op):
    body = Body(importer, "bwd", [type_of(a) for a in op.closed.out_avals if is_differentiable(a)])
    return body.builder.finish(_failing(body, _zeros_of(body, op.types), op.why))


def _zeros_of(body, types):
    return [body.constant(np.zeros((), numpy_of(dtype)), dtype, shape) for dtype, shape in types if dtype in DIFFERENTIABLE]


def _bwd_program(importer, op):
    """Residuals, values that the rule closes over, cotangents -> cotangents of all operands: zeros for those that the
    function or its rule closes over; asking for that of a refused argument fails."""
    jaxpr, outer = op.rule.bwd, [op.types[i] for i in op.positions]
    avals, n = jaxpr.in_avals, len(op.rule.forwarded)
    body = Body(importer, "bwd", [*(type_of(a) for a in avals[:n]), *outer, *(type_of(a) for a in avals[n:])])
    params = body.builder.params
    body.outer = {id(x): v for x, v in zip(op.captured, params[n:])}
    found = iter(body.run(jaxpr.jaxpr, jaxpr.consts, params[:n] + params[n + len(outer):]))
    cts = _zeros_of(body, op.types[:op.n_consts])
    for aval, refused in zip(op.closed.in_avals[op.n_consts:], op.rule.refused):
        if is_differentiable(aval):
            ct = next(found)
            cts += _failing(body, [ct], _refusal(op.location)) if refused else [ct]
    return body.builder.finish(cts + _zeros_of(body, op.extra))


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
