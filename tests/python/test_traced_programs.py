"""Programs written with ricci.numpy next to the same ones with jax.numpy: values, gradients, batches, loops, trees."""
import collections
import copy
import dataclasses
import operator
import pickle
import threading
import unittest

import jax
import jax.numpy as jnp
import numpy as np
import ricci
import ricci.numpy as rnp

Point = collections.namedtuple("Point", "x y")
OURS, JAX = (ricci, rnp, ricci), (jax, jnp, jax.lax)  # transformations, namespace, loops


def runge_kutta(api):
    """The last point of a pendulum, by its first one and the length of a step."""
    _, np_like, lax = api

    def slope(state):
        angle, speed = state
        return np_like.stack([speed, -np_like.sin(angle)])

    def run(start, step):
        def advance(state, _):
            k1 = slope(state)
            k2 = slope(state + step / 2 * k1)
            k3 = slope(state + step / 2 * k2)
            k4 = slope(state + step * k3)
            state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            return state, state[0]
        last, path = lax.scan(advance, start, None, length=20)
        return np_like.sum(last ** 2) + np_like.mean(path)
    return run


def training(api):
    """The parameters of a network of two layers after some steps of gradient descent."""
    transforms, np_like, lax = api

    def loss(params, x, y):
        for w, b in params[:-1]:
            x = np_like.tanh(x @ w + b)
        w, b = params[-1]
        return np_like.mean((x @ w + b - y) ** 2)

    def run(params, x, y):
        def step(params, _):
            value, slope = transforms.value_and_grad(loss)(params, x, y)
            tree_map = ricci.tree.map if api is OURS else jax.tree.map
            return tree_map(lambda p, g: p - 0.1 * g, params, slope), value
        return lax.scan(step, params, None, length=8)
    return run


def recurrent(api):
    """The loss of a recurrent network over a sequence."""
    transforms, np_like, lax = api

    def run(params, xs):
        def cell(h, x):
            h = np_like.tanh(params["w"] @ h + params["u"] @ x)
            return h, np_like.dot(params["v"], h)
        body = transforms.checkpoint(cell)
        last, out = lax.scan(body, np_like.zeros(3), xs)
        return np_like.sum(out ** 2) + np_like.sum(last)
    return run


def newton(api):
    """The root of x^3 = a by Newton's method, until it no longer moves."""
    _, np_like, lax = api

    def run(a):
        def goes_on(state):
            x, last, n = state
            return (np_like.abs(x - last) > 1e-6) & (n < 30)

        def step(state):
            x, _, n = state
            return x - (x ** 3 - a) / (3 * x ** 2), x, n + 1
        return lax.while_loop(goes_on, step, (a, a + 1.0, 0))[0]
    return run


def walk(api):
    """A random walk whose steps depend on where it is."""
    _, np_like, lax = api
    random = ricci.random if api is OURS else jax.random

    def run(key, scale):
        def step(i, state):
            key, x = state
            key, own = random.split(key)
            jump = random.normal(own, (2,)) * scale
            x = lax.cond(x[0] > 0, lambda x: x - np_like.abs(jump), lambda x: x + jump * i, x)
            return key, x
        return lax.fori_loop(0, 6, step, (key, np_like.zeros(2)))[1]
    return run


