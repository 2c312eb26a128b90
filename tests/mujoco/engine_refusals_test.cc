// What mujoco.step and its derivatives refuse: statuses that name what is wrong, and never the end of the process, even
// for errors that MuJoCo itself calls fatal.
#include "engine_fixture.h"

namespace engine { namespace {

class Refusals : public EngineTest {
 protected:
  // What is wrong with one step of `model` from a pendulum's state.
  std::string StepMessage(std::string_view model, const Numbers& qpos = {0.3}, const Numbers& qvel = {1.0},
                          const Numbers& ctrl = {0.5}) const {
    return MessageOf([&] { ricci::jit(StepOf(model))(StateAt(qpos, qvel, {0.0}), F64(ctrl)); });
  }
  static void ExpectPart(const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message << "\nlacks\n" << part;
  }
  static std::string With(std::string_view model, const std::string& what) {
    std::string out(model);
    const std::string end = "</mujoco>";
    return out.replace(out.rfind(end), end.size(), what + end);
  }
};

TEST_F(Refusals, ModelsThatAreNone) {
  ExpectPart(StepMessage("nothing"), "mujoco.step: `model` is not MJCF: ");
  ExpectPart(StepMessage("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>"),
             "mujoco.step: `model` does not compile: ");
  ExpectPart(StepMessage(With(kPendulum, "<extension><plugin plugin='nowhere'/></extension>")), "nowhere");
  ExpectPart(StepMessage("<mujoco><include file='arm.xml'/></mujoco>"),
             "mujoco.step: `model` names a file, but must hold");
  ExpectPart(StepMessage(With(kPendulum, "<option><flag sleep='enable'/></option>")),
             "mujoco.step: `model` lets bodies sleep");
}

TEST_F(Refusals, SizesOfAnotherModel) {
  ExpectPart(StepMessage(kPendulum, {0.3, 0.4}),
             "mujoco.step: operand 0 (qpos) is f64[2], but nq of the model `pendulum` is 1");
  ExpectPart(StepMessage(kPendulum, {0.3}, {1.0}, {}),
             "mujoco.step: operand 3 (ctrl) is f64[0], but nu of the model `pendulum` is 1");
}

TEST_F(Refusals, Types) {
  const auto message = [&](const State<Array>& s) {
    return MessageOf([&] { ricci::jit(StepOf(kPendulum))(s, F64({0.5})); });
  };
  State<Array> s = StateAt({0.3}, {1.0}, {0.0});
  s.qvel = Array(ctx, std::vector<float>{1.0f});
  ExpectPart(message(s), "mujoco.step: operand 1 (qvel) is f32[1]; it takes f64");
  s = StateAt({0.3}, {1.0}, {0.0});
  s.warmstart = F64({0.0});
  ExpectPart(message(s), "mujoco.step: operand 4 (warmstart) is f64[1]; it takes u64");
  s = StateAt({0.3}, {1.0}, {0.0});
  s.time = F64({0.0, 0.0});
  ExpectPart(message(s), "mujoco.step: operand 0 (qpos) is f64[1], and time is f64[2]");
}

TEST_F(Refusals, NumbersThatAreNotFinite) {
  ExpectPart(StepMessage(kPendulum, {NAN}), "mujoco.step: world 0: qpos[0] is nan; the state must be finite");
  ExpectPart(StepMessage(kPendulum, {0.3}, {1.0}, {-INFINITY}), "mujoco.step: world 0: ctrl[0] is -inf");
}

// MuJoCo counts such motions as bad and resets the world; the results would be those of another state.
TEST_F(Refusals, WarningsOfTheEngine) {
  ExpectPart(StepMessage(kPendulum, {0.3}, {1e12}), "mujoco.step: world 0: MuJoCo warns: ");
  EXPECT_EQ(StepMessage(kPendulum), "no error");  // the worlds are as good as before
}

// mju_error ends a process that does not jump out of it.
TEST_F(Refusals, FatalErrorsOfTheEngine) {
  const auto step = ricci::jit(StepOf(kPendulum));
  const auto run = [&] { step(StateAt({0.3}, {1.0}, {0.0}), F64({0.5})); };
  run();  // compiles the model, for which MuJoCo makes steps of its own
  mjcb_control = [](const mjModel*, mjData*) { mju_error("motor %d burns", 7); };
  const std::string message = MessageOf(run);
  mjcb_control = nullptr;
  ExpectPart(message, "mujoco.step: world 0: MuJoCo: ");
  ExpectPart(message, "motor 7 burns");
  EXPECT_EQ(MessageOf(run), "no error");
}

TEST_F(Refusals, DerivativesThatAreNotThere) {
  const auto loss = [](const Value& qvel) {
    State<Value> s = AtRest(qvel, 1, 1);
    s.qvel = qvel;
    return sum(Step(kPendulum, s, qvel).qvel);
  };
  const auto slope = [&](const Value& qvel) { return sum(ricci::grad(loss)(qvel)); };
  const std::string second = MessageOf([&] { ricci::jit(ricci::grad(slope))(F64({0.5})); });
  ExpectPart(second, "mujoco.jacobian");
  ExpectPart(second, "second derivatives of mujoco.step, whose first ones are finite differences");

  constexpr std::string_view kRungeKutta = R"(<mujoco><option integrator='RK4'/><worldbody><body><joint axis='0 1 0'/>
    <geom size='.1' pos='.5 0 0'/></body></worldbody></mujoco>)";
  const auto run = [&](const Value& qvel) {
    State<Value> s = AtRest(qvel, 1, 0);
    s.qvel = qvel;
    return sum(Step(kRungeKutta, s, ricci::zeros(qvel, {0}, ricci::DType::kF64)).qvel);
  };
  EXPECT_EQ(MessageOf([&] { ricci::jit(run)(F64({0.5})); }), "no error");
  ExpectPart(MessageOf([&] { ricci::jit(ricci::grad(run))(F64({0.5})); }),
             "mujoco.jacobian: `model` has integrator RK4");
}

}}  // namespace engine
