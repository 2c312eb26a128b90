#include "pendulum_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "progress.h"
#include "stopwatch.h"

namespace {

using ricci::Array;
using ricci::Value;

constexpr double kTimeStep = 0.01, kStartAngle = 2.0;
constexpr double kGuess = 0.3, kLowest = 0.05, kHighest = 1.0;  // friction
constexpr double kRate = 0.05, kDecay1 = 0.8, kDecay2 = 0.95;

template <typename T>
struct Motion {
  T angle, speed;
};

// angle'' = -sin(angle) - friction * angle'
Motion<Value> Change(const Motion<Value>& s, const Value& friction) {
  return {s.speed, -sin(s.angle) - friction * s.speed};
}
Motion<Value> Ahead(const Motion<Value>& s, const Motion<Value>& change, double dt) {
  return {s.angle + dt * change.angle, s.speed + dt * change.speed};
}

// One step of the classical Runge-Kutta method.
Motion<Value> Advance(const Motion<Value>& s, const Value& friction) {
  const double dt = kTimeStep;
  const Motion<Value> k1 = Change(s, friction), k2 = Change(Ahead(s, k1, dt / 2), friction);
  const Motion<Value> k3 = Change(Ahead(s, k2, dt / 2), friction), k4 = Change(Ahead(s, k3, dt), friction);
  return {s.angle + dt / 6 * (k1.angle + 2.0 * (k2.angle + k3.angle) + k4.angle),
          s.speed + dt / 6 * (k1.speed + 2.0 * (k2.speed + k3.speed) + k4.speed)};
}

// The angles of one pendulum after 1, 2, ... steps.
Value Angles(const Value& friction, int64_t time_steps) {
  const Motion<Value> start = {full_like(friction, kStartAngle), zeros_like(friction)};
  const auto step = [&](const Motion<Value>& s, ricci::None) {
    const Motion<Value> next = Advance(s, friction);
    return std::pair(next, next.angle);
  };
  return ricci::scan(step, start, ricci::None{}, {.length = time_steps}).second;
}

Value Loss(const Value& friction, const Value& observed) {
  return mean(square(Angles(friction, observed.shape()[0]) - observed));
}

template <typename T>
struct Fit {
  T friction, mean, square, step;  // with Adam's running means; shape [pendulums]
};

// One step of Adam for each pendulum on its own.
Fit<Value> FitStep(const Fit<Value>& s, const Value& observed, const Value& rate) {
  const auto [loss, gradient] = ricci::vmap(ricci::value_and_grad(Loss))(s.friction, observed);
  Fit<Value> next = s;
  next.step = s.step + 1.0;
  next.mean = kDecay1 * s.mean + (1 - kDecay1) * gradient;
  next.square = kDecay2 * s.square + (1 - kDecay2) * square(gradient);
  const Value mean = next.mean / (1.0 - pow(kDecay1, next.step));
  next.friction = s.friction - rate * mean / (sqrt(next.square / (1.0 - pow(kDecay2, next.step))) + 1e-12);
  return next;
}

double WorstError(const Array& friction, const std::vector<float>& truth) {
  const std::vector<float> found = friction.to_vector<float>();
  double worst = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    worst = std::max<double>(worst, std::abs(found[i] - truth[i]) / truth[i]);
  }
  return worst;
}

}  // namespace

PendulumResult FitPendulums(const ricci::Context& ctx, const PendulumSize& size) {
  const auto n = static_cast<size_t>(size.pendulums);
  std::vector<float> truth(n);
  for (size_t i = 0; i < truth.size(); ++i) {
    truth[i] = static_cast<float>(kLowest + (kHighest - kLowest) * static_cast<double>(i) / static_cast<double>(n - 1));
  }
  const auto angles = [&](const Value& friction) { return Angles(friction, size.time_steps); };
  const Array observed = ricci::jit(ricci::vmap(angles))(Array(ctx, truth));
  const Array zero(ctx, std::vector<float>(n, 0.0f));
  Fit<Array> fit = {Array(ctx, std::vector<float>(n, static_cast<float>(kGuess))), zero, zero, Array(ctx, 0.0f)};
  const auto step = ricci::jit(FitStep);
  CompileAndReport("pendulums: fitting step", step, fit, observed, Array(ctx, 0.0f));

  PendulumResult result{0, {}};
  double stepping = 0;
  for (int64_t i = 0; i < size.iterations; ++i) {
    const double rate =
        kRate * 0.5 * (1 + std::cos(M_PI * static_cast<double>(i + 1) / static_cast<double>(size.iterations)));
    const Stopwatch watch;
    fit = step(fit, observed, Array(ctx, static_cast<float>(rate)));
    stepping += watch.seconds();
    result.worst = WorstError(fit.friction, truth);
    result.errors.push_back(result.worst);
    char text[80];
    std::snprintf(text, sizeof text, "pendulums: iteration %3d/%d  worst error %8.4f %%", static_cast<int>(i + 1),
                  static_cast<int>(size.iterations), 100 * result.worst);
    ShowProgress(i + 1, size.iterations, text);
  }
  std::printf("pendulums: %.1f ms per step of %d pendulums x %d time steps\n",
              1e3 * stepping / static_cast<double>(size.iterations), static_cast<int>(n),
              static_cast<int>(size.time_steps));
  return result;
}
