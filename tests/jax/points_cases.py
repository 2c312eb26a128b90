"""Derivatives at hard points: the table of point_rows.py, each row as the programs of our bindings against JAX.

JAX computes one thing per row: values, gradient, and the tangents of both (jvp of vjp), at each point. The replays of a
row are jvp, vjp and jvp of vjp of all points in sequence, and the same in a batch, before and after which the
derivative is taken: all must give these numbers, so a batch changes no value. What is left out is in point_gaps.py, with the reason.
"""
import os
import pathlib
import typing

import jax
import jax.numpy as jnp
import numpy as np

from case_file import Close, Replay
from point_gaps import GAPS
from point_programs import of_cpp, of_python
from point_rows import all_rows
from transforms import bits, flat, jvp_of, vjp_of

# All that differs between the bindings is the program.
MODES_OF_PYTHON = ('each_jvp', 'batch_of_jvp_of_vjp')
DIRECTION = np.array([1, -0.75, 2, 0.5])  # of tangents; the first numbers, in turn, for each operand
COTANGENT = np.array([1, 2, -1, 0.5])


class Request(typing.NamedTuple):
    """A program to be made: with `rows` above 0 of so many points."""
    name: str
    fn: typing.Callable
    shapes: tuple
    rows: int = 0


class JaxModules:
    np, nn = jnp, jax.nn


def numbers(row):
    """(operands, tangents of the active ones, cotangents), each with one row per point."""
    operands = [np.stack([np.asarray(p[i], np.float64) for p in row.points]) for i in range(len(row.points[0]))]
    active = row.active or (True,) * len(operands)
    tangents = [np.broadcast_to(np.resize(np.roll(DIRECTION, -i), x.shape[1:]), x.shape).copy()
                for i, x in enumerate(operands) if active[i]]
    out = jax.eval_shape(lambda *x: row.fn(JaxModules, *x), *(x[0] for x in operands))
    ct = np.broadcast_to(np.resize(COTANGENT, out.shape), (len(row.points), *out.shape)).copy()
    return operands, tangents, ct, active


def kept_places(row, operands, names):
    """{number of a result: places of its elements that are compared}, where these are not all. `names`: of the results."""
    kept = {}
    for gap in GAPS.get(row.name, ()):
        left_out = np.broadcast_to(gap.where(*operands), len(row.points))
        for i in (names.index(n) for n in gap.results.split() if n in names):
            kept[i] = kept.get(i, True) & ~left_out
    return kept


def as_places(mask, size):
    """The places of elements of those rows where the mask holds, of an array of `size` elements."""
    return np.flatnonzero(np.repeat(mask, size // len(mask)))


def computation(row, active):
    """(operands, cotangent, tangents) of all points -> values, slopes, tangents of both."""
    if not any(active):
        return lambda *args: [jax.vmap(lambda *x: row.fn(JaxModules, *x))(*args)]
    vjp = vjp_of(lambda *x: row.fn(JaxModules, *x), active)
    both = jvp_of(vjp, [*active, False])
    return lambda *args: flat(jax.vmap(lambda *x: both(*x))(*args))


def places_of_results(row, given):
    """`kept` of the replays of a row."""
    operands, tangents, ct, active = given
    slopes = range(sum(active))
    names = ['y', *(f'g{i}' for i in slopes), 'dy', *(f'dg{i}' for i in slopes)]
    wanted = [x for x, a in zip(operands, active) if a]
    sizes = [x.size for x in (ct, *wanted, ct, *wanted)]
    return {i: as_places(mask, sizes[i]) for i, mask in kept_places(row, operands, names).items()}


def replays(source, row, programs, given):
    """Those of one binding. `programs`: of one point, and of all."""
    operands, tangents, ct, active = given
    one, each = programs
    n, k, rows = len(operands), sum(active), len(row.points)
    batch = lambda n_in, n_out: f"vmap {rows} in {' '.join('0' * n_in)} out {' '.join('0' * n_out)}"  # noqa: E731
    jvp, vjp, jvp_of_vjp = f'jvp {bits(active)}', f'vjp {bits(active)}', f'jvp {bits([*active, False])}'
    all_in, of_vjp, of_all = [*operands, ct, *tangents], range(1 + k), range(2 + 2 * k)
    kept = places_of_results(row, given)
    if k == 0:
        return [Replay(f'{source}/{row.name}/each', each, [], operands, [0], kept),
                Replay(f'{source}/{row.name}/batch', one, [batch(n, 1)], operands, [0], kept)]
    table = {
        'each_jvp': (each, [jvp], operands + tangents, [0, 1 + k]),
        'each_jvp_of_vjp': (each, [vjp, jvp_of_vjp], all_in, of_all),
        'batch_of_vjp': (one, [vjp, batch(n + 1, 1 + k)], [*operands, ct], of_vjp),
        'batch_of_jvp_of_vjp': (one, [vjp, jvp_of_vjp, batch(len(all_in), 2 + 2 * k)], all_in, of_all),
        'vjp_of_batch': (one, [batch(n, 1), vjp], [*operands, ct], of_vjp),
    }
    modes = table if source == 'cpp' else MODES_OF_PYTHON
    return [Replay(f'{source}/{row.name}/{mode}', *table[mode], kept) for mode in modes]


def requests_of(row):
    """Of one point and of all."""
    shapes = tuple(np.shape(x) for x in row.points[0])
    one = Request(row.name, row.fn, shapes)
    if any(shapes):
        return one, one._replace(rows=len(row.points))
    return one, one._replace(shapes=((len(row.points),),) * len(shapes))


def cases(file):
    rows = all_rows()
    build = pathlib.Path(file.file.name).resolve().parents[3]  # of build/tests/jax/cases/points.cases
    wanted = lambda chosen: [q for row in chosen for q in requests_of(row)]  # noqa: E731
    sources = {'cpp': of_cpp(wanted(rows), build)}
    if 'RICCI_PREFIX' in os.environ or (build / 'libricci.so.0').exists():
        sources['python'] = of_python(wanted(r for r in rows if r.python), build)
    else:
        print('points: without the Python binding, for which this build has no library')
    for row in rows:
        given = operands, tangents, ct, active = numbers(row)
        parts = [r for source, texts in sources.items() if requests_of(row)[0] in texts
                 for r in replays(source, row, [texts[q] for q in requests_of(row)], given)]
        inputs = [*operands, ct, *tangents] if any(active) else operands
        file.add(row.name, row.name, [], inputs, computation(row, active), Close(row.ulps, row.scale), parts)
