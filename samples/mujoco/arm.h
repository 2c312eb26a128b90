// arm: two links in a vertical plane, their motors, and the network that drives them to a target.
//
// The arm begins hanging down at rest and should bring its tip to the target and hold it there, against gravity. The
// network sees angles, speeds and where the target is; it is one function, which training differentiates through a
// rollout of mujoco.step and which the engine runs in its control callback.
#ifndef SAMPLES_MUJOCO_ARM_H_
#define SAMPLES_MUJOCO_ARM_H_
#include <array>
#include <string_view>
#include <vector>

#include "ricci/ricci.hpp"

namespace engine {

inline constexpr double kUpper = 0.5, kLower = 0.4;  // lengths of the links, in m
inline constexpr double kHanging = -1.5707963267948966;
inline constexpr int64_t kJoints = 2, kMotors = 2, kHidden = 32;
extern const std::string_view kArmModel;  // MJCF; time step 0.02 s

using Point = std::array<double, 2>;  // horizontal and up, in m; the shoulder is {0, 0}
Point TipOf(const double* angles);
Point ElbowOf(const double* angles);
// Targets number first, first + 1, ... of a sequence that covers the region in reach, in front of the arm and above it.
std::vector<Point> Targets(int64_t first, int64_t count);

// {matrix, bias} of each layer.
template <typename T>
using Weights = std::vector<T>;
Weights<ricci::Value> InitialWeights(const ricci::Value& key);
// The tip for angles f64[2].
ricci::Value Tip(const ricci::Value& angles);
// Controls in [-1, 1] from the target f64[2] and the state of the joints.
ricci::Value Policy(const Weights<ricci::Value>& w, const ricci::Value& target, const ricci::Value& angles,
                    const ricci::Value& speeds);

}  // namespace engine
#endif
