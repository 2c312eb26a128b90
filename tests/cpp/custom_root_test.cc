// custom_root: solvers that have no derivative, derivatives of every order, vmap, and its messages for wrong parts.
#include "ricci/custom_root.hpp"

#include "binding_fixture.h"

namespace ricci::testing { namespace {

using CustomRoot = BindingTest;

// Newton's method, as a loop that has no reverse mode.
Value Newton(const auto& f, Value start) {
  return while_loop([&](Value x) { return abs(f(x)) > 1e-6; },
                    [&](Value x) {
                      const auto [y, slope] = jvp(f, std::tuple(x), std::tuple(ones_like(x)));
                      return x - y / slope;
                    },
                    start);
}
constexpr auto kNewton = [](const auto& f, Value start) { return Newton(f, start); };
constexpr auto kDivide = [](const auto& g, Value y) { return y / g(ones_like(y)); };

Value CubeRoot(Value a) {
  return lax::custom_root([&](Value x) { return x * x * x - a; }, ones_like(a), kNewton, kDivide);
}

TEST_F(CustomRoot, DerivativesOfEveryOrderAtTheRoot) {
  const Array a = Num(8);
  ExpectClose(jit(CubeRoot)(a), {2}, 1e-5f);
  ExpectClose(grad(CubeRoot)(a), {1.0f / 12}, 1e-5f);             // a^(-2/3) / 3
  ExpectClose(grad(grad(CubeRoot))(a), {-2.0f / 9 / 32}, 1e-5f);  // -2 a^(-5/3) / 9
  ExpectClose(jvp(CubeRoot, std::tuple(a), std::tuple(Num(2))).second, {1.0f / 6}, 1e-5f);
  ExpectClose(vmap(grad(CubeRoot))(Vec({1, 8, 27})), {1.0f / 3, 1.0f / 12, 1.0f / 27}, 1e-5f);
}

// x is a pair of trees: x = a, y = x b.
TEST_F(CustomRoot, TreesAndSeveralCaptures) {
  using Pair = std::pair<Value, Value>;
  const auto f = [](Value a, Value b) {
    const auto residual = [&](const Pair& v) { return Pair(v.first - a, v.second - v.first * b); };
    const auto solve = [](const auto& g, const Pair& start) {
      const Pair r = g(start), once(start.first - r.first, start.second - r.second), s = g(once);
      return Pair(once.first - s.first, once.second - s.second);
    };
    // g is the identity and a map whose square is 0.
    const auto tangent_solve = [](const auto& g, const Pair& y) {
      const Pair once = g(y);
      return Pair(2 * y.first - once.first, 2 * y.second - once.second);
    };
    return lax::custom_root(residual, Pair(zeros_like(a), zeros_like(a)), solve, tangent_solve).second;
  };
  EXPECT_FLOAT_EQ(jit(f)(Num(3), Num(4)).item<float>(), 12);
  const auto [da, db] = grad<0, 1>(f)(Num(3), Num(4));
  EXPECT_FLOAT_EQ(da.item<float>(), 4);
  EXPECT_FLOAT_EQ(db.item<float>(), 3);
}

TEST_F(CustomRoot, WrongResidual) {
  EXPECT_ERROR_HERE(jit([](Value x) {
                      return lax::custom_root([](Value v) { return stack({v, v}); }, x, kNewton, kDivide);
                    })(Num(1)),
                    "custom_root: f gives f32[2] as array 0; that of the guess is f32[]");
}

}}  // namespace ricci::testing