class Programs(unittest.TestCase):
    def setUp(self):
        self.draws = np.random.default_rng(1)

    def floats(self, *shape):
        return self.draws.standard_normal(shape).astype(np.float32)

    def agree(self, ours, theirs, rtol=1e-4, atol=1e-5):
        ours, theirs = jax.tree_util.tree_flatten(ours), jax.tree_util.tree_flatten(theirs)
        self.assertEqual(ours[1], theirs[1])
        for a, b in zip(ours[0], theirs[0]):
            self.assertEqual(np.asarray(a).dtype, b.dtype)
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)

    def test_runge_kutta(self):
        starts, step = self.floats(5, 2), np.float32(0.1)
        for transform in (lambda t, f: t.value_and_grad(f, (0, 1)), lambda t, f: t.hessian(f),
                          lambda t, f: t.jacfwd(f, 1)):
            ours = ricci.jit(ricci.vmap(transform(ricci, runge_kutta(OURS)), in_axes=(0, None)))(starts, step)
            self.agree(ours, jax.vmap(transform(jax, runge_kutta(JAX)), in_axes=(0, None))(starts, step))

    def test_training(self):
        params = [(self.floats(3, 4), self.floats(4)), (self.floats(4, 2), self.floats(2))]
        x, y = self.floats(6, 3), self.floats(6, 2)
        self.agree(ricci.jit(training(OURS))(params, x, y), jax.jit(training(JAX))(params, x, y))

    def test_recurrent(self):
        params = {"w": self.floats(3, 3), "u": self.floats(3, 2), "v": self.floats(3)}
        xs = self.floats(4, 7, 2)
        ours = ricci.jit(ricci.vmap(ricci.grad(recurrent(OURS)), in_axes=(None, 0)))(params, xs)
        self.agree(ours, jax.jit(jax.vmap(jax.grad(recurrent(JAX)), in_axes=(None, 0)))(params, xs))

    def test_newton(self):
        a = np.array([0.5, 1.0, 8.0, 27.0], np.float32)
        ours = ricci.jit(ricci.vmap(lambda a: ricci.jvp(newton(OURS), (a,), (np.float32(1),))))(a)
        self.agree(ours, jax.vmap(lambda a: jax.jvp(newton(JAX), (a,), (jnp.float32(1),)))(a))

        def bounded(a):
            return ricci.while_loop(lambda s: s[1] < 10, lambda s: (s[0] - (s[0] ** 3 - a) / (3 * s[0] ** 2), s[1] + 1),
                                    (a, 0), max_trips=12)[0]
        self.agree(ricci.grad(bounded)(np.float32(8)), np.float32(1 / 12))

    def test_walk(self):
        keys = np.asarray(jax.random.split(jax.random.PRNGKey(3), 4))
        ours = ricci.jit(ricci.vmap(walk(OURS), in_axes=(0, None)))(keys, np.float32(0.5))
        self.agree(ours, jax.vmap(walk(JAX), in_axes=(0, None))(keys, jnp.float32(0.5)))
        slope = ricci.jacrev(walk(OURS), 1)(keys[0], np.float32(0.5))
        self.agree(slope, jax.jacrev(walk(JAX), 1)(keys[0], jnp.float32(0.5)))


