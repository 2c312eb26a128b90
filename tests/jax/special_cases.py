"""Special functions of one, two and three numbers."""
from jax import lax
import numpy as np

from case_file import DTYPES, FLOATS, Close
from elementwise_cases import fixed, of
from transforms import primitive
from values import floats, integers, pairs, specials


def bessel(file):
    for prim, fn in (('bessel_i0e', lax.bessel_i0e), ('bessel_i1e', lax.bessel_i1e)):
        one = dict(tolerance=Close(16, 1.0), derivative=Close(64, 1.0))
        for dtype in FLOATS:
            for high in (3, 12):
                primitive(file, prim, {}, fn, of(floats(dtype, (3, 5), -high, high)), modes='nfr', **one)
            primitive(file, prim, {}, fn, fixed(specials(dtype)), modes='n', **one)
        primitive(file, prim, {}, fn, of(floats('f32', (2, 3), -12, 12)), modes='vFH', **one)
        primitive(file, prim, {}, fn, of(floats('f64', (2, 3), -12, 12)), modes='FH', **one)
        for shape in ((), (0,), (2, 1, 3, 2)):
            primitive(file, prim, {}, fn, of(floats('f32', shape)), modes='nfr', **one)


def of_an_order(file):
    """Functions of an order and a number; JAX has no derivatives with respect to the order, and none of zeta."""
    for dtype in FLOATS:
        one = dict(tolerance=Close(64, 1.0), derivative=Close(64, 1.0))
        whole = integers('i32', (3, 5), 0, 5)
        orders = lambda r: whole(r).astype(DTYPES[dtype])
        numbers = floats(dtype, (3, 5), 0.3, 8)
        second = 'FRH' if dtype in ('f32', 'f64') else ''
        primitive(file, 'polygamma', {}, lax.polygamma, of(orders, numbers), modes='nfrv' + second,
                  active=[False, True], **one)
        primitive(file, 'zeta', {}, lax.zeta, of(floats(dtype, (3, 5), 1.1, 8), numbers), modes='nv', active=[False] * 2,
                  **one)
    for prim, fn in (('polygamma', lax.polygamma), ('zeta', lax.zeta)):
        a, b = pairs(np.array([-1, 0, 0.5, 1, 2, 3, 2.5, 7]))
        keep = (a >= 0) & ((b != 0.5) | (a < 7)) if prim == 'polygamma' else a > -2
        primitive(file, prim, {}, fn, fixed(a[keep], b[keep]), label='(grid)', modes='n', tolerance=Close(64, 1.0))
        negative = np.array([-0.25, -0.5, -1, -1.5, -2, -4.75])  # below, JAX has no correct digits
        for order in (1, 2, 3):
            primitive(file, prim, {}, fn, fixed(np.full(negative.shape, float(order)), negative),
                      label=f'({order},negative)', modes='n', tolerance=Close(4096, 1.0))



INCOMPLETE_GAMMA = {'igamma': lax.igamma, 'igammac': lax.igammac, 'igamma_grad_a': lax.igamma_grad_a,
                    'random_gamma_grad': lambda a, x: lax.random_gamma_grad(a, x)}


def ulps_of(dtype):
    """JAX computes f32 in f32, where logarithms of gamma(a) cancel."""
    return {'f64': 1024, 'f32': 512}.get(dtype, 4)


def incomplete_gamma(file):
    for prim, fn in INCOMPLETE_GAMMA.items():
        is_integral = prim in ('igamma', 'igammac')
        for dtype in FLOATS:
            one = dict(tolerance=Close(ulps_of(dtype), 1.0), derivative=Close(4 * ulps_of(dtype), 1.0))
            for low, high in ((0.1, 1), (0.5, 5), (3, 30)):
                make = of(floats(dtype, (3, 5), low, high), floats(dtype, (3, 5), low, high))
                primitive(file, prim, {}, fn, make, modes='nfr' if is_integral and low == 0.5 else 'n', **one)
        make = of(floats('f64', (3, 5), 500, 2000), floats('f64', (3, 5), 900, 1100))
        primitive(file, prim, {}, fn, make, label='(large)', modes='n', tolerance=Close(2e4, 1.0))
        make = of(floats('f32', (2, 3), 0.5, 5), floats('f32', (2, 3), 0.5, 5))
        primitive(file, prim, {}, fn, make, modes='v', tolerance=Close(512, 1.0))
        if is_integral:
            make = of(floats('f64', (2, 3), 0.5, 5), floats('f64', (2, 3), 0.5, 5))
            primitive(file, prim, {}, fn, make, modes='FRH', active=[False, True], tolerance=Close(512, 1.0))
        for shape in ((), (0, 2), (2, 1, 3, 2)):
            make = of(floats('f64', shape, 0.5, 5), floats('f64', shape, 0.5, 5))
            primitive(file, prim, {}, fn, make, modes='n', tolerance=Close(512, 1.0))
        a, x = pairs(np.array([np.nan, np.inf, -1, -0.0, 0, 0.5, 2, 30]))
        # JAX has NaN where the limit exists: at an infinite shape, for a shape of 0, and for slopes at infinity.
        kept = ~np.isinf(a) & ((a != 0) | ~(x < 1)) & (is_integral | ~np.isinf(x))
        primitive(file, prim, {}, fn, fixed(a[kept], x[kept]), label='(edges)', modes='n', tolerance=Close(512, 1.0))


def incomplete_beta(file):
    prim, fn = 'regularized_incomplete_beta', lax.betainc
    for dtype in FLOATS:
        for low, high in ((0.1, 1), (0.5, 5), (3, 30)):
            make = of(floats(dtype, (3, 5), low, high), floats(dtype, (3, 5), low, high), floats(dtype, (3, 5), 0.05, 0.95))
            primitive(file, prim, {}, fn, make, modes='nfr', active=[False, False, True],
                      tolerance=Close(ulps_of(dtype), 1.0), derivative=Close(4 * ulps_of(dtype), 4.0))
    numbers = lambda dtype, shape: of(floats(dtype, shape, 0.5, 5), floats(dtype, shape, 0.5, 5), floats(dtype, shape, 0.1, 0.9))
    one = dict(tolerance=Close(512, 1.0), derivative=Close(2048, 4.0))
    primitive(file, prim, {}, fn, numbers('f32', (2, 3)), modes='v', **one)
    primitive(file, prim, {}, fn, numbers('f64', (2, 3)), modes='FRH', active=[False, False, True], **one)
    for shape in ((), (0, 2), (2, 1, 3, 2)):
        primitive(file, prim, {}, fn, numbers('f64', shape), modes='n', **one)
    make = of(floats('f64', (9,), 50, 500), floats('f64', (9,), 50, 500), floats('f64', (9,), 0.2, 0.8))
    primitive(file, prim, {}, fn, make, label='(large)', modes='n', tolerance=Close(2e4, 1.0))
    values = np.array([np.nan, np.inf, -1, 0, 0.5, 2, 30])
    a, b = pairs(values)
    places = np.array([np.nan, -1, 0, 0.5, 1, 2])
    a, b, x = np.repeat(a, len(places)), np.repeat(b, len(places)), np.tile(places, len(a))
    primitive(file, prim, {}, fn, fixed(a, b, x), label='(edges)', modes='n', tolerance=Close(512, 1.0))


def cases(file):
    for part in (bessel, of_an_order, incomplete_gamma, incomplete_beta):
        part(file)
