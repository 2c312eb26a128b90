"""Rules of custom_jvp and custom_vjp as jaxprs.

JAX traces a rule when it differentiates, and knows then which arguments have tangents. Here a rule is traced once, when
the function is imported, for as many tangents as it takes: one that is told which there are (symbolic zeros) may refuse
some, and JAX itself refuses those of what the function closes over.
"""
import jax
import numpy as np
from jax._src import core, linear_util
from jax._src.interpreters import ad

from .jax_program import is_differentiable


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


def _halves(group):
    return [group[:len(group) // 2], group[len(group) // 2:]] if len(group) > 1 else []


def _traced_with_most(trace, full, may_refuse):
    """`trace(flags)` with the flags of `full` but those that it refuses, which are found by halving: a trace of a rule can
    be as much work as that of the function around it."""
    try:
        return trace(full)
    except Exception as error:
        if not may_refuse and not isinstance(error, ad.CustomVJPException):
            raise
        found, taken, waiting, why = None, [], _halves([i for i, f in enumerate(full) if f]), error
    while waiting:
        group = waiting.pop(0)
        try:
            found = trace([i in taken or i in group for i in range(len(full))])
            taken += group
        except Exception:
            waiting[:0] = _halves(group)  # none if the rule refuses the one that is left
    if found is None:
        raise why
    return found


def captured(consts):
    """The values of other traces among the constants of a rule."""
    return [x for x in consts if isinstance(x, core.Tracer)]


class JvpRule:
    """`jaxpr`, with `consts`: primals, tangents of the `moving` arguments -> results, tangents of those that have some
    (`out_zeros`)."""

    def __init__(self, params):
        avals, symbolic = params["call_jaxpr"].in_avals[params["num_consts"]:], params["symbolic_zeros"]

        def trace(flags):
            return flags, *params["jvp_jaxpr_fun"].call_wrapped(*(symbolic and not f for f in flags))
        flags, self.jaxpr, self.consts, self.out_zeros = _traced_with_most(
            trace, [is_differentiable(a) for a in avals], symbolic)
        self.refused = [is_differentiable(a) and not f for a, f in zip(avals, flags)]
        self.moving = [f or not symbolic for f in flags]  # tangents of integers are float0 then
        self.captured = captured(self.consts)


class VjpRule:
    """`jaxpr`, with `consts`: arguments -> residuals, results; `bwd`, a closed jaxpr: residuals, cotangents of the results
    that have some -> cotangents of the arguments that have some. For a residual that is an operand `forwarded` has its
    number, None for others."""

    def __init__(self, params):
        closed, wrapped = params["call_jaxpr"], params["fwd_jaxpr_thunk"]
        avals, last = closed.in_avals[params["num_consts"]:], []

        def trace(flags):
            _forget(wrapped)
            last[:] = [flags]
            return flags, *wrapped.call_wrapped(*flags), params["out_trees"]()[2]
        found = _traced_with_most(trace, [is_differentiable(a) for a in avals], params["symbolic_zeros"])
        if last[0] != found[0]:
            found = trace(found[0])  # again: the backward rule needs the trees of this trace
        flags, self.jaxpr, self.consts, self.forwarded = found
        self.refused = [is_differentiable(a) and not f for a, f in zip(avals, flags)]
        self.n_own = sum(f is None for f in self.forwarded)
        own = iter(self.jaxpr.outvars[:self.n_own])
        residuals = [next(own) if f is None else closed.jaxpr.invars[f] for f in self.forwarded]
        self.bwd = _bwd_jaxpr(params["bwd"], residuals, closed.out_avals, avals)
        self.captured = captured([*self.consts, *self.bwd.consts])


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
