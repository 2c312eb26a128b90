"""Functions of trees of arrays: a program with the structures of its arguments and results, called like Python.

Derivatives and batches are new functions, made by Ricci; what a method of the same name in JAX returns, these return.
A call compiles on first use. `jvp`, `vjp` and `linearize` take arguments, as in JAX, and keep what they compiled.
"""
import functools

from .executable import Executable
from .jacobian import forward_jacobian, reverse_jacobian, selected
from .keys import from_host, to_host
from .program import Program, is_differentiable
from .trees import Leaf, Nested, Tuple, flat


class Function:
    """`inputs`: one tree per positional argument; `named`: those of keyword arguments; `output`: that of the result."""

    def __init__(self, program, inputs=None, named=None, output=None, donate=(), device=None):
        self.program = program
        self.inputs = [Leaf()] * len(program.params) if inputs is None else list(inputs)
        self.named = dict(sorted((named or {}).items()))
        self.output = flat(len(program.results)) if output is None else output
        self._donate, self._device = donate, device

    # ---- arguments and results ----

    def _flatten(self, arguments, named):
        if len(arguments) != len(self.inputs) or sorted(named) != list(self.named):
            names = f" and {', '.join(self.named)}" if self.named else ""
            raise TypeError(f"{len(self.inputs)} arguments{names} are expected, {len(arguments)} are given"
                            + (f" and {', '.join(sorted(named))}" if named else ""))
        leaves = [x for tree, a in zip(self.inputs, arguments) for x in tree.flatten(a)]
        return leaves + [x for name, tree in self.named.items() for x in tree.flatten(named[name])]

    def _range(self, argnum):
        """The leaves of one positional argument."""
        start = sum(tree.size for tree in self.inputs[:argnum])
        return range(start, start + self.inputs[argnum].size)

    def _number(self, argnum):
        """A number of a positional argument; a negative one counts from the back."""
        n = len(self.inputs)
        if not -n <= argnum < n:
            raise ValueError(f"there is no argument {argnum}: the function has {n} positional arguments")
        return argnum % n

    def _chosen(self, argnums):
        """(leaves of the arguments `argnums`, the tree they form)."""
        single = isinstance(argnums, int)
        numbers = [self._number(n) for n in ((argnums,) if single else argnums)]
        trees = [self.inputs[n] for n in numbers]
        leaves = [i for n in numbers for i in self._range(n)]
        for i in leaves:
            if not is_differentiable(self.program.params[i]):
                raise TypeError(f"argument leaf {i} is not floating: it has no derivative")
        return leaves, trees[0] if single else Tuple(*trees)

    @functools.cached_property
    def executable(self):
        return Executable(self.program, self._device, [i in self._donate for i in range(len(self.program.params))])

    def __call__(self, *arguments, **named):
        leaves = [to_host(x) for x in self._flatten(arguments, named)]
        return self._built(self.output, self.executable(*leaves), self.program.results)

    @staticmethod
    def _built(tree, leaves, types):
        return tree.build([from_host(x, t) for x, t in zip(leaves, types)])

    def _with(self, program, inputs=None, output=None):
        return Function(program, self.inputs if inputs is None else inputs, self.named,
                        self.output if output is None else output, device=self._device)

    # ---- derivatives ----

    def grad(self, argnums=0, has_aux=False):
        """The gradient by `argnums`; with `has_aux`, (gradient, what the function returns next to its value)."""
        leaves, tree = self._chosen(argnums)
        if not has_aux:
            return self._with(self.program.grad(leaves), output=tree)
        both = self.value_and_grad(argnums, has_aux=True)
        n = len(self.program.results)
        order = [*range(n, n + len(leaves)), *range(1, n)]
        return self._with(selected(both.program, order), output=Tuple(tree, _auxiliary(self.output)))

    def value_and_grad(self, argnums=0, has_aux=False):
        """(value, gradient), or ((value, auxiliary), gradient)."""
        leaves, tree = self._chosen(argnums)
        if has_aux:
            _auxiliary(self.output)
        elif len(self.program.results) != 1:
            raise TypeError("the function has several results; has_aux=True takes the gradient of the first")
        return self._with(self.program.grad(leaves, with_value=True), output=Tuple(self.output, tree))

    def _active(self):
        return [is_differentiable(t) for t in self.program.params]

    @functools.cached_property
    def pushforward(self):
        """The function of (leaves of arguments..., tangents of the floating ones...) that jvp runs."""
        return Executable(self.program.jvp(self._active()), self._device)

    def jvp(self, primals, tangents, **named):
        """(result, its tangent). Leaves of tangents of integers are not looked at."""
        leaves = self._flatten(primals, named)
        if len(tangents) != len(primals):
            raise TypeError(f"{len(primals)} primals and {len(tangents)} tangents are given")
        moving = [t for tree, x in zip(self.inputs, tangents) for t in tree.parts(x)]
        zeros = [0 * to_host(x) for x in leaves[len(moving):]]
        given = [t for t, active in zip(moving + zeros, self._active()) if active]
        return self._pairs(self.pushforward(*map(to_host, leaves + given)))

    def _pairs(self, leaves):
        n, types = len(self.program.results), self.program.results
        return self._built(self.output, leaves[:n], types), self._tangent(leaves[n:])

    def _tangent(self, moving):
        """The tree of result tangents: None where a result is not floating."""
        rest = iter(moving)
        return self.output.build([next(rest) if is_differentiable(t) else None for t in self.program.results])

    @functools.cached_property
    def _pulling(self):
        fwd, bwd = self.program.vjp(self._active())
        return Executable(fwd, self._device), Executable(bwd, self._device)

    def vjp(self, *primals, **named):
        """(result, the function from a cotangent to the cotangents of the arguments; None for integers)."""
        fwd, bwd = self._pulling
        n = len(self.program.results)
        leaves = fwd(*map(to_host, self._flatten(primals, named)))
        residuals = leaves[n:]

        def pull(ct):
            cts = [to_host(c) for c, t in zip(self.output.parts(ct), self.program.results) if is_differentiable(t)]
            rest = iter(bwd(*residuals, *cts))
            return Tuple(*self.inputs).build([next(rest) if active else None for active in self._active()][:sum(
                tree.size for tree in self.inputs)])
        return self._built(self.output, leaves[:n], self.program.results), pull

    @functools.cached_property
    def _linear(self):
        jvp, n = self.program.jvp(self._active()), len(self.program.params)
        known, n_residuals, first, second = jvp.partial_eval([i < n for i in range(len(jvp.params))])
        return known, n_residuals, Executable(first, self._device), Executable(second, self._device)

    def linearize(self, *primals, **named):
        """(result, the function from tangents of the arguments to the tangent of the result)."""
        known, n_residuals, first, second = self._linear
        leaves = first(*map(to_host, self._flatten(primals, named)))
        values, residuals = leaves[:len(leaves) - n_residuals], leaves[len(leaves) - n_residuals:]
        constant = iter(values)
        found = [next(constant) if k else None for k in known]
        n = len(self.program.results)

        def push(*tangents):
            if len(tangents) != len(self.inputs):
                raise TypeError(f"{len(self.inputs)} tangents are expected, {len(tangents)} are given")
            moving = [t for tree, x in zip(self.inputs, tangents) for t in tree.parts(x)]
            given = [to_host(t) for t, active in zip(moving, self._active()) if active]
            rest = iter(second(*residuals, *given))
            return self._tangent([next(rest) if f is None else f for f in found[n:]])
        return self._built(self.output, found[:n], self.program.results), push

    def jacfwd(self, argnums=0):
        leaves, tree = self._chosen(argnums)
        return self._with(forward_jacobian(self.program, leaves), output=Nested(self.output, tree))

    def jacrev(self, argnums=0):
        leaves, tree = self._chosen(argnums)
        return self._with(reverse_jacobian(self.program, leaves), output=Nested(self.output, tree))

    def hessian(self, argnums=0):
        return self.jacrev(argnums).jacfwd(argnums)

    # ---- batches, policies ----

    def vmap(self, size, in_axes=0, out_axes=0, schedule="auto"):
        """The function on each of `size` slices. `in_axes`: an axis or None for all arguments or for each (or for each
        of its leaves); `out_axes` likewise."""
        named = 0 if isinstance(in_axes, (tuple, list)) else in_axes
        axes = Tuple(*self.inputs).spread(in_axes) + [named] * sum(tree.size for tree in self.named.values())
        ins = _from_front(axes, self.program.params)
        outs = _from_front(self.output.spread(out_axes), self.program.results)
        return self._with(self.program.vmap(ins, outs, size, schedule))

    def checkpoint(self, policy="", prevent_cse=True):
        return self._with(self.program.checkpoint(policy, prevent_cse))

    # ---- compiling, text ----

    def jit(self, donate=(), device=None):
        """The function compiled for `device`; the memory of the arguments `donate` may be reused for results."""
        donated = {i for n in donate for i in self._range(self._number(n))}
        return Function(self.program, self.inputs, self.named, self.output, donated, device)

    def lower(self, *_, **__):
        return Lowered(self)

    @property
    def text(self):
        return self.program.text

    def save(self, path):
        """Writes the program in binary form (ricci/file.h). `load` gives it back with flat arguments and results."""
        self.program.save(path)


class Lowered:
    """As in JAX: `compile()` gives what can be called and asked for `timings`, `stats()` and `dump(stage)`."""

    def __init__(self, function):
        self._function, self.text = function, function.text

    def compile(self):
        return Compiled(self._function)


class Compiled:
    def __init__(self, function):
        self._function, executable = function, function.executable
        self.timings, self.stats, self.dump = executable.timings, executable.stats, executable.dump

    def __call__(self, *arguments, **named):
        return self._function(*arguments, **named)


def _from_front(axes, types):
    """Axes of batched arrays, negative ones counted from the back; -1 for None."""
    return [-1 if a is None else a if a >= 0 else a + len(shape) + 1 for a, (_, shape) in zip(axes, types)]


def _auxiliary(tree):
    """The tree of what comes with the value in (value, auxiliary)."""
    parts = tree.pair() if hasattr(tree, "pair") else None
    if parts is None or parts[0].size != 1:
        raise TypeError("has_aux=True needs a function that returns (value, auxiliary)")
    return parts[1]


def load(path, context=None):
    """The function in a file, binary or text, with an argument for each parameter."""
    return Function(Program.load(path, context))
