"""The default context: plugins and options that grad, vmap, plain calls and ricci.lax find; what comes too late. And how
tracebacks look."""
import os
import pathlib
import subprocess
import sys
import tomllib
import traceback
import unittest

import numpy as np
import ricci
import ricci.numpy as rnp

ROOT = pathlib.Path(__file__).parents[2]
CUBE = pathlib.Path(os.environ["RICCI_PREFIX"], "samples", "libricci_plugin_cube.so.0")


def run(text):
    """What a new process prints."""
    made = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=os.environ, timeout=300)
    return made.stdout + made.stderr


class Default(unittest.TestCase):
    def test_everything_uses_the_one_that_was_set(self):
        self.assertEqual(run("""
import numpy as np, ricci, ricci.numpy as rnp
mine = ricci.Context(vmap="lanes")
made = ricci.primitive("mine.twice", linear=True, elementwise=True)(lambda x: x)
made.impl(lambda x: 2 * x)
made.transpose(lambda cts, operands: (made(cts[0]),))
made.register(mine)
ricci.set_default_context(mine)
x = np.ones(3, np.float32)
print(ricci.lax.mine_twice(x), ricci.grad(lambda x: rnp.sum(ricci.lax.mine_twice(x)))(x), ricci.default_context() is mine,
      ricci.vmap(ricci.lax.mine_twice)(x), ricci.jit(ricci.lax.mine_twice)(x))
"""), "[2. 2. 2.] [2. 2. 2.] True [2. 2. 2.] [2. 2. 2.]\n")

    def test_too_late(self):
        context = ricci.default_context()
        rnp.sin(1.0)
        with self.assertRaisesRegex(ricci.Error, r"set_default_context: there is a default context since .*:\d+; set it "
                                    "before anything is computed or traced, or give the other one to jit"):
            ricci.set_default_context(ricci.Context())
        with self.assertRaisesRegex(ricci.Error, r"add_plugin: x.so comes too late: the context has compiled a program "
                                    r"since .*:\d+; add plugins before"):
            ricci.add_plugin("x.so")
        self.assertIs(ricci.default_context(), context)
        with self.assertRaisesRegex(TypeError, "set_default_context: context is 3; a Context is expected"):
            ricci.set_default_context(3)

    def test_a_plugin_of_the_default_context(self):
        self.assertIn("no_such_plugin.so", run("import ricci; ricci.add_plugin('/no_such_plugin.so')"))
        if not CUBE.exists():
            self.skipTest("the samples are not built")
        self.assertEqual(run(f"""
import numpy as np, ricci, ricci.numpy as rnp
ricci.add_plugin({str(CUBE)!r}, threads=1)
x = np.full(2, 2, np.float32)
print(ricci.lax.demo_cube(x), ricci.grad(lambda x: rnp.sum(ricci.lax.demo_cube(x)))(x), ricci.vmap(ricci.lax.demo_cube)(x))
"""), "[8. 8.] [12. 12.] [8. 8.]\n")
        self.assertIn("cube.nothing", run(f"import ricci; ricci.add_plugin({str(CUBE)!r}, **{{'cube.nothing': 1}})"))

    def test_version(self):
        project = tomllib.loads((ROOT / "bindings/python/pyproject.toml").read_text())
        self.assertEqual(ricci.__version__, project["project"]["version"])
        self.assertIn(f"project(ricci VERSION {ricci.__version__} ", (ROOT / "CMakeLists.txt").read_text())


def wrong(x):
    return rnp.add(x, np.ones(4))


class Tracebacks(unittest.TestCase):
    def lines(self, call):
        """The code of each frame of what it raises."""
        try:
            call()
        except Exception as error:
            return [(pathlib.Path(f.filename).parent.name, f.name) for f in traceback.extract_tb(error.__traceback__)][1:]
        raise AssertionError("nothing is raised")

    def test_only_the_users_frames(self):
        x = np.ones(3)
        nested = ricci.jit(ricci.grad(lambda x: rnp.sum(ricci.vmap(wrong)(x[None]))))
        calls = {"plain": (lambda: rnp.add(x, np.ones(4)), 1), "jit": (lambda: ricci.jit(wrong)(x), 2),
                 "nested": (lambda: nested(x), 3), "bind": (lambda: ricci.bind("sin", 3), 1),
                 "scan": (lambda: ricci.scan(lambda c, y: (wrong(x), y), x, x), 3),
                 "vjp": (lambda: ricci.vjp(wrong, x), 2), "jacrev": (lambda: ricci.jacrev(wrong)(x), 2),
                 "checkpoint": (lambda: ricci.checkpoint(wrong)(x), 2), "at": (lambda: ricci.jit(lambda x: x.at[9].set(0))(x), 2)}
        for name, (call, n) in calls.items():
            with self.subTest(name):
                self.assertEqual([folder for folder, _ in self.lines(call)], ["python"] * n)

    def test_all_frames(self):
        ricci.show_all_frames()
        try:
            found = self.lines(lambda: rnp.add(np.ones(3), np.ones(4)))
        finally:
            ricci.show_all_frames(False)
        self.assertIn("tracing", [folder for folder, _ in found])


if __name__ == "__main__":
    unittest.main()
