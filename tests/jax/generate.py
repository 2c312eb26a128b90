"""Writes the case files that ricci_jax_replay runs: generate.py OUT_DIR [group...]

Groups are the modules <group>_cases.py next to this file. Same seed, same files. XLA compiles with little effort and
few liberties: no excess precision, no fast math.
"""
import os
import pathlib
import subprocess
import sys
import time

os.environ['XLA_FLAGS'] = ('--xla_backend_optimization_level=0 --xla_allow_excess_precision=false '
                           '--xla_cpu_multi_thread_eigen=false --xla_cpu_enable_fast_math=false')
os.environ['JAX_PLATFORMS'] = 'cpu'
# With two threads its calls of LAPACK deadlock about once in fifteen runs while other work runs.
os.environ['OPENBLAS_NUM_THREADS'] = '1'
os.environ['NPROC'] = '16'

CHILD = 'RICCI_GENERATES_CASES'


def in_another_process():
    """Runs it, and once more if it hangs in spite of these settings."""
    for limit in (290, 290):
        try:
            return subprocess.run([sys.executable, *sys.argv], env=os.environ | {CHILD: '1'}, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            print(f'JAX does not end within {limit} s', flush=True)
    return 1


if CHILD not in os.environ:
    sys.exit(in_another_process())

import importlib  # noqa: E402
import zlib  # noqa: E402

import jax  # noqa: E402
import numpy  # noqa: E402

jax.config.update('jax_enable_x64', True)
jax.config.update('jax_numpy_dtype_promotion', 'standard')

from case_file import CaseFile  # noqa: E402

HERE = pathlib.Path(__file__).parent
GROUPS = sorted(p.name.removesuffix('_cases.py') for p in HERE.glob('*_cases.py'))


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for group in sys.argv[2:] or GROUPS:
        start = time.perf_counter()
        file = CaseFile(out / f'{group}.cases')
        importlib.import_module(f'{group}_cases').cases(file, numpy.random.default_rng(zlib.crc32(group.encode())))
        file.close()
        print(f'{group}: {file.count} cases, {time.perf_counter() - start:.1f} s', flush=True)


main()
