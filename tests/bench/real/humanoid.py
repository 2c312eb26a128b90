"""A humanoid of 27 degrees of freedom on a floor, as MJX steps it: (step, arguments), for one world or for many.

The model is this file's own text: a free trunk and 21 hinges with motors, capsules and ellipsoids that touch only the
floor. The step is the whole of mjx.step (kinematics, collisions, the constraint solver, Euler's rule) from (qpos, qvel,
ctrl, warm start) to the next (qpos, qvel, warm start).
"""
import jax
import jax.numpy as jnp
import numpy as np

JOINT = '<joint name="{name}" axis="{axis}" range="{low} {high}"/>'


def joints(*specs):
    return "".join(JOINT.format(name=name, axis=axis, low=low, high=high) for name, axis, low, high in specs)


def leg(side, y):
    """Hip (3), knee, ankle (2)."""
    return f"""
    <body name="thigh_{side}" pos="0 {y} -0.12">
      {joints((f"hip_x_{side}", "1 0 0", -30, 30), (f"hip_z_{side}", "0 0 1", -40, 40),
              (f"hip_y_{side}", "0 1 0", -110, 30))}
      <geom type="capsule" fromto="0 0 0 0 0 -0.36" size="0.055"/>
      <body name="shin_{side}" pos="0 0 -0.42">
        {joints((f"knee_{side}", "0 1 0", 0, 140))}
        <geom type="capsule" fromto="0 0 0 0 0 -0.33" size="0.045"/>
        <body name="foot_{side}" pos="0 0 -0.40">
          {joints((f"ankle_y_{side}", "0 1 0", -45, 45), (f"ankle_x_{side}", "1 0 0", -30, 30))}
          <geom type="capsule" fromto="-0.06 0.02 -0.02 0.15 0.03 -0.02" size="0.025"/>
          <geom type="capsule" fromto="-0.06 -0.02 -0.02 0.15 -0.03 -0.02" size="0.025"/>
        </body></body></body>"""


def arm(side, y):
    """Shoulder (2), elbow."""
    return f"""
    <body name="upper_arm_{side}" pos="0 {y} 0.16">
      {joints((f"shoulder_x_{side}", "1 0 0", -90, 90), (f"shoulder_y_{side}", "0 1 0", -90, 90))}
      <geom type="capsule" fromto="0 0 0 0.02 0 -0.26" size="0.04"/>
      <body name="forearm_{side}" pos="0.02 0 -0.28">
        {joints((f"elbow_{side}", "0 1 0", -120, 10))}
        <geom type="capsule" fromto="0 0 0 0.2 0 -0.1" size="0.032"/>
        <geom type="ellipsoid" pos="0.25 0 -0.12" size="0.05 0.03 0.04"/>
      </body></body>"""


LIMBS = "hip_x hip_z hip_y knee ankle_y ankle_x shoulder_x shoulder_y elbow".split()
ACTUATED = [f"{joint}_{side}" for side in ("left", "right") for joint in LIMBS] + ["waist_z", "waist_y", "waist_x"]

MODEL = f"""
<mujoco model="walker on a floor">
  <compiler angle="degree"/>
  <option timestep="0.005" iterations="4" ls_iterations="8" solver="Newton"><flag eulerdamp="disable"/></option>
  <default>
    <geom contype="0" conaffinity="1" condim="3" friction="0.8" density="950"/>
    <joint type="hinge" limited="true" damping="2" stiffness="4" armature="0.01"/>
    <motor ctrllimited="true" ctrlrange="-1 1" gear="40"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="10 10 1" contype="1" conaffinity="1"/>
    <body name="trunk" pos="0 0 1.25">
      <freejoint/>
      <geom type="capsule" fromto="0 -0.07 0.1 0 0.07 0.1" size="0.09"/>
      <geom type="ellipsoid" pos="0 0 0.36" size="0.1 0.085 0.12"/>
      {arm("left", 0.18)}{arm("right", -0.18)}
      <body name="pelvis" pos="0 0 -0.15">
        {joints(("waist_z", "0 0 1", -45, 45), ("waist_y", "0 1 0", -75, 30), ("waist_x", "1 0 0", -35, 35))}
        <geom type="capsule" fromto="0 -0.06 -0.08 0 0.06 -0.08" size="0.08"/>
        {leg("left", 0.1)}{leg("right", -0.1)}
      </body>
    </body>
  </worldbody>
  <actuator>{"".join(f'<motor joint="{name}"/>' for name in ACTUATED)}</actuator>
</mujoco>"""


def step_and_arguments():
    """The step of one world, and a state with both feet on the floor."""
    import mujoco
    from mujoco import mjx
    host = mujoco.MjModel.from_xml_string(MODEL)
    assert host.nv == 27, host.nv
    model = mjx.put_model(host)
    start = mjx.make_data(model)

    def step(qpos, qvel, ctrl, warm):
        data = mjx.step(model, start.replace(qpos=qpos, qvel=qvel, ctrl=ctrl, qacc_warmstart=warm))
        return data.qpos, data.qvel, data.qacc_warmstart
    rng = np.random.default_rng(3)
    qpos = host.qpos0.astype(np.float32)
    qpos[2] = 1.13
    small = lambda n: (0.02 * rng.standard_normal(n)).astype(np.float32)  # noqa: E731
    return step, (qpos, small(host.nv), 5 * small(host.nu), np.zeros(host.nv, np.float32))


def worlds(arguments, n):
    """`n` worlds that differ a little."""
    rng = np.random.default_rng(5)
    spread = lambda x: x + (0.005 * rng.standard_normal((n, *x.shape))).astype(np.float32)  # noqa: E731
    return tuple(map(spread, arguments))
