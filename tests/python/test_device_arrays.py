"""Arrays on devices, and how other libraries share them. GPUs are simulated: tests/cuda/standin."""
import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import ricci
from ricci.abi import dlpack_tensor as dlpack

DOUBLE = "program double(%x: f32[4]) { %y: f32[4] = add(%x, %x) return %y }"
BUILD = pathlib.Path(os.environ["RICCI_PREFIX"])
STANDIN, PLUGIN = BUILD / "tests/cuda/libricci_standin_cuda.so", BUILD / "plugins/cuda/libricci_plugin_cuda.so.0"


class Wrapper:
    """A library on the CPU: an array behind a `__dlpack__` that takes what `takes` says."""

    def __init__(self, array, takes):
        self.array, self.takes, self.given = array, takes, None

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **given):
        unknown = set(given) - set(self.takes)
        if unknown:
            raise TypeError(f"unexpected keyword arguments {unknown}")
        self.given = given
        return self.array.__dlpack__(**given)


class NvidiasPackages(unittest.TestCase):
    """Their folders are where the plugin `cuda` looks for NVRTC too."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        for package in "cu13", "cuda_nvrtc", "cublas":
            (pathlib.Path(self.folder.name) / "nvidia" / package / "lib").mkdir(parents=True)
        self.place("cu13", "libnvrtc.so.13")
        self.place("cuda_nvrtc", "libnvrtc.so.12")
        self.place("cublas", "libcublas.so.13")

    def place(self, package, name):
        os.symlink(STANDIN, pathlib.Path(self.folder.name) / "nvidia" / package / "lib" / name)

    def run_python(self, code):
        path = os.pathsep.join([self.folder.name, *sys.path])
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, text=True,
                              capture_output=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_folders(self):
        found = self.run_python("from ricci.abi.nvidia import library_folders\nprint(*library_folders())")
        ours = [f"{self.folder.name}/nvidia/{package}/lib" for package in ("cuda_nvrtc", "cu13")]
        self.assertEqual([folder for folder in found if folder.startswith(self.folder.name)], ours)

    def test_the_plugin_is_given_them(self):
        code = f'''
import ricci
for own in {{}}, {{"cuda.libraries": "/mine"}}:
    given, config = [], ricci.Context.config
    ricci.Context.config = lambda self, key, value: (given.append((key, value)), config(self, key, value))
    ricci.Context([{str(PLUGIN)!r}], **{{"cuda.driver": {str(STANDIN)!r}, "cuda.compiler": {str(STANDIN)!r}, **own}})
    ricci.Context.config = config
    print(*[value for key, value in given if key == "cuda.libraries"])
'''
        given, own = self.run_python(code)
        self.assertIn(f"{self.folder.name}/nvidia/cu13/lib", given.split(":"))
        self.assertEqual(own, "/mine")


class OnTheHost(unittest.TestCase):
    def test_numpy_takes_our_arrays(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        a = ricci.asarray(x, "cpu")
        for taken in (np.from_dlpack(a), np.from_dlpack(Wrapper(a, ["stream", "max_version"])),
                      np.from_dlpack(Wrapper(a, ["stream"]))):
            np.testing.assert_array_equal(taken, x)
            self.assertNotEqual(taken.ctypes.data, x.ctypes.data)
        first, second = np.from_dlpack(a), np.from_dlpack(Wrapper(a, ["stream"]))
        self.assertEqual(first.ctypes.data, second.ctypes.data)
        del a
        gc.collect()
        np.testing.assert_array_equal(first, x)
        np.testing.assert_array_equal(second, x)
        del first, second, taken
        self.assertEqual(dlpack._kept, {})

    def test_other_byte_orders(self):
        a = ricci.asarray(np.array([1, 2, 3], ">f4"), "cpu")
        np.testing.assert_array_equal(np.asarray(a), np.array([1, 2, 3], np.float32))

    def test_jax(self):
        import jax
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(jax.dlpack.from_dlpack(ricci.asarray(x, "cpu")), x)
        np.testing.assert_array_equal(np.asarray(ricci.asarray(jax.numpy.asarray(x), "cpu")), x)

    def test_capsules_that_nobody_takes(self):
        context = ricci.Context()
        before = context.memory_stats("cpu")["bytes_in_use"]
        a = ricci.asarray(np.ones(5000), "cpu", context)
        capsules = [a.__dlpack__(), a.__dlpack__(max_version=(1, 0))]
        del a
        self.assertEqual(context.memory_stats("cpu")["bytes_in_use"], before + 40000)
        capsules.clear()
        self.assertEqual(context.memory_stats("cpu")["bytes_in_use"], before)
        self.assertEqual(dlpack._kept, {})

    def test_what_a_consumer_refuses(self):
        import ml_dtypes
        context = ricci.Context()
        for takes in (["stream", "max_version"], ["stream"]):
            a = ricci.asarray(np.ones(3, ml_dtypes.bfloat16), "cpu", context)
            with self.assertRaises((BufferError, RuntimeError, TypeError)) as caught:
                np.from_dlpack(Wrapper(a, takes))
            self.assertNotIsInstance(caught.exception, SystemError)
            self.assertIn("dtype", str(caught.exception))
            del a, caught
            gc.collect()
            self.assertEqual(dlpack._given, [])
            self.assertEqual(dlpack._kept, {})
        self.assertEqual(context.memory_stats("cpu")["bytes_in_use"], 0)

    def test_arrays_of_others_are_shared(self):
        for takes in ([], ["stream"], ["stream", "max_version"]):
            x = np.arange(4, dtype=np.float32)
            before = sys.getrefcount(x)
            a = ricci.asarray(Wrapper(x, takes), "cpu")
            x[0] = 7  # seen, since the memory is one
            self.assertEqual(np.asarray(a)[0], 7)
            del a
            self.assertEqual(sys.getrefcount(x), before)
        self.assertEqual(dlpack._kept, {})

    def test_what_is_read_only_is_copied(self):
        x = np.arange(4, dtype=np.float32)
        x.flags.writeable = False
        a = ricci.asarray(Wrapper(x, ["stream", "max_version"]), "cpu")
        self.assertNotEqual(np.from_dlpack(a).ctypes.data, x.ctypes.data)
        np.testing.assert_array_equal(np.asarray(a), x)

    def test_what_cannot_be_shared(self):
        x = np.arange(8, dtype=np.float32)[::2]
        with self.assertRaisesRegex(ricci.Error, "the stride of dimension 0 is 2, not 1"):
            ricci.asarray(Wrapper(x, ["stream"]), "cpu")
        self.assertEqual(dlpack._kept, {})
        a = ricci.asarray(np.ones(3), "cpu")
        with self.assertRaisesRegex(ValueError, "stream is 1, but .* is in memory of the host"):
            a.__dlpack__(stream=1)
        with self.assertRaisesRegex(BufferError, r"is on device \(1, 0\) of DLPack, not \(2, 0\)"):
            a.__dlpack__(dl_device=(2, 0))
        self.assertFalse(hasattr(a, "__cuda_array_interface__"))

    def test_memory(self):
        context = ricci.Context()
        context.set_memory_limit(1000, "cpu")
        with self.assertRaisesRegex(ricci.Error, "800000 bytes of memory wanted, 0 are in use, the limit is 1000"):
            ricci.asarray(np.ones(100000), "cpu", context)
        self.assertEqual(context.memory_stats("cpu")["bytes_limit"], 1000)
        context.trim(device="cpu")


class Gpu:
    """The simulated driver, as another library on the same GPU calls it."""

    def __init__(self):
        ctypes.CDLL("libstdc++.so.6", mode=ctypes.RTLD_GLOBAL)  # which its kernels find in a program of C++
        self.library = ctypes.CDLL(str(STANDIN))
        self.context, self.pool, self.stream = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.call("cuCtxPushCurrent", self.context)
        properties = (ctypes.c_int32 * 22)(1, 0, 1, 0)  # pinned, no handles, device 0
        self.call("cuMemPoolCreate", ctypes.byref(self.pool), properties)
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)

    def call(self, name, *arguments):
        found, how = ctypes.c_void_p(), ctypes.c_int()
        get = self.library.cuGetProcAddress_v2
        get(name.encode(), ctypes.byref(found), 12000, ctypes.c_uint64(0), ctypes.byref(how))
        result = ctypes.CFUNCTYPE(ctypes.c_int)(found.value)(*arguments)
        assert result == 0, (name, result)

    def ones(self):
        """Memory of four f32 that are 1 once the stream has come so far."""
        address = ctypes.c_uint64()
        self.call("cuMemAllocFromPoolAsync", ctypes.byref(address), ctypes.c_size_t(16), self.pool, self.stream)
        self.call("cuMemsetD32Async", address, 0x3f800000, ctypes.c_size_t(4), self.stream)
        return address.value

    def free(self, address):
        self.call("cuMemFreeAsync", ctypes.c_uint64(address), self.stream)
        self.call("cuStreamSynchronize", self.stream)

    def read(self, address):
        """In the stream."""
        out = np.empty(4, np.float32)
        to, size = ctypes.c_void_p(out.ctypes.data), ctypes.c_size_t(out.nbytes)
        self.call("cuMemcpyDtoHAsync", to, ctypes.c_uint64(address), size, self.stream)
        self.call("cuStreamSynchronize", self.stream)
        return out

    def order(self, first, second):
        """What is enqueued to the second stream begins after what the first one has."""
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 2)
        self.call("cuEventRecord", event, ctypes.c_void_p(first))
        self.call("cuStreamWaitEvent", ctypes.c_void_p(second), event, 0)
        self.call("cuEventDestroy", event)

    def complaints(self):
        self.library.ricci_standin_complaints.restype = ctypes.c_char_p
        return self.library.ricci_standin_complaints().decode()

    def close(self):
        self.call("cuStreamDestroy", self.stream)
        self.call("cuMemPoolDestroy", self.pool)
        self.call("cuCtxPopCurrent", ctypes.byref(self.context))
        self.call("cuDevicePrimaryCtxRelease", 0)


class Tensor:
    """An array of another library, with `__dlpack__`; its stream is in order before the one that it is asked for."""

    def __init__(self, gpu):
        self.gpu, self.address, self.asked = gpu, gpu.ones(), None

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, *, stream=None, max_version=None):
        self.asked = stream
        self.gpu.order(self.gpu.stream.value, stream)
        tensor = dlpack.tensor_of(self, self.address, (2, 0), np.dtype(np.float32), (4,), None, False)
        return dlpack.capsule_of(tensor, True)


class Interface:
    """One with `__cuda_array_interface__`."""

    def __init__(self, gpu, **changed):
        self.address = gpu.ones()
        self.__cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (self.address, False), "version": 3,
                                         "stream": gpu.stream.value} | changed


@unittest.skipUnless(STANDIN.is_file() and PLUGIN.is_file(), "built without the CUDA backend")
class OnTheGpu(unittest.TestCase):
    def setUp(self):
        self.gpu = Gpu()
        paths = {"cuda.driver": str(STANDIN), "cuda.compiler": str(STANDIN)}
        self.context = ricci.Context([PLUGIN], **paths)
        self.run_double = ricci.Executable(ricci.Program.parse(DOUBLE, context=self.context), "cuda")

    def tearDown(self):
        self.run_double = self.context = None
        gc.collect()
        self.assertEqual(self.gpu.complaints(), "")
        self.gpu.close()

    def test_runs(self):
        (y,) = self.run_double.enqueue(np.arange(4, dtype=np.float32))
        self.assertEqual(repr(y), "<ricci.Array float32[4] on cuda:0>")
        (z,) = self.run_double.enqueue(y)
        np.testing.assert_array_equal(np.asarray(z), [0, 4, 8, 12])
        np.testing.assert_array_equal(np.asarray(ricci.asarray(z, "cpu")), [0, 4, 8, 12])

    def test_calls_go_there_and_back(self):
        (y,) = self.run_double([0, 1, 2, 3])
        self.assertIsInstance(y, np.ndarray)
        np.testing.assert_array_equal(y, [0, 2, 4, 6])
        (y,) = self.run_double.enqueue([0, 1, 2, 3])
        np.testing.assert_array_equal(np.asarray(y), [0, 2, 4, 6])
        with self.assertRaisesRegex(ricci.Error, "2 arguments given, the program takes 1"):
            self.run_double.enqueue(y, y)
        with self.assertRaisesRegex(ricci.Error, r"argument 0 has shape \(2,\), the program takes \(4,\)"):
            self.run_double.enqueue(np.zeros(2, np.float32))

    def test_a_view_is_not_donated(self):
        run = ricci.Executable(ricci.Program.parse(DOUBLE, context=self.context), "cuda", donate=[True])
        a = ricci.asarray(np.arange(4, dtype=np.float32), "cuda:0", context=self.context)
        address = a.__cuda_array_interface__["data"][0]
        (y,) = run.enqueue(a)
        np.testing.assert_array_equal(np.asarray(y), [0, 2, 4, 6])
        np.testing.assert_array_equal(self.gpu.read(address), [0, 1, 2, 3])

    def test_devices_by_name(self):
        self.assertEqual(self.context.devices, ["cuda:0", "cuda:1", "cpu", "ref"])
        a = ricci.asarray(np.ones(3, np.float32), "cuda:1", context=self.context)
        self.assertEqual(repr(a), "<ricci.Array float32[3] on cuda:1>")
        self.assertIs(ricci.asarray(a), a)

    def test_a_result_is_handed_over_in_the_stream_of_the_consumer(self):
        for version in (None, (1, 0)):
            (y,) = self.run_double.enqueue(np.arange(4, dtype=np.float32))
            self.assertEqual(y.__dlpack_device__(), (2, 0))
            capsule = y.__dlpack__(stream=self.gpu.stream.value, max_version=version)
            with dlpack.taken(capsule) as tensor:
                address = dlpack._Managed.from_address(tensor).tensor.data
                np.testing.assert_array_equal(self.gpu.read(address), [0, 2, 4, 6])
            dlpack._delete(tensor, dlpack._Managed)
        self.assertEqual(dlpack._kept, {})

    def test_a_consumer_that_wants_no_order_has_none(self):
        (y,) = self.run_double.enqueue(np.arange(4, dtype=np.float32))
        y.__dlpack__(stream=-1)
        address = y.__cuda_array_interface__["data"][0]
        self.gpu.read(address)
        np.asarray(y)
        self.assertIn("cuMemcpyDtoHAsync", self.gpu.complaints())

    def test_default_streams(self):
        (y,) = self.run_double.enqueue(np.arange(4, dtype=np.float32))
        for stream in (None, 1, 2):
            y.__dlpack__(stream=stream)
        for wrong in (0, -2, True, 1.0):
            with self.assertRaisesRegex(ValueError, r"__dlpack__: stream is .*; it must be 1 \(legacy default\), 2"):
                y.__dlpack__(stream=wrong)

    def test_the_interface_names_the_stream_to_wait_for(self):
        (y,) = self.run_double.enqueue(np.arange(4, dtype=np.float32))
        given = y.__cuda_array_interface__
        self.assertEqual((given["shape"], given["typestr"], given["version"], given["strides"]), ((4,), "<f4", 3, None))
        self.assertGreater(given["stream"], 2)
        self.assertTrue(given["data"][1], "read-only")
        self.gpu.order(given["stream"], self.gpu.stream.value)
        np.testing.assert_array_equal(self.gpu.read(given["data"][0]), [0, 2, 4, 6])

    def test_arrays_of_others_are_shared(self):
        for make in (Tensor, Interface):
            theirs = make(self.gpu)
            before = sys.getrefcount(theirs)
            a = ricci.asarray(theirs, "cuda", self.context)
            self.assertEqual(a.__cuda_array_interface__["data"][0], theirs.address)
            (y,) = self.run_double.enqueue(a)
            np.testing.assert_array_equal(np.asarray(y), [2, 2, 2, 2])
            if make is Tensor:
                self.assertGreater(theirs.asked, 2)
            del a
            gc.collect()
            self.assertEqual(sys.getrefcount(theirs), before)
            self.gpu.free(theirs.address)

    def test_what_is_read_only_is_copied(self):
        theirs = Interface(self.gpu)
        theirs.__cuda_array_interface__["data"] = (theirs.address, True)
        a = ricci.asarray(theirs, "cuda", self.context)
        self.assertNotEqual(a.__cuda_array_interface__["data"][0], theirs.address)
        np.testing.assert_array_equal(np.asarray(a), [1, 1, 1, 1])
        self.gpu.free(theirs.address)

    def test_what_cannot_be_shared(self):
        cases = {"a masked array": {"mask": 1}, "elements <M8": {"typestr": "<M8[s]"},
                 "elements >f4": {"typestr": ">f4"},
                 "the stride of dimension 0 is 2, not 1": {"strides": (8,), "shape": (2,)},
                 r"strides \(6,\) are not whole elements": {"strides": (6,)},
                 "the data is not memory of device cuda:0": {"data": (4096, False)},
                 r"stream is 0; it must be 1": {"stream": 0}}
        for message, changed in cases.items():
            theirs = Interface(self.gpu, **changed)
            with self.assertRaisesRegex((ricci.Error, ValueError), message):
                ricci.asarray(theirs, "cuda", self.context)
            self.gpu.free(theirs.address)
        self.assertEqual(dlpack._kept, {})

    def test_python_functions_run_while_the_program_does(self):
        seen = []

        def twice(x):
            seen.append(x.copy())
            if x[0] < 0:
                raise ZeroDivisionError("of twice")
            return 2 * x

        self.context.add_callback("twice", twice)
        run = ricci.Executable(ricci.Program.parse("""program f(%x: f32[4]) {
  %a: f32[4] = add(%x, %x)
  %b: f32[4] = io_callback(%a) callback="twice" results="f32[4]"
  %c: f32[4] = io_callback(%b) callback="twice" results="f32[4]"
  return %c
}""", context=self.context), "cuda")
        (y,) = run([0, 1, 2, 3])
        np.testing.assert_array_equal(y, [0, 8, 16, 24])
        np.testing.assert_array_equal(seen, [[0, 2, 4, 6], [0, 4, 8, 12]])
        with self.assertRaisesRegex(ZeroDivisionError, "of twice"):
            run([-1, 1, 2, 3])
        self.assertEqual(len(seen), 3)
        (y,) = run.enqueue([-1, 1, 2, 3])
        with self.assertRaisesRegex(ZeroDivisionError, "of twice"):
            np.asarray(y)

    def test_memory(self):
        a = ricci.asarray(np.ones(1 << 18, np.float32), "cuda", self.context)
        self.assertEqual(self.context.memory_stats("cuda")["bytes_in_use"], 1 << 20)
        del a
        self.context.trim(device="cuda")
        self.assertLess(self.context.memory_stats("cuda")["bytes_reserved"], 1 << 21)


if __name__ == "__main__":
    unittest.main()
