"""Times families of programs over many shapes, ours and JAX's, and finds cliffs: shapes at which the cost jumps.

    python tests/bench/sweep.py --tool build_bench/src/cli/ricci [--only sort,cumsum] [--limit 1.1]

Sizes lie near powers of two and far from them. Each program is timed by the tool (inputs bound, best of many runs) and
as a jitted function (best of many calls, so JAX's dispatch of some microseconds is part of it: programs shorter than
that in both are not listed as losses). Prints for each family the geometric mean of ours / JAX's and the losses; then
the cliffs: shapes that cost three times as much for an element as the next smaller or larger size of the same batch.
"""
import argparse
import math
import pathlib
import subprocess
import sys
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

SIZES = (1, 3, 7, 15, 16, 17, 31, 32, 33, 64, 100, 1000, 10**6)
BATCHES = (1, 3, 16, 17, 1000)
MOST_ELEMENTS, MOST_MULTIPLIES = 1 << 24, 1 << 31
SHORT_US = 20  # below this, JAX's dispatch would be measured
CLIFF = 3
CLIFF_US = 5  # shorter times are start-up


def rows(b, n):
    return f'f32[{b},{n}]'


def one_operand(body):
    """A family over x: f32[b,n]; `body` gives the lines that define %y."""
    return lambda b, n: f'program f(%x: {rows(b, n)}) {{ {body(b, n)} return %y }}'


def spread(b, n, value, name):
    return f'%{name}: {rows(b, n)} = broadcast_in_dim(%{value}) shape=[{b},{n}] broadcast_dimensions=[0] '


def softmax(b, n):
    t = rows(b, n)
    return (f'%m: f32[{b}] = reduce_max(%x) axes=[1] ' + spread(b, n, 'm', 'w') + f'%d: {t} = sub(%x, %w) '
            f'%e: {t} = exp(%d) %s: f32[{b}] = reduce_sum(%e) axes=[1] ' + spread(b, n, 's', 'v') + f'%y: {t} = div(%e, %v)')


def elementwise(b, n):
    t = rows(b, n)
    return f'%a: {t} = mul(%x, %x) %b: {t} = mul(%a, %x) %c: {t} = add(%x, %b) %d: {t} = tanh(%c) %y: {t} = mul(%x, %d)'


def roll(b, n):
    return (f'%a: f32[{b},{n - 1}] = slice(%x) start_indices=[0,1] limit_indices=[{b},{n}] '
            f'%b: f32[{b},1] = slice(%x) start_indices=[0,0] limit_indices=[{b},1] '
            f'%c: {rows(b, n)} = concatenate(%a, %b) dimension=1 %y: {rows(b, n)} = add(%c, %x)')


def recurrent(b, n):
    t = rows(b, n)
    return (f'%y: {t} = scan(%x, %x) length=10 num_consts=1 num_carry=1 reverse=false body=program(%w: {t}, %c: {t}) {{ '
            f'%p: {t} = mul(%w, %c) %t: {t} = tanh(%p) return %t }}')


def products(b, n):
    t = f'f32[{b},{n},{n}]'
    return (f'program f(%x: {t}, %z: {t}) {{ %y: {t} = dot_general(%x, %z) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] '
            f'rhs_batch=[0] return %y }}')


def updates(b, n):
    """One update for each element, in rows of `b`: x.at[i].add(x) with positions computed from x."""
    t, i = rows(b, n), f'[{n},1]'
    return (f'program f(%x: {t}, %r: f32{i}) {{ %one: f32{i} = constant 1.0 %a: f32{i} = add(%r, %one) '
            f'%s: f32{i} = constant {n / 2} %p: f32{i} = mul(%a, %s) %i: i32{i} = convert_element_type(%p) new_dtype=i32 '
            f'%y: {t} = scatter-add(%x, %i, %x) update_window_dims=[0] inserted_window_dims=[1] '
            f'scatter_dims_to_operand_dims=[1] mode="fill" return %y }}')


def jax_updates(x, r):
    n = x.shape[1]
    return x.at[:, ((r[:, 0] + 1) * (n / 2)).astype(jnp.int32)].add(x, mode='drop')


def jax_recurrent(x):
    return lax.fori_loop(0, 10, lambda _, c: jnp.tanh(x * c), x)


