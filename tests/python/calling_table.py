"""Calls of jit, of imported functions and of executables, each made three times: what they give or raise, as text.

    python calling_table.py

`test_native_calls.py` runs it with the extension and without it, and compares. Where a call does not need Python code
again, the second and third are made by the extension; the last line is how many calls were not.
"""
import collections
import enum
import functools
import warnings

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import ricci
import ricci.numpy as rnp

X = np.array([0.5, 1.5, -0.25], np.float32)
M = np.arange(6, dtype=np.float32).reshape(2, 3)
KEY = jax.random.key(7)
Point = collections.namedtuple("Point", "x y")


class Level(enum.IntEnum):
    LOW = 2


class Pair:
    """A node for Ricci and for JAX."""

    def __init__(self, a, b, name="pair"):
        self.a, self.b, self.name = a, b, name

    def __repr__(self):
        return f"Pair({shown(self.a)}, {shown(self.b)}, {self.name})"


ricci.tree.register_node(Pair, lambda p: ((p.a, p.b), p.name), lambda name, parts: Pair(*parts, name))
jax.tree_util.register_pytree_node(Pair, lambda p: ((p.a, p.b), p.name), lambda name, parts: Pair(*parts, name))


class Refusing:
    """What has an array that cannot be had."""
    shape, dtype = (3,), np.dtype(np.float32)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("no elements")


class Unordered:
    def tree_flatten(self):
        raise RuntimeError("no children")


ricci.tree.register_node(Unordered, Unordered.tree_flatten, lambda data, parts: Unordered())


def shown(x):
    """A result with the types of all that is in it."""
    if isinstance(x, np.ndarray):
        return f"{x.dtype}{list(x.shape)}{x.tolist()}"
    if isinstance(x, dict):
        return f"{type(x).__name__}({', '.join(f'{k!r}: {shown(v)}' for k, v in x.items())})"
    if isinstance(x, (tuple, list)):
        return f"{type(x).__name__}({', '.join(map(shown, x))})"
    return repr(x) if isinstance(x, (Pair, type(None))) else f"{type(x).__name__} {x}"


def plus(x, y):
    return x + y


def parts(p, q=None):
    return {"sum": p["w"] + p["b"][0], "rest": [p["b"][1], None, (p["w"],)]}


def same(x):
    return x


def total(t, leaves):
    return functools.reduce(plus, leaves(t))


W = {"w": X, "b": (X, np.float32(2))}
SCALARS = [1, 1.5, True, 1j, 2 ** 31, -2 ** 31, 2 ** 62, 2 ** 63, 2 ** 70, 1e300, float("inf"), float("nan"),
           np.float64(3), np.int8(-1), np.bool_(True), np.uint64(2 ** 63), np.datetime64("2020-01-01"), np.str_("a"),
           Level.LOW, np.array(2.5)]
ARRAYS = [X, X[::-1], X.astype(">f4"), X.astype(np.float64), X.astype(np.int64), X[:2], M, X.view(np.matrix),
          X.tolist(), tuple(X), None, "a", X.astype("f2"), X > 0, np.float32(1), ricci.asarray(X), jnp.asarray(X),
          ricci.ShapeDtypeStruct((3,), np.float32), Refusing(), np.ma.array(X), X.astype(ml_dtypes.bfloat16),
          X.astype(np.dtype("f4", metadata={"a": 1})), object(), X.astype(object),
          np.frombuffer(b"\0" * 13, np.uint8)[1:].view(np.float32)]
TREES = [W, {**W, "c": X}, {"w": X}, {"b": (X, np.float32(2)), "w": X}, {"w": X, "b": [X, np.float32(2)]},
         {"w": X, "b": (X, 2.0)}, {"w": X, "b": (X, 2)}, {"w": X, "b": (X, None)},
         collections.OrderedDict(b=(X, 2.0), w=X), [W], None, {1: X, "w": X, "b": (X, X)},
         {"w": X, "b": Point(X, 2.0)}, {"w": X, "b": (X[None], np.float32(2))}, collections.defaultdict(list, W)]
NODES = [Point(X, X), Pair(X, X), Pair(X, X, "other"), Pair(X, (X, 1.0)), collections.OrderedDict(b=X, a=X),
         [X, Pair(X, X)], (X, X), Unordered(), {"p": Point(X, Pair(X, X))}]

