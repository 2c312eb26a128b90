"""Programs as functions of JAX: each equation by the function of its row, loops and branches by those of jax.lax.

Functions with a custom derivative are their own: what JAX derives from them is what the custom rule must give.
"""
import functools

import jax
import jax.numpy as jnp
from jax import lax

from program_reader import Constant, Program
from jax_rows import ROWS


def function_of(program, every=False):
    """f(*arguments) -> its results, a list; with `every` the values of all its equations."""
    def f(*arguments):
        values = dict(zip((name for name, _ in program.params), arguments))
        for step in program.steps:
            if isinstance(step, Constant):
                values[step.result] = constant(step.value, program.types[step.result])
            else:
                values.update(zip(step.results, results_of(step, [values[o] for o in step.operands])))
        names = [r for s in program.steps if not isinstance(s, Constant) for r in s.results] if every else program.results
        return [values[name] for name in names]
    return f


def constant(value, type_):
    if type_.dtype == 'key':
        return jax.random.wrap_key_data(jnp.asarray(value.reshape(-1).view('u4').reshape(*type_.shape, 2)))
    return jnp.asarray(value)


def results_of(equation, operands):
    attrs = {name: function_of(v) if isinstance(v, Program) else v for name, v in equation.attrs.items()}
    if 'branches' in attrs:
        attrs['branches'] = [function_of(p) for p in attrs['branches']]
    f = CONTROL.get(equation.primitive) or ROWS[equation.primitive]
    try:
        out = f(attrs, *operands)
    except Exception as error:
        error.row = getattr(error, 'row', equation.primitive)  # the innermost
        raise
    return out if isinstance(out, (list, tuple)) else [out]


# ---- control flow ----
def scan(a, *xs):
    n, c = a['num_consts'], a['num_carry']
    consts, carry, rest = xs[:n], list(xs[n:n + c]), list(xs[n + c:])

    def step(carry, slices):
        out = a['body'](*consts, *carry, *slices)
        return out[:c], out[c:]
    carry, ys = lax.scan(step, carry, rest, a['length'], a.get('reverse', False), a.get('unroll', 1))
    return [*carry, *ys]


def while_(a, *xs):
    n, m = a['cond_nconsts'], a['body_nconsts']
    go = lambda c: a['cond'](*xs[:n], *c)[0]
    step = lambda c: a['body'](*xs[n:n + m], *c)
    carry = list(xs[n + m:])
    if 'max_trips' not in a:
        return lax.while_loop(go, step, carry)
    # A loop with reverse mode.
    trip = lambda c, _: (lax.cond(go(c), step, lambda c: c, c), None)
    return lax.scan(trip, carry, None, a['max_trips'])[0]


def vmap(a, *xs):
    axes = lambda numbers: [None if n < 0 else n for n in numbers]
    return jax.vmap(a['body'], tuple(axes(a['in_axes'])), axes(a['out_axes']), axis_size=a['size'])(*xs)


def linear_solve(a, *xs):
    """Each program takes as many constants as it has parameters besides the vector."""
    parts = [a.get(name) for name in ('matvec', 'vecmat', 'solve', 'transpose_solve')]
    b, consts = xs[-1], xs[:-1]
    if len(consts) != 4:
        raise NotImplementedError('custom_linear_solve with other programs than those that are drawn')
    matvec, _, solve, back = [functools.partial(p, c) for p, c in zip(parts, consts)]
    n = len(jax.eval_shape(solve, b))
    split = lambda out: out[0] if n == 1 else (out[0], out[1:])
    out = lax.custom_linear_solve(lambda x: matvec(x)[0], b, lambda _, v: split(solve(v)), lambda _, v: split(back(v)),
                                  has_aux=n > 1)
    return [out] if n == 1 else [out[0], *out[1]]


CONTROL = {
    'call': lambda a, *xs: a['body'](*xs), 'checkpoint': lambda a, *xs: a['body'](*xs),
    'custom_jvp': lambda a, *xs: a['call'](*xs), 'custom_vjp': lambda a, *xs: a['call'](*xs),
    'linear_call': lambda a, *xs: a['call'](*xs), 'custom_vmap': lambda a, *xs: a['body'](*xs),
    'cond': lambda a, which, *xs: lax.switch(which, a['branches'], *xs),
    'scan': scan, 'while': while_, 'vmap': vmap, 'custom_linear_solve': linear_solve,
}
