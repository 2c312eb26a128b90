#include "arm_training.h"

#include <cmath>
#include <cstdio>

#include "../quickstart/progress.h"
#include "../quickstart/stopwatch.h"

namespace engine {
namespace {

using ricci::Array;
using ricci::DType;
using ricci::Value;

constexpr double kRate = 0.01, kDecay1 = 0.9, kDecay2 = 0.99;

template <typename T>
struct Training {
  Weights<T> weights, mean, square;  // with Adam's running means of the gradient and of its square
  T step;
};

Training<Value> Initial(const Value& key) {
  const Weights<Value> w = InitialWeights(key);
  Weights<Value> zero;
  for (const Value& leaf : w) zero.push_back(zeros_like(leaf));
  return {w, zero, zero, ricci::zeros(key, {}, DType::kF64)};
}

Value MeanCost(const Weights<Value>& w, const Value& targets) {
  return mean(ricci::vmap(Cost, {ricci::kUnbatched, 0})(w, targets));
}

std::pair<Training<Value>, Value> TrainStep(const Training<Value>& s, const Value& targets, const Value& rate) {
  const auto [cost, gradient] = ricci::value_and_grad(MeanCost)(s.weights, targets);
  Training<Value> next = s;
  next.step = s.step + 1.0;
  for (size_t i = 0; i < gradient.size(); ++i) {
    next.mean[i] = kDecay1 * s.mean[i] + (1 - kDecay1) * gradient[i];
    next.square[i] = kDecay2 * s.square[i] + (1 - kDecay2) * square(gradient[i]);
    const Value mean = next.mean[i] / (1.0 - pow(kDecay1, next.step));
    const Value spread = sqrt(next.square[i] / (1.0 - pow(kDecay2, next.step)));
    next.weights[i] = s.weights[i] - rate * mean / (spread + 1e-10);
  }
  return {next, cost};
}

}  // namespace

Value Rollout(const Weights<Value>& w, const Value& target, int64_t steps) {
  const Value start =
      ricci::concatenate({ricci::full(target, {1}, kHanging, DType::kF64), ricci::zeros(target, {1}, DType::kF64)});
  const auto step = [&](const State<Value>& s, ricci::None) {
    const State<Value> next = Step(kArmModel, s, Policy(w, target, s.qpos, s.qvel));
    return std::pair(next, next.qpos);
  };
  return ricci::scan(step, AtRest(start, kJoints, 0), ricci::None{}, {.length = steps}).second;
}

Value Cost(const Weights<Value>& w, const Value& target) {
  const Value angles = Rollout(w, target, kRolloutSteps);
  const Value squared = sum(square(ricci::vmap(Tip)(angles) - target), -1);
  const Value late = ricci::arange(target, 1, kRolloutSteps + 1, 1, DType::kF64) / static_cast<double>(kRolloutSteps);
  return mean(sqrt(squared + 1e-4) * square(late));  // smooth where the distance is 0
}

Trained TrainArm(const ricci::Context& ctx, const TrainingSize& size) {
  std::vector<double> flat;
  for (const Point& p : Targets(0, size.targets)) flat.insert(flat.end(), p.begin(), p.end());
  const Array targets(ctx, flat, {size.targets, 2});
  Training<Array> state = ricci::jit(Initial)(ricci::random::key(ctx, 0));
  const auto step = ricci::jit(TrainStep);
  CompileAndReport("arm: training step", step, state, targets, Array(ctx, 0.0));

  Trained out{{}, {}};
  const Stopwatch watch;
  for (int64_t i = 0; i < size.iterations; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(size.iterations);
    auto [next, cost] = step(state, targets, Array(ctx, kRate * 0.5 * (1 + std::cos(M_PI * part))));
    state = std::move(next);
    out.losses.push_back(cost.item<double>());
    char text[80];
    std::snprintf(text, sizeof text, "arm: iteration %3d/%d  cost %.5f", static_cast<int>(i + 1),
                  static_cast<int>(size.iterations), out.losses.back());
    ShowProgress(i + 1, size.iterations, text);
  }
  const auto engine_steps = static_cast<double>(size.iterations * size.targets * kRolloutSteps);
  std::printf("arm: %.1f ms per iteration of %d worlds x %d steps, %.1f us per step with its derivative\n",
              1e3 * watch.seconds() / static_cast<double>(size.iterations), static_cast<int>(size.targets),
              static_cast<int>(kRolloutSteps), 1e6 * watch.seconds() / engine_steps);
  out.weights = state.weights;
  return out;
}

}  // namespace engine
