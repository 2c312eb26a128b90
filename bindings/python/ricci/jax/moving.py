"""Which variables of a jaxpr have tangents (move) if some of its parameters do, as JAX finds when it differentiates.

A rule with symbolic zeros gets to know which of its arguments move: it may refuse some, and do more work for more. It
is traced for those that move if all arguments of the imported function do. What is said to move here may turn out not
to, never the other way round: an operation of which nothing moves has no rule.
"""
import functools

from jax._src import core
from jax._src.interpreters import ad

from .avals import is_differentiable

CUSTOM = ("custom_jvp_call", "custom_vjp_call")
# What is in these has rules if an operand moves.
HOLDERS = ("custom_linear_solve", "custom_vmap_call", "linear_call", "linear_solve", "vprim")


def _is_constant(primitive):
    """Has it no derivative, whatever moves?"""
    rule = ad.primitive_jvps.get(primitive)
    return primitive.name == "stop_gradient" or isinstance(rule, functools.partial) and rule.func is ad.zero_jvp


def _can_move(var):
    return hasattr(var.aval, "dtype") and is_differentiable(var.aval)  # a token has none


class Moving:
    """What one importer knows about jaxprs. `rule(eqn, flags)`: that of a custom_jvp, None if it cannot be traced;
    `held(eqn)`: the closed jaxpr of a call, None if the equation is none."""

    def __init__(self, rule, held):
        self._rule, self._held, self._known = rule, held, {}

    def of(self, jaxpr, flags, const_flags=()):
        """(the variables that move, for each result whether it does, a key: equal if the custom operations in the jaxpr
        have the same moving operands)."""
        given = jaxpr, tuple(flags), tuple(const_flags)
        key = id(jaxpr), *given[1:]
        if key not in self._known:
            self._known[key] = jaxpr, *self._walk(*given)
        return self._known[key][1:]

    def holds_rules(self, closed):
        """Are there operations whose rules are imported for what moves?"""
        return bool(self._inside(closed, [False] * len(closed.in_avals)))

    def _walk(self, jaxpr, flags, const_flags):
        parameters = zip((*jaxpr.constvars, *jaxpr.invars), (*(const_flags or [False] * len(jaxpr.constvars)), *flags))
        moving, met = {v for v, f in parameters if f and _can_move(v)}, []
        moves = lambda atoms: [not isinstance(a, core.Literal) and a in moving for a in atoms]  # noqa: E731
        for eqn in jaxpr.eqns:
            outs, key = self._results(eqn, moves(eqn.invars))
            met.append(key)
            moving.update(v for v, out in zip(eqn.outvars, outs) if out and _can_move(v))
        return frozenset(moving), moves(jaxpr.outvars), tuple(k for k in met if k)

    def _results(self, eqn, ins):
        """(for each result whether it moves, the key)."""
        name = eqn.primitive.name
        if name in RULES:
            return RULES[name](self, eqn, ins)
        held = self._held(eqn)
        if held is not None:
            return self.of(held.jaxpr, ins)[1:]
        outs = [any(ins) and not _is_constant(eqn.primitive)] * len(eqn.outvars)
        return outs, (any(ins),) if name in HOLDERS else ()

    def _custom(self, eqn, ins):
        """What a custom_vjp gives has a tangent, what a custom_jvp gives if its rule says so."""
        p, has_jvp = eqn.params, eqn.primitive.name == "custom_jvp_call"
        told = tuple(ins) if p["symbolic_zeros"] else any(ins)
        key = told, self._inside(p["call_jaxpr"], ins) if has_jvp else ()
        if not has_jvp or not p["symbolic_zeros"] or not any(ins):
            return [any(ins)] * len(eqn.outvars), key
        rule = self._rule(eqn, ins[p["num_consts"]:])
        return [True] * len(eqn.outvars) if rule is None else [not zero for zero in rule.out_zeros], key

    def _inside(self, closed, ins):
        return self.of(closed.jaxpr, ins)[2]

    def _cond(self, eqn, ins):
        found = [self.of(b.jaxpr, ins[1:]) for b in eqn.params["branches"]]
        return list(map(any, zip(*(outs for _, outs, _ in found)))), tuple(key for *_, key in found if key)

    def _scan(self, eqn, ins):
        p = eqn.params
        n, end = p["num_consts"], p["num_consts"] + p["num_carry"]
        carry = self.carry(p["jaxpr"].jaxpr, ins[:n], ins[n:end], ins[end:])
        return self.of(p["jaxpr"].jaxpr, ins[:n] + carry + ins[end:])[1:]

    def _while(self, eqn, ins):
        p = eqn.params
        n, end = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
        carry = self.carry(p["body_jaxpr"].jaxpr, ins[n:end], ins[end:])
        found = self._inside(p["body_jaxpr"], ins[n:end] + carry), self._inside(p["cond_jaxpr"], ins[:n] + carry)
        return carry, tuple(key for key in found if key)

    def carry(self, step, consts, carry, xs=()):
        """Which carries of a loop move in some trip."""
        while True:
            outs = self.of(step, [*consts, *carry, *xs])[1]
            found = [a or b for a, b in zip(carry, outs)]
            if found == carry:
                return carry
            carry = found


RULES = {**dict.fromkeys(CUSTOM, Moving._custom), "cond": Moving._cond, "scan": Moving._scan, "while": Moving._while}
