// checkpoint, custom_jvp, custom_vjp and stop_gradient: trees, nesting in either order, messages for wrong rules.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using CustomRules = BindingTest;

template <typename T>
T Unit(const T& like) {
  return ones_like(like);
}

// x^2 with the derivative 10 x, so that a test sees which rule was used.
auto Tenfold() {
  return custom_jvp([](Value x) { return x * x; },
                    [](const std::tuple<Value>& x, const std::tuple<Value>& t) {
                      const Value v = std::get<0>(x);
                      return std::pair(v * v, v * std::get<0>(t) * 10);
                    });
}
auto Fivefold() {
  return custom_vjp([](Value x) { return x * x; }, [](Value x) { return std::pair(x * x, x); },
                    [](Value x, Value ct) { return std::tuple(x * ct * 5); });
}

TEST_F(CustomRules, JvpUnderEveryTransform) {
  const auto f = Tenfold();
  const Array x = Vec({1, 2});
  ExpectClose(f(x), {1, 4});
  ExpectClose(vmap(f)(x), {1, 4});
  ExpectClose(vmap(grad(f))(x), {10, 20});
  ExpectClose(vmap(grad(grad(f)))(x), {10, 10});
  ExpectClose(jvp(f, std::tuple(x), std::tuple(Vec({1, 1}))).second, {10, 20});
  ExpectClose(vmap([&](Value v) { return jvp(f, std::tuple(v), std::tuple(Unit(v))).second; })(x), {10, 20});
  ExpectClose(jvp(vmap(f), std::tuple(x), std::tuple(Vec({1, 1}))).second, {10, 20});
  ExpectClose(linearize(f, x).second(Vec({1, 1})), {10, 20});
  ExpectClose(jacfwd(f)(x), {10, 0, 0, 20});
  ExpectClose(jacrev(f)(x), {10, 0, 0, 20});
  ExpectClose(vmap(grad(checkpoint(f)))(x), {10, 20});
  ExpectClose(grad([&](Value v) {
                return scan([&](Value c, Value e) { return std::pair(c + f(e), None{}); }, v[0] * 0, v).first;
              })(x),
              {10, 20});
  ExpectClose(grad([&](Value v) {
                return cond(
                    v > 0, f, [](Value a) { return a; }, v);
              })(Num(3)),
              {30});
}

TEST_F(CustomRules, VjpUnderEveryTransform) {
  const auto f = Fivefold();
  const Array x = Vec({1, 2});
  ExpectClose(f(x), {1, 4});
  ExpectClose(vmap(f)(x), {1, 4});
  ExpectClose(vmap(grad(f))(x), {5, 10});
  ExpectClose(grad([&](Value v) { return sum(vmap(f)(v)); })(x), {5, 10});
  ExpectClose(vmap(grad(grad(f)))(x), {5, 5});
  ExpectClose(std::get<0>(vjp(f, x).second(Vec({1, 2}))), {5, 20});
  ExpectClose(jacrev(f)(x), {5, 0, 0, 10});
  ExpectClose(vmap(grad(checkpoint(f)))(x), {5, 10});
  ExpectClose(vmap(grad(jit(f)))(x), {5, 10});
  ExpectClose(grad([&](Value v) {
                return scan([&](Value c, Value e) { return std::pair(c + f(e), None{}); }, v[0] * 0, v).first;
              })(x),
              {5, 10});
  ExpectClose(vmap(grad([&](Value v) {
                return cond(
                    v > 0, f, [](Value a) { return a; }, v);
              }))(Vec({3, -3})),
              {15, 1});
}

TEST_F(CustomRules, TreesInAndOut) {
  using Pair = Weights<Value>;
  const auto f = custom_jvp(
      [](const Pair& a, Value s) {
        return std::pair(a.w * s, Pair{a.b, s});
      },
      [](const std::tuple<Pair, Value>& x, const std::tuple<Pair, Value>& t) {
        const auto& [a, s] = x;
        const auto& [da, ds] = t;
        return std::pair(std::pair(a.w * s, Pair{a.b, s}), std::pair(da.w * s * 2, Pair{da.b * 3, ds * 4}));
      });
  const auto loss = [&](const Pair& a, Value s) {
    const auto [y, rest] = f(a, s);
    return sum(y) + rest.w + rest.b;
  };
  const auto [ga, gs] = grad<0, 1>(loss)(Weights<Array>{Vec({1, 2}), Num(3)}, Num(5));
  ExpectClose(ga.w, {10, 10});
  EXPECT_EQ(ga.b.item<float>(), 3);
  EXPECT_EQ(gs.item<float>(), 4);

  const auto g = custom_vjp(
      [](const Pair& a, const std::vector<Value>& v) {
        return std::map<std::string, Value>{{"y", a.w * v[0] * a.b}};
      },
      [](const Pair& a, const std::vector<Value>& v) {
        return std::pair(std::map<std::string, Value>{{"y", a.w * v[0] * a.b}}, std::pair(a, v));
      },
      [](const std::pair<Pair, std::vector<Value>>& r, const std::map<std::string, Value>& ct) {
        const Value c = ct.at("y");
        return std::tuple(Pair{c * 2, sum(c * r.first.w)}, std::vector<Value>{c * 7});
      });
  const auto [da, dv] = grad<0, 1>([&](const Pair& a, const std::vector<Value>& v) { return sum(g(a, v).at("y")); })(
      Weights<Array>{Vec({1, 2}), Num(3)}, std::vector<Array>{Vec({4, 5})});
  ExpectClose(da.w, {2, 2});
  EXPECT_EQ(da.b.item<float>(), 3);
  ExpectClose(dv[0], {7, 7});
}

