"""What an imported function is: its structure, trees, keys, custom rules, transformations and refusals."""
import copy
import os
import pathlib
import pickle
import tempfile
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
from jax import lax  # noqa: E402

X = np.array([0.5, 1.5, -0.25], np.float32)


def near(ours, theirs, tolerance=1e-5):
    assert jax.tree_util.tree_structure(ours) == jax.tree_util.tree_structure(theirs)
    for a, b in zip(jax.tree_util.tree_leaves(ours), jax.tree_util.tree_leaves(theirs)):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


class Structure(unittest.TestCase):
    def test_loops_branches_and_calls_stay(self):
        def f(x):
            y, _ = lax.scan(lambda c, a: (c * a, c), x[0], x)
            y = lax.while_loop(lambda c: c < 9, lambda c: c * 2 + 1, y)
            y = lax.cond(y > 1, jnp.sin, jnp.cos, y)
            y = jax.jit(lambda z: jnp.sinh(z))(y)
            return jax.checkpoint(jnp.tanh, policy=jax.checkpoint_policies.dots_saveable)(y)
        text = ricci.from_jax(f, X).text
        for word in (" scan(", " while(", " cond(", " checkpoint(", " call(", 'policy="dots"'):
            self.assertIn(word, text)

    def test_a_scalar_is_broadcast_once(self):
        text = ricci.from_jax(lambda x, k: x * k + k, X, np.float32(2)).text
        self.assertEqual(text.count("broadcast_in_dim"), 1)

    def test_a_large_constant_is_there_once(self):
        large = jnp.arange(5000.0)
        text = ricci.from_jax(lambda x: (x * large).sum() + (large[:3] * x[:3]).sum(), large).text
        self.assertEqual(text.count("f32[5000] = constant"), 1)

    def test_dead_code_goes(self):
        self.assertNotIn("sin", ricci.from_jax(lambda x: (jnp.sin(x), x)[1], X).text)

    def test_x64_follows_the_jaxpr(self):
        with jax.enable_x64(True):
            f = ricci.from_jax(lambda x: x * 2, np.ones(2))
            self.assertEqual(f(np.ones(2)).dtype, np.float64)
            which = lambda x: jnp.select([x > 1, x > 0], [x * 2, x * 3], 0.0)  # noqa: E731  by an i64
            near(ricci.from_jax(which, X.astype(np.float64))(X), which(X.astype(np.float64)))

    def test_presets_of_products(self):
        y = np.array([[1 / 3, 1], [2 / 3, -1], [1 / 7, 2]], np.float32)
        for preset in (lax.DotAlgorithmPreset.F16_F16_F16, lax.DotAlgorithmPreset.BF16_BF16_F32):
            f = lambda a, b, p=preset: lax.dot(a, b, precision=p)
            g = ricci.from_jax(f, X, y)
            self.assertIn(f'precision="{preset.name}"', g.text)
            near(g(X, y), f(X, y), 1e-3)
        self.assertNotIn("precision", ricci.from_jax(lambda a, b: lax.dot(a, b, precision="highest"), X, y).text)
        # JAX has no tf32 on CPU.
        g = ricci.from_jax(lambda a, b: lax.dot(a, b, precision=lax.DotAlgorithmPreset.TF32_TF32_F32), X, y)
        self.assertIn('precision="TF32_TF32_F32"', g.text)
        near(g(X, y), X @ y, 1e-3)

    def test_algorithms_of_products(self):
        y = np.array([[1 / 3, 1], [2 / 3, -1], [1 / 7, 2]], np.float32)
        for dtypes, name in (((jnp.bfloat16, jnp.bfloat16, np.float32), "BF16_BF16_F32"),
                             ((np.float16, np.float16, np.float16), "F16_F16_F16")):
            f = lambda a, b, d=dtypes: lax.dot(a, b, precision=lax.DotAlgorithm(*d))
            preset = lambda a, b, n=name: lax.dot(a, b, precision=n)
            g = ricci.from_jax(f, X, y)
            self.assertIn(f'precision="{name}"', g.text)
            near(g(X, y), preset(X, y), 1e-3)
        for other in (lax.DotAlgorithm(np.float16, np.float16, np.float32),
                      lax.DotAlgorithm(jnp.bfloat16, jnp.bfloat16, np.float32, 1, 1, 3)):
            with self.assertRaisesRegex(ricci.Error, "precision DotAlgorithm.* is none of F16_F16_F16, F32_F32_F32"):
                ricci.from_jax(lambda a, b: lax.dot(a, b, precision=other), X, y)

    def test_functions_of_elements_at_places(self):
        x = np.linspace(0.5, 2.5, 12, dtype=np.float32).reshape(3, 4)
        for f in (lambda v: v.at[1].apply(jnp.sin),
                  lambda v: v.at[jnp.array([0, 2]), jnp.array([1, 3])].apply(lambda e: e * 1.5, unique_indices=True),
                  lambda v: v.at[jnp.array([0, 2, 0, 0]), jnp.array([1, 3, 1, 9])].apply(jnp.exp),
                  lambda v: v.at[jnp.array([5, 1, 5])].apply(jnp.cos, mode="clip"),
                  lambda v: v.at[:, 1::2].apply(jnp.log), lambda v: v.at[:0].apply(jnp.log),
                  lambda v: v.at[1].apply(lambda e: e), lambda v: v.at[2].apply(lambda e: jnp.float32(7))):
            near(ricci.from_jax(f, x)(x), f(jnp.asarray(x)))
        integers = np.arange(5, dtype=np.int32)
        double = lambda v: v.at[jnp.array([3, 3, 0, 3])].apply(lambda e: 2 * e + 1)
        near(ricci.from_jax(double, integers)(integers), double(jnp.asarray(integers)))
        # JAX has no derivative of it.
        sine = ricci.from_jax(lambda v: v.at[1].apply(jnp.sin).sum(), x)
        near(sine.grad()(x), np.where(np.arange(3)[:, None] == 1, np.cos(x), 1))

    def test_floats_of_eight_and_four_bits(self):
        x = np.linspace(-7, 7, 15, dtype=np.float32)
        for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float4_e2m1fn):
            f = lambda v, d=dtype: (v * v.astype(d).astype(jnp.float32), (v / 2).astype(d))
            g = ricci.from_jax(f, x)
            for ours, theirs in zip(g(x), f(x)):
                self.assertEqual(ours.dtype, theirs.dtype)
                np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
        grad = jax.grad(lambda v: (v.astype(jnp.float8_e5m2).astype(jnp.float32) ** 2).sum())
        np.testing.assert_array_equal(ricci.from_jax(grad, x)(x), grad(x))