class Transformations(unittest.TestCase):
    def test_without_jit(self):
        x = np.array([1.0, 2.0], np.float32)
        f = lambda x, y: rnp.sum(x ** 3 * y)  # noqa: E731
        np.testing.assert_allclose(ricci.grad(f)(x, 2.0), 6 * x ** 2)
        value, slopes = ricci.value_and_grad(f, (0, 1))(x, np.float32(2))
        self.assertEqual((value, float(slopes[1])), (18.0, 9.0))
        value, pull = ricci.vjp(f, x, np.float32(2))
        for _ in range(2):
            np.testing.assert_allclose(pull(np.float32(1))[0], 6 * x ** 2)
        value, moved = ricci.jvp(f, (x, np.float32(2)), (np.ones_like(x), np.float32(0)))
        self.assertEqual(moved, 30.0)
        np.testing.assert_allclose(ricci.hessian(f)(x, 1.0), np.diag(6 * x))
        np.testing.assert_allclose(ricci.jacfwd(lambda x: x * x)(x), np.diag(2 * x))

    def test_auxiliary_values(self):
        f = lambda x: (x ** 2, {"twice": 2 * x, "n": 3})  # noqa: E731
        slope, aux = ricci.grad(f, has_aux=True)(3.0)
        self.assertEqual((slope, aux["twice"], aux["n"]), (6.0, 6.0, 3))
        (value, aux), slope = ricci.value_and_grad(f, has_aux=True)(3.0)
        self.assertEqual((value, aux["twice"], slope), (9.0, 6.0, 6.0))
        value, pull, aux = ricci.vjp(f, 3.0, has_aux=True)
        self.assertEqual((value, pull(1.0), aux["twice"]), (9.0, (6.0,), 6.0))
        value, moved, aux = ricci.jvp(f, (3.0,), (2.0,), has_aux=True)
        self.assertEqual((value, moved, aux["twice"]), (9.0, 12.0, 6.0))

    def test_auxiliary_values_of_jacobians(self):
        x = np.array([0.5, 2.0], np.float32)
        f = lambda x: (x ** 3, {"twice": 2 * x, "n": 3})  # noqa: E731
        for jacobian in (ricci.jacfwd, ricci.jacrev, lambda f, **how: ricci.jit(ricci.jacrev(f, **how))):
            found, aux = jacobian(f, has_aux=True)(x)
            np.testing.assert_allclose(found, np.diag(3 * x ** 2))
            np.testing.assert_array_equal(aux["twice"], 2 * x)
            self.assertEqual(aux["n"], 3)
        found, aux = ricci.hessian(lambda x: (rnp.sum(x ** 3), x), has_aux=True)(x)
        np.testing.assert_allclose(found, np.diag(6 * x))
        np.testing.assert_array_equal(aux, x)
        with self.assertRaisesRegex(TypeError, "jacrev: has_aux=True needs a function that returns"):
            ricci.jacrev(rnp.sin, has_aux=True)(x)

    def test_nesting_and_captures(self):
        @ricci.jit
        def outer(x, k):
            inner = ricci.jit(lambda y: rnp.sin(y) * k)  # uses a value of the function around it
            return ricci.grad(lambda z: inner(z) * x)(x) + ricci.vmap(inner)(rnp.stack([x, k])).sum()
        x, k = np.float32(0.5), np.float32(2)
        self.assertAlmostEqual(float(outer(x, k)), np.cos(.5) * 2 * .5 + 2 * (np.sin(.5) + np.sin(2)), places=5)

    def test_arrays_that_change_while_a_function_is_traced(self):
        """What counts is what a buffer of NumPy holds when it is used, in programs that run at once and in others."""
        def f(x):
            buffer, sums = np.zeros(x.shape, np.float32), []
            for i in range(3):
                buffer[...] = i
                sums.append(x * buffer)
            return rnp.sum(sums[0] + 10 * sums[1] + 100 * sums[2] + 1000 * (x * buffer))
        for n in (2, 100):
            x = np.ones(n, np.float32)
            sums = ricci.jit(f)(x), ricci.checkpoint(f)(x), ricci.vjp(f, x)[0], ricci.vmap(f)(x[None])[0]
            self.assertEqual(list(map(float, sums)), [2210 * n] * 4)
            for slope in (ricci.grad(f)(x), ricci.jit(ricci.grad(f))(x), ricci.vmap(ricci.grad(f))(x[None])[0]):
                np.testing.assert_array_equal(slope, 2210 * x)

    def test_integers_have_no_derivative(self):
        f = lambda x, n: (x * n, n + 1)  # noqa: E731
        (value, n), moved = ricci.jvp(f, (2.0, 3), (1.0, None))
        self.assertEqual((value, n, moved), (6.0, 4, (3.0, None)))
        _, pull = ricci.vjp(f, 2.0, 3)
        self.assertEqual(pull((1.0, None)), (3.0, None))

    def test_batches(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        f = ricci.vmap(lambda a, b: {"s": a + b["k"], "k": b["k"]}, in_axes=(1, {"k": None}), out_axes={"s": 1, "k": None})
        found = f(x, {"k": np.float32(1)})
        np.testing.assert_array_equal(found["s"], x + 1)
        self.assertEqual(found["k"], 1)
        np.testing.assert_array_equal(ricci.vmap(lambda: rnp.ones(2), axis_size=3)(), np.ones((3, 2)))
        for schedule in ("batched", "lanes"):
            np.testing.assert_array_equal(ricci.vmap(rnp.sum, schedule=schedule)(x), x.sum(1))

    def test_switch_and_cond(self):
        branches = [lambda x: x, lambda x: x * 2, lambda x: 0.0]
        f = ricci.jit(lambda i, x: ricci.switch(i, branches, x))
        self.assertEqual([float(f(np.int32(i), np.float32(3))) for i in (-1, 1, 2, 9)], [3, 6, 0, 0])
        g = ricci.grad(lambda x: ricci.cond(x > 1, lambda: x ** 2, lambda: -x))
        self.assertEqual((g(3.0), g(0.5)), (6.0, -1.0))

    def test_numbers_in_carries(self):
        """A number of Python takes the type that the body gives it."""
        x = np.ones(3, np.float16)
        total, ys = ricci.jit(lambda x: ricci.scan(lambda c, x: (c + x, c), 0, x))(x)
        self.assertEqual((total.dtype, ys.dtype, float(total)), (np.float16, np.float16, 3))
        last = ricci.while_loop(lambda c: c < 3.5, lambda c: c + np.float64(1), 0)
        self.assertEqual((last.dtype, last), (np.float64, 4))
        self.assertEqual(ricci.jit(lambda n: ricci.fori_loop(0, n, lambda i, s: s + i, 0))(5), 10)
        for n in (np.int64(3), np.int32(3), 3):  # known, so that there is a reverse mode
            self.assertEqual(ricci.grad(lambda x: ricci.fori_loop(np.uint8(0), n, lambda i, s: s * x, x))(2.0), 32)  # noqa: B023

    def test_numbers_stay_weak(self):
        """As in JAX: through calls, but not where a type is asked for."""
        h = np.ones(2, np.float16)
        same, wide = ricci.jit(lambda x: x * 2 + 1), ricci.jit(lambda x: rnp.astype(x, np.float64))
        cases = [lambda np_like, t: t.jit(lambda x: x * 2 + 1)(2.0) * h, lambda np_like, t: np_like.sin(1.0) * h,
                 lambda np_like, t: t.jit(lambda x: np_like.astype(x, np.float32))(2.0) * h,
                 lambda np_like, t: t.random.normal(t.random.PRNGKey(0)) * h]
        for case in cases:
            ours = ricci.jit(lambda: case(rnp, ricci))()  # noqa: B023
            self.assertEqual(ours.dtype, jax.jit(lambda: case(jnp, jax))().dtype)  # noqa: B023
        self.assertEqual(ricci.jit(lambda: same(2.0) * h + wide(1.0))().dtype, np.float64)
        self.assertEqual(ricci.jit(lambda x: x * h, device="ref")(2.0).dtype, np.float16)

    def test_checkpoint(self):
        f = lambda x: rnp.sum(rnp.sin(rnp.sin(x)))  # noqa: E731
        x = np.arange(3, dtype=np.float32)
        for policy in ("", "dots", "names:a"):
            g = ricci.checkpoint(f, policy=policy)
            np.testing.assert_allclose(ricci.grad(g)(x), ricci.grad(f)(x), rtol=1e-6)
            self.assertIn("checkpoint", ricci.jit(g).lower(x).text)

    def test_imported_functions(self):
        """A JAX function in a function of ours, with its derivatives."""
        imported = ricci.from_jax(lambda p: {"y": jnp.sin(p["x"]) * p["k"]}, {"x": np.ones(2, np.float32), "k": np.float32(1)})

        @ricci.jit
        def f(x):
            return rnp.sum(imported({"x": x * x, "k": 3.0})["y"])
        x = np.array([0.5, 1.5], np.float32)
        self.assertAlmostEqual(float(f(x)), float(np.sum(3 * np.sin(x * x))), places=5)
        np.testing.assert_allclose(ricci.grad(f)(x), 6 * x * np.cos(x * x), rtol=1e-5)
        mapped = ricci.vmap(lambda x: imported({"x": x, "k": np.float32(1)})["y"])(np.stack([x, x]))
        np.testing.assert_allclose(mapped, np.sin(np.stack([x, x])), rtol=1e-6)
        with self.assertRaisesRegex(TypeError, r"argument 0\['k'\] is f32\[2\], the program takes f32\[\]"):
            ricci.jit(lambda x: imported({"x": x, "k": x}))(x)


@ricci.jit
def thrice(x):
    return 3 * x


class Copies(unittest.TestCase):
    """What can be pickled and copied, and what says why not."""

    def test_functions(self):
        self.assertIs(pickle.loads(pickle.dumps(thrice)), thrice)
        again = pickle.loads(pickle.dumps(ricci.jit(operator.add, static_argnums=1)))
        self.assertEqual(again(2.0, 3), 5)
        self.assertEqual(copy.deepcopy(ricci.jit(lambda x: x + 1))(1.0), 2)
        made = thrice.function(1.0)
        self.assertEqual((pickle.loads(pickle.dumps(made))(2.0), copy.deepcopy(made)(2.0)), (6, 6))

    def test_what_has_no_copies(self):
        made = thrice.function(1.0)
        for thing, text in ((ricci.default_context(), "a Context cannot be pickled or copied; make another one"),
                            (made.executable, "an Executable cannot be pickled or copied; pickle its Program"),
                            (ricci.asarray(np.ones(2)), r"an Array cannot be pickled or copied; pickle numpy.asarray\(x\)")):
            for duplicate in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, text):
                    duplicate(thing)
        with self.assertRaisesRegex(TypeError, r"Value\(f32\[\]\) cannot be pickled or copied: it has no elements yet"):
            ricci.jit(copy.deepcopy)(1.0)