TEST_F(CustomRules, IntegersAndStaticNumbers) {
  // An integer argument and an integer result take part without a derivative.
  const auto f = custom_vjp(
      [](Value x, Value n) { return std::pair(x * astype(n, DType::kF32), n + 1); },
      [](Value x, Value n) { return std::pair(std::pair(x * astype(n, DType::kF32), n + 1), n); },
      [](Value n, const std::pair<Value, Value>& ct) { return std::tuple(ct.first * astype(n, DType::kF32) * 2, n); });
  const auto [y, m] = f(Num(3), Array(ctx, 4));
  EXPECT_EQ(y.item<float>(), 12);
  EXPECT_EQ(m.item<int32_t>(), 5);
  EXPECT_EQ(grad([&](Value x, Value n) { return f(x, n).first; })(Num(3), Array(ctx, 4)).item<float>(), 8);
  const auto g = custom_jvp([](Value x, Value n) { return std::pair(x * x, n * 2); },
                            [](const std::tuple<Value, Value>& x, const std::tuple<Value, Value>& t) {
                              const auto& [v, n] = x;
                              return std::pair(std::pair(v * v, n * 2), std::pair(std::get<0>(t) * 7, n * 0));
                            });
  EXPECT_EQ(grad([&](Value x, Value n) { return g(x, n).first; })(Num(3), Array(ctx, 4)).item<float>(), 7);
}

// One argument that is a pair is not two arguments.
TEST_F(CustomRules, APairAsTheOnlyArgument) {
  using Pair = std::pair<Value, Value>;
  const auto product = [](const Pair& p) { return p.first * p.second; };
  const std::pair<Array, Array> x(Num(3), Num(4)), unit(Num(1), Num(0));
  using One = std::tuple<std::pair<Array, Array>>;
  ExpectClose(jvp(product, One(x), One(unit)).second, {4});
  const auto checked = grad(checkpoint(product))(x);
  ExpectClose(checked.first, {4});
  const auto by_rule = custom_jvp(product, [](const std::tuple<Pair>& p, const std::tuple<Pair>& t) {
    const auto& [a, b] = std::get<0>(p);
    return std::pair(a * b, 10 * (std::get<0>(t).first * b + a * std::get<0>(t).second));
  });
  ExpectClose(grad(by_rule)(x).second, {30});
  const auto by_halves = custom_vjp(
      product, [](const Pair& p) { return std::pair(p.first * p.second, p); },
      [](const Pair& p, Value ct) { return std::tuple<Pair>(Pair(5 * ct * p.second, 5 * ct * p.first)); });
  ExpectClose(grad(by_halves)(x).first, {20});
  const std::pair<Array, Array> rows(Vec({1, 2}), Vec({3, 4}));
  ExpectClose(vmap(product)(rows), {3, 8});
}

TEST_F(CustomRules, CheckpointPoliciesAndNesting) {
  const float x = 0.5f;
  auto f = [](Value v) { return sin(sin(v)); };
  const float slope = std::cos(std::sin(x)) * std::cos(x);
  for (const char* policy : {"nothing", "everything", "dots", "dots_with_no_batch_dims", "names:a,b"}) {
    EXPECT_NEAR(grad(checkpoint(f, policy))(Num(x)).item<float>(), slope, 1e-6) << policy;
  }
  auto tree = [](const Weights<Value>& a) { return Weights<Value>{a.w * a.b, sin(a.b)}; };
  const auto g = grad([&](const Weights<Value>& a) { return sum(checkpoint(checkpoint(tree))(a).w); })(
      Weights<Array>{Vec({1, 2}), Num(3)});
  ExpectClose(g.w, {3, 3});
  EXPECT_EQ(g.b.item<float>(), 3);
  auto loop = [&](Value v) {  // checkpoint in scan
    return scan([&](Value c, None) { return std::pair(checkpoint(f)(c), None{}); }, v, None{}, {.length = 2}).first;
  };
  const float once = std::sin(std::sin(x));
  ExpectClose(vmap(grad(loop))(Vec({x})), {slope * std::cos(std::sin(once)) * std::cos(once)}, 1e-5f);
  EXPECT_NEAR(grad(grad(checkpoint(f)))(Num(x)).item<float>(),
              -std::sin(std::sin(x)) * std::cos(x) * std::cos(x) - std::cos(std::sin(x)) * std::sin(x), 1e-5);
  EXPECT_NEAR(grad(checkpoint(jit(f)))(Num(x)).item<float>(), slope, 1e-6);
}

