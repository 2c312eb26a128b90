// jacfwd, jacrev and hessian: trees as arguments and results, structures as in JAX, finite differences, nesting.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using Jacobian = BindingTest;

TEST_F(Jacobian, StructuresAsInJax) {
  const Weights<Array> a{Vec({1, 2}), Num(3)};
  auto f = [](const Weights<Value>& a) { return std::tuple(a.w * a.b, std::map<std::string, Value>{{"s", sum(a.w)}}); };
  auto check = [](const auto& j) {  // result, then argument
    const auto& [product, named] = j;
    ExpectClose(product.w, {3, 0, 0, 3});
    ExpectClose(product.b, {1, 2});
    ExpectClose(named.at("s").w, {1, 1});
    ExpectClose(named.at("s").b, {0});
    EXPECT_EQ(ShapeOfArray(product.w), (Shape{2, 2}));
    EXPECT_EQ(ShapeOfArray(product.b), (Shape{2}));
    EXPECT_EQ(ShapeOfArray(named.at("s").w), (Shape{2}));
    EXPECT_EQ(named.at("s").b.rank(), 0);
  };
  check(jacfwd(f)(a));
  check(jacrev(f)(a));
  check(jit([&](const Weights<Value>& a) { return jacrev(f)(a); })(a));
}

TEST_F(Jacobian, SeveralArgumentsOfATreeResult) {
  auto f = [](Value s, const std::vector<Value>& v, Value n) { return Weights<Value>{s * v[0] * n, sum(v[1]) * s}; };
  const std::vector<Array> v{Vec({3, 4}), Vec({5, 6, 7})};
  auto check = [](const auto& j) {
    const auto& [by_s, by_v] = j.w;
    ExpectClose(by_s, {6, 8});
    ExpectClose(by_v[0], {4, 0, 0, 4});
    ExpectClose(by_v[1], Floats(6, 0));
    ExpectClose(std::get<1>(j.b)[1], {2, 2, 2});
    EXPECT_EQ(std::get<0>(j.b).template item<float>(), 18);
  };
  check(jacfwd<0, 1>(f)(Num(2), v, Array(ctx, 2)));
  check(jacrev<0, 1>(f)(Num(2), v, Array(ctx, 2)));
}

TEST_F(Jacobian, HessianOfATree) {
  const Weights<Array> a{Vec({1, 2}), Num(3)};
  auto f = [](const Weights<Value>& a) { return sum(a.w * a.w * a.w) * a.b * a.b; };
  const auto h = hessian(f)(a);
  ExpectClose(h.w.w, {6 * 9, 0, 0, 12 * 9});
  ExpectClose(h.w.b, {3 * 6, 12 * 6});
  ExpectClose(h.b.w, {3 * 6, 12 * 6});
  ExpectClose(h.b.b, {18});
  const auto all = hessian<0, 1>([](Value x, Value y) { return x * x * y; })(Num(2), Num(5));
  EXPECT_EQ(std::get<0>(std::get<0>(all)).item<float>(), 10);
  EXPECT_EQ(std::get<1>(std::get<0>(all)).item<float>(), 4);
  EXPECT_EQ(std::get<0>(std::get<1>(all)).item<float>(), 4);
  EXPECT_EQ(std::get<1>(std::get<1>(all)).item<float>(), 0);
}

TEST_F(Jacobian, HessianInsideOfVmapAndOfLoops) {
  auto f = [](Value x) {
    return scan([&](Value c, None) { return std::pair(c * sum(x * x), None{}); }, ones_like(x[0]), None{},
                {.length = 2})
        .first;  // |x|^4: hessian 8 x x' + 4 |x|^2 I
  };
  ExpectClose(hessian(f)(Vec({1, 2})), {8 + 20, 16, 16, 32 + 20});
  ExpectClose(vmap(hessian(f))(Mat(2, 2, {1, 2, 0, 1})), {28, 16, 16, 52, 4, 0, 0, 12});
  ExpectClose(jit(vmap(hessian(checkpoint(f))))(Mat(2, 2, {1, 2, 0, 1})), {28, 16, 16, 52, 4, 0, 0, 12});
  const auto trace = [&](Value x) { return sum(hessian(f)(x) * eye(x, 2)); };  // 16 |x|^2
  ExpectClose(grad(trace)(Vec({1, 2})), {32, 64});
}

TEST_F(Jacobian, AgreesWithDifferences) {
  auto f = [](const Weights<Value>& a) { return stack({tanh(sum(a.w)) * a.b, exp(a.w[0] * a.b)}); };
  const std::vector<double> w{0.3, -0.4};
  const double b = 0.7, step = 1e-6;
  const Weights<Array> at{F64(w), Array(ctx, b)};
  const auto forward = jacfwd(f)(at), reverse = jacrev(f)(at);
  const auto run = jit(f);
  for (size_t i = 0; i < 3; ++i) {
    auto shifted = [&](double d) {
      std::vector<double> v = w;
      if (i < 2) v[i] += d;
      return run(Weights<Array>{F64(v), Array(ctx, i == 2 ? b + d : b)}).to_vector<double>();
    };
    const std::vector<double> up = shifted(step), down = shifted(-step);
    for (size_t o = 0; o < 2; ++o) {
      const double want = (up[o] - down[o]) / (2 * step);
      auto at_i = [&](const Weights<Array>& j) {
        return i < 2 ? j.w.to_vector<double>()[2 * o + i] : j.b.to_vector<double>()[o];
      };
      EXPECT_NEAR(at_i(forward), want, 1e-8);
      EXPECT_NEAR(at_i(reverse), want, 1e-8);
    }
  }
}

TEST_F(Jacobian, MixedDTypesEmptyLeavesAndNumbers) {
  auto f = [](Value x, Value y) { return std::pair(x * 2, astype(x, DType::kF64) * y); };
  const auto [single, both] = jacrev<0, 1>(f)(Num(3), Array(ctx, 5.0));
  EXPECT_EQ(std::get<0>(single).item<float>(), 2);
  EXPECT_EQ(std::get<1>(both).item<double>(), 3);
  EXPECT_EQ(std::get<0>(both).item<float>(), 5);
  const Array none = jacfwd([](Value x) { return x * x; })(Array(ctx, Floats{}));
  EXPECT_EQ(ShapeOfArray(none), (Shape{0, 0}));
  EXPECT_EQ(ShapeOfArray(jacrev([](Value x) { return stack({sum(x), sum(x)}); })(Array(ctx, Floats{}))), (Shape{2, 0}));
  EXPECT_EQ(jacfwd<1>([](Value x, Value y) { return x * y; })(Num(3), 2.0).item<float>(), 3);
}

TEST_F(Jacobian, Errors) {
  EXPECT_ERROR_HERE(
      jacfwd([](Value x) { return x; })(Array(ctx, {1, 2})),
      "jacfwd: leaf 0 of argument 0 is i32[2], which has no derivative; convert it with astype, or choose "
      "other arguments as in jacfwd<1>(f)");
  EXPECT_ERROR_HERE(jacrev([](Value x) { return std::pair(x, x > 1); })(Vec({1, 2})),
                    "jacrev: result 1 of the function is bool[2]; it must be floating");
}

}  // namespace
}  // namespace ricci::testing
