// mujoco.step computes what mj_step computes: alone, in a loop, for many worlds at once and from a saved program; and
// the passive force that Ricci computes inside of the engine is its formula.
#include "engine_drag.h"
#include "engine_fixture.h"

namespace engine { namespace {

// mj_step `steps` times from a state with these controls.
class ByHand {
 public:
  ByHand(std::string_view model, const Numbers& qpos, const Numbers& qvel, const Numbers& ctrl)
      : model_("test", model), d_(mj_makeData(model_.get())) {
    std::copy(qpos.begin(), qpos.end(), d_->qpos);
    std::copy(qvel.begin(), qvel.end(), d_->qvel);
    std::copy(ctrl.begin(), ctrl.end(), d_->ctrl);
  }
  ~ByHand() { mj_deleteData(d_); }
  void Step(int steps) const {
    for (int i = 0; i < steps; ++i) mj_step(model_.get(), d_);
  }
  void Forward() const { mj_forward(model_.get(), d_); }
  const mjData* operator->() const { return d_; }
  Numbers qpos() const { return {d_->qpos, d_->qpos + model_->nq}; }
  Numbers qvel() const { return {d_->qvel, d_->qvel + model_->nv}; }
  Numbers act() const { return {d_->act, d_->act + model_->na}; }

 private:
  MjcfModel model_;
  mjData* d_;
};

TEST_F(EngineTest, OneStepIsMjStep) {
  const State<Array> next = ricci::jit(StepOf(kPendulum))(StateAt({0.3}, {1.0}, {0.0}), F64({0.5}));
  const ByHand by_hand(kPendulum, {0.3}, {1.0}, {0.5});
  by_hand.Step(1);
  EXPECT_EQ(next.qpos.to_vector<double>(), by_hand.qpos());
  EXPECT_EQ(next.qvel.to_vector<double>(), by_hand.qvel());
  EXPECT_EQ(next.act.to_vector<double>(), by_hand.act());
  EXPECT_EQ(next.time.item<double>(), 0.01);
  const uint64_t bits = next.warmstart.to_vector<uint64_t>()[0];
  EXPECT_EQ(std::memcmp(&bits, by_hand->qacc_warmstart, sizeof bits), 0);
}

// The warm start must come through the carry: without it the numbers of the solver differ.
TEST_F(EngineTest, RolloutIsALoopOfMjStep) {
  constexpr int kSteps = 50;
  const Numbers qpos = {0, 0, 0.0995, 1, 0, 0, 0}, qvel = {0.7, 0.2, 0, 0, 1, 0};
  const auto roll = [](const State<Value>& s, const Value& ctrl) {
    return ricci::fori_loop(
        0, kSteps, [&](const Value&, const State<Value>& now) { return Step(kRollingBall, now, ctrl); }, s);
  };
  const State<Array> last = ricci::jit(roll)(StateAt(qpos, qvel, {}), F64({}));
  const ByHand by_hand(kRollingBall, qpos, qvel, {});
  by_hand.Step(kSteps);
  ASSERT_GT(by_hand->nefc, 0) << "the ball does not touch the ground";
  EXPECT_EQ(last.qpos.to_vector<double>(), by_hand.qpos());
  EXPECT_EQ(last.qvel.to_vector<double>(), by_hand.qvel());
}

TEST_F(EngineTest, ManyWorldsAreSeparate) {
  constexpr int64_t kWorlds = 100;
  const Numbers qpos = Draw(kWorlds, 1), qvel = Draw(kWorlds, 2), ctrl = Draw(kWorlds, 3);
  const State<Array> all = {
      Array(ctx, qpos, {kWorlds, 1}), Array(ctx, qvel, {kWorlds, 1}), Array(ctx, Numbers(kWorlds, 0.0), {kWorlds, 1}),
      Array(ctx, std::vector<uint64_t>(kWorlds, 0), {kWorlds, 1}), Array(ctx, Numbers(kWorlds, 0.0))};
  const State<Array> next = ricci::jit(ricci::vmap(StepOf(kPendulum)))(all, Array(ctx, ctrl, {kWorlds, 1}));
  const Numbers got_qpos = next.qpos.to_vector<double>(), got_qvel = next.qvel.to_vector<double>();
  for (size_t i = 0; i < kWorlds; ++i) {
    const ByHand by_hand(kPendulum, {qpos[i]}, {qvel[i]}, {ctrl[i]});
    by_hand.Step(1);
    EXPECT_EQ(got_qpos[i], by_hand.qpos()[0]) << "world " << i;
    EXPECT_EQ(got_qvel[i], by_hand.qvel()[0]) << "world " << i;
  }
}

TEST_F(EngineTest, NoWorldsAtAll) {
  const State<Array> none = {Array(ctx, Numbers(), {0, 1}), Array(ctx, Numbers(), {0, 1}),
                             Array(ctx, Numbers(), {0, 1}), Array(ctx, std::vector<uint64_t>(), {0, 1}),
                             Array(ctx, Numbers())};
  EXPECT_EQ(ricci::jit(ricci::vmap(StepOf(kPendulum)))(none, Array(ctx, Numbers(), {0, 1})).qpos.size(), 0);
}

// A saved program holds the model, so it runs where nothing else is known of it; where the plugin is missing it is
// refused by name.
TEST_F(EngineTest, SavedProgramsHoldTheModel) {
  const State<Array> start = StateAt({0.3}, {1.0}, {0.0});
  const auto jitted = ricci::jit(StepOf(kPendulum));
  const std::string bytes = jitted.lower(start, F64({0.5})).program.serialize();
  ricci::Context other;
  const std::string message = MessageOf([&] { ricci::Program::deserialize(other, bytes); });
  EXPECT_NE(message.find("mujoco.step"), std::string::npos) << message;
  other.add_plugin(ricci_plugin_query_mujoco);
  const ricci::Executable loaded = ricci::Executable::compile(ricci::Program::deserialize(other, bytes));
  const Array in[] = {Array(other, {0.3}), Array(other, {1.0}),
                      Array(other, {0.0}), Array(other, std::vector<uint64_t>{0}),
                      Array(other, 0.0),   Array(other, {0.5})};
  std::vector<ricci_array*> handles, out(5);
  for (const Array& a : in) handles.push_back(a.handle());
  loaded.run(handles, out);
  std::vector<Array> results;
  for (ricci_array* a : out) results.emplace_back(other.handle(), a);
  EXPECT_EQ(results[0].to_vector<double>(), jitted(start, F64({0.5})).qpos.to_vector<double>());
}

TEST_F(EngineTest, PassiveForceOfTheEngineIsTheFormula) {
  RegisterDrag(ctx, 1);
  constexpr std::string_view kDragged =
      R"(<mujoco><extension><plugin plugin='ricci.drag'><instance name='drag'/></plugin>
    </extension><worldbody><body><joint axis='0 1 0' damping='.1'/><geom size='.1' pos='.5 0 0'/></body></worldbody>
    </mujoco>)";
  const ByHand by_hand(kDragged, {0.2}, {-3.0}, {});
  by_hand.Forward();
  EXPECT_NEAR(by_hand->qfrc_passive[0], 0.1 * 3 + kDrag * 9, 1e-12);
  // The same force acts in mujoco.step, whose worlds are made on the threads that need them.
  const State<Array> next = ricci::jit(StepOf(kDragged))(StateAt({0.2}, {-3.0}, {}), F64({}));
  by_hand.Step(1);
  EXPECT_EQ(next.qvel.to_vector<double>(), by_hand.qvel());
}

}}  // namespace engine
