"""Eigenvalues, singular values and the reductions on the way to them.

Vectors are determined up to a factor of magnitude 1 (those of equal values up to more). So programs multiply each by
what makes a certain sum of its elements positive, here and in JAX, or compare what they reconstruct.
"""
import numpy as np
import jax.numpy as jnp
from jax import lax

from case_file import DTYPES, Close, DType
from hostile_matrices import defective, drawn, hostile
from program_text import PARTS, Text
from transforms import add_cases, primitive

LAPACK = ('f32', 'f64', 'c64', 'c128')


def adjoint(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def phase(v):
    """As Text.phase."""
    real = jnp.abs(v).dtype
    total = jnp.conj(jnp.sum(v * jnp.cos(jnp.arange(v.shape[-2], dtype=real))[:, None], axis=-2))
    return lax.stop_gradient(total / jnp.abs(total))


def hermitian(dtype, shape):
    """Hermitian matrices whose eigenvalues lie well apart."""
    def make(rng):
        x = 0.3 * drawn(dtype, rng, shape)
        x = x + np.conj(np.swapaxes(x, -1, -2))
        values = rng.permutation(np.arange(shape[-1])) * 2.0 - shape[-1]
        return [(x + np.eye(shape[-1]) * values).astype(DTYPES[dtype])]
    return make


def label(shape):
    return 'x'.join(map(str, shape))


def eigh(file):
    rng = file.numbers('eigh')
    wide = [((1, 1), 'nfr'), ((3, 3), 'nfrvFRJH'), ((2, 4, 4), 'nfrv'), ((9, 9), 'nfr'), ((40, 40), 'n')]
    narrow = [((3, 3), 'nfv'), ((9, 9), 'n'), ((0, 0), 'n'), ((0, 3, 3), 'n')]
    for dtype, shape, modes, lower in ([(d, *w, True) for d in ('f64', 'c128') for w in wide] +
                                       [(d, *w, True) for d in ('f32', 'c64') for w in narrow] +
                                       [(d, s, 'nr', False) for d in ('f64', 'c128') for s in ((3, 3), (9, 9))]):
        text = Text(dtype, shape)
        v, w = text.emit('eigh', [text.param], [(dtype, shape), (PARTS.get(dtype, dtype), shape[:-1])], lower=lower)
        program = text.done(text.in_phase(v, text.phase(v)), w)

        def fn(a, lower=lower):
            v, w = lax.linalg.eigh(a, lower=lower, symmetrize_input=False)
            return v * phase(v)[..., None, :], w
        add_cases(file, f'eigh({lower})/{dtype}/{label(shape)}', program, fn, hermitian(dtype, shape), modes=modes,
                  tolerance=Close(200, 8.0), derivative=Close(2000, 20.0))
    # Only one triangle is read, and no imaginary part of the diagonal.
    for lower in (True, False):
        x = drawn('c128', rng, (5, 5)) + np.diag(np.arange(5.0))
        text = Text('c128', (5, 5))
        v, w = text.emit('eigh', [text.param], [('c128', (5, 5)), ('f64', (5,))], lower=lower)

        def fn(a, lower=lower):
            v, w = lax.linalg.eigh(a, lower=lower, symmetrize_input=False)
            return v * phase(v), w
        add_cases(file, f'eigh({lower})/triangle', text.done(text.in_phase(v, text.phase(v)), w), fn,
                  lambda r, x=x: [x], modes='n', tolerance=Close(200, 8.0))


def reconstructed(file):
    """Equal eigenvalues, zeros, and numbers at the ends of the range."""
    ones, path = np.ones((12, 12)), np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1)
    for name, a in (('zero', np.zeros((4, 4))), ('one', np.eye(5)), ('rank', ones), ('path', path), ('kron', np.kron(np.eye(3), [[2, 1], [1, 2]])),
                    ('large', 1e300 * ones), ('small', 1e-300 * ones), ('graded', np.diag(10.0 ** -np.arange(12)) + 1e-14 * ones),
                    ('swap', [[0, 1], [1, 0]]), ('cycle', np.eye(6)[[1, 0, 3, 2, 5, 4]])):
        a = np.array(a, np.float64)
        text = Text('f64', a.shape)
        v, w = text.emit('eigh', [text.param], [('f64', a.shape), ('f64', a.shape[:1])])
        scaled = text.one('mul', [v, text.across_rows(w, v)], v)
        program = text.done(w, text.product(scaled, text.adjoint(v)), text.product(text.adjoint(v), v))

        def fn(a):
            v, w = lax.linalg.eigh(a, symmetrize_input=False)
            return w, a, jnp.eye(a.shape[0])
        add_cases(file, f'eigh/{name}', program, fn, lambda r, a=a: [a], modes='n',
                  tolerance=Close(100, scale_of(a)))
    for bad in ([[1, 0], [np.nan, 1]], np.full((9, 9), np.nan)):
        a = np.array(bad, np.float64)
        primitive(file, 'eigh', {}, lambda x: lax.linalg.eigh(x, symmetrize_input=False), lambda r, a=a: [a], modes='n',
                  label='(bad)')


