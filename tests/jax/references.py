"""References: JAX's results of the cases, checked in as reference/<group>/<group>_<primitive>.results, one case a line:

    <name> <fingerprint> <result> <result>...     a result is <type>=<number>,<number>... or <type>#<checksum>

They are text so that a change of a result can be read. The inputs are not there: the tables make them again, from
random numbers that depend on the name of the case alone, and the fingerprint of program, transforms and inputs says
whether a line belongs to them. Numbers read back to the same bits, except that there is one NaN. To keep all of this
small, results that must agree bit for bit are a checksum if that is shorter, and of others with more than LARGEST
numbers a sample is kept. Nothing is compared less in the long run: a tenth of the cases, chosen by the commit, is
computed by JAX again, compared with what is checked in, and written for the replay with all its numbers.
"""
import pathlib
import re
import subprocess
import zlib

import numpy as np

from case_file import DTYPES, TINY, Result, is_key, raw, type_text

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / 'reference'
SHARES = 10
FEW, LARGEST, SAMPLE = 4, 20, 8
MOST_BYTES = 60 << 10  # of one file
STORED = DTYPES | {'key': np.dtype(np.uint64)}
DIGITS = {'bf16': 4, 'f16': 5} | dict.fromkeys(TINY, 4)


def share_of_commit():
    """A number below SHARES that changes with the commit; 0 outside of a repository."""
    made = subprocess.run(['git', 'rev-parse', 'HEAD'], cwd=HERE, capture_output=True, text=True)
    return int(made.stdout[:7], 16) % SHARES if made.returncode == 0 else 0


# ---- fingerprints ----
def rounded(x):
    """The elements in units of about 2^-20 of the largest: what a NumPy of another processor computes in another way, in
    the last place, is the same. (The unit changes at powers of two over 1.3, which do not occur.)"""
    x = np.asarray(x).reshape(-1)
    if x.dtype.kind in 'biu':
        return x
    x = (x.view(x.real.dtype) if x.dtype.kind == 'c' else x).astype(np.float64)
    finite = np.where(np.isfinite(x), x, 0)
    _, exponent = np.frexp(1.3 * np.max(np.abs(finite), initial=0))
    with np.errstate(invalid='ignore'):
        kind = np.select([np.isnan(x), x == np.inf, x == -np.inf], [1, 2, 3], 0)
    return np.append(np.round(np.ldexp(finite, 20 - int(exponent))).astype(np.int64), kind)


def fingerprint(case):
    crc = zlib.crc32('\n'.join([case.program, *case.transforms, *map(type_text, case.inputs)]).encode())
    for x in case.inputs:
        crc = zlib.crc32(raw(x) if is_key(x) else rounded(x).tobytes(), crc)
    return f'{crc:08x}'


# ---- numbers as text ----
def numbers_of(type_, data):
    """The elements as an array of one dimension, the parts of complex ones next to each other."""
    x = np.frombuffer(data, STORED[type_.split('[')[0]])
    return x.view(x.real.dtype) if x.dtype.kind == 'c' else x


def number_text(x, short):
    if short in DIGITS:
        text = f'{float(x):.{DIGITS[short]}g}'
    elif x.dtype.kind == 'f':
        text = str(x)
    else:
        return str(int(x))
    return text.removesuffix('.0')


def places_of(case, n):
    """Which of n numbers are kept; None: all, as of cases whose replays share them."""
    if n <= LARGEST or case.replays:
        return None
    return np.sort(np.random.default_rng(zlib.crc32(case.name.encode())).choice(n, SAMPLE, replace=False))


def checksum(x):
    """CRC-32 of the bits, those of NaN all ones."""
    bits = x.view(f'u{x.itemsize}')
    return zlib.crc32(np.where(x != x, bits.dtype.type(-1 % 256**x.itemsize), bits).tobytes())


def result_text(case, result):
    short, x = result.type.split('[')[0], numbers_of(result.type, result.numbers)
    exact = not result.rtol and not result.atol
    if exact and x.size > FEW:
        return f'{result.type}#{checksum(x):08x}'
    places = None if exact else places_of(case, x.size)
    kept = x if places is None else x[places]
    text = ','.join(number_text(v, short) for v in kept)
    again = parsed(kept.dtype, text)
    if not np.array_equal(again[again == again], kept[kept == kept]):
        raise ValueError(f'{case.name}: {text[:80]} does not read back to the numbers of {result.type}')
    return f'{result.type}={text}'


def parsed(dtype, text):
    words = text.split(',') if text else []
    integers = dtype.kind in 'biu'
    return np.array([int(w) if integers else float(w) for w in words], np.uint64 if dtype == np.uint64 else None).astype(dtype)


