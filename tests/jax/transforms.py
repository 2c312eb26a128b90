"""The cases of one function: its values, jvp, vjp and vmap, and nestings of these, each with JAX's results.

`make(rng)` returns fresh arguments of fixed shapes, so that a batch is a stack of them.
"""
import jax
import numpy as np

from case_file import EXACT, Close, equation, is_inexact

BATCH = 3


def bits(mask):
    return ' '.join(str(int(m)) for m in mask)


def float0(x):
    return np.zeros(np.shape(x), jax.dtypes.float0)


def flat(outs):
    return list(outs) if isinstance(outs, (list, tuple)) else [outs]


def normal(rng, x):
    drawn = np.asarray(rng.standard_normal(x.shape))
    if np.issubdtype(x.dtype, np.complexfloating):
        drawn = drawn + 1j * rng.standard_normal(x.shape)
    return drawn.astype(x.dtype)


def jvp_of(fn, active):
    """primals, tangents of the active ones -> results, tangents of the inexact ones."""
    def f(*args):
        n = len(active)
        primals, tangents = list(args[:n]), list(args[n:])
        where = [i for i in range(n) if active[i]]

        def partial(*xs):
            full = list(primals)
            for i, x in zip(where, xs):
                full[i] = x
            return flat(fn(*full))
        outs, out_tangents = jax.jvp(partial, [primals[i] for i in where], tangents)
        return outs + [t for o, t in zip(outs, out_tangents) if is_inexact(o)]
    return f


def vjp_of(fn, wanted):
    """primals, cotangents of the inexact results -> results, cotangents of the wanted primals."""
    def f(*args):
        n = len(wanted)
        primals, cts = list(args[:n]), list(args[n:])
        where = [i for i in range(n) if wanted[i]]

        def partial(*xs):
            full = list(primals)
            for i, x in zip(where, xs):
                full[i] = x
            return flat(fn(*full))
        outs, pull = jax.vjp(partial, *[primals[i] for i in where])
        rest = iter(cts)
        return outs + list(pull([next(rest) if is_inexact(o) else float0(o) for o in outs]))
    return f


def vmap_of(fn, in_axes, out_axes):
    def f(*args):
        return jax.vmap(lambda *a: flat(fn(*a)), in_axes=tuple(in_axes), out_axes=list(out_axes))(*args)
    return f


def shapes_of(fn, args):
    return flat(jax.eval_shape(lambda *a: flat(fn(*a)), *args))


def stacked(rng, make, axes):
    samples = [make(rng) for _ in range(BATCH)]
    stack = lambda i, axis: jax.numpy.stack([s[i] for s in samples], axis) if _is_jax(samples[0][i]) else np.stack(
        [s[i] for s in samples], axis)
    return [samples[0][i] if axis is None else stack(i, axis) for i, axis in enumerate(axes)]


def _is_jax(x):
    return isinstance(x, jax.Array)


def axes_text(axes):
    return ' '.join('-1' if a is None else str(a) for a in axes)


def vmap_axes(args, outs, rng):
    """Several choices of batched axes: all first, all last, and one operand only."""
    n = len(args)
    choices = [([0] * n, [0] * len(outs)), ([a.ndim for a in args], [o.ndim for o in outs])]
    if n > 1:
        for i in range(min(n, 3)):
            axes = [None] * n
            axes[i] = int(rng.integers(0, args[i].ndim + 1))
            choices.append((axes, [int(rng.integers(0, o.ndim + 1)) for o in outs]))
    elif args and args[0].ndim > 1:
        choices.append(([1], [o.ndim and 1 for o in outs]))
    return choices