def robust(file):
    """Reconstructions of such matrices, scaled so that the largest element is about 1."""
    rng = file.numbers('robust')
    for dtype, n in [(d, n) for n in (3, 20) for d in LAPACK]:
        a = hostile(dtype, n, rng)
        wide = a.astype(np.clongdouble if dtype in PARTS else np.longdouble)
        sizes = np.max(np.abs(wide), axis=(1, 2))
        exponents = [-int(np.floor(np.log2(s))) if s > 0 else 0 for s in sizes]
        scaled = (wide * np.exp2(np.array(exponents, np.longdouble))[:, None, None]).astype(DTYPES[dtype])
        lower = np.tril(scaled, -1)
        mirrored = lower + np.conj(np.swapaxes(lower, -1, -2)) + np.eye(n, dtype=lower.dtype) * np.real(scaled)
        one = np.tile(np.eye(n, dtype=DTYPES[dtype]), (len(a), 1, 1))
        real = PARTS.get(dtype, dtype)

        def add(name, text, middle, left, right, want, a=a, one=one, exponents=exponents, dtype=dtype, n=n):
            program = text.done(text.product(text.product(left, text.times_powers(middle, exponents)), right),
                                text.product(text.adjoint(left), left), text.product(right, text.adjoint(right)))
            add_cases(file, f'{name}(hostile)/{dtype}/{n}', program, lambda _, outs=(want, one, one): outs,
                      lambda r, a=a: [a], modes='n', tolerance=Close(100, 8.0))
        text = Text(dtype, a.shape)
        v, w = text.emit('eigh', [text.param], [(dtype, a.shape), (real, a.shape[:2])])
        add('eigh', text, text.diagonal(w, v), v, text.adjoint(v), mirrored)
        text, u, s, vt = svd_text(dtype, a.shape, False)
        add('svd', text, text.diagonal(s, u), u, vt, scaled)
        text = Text(dtype, a.shape)
        t, q = text.emit('schur', [text.param], [(dtype, a.shape)] * 2)
        add('schur', text, t, q, text.adjoint(q), scaled)


def residuals(file):
    """a v - v w of eigenvectors, and their lengths, for matrices scaled so that the largest element is about 1."""
    rng = file.numbers('residuals')
    for dtype, n in [(d, n) for n in (2, 3, 12) for d in LAPACK]:
        a = defective(dtype, n, rng)
        sizes = np.max(np.abs(a).astype(np.float64), axis=(1, 2))
        exponents = [-int(np.floor(np.log2(s))) if s > 0 else 0 for s in sizes]
        number = {'f32': 'c64', 'f64': 'c128'}.get(dtype, dtype)
        text = Text(dtype, a.shape)
        w, v = text.emit('eig', [text.param], [(number, a.shape[:2]), (number, a.shape)], compute_left_eigenvectors=False,
                         compute_right_eigenvectors=True)
        scaled = text.convert(text.times_powers(text.param, exponents), number)
        values = text.times_powers(text.across_rows(w, v), exponents)
        rest = text.one('sub', [text.product(scaled, v), text.one('mul', [v, values], v)], v)
        square = text.one('mul', [v, text.one('conj', [v], v)], v)
        program = text.done(rest, text.sum(square, -2))
        outs = np.zeros(a.shape, DTYPES[number]), np.ones(a.shape[:2], DTYPES[number])
        add_cases(file, f'eig(defective)/{dtype}/{n}', program, lambda _, outs=outs: outs, lambda r, a=a: [a], modes='n',
                  tolerance=Close(200, 8.0))


