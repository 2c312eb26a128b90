// jvp, vjp and linearize: trees, numbers, integers and keys, maps used in later traces, nesting.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using LinearMap = BindingTest;

Weights<Value> Swap(const Weights<Value>& a, Value k) { return {a.w * a.b * k, sum(a.w)}; }

TEST_F(LinearMap, JvpOfTreesAndNumbers) {
  const Weights<Array> a{Vec({1, 2}), Num(3)}, da{Vec({1, 0}), Num(1)};
  const auto [y, dy] = jvp(Swap, std::tuple(a, Array(ctx, 2)), std::tuple(da, Array(ctx, 0)));
  ExpectClose(y.w, {6, 12});
  ExpectClose(dy.w, {2 * 3 + 2 * 1, 2 * 2});
  EXPECT_EQ(dy.b.item<float>(), 1);
  const auto [z, dz] = jvp([](Value x, Value s) { return x * s; }, std::tuple(Num(3), 2.0), std::tuple(Num(1), 10.0));
  EXPECT_EQ(z.item<float>(), 6);
  EXPECT_EQ(dz.item<float>(), 32);
}

TEST_F(LinearMap, JvpOfIntegerResultsIsZero) {
  const auto [y, dy] =
      jvp([](Value x) { return std::pair(x * x, astype(x, DType::kI32)); }, std::tuple(Num(3)), std::tuple(Num(1)));
  EXPECT_EQ(dy.first.item<float>(), 6);
  EXPECT_EQ(y.second.item<int32_t>(), 3);
  EXPECT_EQ(dy.second.item<int32_t>(), 0);
}

TEST_F(LinearMap, VjpOfTrees) {
  const Model<Array> m{{Vec({1, 2}), Num(3)}, {{Num(4), Num(5)}}, {{"s", Num(2)}}, 7};
  auto f = [](const Model<Value>& m, Value i) {
    return std::pair(m.first.w * m.first.b * m.named.at("s"), std::vector<Value>{m.rest[0].w * m.rest[0].b, i});
  };
  const auto [y, pull] = vjp(f, m, Array(ctx, 1));
  ExpectClose(y.first, {6, 12});
  EXPECT_EQ(y.second[1].item<int32_t>(), 1);
  const auto [g, gi] = pull({Vec({1, 10}), {Num(100), Array(ctx, 0)}});
  ExpectClose(g.first.w, {6, 60});
  EXPECT_EQ(g.first.b.item<float>(), 2 + 40);
  EXPECT_EQ(g.rest[0].w.item<float>(), 500);
  EXPECT_EQ(g.named.at("s").item<float>(), 3 + 60);
  EXPECT_EQ(g.depth, 7);
  EXPECT_EQ(gi.item<int32_t>(), 0);
  // Again, and with another cotangent.
  ExpectClose(std::get<0>(pull({Vec({0, 1}), {Num(0), Array(ctx, 0)}})).first.w, {0, 6});
}

// A scalar, and a tree that has no derivative of its own.
const auto kWithAux = [](Value x) { return std::pair(sum(x * x), std::tuple(sin(x), astype(x, DType::kI32))); };

TEST_F(LinearMap, AuxiliaryResults) {
  const Array x = Vec({1, 2});
  const auto [y, dy, of_jvp] = jvp(has_aux(kWithAux), std::tuple(x), std::tuple(Vec({1, 10})));
  EXPECT_EQ(y.item<float>(), 5);
  EXPECT_EQ(dy.item<float>(), 42);
  ExpectClose(std::get<0>(of_jvp), {std::sin(1.0F), std::sin(2.0F)});
  EXPECT_EQ(std::get<1>(of_jvp).to_vector<int32_t>(), (std::vector<int32_t>{1, 2}));
  const auto [z, pull, of_vjp] = vjp(has_aux(kWithAux), x);
  EXPECT_EQ(z.item<float>(), 5);
  ExpectClose(std::get<0>(pull(Num(3))), {6, 12});
  ExpectClose(std::get<0>(of_vjp), {std::sin(1.0F), std::sin(2.0F)});
  const auto [l, map, of_linearize] = linearize(has_aux(kWithAux), x);
  EXPECT_EQ(l.item<float>(), 5);
  EXPECT_EQ(map(Vec({1, 10})).item<float>(), 42);
  EXPECT_EQ(std::get<1>(of_linearize).dtype(), DType::kI32);
}

TEST_F(LinearMap, AuxiliaryResultsHaveDerivativesOfAnOuterTransform) {
  const auto f = [](Value x) {
    const auto [y, pull, aux] = vjp(has_aux(kWithAux), x);
    const auto [z, dz, more] = jvp(has_aux(kWithAux), std::tuple(x), std::tuple(x));
    return sum(std::get<0>(pull(y))) + sum(std::get<0>(aux)) + dz + sum(std::get<0>(more));
  };
  // sum(x^2) 2 sum(x) + 2 sum(sin(x)) + 2 sum(x^2)
  const auto slope = [](float x) { return 2 * x * 6 + 2 * 5 + 2 * std::cos(x) + 4 * x; };
  ExpectClose(grad(f)(Vec({1, 2})), {slope(1), slope(2)});
}

