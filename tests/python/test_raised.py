"""Whatever a Python function raises that C calls, the caller gets, and nothing is taken for a result: exceptions without
a text, interrupts, in every callback and every rule."""
import os
import signal
import subprocess
import sys
import unittest
import unittest.mock

import numpy as np
import ricci
import ricci.numpy as rnp
from ricci.abi.batching_rules import add_batching_rule

X = np.ones(3, np.float32)


class Unsaid(Exception):
    def __str__(self):
        raise ValueError("there is no text")


class Interrupted(Exception):
    def __str__(self):
        raise KeyboardInterrupt


class Unnoted(Exception):
    def add_note(self, note):
        raise RuntimeError("no note")


class Silent(Exception):
    def __bool__(self):
        raise ValueError("neither true nor false")

    __len__ = __eq__ = __bool__


ERRORS = [ValueError("lone \ud800 surrogate"), Unsaid(), Interrupted(), Unnoted("x"), Silent(), KeyboardInterrupt(),
          SystemExit(3), GeneratorExit(), StopIteration(1), MemoryError(), ValueError("(Python exception 1)"),
          ValueError("null \0 character"), ricci.Error("lone \udfff"), ValueError("x" * 10**6)]


def _callback(context, fail):
    context.add_callback("fails", fail)
    return lambda: rnp.sum(ricci.bind("pure_callback", X, callback="fails", results="f32[3]")[0])


def _rule(name):
    """A call of a primitive whose rule `name` fails."""
    def of(context, fail):
        def given(x):
            return fail() if name == "abstract_eval" else x
        made = ricci.primitive("mine.fails")(given)
        rules = {"impl": lambda x: x, "jvp": lambda p, t: (p[0], t[0]), "batch": lambda n, x, d: (x[0], d[0]),
                 "transpose": lambda ct, x: ct}
        if name == "decompose":
            rules = {"decompose": None}
        if name == "transpose":
            rules["jvp"] = lambda p, t: (made(p[0]), made(t[0]))
        for rule, function in rules.items():
            getattr(made, rule)(fail if rule == name else function)
        calls = {"jvp": lambda: ricci.jvp(made, (X,), (X,)), "batch": lambda: ricci.vmap(made)(X),
                 "transpose": lambda: ricci.grad(lambda x: rnp.sum(made(x)))(X)}
        return calls.get(name, lambda: made(X))
    return of


def _batching_rule(context, fail):
    add_batching_rule(context, "fails", fail)
    text = 'program f(%x: f32[]) { %z: f32[] = custom_vmap(%x) rule="fails" body=program g(%x: f32[]) { return %x } return %z }'
    program = ricci.Program.parse(text, context=context)
    return lambda: program.vmap([0], [0], 3)


CALLS = {"callback": _callback, **{f"rule {n}": _rule(n) for n in (
    "abstract_eval", "impl", "jvp", "batch", "transpose", "decompose")}, "batching rule": _batching_rule}


class Raised(unittest.TestCase):
    def test_every_exception_of_every_callback(self):
        for how, make in CALLS.items():
            context, error = ricci.Context(), None

            def fail(*arguments, **named):
                raise error  # noqa: B023
            call = make(context, fail)
            for number, error in enumerate(ERRORS):  # noqa: B007
                with self.subTest(f"{how}: {type(error).__name__} {number}"):
                    try:
                        ricci.jit(call, context=context)()
                        found = None
                    except BaseException as raised:
                        found = raised
                    self.assertTrue(found is error or found is not None and found.__cause__ is error,
                                    f"{type(found).__name__}: {getattr(found, 'args', '')!a:.200}")

    def test_interrupts_before_the_first_line_of_a_callback(self):
        """A signal comes while C runs; Python looks at it when the callback begins, where nothing can catch it."""
        text = f"""
import os, signal, sys, threading, time
import numpy as np, ricci, ricci.numpy as rnp
ricci.default_context().add_callback("mine", lambda x: x)
def f(x):
    y = ricci.while_loop(lambda v: v[0] < 1e10, lambda v: rnp.sin(v) * 0 + v + 1, x)
    return ricci.bind("pure_callback", y, callback="mine", results="f64[3]")
run = ricci.jit(f)
run(np.full(3, 1e10))  # compiled, and at the end of its loop at once
for trips in (1e7, 1e8, 1e9):  # a loaded machine may send the signal after a short run
    timer, in_run = threading.Timer(0.05, os.kill, (os.getpid(), {int(signal.SIGINT)})), True
    try:
        timer.start()
        run(np.full(3, 1e10 - trips))
        in_run = False
        timer.join()
    except KeyboardInterrupt:
        if in_run:
            sys.exit(17)
"""
        made = subprocess.run([sys.executable, "-c", text], capture_output=True, env=os.environ, timeout=300)
        self.assertEqual((made.returncode, made.stderr), (17, b""))

    def test_others_hear_of_what_is_not_ours(self):
        text = """
import sys
sys.unraisablehook = lambda what: print(repr(what.exc_value))
import ricci
class Dies:
    def __del__(self):
        raise ValueError("mine")
Dies()
"""
        made = subprocess.run([sys.executable, "-c", text], capture_output=True, env=os.environ, timeout=300)
        self.assertEqual(made.stdout, b"ValueError('mine')\n")

    def test_refused_arguments_of_a_constructor_are_all_that_is_said(self):
        for refused in (lambda: ricci.Executable(1, schedule="lanes"), lambda: ricci.Context(1, 2), ricci.Program,
                        ricci.Array):
            with unittest.mock.patch("sys.unraisablehook") as said, self.assertRaises(TypeError):
                refused()
            said.assert_not_called()


if __name__ == "__main__":
    unittest.main()