def not_finite(file):
    """All of the results for a matrix with one NaN or infinity is NaN (LAPACK, so JAX, leaves some of it as it happens to
    be); the other matrices of the batch have theirs."""
    def only_finite(f):
        def fn(a):
            good = jnp.all(jnp.isfinite(a), (-2, -1))
            outs = f(jnp.where(good[:, None, None], a, jnp.eye(a.shape[-1], dtype=a.dtype)))
            return [jnp.where(good.reshape(-1, *[1] * (o.ndim - 1)), o, o.dtype.type(complex(np.nan, np.nan) if o.dtype.kind == 'c' else np.nan))
                    for o in outs]
        return fn
    for dtype, n in [(d, n) for n in (2, 5) for d in LAPACK]:
        a = np.tile(np.eye(n) * (np.arange(n) + 1.0), (6, 1, 1)).astype(DTYPES[dtype])
        for k, bad in enumerate((np.nan, np.inf, -np.inf)):
            a[2 * k + 1, n - 1, k % n] = bad
            a[2 * k, 0, 0] /= 2.0**k
        functions = [('eigh', {}, lambda x: lax.linalg.eigh(x, symmetrize_input=False)), ('schur', {}, lax.linalg.schur),
                     ('svd', {'compute_uv': True}, lambda x: [lax.linalg.svd(x)[i] for i in (1, 0, 2)])]
        for left, right in ((True, True), (False, False)):
            options = {'compute_left_eigenvectors': left, 'compute_right_eigenvectors': right}
            functions.append(('eig', options, lambda x, options=options: lax.linalg.eig(x, **options)))
        for name, options, f in functions:
            primitive(file, name, options, only_finite(f), lambda r, a=a: [a], modes='n', label='(not finite)', tolerance=Close(8, 8.0))


def separate(dtype, shape):
    """Matrices with singular values well apart."""
    def make(rng):
        m, n = shape[-2:]
        x = 0.3 * drawn(dtype, rng, shape)
        for i in range(min(m, n)):
            x[..., (i + 1) % m, i] += 2.0 * (i + 1) * rng.choice([-1.0, 1.0])
        return [x.astype(DTYPES[dtype])]
    return make


def svd_text(dtype, shape, full, **attrs):
    """The text and its u, s, vt."""
    m, n = shape[-2:]
    rank, batch = min(m, n), shape[:-2]
    text = Text(dtype, shape)
    s, u, vt = text.emit('svd', [text.param], [(PARTS.get(dtype, dtype), (*batch, rank)), (dtype, (*batch, m, m if full else rank)),
                                               (dtype, (*batch, n if full else rank, n))], full_matrices=full, **attrs)
    return text, u, s, vt


def svd(file):
    for dtype, shape, modes in ([(d, *w) for d in ('f64', 'c128') for w in (
            ((3, 3), 'nfrvFRJ'), ((4, 2), 'nfrv'), ((2, 2, 4), 'nfr'), ((1, 3), 'nr'), ((12, 9), 'nf'), ((25, 40), 'n'))] +
                                [(d, *w) for d in ('f32', 'c64') for w in (((4, 3), 'nfv'), ((9, 9), 'n'))]):
        text, u, s, vt = svd_text(dtype, shape, False)
        v, factor = text.adjoint(vt), text.phase(u)
        program = text.done(text.in_phase(u, factor), s, text.in_phase(v, factor))

        def fn(a):
            u, s, vt = lax.linalg.svd(a, full_matrices=False)
            factor = phase(u)[..., None, :]
            return u * factor, s, adjoint(vt) * factor
        add_cases(file, f'svd/{dtype}/{label(shape)}', program, fn, separate(dtype, shape), modes=modes,
                  tolerance=Close(200, 8.0), derivative=Close(4000, 20.0))
        primitive(file, 'svd', {'compute_uv': False}, lambda a: lax.linalg.svd(a, compute_uv=False), separate(dtype, shape),
                  modes=modes.replace('J', ''), label='(values)', tolerance=Close(100, 8.0), derivative=Close(1000, 20.0))
    for dtype, shape in (('f64', (3, 3)), ('c128', (2, 2))):  # square, where both kinds of matrices are the same
        text, u, s, vt = svd_text(dtype, shape, True, algorithm='QR')
        factor = text.phase(u)

        def fn(a):
            u, s, vt = lax.linalg.svd(a, algorithm=lax.linalg.SvdAlgorithm.QR)
            return u * phase(u), s
        add_cases(file, f'svd(full)/{dtype}', text.done(text.in_phase(u, factor), s), fn, separate(dtype, shape), modes='nfr',
                  tolerance=Close(200, 8.0), derivative=Close(4000, 20.0))