class CustomRules(unittest.TestCase):
    def test_forward(self):
        @ricci.custom_jvp
        def f(x, y):
            return rnp.sin(x) * y

        @f.defjvp
        def rule(primals, tangents):
            (x, y), (dx, dy) = primals, tangents
            return f(x, y), 10 * rnp.cos(x) * y * dx + rnp.sin(x) * dy
        x = np.float32(0.5)
        self.assertAlmostEqual(float(ricci.grad(f)(x, 2.0)), 20 * np.cos(0.5), places=4)
        self.assertAlmostEqual(float(ricci.grad(ricci.grad(f))(x, 2.0)), -20 * np.sin(0.5), places=4)
        np.testing.assert_allclose(ricci.vmap(ricci.grad(f))(np.stack([x, x]), np.ones(2, np.float32)), 10 * np.cos([.5, .5]),
                                   rtol=1e-5)

    def test_forward_by_argument(self):
        @ricci.custom_jvp
        def f(x, y):
            return x * y
        f.defjvps(lambda t, out, x, y: 7 * t, None)
        self.assertEqual(ricci.grad(f, (0, 1))(2.0, 3.0), (7.0, 0.0))

    def test_reverse(self):
        @ricci.custom_vjp
        def f(x, n):
            return x["a"] ** 2 * n

        f.defvjp(lambda x, n: (f(x, n), (x, n)), lambda res, ct: ({"a": 100 * ct * res[1]}, None))
        g = ricci.jit(ricci.grad(lambda x: f(x, 3)))
        self.assertEqual(g({"a": np.float32(2)})["a"], 300)
        self.assertEqual(f({"a": np.float32(2)}, 3), 12)

    def test_arguments_that_are_no_data(self):
        def applied(f, x):
            return f(x)
        own = ricci.custom_vjp(applied, nondiff_argnums=(0,))
        own.defvjp(lambda f, x: (f(x), x), lambda f, x, ct: (ct * 5,))
        self.assertEqual(ricci.grad(lambda x: own(rnp.exp, x))(1.0), 5)

    def test_clipped_gradient_uses_integers_from_around(self):
        @ricci.jit
        def f(x, n):
            @ricci.custom_vjp
            def own(x):
                return x * n
            own.defvjp(lambda x: (x * n, None), lambda _, ct: (ct * (n + 1),))
            return ricci.grad(own)(x)
        self.assertEqual(f(1.0, 4), 5)


