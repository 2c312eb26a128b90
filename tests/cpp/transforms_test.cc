// grad, jvp, vjp, vmap and so on: values, nesting in any order, finite differences.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using Transforms = BindingTest;

template <typename T>
struct Params {
  T w, b;
};

// The gradient of the scalar function f by central differences in f64.
template <typename F>
std::vector<double> Differences(const Context& ctx, F f, std::vector<double> x) {
  constexpr double kStep = 1e-5;
  const auto g = jit(f);
  std::vector<double> out;
  for (double& v : x) {
    const double middle = v;
    v = middle + kStep;
    const double up = g(Array(ctx, x)).template item<double>();
    v = middle - kStep;
    const double down = g(Array(ctx, x)).template item<double>();
    v = middle;
    out.push_back((up - down) / (2 * kStep));
  }
  return out;
}
template <typename F>
void CheckGradient(const Context& ctx, F f, const std::vector<double>& x) {
  const std::vector<double> got = grad(f)(Array(ctx, x)).template to_vector<double>(), want = Differences(ctx, f, x);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-6 * std::max(1.0, std::fabs(want[i])));
}

TEST_F(Transforms, GradientsAgreeWithDifferences) {
  const std::vector<double> x{0.3, -0.7, 1.9, 0.8};
  CheckGradient(
      ctx, [](Value v) { return sum(tanh(v) * exp(v) / (1 + v * v)); }, x);
  CheckGradient(
      ctx, [](Value v) { return logsumexp(v * 2) + sum(log_softmax(v)[1]) + norm(v); }, x);
  CheckGradient(
      ctx,
      [](Value v) {
        return sum(matmul(reshape(v, {2, 2}), reshape(v, {2, 2})));
      },
      x);
  CheckGradient(
      ctx, [](Value v) { return sum(cumsum(v, 0) * flip(v)) + max(v) * var(v); }, x);
  CheckGradient(
      ctx, [](Value v) { return sum(where(v > 0, sqrt(abs(v)), v * v * v)) + prod(v); }, x);
}

TEST_F(Transforms, GradOfStructsAndSeveralArguments) {
  const Params<Array> p{Count({3, 2}, 0.1f), Vec({0.5f, -0.5f})};
  const Array x = Count({4, 3}, 0.25f);
  auto loss = [](const Params<Value>& p, Value x) { return mean(tanh(matmul(x, p.w) + p.b)); };
  const auto [value, g] = value_and_grad(loss)(p, x);
  const Params<Array> alone = grad(loss)(p, x);
  ExpectClose(alone.w, g.w.to_vector<float>());
  const auto [gp, gx] = grad<0, 1>(loss)(p, x);
  ExpectClose(gp.b, g.b.to_vector<float>());
  EXPECT_EQ(gx.type(), x.type());
  EXPECT_EQ(value.rank(), 0);
}

TEST_F(Transforms, AuxiliaryResults) {
  auto f = [](Value x) { return std::pair(sum(x * x), std::tuple(x + 1, x > 1)); };
  const auto [both, g] = value_and_grad(f)(Vec({1, 2}));
  EXPECT_EQ(both.first.item<float>(), 5);
  ExpectClose(std::get<0>(both.second), {2, 3});
  ExpectClose(g, {2, 4});
  const auto [g2, aux] = grad(f)(Vec({1, 2}));
  ExpectClose(g2, {2, 4});
  ExpectClose(std::get<0>(aux), {2, 3});
}

TEST_F(Transforms, HigherOrders) {
  auto f = [](Value x) { return sin(x) * x; };
  ExpectClose(vmap(grad(grad(f)))(Vec({1, 2, 3})), {0.239134f, -2.65089f, -2.403349f}, 1e-5f);
  ExpectClose(grad([&](Value x) { return sum(vmap(grad(f))(x)); })(Vec({1, 2, 3})), {0.239134f, -2.65089f, -2.403349f},
              1e-5f);
  auto cube = [](Value x) { return sum(x * x * x); };
  ExpectClose(hessian(cube)(Vec({1, 2})), {6, 0, 0, 12});
  ExpectClose(jit(hessian(cube))(Vec({1, 2})), {6, 0, 0, 12});
  ExpectClose(vmap(hessian(cube))(Mat(2, 1, {1, 2})), {6, 12});
}

