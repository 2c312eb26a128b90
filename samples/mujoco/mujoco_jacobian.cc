// mujoco.jacobian: for each world the matrix of the derivatives of the next state (qpos, qvel, act) by state and
// controls (qpos, qvel, act, ctrl): the matrices A and B of mjd_transitionFD, with tangents of qpos in place of
// velocities (position_map.h).
//
// Central differences of the engine, so their error is about 1e-9 where the motion is smooth, and they have no
// derivative: a second derivative of mujoco.step is refused by the name of this operation. A matrix, not a product with
// tangents, so that many tangents (a Jacobian, the rows of a batch) share it.
#include "engine_site.h"
#include "mujoco_rows.h"
#include "position_map.h"

namespace engine {
namespace {

using ricci::Eqn;

constexpr double kDifference = 1e-6;

ricci::ArrayTypes Type(const Eqn& e) {
  CheckStateTypes(e);
  const auto last = [&](uint32_t i) { return ricci::Exact(e.in(i).shape().back()); };
  const ricci_exact rows = last(kQpos) + last(kQvel) + last(kAct);
  const ricci::Dims worlds = e.in(kTime).shape();
  ricci::Shape shape(worlds.begin(), worlds.end());
  shape.push_back(ricci::AsDimension(rows, e.name(), ": rows "));
  shape.push_back(ricci::AsDimension(rows + last(kCtrl), e.name(), ": columns "));
  return e.in(kQpos).WithShape(shape);
}

// What mjd_transitionFD and the steps after it write; part of a thread's scratch memory.
struct Matrices {
  double *a, *b, *by_qpos;  // [nx][nx], [nx][nu]; A and B with columns for tangents of qpos, [nx][columns]
  double* next_qpos;        // [nq]
};

class JacobianSite : public EngineSite {
 public:
  explicit JacobianSite(const Eqn& e) : EngineSite(e), positions_(model().get()) {
    if (model()->opt.integrator == mjINT_RK4) {
      e.Fail("`model` has integrator RK4, of which MuJoCo computes no transition matrices; use Euler or implicitfast");
    }
  }
  uint64_t scratch_bytes() const {
    return sizeof(double) * static_cast<uint64_t>(moved() * (moved() + model()->nu + columns()) + model()->nq);
  }
  uint64_t engine_steps() const { return 2 * static_cast<uint64_t>(moved() + model()->nu) + 2; }

  void RunWorld(const ricci_launch& l) const {
    auto* at = static_cast<double*>(l.scratch);
    const auto take = [&](int64_t n) { return std::exchange(at, at + n); };
    const mjModel* const m = model().get();
    const Matrices s = {take(moved() * moved()), take(moved() * m->nu), take(moved() * columns()), take(m->nq)};
    const bool needs_next = positions_.has_quaternions();
    const WorldState state(m, l);
    InWorld(l, state, [=](const mjModel* model, mjData* d) {
      mjd_transitionFD(model, d, kDifference, /*flg_centered=*/1, s.a, model->nu > 0 ? s.b : nullptr, nullptr, nullptr);
      if (!needs_next) return;
      mj_step(model, d);
      std::copy(d->qpos, d->qpos + model->nq, s.next_qpos);
    });
    SetColumns(state.qpos, s);
    SetRows(s, static_cast<double*>(l.out[0]) + l.task * rows() * columns());
  }

 private:
  int64_t moved() const { return 2 * model()->nv + model()->na; }  // rows of A: exact, the sizes of a loaded model
  int64_t rows() const { return model()->nq + model()->nv + model()->na; }
  int64_t columns() const { return rows() + model()->nu; }

  void SetColumns(const double* qpos, const Matrices& s) const {
    const int64_t nv = model()->nv, nu = model()->nu;
    for (int64_t i = 0; i < moved(); ++i) {
      const double *a = s.a + i * moved(), *b = s.b + i * nu;
      double* const row = s.by_qpos + i * columns();
      positions_.ToPositionRow(qpos, a, row);
      std::copy(a + nv, a + moved(), row + model()->nq);
      std::copy(b, b + nu, row + rows());
    }
  }
  void SetRows(const Matrices& s, double* out) const {
    const int64_t n = columns();
    positions_.ToPositionRows(s.next_qpos, s.by_qpos, n, out);
    std::copy(s.by_qpos + model()->nv * n, s.by_qpos + moved() * n, out + model()->nq * n);
  }

  const PositionMap positions_;
};

constexpr ricci::Row kRows[] = {
    {.name = "mujoco.jacobian",
     .doc = "matrix = mujoco.jacobian(qpos, qvel, act, ctrl, warmstart, time): derivatives of qpos, qvel and act after "
            "mujoco.step of `model`, one row for each number, by qpos, qvel, act and ctrl; finite differences",
     .attrs = kModelAttr,
     .flags = RICCI_PRIM_EXPENSIVE | RICCI_PRIM_MAY_FAIL,
     .type = Type,
     .batch = ricci::rules::BatchAllFirst<MoreWorlds>,
     .lowerings = EngineLibrary<JacobianSite>::kLowerings,
     .missing =
         "jvp: second derivatives of mujoco.step, whose first ones are finite differences; transpose: not linear",
     .examples =
         "order=0 (f64[2,1], f64[2,1], f64[2,1], f64[2,1], u64[2,1], f64[2] in 0..1) model=\"<mujoco><worldbody><body>"
         "<joint name='j' axis='0 1 0' damping='.1'/><geom type='capsule' fromto='0 0 0 0 0 -.5' size='.05'/></body>"
         "</worldbody><actuator><general joint='j' dyntype='filter' dynprm='.1'/></actuator></mujoco>\""}};

}  // namespace

ricci::RowList jacobian_rows() { return kRows; }

}  // namespace engine
