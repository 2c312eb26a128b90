// EngineTest: a context with mujoco.step, small models, and states of them as arrays.
#ifndef RICCI_TESTS_MUJOCO_ENGINE_FIXTURE_H_
#define RICCI_TESTS_MUJOCO_ENGINE_FIXTURE_H_
#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <cmath>
#include <string>
#include <vector>

#include "mjcf_model.h"
#include "mujoco_step.hpp"

namespace engine {

using ricci::Array;
using ricci::Value;
using Numbers = std::vector<double>;

// A pendulum whose motor has a state (nq 1, nv 1, na 1, nu 1).
constexpr std::string_view kPendulum = R"(<mujoco model='pendulum'><option timestep='0.01'/><worldbody><body>
  <joint name='j' axis='0 1 0' damping='.1'/><geom type='capsule' fromto='0 0 0 0 0 -.5' size='.05'/></body></worldbody>
  <actuator><general joint='j' dyntype='filter' dynprm='.1'/></actuator></mujoco>)";
// A free box that carries a rod on a ball joint (nq 11, nv 9, nu 1).
constexpr std::string_view kFlyingRod = R"(<mujoco model='rod'><option timestep='0.01'/><worldbody><body><freejoint/>
  <geom type='box' size='.1 .2 .3' mass='1'/><body pos='0 0 .3'><joint name='ball' type='ball' damping='.01'/>
  <geom type='capsule' fromto='0 0 0 0 0 .4' size='.05' mass='.2' contype='0' conaffinity='0'/></body></body></worldbody>
  <actuator><motor joint='ball' gear='0 0 1'/></actuator></mujoco>)";
// A ball on the ground: its steps need the solver, which begins at the warm start.
constexpr std::string_view kRollingBall = R"(<mujoco model='ball'><worldbody><geom type='plane' size='5 5 .1'/>
  <body pos='0 0 .1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>)";

struct Sizes {
  int64_t nq, nv, na, nu;
};
inline Sizes SizesOf(std::string_view model) {
  const MjcfModel m("test", model);
  return {m->nq, m->nv, m->na, m->nu};
}

class EngineTest : public ::testing::Test {
 protected:
  EngineTest() {
    mjLogConfig quiet = mju_getLogConfig();
    quiet.logto_console = quiet.logto_file = 0;
    mju_setLogConfig(quiet);
    ctx.add_plugin(ricci_plugin_query_mujoco);
  }
  // Numbers between -1 and 1 that look random, the same in every run.
  Numbers Draw(int64_t n, double first) const {
    Numbers out;
    for (int64_t i = 0; i < n; ++i) out.push_back(std::sin(first + 1.7 * static_cast<double>(i * i + 1)));
    return out;
  }
  Array F64(const Numbers& v) const { return Array(ctx, v); }
  State<Array> StateAt(const Numbers& qpos, const Numbers& qvel, const Numbers& act) const {
    return {F64(qpos), F64(qvel), F64(act), Array(ctx, std::vector<uint64_t>(qvel.size(), 0)), Array(ctx, 0.0)};
  }
  ricci::Context ctx;
};

// A function of a state and controls that steps `model`.
inline auto StepOf(std::string_view model) {
  return [model](const State<Value>& s, const Value& ctrl) { return Step(model, s, ctrl); };
}
// The message of the ricci::Error that `f` throws.
template <typename F>
std::string MessageOf(F&& f) {
  try {
    f();
  } catch (const ricci::Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace engine
#endif
