"""Programs of Fourier transforms and scans, by name: lines, batches of planes, flows, streaming, recurrences.

Each is (function of its arguments to a scalar, arguments), in f32; the arguments after the first are parameters. What
solvers of differential equations are made of: real transforms of small, odd and prime lengths, filters in the spectrum,
copies that are rolled another way for each direction, recurrences of small complex states as associative scans.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

STEPS = 20


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def lines(batch, n):
    """The energy of spectra under a filter."""
    def loss(x, filter):
        y = jnp.fft.rfft(x) * filter
        return jnp.mean(y.real ** 2 + y.imag ** 2)
    return loss, (normal(0, batch, n), normal(1, n // 2 + 1))


def planes(batch, rows, columns):
    def loss(x, filter):
        y = jnp.fft.irfft2(jnp.fft.rfft2(x) * filter, (rows, columns))
        return jnp.mean(y ** 4)
    return loss, (normal(0, batch, rows, columns), normal(1, rows, columns // 2 + 1))


def flow(n, steps=STEPS):
    """Vorticity in two dimensions, with two thirds of the wave numbers kept (Orszag, 1971)."""
    kx, ky = np.meshgrid(np.fft.fftfreq(n, 1 / n), np.fft.rfftfreq(n, 1 / n), indexing="ij")
    square = (kx ** 2 + ky ** 2).astype(np.float32)
    kept = ((abs(kx) < n / 3) & (ky < n / 3)).astype(np.float32)
    inverse = np.where(square > 0, 1 / np.where(square > 0, square, 1), 0).astype(np.float32)
    dx, dy = (1j * kx).astype(np.complex64), (1j * ky).astype(np.complex64)
    back = lambda spectrum: jnp.fft.irfft2(spectrum, (n, n))  # noqa: E731

    def step(spectrum, viscosity):
        stream = spectrum * inverse
        advection = back(dy * stream) * back(dx * spectrum) - back(dx * stream) * back(dy * spectrum)
        return (spectrum - 1e-3 * kept * jnp.fft.rfft2(advection)) * jnp.exp(-1e-3 * viscosity * square)

    def loss(vorticity, viscosity):
        spectrum = lax.fori_loop(0, steps, lambda _, s: step(s, viscosity), jnp.fft.rfft2(vorticity))
        return jnp.mean(back(spectrum) ** 2)
    return loss, (normal(0, n, n), np.float32(0.5))


def streaming(n, steps=STEPS):
    """Lattice Boltzmann in two dimensions with nine velocities (Qian, d'Humieres, Lallemand, 1992)."""
    velocities = np.array([(x, y) for x in (0, 1, -1) for y in (0, 1, -1)])
    weights = np.array([(4 / 9, 1 / 9, 1 / 36)[abs(x) + abs(y)] for x, y in velocities], np.float32)[:, None, None]

    def step(f, omega):
        f = jnp.stack([jnp.roll(f[i], (x, y), (0, 1)) for i, (x, y) in enumerate(velocities)])
        density = f.sum(0)
        u = jnp.einsum("ic,ixy->cxy", velocities.astype(np.float32), f) / density
        along = 3 * jnp.einsum("ic,cxy->ixy", velocities.astype(np.float32), u)
        rest = weights * density * (1 + along + along ** 2 / 2 - 1.5 * (u ** 2).sum(0))
        return f + omega * (rest - f)

    def loss(f, omega):
        return jnp.mean(lax.fori_loop(0, steps, lambda _, f: step(f, omega), f) ** 2)
    return loss, (weights * (1 + 0.01 * normal(0, 9, n, n)), np.float32(1.2))


def recurrence(length, states):
    """Diagonal linear recurrences of complex states (Orvieto et al., 2023)."""
    def joined(a, b):
        return a[0] * b[0], b[0] * a[1] + b[1]

    def loss(x, parameters):
        decay = jnp.exp(lax.complex(-jnp.exp(parameters[0]), parameters[1]))
        decays = jnp.broadcast_to(decay, (length, states))
        y = lax.associative_scan(joined, (decays, x.astype(jnp.complex64)))[1]
        return jnp.mean(y.real ** 2)
    return loss, (normal(0, length, states), normal(1, 2, states) / 4)


PROGRAMS = {
    **{f"lines_{n}": lambda n=n: lines(64, n) for n in (11, 31, 64, 67, 100)},
    **{f"planes_8x{n}x{n}": lambda n=n: planes(8, n, n) for n in (8, 13, 32)},
    **{f"flow_{n}": lambda n=n: flow(n) for n in (11, 13, 32, 64, 128)},
    **{f"streaming_{n}": lambda n=n: streaming(n) for n in (64, 256)},
    "recurrence_256x4": lambda: recurrence(256, 4),
    "recurrence_1024x16": lambda: recurrence(1024, 16),
}
