"""Rules of custom derivatives as JAX meets them: some arguments have no tangents, some values come from around the function;
and how often they are traced."""
import os
import unittest
from unittest import mock

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
from jax import lax  # noqa: E402
from jax.custom_derivatives import SymbolicZero  # noqa: E402
from jax.experimental.ode import odeint  # noqa: E402
from jax.scipy import special  # noqa: E402
from ricci.abi import program
from ricci.jax import jaxpr, traced_rules  # noqa: E402

from test_import import near  # noqa: E402

X, TWO = np.array([0.5, 1.5, 2.5], np.float32), np.float32(2)


@jax.custom_jvp
def at_time(x, t, u):
    return x * t + u


def _at_time_jvp(primals, tangents):
    x, t, u = primals
    if type(tangents[1]) is not SymbolicZero:
        raise RuntimeError("t cannot be differentiated")
    moving = [c * dx for c, dx in zip((t, 0, 1), tangents) if type(dx) is not SymbolicZero]
    return at_time(x, t, u), sum(moving[1:], moving[0])


at_time.defjvp(_at_time_jvp, symbolic_zeros=True)


@jax.custom_vjp
def scaled(x, t):
    return x * t


def _scaled_fwd(x, t):
    if t.perturbed:
        raise RuntimeError("t cannot be differentiated")
    return scaled(x.value, t.value), t.value


scaled.defvjp(_scaled_fwd, lambda t, ct: (3 * ct * t, None), symbolic_zeros=True)


class RefusedTangents(unittest.TestCase):
    def check(self, f):
        ours = ricci.from_jax(f, X)
        near(ours.grad()(X), jax.grad(f)(X))
        near(ours.vmap(2)(np.stack([X, -X])), jax.vmap(f)(np.stack([X, -X])))
        near(ours.grad().vmap(2)(np.stack([X, -X])), jax.vmap(jax.grad(f))(np.stack([X, -X])))
        near(ours.grad().jacrev()(X), jax.jacrev(jax.grad(f))(X))
        return ours

    def test_of_arguments_that_do_not_move(self):
        inner = jax.jit(lambda x, t: at_time(x, t, jnp.sin(x)))
        for f in (lambda x: jnp.sin(at_time(x, 2.0, 1.0)).sum(), lambda x: jnp.sin(inner(x, TWO)).sum(),
                  lambda x: at_time(x, lax.stop_gradient(x), x * x).sum(),
                  lambda x: lax.scan(lambda c, _: (jnp.sin(at_time(c, TWO, c)), None), x, None, length=2)[0].sum()):
            ours = self.check(f)
            near(ours.jvp((X,), (X,)), jax.jvp(f, (X,), (X,)))

    def test_of_a_backward_rule(self):
        self.check(lambda x: jnp.sin(scaled(x, TWO)).sum())

    def test_that_are_asked_for_fail(self):
        for f in (lambda x, t: at_time(x, t, x).sum(), lambda x, t: scaled(x, t).sum()):
            ours = ricci.from_jax(f, X, TWO)
            near(ours.grad()(X, TWO), jax.grad(f)(X, TWO))
            with self.assertRaisesRegex(ricci.Error, "refuses to differentiate with respect to this argument"):
                ours.grad(1)(X, TWO)
        with self.assertRaisesRegex(ricci.Error, "refuses to differentiate"):
            ricci.from_jax(lambda x, t: at_time(x, t, x).sum(), X, TWO).jvp((X, TWO), (X, TWO))


@jax.custom_vjp
def refused_late(x, t):
    return x * t


def _refused_late_bwd(residual, ct):
    t, (x_moves, t_moves) = residual
    if t_moves is not None or x_moves is None:
        raise RuntimeError("t cannot be differentiated")
    return 3 * ct * t, None


# As the loops of equinox: only the backward rule looks at what moves. A flag is (), which is a tree, or None.
refused_late.defvjp(lambda x, t: (refused_late(x.value, t.value),
                                  (t.value, tuple(() if p.perturbed else None for p in (x, t)))),
                    _refused_late_bwd, symbolic_zeros=True)


def never(*_):
    raise RuntimeError("JAX never calls this rule")


@jax.custom_jvp
def constant_only(x):
    return jnp.cos(x)


constant_only.defjvp(never)


