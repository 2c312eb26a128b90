"""Calls by the extension: they give and raise what those by ctypes do, need no Python code, and keep nothing."""
import collections
import gc
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import tracemalloc
import unittest
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import ricci
import ricci.numpy as rnp
from ricci.calls import native
from ricci.transforms import compiling

HERE = pathlib.Path(__file__).parent
X = np.array([0.5, 1.5, -0.25], np.float32)
Point = collections.namedtuple("Point", "x y")


@ricci.tree.register_node_class
class Box:
    def __init__(self, inside):
        self.inside = inside

    def tree_flatten(self):
        return (self.inside,), "box"

    @classmethod
    def tree_unflatten(cls, data, children):
        return cls(*children)


def outcomes(calls):
    environment = {**os.environ, "RICCI_PYTHON_CALLS": calls}
    done = subprocess.run([sys.executable, HERE / "calling_table.py"], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(done.stderr)
    *lines, counts = done.stdout.splitlines()
    return lines, counts


def counting(test, kind):
    """The number of calls of a class that run Python code from now on, in a list."""
    counts, own = [0], kind._call

    def call(self, arguments, named):
        counts[0] += 1
        return own(self, arguments, named)
    kind._call = call
    test.addCleanup(setattr, kind, "_call", own)
    return counts


class Outcomes(unittest.TestCase):
    def test_the_same_with_and_without_the_extension(self):
        (native, some), (by_ctypes, others) = outcomes(""), outcomes("ctypes")
        self.assertEqual(native, by_ctypes)
        self.assertGreater(len(native), 600)
        self.assertNotEqual(some, others)

    def test_why_there_is_none(self):
        code = "import ricci.calls.native as n; print(n.IS_THERE, n.WHY_NOT)"
        for calls, text in (("", "True None"), ("ctypes", "False RICCI_PYTHON_CALLS=ctypes is set")):
            environment = {**os.environ, "RICCI_PYTHON_CALLS": calls}
            found = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
            self.assertEqual(found.stdout.strip(), text)


class Counts(unittest.TestCase):
    def test_jit(self):
        slow = counting(self, compiling.Jitted)
        leaves = ricci.jit(lambda t: ricci.tree.map(lambda x: x + 1, t))
        many = {f"k{i}": (X, [X, {"a": X, "b": None}]) for i in range(100)}
        arguments = [X, 1, 2.5, 1j, True, np.float64(1), jnp.asarray(X), ricci.asarray(X), Point(X, 1), Box([X]), (), many,
                     collections.OrderedDict(b=X, a=X), X[::-1], X.reshape(1, 3).T]
        for argument in arguments:
            with self.subTest(str(type(argument))):
                leaves(argument)
                before = slow[0]
                for _ in range(3):
                    leaves(argument)
                self.assertEqual(slow[0], before)
        power = ricci.jit(lambda x, n, *, m: x * n * m, static_argnums=1)
        for n in range(20):
            for _ in range(3):
                np.testing.assert_allclose(power(X, n, m=2.0), X * n * 2)
        self.assertEqual(slow[0], len(arguments) - 3 + 20)  # three have the type of X

    def test_imported(self):
        slow = counting(self, ricci.Function)
        tree = {f"k{i}": (X, [X, Point(X, None)]) for i in range(100)}
        f = ricci.from_jax(lambda t, y: jax.tree.map(lambda x: x * y, t), tree, np.float32(1))
        for t in (tree, jax.tree.map(jnp.asarray, tree), jax.tree.map(lambda x: x[::-1], tree)):
            for y in (np.float32(2), 2, 2.0, jnp.float32(2)):
                for a, b in zip(jax.tree.leaves(f(t, y)), jax.tree.leaves(t)):
                    np.testing.assert_array_equal(a, np.asarray(b) * 2)
        self.assertEqual(slow[0], 1)
        key = jax.random.key(3)
        g = ricci.from_jax(lambda k: jax.random.uniform(k), key)
        for _ in range(3):
            self.assertEqual(g(key), jax.random.uniform(key))
        self.assertEqual(slow[0], 2)

    def test_executables(self):
        slow = counting(self, ricci.Executable)
        f = ricci.Executable(ricci.Program.parse("program f(%x: f32[3], %n: i32[]) { return %x, %n }"))
        for n in (3, np.int32(3), np.int64(3), True):
            x, m = f(X, n)
            self.assertEqual((m.dtype, int(m)), (np.int32, int(n)))
        self.assertEqual(slow[0], 0)

    def test_in_traces_and_limits(self):
        slow = counting(self, compiling.Jitted)
        f = ricci.jit(lambda x: x + 1)
        f(X)
        self.assertIn("call", ricci.jit(lambda x: f(X) * x).function(X).text)
        with ricci.limits(timeout=1000):
            f(X)
        with ricci.limits(timeout=0), self.assertRaises(ricci.DeadlineExceeded):
            f(X)
        self.assertEqual(slow[0], 4)
        f(X)
        self.assertEqual(slow[0], 4)


class Kinds(unittest.TestCase):
    def test_those_used_last_are_kept(self):
        self.addCleanup(setattr, compiling, "_KEPT", compiling._KEPT)
        compiling._KEPT = 3
        slow = counting(self, compiling.Jitted)
        f = ricci.jit(lambda x: x + 1)
        for n in range(1, 10):
            f(np.ones(n))
            f(np.ones(1))  # by the extension, from the second time on
            self.assertLessEqual(f.cache_size(), 3)
        self.assertEqual(slow[0], 9)
        f.clear_cache()
        f(np.ones(1))
        self.assertEqual(slow[0], 10)

    def test_more_structures_than_are_compared(self):
        slow = counting(self, compiling.Jitted)
        f = ricci.jit(lambda t: [x + 1 for x in t])
        for _ in range(2):
            for n in range(1, 40):
                self.assertEqual(len(f([X] * n)), n)
        self.assertEqual(slow[0], 78)
        self.assertEqual(f.cache_size(), 39)
        for _ in range(5):
            f([X] * 39)
        self.assertEqual(slow[0], 78)

    def test_equal_values_of_several_types(self):
        f = ricci.jit(lambda x, n: x * n, static_argnums=1)
        for _ in range(2):
            self.assertEqual([f(2, n).dtype for n in (1, 1.0, True)], [np.int32, np.float32, np.int32])

    def test_built_in_nodes_stay(self):
        for kind in (tuple, list, dict, collections.OrderedDict, type(None)):
            with self.assertRaisesRegex(ValueError, f"register_node: {kind.__name__} is registered already"):
                ricci.tree.register_node(kind, None, None)


    def test_a_structure_of_another_process(self):
        made = ricci.tree.structure({"b": X, "a": (X, None)})
        code = ("import pickle, sys, ricci; s = pickle.loads(sys.stdin.buffer.read())\n"
                "print({s: 1}.get(ricci.tree.structure({'a': (1, None), 'b': 2})))")
        hash(made)
        environment = {**os.environ, "PYTHONHASHSEED": "12345"}
        found = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(made), env=environment, capture_output=True)
        self.assertEqual(found.stdout.strip(), b"1", found.stderr)


