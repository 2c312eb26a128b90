"""The Dr.Jit (LLVM) side of the elementwise cases and of the batched loop. Every input is an evaluated array."""
import drjit as dr
import numpy as np
from drjit.llvm import Float, UInt

from peer_loop import Case, magnitude, positive, ramp, serve, uniform


def loaded(x):
    out = Float(x)
    dr.make_opaque(out)
    dr.sync_thread()
    return out


def evaluated(fn, *args):
    args = [loaded(a) for a in args]

    def run():
        out = fn(*args)
        dr.eval(out)
        dr.sync_thread()
        return out if isinstance(out, tuple) else (out,)
    return run, lambda: magnitude([np.array(x) for x in run()]), 1.0


def vectors(fn, n_args):
    def prepare(small):
        n = 1 << (10 if small else 24)
        return evaluated(fn, ramp(n), *[uniform(n)] * (n_args - 1))
    return prepare


def gelu(x, b):
    y = x + b
    return 0.5 * y * (1 + dr.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))


@dr.syntax
def roll(th, w, steps):
    i, h = UInt(0), 0.01
    f = lambda th, w: -dr.sin(th) - 0.1 * w
    while i < steps:
        a1 = w
        b1 = f(th, w)
        a2 = w + h / 2 * b1
        b2 = f(th + h / 2 * a1, a2)
        a3 = w + h / 2 * b2
        b3 = f(th + h / 2 * a2, a3)
        a4 = w + h * b3
        b4 = f(th + h * a3, a4)
        th = th + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        w = w + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        i = i + 1
    return th, w


def rk4_vmap(small):
    size, steps = (8, 10) if small else (4096, 1000)
    count = UInt(steps)
    dr.make_opaque(count)
    return evaluated(lambda th, w: roll(th, w, count), 1 + 0.25 * uniform(size), 0 * uniform(size))


CASES = {
    'call4': Case('us', lambda small: evaluated(lambda x: x * 2 + 1, uniform(4))),
    'saxpy': Case('ms', vectors(lambda x, b: 2 * x + b, 2)),
    'gelu': Case('ms', vectors(gelu, 2)),
    'sum': Case('ms', lambda small: evaluated(dr.sum, positive(1 << (10 if small else 24)))),
    'rk4_vmap': Case('ms', rk4_vmap),
}

serve('Dr.Jit', CASES)
