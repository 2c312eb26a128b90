"""Random programs, their derivatives and batches against JAX.

usage: against_jax.py FUZZ [--seed N] [--count N | --compare N] [--verbose]

`ricci_fuzz --write` draws programs and inputs, this evaluates them by jax.lax (a jit for each program; XLA without
optimization, excess precision and fast math), and `ricci_fuzz --against` compares, within the noise of each program.
Programs with rows that cannot be compared (jax_rows.LEFT_OUT) are passed over, and so are a derivative that JAX lacks and
what ends XLA's process. With --compare N the run goes on until N programs are compared, not counting those, and fails if
among 3 N there are fewer. Without --seed the seeds rotate with the commit.
"""
import argparse
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'jax'))

import xla_settings  # noqa: E402, F401

# What it computes may differ from what code does: of integers that overflow, clz, NaN. Without fused multiply-adds: XLA
# contracts what a kernel happens to hold, so that a value computed in two kernels differs from itself.
os.environ['XLA_FLAGS'] += ' --xla_disable_hlo_passes=constant_folding --xla_cpu_max_isa=AVX'

import jax  # noqa: E402

jax.config.update('jax_enable_x64', True)
jax.config.update('jax_numpy_dtype_promotion', 'standard')

from program_reader import read_program, storage  # noqa: E402
from case_file import raw, type_text  # noqa: E402
from jax_programs import function_of  # noqa: E402
from jax_rows import DERIVATIVES_LEFT_OUT, IMPOSSIBLE, LEFT_OUT  # noqa: E402
from transforms import jvp_of, vjp_of  # noqa: E402

import numpy as np  # noqa: E402

MOST_TEXT = 40_000  # bytes of a program; XLA takes minutes for the largest
CACHED = 50  # programs
RESERVE = 20  # one more program for each so many, since some end with an error
LARGE = 1 << 31  # XLA's shapes and JAX's rules for them overflow with attributes from here on


class Case:
    """A case of a case file (tests/jax/case_file.py)."""

    def __init__(self, name):
        self.name, self.program, self.transforms, self.inputs = name, None, [], []


def read_cases(data):
    at, case = 0, None
    while at < len(data):
        end = data.index(b'\n', at)
        word, *rest = data[at:end].decode().split()
        at = end + 1
        if word == 'case':
            case = Case(rest[0])
        elif word == 'program':
            case.program = data[at:at + int(rest[0])].decode()
            at += int(rest[0])
        elif word == 'input':
            case.inputs.append((rest[0], data[at:at + int(rest[1])]))
            at += int(rest[1]) + 1
        elif word == 'end':
            yield case
        else:
            case.transforms.append([word, *rest])


def array_of(type_, data):
    dtype, _, dims = type_.rstrip(']').partition('[')
    return np.frombuffer(data, storage(dtype)).reshape([int(n) for n in dims.split(',') if n])


def transformed(f, words):
    if words[0] == 'vmap':
        out = words.index('out')
        axes = [None if a == '-1' else int(a) for a in words[3:out]]
        return jax.vmap(f, axes, [int(a) for a in words[out + 1:]], axis_size=int(words[1]))
    mask = [w == '1' for w in words[1:]]
    return (jvp_of if words[0] == 'jvp' else vjp_of)(f, mask)


def rows_of(program):
    for step in program.steps:
        if hasattr(step, 'primitive'):
            yield step.primitive
            for v in step.attrs.values():
                for held in v if isinstance(v, list) else [v]:
                    if hasattr(held, 'steps'):
                        yield from rows_of(held)


def has_large_attributes(program):
    for step in program.steps:
        for v in getattr(step, 'attrs', {}).values():
            for n in v if isinstance(v, list) else [v]:
                if isinstance(n, int) and abs(n) >= LARGE or hasattr(n, 'steps') and has_large_attributes(n):
                    return True
    return False


