"""Rules of custom_jvp and custom_vjp as jaxprs.

JAX traces a rule when it differentiates, and knows then which arguments have tangents. Here a rule is traced when the
program with rules is made (imported_program.py), for all arguments that may have tangents then (moving.py), or for
as many of them as it takes: one that is told which there are (symbolic zeros) may refuse some, and JAX itself refuses
those of what the function closes over.
"""
import jax
import numpy as np
from jax._src import core, linear_util
from jax._src.interpreters import ad

from .avals import is_differentiable


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


def _refused(trace, flags):
    """One flag that `trace` refuses, found by halving, the last ones first: a trace that is refused ends early."""
    group = [i for i, f in enumerate(flags) if f]
    while len(group) > 1:
        first, second = group[:len(group) // 2], group[len(group) // 2:]
        try:
            trace([i in second for i in range(len(flags))])
            group = first
        except Exception:
            group = second
    return group[0]


def _traced_with_most(trace, full, may_refuse):
    """`trace(flags)` with the flags of `full` but those that it refuses: a trace of a rule can be as much work as that of
    the function around it. The last trace is the one that is given."""
    flags, errors = list(full), []
    while True:
        try:
            return trace(flags)
        except Exception as error:
            if not may_refuse and not isinstance(error, ad.CustomVJPException):
                raise
            errors.append(error)
        if not any(flags):
            raise errors[0]
        flags[_refused(trace, flags)] = False


def _asked_for(avals, moving, symbolic):
    """The arguments that a rule gets tangents of; one without symbolic zeros gets all."""
    return [is_differentiable(a) and (m or not symbolic) for a, m in zip(avals, moving)]


def captured(consts):
    """The values of other traces among the constants of a rule."""
    return [x for x in consts if isinstance(x, core.Tracer)]


class JvpRule:
    """`jaxpr`, with `consts`: primals, tangents of the `moving` arguments -> results, tangents of those that have some
    (`out_zeros`)."""

    def __init__(self, params, moving):
        avals, symbolic = params["call_jaxpr"].in_avals[params["num_consts"]:], params["symbolic_zeros"]

        def trace(flags):
            return flags, *params["jvp_jaxpr_fun"].call_wrapped(*(symbolic and not f for f in flags))
        flags, self.jaxpr, self.consts, self.out_zeros = _traced_with_most(
            trace, _asked_for(avals, moving, symbolic), symbolic)
        self.refused = [is_differentiable(a) and not f for a, f in zip(avals, flags)]
        self.moving = [f or not symbolic for f in flags]  # tangents of integers are float0 then
        self.captured = captured(self.consts)


class VjpRule:
    """`jaxpr`, with `consts`: arguments -> residuals, results; `bwd`, a closed jaxpr: residuals, cotangents of the results
    that have some -> cotangents of the arguments that have some. For a residual that is an operand `forwarded` has its
    number, None for others."""

    def __init__(self, params, moving):
        closed, wrapped = params["call_jaxpr"], params["fwd_jaxpr_thunk"]
        avals = closed.in_avals[params["num_consts"]:]

        def trace(flags):
            _forget(wrapped)
            return flags, *wrapped.call_wrapped(*flags), params["out_trees"]()[2]
        flags, self.jaxpr, self.consts, self.forwarded = _traced_with_most(
            trace, _asked_for(avals, moving, params["symbolic_zeros"]), params["symbolic_zeros"])
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