class Trees(unittest.TestCase):
    def test_arguments_results_and_gradients(self):
        def loss(params, batch, *, scale):
            out = jnp.tanh(batch["x"] @ params["w"] + params["b"])
            return scale * ((out - batch["y"]) ** 2).mean(), {"out": out, "n": 1}
        params = {"w": np.ones((3, 2), np.float32) / 4, "b": np.zeros(2, np.float32)}
        batch = {"x": X[None], "y": np.ones((1, 2), np.float32)}
        f = ricci.from_jax(loss, params, batch, scale=np.float32(2))
        near(f(params, batch, scale=2.0), loss(params, batch, scale=2.0))
        ours = f.value_and_grad(has_aux=True)(params, batch, scale=2.0)
        near(ours, jax.value_and_grad(loss, has_aux=True)(params, batch, scale=2.0))
        near(f.grad(has_aux=True)(params, batch, scale=2.0), jax.grad(loss, has_aux=True)(params, batch, scale=2.0))
        with self.assertRaisesRegex(TypeError, "structure"):
            f({"w": 1}, batch, scale=2.0)

    def test_gradient_by_several_arguments(self):
        f = lambda x, y, n: (x * jnp.sin(y)).sum() + n  # noqa: E731
        ours = ricci.from_jax(f, X, X, 3)
        near(ours.grad((1, 0))(X, X, 3), jax.grad(f, (1, 0))(X, X, 3.0))
        with self.assertRaisesRegex(TypeError, "not floating"):
            ours.grad(2)