TEST_F(Transforms, GradOfGradOfVmapOfScan) {
  auto power = [](Value x) {  // x^4
    return scan([&](Value c, None) { return std::pair(c * x, None{}); }, ones_like(x), None{}, {.length = 4}).first;
  };
  ExpectClose(vmap(power)(Vec({2, 3})), {16, 81});
  ExpectClose(grad([&](Value x) { return sum(vmap(power)(x)); })(Vec({2, 3})), {32, 108});
  ExpectClose(grad([&](Value x) { return sum(grad([&](Value y) { return sum(vmap(power)(y)); })(x)); })(Vec({2, 3})),
              {48, 108});
  ExpectClose(vmap(grad(grad(power)))(Vec({2, 3})), {48, 108});
}

TEST_F(Transforms, JvpVjpLinearize) {
  auto f = [](Value a, Value b) { return std::tuple(a * b, sum(a)); };
  const Array a = Vec({1, 2}), b = Vec({3, 4}), one = Vec({1, 1});
  const auto [y, dy] = jvp(f, std::tuple(a, b), std::tuple(one, b));
  ExpectClose(std::get<0>(y), {3, 8});
  ExpectClose(std::get<0>(dy), {6, 12});
  ExpectClose(std::get<1>(dy), {2});
  const auto [out, pull] = vjp(f, a, b);
  ExpectClose(std::get<1>(out), {3});
  const auto [ca, cb] = pull(std::tuple(one, Array(ctx, 10.0f)));
  ExpectClose(ca, {13, 14});
  ExpectClose(cb, {1, 2});
  const auto [z, linear] = linearize(f, a, b);
  ExpectClose(std::get<0>(linear(one, b)), {6, 12});
  ExpectClose(std::get<0>(z), {3, 8});
  // The same inside a trace.
  ExpectClose(jit([&](Value p, Value q) {
                const auto [o, back] = vjp(f, p, q);
                const auto [l, map] = linearize(f, p, q);
                return std::get<0>(back(o)) + std::get<0>(map(p, q));
              })(a, b),
              {3 * 3 + 3 + 2 * 3, 4 * 8 + 3 + 2 * 8});
}

TEST_F(Transforms, IntegerArguments) {
  auto f = [](Value x, Value i) { return x[i] * x[i]; };
  ExpectClose(grad(f)(Vec({1, 2, 3}), Array(ctx, 2)), {0, 0, 6});
  const auto [y, pull] = vjp(f, Vec({1, 2, 3}), Array(ctx, 1));
  const auto [cx, ci] = pull(Array(ctx, 1.0f));
  ExpectClose(cx, {0, 4, 0});
  EXPECT_EQ(ci.item<int32_t>(), 0);
}

TEST_F(Transforms, VmapAxes) {
  const Array m = Count({2, 3}), v = Vec({1, 10, 100});
  ExpectClose(vmap([](Value a, Value b) { return sum(a * b); }, {0, kUnbatched})(m, v), {321, 654});
  ExpectClose(vmap([](Value a, Value b) { return a * b; }, {1, 0}, 1)(m, v), {1, 20, 300, 4, 50, 600});
  ExpectClose(vmap([](Value a) { return a; }, 1, -1)(m), {1, 2, 3, 4, 5, 6});
  ExpectClose(vmap([](const Params<Value>& p) { return p.w * p.b; }, {{0, kUnbatched}})(Params<Array>{v, Vec({2})}),
              {2, 20, 200});
  ExpectClose(vmap(vmap([](Value a, Value b) { return a * b; }, {kUnbatched, 0}), {0, kUnbatched})(Vec({1, 2}), v),
              {1, 10, 100, 2, 20, 200});
  EXPECT_ERROR_HERE(vmap([](Value a, Value b) { return a * b; })(m, v),
                    "vmap: leaf 1 is f32[3] with size 3 along axis 0; the batch is 2");
  EXPECT_ERROR_HERE(vmap([](Value a) { return a; }, kUnbatched)(m), "vmap: no argument is batched");
}

TEST_F(Transforms, Jacobians) {
  auto f = [](Value x) { return stack({x[0] * x[1], sin(x[2])}); };
  const float c = std::cos(3.0f);
  ExpectClose(jacfwd(f)(Vec({1, 2, 3})), {2, 1, 0, 0, 0, c});
  ExpectClose(jacrev(f)(Vec({1, 2, 3})), {2, 1, 0, 0, 0, c});
  auto g = [](Value s, Value x) { return s * x; };
  const Array two(ctx, 2.0f), v = Vec({3, 4});
  ExpectClose(jacfwd<1>(g)(two, v), {2, 0, 0, 2});
  ExpectClose(jacrev<1>(g)(two, v), {2, 0, 0, 2});
  const auto [by_s, by_x] = jacrev<0, 1>(g)(two, v);
  ExpectClose(by_s, {3, 4});
  ExpectClose(by_x, {2, 0, 0, 2});
  const auto tree = jacfwd([](Value x) { return Params<Value>{x * x, sum(x)}; })(v);
  ExpectClose(tree.w, {6, 0, 0, 8});
  ExpectClose(tree.b, {1, 1});
  const Array j = jacrev([](Value x) { return x * x; })(Count({2, 2}));
  EXPECT_EQ(j.rank(), 4);
}

