"""Derivatives and batches of transforms, factorisations and statistics, maps and scans next to JAX's; wrong calls."""
import unittest

import jax
import jax.numpy as jnp
import numpy as np
import numpy_cases
import ricci
import ricci.numpy as rnp
from shares import share

# Functions of a matrix x of 3 by 4 and a vector v of 4 that are smooth there; `lib` is jax.lax or ricci.
SMOOTH = """
np.fft.fft(x); np.fft.ifft(x, 6); np.fft.rfft(x); np.fft.irfft(x * 1j); np.fft.hfft(x); np.fft.rfftn(x); np.fft.irfft2(x)
np.linalg.pinv(x); np.linalg.lstsq(x.T, v)[0]; np.linalg.lstsq(x.T, x.T * v[:, None])[1]; np.linalg.cond(x, 2)
np.linalg.tensorsolve(np.reshape(x.T @ x + 2 * np.eye(4), (2, 2, 4)), np.reshape(v, (2, 2)))
np.linalg.multi_dot([v, x.T, x]); np.abs(np.linalg.eigvals(x[:, :3] * 0.1 + np.diag(np.arange(1.0, 4))))
np.convolve(v, x[0]); np.correlate(x[0], v, "same"); np.cov(x); np.corrcoef(x); np.quantile(x, 0.3, axis=1)
np.polyval(v, x); np.polymul(v, x[0]); np.polyint(v, 2); np.polyfit(np.arange(4.0), v * x[0], 1); np.vander(v, 3)
np.gradient(x)[1]; np.gradient(v, np.array([0.0, 1, 3, 4])); np.kaiser(5, v[0] ** 2); np.unwrap(v)
lib.map(lambda r: r * r @ v, x); lib.map(lambda r: r * r @ v, x, batch_size=2)
lib.associative_scan(lambda a, b: a * b, x, axis=1); lib.associative_scan(lambda a, b: a * b + a, x, reverse=True)
"""
TEXTS = share(t.strip() for line in SMOOTH.strip().splitlines() for t in line.split(";"))
X, V = numpy_cases.ARRAYS["x"], numpy_cases.ARRAYS["v"]


def _size(np_like, found):
    return np_like.sum(np_like.real(found * np_like.conj(found)))


def _sizes(np_like, lib):
    """What each function gives, as one number."""
    return lambda x, v: np_like.stack([
        _size(np_like, eval(t, {"np": np_like, "lib": lib, "x": x, "v": v})) for t in TEXTS])  # noqa: S307, texts above


class Smooth(unittest.TestCase):
    def agree(self, ours, theirs):
        for a, b in zip(jax.tree_util.tree_leaves(ours), jax.tree_util.tree_leaves(theirs), strict=True):
            for text, mine, other in zip(TEXTS, np.asarray(a), np.asarray(b), strict=True):
                np.testing.assert_allclose(mine, other, rtol=2e-3, atol=2e-3 * np.abs(other).max(), err_msg=text)

    def test_forward_and_reverse(self):
        ours = ricci.jit(lambda x, v: [f(_sizes(rnp, ricci), (0, 1))(x, v) for f in (ricci.jacfwd, ricci.jacrev)])(X, V)
        theirs = jax.jacfwd(_sizes(jnp, jax.lax), (0, 1))(X, V)
        for one in ours:
            self.agree(one, theirs)

    def test_batches(self):
        xs, vs = np.stack([X, 1.5 * X, X[::-1]]), np.stack([V, 2 * V, V[::-1]])
        batch = ricci.jit(ricci.vmap(_sizes(rnp, ricci)))(xs, vs)
        one = ricci.jit(_sizes(rnp, ricci))
        for row, x, v in zip(batch, xs, vs):
            self.agree(row, one(x, v))

    def test_every_function_has_a_case(self):
        for name in ("fft", "linalg"):
            own = getattr(rnp, name)
            without = [n for n in own.__all__ if f"np.{name}.{n}(" not in numpy_cases.CASES]
            self.assertEqual([n for n in without if getattr(rnp, n, None) is not getattr(own, n)], [], name)


