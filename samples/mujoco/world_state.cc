#include "world_state.h"

#include <cmath>

namespace engine {
namespace {

constexpr std::string_view kNames[] = {"qpos", "qvel", "act", "ctrl", "warmstart", "time"};

const double* OfTask(const ricci_launch& l, uint32_t operand, int64_t size) {
  return static_cast<const double*>(l.in[operand]) + l.task * size;
}

}  // namespace

void CheckStateTypes(const ricci::Eqn& e) {
  e.WantOperands(kStateOperands);
  const ricci::ArrayType time = e.in(kTime);
  const auto worlds = static_cast<size_t>(time.rank());
  for (uint32_t i = 0; i < kStateOperands; ++i) {
    const ricci::ArrayType t = e.in(i);
    const ricci::DType wanted = i == kWarmstart ? ricci::DType::kU64 : ricci::DType::kF64;
    if (t.dtype() != wanted) e.Fail("operand ", i, " (", kNames[i], ") is ", t, "; it takes ", wanted);
    const size_t own = i == kTime ? 0 : 1;
    const bool fits = t.shape().size() == worlds + own && ricci::SameDims(t.shape().first(worlds), time.shape());
    if (!fits) {
      e.Fail("operand ", i, " (", kNames[i], ") is ", t, ", and time is ", time,
             "; it must have the dimensions of time, the worlds, and one more");
    }
  }
  if (!ricci::SameDims(e.in(kWarmstart).shape(), e.in(kQvel).shape())) {
    e.Fail("warmstart is ", e.in(kWarmstart), " and qvel ", e.in(kQvel), "; they must have one shape");
  }
}

void CheckSizes(const ricci::Eqn& e, const MjcfModel& model) {
  const auto want = [&](uint32_t operand, mjtSize size, std::string_view name) {
    const ricci::ArrayType t = e.in(operand);
    if (t.dim(t.rank() - 1) == size) return;
    e.Fail("operand ", operand, " (", kNames[operand], ") is ", t, ", but ", name, " of the model `", model.name(),
           "` is ", size);
  };
  want(kQpos, model->nq, "nq");
  want(kQvel, model->nv, "nv");
  want(kAct, model->na, "na");
  want(kCtrl, model->nu, "nu");
}

int64_t WorldCount(const ricci::Eqn& e) { return e.in(kTime).elements(); }

WorldState::WorldState(const mjModel* m, const ricci_launch& l)
    : qpos(OfTask(l, kQpos, m->nq)),
      qvel(OfTask(l, kQvel, m->nv)),
      act(OfTask(l, kAct, m->na)),
      ctrl(OfTask(l, kCtrl, m->nu)),
      warmstart(OfTask(l, kWarmstart, m->nv)),
      time(OfTask(l, kTime, 1)) {}

void WorldState::WantFinite(std::string_view op, const mjModel* m, int64_t world) const {
  const auto want = [&](uint32_t operand, const double* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      if (std::isfinite(x[i])) continue;
      ricci::Fail(op, ": world ", world, ": ", kNames[operand], "[", i, "] is ", x[i], "; the state must be finite");
    }
  };
  want(kQpos, qpos, m->nq);
  want(kQvel, qvel, m->nv);
  want(kAct, act, m->na);
  want(kCtrl, ctrl, m->nu);
  want(kWarmstart, warmstart, m->nv);
  want(kTime, time, 1);
}

void WorldState::CopyTo(const mjModel* m, mjData* d) const {
  std::copy(qpos, qpos + m->nq, d->qpos);
  std::copy(qvel, qvel + m->nv, d->qvel);
  std::copy(act, act + m->na, d->act);
  std::copy(ctrl, ctrl + m->nu, d->ctrl);
  std::copy(warmstart, warmstart + m->nv, d->qacc_warmstart);
  d->time = *time;
}

Warnings::Warnings(const mjData* d) {
  for (int i = 0; i < mjNWARNING; ++i) number_[i] = d->warning[i].number;
}
int Warnings::Since(const mjData* d) const {
  for (int i = 0; i < mjNWARNING; ++i) {
    if (d->warning[i].number != number_[i]) return i;
  }
  return -1;
}

void FailOnWarning(std::string_view op, int64_t world, int kind, int info) {
  throw ricci::Error(
      RICCI_FAILED_PRECONDITION,
      ricci::Text(op, ": world ", world, ": MuJoCo warns: ", mju_warningText(kind, static_cast<size_t>(info))));
}

}  // namespace engine