def full_svd(file):
    """Reconstructions: of matrices that are not square, of low rank, with equal singular values, of any size."""
    rng = file.numbers('full_svd')
    tall, ones = separate('f64', (6, 3))(rng)[0], np.ones((5, 3))
    complexes = separate('c128', (3, 5))(rng)[0]
    for name, a in (('tall', tall), ('wide', tall.T), ('complex', complexes), ('tall_complex', complexes.T), ('rank_1', ones),
                    ('rank_2', np.outer(np.arange(6), np.ones(6)) + np.eye(6)[:, :1]), ('zero', np.zeros((4, 3))), ('one', np.eye(4)),
                    ('permuted', np.eye(10)[rng.permutation(10)]), ('large', 1e300 * ones), ('small', 1e-300 * ones)):
        dtype = 'c128' if np.iscomplexobj(a) else 'f64'
        a = np.asarray(a, DTYPES[dtype])
        m, n = a.shape
        rank = min(m, n)
        text, u, s, vt = svd_text(dtype, (m, n), True)
        us = text.slice(u, -1, 0, rank)
        us = text.one('mul', [us, text.across_rows(s, us)], us)
        program = text.done(s, text.product(us, text.slice(vt, -2, 0, rank)), text.product(text.adjoint(u), u),
                            text.product(vt, text.adjoint(vt)))
        fn = lambda a: (lax.linalg.svd(a, compute_uv=False), a, jnp.eye(a.shape[0], dtype=a.dtype), jnp.eye(a.shape[1], dtype=a.dtype))
        add_cases(file, f'svd(full)/{name}', program, fn, lambda r, a=a: [a], modes='n',
                  tolerance=Close(100, scale_of(a)))
    for shape in ((0, 3), (3, 0), (0, 0), (2, 0, 2), (0, 2, 2)):
        for full in (True, False):
            primitive(file, 'svd', {'full_matrices': full}, lambda a, full=full: [lax.linalg.svd(a, full_matrices=full)[i] for i in (1, 0, 2)],
                      separate('f32', shape), modes='n', label='(empty)')
    bad = np.array([[1, 0, 2], [np.nan, 1, 3]], np.float64)
    primitive(file, 'svd', {'compute_uv': True}, lambda a: [lax.linalg.svd(a)[i] for i in (1, 0, 2)], lambda r: [bad], modes='n', label='(bad)')


def scale_of(a):
    return max(4.0 * float(np.max(np.abs(a), initial=0.0)), 1.0)


def reductions(file):
    for dtype in LAPACK:
        wide = dtype in ('f64', 'c128')
        for shape in ((1, 1), (2, 2), (2, 4, 4), (40, 40)) if wide else ((9, 9),):
            make = lambda r, dtype=dtype, shape=shape: [drawn(dtype, r, shape).astype(DTYPES[dtype])]
            real_diagonal = lambda r, make=make: [x - 1j * x.imag * np.eye(x.shape[-1], dtype=x.dtype) for x in make(r)]
            options = dict(modes='nv' if shape == (2, 4, 4) else 'n', tolerance=Close(400, 8.0))
            primitive(file, 'hessenberg', {}, lax.linalg.hessenberg, make, **options)
            for lower in (True, False):
                primitive(file, 'tridiagonal', {'lower': lower}, lambda a, lower=lower: lax.linalg.tridiagonal(a, lower=lower),
                          real_diagonal if dtype in PARTS else make, label=f'({lower})', **options)


