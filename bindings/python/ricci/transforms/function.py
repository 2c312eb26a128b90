"""Functions of trees of arrays: a program with the structures of its arguments and results, called like Python.

Derivatives and batches are new functions, made by Ricci; what a method of the same name in JAX returns, these return.
A call compiles on first use. `jvp`, `vjp` and `linearize` take arguments, as in JAX, and keep what they compiled.
"""
import functools

from ..abi import arguments as given
from ..abi.dtypes import KEY, type_text
from ..abi.program import Program, is_differentiable
from ..calls import native
from ..calls.described import described, of_call
from ..calls.executable import Executable
from ..calls.frames import without_frames
from ..calls.keys import from_host, to_host
from ..calls.trees import Leaf, Nested, Tuple, flat
from ..tracing.trace import current
from ..tracing.value import Value
from .jacobian import forward_jacobian, reverse_jacobian, selected
from .policies import policy_text


class Function(native.Caller):
    """`inputs`: one tree per positional argument; `named`: those of keyword arguments; `output`: that of the result."""

    def __init__(self, program, inputs=None, named=None, output=None, donate=(), device=None):
        self.program = given.instance("Function", "program", program, Program)
        self.inputs = [Leaf()] * len(program.params) if inputs is None else list(inputs)
        self.named = dict(sorted((named or {}).items()))
        self.output = flat(len(program.results)) if output is None else output
        self._donate, self._device = donate, device

    _is_taught = False  # does the extension know calls, or that it cannot make them?

    def __repr__(self):
        names = [f"{name}{path}" for name, tree in enumerate(self.inputs) for path in tree.paths()]
        names += [f"{name}{path}" for name, tree in self.named.items() for path in tree.paths()]
        params = ", ".join(f"{n}: {type_text(t)}" for n, t in zip(names, self.program.params))
        return f"<Function {self.program.name}({params}) -> {', '.join(map(type_text, self.program.results))}>"

    def __getstate__(self):
        """What is compiled is left out."""
        return {name: self.__dict__[name] for name in ("program", "inputs", "named", "output", "_donate", "_device")}

    # ---- arguments and results ----

    def _flatten(self, arguments, named):
        if len(arguments) != len(self.inputs) or sorted(named) != list(self.named):
            listed = lambda n, names: " and ".join([given.count(n, "argument"), *names])  # noqa: E731
            raise TypeError(f"{self.program.name}: {listed(len(self.inputs), self.named)} expected, "
                            f"{listed(len(arguments), sorted(named))} given")
        leaves = []
        for name, tree in enumerate(self.inputs):
            leaves += self._parts(name, tree.flatten, arguments[name])
        for name, tree in self.named.items():
            leaves += self._parts(name, tree.flatten, named[name])
        return leaves

    def _parts(self, argument, flatten, value):
        """The leaves of one argument."""
        try:
            return flatten(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self.program.name}: argument {argument}: {error}") from None

    def _tangents(self, tangents):
        """The leaves of the tangents of all positional arguments."""
        return [t for i, (tree, x) in enumerate(zip(self.inputs, tangents)) for t in self._parts(i, tree.parts, x)]

    def _names(self, prefix=""):
        """What messages call the leaves of all arguments."""
        trees = [*enumerate(self.inputs), *self.named.items()]
        return [f"{prefix}argument {name}{path}" for name, tree in trees for path in tree.paths()]

    def _moving_names(self):
        """The same for the arguments and the tangents of the floating ones."""
        names = self._names("tangent of ")
        return self._names() + [name for name, active in zip(names, self._active()) if active]

    def _range(self, argnum):
        """The leaves of one positional argument."""
        start = sum(tree.size for tree in self.inputs[:argnum])
        return range(start, start + self.inputs[argnum].size)

    def _numbers(self, function, name, argnums):
        """(numbers of positional arguments, whether one was given as such); negative ones count from the back."""
        numbers, single = given.integer_or_integers(function, name, argnums)
        n = len(self.inputs)
        for number in numbers:
            if not -n <= number < n:
                raise ValueError(f"{function}: there is no argument {number}: the function has "
                                 f"{given.count(n, 'positional argument')}")
        return [number % n for number in numbers], single

    def _chosen(self, function, argnums):
        """(leaves of the arguments `argnums`, the tree they form)."""
        numbers, single = self._numbers(function, "argnums", argnums)
        trees = [self.inputs[n] for n in numbers]
        leaves = [i for n in numbers for i in self._range(n)]
        for i in leaves:
            if not is_differentiable(self.program.params[i]):
                raise TypeError(f"{function}: {self._names()[i]} is not floating but {type_text(self.program.params[i])}: "
                                "it has no derivative")
        return leaves, trees[0] if single else Tuple(*trees)

    @functools.cached_property
    def executable(self):
        donate = [i in self._donate for i in range(len(self.program.params))]
        return Executable(self.program, self._device, donate, names=self._names)

    @without_frames
    def _call(self, arguments, named):
        leaves = self._flatten(arguments, named)
        if any(isinstance(x, Value) for x in leaves):
            return self._traced(leaves)
        leaves = [to_host(x) for x in leaves]
        result = self._built(self.output, self.executable(*leaves), self.program.results)
        if not self._is_taught:
            self._teach()
        return result

    def _prepared(self, _, i, leaf):
        """What the extension passes for a leaf that is not an array of the right type; None where `_call` has to look
        at it."""
        return self.executable._argument(i, to_host(leaf)) if native.is_plain(leaf) else None

    def _teach(self):
        """Calls need no Python code from now on, but for trees and results that the extension does not know."""
        self._is_taught = True
        target, program = self.executable.target, self.program
        if target is None or any(dtype == KEY for dtype, _ in program.results):
            return
        arguments = of_call([described(tree) for tree in self.inputs],
                            {name: described(tree) for name, tree in self.named.items()})
        output = described(self.output)
        if arguments is not None and output is not None:
            self._learn(native.Kind(native.Tree(arguments), target, native.Tree(output), None, None))

    def _traced(self, leaves):
        """In a function that is traced a call is one equation."""
        trace = current()
        if trace is None:
            raise TypeError(f"{self.program.name}: a value is given outside of the function that was traced for it")
        operands = [x if isinstance(x, Value) else trace.lift(x, t[0]) for x, t in zip(leaves, self.program.params)]
        for name, x, t in zip(self._names(), operands, self.program.params):
            if x.type != t:
                raise TypeError(f"{self.program.name}: {name} is {type_text(x.type)}, the program takes {type_text(t)}")
        return self.output.build(trace.emit("call", operands, {"body": self.program}))

    @staticmethod
    def _built(tree, leaves, types):
        return tree.build([from_host(x, t) for x, t in zip(leaves, types)])

    def _with(self, program, inputs=None, output=None):
        return Function(program, self.inputs if inputs is None else inputs, self.named,
                        self.output if output is None else output, device=self._device)

    # ---- derivatives ----

    def _check_value(self, function):
        n = len(self.program.results)
        if n != 1:
            raise TypeError(f"{function}: the function has {given.count(n, 'result')}, not one"
                            + ("; has_aux=True takes the gradient of the first of a pair" if n else ""))

    def grad(self, argnums=0, has_aux=False):
        """The gradient by `argnums`; with `has_aux`, (gradient, what the function returns next to its value)."""
        leaves, tree = self._chosen("grad", argnums)
        if not has_aux:
            self._check_value("grad")
            return self._with(self.program.grad(leaves), output=tree)
        auxiliary = _auxiliary("grad", self.output)
        both = self.value_and_grad(argnums, has_aux=True)
        n = len(self.program.results)
        order = [*range(n, n + len(leaves)), *range(1, n)]
        return self._with(selected(both.program, order), output=Tuple(tree, auxiliary))

    def value_and_grad(self, argnums=0, has_aux=False):
        """(value, gradient), or ((value, auxiliary), gradient)."""
        leaves, tree = self._chosen("value_and_grad", argnums)
        if has_aux:
            _auxiliary("value_and_grad", self.output)
        else:
            self._check_value("value_and_grad")
        return self._with(self.program.grad(leaves, with_value=True), output=Tuple(self.output, tree))

    def _active(self):
        return [is_differentiable(t) for t in self.program.params]

    @functools.cached_property
    def pushforward(self):
        """The function of (leaves of arguments..., tangents of the floating ones...) that jvp runs."""
        return Executable(self.program.jvp(self._active()), self._device, names=self._moving_names)

    def jvp(self, primals, tangents, **named):
        """(result, its tangent). Leaves of tangents of integers are not looked at."""
        for name, value in (("primals", primals), ("tangents", tangents)):
            if not isinstance(value, (tuple, list)):
                raise given.wrong_type("jvp", name, value, "a tuple of one value for each argument is")
        leaves = self._flatten(primals, named)
        if len(tangents) != len(primals):
            raise TypeError(f"jvp: {given.count(len(primals), 'primal')} and "
                            f"{given.count(len(tangents), 'tangent')} are given")
        return self._pairs(self.pushforward(*map(to_host, leaves), *self._moving(leaves, tangents)))

    def _moving(self, leaves, tangents):
        """The tangents of all floating leaves: those of keyword arguments are zero."""
        found = self._tangents(tangents)
        zeros = [0 * to_host(x) for x in leaves[len(found):]]
        return [to_host(t) for t, active in zip(found + zeros, self._active()) if active]

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
        n_residuals = len(bwd.params) - sum(map(is_differentiable, self.program.results))
        names = lambda: [""] * n_residuals + [  # noqa: E731
            f"cotangent of result{path}" for path, t in zip(self.output.paths(), self.program.results)
            if is_differentiable(t)]
        return Executable(fwd, self._device, names=self._names), Executable(bwd, self._device, names=names)

    def vjp(self, *primals, **named):
        """(result, the function from a cotangent to the cotangents of the arguments; None for integers)."""
        fwd, bwd = self._pulling
        n = len(self.program.results)
        leaves = fwd(*map(to_host, self._flatten(primals, named)))
        residuals = leaves[n:]

        def pull(ct):
            with given.about("vjp", "cotangent"):
                parts = self.output.parts(ct)
            cts = [to_host(c) for c, t in zip(parts, self.program.results) if is_differentiable(t)]
            rest = iter(bwd(*residuals, *cts))
            return Tuple(*self.inputs).build([next(rest) if active else None for active in self._active()][:sum(
                tree.size for tree in self.inputs)])
        return self._built(self.output, leaves[:n], self.program.results), pull

    @functools.cached_property
    def _linear(self):
        jvp, n = self.program.jvp(self._active()), len(self.program.params)
        known, n_residuals, first, second = jvp.partial_eval([i < n for i in range(len(jvp.params))])
        names = lambda: [""] * n_residuals + self._moving_names()[n:]  # noqa: E731
        return (known, n_residuals, Executable(first, self._device, names=self._names),
                Executable(second, self._device, names=names))

    def linearize(self, *primals, **named):
        """(result, the function from tangents of the arguments to the tangent of the result)."""
        known, n_residuals, first, second = self._linear
        given_leaves = self._flatten(primals, named)
        leaves = first(*map(to_host, given_leaves))
        values, residuals = leaves[:len(leaves) - n_residuals], leaves[len(leaves) - n_residuals:]
        constant = iter(values)
        found = [next(constant) if k else None for k in known]
        n = len(self.program.results)

        def push(*tangents):
            if len(tangents) != len(self.inputs):
                raise TypeError(f"linearize: {given.count(len(self.inputs), 'tangent')} expected, "
                                f"{len(tangents)} given")
            rest = iter(second(*residuals, *self._moving(given_leaves, tangents)))
            return self._tangent([next(rest) if f is None else f for f in found[n:]])
        return self._built(self.output, found[:n], self.program.results), push

    def jacfwd(self, argnums=0):
        leaves, tree = self._chosen("jacfwd", argnums)
        return self._with(forward_jacobian(self.program, leaves), output=Nested(self.output, tree))

    def jacrev(self, argnums=0):
        leaves, tree = self._chosen("jacrev", argnums)
        return self._with(reverse_jacobian(self.program, leaves), output=Nested(self.output, tree))

    def hessian(self, argnums=0):
        self._chosen("hessian", argnums)
        return self.jacrev(argnums).jacfwd(argnums)

    # ---- batches, policies ----

    def vmap(self, size, in_axes=0, out_axes=0, schedule="auto"):
        """The function on each of `size` slices. `in_axes`: an axis or None for all arguments or for each (or for each
        of its leaves); `out_axes` likewise."""
        named = 0 if isinstance(in_axes, (tuple, list)) else in_axes
        with given.about("vmap", "in_axes"):
            axes = Tuple(*self.inputs).spread(in_axes) + [named] * sum(tree.size for tree in self.named.values())
        with given.about("vmap", "out_axes"):
            out_axes = self.output.spread(out_axes)
        ins = _from_front("in_axes", axes, self.program.params, self._names)
        outs = _from_front("out_axes", out_axes, self.program.results,
                           lambda: [f"result{path}" for path in self.output.paths()])
        return self._with(self.program.vmap(ins, outs, size, schedule))

    def checkpoint(self, policy="", prevent_cse=True):
        """`policy`: a text (ricci/transform.h) or one of jax.checkpoint_policies."""
        if callable(policy):
            policy = policy_text(policy)
        return self._with(self.program.checkpoint(policy, prevent_cse))

    # ---- compiling, text ----

    def jit(self, donate=(), device=None):
        """The function compiled for `device`; the memory of the arguments `donate` may be reused for results."""
        donated = {i for n in self._numbers("jit", "donate", donate)[0] for i in self._range(n)}
        self.program.context.device(device)  # an error if there is none of that kind
        return Function(self.program, self.inputs, self.named, self.output, donated, device)

    @without_frames
    def profile(self, *arguments, **named):
        """(result, Spans): a run of code that reports its steps, each with the line of the user's that it comes from."""
        leaves = [to_host(x) for x in self._flatten(arguments, named)]
        found, spans = Executable(self.program, self._device, profiled=True).profile(*leaves)
        return self._built(self.output, found, self.program.results), spans

    @without_frames
    def check_finite(self, *arguments, **named):
        """An Error for the first equation that makes a NaN or an infinity of what is finite, with its line, also one in a
        loop or branch. Equations are run separately, slowly."""
        self.executable.check_finite(self.program, *(to_host(x) for x in self._flatten(arguments, named)))

    def lower(self, *arguments, **named):
        """Shapes are those of the function: arguments, if any are given, must have its structure."""
        if arguments or named:
            self._flatten(arguments, named)
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
        self._function = function

    @property
    def text(self):
        return self._function.text

    def compile(self):
        return Compiled(self._function)


