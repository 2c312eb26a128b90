"""custom_jvp and custom_vjp: Python functions with derivatives of their own.

The function and its rule are traced when the function is called; the rule is part of the equation, so it has derivatives
and batches like everything else. A rule that applies the function itself refers to it (`self`). Both may use integers of
the traces around, which have no derivative. A floating value from there is an error, since its derivative would be lost:
pass it as an argument. Arrays of NumPy are constants.
"""
import contextlib
import functools
import inspect
import threading

from ..abi.builder import Builder
from ..abi.dtypes import type_text
from ..abi.program import is_differentiable
from ..calls.user_trees import Structure, flatten, leaves
from ..tracing.closing import (all_captured, check_callable, closed, in_a_trace, leaf_name, leaf_types, name_of,
                               reordered, with_captures)
from ..tracing.operands import converted, splat
from ..tracing.trace import current
from ..tracing.value import TracingError


def positional(function, arguments, named):
    """The arguments with those given by name in their places."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        if named:
            raise TypeError(f"{name_of(function)}: arguments by name need a function with a signature") from None
        return arguments
    bound = signature.bind(*arguments, **named)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"{name_of(function)}: arguments that are given only by name are not there with custom rules")
    return bound.args


def _check_captured(kind, name, captured):
    for v in captured:
        if is_differentiable(v.type):
            raise TracingError(f"{kind}: {name} uses {v!r} of the function around it, whose derivative would be lost; "
                               "pass it as an argument")


_around = threading.local()  # the rules that are being traced, by kind: (whose, the program of its function)


@contextlib.contextmanager
def _tracing(kind, owner, program):
    """Marks what is traced as a program that an operation of that kind holds."""
    held = _around.__dict__.setdefault(kind, [])
    held.append((owner, program))
    try:
        yield
    finally:
        held.pop()


class _Custom:
    """What both have: arguments that are data and arguments that are not."""

    kind = ""

    def __init__(self, function, nondiff_argnums=()):
        check_callable(self.kind, function)
        functools.update_wrapper(self, function, updated=())
        self._function, self._static = function, tuple(nondiff_argnums)
        self._call = in_a_trace(self._traced)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *arguments, **named):
        self._check_rules()
        return self._call(positional(self._function, arguments, named))

    def _of_data(self, function, arguments):
        """`function` of the arguments that are data."""
        def call(*data):
            rest = iter(data)
            return function(*(x if i in self._static else next(rest) for i, x in enumerate(arguments)))
        call.__name__ = name_of(self._function)
        return call

    def _split(self, arguments):
        """(arguments that are not data, leaves of the others, their types, their structure)."""
        static = [x for i, x in enumerate(arguments) if i in self._static]
        found, structure = flatten((tuple(x for i, x in enumerate(arguments) if i not in self._static), {}))
        return static, found, leaf_types(self.kind, found, map(leaf_name, structure.paths())), structure

    def _call_program(self, arguments, structure, types):
        """The function as a Closed, without its rule."""
        with _tracing(self.kind, self, None):
            return closed(self.kind, self._of_data(self._function, arguments), structure, types, lifts=False)

    def _applied_in_rule(self, call, found):
        """The results of the operation within its own rule, which it refers to; None elsewhere."""
        for level, (owner, program) in enumerate(reversed(_around.__dict__.get(self.kind, [])), 1):
            if owner is self and program is not None and program == call.program:
                return call.output.build(current().emit(self.kind, [*found, *call.captured], {
                    "call": call.program, "self": level}))
        return None

    def _without_rule(self, rule):
        return TypeError(f"{self.kind}: {name_of(self._function)} has no rule; {rule}")


class custom_jvp(_Custom):  # noqa: N801, the name of jax
    """A function whose forward derivative is `rule(primals, tangents)`, which gives (result, its tangent).

    `@f.defjvp` sets the rule, or `f.defjvps(*rules)` one for each argument, `rule(tangent, result, *primals)`, None for
    none. `nondiff_argnums` are arguments that are not data; the rule gets them first. The tangent of an integer is
    None.
    """

    kind, _rule = "custom_jvp", None

    def defjvp(self, rule):
        """Sets the rule, and gives it."""
        check_callable("defjvp", rule)
        self._rule = rule
        return rule

    def defjvps(self, *rules):
        """Sets a rule for each argument."""
        def rule(*given):
            *static, primals, tangents = given
            result = self(*self._joined(static, primals))
            found = None
            for own, t in zip(rules, tangents):
                if own is not None and leaves(t):
                    part = own(t, result, *primals)
                    found = part if found is None else found + part
            return result, splat(0, *result.type) if found is None else found
        self._rule = rule

    def _joined(self, static, data):
        own, rest = iter(static), iter(data)
        return [next(own) if i in self._static else next(rest) for i in range(len(static) + len(data))]

    def _check_rules(self):
        if self._rule is None:
            raise self._without_rule("f.defjvp(rule) sets it")

    def _traced(self, arguments):
        static, found, types, structure = self._split(arguments)
        call = self._call_program(arguments, structure, types)
        inside = self._applied_in_rule(call, found)
        if inside is not None:
            return inside
        with _tracing(self.kind, self, call.program):
            rule, output = self._traced_rule(static, types, structure, call)
        captured = all_captured(call, rule)
        _check_captured(self.kind, name_of(self._function), captured)
        program = self._arranged(with_captures(rule, captured), len(types), captured)
        return output.build(current().emit("custom_jvp", [*found, *captured], {
            "call": with_captures(call, captured), "jvp": program}))

    def _traced_rule(self, static, types, structure, call):
        """Primals, tangents of the floating ones -> results, tangents of the floating ones; the result's structure."""
        moving = [t for t in types if is_differentiable(t[:2])]
        data = structure.children[0]

        def rule(*given):
            primals, rest = given[:len(types)], iter(given[len(types):])
            tangents = data.build([next(rest) if is_differentiable(t[:2]) else None for t in types])
            made = self._rule(*static, data.build(primals), tangents)
            if not isinstance(made, (tuple, list)) or len(made) != 2:
                raise TypeError(f"custom_jvp: the rule of {name_of(self._function)} must give (result, tangent)")
            return _results_and_tangents(name_of(self._function), call, *made)
        flat = Structure(tuple, None, [Structure()] * (len(types) + len(moving)))
        return closed(self.kind, rule, flat, [*types, *moving], spread=False, lifts=False), call.output

    @staticmethod
    def _arranged(program, n, captured):
        """The program of primals, tangents, captures with the captures after the primals."""
        k = len(captured)
        total = len(program.params)
        order = [*range(n), *range(total - k, total), *range(n, total - k)]
        return reordered(program, order)