class Memory(unittest.TestCase):
    def test_nothing_is_kept(self):
        f = ricci.jit(lambda t, n: {"a": t["w"] * n, "b": [t["w"], None]})
        g = ricci.jit(lambda x: ricci.pure_callback(fail, x, x))
        h = ricci.from_jax(lambda x, p: (x, p), X, Point(X, X))
        x, tree = np.ones(300, np.float32), {"w": np.ones(300, np.float32)}
        jx = jnp.asarray(X)

        def all_of_them():
            f(tree, 1.5)
            h(X, Point(jx, X[::-1]))
            for wrong in (lambda: f(tree), lambda: f([X], 1.0), lambda: h(x, x), lambda: h(X, Point(X, "a")),
                          lambda: g(X)):
                with self.assertRaises(Exception):
                    wrong()
        for _ in range(50):
            all_of_them()
        objects = [x, tree, tree["w"], X, jx, x.dtype, Point, None, ricci.tree.structure(tree)]
        gc.collect()
        before = list(map(sys.getrefcount, objects))
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        for _ in range(100):
            all_of_them()
        gc.collect()
        kept = tracemalloc.get_traced_memory()[0]
        for _ in range(400):
            all_of_them()
        gc.collect()
        self.assertLess(tracemalloc.get_traced_memory()[0] - kept, 30000)  # 75 bytes of a call; free lists grow too
        for n, now in zip(before, map(sys.getrefcount, objects)):
            self.assertLess(abs(now - n), 150)

    def test_what_is_compiled_is_freed_without_the_collector(self):
        gc.disable()
        self.addCleanup(gc.enable)
        context = ricci.Context()
        f = ricci.jit(lambda x: x + 1, context=context)
        e = ricci.Executable(f.function(X).program)
        f(X), f(2.0), e(X), e(X)
        gone = weakref.ref(context)
        del context, f, e
        self.assertIsNone(gone())

    def test_a_context_with_programs_is_collected(self):
        context = ricci.Context()
        for _ in range(3):
            ricci.tracing.trace.evaluate(lambda: rnp.add(X, 1), context)
        gone = weakref.ref(context)
        del context
        gc.collect()
        self.assertIsNone(gone())

    def test_a_cycle_is_collected(self):
        f = ricci.jit(lambda x, g: x + 1, static_argnums=1)
        f(X, f), f(X, f)
        gone = weakref.ref(f)
        del f
        gc.collect()
        self.assertIsNone(gone())