TEST_F(LinearMap, KeysHaveNoDerivative) {
  auto f = [](Value k, Value x) { return sum(x * random::uniform(k, {2})); };
  const Array key = random::key(ctx, 42);
  const auto [y, pull] = vjp(f, key, Vec({1, 1}));
  const auto [gk, gx] = pull(Num(1));
  EXPECT_EQ(gk.dtype(), DType::kKey);
  ExpectClose(gx, jit([](Value k) { return random::uniform(k, {2}); })(key).to_vector<float>());
  ExpectClose(grad<1>(f)(key, Vec({1, 1})), gx.to_vector<float>());
  ExpectClose(jvp(f, std::tuple(key, Vec({1, 1})), std::tuple(key, Vec({1, 0}))).second, {gx.to_vector<float>()[0]});
}

TEST_F(LinearMap, AMapMadeOutsideIsUsedInALaterTrace) {
  const Array x = Vec({1, 2});
  const auto made = vjp([](Value v) { return v * v; }, x);
  const auto& pull = made.second;
  ExpectClose(vmap([&](Value ct) { return std::get<0>(pull(ct)); })(Mat(2, 2, {1, 0, 0, 1})), {2, 0, 0, 4});
  ExpectClose(jit([&](Value ct) { return std::get<0>(pull(ct * 2)) + 1; })(x), {5, 17});
  const auto [y, linear] = linearize([](Value v) { return sin(v) * 3; }, x);
  const auto& map = linear;
  ExpectClose(vmap([&](Value t) { return map(t); })(Mat(2, 2, {1, 0, 0, 1})),
              {3 * std::cos(1.0f), 0, 0, 3 * std::cos(2.0f)}, 1e-6f);
}

TEST_F(LinearMap, LinearizeOfTrees) {
  const Weights<Array> a{Vec({1, 2}), Num(3)};
  const auto [y, map] = linearize(Swap, a, Array(ctx, 2));
  ExpectClose(y.w, {6, 12});
  const Weights<Array> dy = map({Vec({1, 0}), Num(1)}, Array(ctx, 0));
  ExpectClose(dy.w, {8, 4});
  EXPECT_EQ(dy.b.item<float>(), 1);
  EXPECT_EQ(map({Vec({0, 1}), Num(0)}, Array(ctx, 0)).b.item<float>(), 1);
}

TEST_F(LinearMap, NumbersAsArguments) {
  const auto [y, pull] = vjp([](Value x, Value s) { return x * s; }, Num(3), 2.0);
  const auto [gx, gs] = pull(Num(1));
  EXPECT_EQ(gx.item<float>(), 2);
  EXPECT_EQ(gs.item<float>(), 3);
  EXPECT_EQ(linearize([](Value x, Value s) { return x * s; }, Num(3), 2.0).second(Num(0), Num(1)).item<float>(), 3);
}

TEST_F(LinearMap, NestedInOtherTransforms) {
  auto f = [](Value x) { return sin(x) * x; };
  auto second = [](float x) { return 2 * std::cos(x) - x * std::sin(x); };
  const Floats want{second(1), second(2)};
  const Array x = Vec({1, 2});
  auto one = [](Value v) { return ones_like(v); };
  // Forward over reverse, reverse over forward, forward over forward, reverse over reverse.
  ExpectClose(vmap([&](Value v) {
                auto g = [&](Value u) { return std::get<0>(vjp(f, u).second(one(u))); };
                return jvp(g, std::tuple(v), std::tuple(one(v))).second;
              })(x),
              want, 1e-5f);
  ExpectClose(vmap([&](Value v) {
                auto g = [&](Value u) { return jvp(f, std::tuple(u), std::tuple(one(u))).second; };
                return std::get<0>(vjp(g, v).second(one(v)));
              })(x),
              want, 1e-5f);
  ExpectClose(vmap([&](Value v) {
                auto g = [&](Value u) { return linearize(f, u).second(one(u)); };
                return linearize(g, v).second(one(v));
              })(x),
              want, 1e-5f);
  ExpectClose(jit(vmap([&](Value v) {
                auto g = [&](Value u) { return std::get<0>(vjp(f, u).second(one(u))); };
                return std::get<0>(vjp(g, v).second(one(v)));
              }))(x),
              want, 1e-5f);
}

TEST_F(LinearMap, Errors) {
  const Array x = Vec({1, 2});
  auto f = [](Value v) { return v * v; };
  EXPECT_ERROR_HERE(jvp(f, std::tuple(x), std::tuple(Vec({1}))),
                    "jvp: leaf 0: the primal is f32[2], its tangent f32[1]");
  const auto made = vjp(f, x);
  EXPECT_ERROR_HERE(made.second(Vec({1, 2, 3})), "vjp: leaf 0 of the cotangent is f32[3]; it must be f32[2]");
  const auto line = linearize(f, x);
  EXPECT_ERROR_HERE(line.second(Num(1)), "linearize: leaf 0 of the tangent is f32[]; it must be f32[2]");
  auto list = [](const std::vector<Value>& v) { return v; };
  const auto many = vjp(list, std::vector<Array>{x, x});
  EXPECT_ERROR_HERE(many.second({x}), "vjp: the cotangent has 1 array, not 2");
  EXPECT_ERROR_HERE(vjp([](Value v) { return v; }, 1.0), "vjp: no argument is an array");
  EXPECT_ERROR_HERE(vjp(f, Array()), "vjp: an array was never set");
}

}  // namespace
}  // namespace ricci::testing