JIT = ricci.jit(plus)
OF_JIT = {
    "two arrays": [(JIT, (x, X), {}) for x in ARRAYS],
    "numbers": [(JIT, (x, y), {}) for x in SCALARS for y in (X, 1, np.float32(1))],
    "by name": [(JIT, (), {"x": X, "y": X}), (JIT, (X,), {"y": 2}), (JIT, (X,), {"z": 2}), (JIT, (X,), {}),
                (JIT, (X, X, X), {})],
    "a tree": [(ricci.jit(parts), (p,), {}) for p in TREES] + [(ricci.jit(parts), (W,), {"q": p}) for p in TREES],
    "nodes": [(ricci.jit(same), (x,), {}) for x in NODES],
    "a tree of one": [(ricci.jit(lambda t: total(t, ricci.tree.leaves)), (x,), {}) for x in NODES],
    "static": [(ricci.jit(lambda x, n: x * n if n else x, static_argnums=1), (X, n), {})
               for n in (0, 1, 1.0, True, "a", (1, 2), [1], ({1},), (frozenset({1}),), None, Level.LOW, 2)],
    "static by name": [(ricci.jit(lambda x, n=2: x * n, static_argnames="n"), (X, *a), k)
                       for a, k in (((), {}), ((3,), {}), ((), {"n": 3}), ((), {"n": [3]}), ((), {"n": 3.0}))],
    "nothing": [(ricci.jit(lambda: rnp.ones(3)), (), {}), (ricci.jit(lambda x: ()), (X,), {}),
                (ricci.jit(lambda x: None), (X,), {})],
    "a check that fails": [(ricci.jit(lambda x: ricci.pure_callback(lambda v: 1 / 0, x, x)), (X,), {})],
    "donated": [(ricci.jit(plus, donate_argnums=0), (x, X), {})
                for x in (np.ones(3, np.float32), np.ones((2, 3), np.float32), 1.0)],
    "keys": [(ricci.jit(lambda k: ricci.random.uniform(k, (2,))), (k,), {})
             for k in (KEY, np.array([0, 7], np.uint32), jax.random.PRNGKey(7))],
}

IMPORTED = ricci.from_jax(plus, X, X)
OF_IMPORTED = {
    "two arrays": [(IMPORTED, (X, x), {}) for x in ARRAYS],
    "numbers": [(ricci.from_jax(same, jax.ShapeDtypeStruct((), t)), (x,), {}) for t in
                (np.float32, np.float16, np.int8, np.uint32, np.int32, np.bool_, np.complex64, ml_dtypes.bfloat16)
                for x in SCALARS],
    "by name": [(ricci.from_jax(plus, X, y=X), a, k)
                for a, k in (((X,), {"y": X}), ((X, X), {}), ((), {}), ((X,), {"z": X}))],
    "a tree": [(ricci.from_jax(parts, W), (p,), {}) for p in TREES],
    "nodes": [(ricci.from_jax(same, n), (x,), {})
              for n in (NODES[0], NODES[1], NODES[4], NODES[5], NODES[8]) for x in NODES],
    "gradients": [(f, (X, x), {}) for x in (X, X[:2], 1.0) for f in
                  (ricci.from_jax(lambda x, y: jnp.sum(jnp.sin(x) * y), X, X).value_and_grad((0, 1)), IMPORTED.vmap(3),
                   IMPORTED.jacfwd((0, 1)))],
    "keys": [(ricci.from_jax(jax.random.uniform, KEY), (k,), {})
             for k in (KEY, jax.random.key(1), np.uint64(5), X, jax.random.split(KEY))]
    + [(ricci.from_jax(lambda k: jax.random.key_data(jax.random.split(k)), KEY), (KEY,), {})],
    "of a file": [(ricci.Function(IMPORTED.program), (X, x), {}) for x in ARRAYS],
}
OF_EXECUTABLES = {
    "arrays": [(IMPORTED.executable, (X, x), {}) for x in ARRAYS],
    "counts": [(IMPORTED.executable, a, k) for a, k in (((X,), {}), ((X, X, X), {}), ((X, X), {"z": 1}))],
    "numbers": [(ricci.Executable(ricci.Program.parse(f"program f(%x: {t}[]) {{ return %x }}")), (x,), {})
                for t in ("f32", "f64", "i8", "u64", "i64", "bool", "c64", "c128") for x in SCALARS],
}


def outcome(function, arguments, named):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            text = shown(function(*arguments, **named))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
    return " ".join([text, *sorted({f"(warns: {w.message})" for w in warned})])


def counted(counts, name, kind):
    """Counts the calls of a class that run Python code."""
    own = kind._call

    def call(self, arguments, named):
        counts[name] += 1
        return own(self, arguments, named)
    kind._call = call


def main():
    counts = collections.Counter()
    for name, kind in (("jit", type(JIT)), ("imported", ricci.Function), ("executable", ricci.Executable)):
        counted(counts, name, kind)
    made = 0
    for table, groups in (("jit", OF_JIT), ("imported", OF_IMPORTED), ("executable", OF_EXECUTABLES)):
        for group, calls in groups.items():
            for i, (function, arguments, named) in enumerate(calls):
                found = [outcome(function, arguments, named) for _ in range(3)]
                made += 3
                assert group == "donated" or len(set(found)) == 1, (table, group, i, found)
                print(f"{table}, {group}, {i}: {found[0]}")
    print(f"calls: {made}; with Python code: {dict(counts)}")


if __name__ == "__main__":
    main()
