"""Every primitive and each of its rules is compared with JAX: it occurs in a generated case that needs the rule.

usage: coverage.py TOOL CASES...            what is missing; fails if anything is
       coverage.py --table DRAWN TOOL CASES...   the page plugins/lax/COVERAGE.md; DRAWN is what `ricci_fuzz --coverage`
                                                 printed
"""
import collections
import pathlib
import re
import sys

from rules import jax_rules, our_primitives

# Made by transforms and passes, never by a host; JAX has no equivalent.
INTERNAL = {'check', 'custom_linear', 'fma'}
# Their rules are functions of the host: tests/python compares it.
IN_PYTHON = {'custom_vmap'}
# They give nothing that could be compared.
WITHOUT_RESULT = {'debug_callback', 'debug_print'}
# The case that needs a rule. (partial_eval and dce belong to reverse mode.)
PROOF = {'jvp': ('jvp', 'vjp'), 'transpose': ('vjp',), 'batch': ('vmap',)}
# primitive, rule: why no case compares it
EXCEPTIONS = {
    ('bitcast_convert_type', 'jvp'): 'it is zero',
    ('io_callback', 'jvp'): 'it is an error message',
    ('pure_callback', 'jvp'): 'it is an error message',
    ('rng_bit_generator', 'batch'): 'JAX takes the bits of all keys from the first one',
}
INEXACT = re.compile(r'(?:f16|bf16|f32|f64|c64|c128)\[[\d,]*\] = ([\w.-]+)\(')
TITLE = """# Coverage

What each primitive has and what ran it, as `sh tests/coverage.sh --update` writes it. Rules: j(vp), t(ranspose),
b(atch), p(artial evaluation), d(ead code), s(implification), f(actors; those of scalar and moving rows are known from
their lowering). The next columns count the cases with JAX's results in `tests/jax` that hold the primitive, on `ref` and
`cpu`: values alone, and under each transform. `drawn` counts the programs with it among
{programs} of the fuzzer, which run on `ref`, through all passes and on `cpu`. The laws run every rule of every primitive at
its examples. Why a primitive has not all of j, t and b, [PRIMITIVES.md](PRIMITIVES.md) says.

| primitive | rules | lowerings | values | jvp | vjp | vmap | drawn |
|---|---|---|---|---|---|---|---|
"""


def cases_of(paths):
    """name -> how many cases hold it, by transform."""
    counts = collections.defaultdict(collections.Counter)
    for path in paths:
        for case in pathlib.Path(path).read_text(errors='replace').split('\ncase '):
            program = case.split('\ninput ')[0]
            transforms = set(re.findall(r'^(jvp|vjp|vmap) [\d ]', program, re.M)) or {'values'}
            for name in set(re.findall(r'= ([\w.-]+)\(', program)):
                counts[name].update(transforms)
            for name in set(INEXACT.findall(program)):
                counts[name]['inexact'] += 1
    return counts


def gaps_of(primitives, counts):
    """What JAX has too, so that it can be compared; derivatives where a result can have one."""
    theirs = jax_rules()
    for name, fields in sorted(primitives.items()):
        if name in INTERNAL | IN_PYTHON | WITHOUT_RESULT:
            continue
        if not counts[name]:
            yield f'{name}: no case compares it with JAX'
            continue
        for rule, transforms in PROOF.items():
            wanted = rule in fields['rules'] and rule in theirs.get(name.replace('_', '-'), ())
            possible = (name, rule) not in EXCEPTIONS and (rule == 'batch' or counts[name]['inexact'])
            if wanted and possible and not any(counts[name][t] for t in transforms):
                yield f'{name}: no case compares its rule {rule} with JAX'


def print_table(primitives, counts, drawn_file):
    text = pathlib.Path(drawn_file).read_text()
    drawn = dict(re.findall(r'^(\S+)\s+in (\d+) programs$', text, re.M))
    page = TITLE.format(programs=re.search(r'^(\d+) programs', text, re.M)[1])
    for name, fields in sorted(primitives.items()):
        rules = ' '.join(rule[0] for rule in fields['rules'])
        of = counts[name]
        cells = (name, rules, ' '.join(fields['lowerings']), *(of[t] for t in ('values', 'jvp', 'vjp', 'vmap')),
                 drawn.get(name, 0))
        page += '| ' + ' | '.join(map(str, cells)) + ' |\n'
    print(page, end='')


def main(arguments):
    drawn = arguments[1] if arguments[0] == '--table' else None
    tool, *paths = arguments[2:] if drawn else arguments
    primitives, counts = our_primitives(tool), cases_of(paths)
    if drawn:
        print_table(primitives, counts, drawn)
        return 0
    gaps = list(gaps_of(primitives, counts))
    for gap in gaps:
        print(gap)
    print(f'{len(primitives)} primitives, {len(gaps)} gaps')
    return 1 if gaps or len(primitives) < 100 else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