class Transformations(unittest.TestCase):
    def test_jvp_vjp_linearize(self):
        f = lambda x, y: {"a": jnp.sin(x) * y, "b": x.sum(), "n": 2}  # noqa: E731
        g, t = ricci.from_jax(f, X, X), X * 0.5
        value, tangent = g.jvp((X, X), (t, X))
        want_value, want = jax.jvp(f, (X, X), (t, X))
        near(value, want_value)
        near((tangent["a"], tangent["b"]), (want["a"], want["b"]))
        self.assertIsNone(tangent["n"])
        near(g.linearize(X, X)[1](t, X)["a"], want["a"])
        value, pull = g.vjp(X, X)
        h = lambda x, y: (jnp.sin(x) * y, x.sum())  # noqa: E731
        near(pull({"a": t, "b": np.float32(2), "n": None}), jax.vjp(h, X, X)[1]((t, jnp.float32(2))))

    def test_jacobians(self):
        f = lambda x, y: {"a": jnp.outer(jnp.sin(x), y[0]), "s": (x * x).sum()}  # noqa: E731
        y = np.ones((2, 2), np.float32) * [1, 2]
        y = y.astype(np.float32)
        g = ricci.from_jax(f, X, y)
        for name in ("jacfwd", "jacrev"):
            for argnums in (0, 1, (1, 0)):
                near(getattr(g, name)(argnums)(X, y), getattr(jax, name)(f, argnums)(X, y))
        h = lambda x: (jnp.sin(x) * x[::-1]).sum()  # noqa: E731
        near(ricci.from_jax(h, X).hessian()(X), jax.hessian(h)(X))
        near(ricci.from_jax(h, X).grad().jacfwd().vmap(2)(np.stack([X, X])), jax.vmap(jax.hessian(h))(np.stack([X, X])))

    def test_jacobians_of_complex_numbers_and_integers(self):
        z = (X + 1j * X[::-1]).astype(np.complex64)
        f, g = ricci.from_jax(jnp.exp, z), ricci.from_jax(lambda x: x * (1 + 2j), X)
        near(f.jacfwd()(z), jax.jacfwd(jnp.exp, holomorphic=True)(z))
        near(f.jacrev()(z), jax.jacrev(jnp.exp, holomorphic=True)(z))
        near(g.jacfwd()(X), jax.jacfwd(lambda x: x * (1 + 2j))(X))
        with self.assertRaisesRegex(TypeError, "jacrev: a complex result needs complex arguments only"):
            g.jacrev()
        real = ricci.from_jax(lambda z: z.real, z)
        near(real.jacrev()(z), jax.jacrev(lambda z: z.real)(z))
        with self.assertRaisesRegex(TypeError, "jacfwd: a complex argument needs complex results only"):
            real.jacfwd()
        both = lambda x: (x * 2, x.astype(int))  # noqa: E731
        near(ricci.from_jax(both, X).jacfwd()(X), jax.jacfwd(both)(X))
        with self.assertRaisesRegex(TypeError, r"jacrev: the function has a result that is not floating but i32\["):
            ricci.from_jax(both, X).jacrev()

    def test_auxiliary_of_a_list(self):
        f = lambda x: [(x ** 2).sum(), x]  # noqa: E731
        near(ricci.from_jax(f, X).grad(has_aux=True)(X), jax.grad(f, has_aux=True)(jnp.asarray(X)))

    def test_vmap_axes(self):
        f = lambda p, y: (p["w"] @ y, y)  # noqa: E731
        p, ys = {"w": np.ones((2, 3), np.float32)}, np.arange(12, dtype=np.float32).reshape(3, 4)
        ours = ricci.from_jax(f, p, X).vmap(4, in_axes=(None, -1), out_axes=(0, 1))
        near(ours(p, ys), jax.vmap(f, in_axes=(None, -1), out_axes=(0, 1))(p, ys))

    def test_donation_and_timings(self):
        f = ricci.from_jax(lambda x: x * 2, X).jit(donate=(0,))
        x = X.copy()
        self.assertTrue(np.shares_memory(f(x), x))
        compiled = f.lower().compile()
        self.assertGreater(compiled.timings["total_s"], 0)
        near(compiled(X.copy()), X * 2)

    def test_tangents_of_keyword_arguments_are_zero(self):
        f = ricci.from_jax(lambda x, *, k: x * k, X, k=X)
        near(f.jvp((X,), (2 * X,), k=X), (X * X, 2 * X * X))
        near(f.linearize(X, k=X)[1](2 * X), 2 * X * X)
        near(f.vjp(X, k=X)[1](X), (X * X,))

    def test_copied_and_pickled(self):
        f = ricci.from_jax(lambda p, *, k: {"a": (p["w"] ** 2).sum() * k, "b": (k, 1)}, {"w": X}, k=np.float32(2))
        f({"w": X}, k=2.0)
        for g in (copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
            near(g({"w": X}, k=3.0), f({"w": X}, k=3.0))
            self.assertEqual(g.program, f.program)
        slope = pickle.loads(pickle.dumps(ricci.from_jax(lambda x: (x * x).sum(), X).grad().vmap(2)))
        near(slope(np.stack([X, X])), np.stack([2 * X, 2 * X]))

    def test_what_is_printed(self):
        f = ricci.from_jax(lambda p, n: p["w"] * n, {"w": X}, 3)
        self.assertEqual(repr(f), "<Function lambda(0['w']: f32[3], 1: i32[]) -> f32[3]>")
        self.assertEqual(repr(f.program), "<Program lambda(f32[3], i32[]) -> f32[3]>")
        self.assertEqual(repr(ricci.default_context()), "<Context with devices cpu, ref>")

    def test_saved_and_loaded(self):
        f = ricci.from_jax(lambda x: (jnp.sin(x) @ np.ones((3, 40), np.float32)).sum(), X)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "f.ricci"
            f.save(path)
            text = path.with_suffix(".text")
            text.write_text(f.text)
            for g in (ricci.load(path), ricci.load(text)):
                self.assertEqual(f.program, g.program)
                near(g.grad()(X), 40 * np.cos(X))
            path.write_bytes(path.read_bytes()[:-1])
            with self.assertRaisesRegex(ricci.Error, "f.ricci"):
                ricci.load(path)


class Keys(unittest.TestCase):
    def test_typed_keys_go_in_and_out(self):
        f = lambda k: jax.random.split(k, 2)  # noqa: E731
        ours = ricci.from_jax(f, jax.random.key(0))(jax.random.key(5))
        near(jax.random.key_data(ours), jax.random.key_data(f(jax.random.key(5))), 0)

    def test_raw_keys_are_not_typed_keys(self):
        f = ricci.from_jax(jax.random.normal, jax.random.key(0))
        with self.assertRaisesRegex(ricci.Error, r"shape \(2,\), the program takes \(\), of typed keys"):
            f(jax.random.PRNGKey(0))

    def test_a_key_of_another_generator_is_no_typed_key(self):
        with self.assertRaisesRegex(ricci.Error, r"shape \(4,\), the program takes \(\), of typed keys"):
            ricci.from_jax(jax.random.normal, jax.random.key(0))(jax.random.key(0, impl="rbg"))

    def test_other_generators(self):
        draws = lambda k: (jax.random.uniform(k, (3, 2)), jax.random.bits(k, (5,), jnp.uint8),  # noqa: E731
                           jax.random.randint(jax.random.fold_in(k, 7), (4,), 0, 9), jax.random.normal(k, (3,)))
        for impl in GENERATORS:
            key = jax.random.key(5, impl=impl)
            ours, theirs = ricci.from_jax(draws, key)(key), draws(key)
            for a, b in zip(ours[:3], theirs[:3]):
                np.testing.assert_array_equal(a, b, impl)
            near(ours[3], theirs[3])
            for f in (lambda k: jax.random.split(k, 3), lambda k: jax.random.fold_in(k, jnp.uint32(9)),
                      lambda k: jnp.stack([k, jax.random.clone(k)])[::-1][:1], lambda k: lax.select(True, k, k)):
                np.testing.assert_array_equal(ricci.from_jax(f, key)(key), jax.random.key_data(f(key)), impl)
            made = lambda n, i=impl: jax.random.bits(jax.random.key(n, impl=i), (3,))  # noqa: E731
            np.testing.assert_array_equal(ricci.from_jax(made, 3)(11), made(11), impl)

    def test_keys_of_other_generators_in_loops_and_batches(self):
        def f(k, x):
            def step(carry, _):
                carry, one = jax.random.split(carry)
                return carry, jax.random.uniform(one) * x
            k, ys = lax.scan(step, k, None, length=3)
            k = lax.cond(x > 0, lambda k: jax.random.fold_in(k, 1), lambda k: k, k)
            return ys.sum() + jax.random.uniform(k), k == k, jax.random.key_data(k)
        key = jax.random.key(5, impl="rbg")
        ours = ricci.from_jax(f, key, X[0])
        near(ours(key, X[0]), f(key, X[0]))
        near(ricci.from_jax(lambda k, x: f(k, x)[0], key, X[0]).grad(1)(key, X[0]), jax.grad(lambda x: f(key, x)[0])(X[0]))
        many = lambda k: jax.vmap(lambda k: jax.random.bits(k, (2,)))(jax.random.split(k, 3))  # noqa: E731
        np.testing.assert_array_equal(ricci.from_jax(many, key)(key), many(key))
        words = ricci.from_jax(lambda x, k=key: x * jax.random.uniform(k), X)  # a constant
        near(words(X), X * jax.random.uniform(key))


GENERATORS = ("rbg", "unsafe_rbg", "threefry4x32", "philox2x32", "philox4x32")


@jax.custom_jvp
def smooth(x):
    return jnp.log1p(jnp.exp(x))


@smooth.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    return smooth(x), jnp.exp(x - smooth(x)) * t


@jax.custom_vjp
def product(x, y):
    return x * jnp.sin(y)


def _product_fwd(x, y):
    return product(x, y), (x, y)


def _product_bwd(saved, ct):
    x, y = saved
    return ct * jnp.sin(y), product(ct, y + jnp.pi / 2) * x


product.defvjp(_product_fwd, _product_bwd)


@jax.custom_jvp
def halved(x):
    return x.sum() if x.size == 1 else x[:x.size // 2].sum()


@halved.defjvp
def _(primals, tangents):
    (x,), (t,) = primals, tangents
    inner = halved(x[:x.size // 2]) if x.size > 1 else x.sum()
    return halved(x), (jnp.cos(x) * t).sum() * (1 + inner)


class CustomRules(unittest.TestCase):
    def test_a_rule_that_applies_its_function_has_every_order(self):
        f = ricci.from_jax(smooth, np.float32(0.3))
        self.assertIn("self=1", f.text)
        fns = [f, smooth]
        for _ in range(4):
            fns = [fns[0].grad(), jax.grad(fns[1])]
            near(fns[0](np.float32(0.3)), fns[1](0.3), 1e-4)

    def test_vjp_that_applies_its_function(self):
        f = lambda x, y: product(x, y).sum()  # noqa: E731
        g = ricci.from_jax(f, X, X)
        self.assertIn("self=1", g.text)
        near(g.grad((0, 1))(X, X), jax.grad(f, (0, 1))(X, X))

    def test_closed_over_constants(self):
        scale = jnp.arange(3.0)

        @jax.custom_jvp
        def f(x):
            return x * scale
        f.defjvp(lambda p, t: (f(p[0]), t[0] * scale * 2))
        g = lambda x: jnp.sin(f(x)).sum()  # noqa: E731
        near(ricci.from_jax(g, X).grad()(X), jax.grad(g)(X))

    def test_a_rule_that_refuses_an_argument(self):
        @jax.custom_vjp
        def f(x, k):
            return (x * k).sum()

        def fwd(x, k):
            if k.perturbed:
                raise ValueError("k is fixed")
            return (x.value * k.value).sum(), (k.value, True)

        def bwd(saved, ct):
            k, doubled = saved
            return (2 * k if doubled else k) * ct, None
        f.defvjp(fwd, bwd, symbolic_zeros=True)
        g = ricci.from_jax(f, X, X)
        near(g.grad()(X, X), 2 * X)
        with self.assertRaisesRegex(ricci.Error, "refuses to differentiate with respect to this argument"):
            g.grad(1)(X, X)

    def test_a_rule_that_cannot_be_traced(self):
        @jax.custom_jvp
        def f(x):
            return x.sum()

        @f.defjvp
        def _(primals, tangents):
            raise TypeError("not this one")
        g = ricci.from_jax(f, X)
        near(g(X), X.sum())
        with self.assertRaisesRegex(ricci.Error, "cannot be traced: not this one"):
            g.grad()(X)

    def test_linear_calls(self):
        def call(r, x):  # neither of its functions is the transpose of the other
            return jax.custom_derivatives.linear_call(
                lambda r, v: (r * v * X,), lambda r, ct: 3 * r * ct[0] * X[::-1], r, x)[0]
        for f in (lambda x: call(jnp.asarray(2 * X), jnp.sin(x)).sum(),
                  lambda x: lax.scan(lambda c, a: (call(a, c), None), x, jnp.stack([X, 2 * X]))[0].sum()):
            ours = ricci.from_jax(f, X)
            near(ours(X), f(jnp.asarray(X)))
            near(ours.grad()(X), jax.grad(f)(X))
            near(ours.jvp((X,), (2 * X,)), jax.jvp(f, (X,), (2 * X,)))
            near(ours.vmap(2)(np.stack([X, -X]))[1], f(-X))  # JAX has no batching rule

    def test_a_custom_function_of_tangents(self):
        @jax.custom_jvp
        def mirror(x):
            return -x[::-1]
        mirror.defjvp(lambda p, t: (mirror(p[0]), mirror(t[0])))

        @jax.custom_jvp
        def f(x):
            return jnp.sin(x)
        f.defjvp(lambda p, t: (f(p[0]), mirror(jnp.cos(p[0]) * t[0])))
        g = lambda x: (f(x) * jnp.arange(3.0)).sum()  # noqa: E731
        near(ricci.from_jax(g, X).grad()(X), jax.grad(g)(X))

    def test_deeper_than_order_fails_when_it_runs(self):
        x = np.arange(1, 9, dtype=np.float32) / 8
        f = ricci.from_jax(halved, x, order=1)
        near(f.grad()(x), jax.grad(halved)(x), 1e-4)
        with self.assertRaisesRegex(ricci.Error, r"was traced 1 deep; import with order=2 for more"):
            f.grad().jacfwd()(x)
        near(ricci.from_jax(halved, x, order=2).hessian()(x), jax.hessian(halved)(x), 1e-4)


@jax.custom_batching.custom_vmap
def turned(x, y):
    return jnp.cos(x) * y


@turned.def_vmap
def _(size, batched, x, y):
    ASKED.append((size, tuple(batched)))
    return jnp.sin(x) * y, batched[0] or batched[1]


ASKED = []  # by the rule, whose results are not those of the function


def of_each(fn):
    """A custom_vmap of `fn` whose rule takes the elements in sequence, twice each."""
    f = jax.custom_batching.custom_vmap(fn)

    @f.def_vmap
    def _(size, batched, *args):
        pick = lambda i: jax.tree.map(lambda b, a: a[i] if b else a, tuple(batched), args)  # noqa: E731
        outs = [jax.tree.map(lambda r: 2 * r, f(*pick(i))) for i in range(size)]
        out = jax.tree.map(lambda *r: jnp.stack(r), *outs)
        return out, jax.tree.map(lambda _: True, out)
    return f


class BatchingRules(unittest.TestCase):
    def test_every_mask_gets_what_the_rule_makes(self):
        f = ricci.from_jax(turned, X[0], X[0])
        near(f(X[0], X[1]), turned(X[0], X[1]))
        for axes in (0, (0, None), (None, 0)):
            given = [X if a == 0 else X[0] for a in (axes if isinstance(axes, tuple) else (0, 0))]
            ASKED.clear()
            near(f.vmap(3, axes)(*given), jax.vmap(turned, axes)(*given))
            self.assertEqual(ASKED[0], ASKED[1])

    def test_nested_batches(self):
        f = of_each(lambda x, y: x * y)
        xs = np.arange(6, dtype=np.float32).reshape(2, 3)
        near(ricci.from_jax(f, X[0], X[0]).vmap(3).vmap(2)(xs, xs), jax.vmap(jax.vmap(f))(xs, xs))
        near(ricci.from_jax(f, X[0], X[0]).vmap(3, (0, None)).vmap(2, (None, 0))(X, X[:2]),
             jax.vmap(jax.vmap(f, (0, None)), (None, 0))(X, X[:2]))

    def test_inside_of_loops_branches_and_custom_derivatives(self):
        @jax.custom_vjp
        def g(x):
            return turned(x, x)
        g.defvjp(lambda x: (turned(x, x), x), lambda x, ct: (turned(ct, x),))

        def f(x):
            y, _ = lax.scan(lambda c, k: (turned(c, k), None), x, X)
            y = lax.cond(x > 0, jax.jit(turned), lambda a, b: a, x, y)
            return lax.while_loop(lambda c: c[1] < 3, lambda c: (turned(c[0], c[0]) + 1, c[1] + x), (y, x))[0] + g(x)
        near(ricci.from_jax(f, X[0]).vmap(3)(abs(X)), jax.vmap(f)(abs(X)))
        near(ricci.from_jax(g, X[0]).grad().vmap(3)(X), jax.vmap(jax.grad(g))(X))

    def test_derivatives(self):
        f = ricci.from_jax(turned, X[0], X[0])
        slope = lambda x, y: jax.jvp(turned, (x, y), (1.0, 1.0))[1]  # noqa: E731
        ours = lambda n: ricci.from_jax(n, X[0], X[0]).vmap(3)(X, X)  # noqa: E731
        near(ours(slope), jax.vmap(slope)(X, X))
        near(ours(lambda x, y: jax.jvp(slope, (x, y), (1.0, 1.0))[1]),
             jax.vmap(lambda x, y: jax.jvp(slope, (x, y), (1.0, 1.0))[1])(X, X))
        near(f.jacfwd()(X[0], X[1]), -np.sin(X[0]) * X[1])  # a batch of tangents only: of the function
        near(f.grad()(X[0], X[1]), -np.sin(X[0]) * X[1])
        both = lambda x, y: jax.vmap(turned)(x, y).sum()  # noqa: E731
        near(ricci.from_jax(both, X, X).grad()(X, X), jax.grad(both)(X, X))
        batch = f.vmap(3)
        near(batch.vjp(X, X)[1](np.ones(3, np.float32)), jax.vjp(jax.vmap(turned), X, X)[1](jnp.ones(3)))
        near(batch.jvp((X, X), (X, X)), jax.jvp(jax.vmap(turned), (X, X), (X, X)))

    def test_trees_integers_keys_and_results_without_a_batch(self):
        @jax.custom_batching.custom_vmap
        def f(p, key):
            return {"a": p["x"] * p["n"], "b": jax.random.normal(key), "c": (p["n"], jnp.float32(1))}

        @f.def_vmap
        def _(size, batched, p, key):
            assert batched == [{"n": False, "x": True}, True], batched
            return ({"a": -p["x"] * p["n"], "b": jax.vmap(jax.random.normal)(key), "c": (p["n"], jnp.float32(2))},
                    {"a": True, "b": True, "c": (False, False)})
        p, key = {"x": X[0], "n": np.int32(3)}, jax.random.key(1)
        many, keys = {"x": X, "n": np.int32(3)}, jax.random.split(key, 3)
        axes = ({"x": 0, "n": None}, 0)
        near(ricci.from_jax(f, p, key).vmap(3, axes)(many, keys), jax.vmap(f, axes)(many, keys))

    def test_sequential_vmap_and_constants(self):
        scale = jnp.arange(3.0)
        f = jax.custom_batching.sequential_vmap(lambda x, y: x * scale + y)
        xs = np.stack([X, X + 1])
        near(ricci.from_jax(f, X, X).vmap(2, (0, None))(xs, X), jax.vmap(f, (0, None))(xs, X))

    def test_what_a_rule_raises_reaches_the_caller(self):
        def with_rule(rule):
            f = jax.custom_batching.custom_vmap(lambda x: x + 1)
            f.def_vmap(rule)
            return ricci.from_jax(lambda x: f(x), X[0])

        def refuses(size, batched, x):
            raise NotImplementedError("no batch of 3")
        with self.assertRaisesRegex(ricci.Error, r"test_import.py:\d+: custom_vmap: rule .*refuses/\w+: "
                                    "NotImplementedError: no batch of 3") as caught:
            with_rule(refuses).vmap(3)
        self.assertIsInstance(caught.exception.__cause__, NotImplementedError)
        with self.assertRaisesRegex(ricci.Error, r"gives f32\[2\] for result 0, which is f32\[3\]"):
            with_rule(lambda n, b, x: (x[:2], True)).vmap(3)
        with self.assertRaisesRegex(ricci.Error, "structure of output"):
            with_rule(lambda n, b, x: ((x, x), (True, True))).vmap(3)
        with self.assertRaisesRegex(ricci.Error, r"custom_vmap: rule .*test_import.py:\d+: rng_uniform: Ricci has no"):
            with_rule(lambda n, b, x: (lax.rng_uniform(0.0, x[0], (n,)), True)).vmap(3)
        self.assertEqual(float(with_rule(refuses)(X[0])), 1.5)

    def test_the_same_function_is_the_same_program(self):
        f = lambda x: turned(x, x) + of_each(jnp.sin)(x)  # noqa: E731
        ours, again = ricci.from_jax(turned, X[0], X[0]), ricci.from_jax(turned, X[0], X[0])
        self.assertEqual(ours.text, again.text)
        names = [line for line in ricci.from_jax(lambda x: f(x) + f(x), X[0]).text.split() if line.startswith("rule=")]
        self.assertEqual(len(set(names)), 3)  # each of_each made a rule of its own

    def test_saved(self):
        f = ricci.from_jax(turned, X[0], X[0])
        with tempfile.TemporaryDirectory() as folder:
            one, batch = pathlib.Path(folder) / "one.ricci", pathlib.Path(folder) / "batch.ricci"
            f.save(one)
            f.vmap(3).save(batch)
            near(ricci.load(one).vmap(3)(X, X), np.sin(X) * X)
            elsewhere = ricci.Context()  # as in a process without Python: the rule is not known
            near(ricci.load(one, elsewhere).vmap(3)(X, X), np.cos(X) * X)
            near(ricci.load(batch, elsewhere)(X, X), np.sin(X) * X)

    def test_the_rule_sees_the_settings_of_the_import(self):
        f = jax.custom_batching.custom_vmap(lambda x: x * 2)
        f.def_vmap(lambda n, b, x: (x * jnp.arange(n, dtype=x.dtype), True))
        with jax.enable_x64(True):
            ours = ricci.from_jax(f, np.float64(1))
        near(ours.vmap(3)(np.ones(3)), np.arange(3.0), 0)


class Refusals(unittest.TestCase):
    def test_missing_primitives_are_named_with_their_line(self):
        def f(x):
            return lax.psum(jnp.sin(x), "i")
        mapped = lambda x: jnp.sin(x)  # noqa: E731
        g = jax.shard_map(mapped, mesh=jax.make_mesh((1,), ("i",)), in_specs=jax.P(), out_specs=jax.P())
        with self.assertRaisesRegex(ricci.Error, r"test_import.py:\d+: shard_map: Ricci has no such primitive"):
            ricci.from_jax(lambda x: g(x) + 1, X)
        with self.assertRaises(NameError):
            ricci.from_jax(f, X)

    def test_all_that_is_missing(self):
        def f(x):
            y = lax.linalg.schur(x[:, None] * x, sort_eig_vals=True)[0]
            z = lax.rng_uniform(0.0, y[0, 0], (2,)).sum()
            return z + lax.rng_uniform(0.0, x[0], (2,)).sum()
        found = ricci.missing(f, X)
        self.assertEqual(sorted(found), ["rng_uniform", "schur"])
        self.assertEqual(len(found["rng_uniform"]), 2)
        self.assertRegex(found["schur"][0], r"test_import.py:\d+: schur: eigenvalues are not sorted")
        self.assertEqual(ricci.missing(jnp.sin, X), {})

    def test_symbolic_shapes(self):
        from jax import export
        (n,) = export.symbolic_shape("n")
        with self.assertRaisesRegex(ricci.Error, "symbolic"):
            ricci.from_jax(jnp.sin, jax.ShapeDtypeStruct((n,), np.float32))


if __name__ == "__main__":
    unittest.main()
