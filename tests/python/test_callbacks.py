"""Python functions that programs call while they run: callbacks of JAX against JAX, and those of a context."""
import contextlib
import io
import os
import pathlib
import tempfile
import threading
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
from jax import lax  # noqa: E402
from jax.experimental import io_callback  # noqa: E402

X = np.array([0.5, 1.5, -0.25], np.float32)
SCALAR = jax.ShapeDtypeStruct((), np.float32)


def near(ours, theirs):
    assert jax.tree_util.tree_structure(ours) == jax.tree_util.tree_structure(theirs)
    for a, b in zip(jax.tree_util.tree_leaves(ours), jax.tree_util.tree_leaves(theirs)):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)


def host_sine(x):
    return np.sin(x)


KEPT = []


class Failure(Exception):
    """What callbacks of these tests raise."""


class Pure(unittest.TestCase):
    def test_trees_and_dtypes(self):
        def f(x, n):
            kinds = {"a": x, "b": (SCALAR, jax.ShapeDtypeStruct((0, 2), np.int32))}
            return jax.pure_callback(lambda x, *, n: {"a": x * n, "b": (x.sum(), np.zeros((0, 2), int))}, kinds, x, n=n)
        near(ricci.from_jax(f, X, 3)(X, 4), f(X, 4))

    def test_operands_are_arrays_of_jax_that_may_be_kept(self):
        kept = []

        def host(x):
            kept.append(x)
            return x.at[0].set(1)
        f = ricci.from_jax(lambda x: jax.pure_callback(host, x, x), X)
        for x in (X, 2 * X):
            near(f(x), np.concatenate([[np.float32(1)], x[1:]]))
        near(kept, [jnp.asarray(X), jnp.asarray(2 * X)])

    def test_x64_is_that_of_the_import(self):
        with jax.enable_x64(True):
            f = ricci.from_jax(lambda x: jax.pure_callback(lambda x: 1 / 3 + x, x, x), np.float64(1))
        self.assertEqual(float(f(1.0)), 1 / 3 + 1)
        g = ricci.from_jax(lambda x: jax.pure_callback(lambda x: 1 / 3, SCALAR, x), np.float32(1))
        self.assertEqual(g(1.0).dtype, np.float32)

    def test_keys(self):
        f = lambda k: jax.pure_callback(lambda k: jax.random.uniform(k), SCALAR, k)  # noqa: E731
        near(ricci.from_jax(f, jax.random.key(0))(jax.random.key(3)), jax.random.uniform(jax.random.key(3)))

    def test_batches(self):
        def of(method, seen):
            def host(x, y):
                seen.append((x.shape, y.shape))
                return x + y
            return lambda x, y: jax.pure_callback(host, SCALAR, x, y, vmap_method=method)
        for method in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all"):
            ours, theirs = [], []
            near(ricci.from_jax(of(method, ours), X[0], X[0]).vmap(3, (0, None))(X, X[0]),
                 jax.vmap(of(method, theirs), (0, None))(X, X[0]))
            self.assertEqual(ours, theirs)
        for method in (None, "legacy_vectorized"):
            with self.assertRaisesRegex(ricci.Error, r"test_callbacks.py:\d+: pure_callback: .*give vmap_method"):
                ricci.from_jax(of(method, []), X[0], X[0]).vmap(3)(X, X)

    def test_derivatives(self):
        f = lambda x: jax.pure_callback(host_sine, x, x).sum()  # noqa: E731
        with self.assertRaisesRegex(ricci.Error, "pure_callback: .*host_sine has no derivative"):
            ricci.from_jax(f, X).grad()
        near(ricci.from_jax(lambda x: x.sum() * f(lax.stop_gradient(x)), X).grad()(X), np.full(3, np.sin(X).sum()))

        @jax.custom_jvp
        def sine(x):
            return jax.pure_callback(host_sine, x, x, vmap_method="broadcast_all")
        sine.defjvp(lambda p, t: (sine(p[0]), jax.pure_callback(np.cos, p[0], p[0], vmap_method="sequential") * t[0]))
        g = lambda x: (sine(x) * x).sum()  # noqa: E731
        xs = np.stack([X, X + 1])
        near(ricci.from_jax(g, X).grad().vmap(2)(xs), jax.vmap(jax.grad(g))(xs))

    def test_in_loops_and_branches(self):
        def f(x):
            call = lambda a: jax.pure_callback(host_sine, a, a, vmap_method="sequential")  # noqa: E731
            y, _ = lax.scan(lambda c, a: (call(c * a), None), x[0], x)
            return lax.cond(y > 0, call, lambda a: a, lax.fori_loop(0, 2, lambda i, c: call(c) + i, y))
        near(ricci.from_jax(f, X)(X), f(X))
        near(ricci.from_jax(f, X).vmap(2)(np.stack([X, -X])), jax.vmap(f)(np.stack([X, -X])))

    def test_the_same_function_is_the_same_program(self):
        f = lambda x: jax.pure_callback(host_sine, x, x)  # noqa: E731
        self.assertEqual(ricci.from_jax(f, X).text, ricci.from_jax(f, X).text)
        of_each = lambda g: ricci.from_jax(lambda x: jax.pure_callback(g, x, x), X).text  # noqa: E731
        self.assertEqual(of_each(KEPT.index), of_each(KEPT.index))  # a method is made at each look
        self.assertNotEqual(of_each(lambda a: a), of_each(lambda a: a))

    def test_a_callback_that_runs_programs(self):
        inner = ricci.from_jax(jnp.exp, X)
        f = ricci.from_jax(lambda x: jax.pure_callback(inner, x, x) + 1, X)
        near(f(X), np.exp(X) + 1)


