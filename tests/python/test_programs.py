"""Programs, executables and errors, without JAX."""
import contextlib
import gc
import io
import tempfile
import threading
import unittest

import numpy as np
import ricci

SINE = "program f(%x: f32[]) { %0: f32[] = sin(%x)  %1: f32[] = mul(%0, %x)  return %1 }"
SCALE = "program s(%x: f64[4], %k: f64[]) { %b: f64[4] = broadcast_in_dim(%k) shape=[4] broadcast_dimensions=[]" \
        " %y: f64[4] = mul(%x, %b) return %y }"


class Programs(unittest.TestCase):
    def test_text_reads_back(self):
        f = ricci.Program.parse(SINE)
        again = ricci.Program.parse(f.text)
        self.assertEqual(f, again)
        self.assertEqual(hash(f), hash(again))
        self.assertEqual(f.name, "f")

    def test_mapped_gradient(self):
        x = np.array([0, 0.5, 1, 1.5], np.float32)
        f = ricci.Program.parse(SINE).grad([0]).vmap([0], [0], 4)
        for device in ("cpu", "ref"):
            (slope,) = ricci.Executable(f, device)(x)
            np.testing.assert_allclose(slope, np.sin(x) + x * np.cos(x), rtol=1e-5)

    def test_fwd_and_bwd(self):
        fwd, bwd = ricci.Program.parse(SINE).vjp([True])
        y, *residuals = ricci.Executable(fwd)(np.float32(2))
        (slope,) = ricci.Executable(bwd)(*residuals, np.float32(1))
        self.assertAlmostEqual(float(y), 2 * np.sin(2), places=5)
        self.assertAlmostEqual(float(slope), np.sin(2) + 2 * np.cos(2), places=5)

    def test_unused_work_goes(self):
        f = ricci.Program.parse("program f(%x: f32[], %y: f32[]) { %0: f32[] = sin(%x) return %0, %y }")
        self.assertEqual(f.dce([0, 1])[1], [False, True])


class Executables(unittest.TestCase):
    def test_any_layout_is_taken(self):
        run = ricci.Executable(ricci.Program.parse(SCALE))
        x = np.arange(8.0)[::2]
        np.testing.assert_array_equal(run(x, 3.0)[0], 3 * x)

    def test_each_call_reads_its_own_arguments(self):
        run = ricci.Executable(ricci.Program.parse(SCALE))
        x, y = np.arange(4.0), np.arange(4.0) + 10
        fixed = y.copy()
        fixed.flags.writeable = False
        kept = []
        for argument, k in ((x, 2.0), (y, 2.0), (fixed, 3.0), (x, 3.0), (fixed, 2.0)):
            kept.append((run(argument, k)[0], k * argument))
        x += 1
        kept.append((run(x, 3.0)[0], 3 * x))
        for result, expected in kept:
            np.testing.assert_array_equal(result, expected)

    def test_arrays_that_are_no_buffers(self):
        import ml_dtypes
        for dtype, shape in (("bf16", (3,)), ("f32", (0,)), ("f32", ())):
            x = np.full(shape, 1.5, ml_dtypes.bfloat16 if dtype == "bf16" else np.float32)
            text = f"{dtype}[{','.join(map(str, shape))}]"
            run = ricci.Executable(ricci.Program.parse(f"program f(%x: {text}) {{ %y: {text} = neg(%x) return %y }}"))
            np.testing.assert_array_equal(run(x)[0], -x)

    def test_donated_memory_is_written(self):
        run = ricci.Executable(ricci.Program.parse(SCALE), donate=[1, 0])
        x = np.arange(4.0)
        (y,) = run(x, 2.0)
        self.assertTrue(np.shares_memory(x, y))
        x = np.arange(4.0)
        x.flags.writeable = False
        (y,) = run(x, 2.0)
        np.testing.assert_array_equal(x, np.arange(4.0))
        np.testing.assert_array_equal(y, 2 * np.arange(4.0))

    def test_many_threads(self):
        run, wrong = ricci.Executable(ricci.Program.parse(SCALE)), []

        def work(k):
            for _ in range(200):
                if not np.array_equal(run(np.arange(4.0), k)[0], k * np.arange(4.0)):
                    wrong.append(k)
        threads = [threading.Thread(target=work, args=(float(k),)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_what_it_reports(self):
        run = ricci.Executable(ricci.Program.parse(SCALE))
        self.assertGreater(run.timings["total_s"], 0)
        self.assertIn("mul", run.dump("optimized"))
        self.assertGreater(run.stats()["kernels"], 0)

    def test_is_kept_for_other_contexts(self):
        with tempfile.TemporaryDirectory() as folder:
            def compiled(text=SINE):
                f = ricci.Program.parse(text, context=ricci.Context(cache_dir=folder))
                return ricci.Executable(f)
            first, second, other = compiled(), compiled(), compiled(SINE.replace("sin", "cos"))
        self.assertEqual([x.stats()["cache_hit"] for x in (first, second, other)], [0, 1, 0])
        self.assertEqual(second.timings["transform_s"], 0)
        x = np.float32(0.7)
        self.assertEqual(second(x)[0].tobytes(), first(x)[0].tobytes())

    def test_outlives_its_context(self):
        context = ricci.Context(threads=1)
        run = ricci.Executable(ricci.Program.parse(SINE, context=context))
        del context
        gc.collect()
        self.assertAlmostEqual(float(run(1.0)[0]), np.sin(1), places=6)


class Errors(unittest.TestCase):
    def refused(self, message, function, *arguments, **named):
        with self.assertRaises(ricci.Error) as raised:
            function(*arguments, **named)
        self.assertEqual(str(raised.exception), message)
        return raised.exception

    def test_messages(self):
        self.refused("here:1:31: %y is not defined before", ricci.Program.parse,
                     "program f(%x: f32[]) { return %y }", "here")
        run = ricci.Executable(ricci.Program.parse(SCALE))
        self.refused("argument 0 has shape (3,), the program takes (4,)", run, np.ones(3), 1.0)
        self.refused("argument 0 is complex128, the program takes float64", run, np.ones(4, complex), 1.0)
        self.refused("1 argument given, the program takes 2", run, np.ones(4))

    def test_code_and_primitive(self):
        error = self.refused("<text>:1: add: operands 0 and 1 are f32[] and i32[]; they must have one type",
                             ricci.Program.parse,
                             "program f(%x: f32[], %y: i32[]) { %0: f32[] = add(%x, %y) return %0 }")
        self.assertEqual((error.code, error.primitive), (3, "add"))

    def test_unknown_option(self):
        with self.assertRaisesRegex(ricci.Error, "known"):
            ricci.Context(colour="red")

    def test_log_goes_to_stderr(self):
        f = ricci.Program.parse(SINE, context=ricci.Context(log_compiles=1))
        with contextlib.redirect_stderr(io.StringIO()) as log:
            ricci.Executable(f)
        self.assertRegex(log.getvalue(), r"^compile f at <text>:1 key=\w+ device=cpu miss .*\n$")


if __name__ == "__main__":
    unittest.main()