TEST_F(Transforms, CustomDerivatives) {
  const auto triple = custom_jvp([](Value x) { return sin(x); },
                                 [](const std::tuple<Value>& x, const std::tuple<Value>& t) {
                                   return std::pair(sin(std::get<0>(x)), std::get<0>(t) * 3.0);
                                 });
  ExpectClose(vmap(grad(triple))(Vec({1, 2})), {3, 3});
  ExpectClose(triple(Vec({1})), {std::sin(1.0f)});
  const auto five = custom_vjp([](Value x, Value y) { return x * y; },
                               [](Value x, Value y) {
                                 return std::pair(x * y, Params<Value>{x, y});
                               },
                               [](const Params<Value>& r, Value ct) { return std::tuple(ct * r.b * 5.0, ct * r.w); });
  const auto [gx, gy] = grad<0, 1>([&](Value x, Value y) { return sum(five(x, y)); })(Vec({1, 2}), Vec({3, 4}));
  ExpectClose(gx, {15, 20});
  ExpectClose(gy, {1, 2});
  EXPECT_NE(MessageOf([&] {
              jit([](Value w) {
                return custom_jvp([&](Value x) { return x * w; },
                                  [](auto x, auto t) { return std::pair(std::get<0>(x), std::get<0>(t)); })(w + 1);
              })(Vec({1}));
            }).find("the function captures a f32[1]"),
            std::string::npos);
}

TEST_F(Transforms, CustomDerivativesCaptureArraysAndIntegers) {
  const Array w = Vec({2, 3});
  auto scaled = [&](Value x, Value k) {
    return custom_jvp([&](Value v) { return v * w * k; },
                      [&](const std::tuple<Value>& v, const std::tuple<Value>& t) {
                        return std::pair(std::get<0>(v) * w * k, std::get<0>(t) * w * 10.0);
                      })(x);
  };
  const Array k(ctx, 4);
  ExpectClose(jit(scaled)(Vec({1, 1}), k), {8, 12});
  ExpectClose(grad([&](Value x, Value k) { return sum(scaled(x, k)); })(Vec({1, 1}), k), {20, 30});
  ExpectClose(vmap(grad([&](Value x, Value k) { return sum(scaled(x, k)); }), {0, kUnbatched})(Mat(1, 2, {1, 1}), k),
              {20, 30});
  auto reverse = [&](Value x, Value k) {
    return custom_vjp([&](Value v) { return v * w; }, [&](Value v) { return std::pair(v * w, v + k); },
                      [&](Value r, Value ct) { return std::tuple(r * ct * w * k); })(x);
  };
  ExpectClose(jit(reverse)(Vec({1, 1}), k), {2, 3});
  ExpectClose(grad([&](Value x, Value k) { return sum(reverse(x, k)); })(Vec({1, 2}), k), {5 * 2 * 4, 6 * 3 * 4});
  ExpectClose(
      grad([&](Value x) {
        return sum(custom_jvp([&](Value v) { return v * w; },
                              [&](auto v, auto t) { return std::pair(std::get<0>(v) * w, std::get<0>(t)); })(x));
      })(Vec({1, 2})),
      {1, 1});
}

TEST_F(Transforms, CheckpointAndStopGradient) {
  auto f = [](Value x) { return sum(checkpoint([](Value v) { return sin(sin(v)); })(x) * stop_gradient(x)); };
  const float x = 0.5f;
  ExpectClose(grad(f)(Vec({x})), {std::cos(std::sin(x)) * std::cos(x) * x}, 1e-5f);
  EXPECT_EQ(MessageOf([&] { checkpoint([](Value v) { return v; }, "some")(Vec({1})); }) == "no error", false);
}

TEST_F(Transforms, Errors) {
  EXPECT_ERROR_HERE(grad([](Value x) { return x; })(Vec({1, 2})),
                    "grad: the function gives f32[2], not a floating scalar; reduce it to one, or use jacrev");
  EXPECT_ERROR_HERE(jvp([](Value x) { return x; }, std::tuple(Vec({1})), std::tuple(Vec({1, 2}))),
                    "jvp: leaf 0: the primal is f32[1], its tangent f32[2]");
}

}  // namespace
}  // namespace ricci::testing