def general(dtype, shape):
    """Matrices with eigenvalues whose real parts are distinct, but for pairs of conjugates, in bases that are not orthogonal."""
    def make(rng):
        n, out = shape[-1], []
        for _ in range(int(np.prod(shape[:-2]))):
            d = np.diag(2.0 * np.arange(n) - n) + (0.5j * np.diag(rng.uniform(-1, 1, n)) if dtype in PARTS else 0)
            for i in range(0, n - 1, 3) if dtype not in PARTS else ():
                d[i + 1, i + 1] = d[i, i]
                d[i, i + 1], d[i + 1, i] = 1.5, -1.0
            s = np.eye(n) + 0.3 * drawn(dtype, rng, (n, n)) / np.sqrt(n)
            out.append(s @ d @ np.linalg.inv(s))
        return [np.array(out).reshape(shape).astype(DTYPES[dtype])]
    return make


def eig_steps(text, outs):
    """Results in the order of the real parts, then of the imaginary parts, of the eigenvalues; vectors in phase."""
    w = outs[0]
    part = PARTS[w.dtype]
    parts = [text.one(p, [w], w, dtype=part) for p in ('real', 'imag')]
    last = len(w.shape) - 1
    places = text.emit('iota', [], [('i32', w.shape)], dtype=DType('i32'), shape=w.shape, dimension=last)[0]
    order = text.emit('sort', [*parts, places], [(part, w.shape)] * 2 + [('i32', w.shape)], dimension=last, num_keys=2)[2]
    square = (*w.shape, w.shape[-1])
    wide = text.broadcast(order, square, [*range(last), last + 1])
    chosen = text.one('eq', [text.numbers(wide, -2), wide], wide, dtype='bool')
    chosen = text.convert(chosen, w.dtype)
    column = text.broadcast(w, square, [*range(last + 1)])
    results = [text.sum(text.one('mul', [chosen, column], chosen), -2)]
    for v in outs[1:]:
        v = text.product(v, chosen)
        results.append(text.in_phase(v, text.phase(v)))
    return results


def badly_scaled(dtype, shape):
    """The same in other units, which differ by powers of two, and with rows and columns in another order."""
    def make(rng):
        a, n = general(dtype, shape)(rng)[0], shape[-1]
        units = 2.0 ** rng.integers(-9, 10, n) if dtype == 'f32' else 2.0 ** rng.integers(-90, 91, n)
        order = rng.permutation(n)
        return [(a * units[:, None] / units)[..., order, :][..., order].astype(DTYPES[dtype])]
    return make


def permuted_triangular(dtype, shape):
    """Triangular but for the order of rows and columns, with elements of any size beside the diagonal."""
    def make(rng):
        n = shape[-1]
        a = np.triu(drawn(dtype, rng, (n, n)) * 10.0 ** rng.uniform(-30, 30, (n, n)), 1) + np.diag(2.0 * np.arange(n) - n)
        order = rng.permutation(n)
        return [a[order][:, order].astype(DTYPES[dtype])]
    return make


def eig_cases(file, dtype, shape, modes, left, right, make=general):
    options = {'compute_left_eigenvectors': left, 'compute_right_eigenvectors': right, 'enable_eigvec_derivs': True}
    number = {'f32': 'c64', 'f64': 'c128'}.get(dtype, dtype)
    text = Text(dtype, shape)
    outs = text.emit('eig', [text.param], [(number, shape[:-1])] + [(number, shape)] * (left + right), **options)
    program = text.done(*eig_steps(text, outs))

    def fn(a):
        w, *vectors = lax.linalg.eig(a, **options)
        order = jnp.lexsort((w.imag, w.real), axis=-1)
        vectors = [jnp.take_along_axis(v, order[..., None, :], -1) for v in vectors]
        return [jnp.take_along_axis(w, order, -1)] + [v * phase(v)[..., None, :] for v in vectors]
    kind = '' if make is general else f'({make.__name__})'
    add_cases(file, f'eig({left},{right}){kind}/{dtype}/{label(shape)}', program, fn, make(dtype, shape), modes=modes,
              tolerance=Close(2000, 8.0), derivative=Close(20000, 40.0))


