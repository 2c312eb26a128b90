"""The page bindings/cpp/NUMPY.md: every function of jax.numpy and its kin, with the header that has it or why none does.

surface.py checks that the page is what the headers and the reasons here give; `surface.py --update` writes it. A name
of JAX that no header has and no reason explains fails, and so does a reason for a name that is there.
"""
import importlib
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / 'bindings/cpp/ricci'
PAGE = ROOT / 'bindings/cpp/NUMPY.md'
DECLARATION = re.compile(r'^(?:  )?(?:requires\([^)]*\)\s*)?(?:const )?'
                         r'(?:Value|Values|void|ArrayFile|Unique|auto|Array|DType|Shape|SignAndLog|QAndR|BlockScaleConfig|CholeskyFactor|LuFactor|LuMatrices|Histogram2d|Histogramdd|\w+Result|'
                         r'GaussianKde|std::pair<\w+, \w+>|std::string)\s+'
                         r'(\w+)\(', re.M)
USED = re.compile(r'^using ricci::(?:linalg::)?(\w+);', re.M)
SPELLED = {'delete': 'delete_', 'array_str': 'to_string', 'array_repr': 'to_string'}

FILES = 'files and memory of the host: make an Array of a vector or of a pointer'
PYTHON = 'of Python objects; C++ has types'
LATER = 'not yet'
REASONS = {
    'jax.numpy': {
        'array': 'the constructor of Array; constant makes a Value of a number', 'asarray': 'see array',
        'copy': 'an Array never changes', 'can_cast': PYTHON, 'isdtype': PYTHON, 'issubdtype': PYTHON,
        'iscomplexobj': 'IsComplex(x.dtype())', 'isrealobj': '!IsComplex(x.dtype())', 'isscalar': PYTHON,
        'iterable': PYTHON, 'ndim': 'x.rank()', 'shape': 'x.shape()', 'size': 'x.size() of an Array',
        'result_type': 'Promote(a, b) of dtypes', 'promote_types': 'Promote(a, b) of dtypes',
        'broadcast_shapes': 'BroadcastInto(shape, other)',
        'einsum_path': 'einsum chooses the order of the products itself', 'frombuffer': FILES,
        'fromfile': FILES, 'fromiter': FILES, 'fromstring': FILES,
        'frompyfunc': PYTHON, 'get_printoptions': 'to_string has NumPy\'s defaults',
        'set_printoptions': 'to_string has NumPy\'s defaults', 'printoptions': 'to_string has NumPy\'s defaults',
        'mask_indices': 'its size depends on data: nonzero(mask, size)', 'trim_zeros': 'its size depends on data',
    },
    'jax.numpy.linalg': {
        **{n: f'ricci::{n}' for n in 'cross matmul matrix_transpose outer tensordot vecdot'.split()},
        'diagonal': 'ricci::diagonal(x, offset, -2, -1)', 'trace': 'ricci::trace(x, offset, -2, -1)',
    },
    'jax.random': {
        'PRNGKey': 'see key: all keys have dtype key', 'key_dtype': 'DType::kKey', 'key_impl': 'always threefry2x32',
    },
    'jax.numpy.fft': {},
    'jax.scipy.special': {},
    'jax.scipy.linalg': {},
    'jax.scipy.stats': {},
    'jax.scipy.signal': {},
    'jax.nn': {},
}
# The headers of each module, and what a function of it is called in C++.
MODULES = {
    'jax.numpy': (None, 'ricci::'),
    'jax.numpy.linalg': ('linalg.hpp', 'ricci::linalg::'),
    'jax.numpy.fft': ('fft.hpp', 'ricci::fft::'),
    'jax.random': ('random.hpp', 'ricci::random::'),
    'jax.scipy.special': ('scipy_special.hpp', 'ricci::scipy::special::'),
    'jax.scipy.signal': ('scipy_signal.hpp', 'ricci::scipy::signal::'),
    'jax.scipy.linalg': ('scipy_linalg.hpp', 'ricci::scipy::linalg::'),
    'jax.nn': ('nn.hpp nn_functions.hpp', 'ricci::nn::'),
    'jax.scipy.stats': ('scipy_stats.hpp scipy_kde.hpp', 'ricci::scipy::stats::'),
}
CLASSES = ('gaussian_kde',)  # functions here
APART = ('lax', 'nn', 'fft', 'linalg', 'random', 'scipy', 'rules', 'register')


def declared(only):
    """Names of functions and the header of each."""
    files = [HEADERS / name for name in only.split()] if only else sorted(p for p in HEADERS.glob('*.hpp') if not p.name.startswith(APART))
    out = {}
    for path in files:
        text = path.read_text()
        for match in USED.finditer(text):
            out.setdefault(match[1], path.name)
        for match in DECLARATION.finditer(text):
            out.setdefault(match[1], path.name)
    return out


def functions(module):
    """The public functions of a module of JAX, and its classes that CLASSES lists."""
    m = importlib.import_module(module)
    return [n for n in dir(m) if not n.startswith('_') and callable(getattr(m, n))
            and (not isinstance(getattr(m, n), type) or n in CLASSES) and type(getattr(m, n)).__name__ != '_ScalarMeta']


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


def distributions(problems):
    """The namespaces of scipy_stats.hpp, one per distribution, and the functions of samples."""
    text = (HEADERS / 'scipy_stats.hpp').read_text()
    there = {m[1]: [d[1] for d in DECLARATION.finditer(m[2])]
             for m in re.finditer(r'^namespace (\w+) \{\n(.*?)^\}', text, re.M | re.S)}
    stats = importlib.import_module('jax.scipy.stats')
    for name, module in vars(stats).items():
        if not name.startswith('_') and isinstance(module, types.ModuleType):
            wanted = [n for n in vars(module) if not n.startswith('_')]
            problems += [f'jax.scipy.stats.{name}.{n} is in no header' for n in wanted if n not in there.get(name, [])]
    lines = ['| namespace | functions |', '|---|---|']
    return lines + [f'| {name} | {" ".join(functions)} |' for name, functions in there.items()] + ['']


def page(problems):
    lines = ['# NumPy functions of the C++ binding', '',
             'Written by `tests/numpy/surface.py --update` from the headers. Functions have the names of JAX and take their',
             'arguments in the same order; what makes an array from nothing takes a Context or Value first, and what finds',
             'elements takes the `size` of its result. `tests/numpy` compares each with JAX.', '']
    for module in MODULES:
        lines += section(module, problems)
    return '\n'.join(lines + distributions(problems)).rstrip() + '\n'


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
