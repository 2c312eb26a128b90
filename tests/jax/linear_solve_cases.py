"""custom_linear_solve: solutions in every transform, what solvers give besides, vectors with integers."""
import jax.numpy as jnp
from jax import lax

from case_file import Close
from control_cases import ALL_MODES, case
from elementwise_cases import of
from transforms import add_cases
from values import floats


def linear_solves(file):
    mul, triangle = '%m: f64[3] = mul(%d, %x)', 'program(%d: f64[3], %x: f64[3], %y: f64[3])'
    program = f'''program(%d: f64[3], %b: f64[3], %c: f64[3]) {{
  %t: f64[3] = tanh(%d)
  %three: f64[3] = constant 3.0
  %e: f64[3] = add(%t, %three)
  %x: f64[3], %y: f64[3] = custom_linear_solve(%e, %e, %e, %e, %b, %c) matvec={triangle} {{
    {mul}
    %a: f64[3] = add(%m, %y)
    %b: f64[3] = mul(%d, %y)
    return %a, %b
  }} vecmat={triangle} {{
    {mul}
    %n: f64[3] = mul(%d, %y)
    %b: f64[3] = add(%x, %n)
    return %m, %b
  }} solve={triangle} {{
    %v: f64[3] = div(%y, %d)
    %r: f64[3] = sub(%x, %v)
    %u: f64[3] = div(%r, %d)
    return %u, %v
  }} transpose_solve={triangle} {{
    %u: f64[3] = div(%x, %d)
    %r: f64[3] = sub(%y, %u)
    %v: f64[3] = div(%r, %d)
    return %u, %v
  }}
  return %x, %y
}}
'''

    def pair(d, b, c):
        e = jnp.tanh(d) + 3.0

        def solve(_, v):
            y = v[1] / e
            return (v[0] - y) / e, y

        def transpose_solve(_, v):
            x = v[0] / e
            return x, (v[1] - x) / e
        matvec = lambda v: (e * v[0] + v[1], e * v[1])
        return list(lax.custom_linear_solve(matvec, (b, c), solve, transpose_solve))
    vector = floats('f64', (3,))
    case(file, 'custom_linear_solve/pair', program, pair, vector, vector, vector)
    conjugate_gradients(file)
    solver_results(file)


def solver_results(file):
    """What a solver gives besides the solution, and vectors with integers."""
    matvec = 'program(%d: f64[3], %x: f64[3]) { %m: f64[3] = mul(%d, %x) return %m }'
    solve = """program(%d: f64[3], %b: f64[3]) {
    %x: f64[3] = div(%b, %d)
    %is_small: bool[3] = lt(%x, %d)
    %norm: f64[3] = mul(%b, %b)
    return %x, %is_small, %norm
  }"""
    program = f"""program(%d: f64[3], %b: f64[3]) {{
  %x: f64[3], %small: bool[3], %norm: f64[3] = custom_linear_solve(%d, %d, %d, %d, %b) matvec={matvec} vecmat={matvec}
    solve={solve} transpose_solve={solve}
  %y: f64[3] = mul(%x, %norm)
  return %y, %small
}}
"""

    def with_aux(d, b):
        def solve(_, v):
            x = v / d
            return x, (x < d, v * v)
        x, (small, norm) = lax.custom_linear_solve(lambda v: d * v, b, solve, symmetric=True, has_aux=True)
        return [x * norm, small]
    case(file, 'custom_linear_solve/has_aux', program, with_aux, floats('f64', (3,), 1.0, 2.0), floats('f64', (3,)))
    program = """program(%b: i32[3]) {
  %x: i32[3] = custom_linear_solve(%b) matvec=program(%x: i32[3]) { %m: i32[3] = neg(%x) return %m }
    solve=program(%b: i32[3]) { %m: i32[3] = neg(%b) return %m }
  return %x
}
"""
    integers = lambda b: [lax.custom_linear_solve(lambda v: -v, b, lambda _, v: -v)]
    add_cases(file, 'custom_linear_solve/integers', program, integers,
              of(lambda rng: rng.integers(-9, 9, (3,)).astype('int32')), modes='nv')


def conjugate_gradients(file):
    product = 'dot_general({}) lhs_contract=[{}] rhs_contract=[0]'
    state = '%x: f64[3], %r: f64[3], %p: f64[3], %s: f64[], %k: i32[]'
    matvec = f'''program(%m: f64[3,3], %x: f64[3]) {{
    %y: f64[3] = {product.format('%m, %x', 1)}
    return %y
  }}'''
    solve = f'''program(%m: f64[3,3], %b: f64[3]) {{
    %x0: f64[3] = constant 0.0
    %s0: f64[] = {product.format('%b, %b', 0)}
    %k0: i32[] = constant 0
    {state} = while(%m, %x0, %b, %b, %s0, %k0) cond=program({state}) {{
      %near: f64[] = constant 1e-24
      %is_far: bool[] = gt(%s, %near)
      %last: i32[] = constant 20
      %is_early: bool[] = lt(%k, %last)
      %more: bool[] = and(%is_far, %is_early)
      return %more
    }} body=program(%m: f64[3,3], {state}) {{
      %q: f64[3] = {product.format('%m, %p', 1)}
      %pq: f64[] = {product.format('%p, %q', 0)}
      %alpha: f64[] = div(%s, %pq)
      %a: f64[3] = broadcast_in_dim(%alpha) shape=[3] broadcast_dimensions=[]
      %ap: f64[3] = mul(%a, %p)
      %x1: f64[3] = add(%x, %ap)
      %aq: f64[3] = mul(%a, %q)
      %r1: f64[3] = sub(%r, %aq)
      %s1: f64[] = {product.format('%r1, %r1', 0)}
      %beta: f64[] = div(%s1, %s)
      %b: f64[3] = broadcast_in_dim(%beta) shape=[3] broadcast_dimensions=[]
      %bp: f64[3] = mul(%b, %p)
      %p1: f64[3] = add(%r1, %bp)
      %one: i32[] = constant 1
      %k1: i32[] = add(%k, %one)
      return %x1, %r1, %p1, %s1, %k1
    }} cond_nconsts=0 body_nconsts=1
    return %x
  }}'''
    program = f'''program(%a: f64[3,3], %b: f64[3]) {{
  %s: f64[3,3] = dot_general(%a, %a) lhs_contract=[1] rhs_contract=[1]
  %i: f64[3,3] = constant [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]
  %m: f64[3,3] = add(%s, %i)
  %x: f64[3] = custom_linear_solve(%m, %m, %m, %m, %b) matvec={matvec} vecmat={matvec} solve={solve}
    transpose_solve={solve}
  %y: f64[3] = sin(%x)
  return %y
}}
'''

    def cg(matvec, b):
        def step(state):
            x, r, p, s, k = state
            q = matvec(p)
            alpha = s / (p @ q)
            x, r = x + alpha * p, r - alpha * q
            s1 = r @ r
            return x, r, r + s1 / s * p, s1, k + 1
        return lax.while_loop(lambda v: (v[3] > 1e-24) & (v[4] < 20), step, (jnp.zeros_like(b), b, b, b @ b, 0))[0]

    def fn(a, b):
        m = a @ a.T + 2.0 * jnp.eye(3)
        return [jnp.sin(lax.custom_linear_solve(lambda x: m @ x, b, cg, symmetric=True))]
    makers = of(floats('f64', (3, 3)), floats('f64', (3,)))
    add_cases(file, 'custom_linear_solve/cg', program, fn, makers, modes=ALL_MODES, tolerance=Close(4000, 1.0),
              derivative=Close(40000, 1.0))


def cases(file):
    linear_solves(file)