class Calls(unittest.TestCase):
    def test_sizes_of_known_arrays(self):
        """Of arrays that are known, a size may follow from their elements."""
        np.testing.assert_array_equal(rnp.bincount(np.array([1, 2, 2, 5])), [0, 1, 2, 0, 0, 1])
        np.testing.assert_array_equal(rnp.bincount(np.array([1, 0]), minlength=3), [1, 1, 0])
        with self.assertRaisesRegex(ricci.TracingError, "bincount: the size of the result.*; give length"):
            ricci.jit(rnp.bincount)(np.array([1, 2]))

    def test_wrong_calls(self):
        v, m = np.ones(3, np.float32), np.ones((3, 4), np.float32)
        for call, words in (
                (lambda: rnp.fft.fft(m, norm="half"), "fft: norm is 'half'; it must be backward, ortho or forward"),
                (lambda: rnp.fft.fft(m, 0), r"fft: the lengths are \(0,\); each must be at least 1"),
                (lambda: rnp.fft.fftn(np.ones((1,) * 4)), "fftn: 4 dimensions are transformed; at most 3 are possible"),
                (lambda: rnp.fft.fft2(m, (2,)), "fft2: 1 lengths and 2 axes are given"),
                (lambda: rnp.fft.rfft(m * 1j), "rfft: the array is complex64; it must be real"),
                (lambda: rnp.fft.fftfreq(0), "fftfreq: n is 0; it must be at least 1"),
                (lambda: rnp.linalg.eig(m), r"eig: an array of shape \(3, 4\) is given; square matrices are expected"),
                (lambda: rnp.linalg.lstsq(m, np.ones(4)), r"lstsq: arrays of shapes \(3, 4\) and \(4,\)"),
                (lambda: rnp.linalg.multi_dot([v]), "multi_dot: 1 arrays are given; at least 2"),
                (lambda: rnp.linalg.multi_dot([m, m]), r"multi_dot: arrays 0 and 1 have shapes \(3, 4\) and \(3, 4\)"),
                (lambda: rnp.linalg.tensorinv(m), r"tensorinv: an array of shape \(3, 4\) with ind 2 is not a square matrix"),
                (lambda: rnp.convolve(m, v), r"convolve: arrays of shapes \(3, 4\) and \(3,\).*vectors"),
                (lambda: rnp.convolve(v, v, "all"), "convolve: mode is 'all'; it must be full, same or valid"),
                (lambda: rnp.quantile(m, 0.5, method="best"), "quantile: method is 'best'; it must be linear, "),
                (lambda: rnp.cov(m, fweights=v), r"cov: fweights has shape \(3,\); there are 4 samples"),
                (lambda: rnp.polyder(v, -1), "polyder: m is -1; it must not be negative"),
                (lambda: rnp.polyfit(v, m[:2], 1), r"polyfit: x and y have shapes \(3,\) and \(2, 4\)"),
                (lambda: rnp.gradient(v, 1.0, 2.0), "gradient: 2 distances are given for 1 axes"),
                (lambda: rnp.gradient(v[:1]), "gradient: axis 0 has 1 samples; at least 2 are needed"),
                (lambda: rnp.lexsort((v, m)), r"lexsort: keys have the shapes \(3,\), \(3, 4\)"),
                (lambda: ricci.map(lambda x: x, (v, m[:2])),
                 r"scan: there must be one length; it is 3 in xs\[0\] and 2 in xs\[1\]"),
                (lambda: ricci.map(lambda x: x, 1.0, batch_size=2), "map: the leaf is a number"),
                (lambda: ricci.associative_scan(lambda a, b: a.sum(), v),
                 r"associative_scan: the function gives .* of f32\[\]; it must give what it is given, .* of f32\[1\]"),
                (lambda: ricci.associative_scan(3, v), "associative_scan")):
            with self.subTest(words), self.assertRaisesRegex((TypeError, ValueError), words):
                call()


if __name__ == "__main__":
    unittest.main()
