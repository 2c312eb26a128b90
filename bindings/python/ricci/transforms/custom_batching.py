"""custom_vmap: a Python function whose `vmap` is what a rule of the user makes, as jax.custom_batching.custom_vmap.

The rule needs the size of the batch and which arguments have one. It stays a Python function, which the context knows by
a name, and is traced when a batch is asked for. Derivatives are those of the function; under `vmap`, those of the rule.
"""
import functools
import itertools

from ..abi.batching_rules import add_batching_rule
from ..calls.user_trees import flatten, structure
from ..tracing.closing import check_callable, closed, in_a_trace, leaf_name, leaf_types, name_of
from ..tracing.trace import Trace, current
from ..tracing.value import TracingError
from .custom_rules import positional


class custom_vmap:  # noqa: N801, the name of jax
    """A function with a batching rule `rule(axis_size, in_batched, *arguments)`, which `@f.def_vmap` sets.

    `in_batched` is a list with a tree of bools for each argument; the batch is the first dimension of what is batched. The
    rule gives (result, tree of bools for it).
    """

    def __init__(self, function):
        check_callable("custom_vmap", function)
        functools.update_wrapper(self, function, updated=())
        self._function, self._rule = function, None
        self._called = in_a_trace(self._traced)

    def def_vmap(self, rule):
        """Sets the rule, and gives it."""
        check_callable("def_vmap", rule)
        self._rule = rule
        return rule

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *arguments, **named):
        if self._rule is None:
            raise TypeError(f"custom_vmap: {name_of(self._function)} has no rule; f.def_vmap(rule) sets it")
        return self._called(*positional(self._function, arguments, named))

    def _traced(self, *arguments):
        leaves, given = flatten((arguments, {}))
        types = leaf_types("custom_vmap", leaves, map(leaf_name, given.paths()))
        made = closed("custom_vmap", self._function, given, types, lifts=False)
        if made.captured:
            raise TracingError(f"custom_vmap: {name_of(self._function)} uses {made.captured[0]!r} of the function around it, "
                               "which its rule would not get; pass it as an argument")
        rule = _Rule(self._rule, name_of(self._function), current().context, given.children[0], made.output)
        return made.output.build(current().emit("custom_vmap", leaves, {"body": made.program, "rule": rule.name(types)}))


class _Rule:
    """What one kind of call knows of the rule."""

    def __init__(self, rule, function, context, given, output):
        self.rule, self.function, self.context, self.given, self.output = rule, function, context, given, output

    def name(self, types):
        """The name by which the context knows it, the same for equal calls; names keep the rule, so its id is its own."""
        names, key = self.context.rule_names, ("custom_vmap", id(self.rule), self.given, self.output, tuple(types))
        with self.context.lock:
            if key not in names:
                taken = set(names.values())
                name = next(n for n in (f"batch.{self.function}#{i}" for i in itertools.count(1)) if n not in taken)
                add_batching_rule(self.context, name, self)
                names[key] = name
            return names[key]

    def __call__(self, builder, size, values, batched):
        trace = Trace.borrowed(builder, values)
        with trace.active():
            arguments = self.given.build(trace.params)
            made = self.rule(size, list(self.given.build(batched)), *arguments)
            results, flags = self._checked(made)
            return [trace.lift(x).number for x in results], flags

    def _checked(self, made):
        """(leaves of the result, which are batched)."""
        if not isinstance(made, (tuple, list)) or len(made) != 2:
            raise TypeError(f"custom_vmap: the rule of {self.function} must give (result, which of it is batched)")
        leaves, found = flatten(made[0])
        if found != self.output:
            raise TypeError(f"custom_vmap: the rule of {self.function} gives {found}, the function {self.output}")
        flags, of_flags = flatten(made[1])
        if of_flags != found:
            raise TypeError(f"custom_vmap: the rule of {self.function} gives {found}, and which of it is batched as "
                            f"{structure(made[1])}")
        return leaves, [bool(f) for f in flags]
