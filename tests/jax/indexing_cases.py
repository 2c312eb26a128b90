"""Primitives with positions known at run time: dynamic slices, gather, scatter, sort."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from case_file import ALL, COMPLEXES, DTYPES, EXACT, INTS, MOVABLE, NUMBERS, Body, Close
from elementwise_cases import of
from transforms import primitive
from values import floats, integers, ordinary

MODES = {'fill': lax.GatherScatterMode.FILL_OR_DROP, 'clip': lax.GatherScatterMode.CLIP,
         'promise_in_bounds': lax.GatherScatterMode.PROMISE_IN_BOUNDS}


def dynamic(file):
    for shape, sizes in (((5,), (2,)), ((5,), (5,)), ((4, 6), (2, 3)), ((3, 4, 5), (1, 4, 2)), ((4, 2), (0, 2)), ((), ())):
        n = len(shape)
        for dtype in ('i32', 'i64', 'u8'):
            starts = [integers(dtype, (), 0 if dtype == 'u8' else -3, 8)] * n
            primitive(file, 'dynamic_slice', {'slice_sizes': sizes},
                      lambda x, *s, z=sizes: lax.dynamic_slice(x, s, z, allow_negative_indices=False), of(floats('f32', shape), *starts),
                      label=f'({sizes})', modes='nfrvFR' if dtype == 'i32' else 'n')
            primitive(file, 'dynamic_update_slice', {}, lambda x, u, *s: lax.dynamic_update_slice(x, u, s, allow_negative_indices=False),
                      of(floats('f32', shape), floats('f32', sizes), *starts), modes='nfrvFR' if dtype == 'i32' else 'n')
    for dtype in MOVABLE:
        starts = [integers('i32', (), -1, 4)] * 2
        primitive(file, 'dynamic_slice', {'slice_sizes': (2, 1)}, lambda x, *s: lax.dynamic_slice(x, s, (2, 1), allow_negative_indices=False),
                  of(ordinary(dtype, (4, 3)), *starts), modes='n')
        primitive(file, 'dynamic_update_slice', {}, lambda x, u, *s: lax.dynamic_update_slice(x, u, s, allow_negative_indices=False),
                  of(ordinary(dtype, (4, 3)), ordinary(dtype, (2, 1)), *starts), modes='n')


# operand, indices, offset, collapsed, start map, operand batch, indices batch, slice sizes
GATHERS = [
    ((6,), (4, 1), (), (0,), (0,), (), (), (1,)),
    ((6,), (1,), (), (0,), (0,), (), (), (1,)),
    ((6,), (2, 3, 1), (), (0,), (0,), (), (), (1,)),
    ((6,), (4, 1), (1,), (), (0,), (), (), (3,)),
    ((5, 4), (3, 1), (1,), (0,), (0,), (), (), (1, 4)),
    ((5, 4), (3, 1), (0,), (1,), (1,), (), (), (5, 1)),
    ((5, 4), (3, 2), (), (0, 1), (0, 1), (), (), (1, 1)),
    ((5, 4), (3, 2), (), (0, 1), (1, 0), (), (), (1, 1)),
    ((5, 4), (2, 3, 2), (2, 3), (), (0, 1), (), (), (2, 3)),
    ((5, 4, 3), (2, 2), (0, 2), (1,), (0, 1), (), (), (2, 1, 3)),
    ((3, 5), (3, 4, 1), (), (1,), (1,), (0,), (0,), (1, 1)),
    ((3, 5, 4), (3, 2, 1), (2,), (1,), (1,), (0,), (0,), (1, 1, 4)),
    ((2, 3, 5), (3, 2, 4, 1), (), (2,), (2,), (0, 1), (1, 0), (1, 1, 1)),
    ((5, 4), (0, 1), (1,), (0,), (0,), (), (), (1, 4)),
    ((0, 3), (0, 1), (1,), (0,), (0,), (), (), (1, 3)),
]


def gathers(file):
    for shape, indices, offset, collapsed, start, batch, index_batch, sizes in GATHERS:
        numbers = lax.GatherDimensionNumbers(offset, collapsed, start, batch, index_batch)
        attrs = {'offset_dims': offset, 'collapsed_slice_dims': collapsed, 'start_index_map': start,
                 'operand_batching_dims': batch, 'start_indices_batching_dims': index_batch, 'slice_sizes': sizes}
        for mode, jax_mode in MODES.items():
            bound = max(min(shape[d] - sizes[d] for d in start), 0) + 1
            low, high = (0, bound) if mode == 'promise_in_bounds' else (-3, 8)
            fn = lambda x, i, n=numbers, z=sizes, m=jax_mode: lax.gather(x, i, n, z, mode=m)
            make = of(floats('f32', shape), integers('i32', indices, low, high))
            primitive(file, 'gather', attrs | {'mode': mode}, fn, make, label=f'({mode})', modes='nfrvFR')
    # A window larger than the array, and no positions; JAX has no reverse mode for it.
    numbers = lax.GatherDimensionNumbers((2,), (), (0,))
    primitive(file, 'gather', {'offset_dims': (2,), 'collapsed_slice_dims': (), 'start_index_map': (0,),
                                    'slice_sizes': (5,), 'mode': 'fill'},
              lambda x, i, n=numbers: lax.gather(x, i, n, (5,), mode='fill'),
              of(floats('f32', (4,)), integers('i32', (2, 0, 1), 0, 8)), modes='nfvF')
    numbers = lax.GatherDimensionNumbers((1,), (0,), (0,))
    attrs = {'offset_dims': (1,), 'collapsed_slice_dims': (0,), 'start_index_map': (0,), 'slice_sizes': (1, 4), 'mode': 'fill'}
    for dtype in MOVABLE:
        primitive(file, 'gather', attrs, lambda x, i: lax.gather(x, i, numbers, (1, 4), mode='fill'),
                  of(ordinary(dtype, (5, 4)), integers('i32', (6, 1), -2, 8)), modes='nv')
    for dtype in ('i64', 'u8', 'u32', 'i16'):
        primitive(file, 'gather', attrs, lambda x, i: lax.gather(x, i, numbers, (1, 4), mode='fill'),
                  of(floats('f32', (5, 4)), integers(dtype, (6, 1), 0, 8)), modes='n')
    primitive(file, 'gather', attrs | {'fill_value': 7.0},
              lambda x, i: lax.gather(x, i, numbers, (1, 4), mode='fill', fill_value=7.0),
              of(floats('f32', (5, 4)), integers('i32', (6, 1), -2, 8)), modes='nfrv')


SCATTERS = {'scatter': lax.scatter, 'scatter-add': lax.scatter_add, 'scatter-sub': lax.scatter_sub,
            'scatter-mul': lax.scatter_mul, 'scatter-min': lax.scatter_min, 'scatter-max': lax.scatter_max}


def update_shape(shape, indices, offset, collapsed, batch, sizes):
    window = [s for d, s in enumerate(sizes) if d not in collapsed and d not in batch]
    counting = list(indices[:-1])
    rank = len(window) + len(counting)
    window, counting = iter(window), iter(counting)
    return tuple(next(window) if d in offset else next(counting) for d in range(rank))


def distinct(shape, n):
    """Distinct index vectors (for the operations whose derivative needs them)."""
    return lambda rng: rng.permutation(n)[:shape[0]].reshape(shape).astype(np.int32)


def scatters(file):
    for prim, function in SCATTERS.items():
        for shape, indices, offset, collapsed, start, batch, index_batch, sizes in GATHERS:
            numbers = lax.ScatterDimensionNumbers(offset, collapsed, start, batch, index_batch)
            attrs = {'update_window_dims': offset, 'inserted_window_dims': collapsed,
                     'scatter_dims_to_operand_dims': start, 'operand_batching_dims': batch,
                     'scatter_indices_batching_dims': index_batch, 'indices_are_sorted': False}
            updates = update_shape(shape, indices, offset, collapsed, batch, sizes)
            for mode, jax_mode in MODES.items():
                if prim not in ('scatter', 'scatter-add') and (mode == 'promise_in_bounds' or (mode == 'clip' and len(shape) > 2)):
                    continue  # the same code as scatter-add
                bound = min(shape[d] - sizes[d] for d in start) + 1
                low, high = (0, bound) if mode == 'promise_in_bounds' else (-3, 8)
                make = of(floats('f32', shape, 0.5, 2), integers('i32', indices, low, high), floats('f32', updates, 0.5, 2))
                fn = lambda x, i, u, f=function, n=numbers, m=jax_mode: f(x, i, u, n, mode=m)
                modes = {'scatter-add': 'nfrvFR', 'scatter-sub': 'nfrv', 'scatter': 'nv'}.get(prim, 'nv')
                if prim not in ('scatter', 'scatter-add') and mode != 'fill':
                    modes = 'n'
                primitive(file, prim, attrs | {'mode': mode, 'unique_indices': False}, fn, make, label=f'({mode})',
                          modes=modes, tolerance=Close(0 if prim in ('scatter', 'scatter-min', 'scatter-max') else 4, 4.0))
        numbers = lax.ScatterDimensionNumbers((1,), (0,), (0,))
        attrs = {'update_window_dims': (1,), 'inserted_window_dims': (0,), 'scatter_dims_to_operand_dims': (0,),
                 'indices_are_sorted': False, 'unique_indices': True, 'mode': 'fill'}
        fn = lambda x, i, u, f=function, n=numbers: f(x, i, u, n, mode='fill', unique_indices=True)
        make = of(floats('f32', (5, 4), 0.5, 2), distinct((3, 1), 5), floats('f32', (3, 4), 0.5, 2))
        primitive(file, prim, attrs, fn, make, label='(unique)',
                  modes='nfrvF' if prim not in ('scatter-min', 'scatter-max') else 'nfv', tolerance=Close(4, 2.0))
        for dtype in ALL[1:] + COMPLEXES:
            make = of(ordinary(dtype, (5, 4)), distinct((3, 1), 5), ordinary(dtype, (3, 4)))
            tolerance = Close(4, 4.0) if dtype in COMPLEXES else EXACT
            primitive(file, prim, attrs, fn, make, modes='n', tolerance=tolerance)


def applied(f, numbers, updates, mode):
    """lax.scatter_apply by a count of the times that each element is reached: JAX has no derivative of its own."""
    times = int(np.prod(updates))

    def of_arrays(x, i):
        count = lax.scatter_add(jnp.zeros(x.shape, np.int32), i, jnp.ones(updates, np.int32), numbers, mode=mode)
        for trip in range(times):
            x = jnp.where(count > trip, f(x), x)
        return x
    return of_arrays


def scatter_applies(file):
    text = lambda dtype, op: Body(f'program(%x: {dtype}[]) {{\n  %y: {dtype}[] = {op}(%x)\n  return %y\n}}')
    for shape, indices, offset, collapsed, start, batch, index_batch, sizes in GATHERS:
        numbers = lax.ScatterDimensionNumbers(offset, collapsed, start, batch, index_batch)
        updates = update_shape(shape, indices, offset, collapsed, batch, sizes)
        for mode in ('fill', 'clip'):
            attrs = {'computation': text('f32', 'sin'), 'update_shape': updates, 'update_window_dims': offset,
                     'inserted_window_dims': collapsed, 'scatter_dims_to_operand_dims': start, 'operand_batching_dims': batch,
                     'scatter_indices_batching_dims': index_batch, 'mode': mode}
            make = of(floats('f32', shape, 0.5, 2), integers('i32', indices, -3, 8))
            own = lambda x, i, n=numbers, u=updates, m=mode: lax.scatter_apply(x, i, lax.sin, n, update_shape=u, mode=m)
            by_count = applied(lax.sin, numbers, updates, mode)
            for fn, modes in ((own, 'nv'), (by_count, 'frFRH' if mode == 'fill' else 'fr')):
                primitive(file, 'scatter_apply', attrs, fn, make, label=f'({mode})', modes=modes, tolerance=Close(4, 4.0),
                          derivative=Close(64, 8.0))
    numbers = lax.ScatterDimensionNumbers((1,), (0,), (0,))
    for dtype in MOVABLE:
        op, f = ('not', lax.bitwise_not) if dtype in INTS + ('bool',) else ('square', lax.square)
        attrs = {'computation': text(dtype, op), 'update_shape': (6, 4), 'update_window_dims': (1,),
                 'inserted_window_dims': (0,), 'scatter_dims_to_operand_dims': (0,), 'mode': 'fill'}
        own = lambda x, i, f=f: lax.scatter_apply(x, i, f, numbers, update_shape=(6, 4), mode='fill')
        make = of(ordinary(dtype, (5, 4)), integers('i32', (6, 1), -2, 8))
        primitive(file, 'scatter_apply', attrs, own, make, modes='n', tolerance=Close(8, 4.0))
        if dtype in COMPLEXES:
            primitive(file, 'scatter_apply', attrs, applied(f, numbers, (6, 4), 'fill'), make, modes='fr',
                      tolerance=Close(64, 8.0))


def sorts(file):
    """All operands are reordered alike, by the first num_keys of them."""
    for shapes, dimension, keys in (((5,), 0, 1), ((3, 4), 0, 1), ((3, 4), 1, 1), ((2, 3, 4), 1, 1)):
        for n in (1, 2, 3):
            fn = lambda *xs, d=dimension, k=keys: lax.sort(xs, dimension=d, is_stable=True, num_keys=k)
            primitive(file, 'sort', {'dimension': dimension, 'is_stable': True, 'num_keys': keys}, fn,
                      of(*[floats('f32', shapes)] * n), label=f'({dimension})', modes='nfrv')
    two = lambda *xs: lax.sort(xs, dimension=0, is_stable=True, num_keys=2)
    primitive(file, 'sort', {'dimension': 0, 'is_stable': True, 'num_keys': 2}, two,
              of(integers('i32', (9,), 0, 3), integers('i32', (9,), 0, 3), floats('f32', (9,))), modes='nfrv')
    for dtype in ALL:
        primitive(file, 'sort', {'dimension': 0, 'is_stable': True, 'num_keys': 1},
                  lambda *xs: lax.sort(xs, dimension=0, is_stable=True, num_keys=1),
                  of(ordinary(dtype, (7,)), integers('i32', (7,))), modes='n')


def top_k(file):
    for shape, k, axis in (((5,), 2, 0), ((3, 6), 3, 1), ((4, 2), 3, 0), ((2, 4), 0, 1), ((2, 4, 3), 2, 1)):
        primitive(file, 'top_k', {'k': k, 'axis': axis}, lambda x, k=k, a=axis: lax.top_k(x, k, axis=a),
                  of(floats('f32', shape)), label=f'({k},{axis})', modes='nfrv')
    for dtype in NUMBERS:
        primitive(file, 'top_k', {'k': 3, 'axis': 1}, lambda x: lax.top_k(x, 3), of(ordinary(dtype, (2, 7))), modes='n')

    for shape, attrs in (((5,), {'k': 2, 'reduction_dimension': 0}), ((3, 6), {'k': 3, 'reduction_dimension': -1}),
                         ((6, 2), {'k': 4, 'reduction_dimension': 0, 'is_max_k': False, 'recall_target': 0.5}),
                         ((2, 500), {'k': 2, 'reduction_dimension': 1, 'aggregate_to_topk': False}),
                         ((500, 2), {'k': 1, 'reduction_dimension': 0, 'aggregate_to_topk': False, 'is_max_k': False,
                                     'reduction_input_size_override': 600, 'recall_target': 0.9})):
        # Different elements: XLA orders equal ones in no particular way.
        make = of(lambda r, s=shape: (r.permutation(int(np.prod(s))).reshape(s) / 7).astype(np.float32))
        primitive(file, 'approx_top_k', attrs, approx_top_k(**attrs), make, label=str(attrs), modes='nfrv')
    for dtype in ('f16', 'bf16', 'f64'):
        attrs = {'k': 3, 'reduction_dimension': 0}
        primitive(file, 'approx_top_k', attrs, approx_top_k(**attrs),
                  of(lambda r, d=dtype: r.permutation(9).astype(DTYPES[d])), modes='n')


def approx_top_k(k, reduction_dimension, recall_target=0.95, is_max_k=True, reduction_input_size_override=-1,
                 aggregate_to_topk=True):
    f = lax.approx_max_k if is_max_k else lax.approx_min_k
    return lambda x: f(x, k, reduction_dimension, recall_target, reduction_input_size_override, aggregate_to_topk)


def cases(file):
    for part in (dynamic, gathers, scatters, scatter_applies, sorts, top_k):
        part(file)