def size_of(type_):
    return int(np.prod([int(n) for n in re.findall(r'\d+', type_.split('[')[1])], dtype=np.int64))


def stored_result(case, text):
    if '#' in text:
        type_, _, bits = text.partition('#')
        return Result(type_, b'', 0.0, 0.0, checksum=int(bits, 16))
    type_, _, numbers = text.partition('=')
    dtype = STORED[type_.split('[')[0]]
    part = dtype if dtype.kind != 'c' else np.empty(0, dtype).real.dtype
    count = size_of(type_) * (2 if dtype.kind == 'c' else 1)
    tolerance = (0.0, 0.0) if type_.startswith('key') else case.tolerance.of(np.empty(0, dtype))
    return Result(type_, parsed(part, numbers).tobytes(), *tolerance, places_of(case, count))


def difference(stored, result):
    """How a result of JAX differs from the one that is checked in; None if it is within the tolerance."""
    if stored.type != result.type:
        return f'{result.type}, not {stored.type}'
    got = numbers_of(result.type, result.numbers)
    if stored.checksum is not None:
        return None if checksum(got) == stored.checksum else f'{got[:9]}... has not the checksum {stored.checksum:08x}'
    want = numbers_of(stored.type, stored.numbers)
    got = got if stored.places is None else got[stored.places]
    equal = (got == want) | ((got != got) & (want != want))
    if stored.rtol or stored.atol:
        with np.errstate(all='ignore'):
            w, g = want.astype(np.float64), got.astype(np.float64)
            equal |= np.isfinite(w) & (np.abs(g - w) <= stored.atol + stored.rtol * np.abs(w))
    if equal.all():
        return None
    at = int(np.argmin(equal))
    return f'JAX gives {got[at]}, the reference is {want[at]} ({np.sum(~equal)} of {got.size} differ)'


class References:
    """Those of one group. `share`: the cases that JAX computes again, a number below SHARES, 'all' or None. With
    `writes` a case without a reference is computed; else it is an error."""

    def __init__(self, group, share, writes):
        self.folder, self.group, self.share, self.writes = FOLDER / group, group, share, writes
        text = ''.join(p.read_text() for p in sorted(self.folder.glob('*.results')))
        self.lines = {line.split(' ', 1)[0]: line for line in text.splitlines()}
        self.seen, self.errors, self.fingerprints, self.count, self.differs = {}, [], {}, 0, False

    def is_due(self, name):
        return self.share == 'all' or zlib.crc32(name.encode()) % SHARES == self.share

    def stored(self, case):
        """The results that are checked in; None if there are none for this program and these inputs."""
        _, mark, *texts = self.lines.get(case.name, ' ').split(' ')
        return [stored_result(case, t) for t in texts] if mark == self.fingerprints[case.name] else None

    def results(self, case):
        """What is checked in, unless JAX shall compute it."""
        self.fingerprints[case.name] = fingerprint(case)
        stored = self.stored(case)
        if stored is None and not self.writes:
            self.errors.append(f'{case.name}: no reference for this program and these inputs')
            return []
        if stored is None or self.is_due(case.name):
            return None
        self.seen[case.name] = self.lines[case.name]
        return stored

    def computed(self, case, results):
        """Compares what JAX gives with what is checked in."""
        self.count += 1
        stored = self.stored(case)
        if stored is not None and len(stored) == len(results):
            differences = [d for d in map(difference, stored, results) if d]
            self.errors += [] if self.writes else [f'{case.name}: {d}' for d in differences]
            self.differs |= bool(differences)
            if not differences:  # what is only rounded otherwise stays as it is
                self.seen[case.name] = self.lines[case.name]
                return
        self.seen[case.name] = ' '.join([case.name, self.fingerprints[case.name], *(result_text(case, r) for r in results)])

    def finish(self):
        """Writes the files, or returns what is wrong."""
        if self.writes:
            self.write()
            return []
        gone = [name for name in self.lines if name not in self.fingerprints]
        return self.errors + [f'{name}: a reference without a case' for name in gone]

    def write(self):
        volumes = {}
        for name in sorted(self.seen):
            key = re.match(r'[\w-]+', name)[0]
            parts = volumes.setdefault(key, [''])
            line = self.seen[name] + '\n'
            if parts[-1] and len(parts[-1]) + len(line) > MOST_BYTES:
                parts.append('')
            parts[-1] += line
        self.folder.mkdir(parents=True, exist_ok=True)
        files = {}
        for key, parts in volumes.items():
            for i, text in enumerate(parts):
                files[f'{self.group}_{key}{f"_{i + 1}" if i else ""}.results'] = text
        for old in self.folder.glob('*.results'):
            if old.name not in files:
                old.unlink()
        for name, text in files.items():
            (self.folder / name).write_text(text)
