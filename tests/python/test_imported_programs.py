"""When the rules of an imported function are traced: for none of its calls, and once for all that needs them."""
import os
import pickle
import tempfile
import threading
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
from jax import lax  # noqa: E402
from jax.custom_derivatives import linear_call  # noqa: E402

from test_import import near  # noqa: E402

X = np.array([0.5, 1.5, 2.5], np.float32)
MANY = np.stack([X, -X])


class Traced:
    """A function with two custom operations that counts the traces of their rules. Derivatives are 3 times the true one."""

    def __init__(self):
        self.count, self.types = 0, []
        self.forward, self.reverse = jax.custom_jvp(jnp.sin), jax.custom_vjp(jnp.cos)
        self.forward.defjvp(self._jvp)
        self.reverse.defvjp(lambda x: (jnp.cos(x), x), self._bwd)

    def _jvp(self, primals, tangents):
        self.count += 1
        self.types.append(jnp.asarray(0.5).dtype)
        return jnp.sin(*primals), 3 * jnp.cos(*primals) * tangents[0]

    def _bwd(self, x, ct):
        self.count += 1
        return (-3 * jnp.sin(x) * ct,)

    def __call__(self, x):
        return self.forward(x) + self.reverse(x)

    def slope(self, x):
        return 3 * np.cos(x) - 3 * np.sin(x)


def called(fn):
    """Some ways to hold an operation; each applies `fn` at an argument that has a tangent."""
    solve = lambda b: lax.custom_linear_solve(lambda v: 2 * v + 0 * fn(v), b, lambda f, b: b / 2, symmetric=True)  # noqa: E731
    return {"itself": fn, "in a call": jax.jit(fn), "in a checkpoint": jax.checkpoint(fn),
            "in a loop": lambda x: lax.scan(lambda c, _: (fn(c), None), x, None, length=2)[0],
            "in a while": lambda x: lax.while_loop(lambda c: (c[0] < 2) & (fn(c[1]).sum() < 1e9),
                                                   lambda c: (c[0] + 1, fn(c[1])), (0, x))[1],
            "in a loop of a batch": jax.vmap(lambda x: lax.while_loop(lambda x: fn(x) > 5, fn, x)),
            "in a branch": lambda x: lax.cond(x[0] > 0, fn, jnp.negative, x),
            "in a linear call": lambda x: linear_call(lambda r, x: fn(r) * x, lambda r, ct: fn(r) * ct, x, x),
            "in a solve": solve}


class Values(unittest.TestCase):
    def test_need_no_rules(self):
        for name in called(Traced()):
            with self.subTest(name):
                fn = Traced()
                f = called(fn)[name]
                want, many, fn.count = f(X), np.stack([f(x) for x in MANY]), 0
                ours = ricci.from_jax(f, X)
                for made in (ours, ours.jit(), ours.lower().compile()):
                    near(made(X), want)
                ours.check_finite(X)
                near(ours.profile(X)[0], want)
                near(ours.vmap(2).vmap(1)(MANY[None]), many[None])
                self.assertEqual(fn.count, 0)

    def test_of_a_function_without_rules_are_those_of_the_program(self):
        f = ricci.from_jax(lambda x: jax.jit(jnp.sin)(x) + lax.cond(x[0] > 0, jnp.sin, jnp.cos, x), X)
        self.assertIs(f.program.for_values, f.program)


class Derivatives(unittest.TestCase):
    def test_trace_the_rules_once(self):
        fn = Traced()
        f = ricci.from_jax(fn, X)
        near(f(X), fn(X))
        self.assertEqual(fn.count, 0)
        for _ in range(2):
            near(f.vjp(X)[1](X)[0], X * fn.slope(X))
        self.assertEqual(fn.count, 2)
        near(f.vmap(2).vjp(MANY)[1](MANY)[0], MANY * fn.slope(MANY))
        near(f.jacrev()(X), np.diag(fn.slope(X)))
        self.assertEqual(fn.count, 2)

    def test_of_a_batch(self):
        fn = Traced()
        f = ricci.from_jax(fn, X).vmap(2)
        near(f.vjp(MANY)[1](MANY)[0], MANY * fn.slope(MANY))
        self.assertEqual(fn.count, 2)

    def test_in_several_threads(self):
        fn, found = Traced(), []
        f = ricci.from_jax(fn, X)
        threads = [threading.Thread(target=lambda: found.append(f.vjp(X)[1](X)[0])) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        for each in found:
            near(each, X * fn.slope(X))
        self.assertEqual((len(found), fn.count), (4, 2))

    def test_have_the_width_of_the_import(self):
        fn = Traced()
        with jax.enable_x64(True):
            f = ricci.from_jax(fn, X.astype(np.float64))
        f.vjp(X.astype(np.float64))
        self.assertEqual(fn.types, [np.float64])

    def test_name_what_is_missing_in_a_rule(self):
        @jax.custom_jvp
        def f(x):
            return jnp.sin(x)
        f.defjvp(lambda p, t: (f(*p), t[0] * jax.ffi.ffi_call("elsewhere", jax.ShapeDtypeStruct(X.shape, X.dtype))(*p)))
        ours = ricci.from_jax(f, X)
        near(ours(X), np.sin(X))
        for _ in range(2):
            with self.assertRaisesRegex(ricci.Error, "ffi_call: Ricci has no such primitive"):
                ours.jacrev()
        self.assertEqual(list(ricci.missing(f, X)), ["ffi_call"])


class Programs(unittest.TestCase):
    """What a program becomes elsewhere has the rules."""

    def check(self, take):
        fn = Traced()
        made = take(ricci.from_jax(fn, X))
        self.assertEqual(fn.count, 2)
        near(made.vjp(X)[1](X)[0], X * fn.slope(X))

    def test_of_a_file(self):
        def saved(f):
            with tempfile.TemporaryDirectory() as folder:
                f.save(f"{folder}/f.ricci")
                return ricci.load(f"{folder}/f.ricci")
        self.check(saved)

    def test_of_text_pickled_and_copied(self):
        self.check(lambda f: ricci.Function(ricci.Program.parse(f.text)))
        self.check(lambda f: pickle.loads(pickle.dumps(f)))
        self.check(lambda f: f.checkpoint())

    def test_equal_for_equal_functions(self):
        fn = Traced()
        first, second = (ricci.from_jax(fn, X).program for _ in range(2))
        self.assertEqual(first, second)
        self.assertEqual(hash(first), hash(second))
        self.assertEqual(repr(first), repr(second))

    def test_called_in_a_traced_function(self):
        fn = Traced()
        f = ricci.from_jax(fn, X)
        near(ricci.jit(ricci.grad(lambda x: f(x).sum()))(X), fn.slope(X))


if __name__ == "__main__":
    unittest.main()
