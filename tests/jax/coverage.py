"""Every primitive is compared with JAX: its name occurs in a program of the generated cases.

usage: coverage.py TOOL CASES...
"""
import pathlib
import re
import subprocess
import sys

# Made by transforms and passes, never by a host; JAX has no equivalent.
INTERNAL = {'check', 'custom_linear'}
# They give nothing that could be compared.
WITHOUT_RESULT = {'debug_callback', 'debug_print'}


def main(tool, *cases):
    lines = subprocess.run([tool, 'primitives'], check=True, capture_output=True, text=True).stdout.splitlines()
    names = {line.split()[0] for line in lines if line.strip()}
    called = set()
    for path in cases:
        called.update(re.findall(r'= ([\w.-]+)\(', pathlib.Path(path).read_text(errors='replace')))
    missing = sorted(names - called - INTERNAL - WITHOUT_RESULT)
    for name in missing:
        print(f'{name}: no case compares it with JAX')
    print(f'{len(names)} primitives, {len(missing)} without a case')
    return 1 if missing or len(names) < 100 else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