def _results_and_tangents(name, call, result, tangent):
    """The flat results of a rule, of the types that the function gives."""
    try:
        values, moved = call.output.flatten(result), call.output.parts(tangent)
    except TypeError as error:
        raise TypeError(f"custom_jvp: the rule of {name}: {error}") from None
    found = [_of_type(f"the result of the rule of {name}", v, t) for v, t in zip(values, call.types)]
    for v, t in zip(moved, call.types):
        if is_differentiable(t[:2]):
            found.append(splat(0, *t[:2]) if v is None else _of_type(f"the tangent that the rule of {name} gives", v, t))
    return found


def _of_type(what, x, t):
    v = current().lift(x, t[0] if isinstance(x, (int, float, complex)) else None)
    v = converted(v, t[0]) if v.weak else v
    if v.type != t[:2]:
        raise TypeError(f"{what} is {type_text(v.type)}; {type_text(t[:2])} is expected")
    return v


class custom_vjp(_Custom):  # noqa: N801, the name of jax
    """A function whose reverse derivative is `fwd(*arguments)`, which gives (result, residuals), and `bwd(residuals,
    cotangent)`, which gives a tuple of cotangents of the arguments, None for zero.

    `f.defvjp(fwd, bwd)` sets them. `nondiff_argnums` are arguments that are not data; bwd gets them first.
    """

    kind, _fwd, _bwd = "custom_vjp", None, None

    def defvjp(self, fwd, bwd):
        """Sets the rules."""
        check_callable("defvjp", fwd)
        check_callable("defvjp", bwd)
        self._fwd, self._bwd = fwd, bwd

    def _check_rules(self):
        if self._fwd is None:
            raise self._without_rule("f.defvjp(fwd, bwd) sets them")

    def _traced(self, arguments):
        static, found, types, structure = self._split(arguments)
        name = name_of(self._function)
        call = self._call_program(arguments, structure, types)
        inside = self._applied_in_rule(call, found)
        if inside is not None:
            return inside
        with _tracing(self.kind, self, call.program):
            fwd = closed(self.kind, self._of_data(self._fwd, arguments), structure, types, lifts=False)
        pair = fwd.output.pair()
        if pair is None or pair[0] != call.output:
            raise TypeError(f"custom_vjp: fwd of {name} must give (result, residuals); it gives {fwd.output}")
        n = call.output.size
        if fwd.program.results[:n] != call.program.results:
            raise TypeError(f"custom_vjp: fwd of {name} gives other types than the function")
        with _tracing(self.kind, self, call.program):
            bwd = self._traced_bwd(static, types, structure, call, fwd, pair[1])
        captured = all_captured(call, fwd, bwd)
        _check_captured(self.kind, name, captured)
        return call.output.build(current().emit("custom_vjp", [*found, *captured], {
            "call": with_captures(call, captured), "fwd": _fwd_program(with_captures(fwd, captured), len(captured)),
            "bwd": _bwd_program(with_captures(bwd, captured), len(fwd.program.results) - n, len(captured))}))

    def _traced_bwd(self, static, types, structure, call, fwd, residuals):
        """Residuals, cotangents of the floating results -> cotangents of the floating arguments."""
        n, data = call.output.size, structure.children[0]
        kept = fwd.types[n:]
        moving = [t for t in call.types if is_differentiable(t[:2])]

        def rule(*given):
            rest = iter(given[len(kept):])
            ct = call.output.build([next(rest) if is_differentiable(t[:2]) else None for t in call.types])
            made = self._bwd(*static, residuals.build(given[:len(kept)]), ct)
            return self._cotangents(data, types, made)
        flat = Structure(tuple, None, [Structure()] * (len(kept) + len(moving)))
        return closed(self.kind, rule, flat, [*kept, *moving], spread=False, lifts=False)

    def _cotangents(self, data, types, made):
        name, found, at = name_of(self._function), [], 0
        if not isinstance(made, (tuple, list)) or len(made) != len(data.children):
            raise TypeError(f"custom_vjp: bwd of {name} must give a tuple of {len(data.children)}, a cotangent for each "
                            "argument")
        for child, ct in zip(data.children, made):
            own = types[at:at + child.size]
            at += child.size
            try:
                parts = [None] * child.size if ct is None else child.parts(ct)
            except TypeError as error:
                raise TypeError(f"custom_vjp: bwd of {name}: {error}") from None
            found += [splat(0, *t[:2]) if x is None else _of_type(f"a cotangent that bwd of {name} gives", x, t)
                      for x, t in zip(parts, own) if is_differentiable(t[:2])]
        return found


def _fwd_program(program, k):
    """With the captures as residuals too."""
    if not k:
        return program
    b = Builder(program.context, program.name, program.params)
    return b.finish(b.inline(program, b.params) + b.params[-k:])


def _bwd_program(program, n_residuals, k):
    """With the captures, its last parameters, among the residuals."""
    total = len(program.params)
    order = [*range(n_residuals), *range(total - k, total), *range(n_residuals, total - k)]
    return reordered(program, order)
