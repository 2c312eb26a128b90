"""Wrong calls of everything public: the message names the function, what was given and what is expected."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
import ricci.numpy as rnp  # noqa: E402

X = np.array([0.5, 1.5, -0.25], np.float32)
HUGE = 1 << 70

# Of f(x, y), called with something else than it takes: (call, the whole message).
OF_FUNCTIONS = [
    (lambda f: f(X), TypeError, "f: 2 arguments expected, 1 argument given"),
    (lambda f: f(X, X, z=1), TypeError, "f: 2 arguments expected, 2 arguments and z given"),
    (lambda f: f(X, {"y": X}), TypeError,
     "f: argument 1: the structure PyTreeDef(*) is expected, PyTreeDef({'y': *}) is given"),
    (lambda f: f(X, [1, 2, 3]), TypeError,
     "f: argument 1: an array is expected, a list is given; numpy.asarray makes one"),
    (lambda f: f(X, "a"), ricci.Error, "argument 1 is <U1, the program takes float32"),
    (lambda f: f(X, X[:2]), ricci.Error, "argument 1 has shape (2,), the program takes (3,)"),
    (lambda f: f.vmap("a"), TypeError, "vmap: size is 'a'; an integer is expected"),
    (lambda f: f.vmap(2.5), TypeError, "vmap: size is 2.5; an integer is expected"),
    (lambda f: f.vmap(-1), ValueError, "vmap: size is -1; it must be from 0 to 9223372036854775807"),
    (lambda f: f.vmap(HUGE), ValueError, f"vmap: size is {HUGE}; it must be from 0 to 9223372036854775807"),
    (lambda f: f.vmap(2, "a"), TypeError,
     "vmap: in_axes: a tuple of 2 values is expected, one of type str is given"),
    (lambda f: f.vmap(2, (0,)), TypeError, "vmap: in_axes: 2 values expected, 1 given"),
    (lambda f: f.vmap(2, (0, "a")), TypeError,
     "vmap: in_axes of argument 1 is 'a'; an integer or None is expected"),
    (lambda f: f.vmap(2, (0, -3)), ValueError, "vmap: in_axes of argument 1 is -3; with a batch it has 2 dimensions"),
    (lambda f: f.vmap(2, 0, 1 << 32), ValueError,
     "vmap: out_axes of result is 4294967296; with a batch it has 1 dimension"),
    (lambda f: f.vmap(2, schedule=[]), ValueError,
     "vmap: schedule is []; it must be one of auto, batched, lanes"),
    (lambda f: f.grad("a"), TypeError, "grad: argnums is 'a'; an integer or several are expected"),
    (lambda f: f.value_and_grad(1.5), TypeError,
     "value_and_grad: argnums is 1.5; an integer or several are expected"),
    (lambda f: f.jacfwd((0, None)), TypeError, "jacfwd: argnums[1] is None; an integer is expected"),
    (lambda f: f.hessian(2), ValueError,
     "hessian: there is no argument 2: the function has 2 positional arguments"),
    (lambda f: f.jvp(X, X), TypeError,
     "jvp: primals is of type ndarray; a tuple of one value for each argument is expected"),
    (lambda f: f.jvp((X, X), (X, None)), ricci.Error,
     "tangent of argument 1 is object, the program takes float32"),
    (lambda f: f.jvp((X, X), (X[:2], X)), ricci.Error,
     "tangent of argument 0 has shape (2,), the program takes (3,)"),
    (lambda f: f.vjp(X, X)[1](X), ricci.Error, "cotangent of result has shape (3,), the program takes ()"),
    (lambda f: ricci.Function(f.program.jvp([1, 1])).vjp(X, X, X, X)[1](X), TypeError,
     "vjp: cotangent: a tuple of 2 values is expected, one of type ndarray is given"),
    (lambda f: f.linearize(X, X)[1](X, 1j * X), ricci.Error,
     "tangent of argument 1 is complex64, the program takes float32"),
    (lambda f: f.checkpoint(3), TypeError, "checkpoint: policy is 3; a text is expected"),
    (lambda f: f.jit(donate="a"), TypeError, "jit: donate is 'a'; an integer or several are expected"),
    (lambda f: f.jit(device=3), TypeError, "device: kind is 3; a text is expected"),
    (lambda f: f.jit(device="gpu"), ValueError, "no device 'gpu'; this context has cpu, ref"),
    (lambda f: f.lower(X), TypeError, "f: 2 arguments expected, 1 argument given"),
    (lambda f: f.lower().compile().dump(3), TypeError, "dump: stage is 3; a text is expected"),
    (lambda f: f.save(3), TypeError, "save: path is 3; a path is expected"),
    (lambda f: f.save(""), ValueError, "save: path is empty"),
    (lambda f: f.save("a\0b"), ValueError, "save: path is 'a\\x00b', which holds a null character"),
]

ELSEWHERE = [
    (lambda p: ricci.load(None), TypeError, "load: path is None; a path is expected"),
    (lambda p: ricci.load("f", 3), TypeError, "load: context is 3; a Context is expected"),
    (lambda p: ricci.from_jax(3, X), TypeError, "from_jax: fn is 3; a function is expected"),
    (lambda p: ricci.from_jax(jnp.sin, X, order="a"), TypeError,
     "from_jax: order is 'a'; an integer is expected"),
    (lambda p: ricci.from_jax(lambda x, m: x, X, {"m": ["a"]}), TypeError,
     "from_jax: argument 1['m'][0] is 'a'; an array is expected; bind others with functools.partial"),
    (lambda p: ricci.missing(lambda x, m: x, X, m=len), TypeError, "missing: argument m is <built-in function len>; "),
    (lambda p: ricci.from_jax(lambda x: (x.sum(), x), X).grad(), TypeError,
     "grad: the function has 2 results, not one; has_aux=True takes the gradient of the first of a pair"),
    (lambda p: ricci.from_jax(lambda x: (x.sum(), x), X).value_and_grad(), TypeError,
     "value_and_grad: the function has 2 results, not one; has_aux=True takes the gradient of the first of a pair"),
    (lambda p: ricci.from_jax(jnp.sum, X).grad(has_aux=True), TypeError,
     "grad: has_aux=True needs a function that returns (value, auxiliary)"),
    (lambda p: ricci.from_jax(lambda x: None, X).grad(), TypeError, "grad: the function has 0 results, not one"),
    (lambda p: ricci.missing(jnp.sin, X, context=3), TypeError, "missing: context is 3; a Context is expected"),
    (lambda p: ricci.Program.parse(3), TypeError, "parse: text is 3; a text is expected"),
    (lambda p: p.grad([-1]), ValueError, "grad: argnums[0] is -1; it must be from 0 to 4294967295"),
    (lambda p: p.grad(0), TypeError, "grad: argnums is 0; integers are expected"),
    (lambda p: p.jvp([True, "a"]), TypeError, "jvp: active[1] is 'a'; True or False is expected"),
    (lambda p: p.vmap([0, HUGE], [0], 2), ValueError,
     f"vmap: in_axes[1] is {HUGE}; it must be from -2147483648 to 2147483647"),
    (lambda p: ricci.Executable(3), TypeError, "Executable: program is 3; a Program is expected"),
    (lambda p: ricci.Executable(p, donate=[0] * 9), ValueError,
     "Executable: donate has 9 flags, the program 2 parameters"),
    (lambda p: ricci.Executable(p)(X), ricci.Error, "1 argument given, the program takes 2"),
    (lambda p: ricci.Context(plugins="x.so"), TypeError, "Context: plugins is 'x.so'; paths are expected"),
    (lambda p: p.context.type(12, (HUGE,)), ValueError,
     f"type: shape[0] is {HUGE}; it must be from -9223372036854775808 to 9223372036854775807"),
    (lambda p: ricci.Builder(p.context, "f", []).emit("iota", [], dtype=ricci.DType(12), shape=[2, HUGE]),
     ValueError, f"iota: attribute shape[1] is {HUGE}; it must be from -9223372036854775808 to 9223372036854775807"),
    (lambda p: ricci.Builder(p.context, "f", ["f32"]), TypeError,
     "Builder: params[0] is 'f32'; a pair (dtype, shape) is expected"),
    (lambda p: ricci.Builder(p.context, "f", []).emit("sin", 3), TypeError,
     "sin: operands is 3; integers are expected"),
    (lambda p: rnp.arange(1 << 63), ValueError,
     "arange: from 0 to 9223372036854775808 by 1 are too many elements"),
    (lambda p: rnp.arange(-2, 1 << 63, 1 << 62), ValueError,
     "arange: from -2 to 9223372036854775808 by 4611686018427387904: no integer type holds all of it; give a dtype"),
    (lambda p: rnp.arange(0, 5, 0.0), ValueError, "arange: step is 0"),
    (lambda p: rnp.arange(np.inf), ValueError, "arange: from 0 to inf by 1 has no end"),
    (lambda p: rnp.arange(1.5, np.nan), ValueError, "arange: from 1.5 to nan by 1 has no end"),
    (lambda p: rnp.arange(0, 2j), ValueError, "arange: from 0 to 2j by 1; these must be real numbers"),
    (lambda p: rnp.arange(True), TypeError, "arange: from 0 to True by 1 cannot be of bool; give another dtype"),
    (lambda p: rnp.arange(2, dtype=bool), TypeError, "arange: from 0 to 2 by 1 cannot be of bool; give another dtype"),
]


class WrongCalls(unittest.TestCase):
    def test_argument_numbers(self):
        f = ricci.from_jax(lambda x: x.sum(), X)
        for wrong in (lambda: f.grad(1), lambda: f.jacfwd(-2), lambda: f.value_and_grad((0, 3)),
                      lambda: f.jit(donate=(1,))):
            with self.assertRaisesRegex(ValueError, r"\w+: there is no argument -?\d: the function has 1 positional"):
                wrong()
        np.testing.assert_array_equal(f.grad(-1)(X), np.ones_like(X))

    def test_tangents_and_cotangents(self):
        f = ricci.from_jax(lambda x: x.sum(), X)
        with self.assertRaisesRegex(TypeError, "jvp: 1 primal and 0 tangents"):
            f.jvp((X,), ())
        with self.assertRaisesRegex(TypeError, "linearize: 1 tangent expected, 2 given"):
            f.linearize(X)[1](X, X)
        with self.assertRaisesRegex(ricci.Error, "cotangent of result is object, the program takes float32"):
            f.vjp(X)[1](None)

    def test_elements_are_not_lost(self):
        f = ricci.from_jax(lambda n: n * 2, 3)
        self.assertEqual([int(f(n)) for n in (4, True, np.uint8(5), np.int64(6))], [8, 2, 10, 12])
        for wrong, text in ((2.5, "float64, the program takes int32"), (1 << 40, "that int32, .* cannot hold"),
                            (np.int64(-1 << 31) - 1, "cannot hold"), (1j, "complex128"), ("4", "<U1")):
            with self.assertRaisesRegex(ricci.Error, f"argument 0 is .*{text}"):
                f(wrong)
        g = ricci.from_jax(lambda n: n * 2, np.arange(2))
        np.testing.assert_array_equal(g(np.arange(2)), [0, 2])
        with self.assertRaisesRegex(ricci.Error, "int64 with elements that int32"):
            g(np.array([1 << 40, 0]))
        with self.assertRaisesRegex(ricci.Error, "complex64, the program takes float32"):
            ricci.from_jax(lambda x: x, np.float32(1))(np.complex64(1j))

    def test_files_that_hold_no_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "f.ricci"
            path.write_bytes(bytes(range(256)))
            with self.assertRaisesRegex(ricci.Error, "f.ricci: holds no program, neither in binary form nor as text"):
                ricci.load(path)

    def test_messages_name_the_function(self):
        with self.assertRaisesRegex(ricci.Error, "result 0 of program lambda is"):
            ricci.from_jax(lambda x: x, X).grad()

    def test_messages(self):
        def f(x, y):
            return (x * y).sum()
        f = ricci.from_jax(f, X, X)
        for table, given in ((OF_FUNCTIONS, f), (ELSEWHERE, f.program)):
            for call, kind, message in table:
                with self.subTest(message), self.assertRaises(kind) as raised:
                    call(given)
                self.assertIn(message, str(raised.exception))

    def test_element_types_that_are_not_there(self):
        for dtype in (jnp.int4, jnp.uint4, jnp.int2, jnp.uint2):
            name = jnp.dtype(dtype).name
            why = f"Ricci has no element type {name}; it has bool, float16, "
            with self.assertRaisesRegex(ricci.Error, rf"test_wrong_calls.py:\d+: convert_element_type: {why}"):
                ricci.from_jax(lambda x: x.astype(dtype).astype(jnp.int32), X)  # noqa: B023
            with self.assertRaisesRegex(ricci.Error, rf"^argument p\['w'\]\[1\]: {why}"):
                ricci.from_jax(lambda x, p: x, X, p={"w": (X, jnp.zeros(2, dtype))})

    def test_values_that_jax_traces(self):
        f = ricci.from_jax(jnp.sum, X)
        for call in (jax.jit(f), jax.grad(f), jax.vmap(f)):
            with self.assertRaisesRegex(TypeError, "is a value of a function that JAX traces; Ricci runs outside"):
                call(X)

    def test_leaves_are_named(self):
        p = {"w": X, "b": (X, np.int32(1))}
        f = ricci.from_jax(lambda p, *, s: {"y": p["w"] * s, "n": p["b"][1]}, p, s=X)
        for wrong, message in ((lambda: f({"w": X, "b": (X[:1], 1)}, s=X), r"argument 0['b'][0] has shape (1,)"),
                               (lambda: f(p, s=X[:1]), "argument s has shape (1,)"),
                               (lambda: f.jvp((p,), ({"w": X, "b": (X[:1], None)},), s=X),
                                "tangent of argument 0['b'][0] has shape (1,)"),
                               (lambda: f.vjp(p, s=X)[1]({"y": 1j, "n": None}), "cotangent of result['y'] has shape ()"),
                               (lambda: f.grad(),
                                "grad: argument 0['b'][1] is not floating but i32[]: it has no derivative")):
            with self.assertRaises((ricci.Error, TypeError)) as raised:
                wrong()
            self.assertIn(message, str(raised.exception))

    def test_without_jax(self):
        code = "import sys; sys.modules['jax'] = None\nimport ricci\nricci.from_jax"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertTrue(done.stderr.rstrip().endswith("ricci.from_jax needs JAX: pip install jax==0.10.2"), done.stderr)

    def test_typed_keys_and_their_words(self):
        typed, words = jax.random.key(3), jax.random.key_data(jax.random.key(3))
        for taken, wrong, message in ((typed, words, r"shape (2,), the program takes (), of typed keys (jax.random.key)"),
                                      (words, typed, "shape (), the program takes (2,) (of typed keys the words: "
                                                     "jax.random.key_data)")):
            with self.assertRaises(ricci.Error) as raised:
                ricci.from_jax(jax.random.normal, taken)(wrong)
            self.assertIn(message, str(raised.exception))

    def test_what_numpy_and_jax_users_pass_works(self):
        f = ricci.from_jax(lambda x, y: (x * y).sum(), X, X)
        near = np.testing.assert_allclose
        near(f.grad(np.int64(1))(X, 2 * X), X)
        near(f.vmap(np.int32(2), [np.int8(0), None])(np.stack([X, X]), X), [(X * X).sum()] * 2, rtol=1e-6)
        near(f.jit(donate=0)(X.copy(), X), (X * X).sum(), rtol=1e-6)
        self.assertIn('policy="dots"', f.checkpoint(jax.checkpoint_policies.dots_saveable).text)
        with tempfile.TemporaryDirectory() as folder:
            f.save(os.fsencode(folder + "/f.ricci"))
            self.assertEqual(ricci.load(folder.encode() + b"/f.ricci").program, f.program)

    def test_axes_of_the_upper_part_of_a_tree(self):
        f = ricci.from_jax(lambda p, y: {"a": p["w"][0] * y, "b": p["w"][1]}, {"w": (X, X)}, X)
        xs = np.stack([X, 2 * X], 1)
        ours = f.vmap(2, ({"w": 1}, None), {"a": 1, "b": -1})({"w": (xs, xs)}, X)
        np.testing.assert_allclose(ours["a"], xs * X[:, None])
        np.testing.assert_array_equal(ours["b"], xs)
        with self.assertRaisesRegex(ValueError, "vmap: in_axes: its value specification must be a tree prefix"):
            f.vmap(2, ({"v": 1}, None))


if __name__ == "__main__":
    unittest.main()
