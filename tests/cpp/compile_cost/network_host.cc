// Fits a two-layer network by gradient descent.
#include <cstdio>
#include <vector>
#include "ricci/ricci.hpp"
using namespace ricci;

template <class T>
struct Layer {
  T w, b;
};
template <class T>
struct Net {
  Layer<T> hidden, out;
};

Value Predict(const Net<Value>& n, const Value& x) {
  const Value h = tanh(matmul(x, n.hidden.w) + n.hidden.b);
  return matmul(h, n.out.w) + n.out.b;
}
Value Loss(const Net<Value>& n, const Value& x, const Value& y) { return mean(square(Predict(n, x) - y)); }
Net<Value> Step(const Net<Value>& n, const Net<Value>& g, double rate) {
  auto down = [&](const Layer<Value>& a, const Layer<Value>& d) {
    return Layer<Value>{a.w - rate * d.w, a.b - rate * d.b};
  };
  return {down(n.hidden, g.hidden), down(n.out, g.out)};
}

int main() {
  Context ctx;
  const auto init = jit([](Value key) {
    const Values k = random::split(key, 4);
    return Net<Value>{{random::normal(k[0], {1, 16}) * 0.5, zeros(key, {16})},
                      {random::normal(k[1], {16, 1}) * 0.5, zeros(key, {1})}};
  });
  const auto data = jit([](Value key) {
    const Value x = random::uniform(key, {64, 1}) * 6 - 3;
    return std::pair(x, sin(x));
  });
  const auto update = jit([](const Net<Value>& n, Value x, Value y) {
    const auto [loss, g] = value_and_grad(Loss)(n, x, y);
    return std::pair(Step(n, g, 0.05), loss);
  });
  Net<Array> net = init(random::key(ctx, 0));
  const auto [x, y] = data(random::key(ctx, 1));
  for (int i = 0; i < 200; ++i) {
    const auto [next, loss] = update(net, x, y);
    net = next;
    if (i % 50 == 0) std::printf("%d %f\n", i, loss.item<float>());
  }
}
