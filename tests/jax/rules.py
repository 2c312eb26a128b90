"""Every rule that JAX has for a primitive, Ricci has too.

usage: rules.py TOOL
"""
import re
import subprocess
import sys

import jax._src.lax.linalg  # noqa: F401: registers rules
from jax._src.interpreters import ad, batching

# primitive, rule: why it is not here
EXCEPTIONS = {(name, 'transpose'): "JAX's is an error message"
              for name in ('while', 'pure_callback', 'io_callback', 'debug_callback', 'debug_print')}


def jax_rules():
    tables = {'jvp': [ad.primitive_jvps], 'transpose': [ad.primitive_transposes, getattr(ad, 'fancy_transposes', {})],
              'batch': [batching.fancy_primitive_batchers]}
    rules = {}
    for rule, registries in tables.items():
        for primitive in (p for registry in registries for p in registry):
            rules.setdefault(primitive.name.replace('_', '-'), set()).add(rule)
    return rules


def our_primitives(tool):
    """Names of the primitives -> their rules and lowerings, lists of words."""
    ask = lambda *names: subprocess.run([tool, 'primitives', *names], check=True, capture_output=True, text=True).stdout
    names = [line.split()[0] for line in ask().splitlines()]
    found = {name: {'rules': [], 'lowerings': []} for name in names}
    for line in ask(*names).splitlines():
        field, *words = line.split()
        if not line.startswith(' '):
            name = re.search(r'([\w.-]+)(\(|$)', line)[1]
        elif line.startswith('  ' + field) and field in found[name]:
            found[name][field] = words
    return found


def main(tool):
    theirs = jax_rules()
    compared, missing = 0, []
    for name, fields in our_primitives(tool).items():
        ours = theirs.get(name.replace('_', '-'), set())
        compared += len(ours)
        missing += [(name, rule) for rule in sorted(ours - set(fields['rules'])) if (name, rule) not in EXCEPTIONS]
    for name, rule in missing:
        print(f'{name}: JAX has a {rule} rule')
    print(f'{compared} rules of JAX, {len(missing)} missing')
    return 1 if missing or compared < 200 else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
