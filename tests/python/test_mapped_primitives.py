"""Primitives with rules that jax.vmap has mapped to another primitive, as equinox makes them (`vprim`): here by a small copy
of that mechanism, because the tests have no equinox."""
import os
import unittest

os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import ricci  # noqa: E402
from jax import lax  # noqa: E402
from jax._src import core  # noqa: E402
from jax._src.interpreters import batching, mlir  # noqa: E402

from test_import import near  # noqa: E402

X = np.array([[0.5, 1.5, -0.25], [1, 2, 3]], np.float32)


def primitive(name, function, types):
    """One with the parameters of equinox's, whose batch is a `vprim`."""
    made = core.Primitive(name)
    made.multiple_results = True
    made.def_impl(function)
    made.def_abstract_eval(types)
    mlir.register_lowering(made, mlir.lower_fun(function, multiple_results=True))

    def batch(axis, values, axes, **params):
        out = VPRIM.bind(*values, prim=made, __axis_size=axis.size, __axis_name=axis.name, __batch_axes=tuple(axes),
                         params=tuple(params.items()))
        return out, [0] * len(out)
    batching.fancy_primitive_batchers[made] = batch
    return made


def _mapped(*values, prim, __axis_size, __axis_name, __batch_axes, params):
    one = lambda *xs: prim.impl(*xs, **dict(params))  # noqa: E731
    return jax.vmap(one, in_axes=__batch_axes, axis_size=__axis_size)(*values)


def _mapped_types(*avals, **params):
    shapes = jax.eval_shape(lambda *xs: _mapped(*xs, **params), *(jax.ShapeDtypeStruct(a.shape, a.dtype) for a in avals))
    return [core.ShapedArray(s.shape, s.dtype) for s in shapes]


VPRIM = primitive("vprim", _mapped, _mapped_types)
# Of a name that the importer knows, with a parameter.
CHOSEN = primitive("maybe_set", lambda p, x, y, *, scale: [jnp.where(p, x * scale, jnp.sin(y))], lambda p, x, y, **_: [x])


class Mapped(unittest.TestCase):
    def test_a_jax_function_once_and_twice(self):
        flags = X > 0.7
        chosen, plain = (lambda *xs, f=f: f(*xs, scale=3)[0] for f in (CHOSEN.bind, CHOSEN.impl))
        for mapped, args in ((jax.vmap, (flags[0], X[0], X[1])), (lambda f: jax.vmap(f, (None, 0, 0)), (True, X[0], X[1])),
                             (lambda f: jax.vmap(f, (0, 1, 0)), (flags[0], X[0][None], X[1])),
                             (lambda f: jax.vmap(jax.vmap(f)), (flags, X, X[::-1]))):
            f, total = mapped(chosen), lambda *xs, f=mapped(plain): (f(*xs) ** 2).sum()
            self.assertIn("vprim", str(jax.make_jaxpr(f)(*args)))
            near(ricci.from_jax(f, *args)(*args), mapped(plain)(*args))
            ours = ricci.from_jax(lambda *xs, f=f: (f(*xs) ** 2).sum(), *args)
            near(ours.grad((1, 2))(*args), jax.grad(total, (1, 2))(*args))

    def test_a_primitive_of_the_importer(self):
        params = dict(dimension=0, is_stable=True, num_keys=1)

        def f(x):
            outs = VPRIM.bind(x, -x, prim=lax.sort_p, __axis_size=2, __axis_name=None, __batch_axes=(0, 0),
                              params=tuple(params.items()))
            return (outs[0] * outs[1] ** 2 * jnp.arange(3.0)).sum()

        def plain(x):
            first, second = lax.sort((x, -x), dimension=1, is_stable=True, num_keys=1)
            return (first * second ** 2 * jnp.arange(3.0)).sum()
        ours = ricci.from_jax(f, X)
        self.assertIn(" sort(", ours.text)
        near(ours(X), plain(X))
        near(ours.grad()(X), jax.grad(plain)(X))


if __name__ == "__main__":
    unittest.main()
