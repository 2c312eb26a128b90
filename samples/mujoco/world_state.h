// world_state: the operands of mujoco.step and mujoco.jacobian: their types, and those of one world as the engine takes
// them.
//
// The warm start of the solver, mjData.qacc_warmstart, is carried as the bits of its numbers (u64): it decides where
// the solver begins and nothing that it converges to, so it has no derivative, and as an integer nothing can ask for
// one.
#ifndef SAMPLES_MUJOCO_WORLD_STATE_H_
#define SAMPLES_MUJOCO_WORLD_STATE_H_
#include "mjcf_model.h"

namespace engine {

enum StateOperand : uint32_t { kQpos, kQvel, kAct, kCtrl, kWarmstart, kTime, kStateOperands };

// Fails unless the operands are qpos f64[...,nq], qvel f64[...,nv], act f64[...,na], ctrl f64[...,nu], warmstart
// u64[...,nv] and time f64[...] for any numbers nq, nv, na, nu, with the same dimensions before them: those of the
// worlds.
void CheckStateTypes(const ricci::Eqn& e);
// Fails unless nq, nv, na and nu are those of the model.
void CheckSizes(const ricci::Eqn& e, const MjcfModel& model);
// How many worlds the operands hold.
int64_t WorldCount(const ricci::Eqn& e);

// One world of the operands of a launch.
struct WorldState {
  WorldState(const mjModel* m, const ricci_launch& l);

  // Throws INVALID_ARGUMENT that names world, operand and element unless all numbers are finite.
  void WantFinite(std::string_view op, const mjModel* m, int64_t world) const;
  void CopyTo(const mjModel* m, mjData* d) const;

  const double *qpos, *qvel, *act, *ctrl, *warmstart, *time;
};

// What the engine warned of between two moments: it counts its warnings.
class Warnings {
 public:
  explicit Warnings(const mjData* d);
  // The first kind that has been counted since, or -1.
  int Since(const mjData* d) const;

 private:
  int number_[mjNWARNING];
};
// Throws FAILED_PRECONDITION for a warning of that kind.
[[noreturn]] void FailOnWarning(std::string_view op, int64_t world, int kind, int info);

}  // namespace engine
#endif
