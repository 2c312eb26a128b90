"""Programs of quality_programs.cc, one thread for each example, in Warp, compiled for an architecture without a GPU."""
import pathlib
import sys
import tempfile

import warp as wp

wp.config.quiet = True
wp.config.enable_backward = False

Matrix = wp.types.matrix(shape=(6, 6), dtype=float)
N = wp.constant(1024)


@wp.kernel
def gelu(a: wp.array(dtype=float), b: wp.array(dtype=float), out: wp.array(dtype=float)):
    i = wp.tid()
    y = a[i] + b[i]
    out[i] = 0.5 * y * (wp.tanh(0.7978845608 * (y + 0.044715 * y * y * y)) + 1.0)


@wp.func
def acceleration(angle: float, speed: float):
    return -wp.sin(angle) - 0.1 * speed


@wp.kernel
def rk4(angles: wp.array(dtype=float), speeds: wp.array(dtype=float), steps: int):
    i = wp.tid()
    th, w = float(angles[i]), float(speeds[i])
    h = 0.01
    for _ in range(steps):
        b1 = acceleration(th, w)
        a2 = w + 0.5 * h * b1
        b2 = acceleration(th + 0.5 * h * w, a2)
        a3 = w + 0.5 * h * b2
        b3 = acceleration(th + 0.5 * h * a2, a3)
        a4 = w + h * b3
        b4 = acceleration(th + h * a3, a4)
        th = th + h / 6.0 * (w + 2.0 * a2 + 2.0 * a3 + a4)
        w = w + h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)
    angles[i] = th
    speeds[i] = w


@wp.kernel
def cholesky6(a: wp.array(dtype=Matrix), out: wp.array(dtype=Matrix)):
    i = wp.tid()
    x = a[i]
    l = Matrix()
    for c in range(6):
        for r in range(c, 6):
            s = x[r, c]
            for k in range(c):
                s -= l[r, k] * l[c, k]
            if r == c:
                l[r, c] = wp.sqrt(s)
            else:
                l[r, c] = s / l[c, c]
    out[i] = l


@wp.func
def equilibrium(weight: float, rho: float, cu: float, square: float):
    return weight * rho * (1.0 + 3.0 * cu + 4.5 * cu * cu - square)


@wp.kernel
def lattice(f: wp.array3d(dtype=float), out: wp.array3d(dtype=float)):
    y, x = wp.tid()
    f0, f1, f2 = f[0, y, x], f[1, y, x], f[2, y, x]
    f3, f4, f5 = f[3, y, x], f[4, y, x], f[5, y, x]
    f6, f7, f8 = f[6, y, x], f[7, y, x], f[8, y, x]
    rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
    u = (f1 - f3 + f5 - f6 - f7 + f8) / rho
    v = (f2 - f4 + f5 + f6 - f7 - f8) / rho
    square = 1.5 * (u * u + v * v)
    up, down = (y + 1) % N, (y + N - 1) % N
    right, left = (x + 1) % N, (x + N - 1) % N
    out[0, y, x] = equilibrium(4.0 / 9.0, rho, 0.0, square)
    out[1, up, x] = equilibrium(1.0 / 9.0, rho, u, square)
    out[2, y, right] = equilibrium(1.0 / 9.0, rho, v, square)
    out[3, down, x] = equilibrium(1.0 / 9.0, rho, -u, square)
    out[4, y, left] = equilibrium(1.0 / 9.0, rho, -v, square)
    out[5, up, right] = equilibrium(1.0 / 36.0, rho, u + v, square)
    out[6, down, right] = equilibrium(1.0 / 36.0, rho, v - u, square)
    out[7, down, left] = equilibrium(1.0 / 36.0, rho, -u - v, square)
    out[8, up, left] = equilibrium(1.0 / 36.0, rho, u - v, square)


PROGRAMS = ["gelu", "rk4", "cholesky6", "lattice"]


def cubins(architecture):
    """Machine code for `architecture`, such as 90, of all PROGRAMS: one file."""
    with tempfile.TemporaryDirectory() as folder:
        wp.config.kernel_cache_dir = folder
        files = wp.compile_aot_module(sys.modules[__name__], arch=architecture, module_dir=folder, use_ptx=False)
        return pathlib.Path(files[0]).read_bytes()
