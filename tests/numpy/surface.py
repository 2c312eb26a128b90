"""The page bindings/cpp/NUMPY.md: every function of jax.numpy and its kin, with the header that has it or why none does.

surface.py checks that the page is what the headers and the reasons here give; `surface.py --update` writes it. A name
of JAX that no header has and no reason explains fails, and so does a reason for a name that is there.
"""
import importlib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / 'bindings/cpp/ricci'
PAGE = ROOT / 'bindings/cpp/NUMPY.md'
DECLARATION = re.compile(r'^(?:  )?(?:requires\([^)]*\)\s*)?(?:const )?'
                         r'(?:Value|Values|Unique|auto|Array|DType|Shape|SignAndLog|std::pair<\w+, \w+>|std::string)\s+'
                         r'(\w+)\(', re.M)
SPELLED = {'delete': 'delete_', 'array_str': 'to_string', 'array_repr': 'to_string'}

FILES = 'files and memory of the host: make an Array of a vector or of a pointer'
PYTHON = 'of Python objects; C++ has types'
BESSEL = 'needs Bessel functions, which are not among the primitives yet'
NO_PRIMITIVE = 'needs a primitive that is not there yet'
LATER = 'not yet'
REASONS = {
    'jax.numpy': {
        'array': 'the constructor of Array; constant makes a Value of a number', 'asarray': 'see array',
        'copy': 'an Array never changes', 'can_cast': PYTHON, 'isdtype': PYTHON, 'issubdtype': PYTHON,
        'iscomplexobj': 'IsComplex(x.dtype())', 'isrealobj': '!IsComplex(x.dtype())', 'isscalar': PYTHON,
        'iterable': PYTHON, 'ndim': 'x.rank()', 'shape': 'x.shape()', 'size': 'x.size() of an Array',
        'result_type': 'Promote(a, b) of dtypes', 'promote_types': 'Promote(a, b) of dtypes',
        'broadcast_shapes': 'BroadcastInto(shape, other)',
        'einsum_path': 'einsum chooses the order of the products itself', 'from_dlpack': FILES, 'frombuffer': FILES,
        'fromfile': FILES, 'fromiter': FILES, 'fromstring': FILES, 'load': FILES, 'save': FILES, 'savez': FILES,
        'frompyfunc': PYTHON, 'get_printoptions': 'to_string has NumPy\'s defaults',
        'set_printoptions': 'to_string has NumPy\'s defaults', 'printoptions': 'to_string has NumPy\'s defaults',
        'histogram2d': LATER, 'histogramdd': LATER, 'i0': BESSEL, 'kaiser': BESSEL,
        'mask_indices': 'its size depends on data: nonzero(mask, size)', 'trim_zeros': 'its size depends on data',
        'polyfit': 'needs least squares, which linalg does not have yet',
        'roots': 'needs eigenvalues of a general matrix, which linalg does not have yet',
    },
    'jax.numpy.fft': {},
    'jax.scipy.special': {
        **dict.fromkeys('bernoulli bessel_jn betainc dawsn erfcx exp1 expi expn fresnel gammainc gammaincc hyp1f1 hyp2f1 '
                        'loggamma owens_t sici spence sph_harm_y wofz'.split(), NO_PRIMITIVE),
        **dict.fromkeys('i0 i0e i1 i1e'.split(), BESSEL),
        'comb': LATER,
    },
    'jax.scipy.signal': {
        **dict.fromkeys('csd detrend istft stft welch'.split(), LATER),
    },
}
# The headers of each module, and what a function of it is called in C++.
MODULES = {
    'jax.numpy': (None, 'ricci::'),
    'jax.numpy.fft': ('fft.hpp', 'ricci::fft::'),
    'jax.scipy.special': ('scipy_special.hpp', 'ricci::scipy::special::'),
    'jax.scipy.signal': ('scipy_signal.hpp', 'ricci::scipy::signal::'),
}
APART = ('lax', 'fft', 'scipy', 'rules', 'register')


def declared(only):
    """Names of functions and the header of each."""
    files = [HEADERS / only] if only else sorted(p for p in HEADERS.glob('*.hpp') if not p.name.startswith(APART))
    out = {}
    for path in files:
        for match in DECLARATION.finditer(path.read_text()):
            out.setdefault(match[1], path.name)
    return out


def functions(module):
    """The public functions of a module of JAX."""
    m = importlib.import_module(module)
    return [n for n in dir(m) if not n.startswith('_') and callable(getattr(m, n))
            and not isinstance(getattr(m, n), type) and type(getattr(m, n)).__name__ != '_ScalarMeta']


def section(module, problems):
    header, prefix = MODULES[module]
    there, reasons = declared(header), REASONS[module]
    by_header, missing = {}, {}
    for name in functions(module):
        spelled = SPELLED.get(name, name)
        if spelled in there:
            by_header.setdefault(there[spelled], []).append(spelled)
            if name in reasons:
                problems.append(f'{module}.{name} is in {there[spelled]} and has a reason not to be')
        elif name in reasons:
            missing.setdefault(reasons[name], []).append(name)
        else:
            problems.append(f'{module}.{name} is in no header; write why in surface.py')
    lines = [f'## {module}: `{prefix}`', '', '| header | functions |', '|---|---|']
    lines += [f'| `{h}` | {" ".join(sorted(set(names)))} |' for h, names in sorted(by_header.items())]
    if missing:
        lines += ['', '| not there | why |', '|---|---|']
        lines += [f'| {" ".join(names)} | {reason} |' for reason, names in sorted(missing.items())]
    return lines + ['']


def distributions():
    """The namespaces of scipy_stats.hpp."""
    text = (HEADERS / 'scipy_stats.hpp').read_text()
    lines = ['## jax.scipy.stats: `ricci::scipy::stats::`', '', '| namespace | functions |', '|---|---|']
    for match in re.finditer(r'^namespace (\w+) \{\n(.*?)^\}', text, re.M | re.S):
        lines.append(f'| {match[1]} | {" ".join(m[1] for m in DECLARATION.finditer(match[2]))} |')
    return lines + ['']


def page(problems):
    lines = ['# NumPy functions of the C++ binding', '',
             'Written by `tests/numpy/surface.py --update` from the headers. Functions have the names of JAX and take their',
             'arguments in the same order; what makes an array from nothing takes a Context or Value first, and what finds',
             'elements takes the `size` of its result. `tests/numpy` compares each with JAX.', '']
    for module in MODULES:
        lines += section(module, problems)
    return '\n'.join(lines + distributions()).rstrip() + '\n'


def main():
    problems = []
    text = page(problems)
    if '--update' in sys.argv:
        PAGE.write_text(text)
    elif not PAGE.exists() or PAGE.read_text() != text:
        problems.append(f'{PAGE.relative_to(ROOT)} is not what the headers give; run surface.py --update')
    for p in problems:
        print(p)
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
