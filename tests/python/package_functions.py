"""Functions of published packages, by package: (name, function, arguments).

Small models and few steps, so that a program, its inputs and JAX's results are a few kilobytes. A size `k` above 1
makes the arrays about `k` times as long, for measurements. A package that cannot be imported is left out by those who
ask for it; packages.txt has the versions.
"""
import jax
import jax.numpy as jnp
import numpy as np

_RNG = np.random.default_rng(1)


def real(*shape):
    return _RNG.standard_normal(shape).astype(np.float32)


def _flax(k=1):
    from flax import linen as nn

    class Mlp(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(2 * k)(nn.LayerNorm()(nn.gelu(nn.Dense(4 * k)(x))))

    class Cnn(nn.Module):
        @nn.compact
        def __call__(self, x):
            x = nn.relu(nn.Conv(3, (3, 3))(x))
            x = nn.GroupNorm(num_groups=1)(x)
            return nn.Dense(2)(nn.silu(nn.Conv(2, (2, 2), strides=2)(x)).mean((1, 2)))

    class Pooled(nn.Module):
        @nn.compact
        def __call__(self, x):
            return nn.Dense(2)(nn.max_pool(nn.Conv(2, (3, 3))(x), (2, 2), strides=(2, 2)).reshape(1, -1))

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
            y = x + nn.MultiHeadDotProductAttention(num_heads=2)(nn.LayerNorm()(x), mask=mask)
            return y + nn.Dense(4 * k)(nn.gelu(nn.Dense(6 * k)(nn.LayerNorm()(y))))

    def recurrent(cell):
        return nn.RNN(cell)

    embed = nn.Embed(5 * k, 3 * k)
    image, words = (1, 4 * k, 4 * k), np.tile(np.array([1, 4], np.int32), k)
    models = (("mlp", Mlp(), real(3 * k, 3 * k)), ("cnn", Cnn(), real(*image, 2)),
              ("pooled", Pooled(), real(*image, 1)), ("transformer", Block(), real(1, 3 * k, 4 * k)),
              ("lstm", recurrent(nn.LSTMCell(3 * k)), real(2, 3 * k, 2 * k)),
              ("gru", recurrent(nn.GRUCell(3 * k)), real(2, 3 * k, 2 * k)), ("embed", embed, words),
              ("dropout", nn.Dropout(0.5, deterministic=False), real(3 * k, 4 * k)))
    for name, model, x in models:
        rngs = {"params": jax.random.key(0), "dropout": jax.random.key(1)}
        params = model.init(rngs, x)
        if name == "dropout":
            yield name, lambda v, m=model: m.apply({}, v, rngs={"dropout": jax.random.key(1)}), (x,)
        else:
            yield name, lambda p, v, m=model: m.apply(p, v), (params, x)


def _optax(k=1):
    import optax
    params = {"w": real(3 * k, 2 * k), "b": real(2 * k)}
    grads = {"w": real(3 * k, 2 * k), "b": real(2 * k)}
    decayed = optax.adam(optax.cosine_decay_schedule(1e-2, 10))
    chains = {"sgd": optax.sgd(0.1, momentum=0.9), "clipped": optax.chain(optax.clip_by_global_norm(0.5), decayed)}
    for name in "adam adamw lion rmsprop adagrad lamb adafactor".split():
        chains[name] = getattr(optax, name)(1e-2)
    for name, chain in chains.items():
        def step(p, g, c=chain):
            state = c.init(p)
            for _ in range(2):
                updates, state = c.update(g, state, p)
                p = optax.apply_updates(p, updates)
            return p
        yield name, step, (params, grads)
    logits, labels = real(3 * k, 4), np.tile(np.array([0, 2, 3], np.int32), k)
    yield "cross_entropy", lambda z: optax.softmax_cross_entropy_with_integer_labels(z, labels).mean(), (logits,)
    yield "huber", lambda a, b: optax.huber_loss(a, b).sum(), (real(4 * k), real(4 * k))
    words, kept, none = jnp.array([[1, 2]] * k), jnp.zeros((k, 4)), jnp.zeros((k, 2))
    yield "ctc", lambda z: optax.ctc_loss(z, kept, words, none).sum(), (real(k, 4, 3),)


def _diffrax(k=1):
    import diffrax
    field = diffrax.ODETerm(lambda t, y, pull: jnp.stack([y[1], -pull * jnp.sin(y[0])]))

    def solve(y, pull, solver, controller, adjoint):
        return diffrax.diffeqsolve(field, solver, 0.0, 0.5, 0.1, y, args=pull, stepsize_controller=controller,
                                   adjoint=adjoint, max_steps=16).ys
    fixed, adaptive = diffrax.ConstantStepSize(), diffrax.PIDController(1e-3, 1e-4)
    for name, solver, controller, adjoint in (
            ("euler", diffrax.Euler(), fixed, diffrax.RecursiveCheckpointAdjoint()),
            ("tsit5", diffrax.Tsit5(), fixed, diffrax.RecursiveCheckpointAdjoint()),
            ("tsit5_adaptive", diffrax.Tsit5(), adaptive, diffrax.RecursiveCheckpointAdjoint()),
            ("dopri5_direct", diffrax.Dopri5(), adaptive, diffrax.DirectAdjoint()),
            ("heun_forward", diffrax.Heun(), fixed, diffrax.ForwardMode()),
            ("kvaerno3", diffrax.Kvaerno3(), diffrax.PIDController(1e-3, 1e-4), diffrax.DirectAdjoint())):
        start = real(2) if k == 1 else real(2, k)
        yield name, lambda y, pull, s=solver, c=controller, a=adjoint: solve(y, pull, s, c, a), (start, np.float32(1.3))


def _numpyro(k=1):
    import numpyro
    import numpyro.distributions as dist
    from numpyro.infer.util import log_density
    x, y = real(6 * k), real(6 * k)

    def regression(x, y):
        slope, level = numpyro.sample("slope", dist.Normal(0, 1)), numpyro.sample("level", dist.StudentT(3.0, 0, 1))
        noise = numpyro.sample("noise", dist.HalfNormal(1))
        numpyro.sample("y", dist.Normal(slope * x + level, noise), obs=y)

    def schools(sigma, y):
        mu, tau = numpyro.sample("mu", dist.Normal(0, 5)), numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("schools", 6 * k):
            theta = numpyro.sample("theta", dist.Normal(mu, tau))
            numpyro.sample("y", dist.Normal(theta, sigma), obs=y)
    yield "regression", lambda p: log_density(regression, (x, y), {}, p)[0], (
        {"slope": np.float32(0.3), "level": np.float32(0.1), "noise": np.float32(0.8)},)
    yield "schools", lambda p: log_density(schools, (jnp.abs(x) + 1, y), {}, p)[0], (
        {"mu": np.float32(0.3), "tau": np.float32(1.1), "theta": real(6 * k)},)
    laws = {"gamma": dist.Gamma(2.0, 1.5), "beta": dist.Beta(2.0, 3.0), "lognormal": dist.LogNormal(0.1, 0.4),
            "weibull": dist.Weibull(1.2, 0.7), "dirichlet": dist.Dirichlet(jnp.array([2.0, 3.0])),
            "mixture": dist.MixtureSameFamily(dist.Categorical(jnp.array([0.4, 0.6])),
                                              dist.Normal(jnp.array([0.0, 1.0]), 0.5))}
    for name, law in laws.items():
        value = np.array([0.3, 0.7], np.float32) if name == "dirichlet" else np.float32(0.6)
        if k > 1:
            value = np.broadcast_to(value, (6 * k, *value.shape)).copy()
        yield name, law.log_prob, (value,)
    yield "sample", lambda key: dist.LogNormal(0.1, 0.4).sample(key, (3 * k,)), (jax.random.key(2),)


def _distrax(k=1):
    import distrax
    yield "normal", lambda x, s: distrax.Normal(0.0, s).log_prob(x), (real(3 * k), np.float32(1.2))
    squashed = distrax.Transformed(distrax.Normal(0.0, 1.0), distrax.Tanh())
    yield "tanh_normal", lambda x: squashed.log_prob(jnp.tanh(x)), (real(3 * k),)
    yield "categorical", lambda z: distrax.Categorical(logits=z).entropy(), (real(2 * k, 3 * k),)
    factor = lambda a: jnp.tril(a) + 2 * k * jnp.eye(2 * k)  # noqa: E731
    yield "mvn", lambda x, a: distrax.MultivariateNormalTri(jnp.zeros(2 * k), factor(a)).log_prob(x), (
        real(2 * k), real(2 * k, 2 * k))
    spline = lambda p: distrax.RationalQuadraticSpline(p, -1.0, 1.0)  # noqa: E731
    yield "spline", lambda x, p: spline(p).forward(jnp.tanh(x)), (real(2 * k), real(2 * k, 10))


def _haiku(k=1):
    import haiku as hk
    lstm = lambda v: hk.dynamic_unroll(hk.LSTM(3 * k), v, hk.LSTM(3 * k).initial_state(1))[0]  # noqa: E731
    for name, model, x in (("mlp", lambda v: hk.nets.MLP([4 * k, 2 * k])(v), real(2 * k, 3 * k)),
                           ("lstm", lstm, real(3 * k, 1, 2 * k)),
                           ("conv", lambda v: hk.Conv2D(2, 3)(v), real(1, 4 * k, 4 * k, 1))):
        f = hk.without_apply_rng(hk.transform(model))
        yield name, f.apply, (f.init(jax.random.PRNGKey(0), x), x)


def _equinox(k=1):
    import equinox as eqx
    for name, model, x in (("mlp", eqx.nn.MLP(3 * k, 2 * k, 4 * k, 2, key=jax.random.key(0)), real(3 * k)),
                           ("attention", eqx.nn.MultiheadAttention(2, 4 * k, key=jax.random.key(0)),
                            real(3 * k, 4 * k)),
                           ("gru", eqx.nn.GRUCell(2 * k, 3 * k, key=jax.random.key(0)), real(2 * k))):
        params, static = eqx.partition(model, eqx.is_array)
        def apply(p, v, s=static, n=name):
            m = eqx.combine(p, s)
            return m(v, v, v) if n == "attention" else m(v, v[:1].repeat(3 * k)) if n == "gru" else m(v)
        yield name, apply, (params, x)


def _lineax(k=1):
    import lineax as lx
    import optimistix as optx
    a = real(3 * k, 3 * k)
    a = a @ a.T + 3 * k * np.eye(3 * k, dtype=np.float32)
    for name, solver in (("lu", lx.LU()), ("cg", lx.CG(1e-5, 1e-5)), ("cholesky", lx.Cholesky()),
                         ("gmres", lx.GMRES(1e-5, 1e-5)), ("qr", lx.QR())):
        tag = lx.positive_semidefinite_tag
        yield name, lambda m, b, s=solver: lx.linear_solve(lx.MatrixLinearOperator(m, tag), b, s).value, (
            a, real(3 * k))
    newton, bfgs, two = optx.Newton(1e-4, 1e-4), optx.BFGS(1e-4, 1e-4), np.float32(2)
    yield "newton", lambda y, c: optx.root_find(lambda v, t: v ** 3 - t, newton, y, c).value, (real(2 * k) + 3, two)
    yield "bfgs", lambda y, c: optx.minimise(lambda v, t: ((v - t) ** 2).sum(), bfgs, y, c).value, (real(2 * k), two)


def _jaxopt(k=1):
    import jaxopt
    ridge = lambda w, c, x, y: ((x @ w - y) ** 2).mean() + c * (w ** 2).sum()  # noqa: E731
    problem = real(2 * k), np.float32(0.3), real(4 * k, 2 * k), real(4 * k)
    for name, solver in (("lbfgs", jaxopt.LBFGS(ridge, maxiter=4)),
                         ("gradient_descent", jaxopt.GradientDescent(ridge, maxiter=4, stepsize=0.1))):
        yield name, lambda w, c, x, y, s=solver: s.run(w, c, x, y).params, problem
    cube = jaxopt.Bisection(lambda x, c: x ** 3 - c, 0.0, 3.0, check_bracket=False)  # its check is one of Python
    yield "bisection", lambda c: cube.run(None, c).params, (np.float32(2.5),)
    yield "simplex", jaxopt.projection.projection_simplex, (real(4 * k),)


def _blackjax(k=1):
    import blackjax
    density = lambda q: -0.5 * (q ** 2).sum() - 0.1 * (q ** 4).sum()  # noqa: E731
    def chain(kernel):
        def run(key, q):
            step = lambda s, key: (lambda t: (t, t.position))(kernel.step(key, s)[0])  # noqa: E731
            return jax.lax.scan(step, kernel.init(q), jax.random.split(key, 3))[1]
        return run
    mass = jnp.ones(2 * k)
    for name, kernel in (("hmc", blackjax.hmc(density, 0.1, mass, 3)), ("mala", blackjax.mala(density, 0.1)),
                         ("nuts", blackjax.nuts(density, 0.1, mass)),
                         ("elliptical", blackjax.elliptical_slice(density, mean=0 * mass, cov=mass))):
        yield name, chain(kernel), (jax.random.key(4), real(2 * k))


def _jax_md(k=1):
    from jax_md import energy, quantity, simulate, space
    side = 4.0 * k ** 0.5  # as many neighbours for any k
    displacement, shift = space.periodic(side)
    positions = _RNG.uniform(0, side, (6 * k, 2)).astype(np.float32)
    pair = energy.soft_sphere_pair(displacement, sigma=1.2)
    yield "soft_spheres", pair, (positions,)
    yield "forces", quantity.force(pair), (positions,)
    lennard = energy.lennard_jones_pair(displacement, sigma=0.8)
    yield "lennard_jones", lennard, (positions,)
    init, step = simulate.nve(pair, shift, dt=1e-2)

    def run(r, v):
        state = init(jax.random.PRNGKey(0), r, kT=0.0).set(momentum=v)
        return jax.lax.fori_loop(0, 4, lambda i, s: step(s), state).position
    yield "nve", run, (positions, real(6 * k, 2))


def _jaxlie(k=1):
    import jaxlie
    many, poses = (jax.vmap, (6 * k,)) if k > 1 else (lambda f: f, ())
    yield "se3", many(lambda t, x: jaxlie.SE3.exp(t).apply(x)), (real(*poses, 6), real(*poses, 3))
    yield "so3_log", many(lambda t: jaxlie.SO3.exp(t).log()), (real(*poses, 3) / 2,)


def _mjx(k=1):
    import mujoco
    from mujoco import mjx
    link = '<geom type="capsule" size="0.05 0.3" mass="1" contype="0" conaffinity="0"/>'
    pendulum = f"""<mujoco><option timestep="0.01"/><worldbody>
      <body pos="0 0 1"><joint name="a" type="hinge" axis="0 1 0"/>{link}
      <body pos="0 0 0.6"><joint name="b" type="hinge" axis="0 1 0"/>{link}</body></body></worldbody>
      <actuator><motor joint="a"/></actuator></mujoco>"""
    model = mjx.put_model(mujoco.MjModel.from_xml_string(pendulum))
    start = mjx.make_data(model)

    def step(q, v, u):
        data = start.replace(qpos=q, qvel=v, ctrl=u)
        data = jax.lax.fori_loop(0, 2, lambda i, d: mjx.step(model, d), data)
        return data.qpos, data.qvel
    many, worlds = (jax.vmap, (2 * k,)) if k > 1 else (lambda f: f, ())
    yield "double_pendulum", many(step), (real(*worlds, 2), real(*worlds, 2), real(*worlds, 1))
    yield "kinematics", many(lambda q: mjx.kinematics(model, start.replace(qpos=q)).xpos), (real(*worlds, 2),)


PACKAGES = {name[1:]: made for name, made in globals().items() if name.startswith("_") and callable(made)}
