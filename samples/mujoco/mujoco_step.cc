// mujoco.step: one step of the physics engine for each world, mj_step as a function of its state.
//
// The derivative is mujoco.transition, linear, with the matrix of mujoco.jacobian. The time advances by a constant, so
// its tangent stays; nothing else depends on it, nor on the warm start: a solver that has converged has forgotten it.
//
// Operands may have dimensions before their own, the worlds; `vmap` adds one. Each world is a task, on all threads of
// the device; results do not depend on the number of threads. Everything is f64.
#include "engine_site.h"
#include "mujoco_rows.h"

namespace engine {
namespace {

using ricci::Eqn;
using ricci::Value;
using ricci::Values;

enum StepResult : uint32_t { kNextQpos, kNextQvel, kNextAct, kNextWarmstart, kNextTime };

ricci::ArrayTypes Type(const Eqn& e) {
  CheckStateTypes(e);
  return {e.in(kQpos), e.in(kQvel), e.in(kAct), e.in(kWarmstart), e.in(kTime)};
}

void JvpRule(const Eqn& e, ricci::Jvp& a) {
  a.out = e.EmitN(a.primals);
  a.out_tangents[kNextTime] = a.tangents[kTime];
  constexpr StateOperand kMoved[] = {kQpos, kQvel, kAct, kCtrl};
  const bool moves =
      std::any_of(std::begin(kMoved), std::end(kMoved), [&](auto i) { return !a.tangents[i].is_zero(); });
  if (!moves) return;
  Values in = {ricci::Emit1("mujoco.jacobian", a.primals, {{"model", e.str("model")}})};
  for (const StateOperand i : kMoved) in.push_back(ricci::lax::instantiate(a.tangents[i], e.in(i)));
  const Values next = ricci::EmitN(3, "mujoco.transition", in);
  std::copy(next.begin(), next.end(), a.out_tangents.begin());
}

class StepSite : public EngineSite {
 public:
  explicit StepSite(const Eqn& e) : EngineSite(e) {}
  uint64_t scratch_bytes() const { return 0; }
  uint64_t engine_steps() const { return 1; }
  void RunWorld(const ricci_launch& l) const {
    const auto result = [&](StepResult i, int64_t n) { return static_cast<double*>(l.out[i]) + l.task * n; };
    const mjModel* const m = model().get();
    double *qpos = result(kNextQpos, m->nq), *qvel = result(kNextQvel, m->nv), *act = result(kNextAct, m->na);
    double *warmstart = result(kNextWarmstart, m->nv), *time = result(kNextTime, 1);
    InWorld(l, WorldState(m, l), [=](const mjModel* model, mjData* d) {
      mj_step(model, d);
      std::copy(d->qpos, d->qpos + model->nq, qpos);
      std::copy(d->qvel, d->qvel + model->nv, qvel);
      std::copy(d->act, d->act + model->na, act);
      std::copy(d->qacc_warmstart, d->qacc_warmstart + model->nv, warmstart);
      *time = d->time;
    });
  }
};

constexpr ricci::Row kRows[] = {
    {.name = "mujoco.step",
     .doc = "qpos, qvel, act, warmstart, time = mujoco.step(qpos, qvel, act, ctrl, warmstart, time): the state of each "
            "world of the MJCF `model` one step of MuJoCo later; warmstart is the bits of qacc_warmstart",
     .attrs = kModelAttr,
     .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_MAY_FAIL,
     .type = Type,
     .jvp = JvpRule,
     .batch = ricci::rules::BatchAllFirst<MoreWorlds>,
     .lowerings = EngineLibrary<StepSite>::kLowerings,
     .missing = ricci::rules::kNotLinear,
     .examples =
         // A pendulum whose motor has a state of its own; several worlds of a free box, whose quaternion is not unit.
     "order=1 (f64[1], f64[1], f64[1], f64[1], u64[1], f64[] in 0..1) model=\"<mujoco><worldbody><body>"
     "<joint name='j' axis='0 1 0' damping='.1'/><geom type='capsule' fromto='0 0 0 0 0 -.5' size='.05'/></body>"
     "</worldbody><actuator><general joint='j' dyntype='filter' dynprm='.1'/></actuator></mujoco>\"; "
     "order=1 (f64[2,7] in 0.2..1, f64[2,6], f64[2,0], f64[2,0], u64[2,6], f64[2] in 0..1) model=\"<mujoco>"
     "<worldbody><body><freejoint/><geom type='box' size='.1 .2 .3'/></body></worldbody></mujoco>\""}};

}  // namespace

ricci::RowList step_rows() { return kRows; }

}  // namespace engine
