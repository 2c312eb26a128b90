"""grad, jvp, vjp, Jacobians and checkpoint of Python functions. The derivatives are made by Ricci from the program."""
import functools

from ..abi import arguments as given
from ..abi.arguments import count
from ..abi.dtypes import type_text
from ..abi.program import is_differentiable
from ..calls.frames import without_frames
from ..calls.trees import Nested
from ..calls.user_trees import flatten
from ..calls.user_trees import map as tree_map
from ..tracing.closing import (check_callable, check_differentiable, closed, in_a_trace, leaf_name, leaf_types,
                               numbers_of)
from ..tracing.given_numbers import given_trees
from ..tracing.operands import splat
from ..tracing.trace import bind, current, evaluate
from .jacobian import forward_jacobian, reverse_jacobian, selected



def _chosen(transformation, function, argnums, arguments, named):
    """(the function of the arguments `argnums` alone as a Closed, its leaves, the tree of the derivative)."""
    numbers, single = numbers_of(transformation, argnums, len(arguments))
    leaves, structure = flatten(tuple(arguments[n] for n in numbers))
    names = [f"argument {n}{path}" for n, child in zip(numbers, structure.children) for path in child.paths()]
    types = leaf_types(transformation, leaves, names)
    check_differentiable(transformation, types, names)

    @functools.wraps(function)
    def of_chosen(*chosen):
        own = list(arguments)
        for n, x in zip(numbers, chosen):
            own[n] = x
        return function(*own, **named)
    made = closed(transformation, of_chosen, structure, types, spread=False, widens=True)
    return made, leaves, structure.children[0] if single else structure


def _check_value(transformation, made, has_aux):
    """The structure of what comes with the value."""
    output, results = made.output, made.program.results
    auxiliary = None
    if has_aux:
        parts = output.pair()
        if parts is None:
            raise TypeError(f"{transformation}: has_aux=True needs a function that returns (value, auxiliary); this one "
                            f"returns {output}")
        output, auxiliary = parts
    if output.size != 1:
        raise TypeError(f"{transformation}: the function returns {count(output.size, 'array')}, not one"
                        + ("; has_aux=True is for (value, auxiliary)" if not has_aux else ""))
    if results[0][1] or not is_differentiable(results[0]):
        raise TypeError(f"{transformation}: the function returns {type_text(results[0])}; a floating scalar is expected "
                        "(ricci.jacrev is for arrays)")
    return auxiliary


def _with_gradient(transformation, function, argnums, has_aux, with_value):
    """The function that gives (what the function gives, its gradient); the former is None unless `with_value`."""
    check_callable(transformation, function)

    @functools.wraps(function)
    @in_a_trace
    def call(*arguments, **named):
        made, leaves, tree = _chosen(transformation, function, argnums, arguments, named)
        _check_value(transformation, made, has_aux)
        n = len(made.program.results) if with_value else 0
        program = made.program.grad(range(len(leaves)), with_value=with_value)
        found = current().inline(program, made.operands(leaves))
        return made.output.build(found[:n]) if with_value else None, tree.build(found[n:])
    return call


def value_and_grad(function, argnums=0, has_aux=False):
    """The function that gives (value, gradient by the arguments `argnums`), or ((value, auxiliary), gradient)."""
    return _with_gradient("value_and_grad", function, argnums, has_aux, with_value=True)


def grad(function, argnums=0, has_aux=False):
    """The function that gives the gradient by the arguments `argnums`, or (gradient, auxiliary)."""
    both = _with_gradient("grad", function, argnums, has_aux, with_value=has_aux)

    @without_frames
    @functools.wraps(function)
    def call(*arguments, **named):
        value, gradient = both(*arguments, **named)
        return (gradient, value[1]) if has_aux else gradient
    return call


def _of_all(transformation, function, primals):
    """(the function of all primals as a Closed, their leaves and types, their structure)."""
    check_callable(transformation, function)
    if not isinstance(primals, (tuple, list)):
        raise TypeError(f"{transformation}: primals are of type {type(primals).__name__}; a tuple with one value for each "
                        "argument is expected")
    leaves, structure = flatten((tuple(primals), {}))
    types = leaf_types(transformation, leaves, map(leaf_name, structure.paths()))
    made = closed(transformation, function, structure, types, widens=True)
    return made, leaves, made.taken(types), structure.children[0]


