// arm_training: finds the weights of the network by gradients through rollouts of the real engine.
//
// The code is that of one world: a scan of mujoco.step with the network before each step. vmap makes it many worlds,
// one for each target, and value_and_grad differentiates through all of it.
#ifndef SAMPLES_MUJOCO_ARM_TRAINING_H_
#define SAMPLES_MUJOCO_ARM_TRAINING_H_
#include "arm.h"
#include "mujoco_step.hpp"

namespace engine {

inline constexpr int64_t kRolloutSteps = 75;  // 1.5 s

struct TrainingSize {
  int64_t targets, iterations;
};
struct Trained {
  Weights<ricci::Array> weights;
  std::vector<double> losses;  // mean cost before each iteration
};

// The angles f64[steps, 2] after each step of a world that the network drives.
ricci::Value Rollout(const Weights<ricci::Value>& w, const ricci::Value& target, int64_t steps);
// Mean over the steps of the distance to the target, which counts more the later it is.
ricci::Value Cost(const Weights<ricci::Value>& w, const ricci::Value& target);
// Adam with a rate that falls to 0. Prints progress and times.
Trained TrainArm(const ricci::Context& ctx, const TrainingSize& size);

}  // namespace engine
#endif
