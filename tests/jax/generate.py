"""Writes the case files that ricci_jax_replay runs.

usage: generate.py OUT [--all] [--write] [group...]

Groups are the modules <group>_cases.py next to this file. Results come from the references (references.py); a tenth of
the cases, by the commit, is computed by JAX, must agree with them, and is written as JAX gives it. A case without a
reference is an error.
  --all     JAX computes every case
  --write   writes the references: those that are missing, or with --all those that changed too
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

import xla_settings  # noqa: F401

HERE = pathlib.Path(__file__).parent
GROUPS = sorted(p.name.removesuffix('_cases.py') for p in HERE.glob('*_cases.py'))
CHILD = 'RICCI_GENERATES_CASES'
SHOWN = 20  # errors


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument('out', type=pathlib.Path)
    parser.add_argument('group', nargs='*', default=GROUPS)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--write', action='store_true')
    return parser.parse_intermixed_args()


def in_another_process(o, group):
    """Runs it, and once more if it hangs in spite of these settings."""
    switches = ['--all'] * o.all + ['--write'] * o.write
    for limit in (290, 290):
        try:
            return subprocess.run([sys.executable, __file__, o.out, group, *switches], env=os.environ | {CHILD: '1'},
                                  timeout=limit).returncode
        except subprocess.TimeoutExpired:
            print(f'JAX does not end within {limit} s', flush=True)
    return 1


if CHILD not in os.environ:
    arguments = options()
    sys.exit(max([in_another_process(arguments, group) for group in arguments.group]))

import importlib  # noqa: E402

import jax  # noqa: E402

jax.config.update('jax_enable_x64', True)
jax.config.update('jax_numpy_dtype_promotion', 'standard')

from case_file import CaseFile  # noqa: E402
from references import References, share_of_commit  # noqa: E402


def main():
    """One group."""
    o, start = options(), time.perf_counter()
    group = o.group[0]
    o.out.mkdir(parents=True, exist_ok=True)
    references = References(group, 'all' if o.all else None if o.write else share_of_commit(), o.write)
    file = CaseFile(o.out / f'{group}.cases', references)
    importlib.import_module(f'{group}_cases').cases(file)
    file.close()
    errors = references.finish()
    for error in errors[:SHOWN]:
        print(f'  {error}')
    if errors:
        print(f'{len(errors)} errors; if the cases are right, this writes the references: '
              f'{sys.executable} tests/jax/generate.py {o.out} --write{" --all" * references.differs} {group}')
    print(f'{group}: {file.count} cases, {references.count} computed, {time.perf_counter() - start:.1f} s', flush=True)
    return 1 if errors else 0


sys.exit(main())