def _split_aux(transformation, made, has_aux):
    """(structure of the result, of the auxiliary part or None)."""
    if not has_aux:
        return made.output, None
    parts = made.output.pair()
    if parts is None:
        raise TypeError(f"{transformation}: has_aux=True needs a function that returns (value, auxiliary)")
    return parts


def _rebuilt(structure, types, moving):
    """A tree of derivatives: None where there is none."""
    rest = iter(moving)
    return structure.build([next(rest) if is_differentiable(t[:2]) else None for t in types])


@in_a_trace
def jvp(function, primals, tangents, has_aux=False):
    """(result, its tangent), and the auxiliary part. Leaves of integers have no tangent: what is given is not looked at,
    what is returned is None."""
    made, leaves, types, structure = _of_all("jvp", function, primals)
    if not isinstance(tangents, (tuple, list)):
        raise TypeError(f"jvp: tangents are of type {type(tangents).__name__}; a tuple with one value for each argument is "
                        "expected")
    with given.about("jvp", "tangents"):
        moving = structure.parts(tuple(tangents))
    active = [is_differentiable(t[:2]) for t in types]
    operands = []
    for t, x, is_active, path in zip(types, moving, active, structure.paths()):
        if is_active:
            operands.append(_like(f"jvp: the tangent of {leaf_name('[0]' + path)}", x, t))
    output, auxiliary = _split_aux("jvp", made, has_aux)
    program = made.program.jvp(active + [False] * len(made.captured))
    found = current().inline(program, made.operands(leaves) + operands)
    n, own = len(made.program.results), output.size
    rest = iter(found[n:])
    moved = [next(rest) if is_differentiable(t) else None for t in made.program.results]
    result = output.build(found[:own]), output.build(moved[:own])
    return result if auxiliary is None else (*result, auxiliary.build(found[own:n]))


def _like(what, x, t):
    """A tangent or cotangent as a value of that type."""
    value = current().lift(x, t[0] if isinstance(x, (int, float, complex)) else None)
    if value.type != t[:2]:
        raise TypeError(f"{what} is {type_text(value.type)}; {type_text(t[:2])} is expected")
    return value


class _Backward:
    """The backward pass of one vjp; its residuals are values, or arrays once the forward pass has run."""

    def __init__(self, program, results, output, structure, types):
        self.program, self.results, self.output = program, results, output
        self.structure, self.types = structure, types

    def __call__(self, residuals, cotangent):
        try:
            parts = self.output.parts(cotangent)
        except TypeError as error:
            raise TypeError(f"vjp: cotangent: {error}") from None
        parts += [None] * (len(self.results) - len(parts))
        paths = self.output.paths() + [""] * len(self.results)
        cts = [splat(0, *t) if x is None else _like(f"vjp: the cotangent of result{path}", x, t)
               for x, t, path in zip(parts, self.results, paths) if is_differentiable(t)]
        return _rebuilt(self.structure, self.types, current().inline(self.program, residuals + cts))


def _forward(function, primals, has_aux):
    """(result, residuals, backward pass, auxiliary part)."""
    made, leaves, types, structure = _of_all("vjp", function, primals)
    wanted = [is_differentiable(t[:2]) for t in types] + [False] * len(made.captured)
    output, auxiliary = _split_aux("vjp", made, has_aux)
    fwd, bwd = made.program.vjp(wanted)
    found = current().inline(fwd, made.operands(leaves))
    n, own = len(made.program.results), output.size
    backward = _Backward(bwd, made.program.results, output, structure, types)
    return output.build(found[:own]), found[n:], backward, auxiliary and auxiliary.build(found[own:n])


@without_frames
def vjp(function, *primals, has_aux=False):
    """(result, the function from a cotangent to a tuple of cotangents of the arguments), and the auxiliary part.

    The cotangent of an integer is None. The function may be called again and again.
    """
    is_outside = current() is None
    own = given_trees(*primals)[0] if is_outside else primals

    def forward():
        return _forward(function, own, has_aux)
    result, residuals, backward, auxiliary = evaluate(forward, copies=True) if is_outside else forward()
    pull = in_a_trace(lambda cotangent: backward(residuals, cotangent))
    return (result, pull, auxiliary) if has_aux else (result, pull)


