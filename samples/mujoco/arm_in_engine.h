// arm_in_engine: the trained network as the controller of MuJoCo's own loop: mj_step calls it in every step, in several
// worlds at once, and nothing takes memory from the heap while they run.
#ifndef SAMPLES_MUJOCO_ARM_IN_ENGINE_H_
#define SAMPLES_MUJOCO_ARM_IN_ENGINE_H_
#include "arm.h"

namespace engine {

struct ArmRun {
  Point target;
  std::vector<double> angles;  // two for each step
  const double* last() const { return angles.data() + angles.size() - kJoints; }
  double distance() const;  // of the tip from the target at the end, in m
};
struct EngineRuns {
  std::vector<ArmRun> arms;
  int64_t allocations;  // while the worlds ran
};

// One world for each target, all driven by the same weights for `steps` steps, on `threads` threads. Throws what went
// wrong, warnings of the engine too. The weights may be on any device; the network runs on the CPU.
EngineRuns DriveArms(const Weights<ricci::Array>& trained, const std::vector<Point>& targets, int64_t steps,
                     int64_t threads);

}  // namespace engine
#endif
