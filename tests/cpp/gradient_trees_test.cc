// grad and value_and_grad over every kind of tree, for several arguments, nested in and around the other transforms.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using GradientTrees = BindingTest;

TEST_F(GradientTrees, ScalarsAndNumbers) {
  auto f = [](Value x, Value y) { return x * x * y; };
  EXPECT_EQ(grad(f)(Num(3), Num(2)).item<float>(), 12);
  EXPECT_EQ(grad(f)(Num(3), 2.0).item<float>(), 12);  // a number is a traced scalar
  EXPECT_EQ(grad<1>(f)(3.0, Num(2)).item<float>(), 9);
  EXPECT_EQ(grad([](Value x) { return x * 0 + 1; })(Num(3)).item<float>(), 0);
  EXPECT_EQ(grad([](Value) { return 3.0; })(Num(3)).item<float>(), 0);  // a number as result is a constant
}

TEST_F(GradientTrees, NestedStructsListsAndMaps) {
  const Model<Array> m{{Vec({1, 2}), Num(3)}, {{Vec({4}), Num(5)}, {Vec({6}), Num(7)}}, {{"scale", Num(2)}}, 3};
  auto loss = [](const Model<Value>& m, Value x) {
    Value y = sum(m.first.w * m.first.w) * m.first.b;
    for (const Weights<Value>& layer : m.rest) y += sum(layer.w) * layer.b;
    return y * m.named.at("scale") * m.depth * x;
  };
  const auto [value, g] = value_and_grad(loss)(m, Num(1));
  EXPECT_EQ(value.item<float>(), (5 * 3 + 20 + 42) * 2 * 3);
  ExpectClose(g.first.w, {2 * 3 * 6, 4 * 3 * 6});
  EXPECT_EQ(g.first.b.item<float>(), 5 * 6);
  ASSERT_EQ(g.rest.size(), 2u);
  ExpectClose(g.rest[1].w, {7 * 6});
  EXPECT_EQ(g.rest[0].b.item<float>(), 4 * 6);
  EXPECT_EQ(g.named.at("scale").item<float>(), 77 * 3);
  EXPECT_EQ(g.depth, 3);
}

TEST_F(GradientTrees, TuplesPairsOptionalsAndArrays) {
  using Tree = std::tuple<std::pair<Array, Array>, std::optional<Array>, std::array<Array, 2>, std::optional<Array>>;
  const Tree t{{Num(2), Num(3)}, Num(4), {Num(5), Num(6)}, std::nullopt};
  auto f = [](const auto& t) {
    const auto& [pair, maybe, both, none] = t;
    return pair.first * pair.second + *maybe * *maybe + both[0] * both[1] + (none ? *none : pair.first * 0);
  };
  const auto g = grad(f)(t);
  EXPECT_EQ(std::get<0>(g).first.item<float>(), 3);
  EXPECT_EQ(std::get<1>(g)->item<float>(), 8);
  EXPECT_EQ(std::get<2>(g)[0].item<float>(), 6);
  EXPECT_FALSE(std::get<3>(g).has_value());
}

TEST_F(GradientTrees, SeveralTreesAtOnce) {
  const Weights<Array> a{Num(2), Num(3)}, c{Num(5), Num(7)};
  auto f = [](const Weights<Value>& a, Value x, const Weights<Value>& c) { return a.w * a.b * x * c.w * c.b; };
  const auto [ga, gc] = grad<0, 2>(f)(a, Num(1), c);
  EXPECT_EQ(ga.w.item<float>(), 3 * 35);
  EXPECT_EQ(gc.b.item<float>(), 6 * 5);
  const auto [value, only] = value_and_grad<2>(f)(a, Num(1), c);
  EXPECT_EQ(value.item<float>(), 210);
  EXPECT_EQ(only.w.item<float>(), 6 * 7);
}

TEST_F(GradientTrees, AuxiliaryTrees) {
  const Weights<Array> a{Num(2), Num(3)};
  auto f = [](const Weights<Value>& a) {
    return std::pair(a.w * a.b, std::pair(Weights<Value>{a.b, a.w}, std::vector<Value>{a.w > 0, a.w + 1}));
  };
  const auto [g, aux] = grad(f)(a);
  EXPECT_EQ(g.w.item<float>(), 3);
  EXPECT_EQ(aux.first.w.item<float>(), 3);
  EXPECT_TRUE(aux.second[0].item<bool>());
  const auto [both, g2] = value_and_grad(f)(a);
  EXPECT_EQ(both.first.item<float>(), 6);
  EXPECT_EQ(both.second.second[1].item<float>(), 3);
  EXPECT_EQ(g2.b.item<float>(), 2);
}

TEST_F(GradientTrees, NestedInEveryOrder) {
  auto f = [](Value x) { return sin(x) * x; };  // f'' = 2 cos x - x sin x
  const Array x = Vec({0.5f, 1.5f});
  Floats want;
  for (float v : {0.5f, 1.5f}) want.push_back(2 * std::cos(v) - v * std::sin(v));
  ExpectClose(jit(vmap(grad(grad(f))))(x), want, 1e-5f);
  ExpectClose(vmap(jit(grad(jit(grad(f)))))(x), want, 1e-5f);
  ExpectClose(vmap(grad(checkpoint(grad(f))))(x), want, 1e-5f);
  ExpectClose(vmap(grad([&](Value v) { return jvp(f, std::tuple(v), std::tuple(ones_like(v))).second; }))(x), want,
              1e-5f);
  ExpectClose(jit([&](Value v) {
                return jvp([&](Value u) { return vmap(grad(f))(u); }, std::tuple(v), std::tuple(ones_like(v))).second;
              })(x),
              want, 1e-5f);
  ExpectClose(vmap([&](Value v) { return std::get<0>(vjp(grad(f), v).second(ones_like(v))); })(x), want, 1e-5f);
}

TEST_F(GradientTrees, OfStructsThroughControlFlow) {
  const Weights<Array> a{Num(2), Num(3)};
  auto f = [](const Weights<Value>& a) {  // w b^4 by a loop over the struct, or w + b
    return cond(
        a.w > 0,
        [](const Weights<Value>& a) {
          return scan(
                     [&](const Weights<Value>& c, None) {
                       return std::pair(Weights<Value>{c.w * a.b, c.b}, None{});
                     },
                     a, None{}, {.length = 4})
              .first.w;
        },
        [](const Weights<Value>& a) { return a.w + a.b; }, a);
  };
  const auto g = grad(f)(a);
  EXPECT_EQ(g.w.item<float>(), 81);
  EXPECT_EQ(g.b.item<float>(), 2 * 4 * 27);
  const Weights<Array> many{Vec({2, -1}), Vec({3, 5})};
  const auto each = vmap(grad(f))(many);
  ExpectClose(each.w, {81, 1});
  ExpectClose(each.b, {216, 1});
  const auto second = grad([&](const Weights<Value>& a) { return grad(f)(a).b; })(a);
  EXPECT_EQ(second.b.item<float>(), 2 * 12 * 9);
}

TEST_F(GradientTrees, CapturedArraysAndValues) {
  const Array c = Vec({1, 2, 3});
  auto outer = [c](Value x) {
    const Value scale = sum(x * c);
    return grad([&](Value y) { return sum(y * c) * scale; })(x) * x;  // (c * (x.c)) * x
  };
  ExpectClose(jit(outer)(Vec({1, 1, 1})), {6, 12, 18});
  ExpectClose(grad([&](Value x) { return sum(outer(x)); })(Vec({1, 1, 1})), {12, 24, 36});  // d/dx (x.c)^2
}

}  // namespace
}  // namespace ricci::testing
