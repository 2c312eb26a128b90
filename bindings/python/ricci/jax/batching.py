"""custom_vmap of JAX: a `custom_vmap` of Ricci, whose rule is traced when a batch is asked for.

The rule needs the size of the batch and which operands have one. It stays a Python function, which the context knows by
a name that follows from the function and its program, so that importing it again gives an equal program.
"""
import jax
from jax._src import custom_batching

from ..abi.batching_rules import add_batching_rule
from .callback_rules import name_of, registered
from .traced import traced


class _Rule:
    """What one custom_vmap_call knows of its rule."""

    def __init__(self, importer, params):
        self.rule, self.in_tree, self.out_tree = params["rule"], params["in_tree"], params["out_tree"]
        self.avals, self.wide = tuple(params["call"].in_avals), jax.config.jax_enable_x64
        self.importer = importer.another()

    @property
    def function(self):
        """The user's function; the object around it is made for each call."""
        return getattr(self.rule, "rule", self.rule)

    def key(self, program):
        return id(self.function), self.in_tree, self.out_tree, self.avals, self.wide, self.importer.order, self.importer.debug, program

    def _closed(self, size, batched):
        """(the rule as a jaxpr, which of its results are batched)."""
        flags = []

        def run(*leaves):
            unflatten = jax.tree_util.tree_unflatten
            out, out_batched = custom_batching.call_rule(self.rule, size, unflatten(self.in_tree, batched),
                                                         unflatten(self.in_tree, leaves))
            leaves, tree = jax.tree_util.tree_flatten(out)
            flags[:], flags_tree = jax.tree_util.tree_flatten(out_batched)
            custom_batching.check_vmap_rule_trees(self.rule, self.out_tree, tree, flags_tree)
            return leaves
        given = [jax.ShapeDtypeStruct((size, *a.shape) if b else a.shape, a.dtype, weak_type=a.weak_type)
                 for a, b in zip(self.avals, batched)]
        with jax.enable_x64(self.wide):
            return traced(run, given, {})[0], flags

    def __call__(self, builder, size, values, batched):
        closed, flags = self._closed(size, batched)
        return builder.inline(self.importer.another().program(closed), values), flags


def _registered(rule, program):
    """The name by which the context knows `rule`; it keeps the function, so no other one gets its id."""
    name = f"{name_of(rule.function)}/{hash(program):016x}"
    return registered(rule.importer.context, rule.key(program), name, lambda n: add_batching_rule(rule.importer.context, n, rule))


def custom_vmap(importer, body, eqn):
    name = eqn.params["call"].jaxpr.debug_info.func_name or ""
    held = importer.program(eqn.params["call"], name, [any(body.moves(eqn.invars))] * len(eqn.invars))
    rule = _registered(_Rule(importer, eqn.params), held)
    return body.builder.emit("custom_vmap", body.reads(eqn.invars), len(eqn.outvars), body=held, rule=rule)
