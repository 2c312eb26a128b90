// arm_reach FOLDER [--small|--tiny] [--device cpu|cuda] [--config KEY=VALUE]...: trains a network to reach with a
// simulated arm by gradients through MuJoCo, then lets MuJoCo run it, and writes the learning curve and the paths of
// the arm as SVG files into FOLDER.
//
// 1. arm_training differentiates rollouts of mujoco.step, an operation of Ricci. 2. arm_in_engine runs the network in
// the control callback of the engine, for targets that it has not seen, in several threads. Both must agree, nothing
// may be allocated in 2, and the tip must end near the targets, or the program fails.
//
// On a GPU the network and the derivatives run there, the steps of the engine on the host, and 2 on the CPU. --tiny is
// for slow devices: the cost must fall, and the tip need not arrive.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>

#include <mujoco/mujoco.h>

#include "../add_device.h"
#include "../quickstart/svg_curve.h"
#include "allocation_count.h"
#include "arm_in_engine.h"
#include "arm_picture.h"
#include "arm_training.h"
#include "engine_drag.h"

namespace {

using ricci::Array;

struct Size {
  engine::TrainingSize training;
  double wanted_distance;  // m, at the end, on average over targets that are not used in training
  double wanted_cost;      // of the last iteration, as a part of that of the first one
};
constexpr Size kFull = {{.targets = 32, .iterations = 400}, 0.03, 0.5};
constexpr Size kSmall = {{.targets = 24, .iterations = 200}, 0.06, 0.5};
constexpr Size kTiny = {{.targets = 2, .iterations = 3}, 2, 0.999};
constexpr int64_t kTestTargets = 8, kThreads = 4;
constexpr double kWantedAgreement = 1e-6;  // rad

void WantSaved(bool saved, const std::string& path) {
  if (!saved) throw std::runtime_error(path + ": cannot be written");
  std::printf("wrote %s\n", path.c_str());
}

// The largest difference of an angle between the engine's own loop and the rollout of mujoco.step.
double Disagreement(const ricci::Context& ctx, const engine::Weights<Array>& weights,
                    const std::vector<engine::ArmRun>& arms) {
  std::vector<double> flat;
  for (const engine::ArmRun& arm : arms) flat.insert(flat.end(), arm.target.begin(), arm.target.end());
  const Array targets(ctx, flat, {static_cast<int64_t>(arms.size()), 2});
  const auto rollout = [](const engine::Weights<ricci::Value>& w, const ricci::Value& target) {
    return engine::Rollout(w, target, engine::kRolloutSteps);
  };
  const Array angles = ricci::jit(ricci::vmap(rollout, {ricci::kUnbatched, 0}))(weights, targets);
  const std::vector<double> expected = angles.to_vector<double>();
  double worst = 0;
  for (size_t i = 0; i < arms.size(); ++i) {
    const size_t n = arms[i].angles.size();
    for (size_t k = 0; k < n; ++k) worst = std::max(worst, std::fabs(arms[i].angles[k] - expected[i * n + k]));
  }
  return worst;
}

bool Run(ricci::Context& ctx, const std::string& folder, const Size& size) {
  ctx.add_plugin(ricci_plugin_query_mujoco);
  // A context of its own, which lives on until the process ends; so that of the GPU does not.
  engine::RegisterDrag(ricci::Context(engine::CountingOptions()), engine::kJoints);
  std::printf("MuJoCo %s, device %s\n", mj_versionString(), std::string(ctx.device().kind()).c_str());

  const engine::Trained trained = engine::TrainArm(ctx, size.training);
  const engine::EngineRuns runs =
      engine::DriveArms(trained.weights, engine::Targets(1000, kTestTargets), engine::kRolloutSteps, kThreads);
  double mean = 0, worst = 0;
  for (const engine::ArmRun& arm : runs.arms) {
    std::printf("arm: target %6.3f %6.3f  distance at the end %.4f m\n", arm.target[0], arm.target[1], arm.distance());
    mean += arm.distance() / static_cast<double>(kTestTargets);
    worst = std::max(worst, arm.distance());
  }
  const double fall = trained.losses.back() / trained.losses.front();
  const double apart = Disagreement(ctx, trained.weights, runs.arms);
  WantSaved(
      WriteSvg(folder + "/arm_learning.svg", {"Training through MuJoCo", "iteration", "cost", trained.losses, true}),
      folder + "/arm_learning.svg");
  WantSaved(engine::WriteArms(folder + "/arm_paths.svg", "Tips on the way to targets not seen in training", runs.arms),
            folder + "/arm_paths.svg");
  std::printf(
      "cost at the end %.3f of that at the start (wanted: %.3f); mean distance %.4f m (wanted: %.2f), worst %.4f m; "
      "engine and rollout differ by %.1e rad (wanted: %.0e); "
      "allocations in the engine's loop: %d (wanted: 0)\n",
      fall, size.wanted_cost, mean, size.wanted_distance, worst, apart, kWantedAgreement,
      static_cast<int>(runs.allocations));
  return fall <= size.wanted_cost && mean <= size.wanted_distance && apart <= kWantedAgreement && runs.allocations == 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    ricci::Context ctx(engine::CountingOptions());
    if (ricci_status* failed = add_device(ctx.handle(), &argc, argv)) throw ricci::Error(failed);
    const bool is_small = argc == 3 && std::strcmp(argv[2], "--small") == 0;
    const bool is_tiny = argc == 3 && std::strcmp(argv[2], "--tiny") == 0;
    if (argc == 2 || is_small || is_tiny) return Run(ctx, argv[1], is_tiny ? kTiny : is_small ? kSmall : kFull) ? 0 : 1;
    std::fprintf(stderr, "usage: %s folder [--small|--tiny] [--device cpu|cuda] [--config KEY=VALUE]...\n", argv[0]);
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "\n%s\n", e.what());
    return 1;
  }
}
