"""custom_linear_solve and custom_root: solutions by a solver of the user, with derivatives at the solution.

As those of jax.lax. A solver is never differentiated, so it may be any loop: the derivative of the x with A x = b solves
A dx = db - dA x, that of the root of f a linear equation with the derivative of f. It goes through what `matvec` or `f`
use of the functions around them.
"""
import functools

from ..abi.dtypes import type_text
from ..calls.user_trees import Structure, flatten
from ..calls.user_trees import map as tree_map
from ..tracing.closing import captures_first, check_callable, closed, in_a_trace
from ..tracing.trace import current
from .custom_rules import custom_jvp
from .derivatives import jvp


def _lifted(tree):
    """(values of its leaves, its structure)."""
    leaves, structure = flatten(tree)
    return [current().lift(x) for x in leaves], structure


def _closed(function, what, f, vector, name, has_aux=False):
    """`f` of one argument as a Closed that gives a tree like the argument, `vector`: (structure, types); with `has_aux` in
    a pair with anything else."""
    structure, types = vector
    made = closed(function, f, Structure(tuple, None, [structure]), types, spread=False)
    parts = made.output.pair() if has_aux else (made.output, None)
    if parts is None:
        raise TypeError(f"{function}: has_aux=True needs a {what} that returns (solution, auxiliary)")
    if parts[0] != structure:
        raise TypeError(f"{function}: {what} returns the structure {parts[0]}, {name} has {structure}")
    for own, t, path in zip(made.program.results, types, structure.paths()):
        if own != t[:2]:
            raise TypeError(f"{function}: {what} returns {type_text(own)}, {name}{path} is {type_text(t[:2])}")
    return made


class _Map:
    """A linear function: constants, then a vector -> a vector; what a solver calls."""

    def __init__(self, program, captured, structure):
        self.program, self.captured, self.structure = program, captured, structure

    def __call__(self, x):
        leaves = self.structure.flatten(x)
        return self.structure.build(current().inline(self.program, [*self.captured, *leaves]))

    def transposed(self):
        k, n = len(self.captured), len(self.program.params)
        return _Map(self.program.linear_transpose([i >= k for i in range(n)]), self.captured, self.structure)


@in_a_trace
def custom_linear_solve(matvec, b, solve, transpose_solve=None, symmetric=False, has_aux=False):
    """The x with `matvec(x)` = b, a tree of arrays, found by `solve(matvec, b)`.

    `transpose_solve(vecmat, c)` solves the transposed equation, for reverse mode; with `symmetric`, matvec is its own
    transpose, and `solve` serves for both. With `has_aux` solvers return (solution, anything else).
    """
    function = "custom_linear_solve"
    for f in (matvec, solve):
        check_callable(function, f)
    values, structure = _lifted(b)
    vector = structure, [v.type for v in values]
    product = _closed(function, "matvec", matvec, vector, "b")
    forward = _Map(captures_first(product), product.captured, structure)
    found = _closed(function, "solve", functools.partial(solve, matvec), vector, "b", has_aux)
    back = solve if transpose_solve is None and symmetric else transpose_solve
    parts = {"matvec": forward, "solve": found}
    if back is not None:
        parts["vecmat"] = forward if symmetric else forward.transposed()
        other = matvec if symmetric else parts["vecmat"]
        parts["transpose_solve"] = _closed(function, "transpose_solve", functools.partial(back, other), vector, "b",
                                           has_aux)
    held = {name: part.program if isinstance(part, _Map) else captures_first(part) for name, part in parts.items()}
    constants = [v for name in ("matvec", "vecmat", "solve", "transpose_solve") if name in parts
                 for v in parts[name].captured]
    return found.output.build(current().emit(function, [*constants, *values], held))


@in_a_trace
def custom_root(f, initial_guess, solve, tangent_solve, has_aux=False):
    """The x with `f(x)` = 0, a tree like `initial_guess`, found by `solve(f, initial_guess)`.

    `tangent_solve(g, y)` gives the u with g(u) = y for a linear g, by operations that have derivatives: `y / g(1.0)` for a
    scalar. Neither solver may use a floating value of the function around it. With `has_aux`, `solve` returns (solution,
    anything else).
    """
    for own in (f, solve, tangent_solve):
        check_callable("custom_root", own)
    values, structure = _lifted(initial_guess)
    vector = structure, [v.type for v in values]
    made = _closed("custom_root", "f", f, vector, "the guess")

    def at(captured):
        """f with these values for what it captures."""
        return lambda x: structure.build(current().inline(made.program, [*structure.flatten(x), *captured]))

    root = custom_jvp(lambda captured, guess: _solution(solve(at(captured), guess), structure, has_aux))

    @root.defjvp
    def rule(primals, tangents):
        captured, guess = primals
        x, aux = root(captured, guess)
        _, residual = jvp(lambda values: at(values)(x), (captured,), (tangents[0],))
        linear = lambda v: jvp(at(captured), (x,), (v,))[1]  # noqa: E731
        moved = tree_map(lambda v: -v, tangent_solve(linear, residual))
        return (x, aux), (moved, tree_map(lambda _: None, aux))
    x, aux = root(list(made.captured), structure.build(values))
    return (x, aux) if has_aux else x


def _solution(found, structure, has_aux):
    """(solution, anything else), of what `solve` returns."""
    if has_aux and (not isinstance(found, (tuple, list)) or len(found) != 2):
        raise TypeError("custom_root: has_aux=True needs a solve that returns (solution, auxiliary)")
    x, aux = found if has_aux else (found, ())
    if flatten(x)[1] != structure:
        raise TypeError(f"custom_root: solve returns the structure {flatten(x)[1]}, the guess has {structure}")
    return x, aux