class Moving(unittest.TestCase):
    """Rules are traced for the arguments that have tangents when JAX differentiates by everything."""

    def check(self, f, *args):
        ours, argnums = ricci.from_jax(f, *args), tuple(range(len(args)))
        near(ours(*args), f(*args))
        near(ours.grad(argnums)(*args), jax.grad(f, argnums)(*args))
        near(ours.grad().jacrev()(*args), jax.jacrev(jax.grad(f))(*args))

    def test_a_backward_rule_that_refuses(self):
        at = lambda x, t: jnp.sin(refused_late(x, t)).sum()  # noqa: E731
        ones = jnp.ones((2, 3))
        loop = lambda x, t: lax.scan(lambda c, k: (refused_late(c, k), t * c), x, ones)[0].sum()  # noqa: E731
        branch = lambda x, t: lax.cond(x[0] > 0, lambda v: at(v, X) * t, lambda v: at(v, TWO), x)  # noqa: E731
        for f in (lambda x, t: at(x, TWO) * t, lambda x, t: at(x, lax.stop_gradient(t)) + at(t * x, jnp.round(x)),
                  loop, branch, jax.checkpoint(lambda x, t: at(x, TWO) * t)):
            self.check(f, X, TWO)

    def test_what_moves_after_some_trips(self):
        def f(x, t):
            step = lambda i, c: (at_time(c[0], 1.5, c[1]), c[2], x * t)  # noqa: E731
            return lax.fori_loop(0, 4, step, (x, jnp.ones(3), jnp.ones(3)))[0].sum()
        ours = ricci.from_jax(f, X, TWO)
        near(ours.jvp((X, TWO), (X, TWO)), jax.jvp(f, (X, TWO), (X, TWO)))
        scanned = lambda x, t: lax.scan(lambda c, _: ((at_time(c[0], 1.5, c[1]), c[2], x * t), None),  # noqa: E731
                                        (x, jnp.ones(3), jnp.ones(3)), None, length=4)[0][0].sum()
        self.check(scanned, X, TWO)

    def test_one_function_with_other_arguments_moving(self):
        inner = jax.jit(lambda x, t, u: at_time(x, t, u) * t)
        f = lambda x, k: (inner(x, TWO, X) + inner(X, TWO, x * k) + inner(X, TWO, X)).sum()  # noqa: E731
        self.check(f, X, TWO)

    def test_where_nothing_moves_there_is_no_rule(self):
        f = lambda x: (x * constant_only(X) + jax.jit(constant_only)(jnp.round(x))).sum()  # noqa: E731
        ours = ricci.from_jax(f, X)
        near(ours.grad()(X), jax.grad(f)(X))
        self.assertNotIn("custom_jvp", ours.text)

    def test_solvers_have_no_rules(self):
        def f(x, b):
            solve = lambda m, c: c / constant_only(c * 0) / jnp.ones(3) / 2  # noqa: E731
            return (lax.custom_linear_solve(lambda v: 2 * v, b * x, solve, symmetric=True) ** 2).sum()
        self.check(f, X, X)


def by_a_jvp_rule(x):
    around = jnp.sin(jnp.float32(3)) + jnp.arange(3.0)  # which only the rule uses

    @jax.custom_jvp
    def f(y):
        return y * 2
    f.defjvp(lambda p, t: (f(p[0]), t[0] * around * p[0]))
    return f(x).sum()


def by_both_rules(x):
    forward = jnp.sin(jnp.float32(3)) + jnp.arange(3.0)
    back = jnp.cos(forward)

    @jax.custom_vjp
    def f(y, k):
        return y * k
    f.defvjp(lambda y, k: (f(y, k), y * forward), lambda r, ct: (ct * r * back, None))
    return f(x, jnp.arange(3)).sum()


class ClosedOver(unittest.TestCase):
    def test_values_of_the_function_around(self):
        for f in (by_a_jvp_rule, by_both_rules, jax.jit(by_a_jvp_rule)):
            ours, eager = ricci.from_jax(f, X), getattr(f, "__wrapped__", f)  # JAX takes the first two without jit
            near(ours.grad()(X), jax.grad(eager)(X))
            near(ours.grad().jacrev()(X), jax.jacrev(jax.grad(eager))(X))
            near(ours.grad().vmap(2)(np.stack([X, -X]))[1], jax.grad(eager)(-X))

    def test_an_operand_that_is_no_argument_of_the_rule(self):
        f = lambda x: special.exp1(x).sum()  # noqa: E731
        x = X[1:]  # JAX has no second derivative of it; its functions give that for large x only
        near(ricci.from_jax(f, X).grad()(X), jax.grad(f)(X))
        large = np.array([2.0, 3.0], np.float32)
        near(ricci.from_jax(f, x).grad().jacfwd()(large), np.diag(np.exp(-large) * (1 / large + 1 / large ** 2)))

    def test_of_a_forward_rule_of_a_gradient_that_jax_made(self):
        pendulum = lambda s, t: jnp.stack([s[1], -jnp.sin(s[0])])  # noqa: E731
        f = lambda y: odeint(pendulum, y, jnp.linspace(0.0, 1.0, 3)).sum()  # noqa: E731
        y = np.array([0.3, 0.2], np.float32)
        want = jax.jacrev(jax.grad(f))(y)
        near(ricci.from_jax(jax.grad(f), y).jacrev()(y), want, 1e-4)
        near(ricci.from_jax(f, y).grad().jacrev()(y), want, 1e-4)