class Compiled:
    def __init__(self, function):
        self._function, executable = function, function.executable
        self.timings, self.stats, self.dump = executable.timings, executable.stats, executable.dump

    def __call__(self, *arguments, **named):
        return self._function(*arguments, **named)


def _from_front(name, axes, types, names):
    """Axes of batched arrays, negative ones counted from the back; -1 for None."""
    found = []
    for i, (axis, (_, shape)) in enumerate(zip(axes, types)):
        rank = len(shape) + 1
        if axis is not None and not given.is_integer(axis):
            raise given.wrong_type("vmap", f"{name} of {names()[i]}", axis, "an integer or None is")
        if axis is not None and not -rank <= axis < rank:
            raise ValueError(f"vmap: {name} of {names()[i]} is {axis}; with a batch it has "
                             f"{given.count(rank, 'dimension')}")
        found.append(-1 if axis is None else axis % rank)
    return found


def _auxiliary(function, tree):
    """The tree of what comes with the value in (value, auxiliary)."""
    parts = tree.pair() if hasattr(tree, "pair") else None
    if parts is None or parts[0].size != 1:
        raise TypeError(f"{function}: has_aux=True needs a function that returns (value, auxiliary)")
    return parts[1]


def load(path, context=None):
    """The function in a file, binary or text, with an argument for each parameter."""
    return Function(Program.load(path, context))
