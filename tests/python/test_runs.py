"""Runs that end early, profiles, and where a NaN comes from."""
import threading
import unittest

import numpy as np
import ricci
import ricci.numpy as rnp

LONG = ricci.jit(lambda x: ricci.while_loop(lambda v: v[0] < 1e12, lambda v: rnp.sin(v) * 0 + v + 1, x))
X = np.ones(3)


class Limits(unittest.TestCase):
    def setUp(self):
        LONG(np.full(3, 1e13))  # compiled

    def test_a_deadline(self):
        with self.assertRaises(ricci.DeadlineExceeded) as raised, ricci.limits(timeout=0.05):
            LONG(X)
        self.assertIsInstance(raised.exception, TimeoutError)
        self.assertIsInstance(raised.exception, ricci.Error)
        with ricci.limits(timeout=1000):
            np.testing.assert_array_equal(LONG(np.full(3, 1e13)), np.full(3, 1e13))
            np.testing.assert_array_equal(rnp.add(X, 1), X + 1)

    def test_the_earliest_of_several(self):
        with self.assertRaises(ricci.DeadlineExceeded), ricci.limits(timeout=0.02), ricci.limits(timeout=1000):
            LONG(X)
        with ricci.limits(timeout=0), self.assertRaises(ricci.DeadlineExceeded):
            LONG(X)
        self.assertIsNone(ricci.abi.runs.current_limits())

    def test_cancel(self):
        cancel = ricci.Cancel()
        threading.Timer(0.05, cancel).start()
        with self.assertRaises(ricci.Cancelled), ricci.limits(cancel=cancel, timeout=1000):
            LONG(X)
        self.assertEqual(repr(cancel), "<ricci.Cancel, called>")
        with self.assertRaises(ricci.Cancelled), ricci.limits(cancel=cancel):
            LONG(X)

    def test_other_threads_have_their_own(self):
        found = []
        with ricci.limits(timeout=0):
            thread = threading.Thread(target=lambda: found.append(LONG(np.full(3, 1e13))))
            thread.start()
            thread.join()
        self.assertEqual(len(found), 1)

    def test_wrong_calls(self):
        for text, named in (("limits: timeout is 'x'; a number of seconds", {"timeout": "x"}),
                            ("limits: timeout is -1; a number of seconds", {"timeout": -1}),
                            ("limits: timeout is nan; a number of seconds", {"timeout": float("nan")}),
                            ("limits: cancel is 3; a Cancel is expected", {"cancel": 3})):
            with self.assertRaisesRegex(TypeError, text), ricci.limits(**named):
                pass


class Faults(unittest.TestCase):
    def test_profile(self):
        m = np.ones((64, 64), np.float32)
        f = ricci.jit(lambda x, n: rnp.tanh(x @ x) @ x + n, static_argnums=1)
        result, spans = f.profile(m, 2)
        np.testing.assert_allclose(result, f(m, 2))
        self.assertTrue(spans)
        for span in spans:
            self.assertIn(span.kind, ("kernel", "library", "copy", "source"))
            self.assertLessEqual(span.begin_ns, span.end_ns)
        self.assertIn(__file__, {s.file for s in spans})

    def test_where_a_nan_comes_from(self):
        f = ricci.jit(lambda x: rnp.sum(rnp.log(x - 1)))  # the line of the fault
        self.assertIsNone(f.check_finite(X + 1))
        with self.assertRaisesRegex(ricci.Error, r"test_runs.py:\d+: log: .*") as raised:
            f.check_finite(X - 5)
        self.assertEqual(raised.exception.primitive, "log")
        loop = ricci.jit(lambda x: ricci.scan(lambda c, a: (c / a, None), x[0], x)[0])
        with self.assertRaisesRegex(ricci.Error, r"test_runs.py:\d+: div: "):
            loop.check_finite(np.array([1.0, 2, 0, 4]))


if __name__ == "__main__":
    unittest.main()
