"""Primitives that move elements: broadcasts, reshapes, slices, pads, concatenations."""
import itertools

import numpy as np
from jax import lax
from jax._src.lax import lax as internal

from case_file import DTYPES, MOVABLE, DType
from elementwise_cases import of
from transforms import primitive
from values import floats, integers, ordinary

FULL = dict(modes='nfrvFR')  # exact in every mode except where a transpose sums


def each_dtype(file, prim, attrs, fn, shape, **options):
    for dtype in MOVABLE:
        primitive(file, prim, attrs, fn, of(ordinary(dtype, shape)), modes='n', **options)


def broadcasts(file):
    for shape, target, dims in (((), (), ()), ((), (3,), ()), ((), (0, 2), ()), ((3,), (3,), (0,)), ((3,), (2, 3), (1,)),
                                ((3,), (3, 2), (0,)), ((1, 3), (4, 3), (0, 1)), ((2, 1, 3), (2, 5, 4, 3), (0, 2, 3)),
                                ((2, 3), (2, 4, 3, 5), (0, 2)), ((0,), (2, 0), (1,))):
        fn = lambda x, t=target, d=dims: lax.broadcast_in_dim(x, t, d)
        attrs = {'shape': target, 'broadcast_dimensions': dims}
        primitive(file, 'broadcast_in_dim', attrs, fn, of(floats('f32', shape)), **FULL)
    each_dtype(file, 'broadcast_in_dim', {'shape': (2, 3), 'broadcast_dimensions': (1,)},
               lambda x: lax.broadcast_in_dim(x, (2, 3), (1,)), (3,))
    for dtype in MOVABLE[1:]:
        for shape, dimension in (((5,), 0), ((2, 3), 0), ((2, 3), 1), ((3, 0), 0), ((2, 3, 4), 1)):
            fn = lambda t=dtype, s=shape, d=dimension: lax.broadcasted_iota(DTYPES[t], s, d)
            primitive(file, 'iota', {'dtype': DType(dtype), 'shape': shape, 'dimension': dimension}, fn, of(),
                      label=f'({dtype},{shape},{dimension})', modes='n')


def reshapes(file):
    for shape, sizes in (((), ()), ((), (1, 1)), ((6,), (2, 3)), ((2, 3), (6,)), ((2, 3, 4), (4, 6)), ((1, 5, 1), (5,)),
                         ((0, 3), (3, 0, 2)), ((4, 6), (2, 2, 3, 2)), ((8,), (8, 1))):
        primitive(file, 'reshape', {'new_sizes': sizes}, lambda x, s=sizes: lax.reshape(x, s),
                  of(floats('f32', shape)), label=f'({sizes})', **FULL)
    for shape, dims in (((1,), (0,)), ((1, 3, 1), (0,)), ((1, 3, 1), (0, 2)), ((2, 1, 3, 1), (1,)), ((2, 3), ())):
        primitive(file, 'squeeze', {'dimensions': dims}, lambda x, d=dims: lax.squeeze(x, d),
                  of(floats('f32', shape)), label=f'({dims})', **FULL)
    for shape, dims in (((), (0,)), ((3,), (0,)), ((3,), (1,)), ((3, 2), (0, 2)), ((3, 2), (1, 3))):
        primitive(file, 'expand_dims', {'dimensions': dims}, lambda x, d=dims: lax.expand_dims(x, d),
                  of(floats('f32', shape)), label=f'({dims})', **FULL)
    for shape in ((), (4,), (2, 3), (2, 3, 4), (2, 1, 3, 2)):
        for permutation in list(itertools.permutations(range(len(shape))))[:8]:
            primitive(file, 'transpose', {'permutation': permutation},
                      lambda x, p=permutation: lax.transpose(x, p), of(floats('f32', shape)), label=f'({permutation})',
                      modes='nfrv')
    for shape, dims in (((4,), (0,)), ((2, 3), (1,)), ((2, 3), (0, 1)), ((2, 3, 4), (2, 0)), ((2, 3), ()), ((0, 2), (0,))):
        primitive(file, 'rev', {'dimensions': dims}, lambda x, d=dims: lax.rev(x, d), of(floats('f32', shape)),
                  label=f'({dims})', **FULL)
    for shapes in (((2, 3),), ((), (4,))):
        primitive(file, 'optimization_barrier', {}, lambda *xs: lax.optimization_barrier(xs),
                  of(*(floats('f32', shape) for shape in shapes)), label=f'({shapes})', **FULL)
    each_dtype(file, 'transpose', {'permutation': (2, 0, 1)}, lambda x: lax.transpose(x, (2, 0, 1)), (2, 3, 4))
    each_dtype(file, 'reshape', {'new_sizes': (3, 4)}, lambda x: lax.reshape(x, (3, 4)), (2, 6))
    each_dtype(file, 'rev', {'dimensions': (1,)}, lambda x: lax.rev(x, (1,)), (2, 3))