@jax.custom_jvp
def square(x):
    return lax.stop_gradient(x) ** 2


@jax.custom_jvp
def scaled_by_square(t, x):
    return t * square(x)


@jax.custom_jvp
def third(x):
    return x ** 3 / 3


square.defjvp(lambda p, t: (square(*p), 2 * p[0] * t[0]))
scaled_by_square.defjvp(lambda p, t: (scaled_by_square(*p), t[0] * square(p[1]) + 2 * p[0] * p[1] * t[1]))
third.defjvp(lambda p, t: (third(*p), scaled_by_square(t[0], *p)))


class Nested(unittest.TestCase):
    def test_a_rule_within_a_function_that_a_rule_applies_to_a_tangent(self):
        """Reverse mode transposes that function, so its second derivative is one of what the function holds."""
        f = lambda x: third(x).sum()  # noqa: E731
        ours = ricci.from_jax(f, X)
        near(ours.grad()(X), X ** 2)
        near(ours.grad().jacrev()(X), np.diag(2 * X))
        near(ours.grad().jacfwd()(X), np.diag(2 * X))


def chain(depth):
    """Functions with a rule that holds the function before, which the function itself holds too."""
    f = jnp.sin
    for i in range(depth):
        f = _link(f, i)
    return f


def _link(inner, i):
    f = jax.custom_jvp(lambda x: jnp.cos(inner(x)))
    names = {"f": f, "inner": inner}
    exec(compile("\n" * i + "rule = lambda p, t: (f(p[0]), inner(p[0]) * t[0])", "chain", "exec"), names)  # own places
    f.defjvp(names["rule"])
    return jax.jit(f)


class Work(unittest.TestCase):
    """Imports are as much work as traces, counted: equations walked, rules traced, programs hashed."""

    def walked(self, fn):
        with mock.patch.object(jaxpr.Importer, "equation", autospec=True,
                               side_effect=jaxpr.Importer.equation) as equation:
            ricci.from_jax(fn, X)
        return equation.call_count

    def test_nested_rules_are_walked_once(self):
        near(ricci.from_jax(chain(3), X).vjp(X)[1](X)[0], jax.vjp(chain(3), X)[1](X)[0])
        counts = [self.walked(chain(depth)) for depth in (3, 6, 12, 24)]
        for shorter, longer in zip(counts, counts[1:]):
            self.assertLessEqual(longer, 2 * shorter + 9)

    def test_a_program_is_hashed_once(self):
        hashed, inner = [], program.lib

        class Lib:
            def __getattr__(self, name):
                return getattr(inner, name)

            def ricci_program_hash(self, handle):
                hashed.append(handle.value)
                return inner.ricci_program_hash(handle)
        with mock.patch.object(program, "lib", Lib()):
            f = ricci.from_jax(chain(8), X)
            for _ in range(3):
                hash(f.program)
        self.assertLessEqual(len(hashed), 1)

    def test_refused_arguments_are_found_by_halving(self):
        for refused in ({11}, {0}, {63}, {3, 60}, {0, 1, 2, 63}, set(range(64))):
            traced = []

            def trace(flags):
                traced.append(flags)
                if any(flags[i] for i in refused):
                    raise TypeError("refused")
                return flags
            found = traced_rules._traced_with_most(trace, [True] * 64, may_refuse=True)
            self.assertEqual(found, [i not in refused for i in range(64)])
            self.assertEqual(found, traced[-1])
            self.assertLess(len(traced), 8 * len(refused) + 1)
        with self.assertRaisesRegex(TypeError, "refused"):
            traced_rules._traced_with_most(lambda flags: trace([True] * 64), [True] * 8, may_refuse=True)


if __name__ == "__main__":
    unittest.main()