def fail(x):
    raise ValueError("no")


class Threads(unittest.TestCase):
    def test_at_once(self):
        f = ricci.jit(lambda t, n: {"y": rnp.cumsum(t["x"]) * n}, static_argnums=1)
        wrong = []

        def work(k):
            for i in range(300):
                n, x = i % 5, np.full(50 + i % 3, k, np.float32)
                if not np.array_equal(f({"x": x}, n)["y"], np.cumsum(x) * n):
                    wrong.append((k, i))
                if k == 0 and i % 50 == 0:
                    f.clear_cache()
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_the_lock_is_free_in_a_run(self):
        entered, left = threading.Event(), threading.Event()

        def wait(x):
            entered.set()
            return x if left.wait(30) else x * 0
        f = ricci.jit(lambda x: ricci.pure_callback(wait, x, x))
        left.set()
        f(X), f(X)
        entered.clear(), left.clear()
        found = []
        thread = threading.Thread(target=lambda: found.append(f(X)))
        thread.start()
        self.assertTrue(entered.wait(30))
        left.set()
        thread.join()
        np.testing.assert_array_equal(found[0], X)


class Raised(unittest.TestCase):
    def test_an_interrupt_is_not_lost(self):
        class Node:
            error = None

            def tree_flatten(self):
                if self.error:
                    raise self.error
                return (X,), None

            @classmethod
            def tree_unflatten(cls, data, children):
                return cls()
        ricci.tree.register_node_class(Node)
        f = ricci.jit(lambda n: ricci.tree.leaves(n))
        node, slow = Node(), counting(self, compiling.Jitted)
        f(node), f(node)
        for error, calls in ((KeyboardInterrupt("now"), 1), (SystemExit(), 1), (ValueError("no"), 2)):
            node.error = error
            with self.assertRaises(type(error)) as raised:
                f(node)
            self.assertIs(raised.exception, error)
            self.assertEqual(slow[0], calls)

    def test_what_a_callback_raises(self):
        error = ValueError("of mine")

        def refuse(x):
            raise error
        f = ricci.jit(lambda x, y: ricci.pure_callback(refuse if y is None else (lambda v: v), x, x), static_argnums=1)
        for _ in range(3):
            with self.assertRaises(ValueError) as raised:
                f(X, None)
            self.assertIs(raised.exception, error)

    def test_a_result_that_cannot_be_made(self):
        class Picky:
            def __init__(self, x):
                self.x = x

            def tree_flatten(self):
                return (self.x,), None

            @classmethod
            def tree_unflatten(cls, data, children):
                if isinstance(children[0], np.ndarray) and children[0][0] < 0:
                    raise ValueError("negative")
                return cls(children[0])
        ricci.tree.register_node_class(Picky)
        f = ricci.jit(lambda x: Picky(x + 0))
        f(X), f(X)
        for _ in range(2):
            with self.assertRaisesRegex(ValueError, "negative"):
                f(-X)


if __name__ == "__main__":
    unittest.main()