@ricci.tree.register_node_class
class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def tree_flatten(self):
        return (self.a,), self.b

    @classmethod
    def tree_unflatten(cls, b, children):
        return cls(*children, b)


@dataclasses.dataclass
class Layer:
    weight: object
    name: str


ricci.tree.register_dataclass(Layer, meta_fields=("name",))


class Trees(unittest.TestCase):
    def test_structures(self):
        tree = {"b": [1, (2, None)], "a": Point(3, collections.OrderedDict(z=4, y=5)), "c": Pair(6, "s"), "d": Layer(7, "n")}
        leaves, structure = ricci.tree.flatten(tree)
        self.assertEqual(leaves, [3, 4, 5, 1, 2, 6, 7])
        again = ricci.tree.unflatten(structure, [2 * x for x in leaves])
        self.assertEqual((again["a"].y["z"], again["b"][1], again["c"].a, again["c"].b), (8, (4, None), 12, "s"))
        self.assertEqual(again["d"], Layer(14, "n"))
        self.assertEqual(ricci.tree.map(lambda x, y: x + y, tree, again)["b"], [3, (6, None)])
        self.assertEqual([p for p, _ in ricci.tree.leaves_with_path(tree)],
                         ["['a'].x", "['a'].y['z']", "['a'].y['y']", "['b'][0]", "['b'][1][0]", "['c'][0]", "['d'].weight"])
        self.assertEqual(ricci.tree.reduce(lambda a, b: a + b, tree), 28)
        self.assertEqual(hash(structure), hash(ricci.tree.structure(again)))
        outer, inner = ricci.tree.structure([0, 0]), ricci.tree.structure({"a": 0})
        self.assertEqual(ricci.tree.transpose(outer, inner, [{"a": 1}, {"a": 2}]), {"a": [1, 2]})

    def test_through_transformations(self):
        layer = Layer(np.float32(3), "own")
        slope = ricci.grad(lambda l, p: l.weight ** 2 * p.x)(layer, Point(2.0, None))  # noqa: E741
        self.assertEqual(slope, Layer(12.0, "own"))
        self.assertEqual(ricci.jit(lambda p: Pair(p.a * 2, p.b))(Pair(np.float32(2), "k")).b, "k")
        self.assertEqual(ricci.jit(lambda x: (None, [], {"x": x}))(1.0), (None, [], {"x": 1.0}))

    def test_wrong_structures(self):
        with self.assertRaisesRegex(TypeError, r"the structure \[\*, \*\] is expected, \[\*\] is given"):
            ricci.tree.map(lambda x, y: x, [1, 2], [1])
        with self.assertRaisesRegex(TypeError, "have no order"):
            ricci.tree.leaves({1: 2, "a": 3})
        with self.assertRaisesRegex(ValueError, "Pair is registered already"):
            ricci.tree.register_node(Pair, None, None)


