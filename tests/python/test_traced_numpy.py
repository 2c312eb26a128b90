"""Functions of ricci.numpy, ricci.nn and ricci.random next to JAX's."""
import inspect
import unittest

import jax
import jax.numpy as jnp
import numpy as np
import numpy_cases
import ricci
import ricci.numpy as rnp
from ricci.nn import attention
from ricci.abi.dtypes import numpy_of
from shares import share

ALL_CASES = list(numpy_cases.cases())
CASES = share(ALL_CASES)
FIXED = {n: a for n, a in numpy_cases.ARRAYS.items() if n in numpy_cases.STATIC}
GIVEN = {n: a for n, a in numpy_cases.ARRAYS.items() if n not in numpy_cases.STATIC}
NAMES = {n for n in dir(rnp) if not n.startswith("_") and inspect.isfunction(getattr(rnp, n)) and hasattr(jnp, n)}
NN = """relu relu6 sigmoid softplus log_sigmoid silu swish elu leaky_relu gelu softmax log_softmax logsumexp tanh identity celu
        selu glu hard_sigmoid hard_silu hard_swish hard_tanh soft_sign mish squareplus sparse_plus sparse_sigmoid
        standardize logmeanexp""".split()


def _every(namespace, fixed):
    """All cases as one function of the arrays."""
    def function(arrays):
        found = []
        for text, _ in CASES:
            try:
                found.append(eval(text, {"np": namespace, **arrays, **fixed}))  # noqa: S307, texts of this folder
            except Exception as error:
                raise AssertionError(f"{text}: {type(error).__name__}: {error}") from error
        return found
    return function


OF_ELEMENTS = ("ricci.numpy.elementwise", "ricci.numpy.choices")
JAX_FORGETS = """angle around deg2rad degrees diag diagonal full_like heaviside hypot logaddexp2 rad2deg radians round
                 sinc""".split()