class _Push:
    """The linear map at one place; its residuals are values, or arrays once the known part has run."""

    def __init__(self, program, results, output, structure, types):
        self.program, self.results, self.output = program, results, output
        self.structure, self.types = structure, types

    def __call__(self, residuals, known, tangents):
        with given.about("linearize", "tangents"):
            moving = self.structure.parts(tangents)
        operands = [_like(f"linearize: the tangent of {leaf_name('[0]' + path)}", x, t)
                    for x, t, path in zip(moving, self.types, self.structure.paths()) if is_differentiable(t[:2])]
        rest = iter(current().inline(self.program, residuals + operands))
        moved = iter([next(rest) if k is None else k for k in known])
        return self.output.build([next(moved) if is_differentiable(t) else None for t in self.results[:self.output.size]])


def _linearized(function, primals, has_aux):
    """(result, residuals, tangents that are constant, linear map, auxiliary part)."""
    made, leaves, types, structure = _of_all("linearize", function, primals)
    output, auxiliary = _split_aux("linearize", made, has_aux)
    jvp = made.program.jvp([is_differentiable(t[:2]) for t in types] + [False] * len(made.captured))
    n, m = len(made.program.params), len(made.program.results)
    known, k, first, second = jvp.partial_eval([i < n for i in range(len(jvp.params))])
    found = current().inline(first, made.operands(leaves))
    rest, end = iter(found), len(found) - k
    values = [next(rest) if is_known else None for is_known in known]
    push = _Push(second, made.program.results, output, structure, types)
    own = output.size
    return output.build(values[:own]), found[end:], values[m:], push, auxiliary and auxiliary.build(values[own:m])


@without_frames
def linearize(function, *primals, has_aux=False):
    """(result, the function from tangents of the arguments to the tangent of the result), and the auxiliary part. What
    depends on the arguments alone is computed once."""
    def forward():
        return _linearized(function, primals, has_aux)
    result, residuals, known, push, auxiliary = evaluate(forward, copies=True) if current() is None else forward()
    pushed = in_a_trace(lambda *tangents: push(residuals, known, tangents))
    return (result, pushed, auxiliary) if has_aux else (result, pushed)


def _jacobian(name, function, argnums, has_aux, of_program):
    check_callable(name, function)

    @functools.wraps(function)
    @in_a_trace
    def call(*arguments, **named):
        made, leaves, tree = _chosen(name, function, argnums, arguments, named)
        output, auxiliary = _split_aux(name, made, has_aux)
        n, operands = output.size, made.operands(leaves)
        program = of_program(selected(made.program, range(n)), range(len(leaves)))
        found = Nested(output, tree).build(current().inline(program, operands))
        if auxiliary is None:
            return found
        rest = selected(made.program, range(n, n + auxiliary.size))
        return found, auxiliary.build(current().inline(rest, operands))
    return call


def jacfwd(function, argnums=0, has_aux=False):
    """The Jacobian by forward mode: the block of a result and an argument has the shape of the result, then of that."""
    return _jacobian("jacfwd", function, argnums, has_aux, forward_jacobian)


def jacrev(function, argnums=0, has_aux=False):
    """The Jacobian by reverse mode, of results that are floating."""
    return _jacobian("jacrev", function, argnums, has_aux, reverse_jacobian)


def hessian(function, argnums=0, has_aux=False):
    """The Jacobian of the gradient, by forward over reverse mode."""
    return jacfwd(jacrev(function, argnums, has_aux), argnums, has_aux)


def checkpoint(function=None, *, policy="", prevent_cse=True):
    """`function`, whose derivative computes again what `policy` does not save: `nothing` if empty, `everything`, `dots`,
    `dots_with_no_batch_dims`, `names:a,b` (ricci.checkpoint_name), and several with `|` between."""
    if function is None:
        return functools.partial(checkpoint, policy=policy, prevent_cse=prevent_cse)
    check_callable("checkpoint", function)

    @functools.wraps(function)
    @in_a_trace
    def call(*arguments, **named):
        leaves, structure = flatten((arguments, named))
        types = leaf_types("checkpoint", leaves, map(leaf_name, structure.paths()))
        made = closed("checkpoint", function, structure, types, widens=True)
        program = made.program.checkpoint(policy, prevent_cse)
        return made.output.build(current().inline(program, made.operands(leaves)))
    return call


def checkpoint_name(x, name):
    """x, called `name` in policies of checkpoint."""
    return bind("name", x, name=name)


@without_frames
def stop_gradient(x):
    """A tree with the derivative zero."""
    return in_a_trace(lambda: tree_map(lambda leaf: bind("stop_gradient", leaf), x))()