def slices(file):
    for shape, start, limit, strides in (((5,), (1,), (4,), None), ((5,), (0,), (5,), (2,)), ((7,), (1,), (6,), (3,)),
                                         ((4, 5), (1, 2), (3, 2), None), ((4, 5), (0, 1), (4, 5), (3, 2)),
                                         ((2, 3, 4), (0, 1, 1), (2, 3, 4), (1, 2, 2)), ((), (), (), None)):
        attrs = {'start_indices': start, 'limit_indices': limit} | ({'strides': strides} if strides else {})
        fn = lambda x, a=start, b=limit, c=strides: lax.slice(x, a, b, c)
        primitive(file, 'slice', attrs, fn, of(floats('f32', shape)), label=f'({start},{limit},{strides})', **FULL)
    each_dtype(file, 'slice', {'start_indices': (1, 0), 'limit_indices': (4, 3), 'strides': (2, 1)},
               lambda x: lax.slice(x, (1, 0), (4, 3), (2, 1)), (4, 5))
    for shape, config in (((3,), [(1, 2, 0)]), ((3,), [(0, 0, 2)]), ((5,), [(-1, -2, 0)]), ((5,), [(-2, 3, 1)]),
                          ((4,), [(2, -3, 2)]), ((2, 3), [(1, 0, 1), (0, 2, 0)]), ((2, 3), [(-1, 1, 0), (1, -1, 3)]),
                          ((0,), [(2, 1, 1)]), ((), []), ((2, 1, 3), [(0, 0, 0), (1, 1, 0), (-1, 0, 0)])):
        low, high, interior = [tuple(c[i] for c in config) for i in range(3)]
        primitive(file, 'pad', {'low': low, 'high': high, 'interior': interior},
                  lambda x, v, c=config: lax.pad(x, v, c), of(floats('f32', shape), floats('f32', ())),
                  label=f'({config})', **FULL)
    for dtype in MOVABLE:
        primitive(file, 'pad', {'low': (1, -1), 'high': (0, 2), 'interior': (1, 0)},
                  lambda x, v: lax.pad(x, v, [(1, 0, 1), (-1, 2, 0)]), of(ordinary(dtype, (2, 3)), ordinary(dtype, ())),
                  modes='n')


def joins(file):
    for shapes, dimension in ((((3,),), 0), (((3,), (2,)), 0), (((2, 3), (2, 1), (2, 2)), 1), (((1, 3), (4, 3)), 0),
                              (((2, 3, 1), (2, 3, 4)), 2), (((0, 2), (3, 2)), 0), (((2, 2),) * 5, 0)):
        primitive(file, 'concatenate', {'dimension': dimension}, lambda *xs, d=dimension: lax.concatenate(xs, d),
                  of(*[floats('f32', s) for s in shapes]), label=f'({dimension})', **FULL)
    for dtype in MOVABLE:
        primitive(file, 'concatenate', {'dimension': 1}, lambda *xs: lax.concatenate(xs, 1),
                  of(ordinary(dtype, (2, 3)), ordinary(dtype, (2, 2))), modes='n')
    for shape, axis in (((), 0), ((3,), 0), ((3,), 1), ((2, 3), 1)):
        primitive(file, 'stack', {'axis': axis}, lambda *xs, a=axis: internal.stack_p.bind(*xs, axis=a),
                  of(*[floats('f32', shape)] * 3), label=f'({axis})', modes='nfrv')
    for shape, sizes, axis in (((5,), (2, 3), 0), ((2, 6), (1, 2, 3), 1), ((4, 2), (4,), 0), ((4, 2), (0, 4), 0)):
        primitive(file, 'split', {'sizes': sizes, 'axis': axis}, lambda x, s=sizes, a=axis: lax.split(x, s, a),
                  of(floats('f32', shape)), label=f'({sizes},{axis})', **FULL)
    for shape, axis in (((3,), 0), ((3, 2), 0), ((3, 2), 1), ((2, 3, 2), 1)):
        primitive(file, 'unstack', {'axis': axis}, lambda x, a=axis: internal.unstack_p.bind(x, axis=a),
                  of(floats('f32', shape)), label=f'({axis})', modes='nfrv')
    for shape, reps in (((3,), (2,)), ((2, 3), (1, 2)), ((2, 3), (3, 2)), ((), ()), ((2, 1, 2), (1, 4, 2))):
        primitive(file, 'tile', {'reps': reps}, lambda x, r=reps: internal.tile_p.bind(x, reps=r),
                  of(floats('f32', shape)), label=f'({reps})', modes='nfrv')


def cases(file):
    for part in (broadcasts, reshapes, slices, joins):
        part(file)