def _edges(dtype):
    """An array of eight elements at the ends of what a dtype holds."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([True, False, True, True, False, False, True, False])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 5, info.max, info.min, info.max - 1, 3], dtype)
    if dtype.kind == "c":
        return np.array([0, 1j, 1 - 2j, -3 + 0.5j, 2.5, -1, 0.25 + 0.25j, -0.5j], dtype)
    return np.array([0.0, -0.0, np.nan, np.inf, -np.inf, float(jnp.finfo(dtype).max), -0.7, 2.5]).astype(dtype)


def _all_that_work(jit, namespace, names, given, x):
    """{name: what the function gives}, of those that take these operands, in one program."""
    def every(x):
        found = {}
        for name in names:
            try:
                found[name] = getattr(namespace, name)(*given(x))
            except Exception:  # noqa: S112, what a function refuses is not in the result
                continue
        return found
    return jit(every)(x)


def _leaves(result):
    return [np.asarray(x) for x in jax.tree_util.tree_leaves(result)]


class Agreement(unittest.TestCase):
    def agree(self, text, ours, theirs, digits=5):
        ours, theirs = _leaves(ours), _leaves(theirs)
        self.assertEqual(len(ours), len(theirs), text)
        for a, b in zip(ours, theirs):
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape), text)
            scale = 10.0 ** -digits
            np.testing.assert_allclose(a, b, rtol=scale, atol=scale, err_msg=text)


class Functions(Agreement):
    @classmethod
    def setUpClass(cls):
        cls.found = ricci.jit(_every(rnp, FIXED))(GIVEN)

    def test_values(self):
        ours = self.found
        theirs = jax.jit(_every(jnp, FIXED))(GIVEN)
        for (text, digits), a, b in zip(CASES, ours, theirs):
            with self.subTest(text):
                self.agree(text, a, b, digits)

    def test_every_function_has_a_case(self):
        texts = " ".join(text for text, _ in ALL_CASES)
        public = [n for n in dir(rnp) if not n.startswith("_") and callable(getattr(rnp, n))
                  and not isinstance(getattr(rnp, n), type)]
        without = [n for n in public if f"np.{n}(" not in texts and n not in ("at", "from_dlpack", "is_operand")]
        self.assertEqual(without, [])

    def test_signatures(self):
        """The parameters that both have are in one order, with the same defaults."""
        own = {"out", "dtype", "precision", "method", "promote_integers", "sharding", "out_sharding"}
        for name in (n for n in dir(rnp) if hasattr(jnp, n) and inspect.isfunction(getattr(rnp, n))):
            ours = inspect.signature(getattr(rnp, name)).parameters
            theirs = inspect.signature(getattr(jnp, name)).parameters
            shared = [p for p in theirs if p in ours]
            self.assertEqual([p for p in ours if p in shared], shared, name)
            for p in set(shared) - own:
                a, b = ours[p].default, theirs[p].default
                if a is not inspect.Parameter.empty and isinstance(b, (bool, int, float, str, type(None))):
                    self.assertTrue(a == b or not a and not b, f"{name}: {p} is {a!r}, in JAX {b!r}")

    def test_outside_of_traced_functions(self):
        """One at a time, with arrays of NumPy: some cases of each kind."""
        for (text, digits), traced in list(zip(CASES, self.found))[::9]:
            if "np." in text and ".at[" not in text:
                alone = eval(text, {"np": rnp, **GIVEN, **FIXED})  # noqa: S307, texts of this folder
                for a, b in zip(_leaves(alone), _leaves(traced)):
                    np.testing.assert_allclose(a, b, rtol=10.0 ** -digits, atol=10.0 ** -digits, err_msg=text)

    def test_promotion(self):
        kinds = ["bool", *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32)), "float16", "bfloat16", "float32",
                 "complex64"]
        for a in kinds:
            for b in kinds:
                with jax.enable_x64(True):
                    self.assertEqual(rnp.promote_types(a, b), jnp.promote_types(a, b), (a, b))
            for number in (1, 1.5, 1j):
                x = np.ones(2, jnp.dtype(a))
                ours = ricci.jit(lambda x: x * number).function(x).program.results[0]  # noqa: B023
                self.assertEqual(
                    numpy_of(ours[0]), jnp.result_type(jnp.dtype(a), number), (a, number))

    def test_weak_types(self):
        """Of functions of numbers of Python: is what they give weak, as in JAX?"""
        self.maxDiff = None
        seen = {}

        def every(np_like, is_weak, x):
            for name in NAMES - {"empty", "empty_like", "from_dlpack", "at", "is_operand"}:
                for numbers in ((0.5,), (2,), (0.5, 2), (2, 1), ((0.5, 1.0),), ((2,), 0.5), (True, 0.5, 2.0), ("wide",),
                                ("wide", 0.5), ("wide", 1), ("wide", "wide")):
                    if name in ("array", "ndim", "shape", "size") and len(numbers) > 1 or isinstance(numbers[0], tuple) and \
                            name in ("ndim", "shape", "size"):
                        continue  # JAX warns of these
                    try:
                        found = getattr(np_like, name)(*(np_like.full((2, 2), 0.5) if n == "wide" else n for n in numbers))
                    except Exception:  # noqa: S112, an argument that one does not take is not a case
                        continue
                    if hasattr(found, "shape") and hasattr(found, "dtype") and found.dtype != bool:
                        seen.setdefault((name, numbers), []).append(is_weak(found))
            return x
        ricci.jit(lambda x: every(rnp, lambda v: isinstance(v, ricci.Value) and v.weak, x))(1.0)
        jax.jit(lambda x: every(jnp, lambda v: v.weak_type, x))(1.0)
        both = {call: weak for call, weak in seen.items() if len(weak) == 2}
        self.assertGreater(len(both), 200)
        others = {call for call, (ours, theirs) in both.items() if ours != theirs}
        # Of an array that is weak, JAX's own constants make a strong one in some functions.
        self.assertEqual({call for call in others if "wide" not in call[1] or call[0] not in JAX_FORGETS}, set())

    def test_edge_values(self):
        """NaN, infinities, zeros with signs and the ends of integers, in every type: what both take agrees, and what JAX
        refuses is refused."""
        names = share(n for n in sorted(NAMES)
                      if getattr(rnp, n).__module__ in OF_ELEMENTS and n not in ("fmod", "arctan2", "atan2"))
        forms = {"f(x)": lambda x: (x,), "f(x, y)": lambda x: (x, x[::-1]), "f(3, x)": lambda x: (3, x)}
        for dtype in (np.bool_, np.int8, np.uint32, np.float16, jnp.bfloat16, np.float32, np.complex64):
            for form, given in forms.items():
                if dtype not in (np.bool_, np.int8, np.float32) and form == "f(3, x)":
                    continue
                ours = _all_that_work(ricci.jit, rnp, names, given, _edges(dtype))
                theirs = _all_that_work(jax.jit, jnp, names, given, _edges(dtype))
                text = f"{form} of {np.dtype(dtype)}: "
                refused = {"logaddexp", "logaddexp2"} if dtype is np.complex64 else set()
                self.assertEqual({n for n in theirs if n not in ours} - refused, set(), text + "JAX alone takes these")
                self.assertEqual({n for n in ours if n not in theirs}, set(), text + "JAX does not take these")
                for name in ours:
                    for a, b in zip(_leaves(ours[name]), _leaves(theirs[name])):
                        self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape), text + name)
                        scale = {"float16": 5e-3, "bfloat16": 3e-2}.get(np.dtype(dtype).name, 1e-5)
                        wide = np.complex128 if a.dtype.kind in "fcV" else a.dtype
                        np.testing.assert_allclose(a.astype(wide), b.astype(wide), scale, scale, err_msg=text + name)

    def test_derivatives_where_branches_meet(self):
        """Of the first and the second order, where max, abs and their kin have two sides."""
        def every(np_like, nn, grad):
            left_out = ("softmax", "log_softmax", "logsumexp", "standardize", "glu", "logmeanexp")
            at_zero = [getattr(nn, n) for n in NN if n not in left_out]
            def hypot(x, y):  # that of JAX has a wrong second derivative there
                return np_like.hypot(x, y) if np_like is rnp else jnp.sqrt(x * x + y * y)
            functions = [*at_zero, *(lambda x, f=f: f(x + 6) for f in (nn.relu6, nn.hard_sigmoid)),
                         *(lambda x, f=f: f(x - 3) for f in (nn.relu6, nn.hard_sigmoid)), *(
                             lambda x, f=f: f(x + 1) for f in (nn.hard_tanh, nn.sparse_plus, nn.sparse_sigmoid)),
                         *(lambda x, n=n: getattr(np_like, n)(x, 0.0) for n in (
                             "maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2")),
                         *(lambda x, n=n: getattr(np_like, n)(0.0, x) for n in ("logaddexp", "logaddexp2")),
                         *(lambda x, n=n: getattr(np_like, n)(x) for n in ("abs", "sinc", "sign", "nan_to_num")),
                         lambda x: np_like.clip(x, 0, 1), lambda x: np_like.max(np_like.stack([x, x, x - 1])),
                         lambda x: np_like.prod(np_like.stack([x, x + 1])), lambda x: x ** 2, lambda x: x ** 0,
                         lambda x: np_like.sort(np_like.stack([x, x]))[1], lambda x: (x + 1) % 1.0,
                         lambda x: hypot(x + 1, 1.0), lambda x: hypot(-2.0, x - 2),
                         lambda x: np_like.linalg.norm(np_like.stack([x, x]), np.inf)]
            return lambda x: [np_like.stack([grad(f)(x), grad(grad(f))(x)]) for f in functions]
        ours = ricci.jit(every(rnp, ricci.nn, ricci.grad))(0.0)
        theirs = jax.jit(every(jnp, jax.nn, jax.grad))(0.0)
        for i, (a, b) in enumerate(zip(ours, theirs)):
            self.agree(str(i), a, b)

    def test_nn(self):
        x = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
        k = np.array([0, 2, 1], np.int32)

        def every(nn):
            return lambda x, k: [getattr(nn, n)(x) for n in NN] + [nn.gelu(x, approximate=False), nn.one_hot(k, 3),
                                                                   nn.softmax(x, 0), nn.logsumexp(x, 1, keepdims=True),
                                                                   nn.log1mexp(x * x + 0.1), nn.logmeanexp(x, 0, x > 0)]

        def slopes(nn, transforms, numpy):
            f = lambda x: sum(numpy.sum(y * y) for y in every(nn)(x, k)[:-1])  # noqa: E731
            return transforms.grad(f)(x)
        half = x.astype(np.float16)
        self.agree("nn", ricci.jit(every(ricci.nn))(half, k), jax.jit(every(jax.nn))(half, k), 2)
        self.agree("nn", slopes(ricci.nn, ricci, rnp), slopes(jax.nn, jax, jnp), 4)


def random_key():
    return ricci.random.PRNGKey(0)


class Random(Agreement):
    def draws(self, random):
        key = random.PRNGKey(7)
        a, b = random.split(key)
        many = random.split(random.fold_in(b, 3), 7)
        p = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
        logits = np.log(p) * np.ones((3, 1), np.float32)
        return {
            "exact": [key, a, many, random.clone(a), random.key_data(many), random.key_data(random.wrap_key_data(a)), random.bits(a, (5,)), random.bits(a, (5,), "uint8"), random.randint(a, (9,), -3, 100),
                      random.randint(many[0], (4,), 0, 256, "uint8"), random.permutation(a, 11),
                      random.permutation(b, np.arange(12).reshape(6, 2).astype(np.int32)), random.bernoulli(a, p),
                      random.bernoulli(a, 0.3, (8,)), random.categorical(a, logits), random.categorical(a, logits, 1, (5, 3)),
                      random.choice(a, 10, (4,)), random.choice(a, 10, (4,), replace=False), random.choice(a, 4, (6,), p=p),
                      random.uniform(a, (6,)), random.rademacher(a, (9,)), random.rademacher(a, (9,), "float32")],
            "near": [random.laplace(a, (9,)), random.logistic(a, (9,)), random.cauchy(a, (9,)), random.lognormal(a, 0.5, (9,)),
                     random.lognormal(a, p), random.laplace(a, (3,), "float16"),
                     random.multivariate_normal(a, p, np.diag(p) + np.float32(0.1)),
                     random.multivariate_normal(a, p, np.diag(p) + np.float32(0.1), (3,)),
                     random.uniform(a, (6,), minval=-1.0, maxval=2.0), random.normal(a, (50,)), random.exponential(a, (5,)),
                     random.truncated_normal(a, -1.0, 1.0, (9,)), random.gumbel(a, (5,)), random.uniform(a, (3,), "float16")],
        }

    def test_draws(self):
        ours, theirs = ricci.jit(lambda: self.draws(ricci.random))(), self.draws(jax.random)
        for i, (a, b) in enumerate(zip(ours["exact"], theirs["exact"])):
            self.assertEqual(a.dtype, b.dtype, i)
            np.testing.assert_array_equal(a, np.asarray(b), err_msg=str(i))
        self.agree("draws", ours["near"], theirs["near"])

    def test_every_function_is_drawn(self):
        text = inspect.getsource(self.draws)
        with_dtype = {n for n in ricci.random.__all__ if "dtype" in inspect.signature(getattr(ricci.random, n)).parameters}
        others = set(ricci.random.__all__) - with_dtype - {"key", "key_dtype", "key_impl"}  # test_random.py has those
        self.assertEqual([n for n in others if f"random.{n}(" not in text], [])
        self.assertEqual((str(ricci.random.key_dtype()), ricci.random.key_impl(random_key())), ("uint32", "threefry2x32"))
        with self.assertRaisesRegex(ValueError, "wrap_key_data: impl is 'rbg'; threefry2x32 is the only generator"):
            ricci.random.wrap_key_data(random_key(), impl="rbg")
        self.assertEqual([n for n in ricci.nn.__all__ if n not in NN + ["one_hot", "log1mexp"] + attention.__all__], [])

    def test_typed_keys_of_jax(self):
        f = ricci.jit(lambda key: ricci.random.normal(key, (3,)))
        self.agree("typed", f(jax.random.key(3)), jax.random.normal(jax.random.key(3), (3,)))
        with self.assertRaisesRegex(TypeError, r"uniform: key is int32\[\]; a key, uint32\[2\], is expected"):
            ricci.random.uniform(3)


if __name__ == "__main__":
    unittest.main()