# name -> (our program of (batch, size), JAX's function, shapes of its arguments)
FLAT = lambda b, n: [(b, n)]
FAMILIES = {
    'elementwise': (one_operand(elementwise), lambda x: x * jnp.tanh(x + x * x * x), FLAT),
    'sum': (one_operand(lambda b, n: f'%y: f32[{b}] = reduce_sum(%x) axes=[1]'), lambda x: x.sum(1), FLAT),
    'column_sum': (one_operand(lambda b, n: f'%y: f32[{n}] = reduce_sum(%x) axes=[0]'), lambda x: x.sum(0), FLAT),
    'softmax': (one_operand(softmax), lambda x: jax.nn.softmax(x), FLAT),
    'transpose': (one_operand(lambda b, n: f'%y: f32[{n},{b}] = transpose(%x) permutation=[1,0]'), lambda x: x.T, FLAT),
    'roll': (one_operand(roll), lambda x: jnp.roll(x, -1, 1) + x, FLAT),
    'cumsum': (one_operand(lambda b, n: f'%y: {rows(b, n)} = cumsum(%x) axis=1 reverse=false'),
               lambda x: lax.cumsum(x, 1), FLAT),
    'sort': (one_operand(lambda b, n: f'%y: {rows(b, n)} = sort(%x) dimension=1 num_keys=1'), lambda x: lax.sort(x), FLAT),
    'scan': (one_operand(recurrent), jax_recurrent, FLAT),
    'updates': (updates, jax_updates, lambda b, n: [(b, n), (n, 1)]),
    'matmul': (products, lambda x, z: x @ z, lambda b, n: [(b, n, n)] * 2),
}


def ours(tool, text, seconds):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / 'case.ricci'
        path.write_text(text)
        done = subprocess.run([tool, 'bench', str(path), '--seconds', str(seconds)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'{text}\n{done.stderr}')
    best = next(line for line in done.stdout.splitlines() if line.startswith('best'))
    return float(best.split()[1])


def theirs(fn, shapes, seconds):
    run = jax.jit(fn)
    args = [jnp.asarray(np.random.default_rng(i).uniform(-1, 1, s).astype(np.float32)) for i, s in enumerate(shapes)]
    jax.block_until_ready(run(*args))
    best, end = math.inf, time.perf_counter() + seconds
    while time.perf_counter() < end:
        begin = time.perf_counter()
        jax.block_until_ready(run(*args))
        best = min(best, time.perf_counter() - begin)
    return best * 1e6


def fits(name, b, n):
    if name == 'roll' and n < 2:
        return False
    elements = b * n * (n if name == 'matmul' else 1)
    return elements <= MOST_ELEMENTS and (name != 'matmul' or elements * n <= MOST_MULTIPLIES)


def work(name, b, n):
    return b * n**3 if name == 'matmul' else b * n


def cliffs(name, times):
    """Shapes whose cost per element is CLIFF times that of both neighbours in size, or of the only one."""
    found = []
    for (b, n), us in times.items():
        near = [m for m in SIZES if (b, m) in times and m != n]
        near = [max((m for m in near if m < n), default=None), min((m for m in near if m > n), default=None)]
        per = us / work(name, b, n)
        if us >= CLIFF_US and all(per > CLIFF * times[b, m] / work(name, b, m) for m in near if m is not None):
            found.append(f'{name} [{b},{n}]: {us:.1f} us, {1000 * per:.3g} ns an element')
    return found


def sweep(name, a):
    text, fn, shapes = FAMILIES[name]
    times, ratios, losses = {}, [], []
    for b in BATCHES:
        for n in SIZES:
            if not fits(name, b, n):
                continue
            we, they = ours(a.tool, text(b, n), a.seconds), theirs(fn, shapes(b, n), a.seconds)
            times[b, n] = we
            ratios.append(we / they)
            if we > a.limit * they and we > SHORT_US:
                losses.append(f'{name} [{b},{n}]: {we:.1f} us, JAX {they:.1f}: {we / they:.2f}')
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f'{name}: {len(ratios)} shapes, {mean:.3f} of JAX in the geometric mean, {len(losses)} losses', flush=True)
    return losses, cliffs(name, times)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--tool', default='build_bench/src/cli/ricci', help='the tool of a release build')
    p.add_argument('--only', help=f'comma-separated families; all by default: {", ".join(FAMILIES)}')
    p.add_argument('--limit', type=float, default=1.1, help='ours / JAX above which a shape is a loss')
    p.add_argument('--seconds', type=float, default=0.05, help='repetitions of one measurement')
    a = p.parse_args()
    losses, steep = [], []
    for name in a.only.split(',') if a.only else FAMILIES:
        if name not in FAMILIES:
            sys.exit(f'there is no family {name}; there are {", ".join(FAMILIES)}')
        lost, fell = sweep(name, a)
        losses, steep = losses + lost, steep + fell
    print('\n'.join(['', f'{len(losses)} losses'] + losses + ['', f'{len(steep)} cliffs'] + steep))


main()