class Raised(unittest.TestCase):
    def test_the_caller_gets_the_very_exception(self):
        error = Failure("no", 3)

        def host(x):
            raise error
        for call in (lambda x: jax.pure_callback(host, x, x), lambda x: io_callback(host, x, x),
                     lambda x: (jax.debug.callback(host, x), x)[1]):
            f = ricci.from_jax(call, X)
            for run in (f, f.jit(device="ref")):
                with self.assertRaises(Failure) as raised:
                    run(X)
                self.assertIs(raised.exception, error)

    def test_interrupts_pass(self):
        def host(x):
            raise KeyboardInterrupt
        with self.assertRaises(KeyboardInterrupt):
            ricci.from_jax(lambda x: jax.pure_callback(host, x, x), X)(X)

    def test_a_call_works_after_one_that_failed(self):
        def host(x):
            if x[0] < 0:
                raise Failure("negative")
            return x
        f = ricci.from_jax(lambda x: jax.pure_callback(host, x, x), X)
        with self.assertRaisesRegex(Failure, "negative"):
            f(-X)
        near(f(X), X)

    def test_through_callbacks_of_callbacks(self):
        def host(x):
            raise Failure("inside")
        inner = ricci.from_jax(lambda x: jax.pure_callback(host, x, x), X)
        with self.assertRaisesRegex(Failure, "inside"):
            ricci.from_jax(lambda x: jax.pure_callback(inner, x, x), X)(X)

    def test_each_thread_gets_its_own(self):
        wrong = []

        def work(k):
            def host(x):
                raise Failure(k)
            f = ricci.from_jax(lambda x: jax.pure_callback(host, x, x), X)
            for _ in range(30):
                try:
                    f(X)
                except Failure as error:
                    wrong.extend([error.args] if error.args != (k,) else [])
        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_wrong_results(self):
        for given, message in (([1, 2], "mismatched number of results: 1 expected, 2 given"),
                               (None, "mismatched number of results: 1 expected, 0 given"),
                               (np.zeros(2), r"result 0 is float32\[2\]; float32\[\] is expected"),
                               (1j, r"result 0 is complex64\[\]; float32\[\] is expected")):
            f = ricci.from_jax(lambda x: jax.pure_callback(lambda _: given, SCALAR, x), X)  # noqa: B023
            with self.assertRaisesRegex(RuntimeError, f"callback .*: {message}"):
                f(X)


