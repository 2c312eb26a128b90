// Derivatives through the engine: the maps between tangents of quaternions and velocities against MuJoCo's own, and
// gradients of rollouts against differences of the engine.
#include "engine_fixture.h"
#include "position_map.h"

namespace engine { namespace {

constexpr double kStep = 1e-6;

class PositionMaps : public EngineTest {
 protected:
  MjcfModel model_{"test", kFlyingRod};
  PositionMap map_{model_.get()};
  size_t nq_ = static_cast<size_t>(model_->nq), nv_ = static_cast<size_t>(model_->nv);
};

// The derivative of mj_differentiatePos by its second position, at a position whose quaternions are not of length 1.
TEST_F(PositionMaps, FromPositionsIsDifferentiatePos) {
  const Numbers qpos = Draw(model_->nq, 0.4);
  for (size_t i = 0; i < nq_; ++i) {
    Numbers plus = qpos, minus = qpos, ahead(nv_), behind(nv_);
    plus[i] += kStep;
    minus[i] -= kStep;
    mj_normalizeQuat(model_.get(), plus.data());
    mj_normalizeQuat(model_.get(), minus.data());
    Numbers unit = qpos;
    mj_normalizeQuat(model_.get(), unit.data());
    mj_differentiatePos(model_.get(), ahead.data(), 1, unit.data(), plus.data());
    mj_differentiatePos(model_.get(), behind.data(), 1, unit.data(), minus.data());
    for (size_t k = 0; k < nv_; ++k) {
      Numbers velocity_row(nv_, 0.0), row(nq_);
      velocity_row[k] = 1;
      map_.ToPositionRow(qpos.data(), velocity_row.data(), row.data());
      EXPECT_NEAR(row[i], (ahead[k] - behind[k]) / (2 * kStep), 1e-8) << "velocity " << k << " by position " << i;
    }
  }
}

TEST_F(PositionMaps, ToPositionsIsIntegratePos) {
  Numbers qpos = Draw(model_->nq, 0.4);
  mj_normalizeQuat(model_.get(), qpos.data());
  Numbers identity(nv_ * nv_, 0.0), rows(nq_ * nv_);
  for (size_t k = 0; k < nv_; ++k) identity[k * nv_ + k] = 1;
  map_.ToPositionRows(qpos.data(), identity.data(), model_->nv, rows.data());
  for (size_t k = 0; k < nv_; ++k) {
    Numbers ahead = qpos, behind = qpos, velocity(nv_, 0.0);
    velocity[k] = 1;
    mj_integratePos(model_.get(), ahead.data(), velocity.data(), kStep);
    mj_integratePos(model_.get(), behind.data(), velocity.data(), -kStep);
    for (size_t i = 0; i < nq_; ++i) {
      EXPECT_NEAR(rows[i * nv_ + k], (ahead[i] - behind[i]) / (2 * kStep), 1e-8) << "position " << i << " by " << k;
    }
  }
}

// ---- rollouts ----
// A smooth function of the state after 20 steps, of all of its numbers.
auto LossOf(std::string_view model) {
  return [model](const Value& qpos, const Value& qvel, const Value& ctrl) {
    const int64_t nv = qvel.shape()[0], na = SizesOf(model).na;
    State<Value> s = AtRest(qpos, nv, na);
    s.qvel = qvel;
    const auto step = [&](const State<Value>& now, ricci::None) {
      return std::pair(Step(model, now, sin(now.qvel[0]) + ctrl), ricci::None{});
    };
    const State<Value> last = ricci::scan(step, s, ricci::None{}, {.length = 20}).first;
    return sum(sin(2.0 * last.qpos)) + sum(square(last.qvel)) + sum(last.act);
  };
}

class Gradients : public EngineTest, public ::testing::WithParamInterface<std::string_view> {};

TEST_P(Gradients, OfARolloutAreDifferencesOfTheEngine) {
  const Sizes sizes = SizesOf(GetParam());
  std::vector<Numbers> at = {Draw(sizes.nq, 0.4), Draw(sizes.nv, 0.9), Draw(sizes.nu, 1.4)};
  if (GetParam() == kRollingBall)  // in contact all the time, and slipping
    at = {{0, 0, 0.0995, 0.8, 0.1, -0.2, 0.3}, {0.3, -0.2, 0, 2, 3, 0.5}, {}};
  const auto loss = ricci::jit(LossOf(GetParam()));
  const auto value = [&] { return loss(F64(at[0]), F64(at[1]), F64(at[2])).item<double>(); };
  const auto gradients = ricci::jit(ricci::grad<0, 1, 2>(LossOf(GetParam())))(F64(at[0]), F64(at[1]), F64(at[2]));
  const Numbers got[] = {std::get<0>(gradients).to_vector<double>(), std::get<1>(gradients).to_vector<double>(),
                         std::get<2>(gradients).to_vector<double>()};
  for (size_t part = 0; part < 3; ++part) {
    for (size_t i = 0; i < at[part].size(); ++i) {
      const double x = at[part][i], h = 1e-6;  // little beside the depth of a contact
      at[part][i] = x + h;
      const double ahead = value();
      at[part][i] = x - h;
      const double behind = value();
      at[part][i] = x;
      const double want = (ahead - behind) / (2 * h);
      EXPECT_NEAR(got[part][i], want, 1e-5 * std::max(1.0, std::fabs(want))) << "operand " << part << " element " << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Models, Gradients, ::testing::Values(kPendulum, kFlyingRod, kRollingBall),
                         [](const auto& info) { return "Model" + std::to_string(info.index); });

TEST_F(EngineTest, GradientsOfManyWorldsAreThoseOfEach) {
  constexpr int64_t kWorlds = 5;
  const Numbers qpos = Draw(kWorlds, 1), qvel = Draw(kWorlds, 2), ctrl = Draw(kWorlds, 3);
  const auto gradient = ricci::grad(LossOf(kPendulum));
  const Numbers all = ricci::jit(ricci::vmap(gradient))(Array(ctx, qpos, {kWorlds, 1}), Array(ctx, qvel, {kWorlds, 1}),
                                                        Array(ctx, ctrl, {kWorlds, 1}))
                          .to_vector<double>();
  const auto one = ricci::jit(gradient);
  for (size_t i = 0; i < kWorlds; ++i) {
    EXPECT_NEAR(all[i], one(F64({qpos[i]}), F64({qvel[i]}), F64({ctrl[i]})).item<double>(), 1e-12) << "world " << i;
  }
}

}}  // namespace engine
