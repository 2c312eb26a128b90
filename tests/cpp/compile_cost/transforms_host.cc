// A host of about 50 lines that uses many transforms: Newton's method, branches, jvp, vjp, a rule of its own.
#include <cstdio>
#include "ricci/ricci.hpp"
using namespace ricci;

Value Energy(const Value& x) { return sum(square(square(x) - 1.0)) + 0.1 * sum(x); }
Value SafeNorm(const Value& x) {
  const Value n2 = sum(x * x);
  return where(n2 > 0, sqrt(where(n2 > 0, n2, 1.0)), 0.0);
}

int main() {
  Context ctx;
  const Array x0(ctx, {2.0f, -1.5f, 0.7f});
  auto newton = [](Value x) {
    return fori_loop(
        0, 20,
        [](Value, Value c) {
          const Value g = grad(Energy)(c), h = hessian(Energy)(c);
          return c - g / (sum(abs(h), 1) + 1e-3);
        },
        x);
  };
  const Array best = jit(newton)(x0);
  const auto [y, dy] = jvp(Energy, std::tuple(x0), std::tuple(Array(ctx, {1.0f, 0.0f, 0.0f})));
  const auto [value, back] = vjp(SafeNorm, x0);
  const auto [ct] = back(Array(ctx, 1.0f));
  auto clipped = custom_vjp([](Value v) { return v; }, [](Value v) { return std::pair(v, v); },
                            [](Value, Value c) { return std::tuple(clip(c, -1.0, 1.0)); });
  const Array g = grad([&](Value v) { return 10.0 * sum(clipped(v)); })(x0);
  auto piece = [](Value v) {
    return cond(
        v > 0, [](Value a) { return log1p(a); }, [](Value a) { return -a * a; }, v);
  };
  const Array pieces = vmap(value_and_grad(piece))(x0).second;
  const auto rows = jit([](Value m, Value i) {
    const Value picked = m[i] * 2;
    const Value sorted = sort(concatenate({picked, m[0]}));
    return std::tuple(sorted, argmax(m, 1), softmax(m), set_at(m, i, 0.0));
  });
  const auto [s, a, p, u] = rows(Array(ctx, {1.0f, 2.0f, 3.0f, 4.0f}, {2, 2}), 1);
  std::printf("%f %f %f %f %f %f %zu %d\n", best.to_vector<float>()[0], y.item<float>(), dy.item<float>(),
              value.item<float>(), ct.to_vector<float>()[0], g.to_vector<float>()[0], s.to_vector<float>().size(),
              a.to_vector<int>()[0]);
}
