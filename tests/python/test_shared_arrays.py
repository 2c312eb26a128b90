"""Arrays that go in and out without copies: NumPy, JAX, libraries that have only `__dlpack__`, PyTorch where it is."""
import gc
import importlib.util
import operator
import unittest
import weakref

import numpy as np
import ricci
import ricci.numpy as rnp
from ricci.abi import dlpack_tensor as dlpack

N = 4096  # elements: large enough that no library copies to align them


def aligned(n=N):
    """An array on a boundary of 64 bytes, which every library shares."""
    room = np.empty(n + 16, np.float32)
    start = -room.ctypes.data % 64 // 4
    x = room[start:start + n]
    x[:] = np.arange(n)
    return x


class OnlyDlpack:
    """An array of a library that NumPy does not know."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.asked = array, array.shape, array.dtype, 0

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **how):
        self.asked += 1
        return self.array.__dlpack__(**how)


class Addresses:
    """A function that notes where its argument lies: what reaches the compiled code."""

    def __init__(self):
        self.seen = []
        self.executable = ricci.Executable(ricci.Program.parse(
            f"program f(%x: f32[{N}]) {{ %y: f32[{N}] = add(%x, %x) return %y }}"))

    def __call__(self, x):
        from ricci.calls.keys import to_host
        self.seen.append(to_host(x).ctypes.data)
        return self.executable(to_host(x))[0]


class Inputs(unittest.TestCase):
    def test_arrays_are_passed_by_address(self):
        import jax
        x, run = aligned(), Addresses()
        other = jax.device_put(x)
        for given, address in ((x, x.ctypes.data), (OnlyDlpack(x), x.ctypes.data), (other, other.unsafe_buffer_pointer()),
                               (memoryview(x), x.ctypes.data)):
            np.testing.assert_array_equal(run(given), 2 * x)
            self.assertEqual(run.seen[-1], address)

    def test_a_jitted_function_takes_them(self):
        import jax
        x = aligned()
        f = ricci.jit(lambda x: x * 2)
        for given in (x, OnlyDlpack(x), jax.numpy.asarray(x), ricci.asarray(x, "cpu"), ricci.from_dlpack(x)):
            np.testing.assert_array_equal(f(given), 2 * x)
        self.assertEqual(f.cache_size(), 1)

    def test_read_only_arrays(self):
        """They are read where they are; a run that one is donated to writes to a copy."""
        x = aligned()
        x.flags.writeable = False
        run = Addresses()
        run(x)
        self.assertEqual(run.seen, [x.ctypes.data])
        g = ricci.jit(lambda x: x + 1, donate_argnums=0)
        np.testing.assert_array_equal(g(x), np.arange(N) + 1)
        np.testing.assert_array_equal(x, np.arange(N))

    def test_from_dlpack_shares(self):
        x = aligned()
        a = ricci.from_dlpack(x)
        x[0] = 7
        self.assertEqual(np.asarray(a)[0], 7)
        self.assertEqual(np.from_dlpack(a).ctypes.data, x.ctypes.data)
        kept = weakref.ref(x.base)
        del x
        gc.collect()
        self.assertIsNotNone(kept())
        del a
        gc.collect()
        self.assertIsNone(kept())
        self.assertEqual(dlpack._kept, {})
        with self.assertRaisesRegex(TypeError, "from_dlpack: x is of type list, which has no __dlpack__"):
            ricci.from_dlpack([1])
        np.testing.assert_array_equal(ricci.jit(lambda: rnp.from_dlpack(np.ones(2)))(), np.ones(2))


class Results(unittest.TestCase):
    def test_numpy_and_jax_share_results(self):
        import jax
        y = ricci.jit(lambda x: x * 2)(aligned())
        self.assertEqual(np.from_dlpack(y).ctypes.data, y.ctypes.data)
        self.assertTrue(y.flags.owndata and y.flags.writeable)
        a = ricci.from_dlpack(aligned())
        theirs = jax.dlpack.from_dlpack(a)
        self.assertEqual(theirs.unsafe_buffer_pointer(), np.from_dlpack(a).ctypes.data)
        np.testing.assert_array_equal(theirs, np.arange(N))

    def test_results_outlive_everything(self):
        executable = ricci.Executable(ricci.Program.parse("program f(%x: f32[3]) { %y: f32[3] = neg(%x) return %y }"))
        (y,) = executable.enqueue(np.ones(3, np.float32))
        shared = np.from_dlpack(y)
        del executable, y
        gc.collect()
        np.testing.assert_array_equal(shared, -np.ones(3))
        del shared
        gc.collect()
        self.assertEqual(dlpack._kept, {})

    def test_flags(self):
        """Arrays are immutable, so they are shared read-only; a copy is the consumer's."""
        a = ricci.asarray(np.arange(3, dtype=np.float32), "cpu")
        self.assertFalse(np.from_dlpack(a).flags.writeable)
        mine = np.from_dlpack(a, copy=True)
        self.assertTrue(mine.flags.writeable)
        mine[0] = 9
        self.assertEqual(np.asarray(a)[0], 0)
        capsule = a.__dlpack__(max_version=(1, 0), copy=True)
        tensor = dlpack._Managed.from_address(dlpack._pointer_in(capsule, dlpack.VERSIONED))
        self.assertEqual(tensor.flags, dlpack.IS_COPIED)
        del capsule
        dlpack.collect()

    def test_what_looks_at_elements(self):
        """As in NumPy, whose copy it looks at."""
        for array in (np.zeros(()), np.ones((1, 1), np.int32), np.arange(3.0), np.array(2 + 1j), np.zeros((2, 0))):
            ours = ricci.asarray(array)
            self.assertEqual((ours.ndim, ours.size, ours.tolist()), (array.ndim, array.size, array.tolist()))
            np.testing.assert_array_equal(ours == array, array == array)
            for look in (bool, int, float, complex, len, operator.index, lambda x: x.item()):
                results = []
                for x in (ours, array):
                    try:
                        results.append(look(x))
                    except (TypeError, ValueError) as error:
                        results.append(type(error))
                self.assertEqual(*results, f"{look} of {array!r}")

    def test_values_share_nothing(self):
        with self.assertRaisesRegex(ricci.TracingError, r"the memory of Value\(f32\[\]\) is not known .* return it"):
            ricci.jit(np.from_dlpack)(1.0)

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed: its arrays are not tested")
    def test_torch(self):
        import torch
        x = torch.arange(N, dtype=torch.float32)
        run = Addresses()
        np.testing.assert_array_equal(run(x), 2 * np.arange(N))
        self.assertEqual(run.seen[-1], x.data_ptr())
        y = torch.from_dlpack(ricci.from_dlpack(x))
        self.assertEqual(y.data_ptr(), x.data_ptr())


if __name__ == "__main__":
    unittest.main()
