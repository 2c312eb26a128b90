#include "arm.h"

#include <cmath>

namespace engine {

using ricci::DType;
using ricci::Value;

// The links turn around -y, so that angles count from the horizontal upwards. They touch nothing.
const std::string_view kArmModel = R"(<mujoco model='arm'>
  <option timestep='0.02' integrator='implicitfast'/>
  <extension><plugin plugin='ricci.drag'><instance name='drag'/></plugin></extension>
  <default>
    <joint axis='0 -1 0' damping='0.5'/>
    <geom type='capsule' contype='0' conaffinity='0'/>
  </default>
  <worldbody>
    <body>
      <joint name='shoulder'/>
      <geom fromto='0 0 0 0.5 0 0' size='0.03' mass='1'/>
      <body pos='0.5 0 0'>
        <joint name='elbow'/>
        <geom fromto='0 0 0 0.4 0 0' size='0.025' mass='0.6'/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint='shoulder' gear='15' ctrllimited='true' ctrlrange='-1 1'/>
    <motor joint='elbow' gear='5' ctrllimited='true' ctrlrange='-1 1'/>
  </actuator>
</mujoco>)";

Point ElbowOf(const double* angles) { return {kUpper * std::cos(angles[0]), kUpper * std::sin(angles[0])}; }
Point TipOf(const double* angles) {
  const Point elbow = ElbowOf(angles);
  const double lower = angles[0] + angles[1];
  return {elbow[0] + kLower * std::cos(lower), elbow[1] + kLower * std::sin(lower)};
}

// Multiples of irrational numbers, modulo 1, fill a square evenly.
std::vector<Point> Targets(int64_t first, int64_t count) {
  std::vector<Point> out;
  for (int64_t i = first; i < first + count; ++i) {
    const auto n = static_cast<double>(i + 1);
    const double radius = 0.4 + 0.4 * std::fmod(n * 0.7548776662466927, 1.0);
    const double direction = -0.6 + 2.4 * std::fmod(n * 0.5698402909980532, 1.0);
    out.push_back({radius * std::cos(direction), radius * std::sin(direction)});
  }
  return out;
}

Weights<Value> InitialWeights(const Value& key) {
  constexpr int64_t kInputs = 10;
  const ricci::Values keys = ricci::random::split(key, 2);
  const auto matrix = [](const Value& k, int64_t rows, int64_t columns, double size) {
    return ricci::random::normal(k, {rows, columns}, DType::kF64) * size;
  };
  return {matrix(keys[0], kInputs, kHidden, std::sqrt(1.0 / kInputs)), ricci::zeros(key, {kHidden}, DType::kF64),
          matrix(keys[1], kHidden, kMotors, 0.1), ricci::zeros(key, {kMotors}, DType::kF64)};
}

Value Tip(const Value& angles) {
  const Value upper = angles[0], lower = angles[0] + angles[1];
  return ricci::stack({kUpper * cos(upper) + kLower * cos(lower), kUpper * sin(upper) + kLower * sin(lower)});
}

Value Policy(const Weights<Value>& w, const Value& target, const Value& angles, const Value& speeds) {
  const Value seen = ricci::concatenate({cos(angles), sin(angles), 0.2 * speeds, target, 3.0 * (target - Tip(angles))});
  return tanh(matmul(tanh(matmul(seen, w[0]) + w[1]), w[2]) + w[3]);
}

}  // namespace engine