def results_of(case):
    """JAX's results, types with bytes, or the reason why there are none."""
    program = read_program(case.program)
    derived = any(words[0] != 'vmap' for words in case.transforms)
    left_out = LEFT_OUT | (DERIVATIVES_LEFT_OUT if derived else {})
    for row in rows_of(program):
        if row in left_out:
            return f'{row}: {left_out[row]}'
    if derived and 'f8e8m0fnu' in case.program:
        return 'derivatives of f8e8m0fnu begin with zeros'
    for dtype, rows in IMPOSSIBLE.items():
        if dtype in case.program and not rows.isdisjoint(rows_of(program)):
            return f'{dtype} lacks a number that a row needs'
    if len(case.program) > MOST_TEXT:
        return 'too large'
    if has_large_attributes(program):
        return 'attributes above 2^31'
    f = function_of(program, every=not case.transforms)
    for words in case.transforms:
        f = transformed(f, words)
    try:
        results = jax.jit(f)(*[array_of(*x) for x in case.inputs])
        return [(type_text(x), raw(x)) for x in results]
    except Exception as error:  # under a transform of any type
        row = getattr(error, 'row', None)
        if row is None:  # no row of ours was being evaluated
            return f'JAX cannot lower it: {type(error).__name__}'
        if not case.transforms and not isinstance(error, NotImplementedError) and (
                type(error).__name__ != 'TypePromotionError'):  # JAX has no such operands
            raise
        what = case.transforms[0][0] if case.transforms else 'batch'
        return f'JAX has no {what} here: {row}: {type(error).__name__}'


def write_results(out, case, results):
    out.write(f'case {case.name}\n'.encode())
    for type_, data in results:
        out.write(f'result {type_} {len(data)} 0 0\n'.encode() + data + b'\n')
    out.write(b'end\n')


def evaluate(programs, results, first, most):
    """Appends the results of at most `most` programs from number `first` on, and prints lines for each: its number and
    `begins`, and then `passed over` and why, or `has results`. Returns the number of errors of this evaluator."""
    errors = written = 0
    report = os.fdopen(os.dup(1), 'w', buffering=1)
    os.dup2(2, 1)  # LAPACK's own output there is not one of our lines
    with open(results, 'ab') as out:
        for n, case in enumerate(read_cases(programs.read_bytes())):
            if n < first:
                continue
            if written == most:
                break
            print(f'{n} begins', file=report)
            if n % CACHED == 0:
                jax.clear_caches()
            try:
                got = results_of(case)
            except Exception as error:
                errors += 1
                print(f'{n} seed {case.name}: {getattr(error, "row", "")}: {type(error).__name__}: {str(error)[:200]!r}', file=report)
                continue
            if isinstance(got, str):
                print(f'{n} passed over: {got}', file=report)
            else:
                write_results(out, case, got)
                out.flush()
                written += 1
                print(f'{n} has results', file=report)
    return errors


def evaluate_in_processes(programs, results, most):
    """Goes on in another process after a program that ends one. Returns the number of programs, the reasons of those
    passed over with their counts, and the number of errors."""
    reasons, errors, n, written = collections.Counter(), 0, 0, 0
    while True:
        child = subprocess.Popen([sys.executable, __file__, '--evaluate', str(n), str(most - written), programs, results],
                                 stdout=subprocess.PIPE, text=True)
        for line in child.stdout:
            number, what = line.rstrip().split(' ', 1)
            n = int(number) + 1
            if what.startswith('passed over: '):
                reasons[what.removeprefix('passed over: ')] += 1
            elif what == 'has results':
                written += 1
            elif what != 'begins':
                errors += 1
                print(what, flush=True)
        if child.wait() >= 0:
            return n, reasons, errors
        reasons[f'JAX ends with signal {-child.returncode}'] += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('fuzz')
    parser.add_argument('--seed')
    parser.add_argument('--count', type=int, default=1)
    parser.add_argument('--compare', type=int)
    parser.add_argument('--verbose', action='store_true')
    o = parser.parse_args()
    start, seed = time.perf_counter(), ['--seed', o.seed] if o.seed else []
    with tempfile.TemporaryDirectory() as folder:
        programs, results = (pathlib.Path(folder) / name for name in ('programs.cases', 'results.cases'))
        count, least = (3 * o.compare, o.compare) if o.compare else (o.count, 0)
        most = least + least // RESERVE if o.compare else count
        subprocess.run([o.fuzz, *seed, '--count', str(count), '--write', programs], check=True)
        n, reasons, errors = evaluate_in_processes(programs, results, most)
        for reason, times in reasons.most_common():
            print(f'passed over {times}: {reason}')
        print(f'{n} programs, {time.perf_counter() - start:.1f} s with JAX', flush=True)
        status = subprocess.run([o.fuzz, '--against', results, '--count', str(least), *['--verbose'] * o.verbose]).returncode
    return status or errors


if __name__ == '__main__':
    if sys.argv[1] == '--evaluate':
        sys.exit(min(1, evaluate(*map(pathlib.Path, sys.argv[4:]), *map(int, sys.argv[2:4]))))
    sys.exit(main())