def add_cases(file, name, program, fn, make, modes='nfrv', active=None, tolerance=EXACT, derivative=None,
              axes=None):
    """Adds one case per letter of `modes`: n values, f jvp, r vjp, v vmap at several axes, F vmap of jvp, R vmap of vjp,
    J jvp of vmap, H jvp of vjp. With v and one of F and R also vmap of vmap."""
    rng = file.numbers(name)
    args = make(rng)
    outs = shapes_of(fn, args)
    if active is None:
        active = [is_inexact(a) for a in args]
    derivative = derivative or Close(max(8, 4 * tolerance.ulps), max(1.0, tolerance.scale))
    where = [i for i, a in enumerate(active) if a]
    floating = [o for o in outs if is_inexact(o)]
    choices = axes or vmap_axes(args, outs, rng)
    put = lambda suffix, transforms, inputs, f, tol: file.add(f'{name}/{suffix}', program, transforms, inputs, f, tol)
    tangents = lambda r, xs: [normal(r, xs[i]) for i in where]
    cotangents = lambda r: [normal(r, o) for o in floating]
    if 'n' in modes:
        put('values', [], args, lambda *a: flat(fn(*a)), tolerance)
    if 'v' in modes:
        for in_axes, out_axes in choices:
            transform = f'vmap {BATCH} in {axes_text(in_axes)} out {axes_text(out_axes)}'
            put(f'vmap', [transform], stacked(rng, make, in_axes), vmap_of(fn, in_axes, out_axes), tolerance)
    if 'v' in modes and ('F' in modes or 'R' in modes):
        inner, outer = [0] * len(args), [1] * len(args)
        twice = vmap_of(vmap_of(fn, inner, [0] * len(outs)), outer, [0] * len(outs))
        transforms = [f'vmap {BATCH} in {axes_text(axis)} out {axes_text([0] * len(outs))}' for axis in (inner, outer)]
        put('vmap_vmap', transforms, stacked(rng, lambda r: stacked(r, make, inner), outer), twice, tolerance)
    if not where or not floating:
        return
    jvp, vjp = jvp_of(fn, active), vjp_of(fn, active)
    jvp_text, vjp_text = f'jvp {bits(active)}', f'vjp {bits(active)}'
    if 'f' in modes:
        put('jvp', [jvp_text], args + tangents(rng, args), jvp, derivative)
    if 'r' in modes:
        put('vjp', [vjp_text], args + cotangents(rng), vjp, derivative)
    front = lambda n: f"vmap {BATCH} in {' '.join(['0'] * n)} out "
    if 'F' in modes:
        with_tangents = lambda r: (lambda xs: xs + tangents(r, xs))(make(r))
        n_in, n_out = len(args) + len(where), len(outs) + len(floating)
        put('vmap_jvp', [jvp_text, front(n_in) + ' '.join(['0'] * n_out)], stacked(rng, with_tangents, [0] * n_in),
            vmap_of(jvp, [0] * n_in, [0] * n_out), derivative)
    if 'R' in modes:
        with_cts = lambda r: make(r) + cotangents(r)
        n_in, n_out = len(args) + len(floating), len(outs) + len(where)
        put('vmap_vjp', [vjp_text, front(n_in) + ' '.join(['0'] * n_out)], stacked(rng, with_cts, [0] * n_in),
            vmap_of(vjp, [0] * n_in, [0] * n_out), derivative)
    if 'J' in modes:
        batch = stacked(rng, make, [0] * len(args))
        mapped = vmap_of(fn, [0] * len(args), [0] * len(outs))
        put('jvp_vmap', [front(len(args)) + ' '.join(['0'] * len(outs)), jvp_text], batch + tangents(rng, batch),
            jvp_of(mapped, active), derivative)
    if 'H' in modes:
        second = args + cotangents(rng)
        mask = list(active) + [True] * len(floating)
        put('jvp_vjp', [vjp_text, f'jvp {bits(mask)}'], second + [normal(rng, x) for x, m in zip(second, mask) if m],
            jvp_of(vjp, mask), derivative)


def primitive(file, prim, attrs, fn, make, label='', **options):
    """Cases of a program that is one equation."""
    args = make(np.random.default_rng(0))
    outs = shapes_of(fn, args)
    from case_file import type_text
    name = f"{prim}{label}/{','.join(type_text(a) for a in args)}"
    add_cases(file, name.replace(' ', ''), equation(prim, attrs, args, outs), fn, make, **options)
