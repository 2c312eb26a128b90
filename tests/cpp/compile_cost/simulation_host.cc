// A pendulum: simulation by scan, its fit by gradients, many starts at once, the period by a while loop.
#include <cstdio>
#include <vector>
#include "ricci/ricci.hpp"
using namespace ricci;

template <class T>
struct State {
  T angle, speed;
};
template <class T>
struct Rod {
  T length, friction;
};

State<Value> Advance(const Rod<Value>& r, const State<Value>& s, double dt) {
  const Value pull = -9.81 / r.length * sin(s.angle) - r.friction * s.speed;
  const Value speed = s.speed + dt * pull;
  return {s.angle + dt * speed, speed};
}
Value Simulate(const Rod<Value>& r, const State<Value>& s) {
  auto step = [&](const State<Value>& c, None) {
    const State<Value> next = Advance(r, c, 0.01);
    return std::pair(next, next.angle);
  };
  return scan(step, s, None{}, {.length = 300}).second;
}

int main() {
  Context ctx;
  const State<Array> start{Array(ctx, 1.0f), Array(ctx, 0.0f)};
  const Rod<Array> truth{Array(ctx, 1.2f), Array(ctx, 0.1f)};
  const Array seen = jit(Simulate)(truth, start);
  auto loss = [](const Rod<Value>& r, const State<Value>& s, Value target) {
    return mean(square(Simulate(r, s) - target));
  };
  const auto slope = jit(value_and_grad(loss));
  Rod<Array> rod{Array(ctx, 1.0f), Array(ctx, 0.0f)};
  const auto move = jit([](Rod<Value> r, Rod<Value> g) {
    return Rod<Value>{r.length - 0.02 * g.length, maximum(r.friction - 0.02 * g.friction, 0.0)};
  });
  for (int i = 0; i < 100; ++i) rod = move(rod, slope(rod, start, seen).second);
  const auto many = jit(vmap(Simulate, {kUnbatched, 0}));
  const Array all = many(rod, State<Array>{Array(ctx, {0.1f, 0.5f, 1.0f}), Array(ctx, {0.0f, 0.0f, 0.0f})});
  const auto fall = jit([](const Rod<Value>& r, const State<Value>& s) {
    auto above = [](const State<Value>& c) { return c.angle > 0; };
    return while_loop(
        above, [&](const State<Value>& c) { return Advance(r, c, 0.01); }, s);
  });
  const auto curvature = jit(hessian([](Value x) { return sum(cos(x) * x); }));
  std::printf("%f %zu %f %f\n", rod.length.item<float>(), all.to_vector<float>().size(),
              fall(rod, start).speed.item<float>(), curvature(Array(ctx, {1.0f, 2.0f})).to_vector<float>()[0]);
}
