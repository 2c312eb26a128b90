"""The examples of README.md and GUIDE.md of bindings/python, and that of the README at the top: they run, and those of
errors raise what they say."""
import contextlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import ricci
import ricci.numpy as rnp

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "bindings/python"


def blocks_of(*pages):
    text = "".join((FOLDER / page).read_text(encoding="utf-8") for page in pages)
    return re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S)


BLOCKS = blocks_of("README.md", "GUIDE.md")
ERRORS = [b for b in BLOCKS if b.startswith("# error: ")]


class Readme(unittest.TestCase):
    def run_block(self, block):
        names = {"np": np, "ricci": ricci, "rnp": rnp}
        exec(compile(block, "the_readme.py", "exec"), names)  # noqa: S102, a text of this repository
        return names

    def printed(self, block):
        """What an example prints in a folder of its own."""
        out, before = io.StringIO(), os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(out):
            os.chdir(folder)
            try:
                self.run_block(block)
                self.assertEqual(pathlib.Path("f.ricci").exists(), "f.save" in block)
            finally:
                os.chdir(before)
        return out.getvalue()

    def test_first_examples(self):
        first, second = BLOCKS[:2]
        self.assertNotIn("jax", first)
        self.assertLessEqual(len([line for line in first.splitlines() if line.strip()]), 10)
        value, *slope = map(float, re.findall(r"[-\d.e]+", self.printed(first)))
        self.assertAlmostEqual(value, (np.tanh(1.5) - 1) ** 2, places=6)
        np.testing.assert_allclose(slope, [2 * (np.tanh(1.5) - 1) * (1 - np.tanh(1.5) ** 2)] * 3, rtol=1e-4)
        x = np.arange(3)
        found = [float(n) for n in re.findall(r"[-\d.e]+", self.printed(second))]
        np.testing.assert_allclose(found, np.sin(x) + x * np.cos(x), rtol=1e-5)

    def test_top_example(self):
        (block,) = blocks_of("../../README.md")
        x = np.array([0.0, 0.5, 1.0, 1.5])
        found = [float(n) for n in re.findall(r"[-\d.e]+", self.printed(block))]
        np.testing.assert_allclose(found, np.sin(x) + x * np.cos(x), rtol=1e-5)

    def test_without_jax(self):
        """The first example, where JAX cannot be imported."""
        program = "import sys\nsys.modules['jax'] = None\n" + BLOCKS[0]
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_errors(self):
        self.assertGreaterEqual(len(ERRORS), 10)
        for block in ERRORS:
            expected = block.splitlines()[0].removeprefix("# error: ")
            with self.subTest(expected), self.assertRaises((ricci.Error, TypeError, ValueError)) as caught:
                self.run_block(block)
            self.assertIn(expected, str(caught.exception))
            if isinstance(caught.exception, ricci.TracingError):
                self.assertRegex(str(caught.exception), r"^the_readme.py:\d+: ")

    def test_primitive(self):
        (block,) = [b for b in BLOCKS if "@ricci.primitive" in b]
        names = self.run_block(block)
        self.assertAlmostEqual(float(names["slope"]), 1 - np.tanh(0.5) ** 2, places=5)
        self.assertGreater(names["laws"]["jvp"], 0)


class Tool(unittest.TestCase):
    def test_python_m_ricci(self):
        """Arguments, output and exit codes are those of the tool."""
        tool = pathlib.Path(os.environ["RICCI_PREFIX"], "src/cli/ricci")
        for arguments in (["--version"], ["help", "run"], ["nonsense"], []):
            theirs = subprocess.run([tool, *arguments], capture_output=True)
            ours = subprocess.run([sys.executable, "-m", "ricci", *arguments], capture_output=True)
            self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (theirs.returncode, theirs.stdout, theirs.stderr))


if __name__ == "__main__":
    unittest.main()