class Caching(unittest.TestCase):
    def test_kinds_of_call(self):
        traced = []

        @ricci.jit
        def f(tree, k=1):
            traced.append(1)
            return tree["x"] * k
        x = np.ones(3, np.float32)
        for call in (lambda: f({"x": x}), lambda: f({"x": x + 1}), lambda: f({"x": x}, 2.0), lambda: f({"x": x}, 3.0),
                     lambda: f({"x": x[:2]}), lambda: f({"x": x.astype(np.float64)}), lambda: f({"x": x})):
            call()
        self.assertEqual((len(traced), f.cache_size()), (4, 4))
        f.clear_cache()
        f({"x": x})
        self.assertEqual(len(traced), 5)

    def test_static_arguments(self):
        traced = []

        def f(x, n, mode="a"):
            traced.append((n, mode))
            return sum(x for _ in range(n)) if mode == "a" else x
        g = ricci.jit(f, static_argnums=1, static_argnames="mode")
        self.assertEqual([g(2.0, 3), g(2.0, n=3), g(2.0, 3), g(2.0, 2), g(5.0, 2, "b")], [6, 6, 6, 4, 5])
        self.assertEqual(traced, [(3, "a"), (3, "a"), (2, "a"), (2, "b")])
        with self.assertRaisesRegex(TypeError, "the static argument 1 is of type list, which has no hash"):
            g(2.0, [1])

    def test_without_jit_equal_work_is_compiled_once(self):
        kept = ricci.default_context().executables
        x = np.arange(11, dtype=np.float32)
        before = len(kept)
        for k in range(4):
            np.testing.assert_allclose(rnp.cosh(x + k), np.cosh(x + k), rtol=1e-5)
        self.assertEqual(len(kept), before + 1)

    def test_without_jit_other_numbers_run_the_same_program(self):
        x, key = np.arange(12, dtype=np.float32), ricci.random.key(3)
        cases = {
            "multiply": lambda i: rnp.multiply(x, float(i)),
            "add": lambda i: rnp.add(i, x),
            "power": lambda i: rnp.power(x, 0.5 * i),
            "clip": lambda i: rnp.clip(x, -i, max=0.5 * i),
            "where": lambda i: rnp.where(x > 3, x, 1.5 * i),
            "full": lambda i: rnp.full((3,), i),
            "full_like": lambda i: rnp.full_like(x, fill_value=0.5 * i),
            "linspace": lambda i: rnp.linspace(0.5 * i, 2 * i, 5),
            "complex": lambda i: rnp.multiply(x, complex(1, i)),
            "fold_in": lambda i: ricci.random.fold_in(key, i),
            "uniform": lambda i: ricci.random.uniform(key, (3,), minval=-i, maxval=2 * i),
            "at, set": lambda i: rnp.at(x)[i].set(0.5 * i),
            "at, add": lambda i: rnp.at(x)[i, None].add(i),
            "at, of an array": lambda i: rnp.at(x)[np.array([i, 0])].multiply(0.5 * i),
            "bind": lambda i: ricci.bind("mul", x[0], 0.5 * i),
            "scan": lambda i: ricci.scan(lambda c, v: (c + v, c), 0.5 * i, x)[0],
            "while_loop": lambda i: ricci.while_loop(lambda c: c[0] < 100, lambda c: (c[0] * 2, c[1]), (1.5 * i, i))[0],
            "cond": lambda i: ricci.cond(True, lambda v: v * 2, lambda v: v, 0.5 * i),
            "vmap": lambda i: ricci.vmap(lambda v, k: v * k, in_axes=(0, None))(x, 0.5 * i),
            "grad": lambda i: ricci.grad(lambda v: v ** 3)(0.5 * i),
            "jvp": lambda i: ricci.jvp(lambda v: v ** 3, (0.5 * i,), (1.0 * i,))[1],
            "vjp": lambda i: ricci.vjp(lambda v: v ** 3, 0.5 * i)[1](1.5 * i)[0],
        }
        kept = ricci.default_context().executables
        for name, run in cases.items():
            run(1)
            before = list(kept)
            for i in range(2, 6):
                run(i)
            self.assertEqual([p for p in kept if p not in before], [], name)

    def test_without_jit_numbers_stay_weak(self):
        for dtype in (np.float16, np.int8, np.uint32, np.float64, np.bool_):
            x = np.ones(3, dtype)
            for number in (2, 2.5, 2j):
                self.assertEqual(rnp.multiply(x, number).dtype, ricci.jit(lambda v: v * number)(x).dtype, (dtype, number))
        self.assertEqual(rnp.multiply(2, 3).dtype, np.int32)
        with self.assertRaisesRegex(OverflowError, "the integer 3000000000 does not fit i8"):
            rnp.add(np.ones(2, np.int8), 3_000_000_000)
        self.assertEqual(rnp.add(np.full(2, 100, np.int8), 300)[0], -112)

    def test_many_threads(self):
        f, wrong = ricci.jit(lambda x: ricci.grad(lambda y: rnp.sum(y ** 3))(x)), []

        def work(n):
            x = np.arange(n, dtype=np.float32)
            for _ in range(20):
                if not np.allclose(f(x), 3 * x ** 2):
                    wrong.append(n)
        threads = [threading.Thread(target=work, args=(n,)) for n in (3, 3, 4, 5)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual((wrong, f.cache_size()), ([], 3))

    def test_donated_arguments(self):
        f = ricci.jit(lambda p, x: {"w": p["w"] + x}, donate_argnums=0)
        w = np.ones(4, np.float32)
        found = f({"w": w}, np.float32(1))["w"]
        self.assertTrue(np.shares_memory(found, w))
        np.testing.assert_array_equal(found, 2)

    def test_methods_and_shapes(self):
        class Model:
            def __init__(self, k):
                self.k = k

            @ricci.jit
            def scaled(self, x):
                return x * 2
        ricci.tree.register_node(Model, lambda m: ((m.k,), None), lambda _, c: Model(*c))
        self.assertEqual(Model(1.0).scaled(3.0), 6)
        shape = ricci.eval_shape(lambda x: {"y": x @ x.T}, ricci.ShapeDtypeStruct((2, 3), "float32"))
        self.assertEqual(shape, {"y": ricci.ShapeDtypeStruct((2, 2), np.float32)})

    def test_the_function_of_a_call(self):
        f = ricci.jit(lambda x, k: {"y": rnp.sin(x) * k}, static_argnums=1)
        own = f.function(np.ones(2, np.float32), 3)
        np.testing.assert_allclose(own(np.ones(2, np.float32))["y"], 3 * np.sin([1, 1]), rtol=1e-6)
        self.assertIn("sin", own.text)
        self.assertIn("test_traced_programs.py", ricci.jit(lambda x: x + x).function(1.0).executable.dump("program") + __file__)


if __name__ == "__main__":
    unittest.main()