class Effects(unittest.TestCase):
    def logged(self, f, *args):
        """What `f` gives and logs in Ricci, compared to JAX."""
        runs = []
        for run in (ricci.from_jax(f, *args), f):
            LOG.clear()
            result = run(*args)
            jax.effects_barrier()
            runs.append((result, [np.asarray(x).tolist() for x in LOG]))
        near(runs[0][0], runs[1][0])
        self.assertEqual(runs[0][1], runs[1][1])
        return runs[0][1]

    def test_ordered_calls(self):
        def f(x):
            io_callback(LOG.append, None, x, ordered=True)

            def step(c, a):
                io_callback(LOG.append, None, c, ordered=True)
                return c + a, None
            return lax.scan(step, x[0], x)[0] + io_callback(lambda a: LOG.append(a) or a, SCALAR, x[1], ordered=True)
        self.assertEqual(len(self.logged(f, X)), 5)

    def test_calls_whose_results_nobody_needs(self):
        def f(x):
            io_callback(lambda a: LOG.append(a) or a, x, x)
            jax.jit(lambda a: io_callback(LOG.append, None, a))(x + 1)
            lax.cond(x[0] > 0, lambda: io_callback(LOG.append, None, x[0]), lambda: None)
            return x
        self.assertEqual(len(self.logged(f, X)), 3)

    def test_batches_and_derivatives(self):
        def of(ordered):
            return lambda x: io_callback(lambda a: LOG.append(a) or a, SCALAR, x, ordered=ordered)
        LOG.clear()
        near(ricci.from_jax(of(False), X[0]).vmap(3)(X), X)
        self.assertEqual([float(x) for x in LOG], X.tolist())
        with self.assertRaisesRegex(ricci.Error, "io_callback: an ordered callback has no order under vmap"):
            ricci.from_jax(of(True), X[0]).vmap(3)(X)
        with self.assertRaisesRegex(ricci.Error, "io_callback: .* has no derivative"):
            ricci.from_jax(of(True), X[0]).grad()

    def test_debug_callbacks(self):
        def f(x):
            jax.debug.callback(lambda a, *, tag: LOG.append(a + len(tag)), x.sum(), tag="four")
            jax.debug.callback(LOG.append, x[0], ordered=True)
            return (x * x).sum()
        self.assertEqual(len(self.logged(f, X)), 2)
        LOG.clear()
        near(ricci.from_jax(f, X).grad()(X), 2 * X)
        self.assertEqual(len(LOG), 2)
        LOG.clear()
        ricci.from_jax(f, X, debug=False)(X)
        self.assertEqual(LOG, [])

    def test_prints(self):
        def f(x):
            jax.debug.print("{} and {x:.3f}, {{}} {t} #", x, x=x[1], t="text", ordered=True)
            return x

        def mapped(x):
            jax.debug.print("one {}", x)
            return x * 2
        for g, jaxs, args in ((ricci.from_jax(f, X), f, (X,)),
                              (ricci.from_jax(mapped, X[0]).vmap(3), jax.vmap(mapped), (X,))):
            printed = []
            for run in (g, jaxs):
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    run(*args)
                    jax.effects_barrier()
                printed.append(out.getvalue())
            self.assertEqual(*printed)
        self.assertEqual(ricci.from_jax(f, X).text, ricci.from_jax(f, X).text)
        self.assertNotIn("debug", ricci.from_jax(f, X, debug=False).text)


    def test_branches_that_only_raise(self):
        def never_returns(_):
            raise Failure("x is negative")

        def checked(x):
            """As equinox.error_if."""
            shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
            return lax.cond((x < 0).any(), lambda: jax.pure_callback(never_returns, shape, x), lambda: x)

        def chosen(x):
            shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
            return lax.cond((x < 0).any(), lambda: jax.pure_callback(host_sine, shape, x), lambda: x)
        with self.assertRaises(Failure):
            ricci.from_jax(checked, X)(X)
        for f in (checked, jax.jit(checked)):
            f = ricci.from_jax(f, X, debug=False)
            self.assertNotIn("callback", f.text)
            near(f(X), X)
        self.assertIn("pure_callback", ricci.from_jax(chosen, X, debug=False).text)


LOG = []  # what callbacks were given


class Names(unittest.TestCase):
    TEXT = ('program f(%x: f32[2]) { %y: f32[2], %n: i32[] = pure_callback(%x) callback="test.twice" '
            'results="f32[2], i32[]" return %y, %n }')

    def test_are_listed_when_a_program_is_saved(self):
        f = ricci.Program.parse(self.TEXT, context=ricci.Context())
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as log:
            path = pathlib.Path(folder, "f.ricci")
            f.save(path)
        self.assertEqual(log.getvalue(), f"save: {path} calls 1 function of the host: test.twice; a context that runs it "
                         "must know them: ricci_context_add_callback, in Python Context.add_callback\n")

    def test_of_a_context(self):
        context = ricci.Context()
        f = ricci.Program.parse(self.TEXT, context=context)
        with self.assertRaisesRegex(ricci.Error, "pure_callback: the context has no callback test.twice"):
            ricci.Executable(f)
        context.add_callback("test.twice", lambda x: (2 * x, np.int32(x.size)))
        y, n = ricci.Executable(f)(X[:2])
        near((y, n), (2 * X[:2], np.int32(2)))
        with self.assertRaisesRegex(ricci.Error, "test.twice exists already"):
            context.add_callback("test.twice", np.sin)
        with self.assertRaisesRegex(TypeError, "add_callback: function is 3; a function is expected"):
            context.add_callback("a", 3)

    def test_saved(self):
        f = ricci.from_jax(lambda x: jax.pure_callback(host_sine, x, x), X)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "f.ricci"
            f.save(path)
            near(ricci.load(path)(X), np.sin(X))
            elsewhere = ricci.Context()  # as in another process
            with self.assertRaisesRegex(ricci.Error, "the context has no callback .*host_sine"):
                ricci.load(path, elsewhere)(X)
            elsewhere.add_callback(f"{__name__}.host_sine", np.cos)
            near(ricci.load(path, elsewhere)(X), np.cos(X))


if __name__ == "__main__":
    unittest.main()