def eig(file):
    for dtype, shape, modes, left, right in (
            ('f64', (3, 3), 'nfrvFR', True, True), ('f64', (2, 4, 4), 'nfrv', True, False), ('f64', (5, 5), 'nfr', False, True),
            ('f64', (6, 6), 'nfrv', False, False), ('c128', (3, 3), 'nfrvFR', True, True), ('c128', (5, 5), 'nf', False, True),
            ('c128', (4, 4), 'nfr', False, False), ('f32', (6, 6), 'n', True, True), ('c64', (9, 9), 'n', True, True),
            ('f64', (30, 30), 'n', True, True), ('c128', (20, 20), 'n', True, True), ('f64', (1, 1), 'n', True, True),
            ('f32', (2, 2), 'n', True, True), ('f32', (0, 0), 'n', True, True), ('f64', (0, 2, 2), 'n', True, True)):
        eig_cases(file, dtype, shape, modes, left, right)
    for dtype, n in (('f64', 4), ('f64', 12), ('c128', 7), ('f32', 6)):
        eig_cases(file, dtype, (n, n), 'n', True, True, badly_scaled)
    for dtype, n in (('f64', 9), ('c128', 5)):
        eig_cases(file, dtype, (n, n), 'n', False, False, permuted_triangular)


def schur(file):
    """Reconstructions, and the form: what must vanish."""
    rng = file.numbers('schur')
    any_of = lambda dtype, n: drawn(dtype, rng, (n, n))
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    for name, a in (('real', any_of('f64', 4)), ('blocks', general('f64', (7, 7))(rng)[0]), ('complex', any_of('c128', 5)), ('one', np.eye(3)),
                    ('turns', np.kron(np.eye(3), turn) + np.eye(6)[::-1]), ('cycle', np.roll(np.eye(9), 1, 0)), ('zero', np.zeros((3, 3))),
                    ('nilpotent', np.diag(np.ones(5), 1)), ('transposed', np.diag(np.ones(5), -1)), ('large', any_of('f64', 30)),
                    ('pair', turn), ('number', np.array([[2.0]])), ('complex_cycle', np.roll(np.eye(6), 1, 0) * 1j),
                    ('overflow', 1e300 * any_of('f64', 3)), ('equal', np.array([[1.0, 1.0], [-1e-17, 1.0]]))):
        dtype = 'c128' if np.iscomplexobj(a) else 'f64'
        a = np.asarray(a, DTYPES[dtype])
        text = Text(dtype, a.shape)
        t, q = text.emit('schur', [text.param], [(dtype, a.shape)] * 2)
        row, column = text.numbers(t, -2), text.numbers(t, -1)
        beyond = text.one('add', [column, text.convert(text.one('eq', [row, row], row, dtype='bool'), 'i32')], column)
        lower = text.where('gt', row, column if dtype in PARTS else beyond, t)
        beside = text.sum(text.where('eq', row, beyond, t), -1)  # of row i the element left of the diagonal, of row 0 a zero
        n = a.shape[0]
        both = text.one('mul', [text.slice(beside, -1, 0, n - 1), text.slice(beside, -1, 1, n)], beside, shape=(n - 1,))
        program = text.done(text.product(text.product(q, t), text.adjoint(q)), text.product(text.adjoint(q), q), lower, both)
        fn = lambda a: (a, jnp.eye(a.shape[0], dtype=a.dtype), jnp.zeros_like(a), jnp.zeros(a.shape[0] - 1, a.dtype))
        add_cases(file, f'schur/{name}', program, fn, lambda r, a=a: [a], modes='nv' if name == 'real' else 'n',
                  tolerance=Close(200, scale_of(a)))
        primitive(file, 'schur', {'compute_schur_vectors': False}, lambda a: lax.linalg.schur(jnp.triu(a), compute_schur_vectors=False)[:1],
                  lambda r, a=a: [np.triu(a)], modes='n', label='(triangular)', tolerance=Close(100, scale_of(a)))


def cases(file):
    for part in (eigh, reconstructed, robust, residuals, not_finite, svd, full_svd, reductions, eig, schur):
        part(file)
