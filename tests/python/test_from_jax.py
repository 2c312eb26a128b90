"""Functions of JAX's own libraries, imported: values, gradients and batches agree with JAX's."""
import os
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"  # its code runs once

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402

import jax_functions  # noqa: E402
from shares import share  # noqa: E402


def leaves(tree):
    found = jax.tree_util.tree_leaves(tree)
    return [np.asarray(jax.random.key_data(x) if is_key(x) else x) for x in found]


def is_key(x):
    return hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jax.dtypes.prng_key)


def stacked(tree):
    return jax.tree_util.tree_map(lambda x: jnp.stack([x, x]), tree)


def is_float(x):
    return not is_key(x) and jnp.issubdtype(jnp.result_type(x), jnp.floating)


def total(fn):
    """The sum of all floating results."""
    def f(*args):
        return sum((x.sum() for x in jax.tree_util.tree_leaves(fn(*args)) if is_float(x)), jnp.float32(0))
    return f


def near(ours, theirs, what):
    ours, theirs = leaves(ours), leaves(theirs)
    assert len(ours) == len(theirs), what
    for x, y in zip(ours, theirs):
        assert (x.shape, x.dtype) == (y.shape, y.dtype), f"{what}: {x.dtype}{x.shape}, JAX has {y.dtype}{y.shape}"
        scale = max(1.0, float(np.abs(np.nan_to_num(y)).max(initial=0))) if y.dtype.kind in "fc" else 0.0
        np.testing.assert_allclose(x, y, rtol=1e-4 if scale else 0, atol=1e-5 * scale, err_msg=what)


def jax_results(fn, args, argnums):
    """(values, gradients or None, batch), compiled as one function."""
    def f(*xs):
        batch = jax.vmap(fn)(*stacked(xs))
        slopes = jax.grad(total(fn), argnums)(*xs) if argnums else None
        return fn(*xs), slopes, batch
    return jax.jit(f)(*args)


def argnums_of(fn, args):
    """The floating arguments by which JAX has a gradient: () if there are none or it has no reverse mode."""
    floating = tuple(i for i, a in enumerate(args) if all(map(is_float, jax.tree_util.tree_leaves(a))))
    if not floating or not any(map(is_float, jax.tree_util.tree_leaves(jax.eval_shape(fn, *args)))):
        return ()
    try:
        jax.eval_shape(jax.grad(total(fn), floating), *args)
    except (TypeError, ValueError, NotImplementedError):
        return ()
    return floating


def compare(fn, args, imported_slopes=False):
    """`imported_slopes`: is the gradient that JAX makes imported and run too?"""
    argnums = argnums_of(fn, args)
    values, slopes, batch = jax_results(fn, args, argnums)
    f = ricci.from_jax(fn, *args)
    near(f(*args), values, "values")
    near(f.vmap(2)(*stacked(args)), batch, "vmap")
    if argnums:
        near(ricci.from_jax(total(fn), *args).grad(argnums)(*args), slopes, "gradient")
        by_jax = jax.grad(total(fn), argnums)
        assert ricci.missing(by_jax, *args) == {}
        if imported_slopes:
            near(ricci.from_jax(by_jax, *args)(*args), slopes, "gradient that JAX makes")


IMPORTED_SLOPES = {"numpy_linalg", "scipy_linalg", "lax_linalg", "loops"}


class FromJax(unittest.TestCase):
    def check(self, group):
        for name, fn, args in share(jax_functions.GROUPS[group]()):
            with self.subTest(f"{group}.{name}"):
                lacks = ricci.missing(fn, *args)
                self.assertEqual(lacks, {})
                compare(fn, args, group in IMPORTED_SLOPES)


for _group in jax_functions.GROUPS:
    setattr(FromJax, f"test_{_group}", lambda self, group=_group: self.check(group))

if __name__ == "__main__":
    unittest.main()
