"""Structural primitives: programs that hold programs, in every transform and nesting."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental import io_callback

from case_file import Close
from elementwise_cases import of
from transforms import add_cases
from values import floats, integers

ALL_MODES = 'nfrvFRJH'
NEAR = Close(8, 2.0)


def case(file, name, program, fn, *makers, modes=ALL_MODES, **options):
    add_cases(file, name, program, fn, of(*makers), modes=modes, tolerance=NEAR, derivative=Close(64, 4.0), **options)


def calls(file):
    body = '''body=program(%x: f32[3], %y: f32[3]) {
    %s: f32[3] = sin(%x)
    %m: f32[3] = mul(%s, %y)
    %t: f32[] = reduce_sum(%m) axes=[0]
    return %m, %t
  }'''

    def inner(x, y):
        m = jnp.sin(x) * y
        return m, m.sum()
    for prim, attrs, wrap in (('call', 'name="inner"', jax.jit), ('checkpoint', 'policy="nothing"', jax.checkpoint),
                              ('checkpoint', 'policy="everything"', jax.checkpoint),
                              ('checkpoint', 'policy="dots"', jax.checkpoint)):
        program = f'''program(%a: f32[3], %b: f32[3]) {{
  %m: f32[3], %t: f32[] = {prim}(%a, %b) {body} {attrs}
  %n: f32[3], %u: f32[] = {prim}(%m, %a) {body} {attrs}
  return %n, %t, %u
}}
'''

        def fn(a, b, f=wrap(inner)):
            m, t = f(a, b)
            n, u = f(m, a)
            return [n, t, u]
        case(file, f'{prim}/{attrs.split("=")[1]}'.replace('"', ''), program, fn, floats('f32', (3,)), floats('f32', (3,)))


def conds(file):
    branches = '''branches=[program(%x: f32[2], %y: f32[]) {
    %s: f32[2] = sin(%x)
    return %s, %y
  }, program(%x: f32[2], %y: f32[]) {
    %b: f32[2] = broadcast_in_dim(%y) shape=[2] broadcast_dimensions=[]
    %m: f32[2] = mul(%x, %b)
    %e: f32[] = exp(%y)
    return %m, %e
  }, program(%x: f32[2], %y: f32[]) {
    %z: f32[2] = constant 2.5
    %r: f32[] = reduce_sum(%x) axes=[0]
    return %z, %r
  }]'''
    program = f'''program(%i: i32[], %a: f32[2], %b: f32[]) {{
  %m: f32[2], %t: f32[] = cond(%i, %a, %b) {branches}
  return %m, %t
}}
'''
    functions = [lambda x, y: [jnp.sin(x), y], lambda x, y: [x * y, jnp.exp(y)],
                 lambda x, y: [jnp.full_like(x, 2.5), x.sum()]]
    fn = lambda i, a, b: lax.switch(i, functions, a, b)
    for index in (-2, 0, 1, 2, 7):
        case(file, f'cond/index{index}', program, fn, lambda r, i=index: np.array(i, np.int32), floats('f32', (2,)),
             floats('f32', ()), modes='nfrFRH')
    axes = [([0, 0, 0], [0, 0]), ([None, 0, 0], [0, 0]), ([0, None, None], [0, 0]), ([None, 1, None], [1, 0])]
    case(file, 'cond/any', program, fn, integers('i32', (), 0, 3), floats('f32', (2,)), floats('f32', ()),
         modes='vFRJ', axes=axes)


def whiles(file):
    program = '''program(%k: f32[], %x: f32[3], %n: i32[]) {
  %zero: i32[] = constant 0
  %i: i32[], %y: f32[3] = while(%n, %k, %zero, %x) cond=program(%n: i32[], %i: i32[], %x: f32[3]) {
    %c: bool[] = lt(%i, %n)
    return %c
  } body=program(%k: f32[], %i: i32[], %x: f32[3]) {
    %one: i32[] = constant 1
    %j: i32[] = add(%i, %one)
    %kb: f32[3] = broadcast_in_dim(%k) shape=[3] broadcast_dimensions=[]
    %s: f32[3] = sin(%x)
    %y: f32[3] = mul(%s, %kb)
    return %j, %y
  } cond_nconsts=1 body_nconsts=1MAX
  return %y, %i
}
'''

    def fn(k, x, n):
        i, y = lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, jnp.sin(c[1]) * k), (jnp.int32(0), x))
        return [y, i]

    def bounded(k, x, n):
        def step(c, _):
            i, y = c
            go = i < n
            return (jnp.where(go, i + 1, i), jnp.where(go, jnp.sin(y) * k, y)), None
        (i, y), _ = lax.scan(step, (jnp.int32(0), x), None, length=6)
        return [y, i]
    makers = floats('f32', ()), floats('f32', (3,)), integers('i32', (), 0, 6)
    axes = [([0, 0, 0], [0, 0]), ([None, 1, None], [1, 0]), ([0, None, None], [1, 0]), ([None, None, 0], [0, 0])]
    case(file, 'while/free', program.replace('MAX', ''), fn, *makers, modes='nfvFJ', axes=axes)
    case(file, 'while/bounded', program.replace('MAX', ' max_trips=6'), bounded, *makers, modes='nfrvFRH', axes=axes)
    newton = '''program(%a: f32[]) {
  %one: f32[] = constant 1.0
  %zero: i32[] = constant 0
  %start: f32[] = add(%one, %a)
  %x: f32[], %i: i32[] = while(%a, %a, %start, %zero) cond=program(%a: f32[], %x: f32[], %i: i32[]) {
    %eps: f32[] = constant 1.0e-4
    %most: i32[] = constant 50
    %cube: f32[] = integer_pow(%x) y=3
    %d: f32[] = sub(%cube, %a)
    %e: f32[] = abs(%d)
    %go: bool[] = gt(%e, %eps)
    %less: bool[] = lt(%i, %most)
    %c: bool[] = and(%go, %less)
    return %c
  } body=program(%a: f32[], %x: f32[], %i: i32[]) {
    %three: f32[] = constant 3.0
    %one: i32[] = constant 1
    %cube: f32[] = integer_pow(%x) y=3
    %d: f32[] = sub(%cube, %a)
    %sq: f32[] = mul(%x, %x)
    %den: f32[] = mul(%three, %sq)
    %q: f32[] = div(%d, %den)
    %y: f32[] = sub(%x, %q)
    %j: i32[] = add(%i, %one)
    return %y, %j
  } cond_nconsts=1 body_nconsts=1
  return %x
}
'''

    def solve(a):
        go = lambda c: (jnp.abs(c[0]**3 - a) > 1e-4) & (c[1] < 50)
        return lax.while_loop(go, lambda c: (c[0] - (c[0]**3 - a) / (3.0 * (c[0] * c[0])), c[1] + 1), (1.0 + a, jnp.int32(0)))[0]
    # The last bit decides where the loop ends, and one more step changes the result by far less than the bound.
    add_cases(file, 'while/newton', newton, solve, of(floats('f32', (), 1, 5)), modes='nfvF', tolerance=Close(1024, 1.0),
              derivative=Close(4096, 1.0))


def scans(file):
    body = '''body=program(%k: f32[], %c: f32[2], %x: f32[2]) {
    %kb: f32[2] = broadcast_in_dim(%k) shape=[2] broadcast_dimensions=[]
    %s: f32[2] = sin(%c)
    %m: f32[2] = mul(%s, %kb)
    %n: f32[2] = add(%m, %x)
    %t: f32[] = reduce_sum(%n) axes=[0]
    return %n, %t
  }'''

    def step(k, c, x):
        n = jnp.sin(c) * k + x
        return n, n.sum()
    for length in (0, 1, 4, 7):
        for reverse in (False, True):
            for unroll in (1, 3):
                if unroll == 3 and (length != 7):
                    continue
                program = f'''program(%k: f32[], %c: f32[2], %xs: f32[{length},2]) {{
  %d: f32[2], %ts: f32[{length}] = scan(%k, %c, %xs) {body} length={length} reverse={str(reverse).lower()} num_consts=1 num_carry=1 unroll={unroll}
  return %d, %ts
}}
'''
                fn = lambda k, c, xs, r=reverse, n=length: list(lax.scan(functools.partial(step, k), c, xs, length=n, reverse=r))
                case(file, f'scan/length{length}{"reverse" if reverse else ""}unroll{unroll}', program, fn,
                     floats('f32', ()), floats('f32', (2,)), floats('f32', (length, 2)),
                     modes=ALL_MODES if length == 4 and not reverse else 'nfrvR')
    matrix = '''program(%w: f32[3,3], %c: f32[3], %n: i32[]) {
  %d: f32[3], %m: i32[], %ys: f32[5,3] = scan(%w, %c, %n) body=program(%w: f32[3,3], %c: f32[3], %n: i32[]) {
    %p: f32[3] = dot_general(%w, %c) lhs_contract=[1] rhs_contract=[0]
    %t: f32[3] = tanh(%p)
    %one: i32[] = constant 1
    %m: i32[] = add(%n, %one)
    return %t, %m, %p
  } length=5 reverse=false num_consts=1 num_carry=2 unroll=1
  return %d, %m, %ys
}
'''

    def recurrent(w, c, n):
        def step(carry, _):
            c, n = carry
            p = w @ c
            return (jnp.tanh(p), n + 1), p
        (d, m), ys = lax.scan(step, (c, n), None, length=5)
        return [d, m, ys]
    case(file, 'scan/recurrent', matrix, recurrent, floats('f32', (3, 3)), floats('f32', (3,)), integers('i32', ()))
    nested = '''program(%a: f32[], %xs: f32[3,2]) {
  %d: f32[], %ys: f32[3] = scan(%a, %xs) body=program(%c: f32[], %x: f32[2]) {
    %e: f32[] = scan(%c, %x) body=program(%c: f32[], %x: f32[]) {
      %m: f32[] = mul(%c, %x)
      %s: f32[] = cos(%m)
      return %s
    } length=2 reverse=false num_consts=0 num_carry=1 unroll=1
    return %e, %c
  } length=3 reverse=false num_consts=0 num_carry=1 unroll=1
  return %d, %ys
}
'''
    inner = lambda c, x: lax.scan(lambda c, x: (jnp.cos(c * x), None), c, x)[0]
    fn = lambda a, xs: list(lax.scan(lambda c, x: (inner(c, x), c), a, xs))
    case(file, 'scan/nested', nested, fn, floats('f32', ()), floats('f32', (3, 2)))


def vmaps(file):
    for in_axes, out_axes in (([0, -1], [0]), ([1, 0], [1]), ([-1, 1], [2]), ([0, 0], [0])):
        shape = lambda axis, base: base if axis < 0 else base[:axis] + (3,) + base[axis:]
        a, b = shape(in_axes[0], (2, 4)), shape(in_axes[1], (4,))
        out = shape(out_axes[0], (2, 4))
        text = lambda s: f"f32[{','.join(map(str, s))}]"
        program = f'''program(%a: {text(a)}, %b: {text(b)}) {{
  %c: {text(out)} = vmap(%a, %b) body=program(%x: f32[2,4], %y: f32[4]) {{
    %s: f32[4] = sin(%y)
    %w: f32[2,4] = broadcast_in_dim(%s) shape=[2,4] broadcast_dimensions=[1]
    %m: f32[2,4] = mul(%x, %w)
    %z: f32[2,4] = cumsum(%m) axis=1 reverse=false
    return %z
  }} size=3 in_axes={in_axes} out_axes={out_axes} axis_name=""
  return %c
}}
'''.replace(', ', ', ')
        none = lambda v: None if v < 0 else v
        fn = jax.vmap(lambda x, y: lax.cumsum(x * jnp.sin(y), 1), in_axes=tuple(map(none, in_axes)), out_axes=out_axes[0])
        case(file, f'vmap/{in_axes}{out_axes}'.replace(' ', ''), program, fn, floats('f32', a), floats('f32', b))


def customs(file):
    program = '''program(%a: f32[3]) {
  %y: f32[3] = custom_jvp(%a) call=program(%x: f32[3]) {
    %e: f32[3] = exp(%x)
    %p: f32[3] = log1p(%e)
    return %p
  } jvp=program(%x: f32[3], %t: f32[3]) {
    %e: f32[3] = exp(%x)
    %p: f32[3] = log1p(%e)
    %l: f32[3] = logistic(%x)
    %u: f32[3] = mul(%l, %t)
    return %p, %u
  }
  %z: f32[3] = mul(%y, %a)
  return %z
}
'''

    @jax.custom_jvp
    def softplus(x):
        return jnp.log1p(jnp.exp(x))

    @softplus.defjvp
    def _(primals, tangents):
        x, t = primals[0], tangents[0]
        return jnp.log1p(jnp.exp(x)), jax.nn.sigmoid(x) * t
    case(file, 'custom_jvp', program, lambda a: softplus(a) * a, floats('f32', (3,)))
    program = '''program(%a: f32[3], %b: f32[3]) {
  %y: f32[3] = custom_vjp(%a, %b) call=program(%x: f32[3], %y: f32[3]) {
    %p: f32[3] = mul(%x, %y)
    return %p
  } fwd=program(%x: f32[3], %y: f32[3]) {
    %p: f32[3] = mul(%x, %y)
    return %p, %x, %y
  } bwd=program(%x: f32[3], %y: f32[3], %ct: f32[3]) {
    %two: f32[3] = constant 2.0
    %s: f32[3] = mul(%two, %ct)
    %dx: f32[3] = mul(%s, %y)
    %dy: f32[3] = mul(%ct, %x)
    return %dx, %dy
  }
  %z: f32[3] = sin(%y)
  return %z
}
'''

    @jax.custom_vjp
    def product(x, y):
        return x * y
    product.defvjp(lambda x, y: (x * y, (x, y)), lambda r, ct: (2.0 * ct * r[1], ct * r[0]))
    case(file, 'custom_vjp', program, lambda a, b: jnp.sin(product(a, b)), floats('f32', (3,)), floats('f32', (3,)),
         modes='nrvR')


def names(file):
    program = '''program(%a: f32[3]) {
  %y: f32[3] = checkpoint(%a) policy="names:inner" body=program(%x: f32[3]) {
    %s: f32[3] = sin(%x)
    %n: f32[3] = name(%s) name="inner"
    %e: f32[3] = exp(%n)
    return %e
  }
  return %y
}
'''
    policy = jax.checkpoint_policies.save_only_these_names('inner')
    fn = jax.checkpoint(lambda x: [jnp.exp(checkpoint_name(jnp.sin(x), 'inner'))], policy=policy)
    case(file, 'name', program, fn, floats('f32', (3,)))


def linear_calls(file):
    program = '''program(%r: f32[3], %x: f32[3]) {
  %c: f32[3] = stop_gradient(%r)
  %y: f32[3] = linear_call(%c, %x) num_residuals=1 call=program(%r: f32[3], %x: f32[3]) {
    %p: f32[3] = mul(%r, %x)
    return %p
  } transpose=program(%r: f32[3], %ct: f32[3]) {
    %two: f32[3] = constant 2.0
    %p: f32[3] = mul(%r, %ct)
    %q: f32[3] = mul(%two, %p)
    return %q
  }
  %z: f32[3] = sin(%y)
  return %z
}
'''

    def fn(r, x):
        y = jax.custom_derivatives.linear_call(lambda r, x: r * x, lambda r, ct: 2.0 * (r * ct), lax.stop_gradient(r), x)
        return jnp.sin(y)
    case(file, 'linear_call', program, fn, floats('f32', (3,)), floats('f32', (3,)), modes='nfr', active=[False, True])


def hosts(file):
    """What a program knows of the host: its platform, and functions that it calls."""
    program = '''program(%x: f32[3]) {
  %i: i32[] = platform_index() platforms="cuda,rocm;cpu;*"
  %y: f32[3] = cond(%i, %x) branches=[program(%x: f32[3]) {
    %e: f32[3] = exp(%x)
    return %e
  }, program(%x: f32[3]) {
    %s: f32[3] = sin(%x)
    return %s
  }, program(%x: f32[3]) {
    return %x
  }]
  return %y
}
'''
    fn = lambda x: lax.platform_dependent(x, cuda=jnp.exp, cpu=jnp.sin, default=lambda x: x)
    case(file, 'platform_index', program, fn, floats('f32', (3,)), modes='nfrv')
    same = lambda x: np.asarray(x)
    for method in ('sequential', 'expand_dims', 'broadcast_all'):
        program = f'''program(%x: f32[3]) {{
  %s: f32[3] = sin(%x)
  %y: f32[3] = pure_callback(%s) callback="ricci.copy" results="f32[3]" vmap_method="{method}"
  return %y
}}
'''
        fn = lambda x, m=method: jax.pure_callback(same, jax.ShapeDtypeStruct((3,), np.float32), jnp.sin(x), vmap_method=m)
        case(file, f'pure_callback/{method}', program, fn, floats('f32', (3,)), modes='nv')
    program = '''program(%x: f32[3]) {
  %y: f32[3] = io_callback(%x) callback="ricci.copy" results="f32[3]"
  %z: f32[3] = exp(%y)
  return %z
}
'''
    fn = lambda x: jnp.exp(io_callback(same, jax.ShapeDtypeStruct((3,), np.float32), x))
    case(file, 'io_callback', program, fn, floats('f32', (3,)), modes='nv')


def cases(file):
    for part in (calls, conds, whiles, scans, vmaps, customs, names, linear_calls, hosts):
        part(file)