TEST_F(CustomRules, CheckpointOptions) {
  auto f = [](Value v) { return sin(sin(v)); };
  const auto text = [&](auto g) { return make_program(ctx, grad(g), Num(0.5f)).text(); };
  const auto count = [](const std::string& all, std::string_view part) {
    int n = 0;
    for (size_t at = all.find(part); at != std::string::npos; at = all.find(part, at + 1)) ++n;
    return n;
  };
  // By default the inner sine is computed again, after a barrier; if it may be merged, without a barrier.
  EXPECT_EQ(count(text(checkpoint(f)), "prevent_cse=false"), 0);
  EXPECT_EQ(count(text(checkpoint(f, {.policy = "dots"})), "policy=\"dots\""), 1);
  EXPECT_EQ(count(text(checkpoint(f, {.policy = "nothing", .prevent_cse = false})), "prevent_cse=false"), 1);
  for (const bool apart : {true, false}) {
    const auto g = checkpoint(f, {.policy = "nothing", .prevent_cse = apart});
    const float slope = grad(g)(Num(0.5f)).item<float>();
    EXPECT_NEAR(slope, std::cos(std::sin(0.5f)) * std::cos(0.5f), 1e-6) << apart;
  }
}

TEST_F(CustomRules, StopGradient) {
  auto f = [](Value x) { return x * stop_gradient(x * x); };
  EXPECT_EQ(grad(f)(Num(3)).item<float>(), 9);
  EXPECT_EQ(jvp(f, std::tuple(Num(3)), std::tuple(Num(1))).second.item<float>(), 9);
  ExpectClose(vmap(grad(f))(Vec({1, 2})), {1, 4});
  EXPECT_EQ(hessian(f)(Num(3)).item<float>(), 0);
}

TEST_F(CustomRules, Errors) {
  const Array x = Vec({1, 2});
  auto identity = [](Value v) { return v; };
  auto fwd = [](Value v) { return std::pair(v, v); };
  EXPECT_ERROR_HERE(custom_vjp(identity, fwd, [](Value, Value ct) { return std::tuple(ct, ct); })(x),
                    "custom_vjp: bwd gives 2 cotangents for 1 array among the arguments");
  EXPECT_ERROR_HERE(custom_vjp(identity, fwd, [](Value, Value ct) { return std::tuple(sum(ct)); })(x),
                    "custom_vjp: bwd gives f32[] as cotangent 0; the argument is f32[2]");
  EXPECT_ERROR_HERE(
      custom_vjp(
          identity, [](Value v) { return std::pair(sum(v), v); }, [](Value, Value ct) { return std::tuple(ct); })(x),
      "custom_vjp: fwd gives f32[] as result 0; that of the function is f32[2]");
  using One = std::tuple<Value>;
  EXPECT_ERROR_HERE(
      custom_jvp(identity,
                 [](const One& v, const One& t) { return std::pair(std::get<0>(v), sum(std::get<0>(t))); })(x),
      "custom_jvp: the rule gives f32[] as tangent 0; the result is f32[2]");
  EXPECT_ERROR_HERE(custom_jvp(identity, [](const One& v, const One& t) { return std::pair(v, std::pair(t, t)); })(x),
                    "custom_jvp: the rule gives 1 result and 2 tangents; the function gives 1");
  EXPECT_ERROR_HERE(checkpoint(identity, "some")(x),
                    "checkpoint: unknown policy some; known: everything, nothing, dots, dots_with_no_batch_dims, "
                    "names:a,b, names_but:a,b, "
                    "and several with | between them");
  EXPECT_ERROR_HERE(
      jit([](Value w) {
        const Value twice = w + w;
        return custom_jvp([&](Value v) { return v * twice; },
                          [](auto v, auto t) { return std::pair(std::get<0>(v), std::get<0>(t)); })(w);
      })(x),
      "custom_jvp: the function captures a f32[2] (%1, the result of add, of the enclosing function), whose "
      "derivative would be lost; pass it as an argument");
}

}  // namespace
}  // namespace ricci::testing
