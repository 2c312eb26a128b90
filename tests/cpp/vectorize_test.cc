// vmap: axes of arguments, of their leaves and of results; unbatched ones; trees; nesting with control flow.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using Vectorize = BindingTest;

TEST_F(Vectorize, AxesOfTreesAndResults) {
  const Weights<Array> p{Count({2, 3}), Vec({10, 20})};
  auto f = [](const Weights<Value>& p, Value s) { return std::pair(p.w * p.b + s, Weights<Value>{p.b, p.w}); };
  const auto [y, z] = vmap(f, {0, kUnbatched}, {1, {0, -1}})(p, Num(1));
  ExpectClose(y, {11, 81, 21, 101, 31, 121});
  EXPECT_EQ(ShapeOfArray(y), (Shape{3, 2}));
  ExpectClose(z.b, {1, 4, 2, 5, 3, 6});
  // One entry per leaf of an argument, and flat entries for the leaves of one result.
  auto g = [](const Weights<Value>& p) { return Weights<Value>{p.w * p.b, p.w}; };
  const auto by_leaf = vmap(g, {{1, kUnbatched}}, {{1, 0}})(Weights<Array>{Count({2, 3}), Vec({1, 10})});
  ExpectClose(by_leaf.w, {1, 2, 3, 40, 50, 60});
  ExpectClose(by_leaf.b, {1, 4, 2, 5, 3, 6});
}

TEST_F(Vectorize, OptionsByName) {
  auto f = [](Value x) { return x * 2; };
  const Array y = vmap(f, 1, {.out_axes = 1, .schedule = Schedule::kLanes})(Count({2, 3}));
  ExpectClose(y, {2, 4, 6, 8, 10, 12});
  EXPECT_EQ(ShapeOfArray(y), (Shape{2, 3}));
  // Derivatives keep it.
  auto total = [&](Value x) { return sum(vmap(f, 0, {.schedule = Schedule::kBatched})(x)); };
  const std::string text = make_program(ctx, grad(total), Count({2, 3})).text();
  EXPECT_NE(text.find("schedule=\"batched\""), std::string::npos) << text;
  EXPECT_EQ(make_program(ctx, vmap(f), Count({2, 3})).text().find("schedule"), std::string::npos);
}

TEST_F(Vectorize, UnbatchedResultsAndNumbers) {
  auto f = [](Value x, Value s) { return std::tuple(x * s, s * 2); };
  const auto [y, s] = vmap(f, {0, kUnbatched}, {0, kUnbatched})(Vec({1, 2}), 3.0);
  ExpectClose(y, {3, 6});
  EXPECT_EQ(s.rank(), 0);
  const auto repeated = std::get<1>(vmap(f, {0, kUnbatched})(Vec({1, 2}), 3.0));
  ExpectClose(repeated, {6, 6});
  EXPECT_NE(MessageOf([&] { vmap(f, {0, kUnbatched}, kUnbatched)(Vec({1, 2}), 3.0); }).find("vmap"), std::string::npos);
}

TEST_F(Vectorize, EveryContainer) {
  auto f = [](const std::vector<Value>& v, const std::map<std::string, Value>& m, const std::tuple<Value, Value>& t) {
    return v[0] * v[1] + m.at("a") - std::get<0>(t) * std::get<1>(t);
  };
  const Array x = Vec({1, 2, 3});
  ExpectClose(vmap(f)(std::vector<Array>{x, x}, std::map<std::string, Array>{{"a", x}}, std::tuple(x, x)), {1, 2, 3});
}

TEST_F(Vectorize, NestedWithControlFlow) {
  // Every lane has its own number of trips.
  auto power = [](Value x, Value n) {
    return fori_loop(
        0, n, [&](Value, Value a) { return a * x; }, ones_like(x));
  };
  ExpectClose(vmap(power)(Vec({2, 3, 5}), Array(ctx, {3, 2, 0})), {8, 9, 1});
  ExpectClose(vmap(vmap(power, {0, kUnbatched}), {kUnbatched, 0})(Vec({2, 3}), Array(ctx, {1, 2})), {2, 3, 4, 9});
  // vmap in the body of a scan, over a carry that is a struct.
  auto rows = [](const Weights<Value>& s, Value xs) {
    return scan(
        [](const Weights<Value>& c, Value x) {
          const Value w = vmap([&](Value v) { return v * x + c.b; })(c.w);
          return std::pair(Weights<Value>{w, c.b + 1}, sum(w));
        },
        s, xs);
  };
  const auto [last, sums] = jit(rows)(Weights<Array>{Vec({1, 2}), Num(0)}, Vec({2, 3}));
  ExpectClose(last.w, {7, 13});
  ExpectClose(sums, {6, 20});
  // cond in vmap in grad.
  auto pick = [](Value x) {
    return cond(
        x > 0, [](Value v) { return v * v; }, [](Value v) { return -v; }, x);
  };
  ExpectClose(grad([&](Value x) { return sum(vmap(pick)(x)); })(Vec({3, -2})), {6, -1});
  ExpectClose(vmap(grad(pick))(Vec({3, -2})), {6, -1});
  // switch_ by a batched index.
  auto choose = [](Value i, Value x) {
    return switch_(i, std::tuple{[](Value v) { return v; }, [](Value v) { return v * 10; }}, x);
  };
  ExpectClose(vmap(choose)(Array(ctx, {0, 1, 5}), Vec({1, 2, 3})), {1, 20, 30});
}

TEST_F(Vectorize, OfEveryTransform) {
  auto f = [](Value x, Value y) { return x * x * y; };
  const Array x = Vec({1, 2}), y = Vec({3, 4});
  const auto [gx, gy] = vmap(grad<0, 1>(f))(x, y);
  ExpectClose(gx, {6, 16});
  ExpectClose(gy, {1, 4});
  const auto [v, g] = vmap(value_and_grad(f))(x, y);
  ExpectClose(v, {3, 16});
  ExpectClose(vmap([&](Value a, Value b) { return jvp(f, std::tuple(a, b), std::tuple(b, a)).second; })(x, y),
              {2 * 3 * 3 + 1, 2 * 2 * 4 * 4 + 8});
  ExpectClose(vmap([&](Value a, Value b) { return linearize(f, a, b).second(b, a); })(x, y), {19, 72});
  ExpectClose(vmap(jacrev(f))(x, y), {6, 16});
  ExpectClose(vmap(hessian(f))(x, y), {6, 8});
  ExpectClose(vmap(checkpoint(f))(x, y), {3, 16});
  ExpectClose(vmap(jit(f))(x, y), {3, 16});
  ExpectClose(vmap([&](Value a) { return stop_gradient(a) * a; })(x), {1, 4});
}

TEST_F(Vectorize, Errors) {
  const Array m = Count({2, 3}), v = Vec({1, 2, 3});
  auto f = [](Value a, Value b) { return a * b; };
  auto one = [](Value a) { return a; };
  EXPECT_ERROR_HERE(vmap(one, 2)(m),
                    "vmap: in_axes of leaf 0 is 2, out of range for f32[2,3]; it must be from -2 to 1, or kUnbatched");
  EXPECT_ERROR_HERE(vmap(one, 0, 3)(m),
                    "vmap: out_axes of leaf 0 is 3, out of range for f32[3]; it must be from -2 to 1, or kUnbatched");
  EXPECT_ERROR_HERE(vmap(f)(m, v), "vmap: leaf 1 is f32[3] with size 3 along axis 0; the batch is 2");
  EXPECT_ERROR_HERE(vmap(f)(m, Num(1)),
                    "vmap: leaf 1 is f32[], which has no axis to batch; give kUnbatched as its in_axes");
  EXPECT_ERROR_HERE(vmap(f, {0, 0, 0})(m, v),
                    "vmap: in_axes has 3 entries for 2 arguments; a number without braces is for all");
  EXPECT_ERROR_HERE(vmap(f, {{0, 1}, 0})(m, v), "vmap: in_axes of argument 0 has 2 entries for 1 array");
  EXPECT_ERROR_HERE(vmap(one, 0, {0, 0})(m), "vmap: out_axes has 2 entries for 1 result");
  EXPECT_ERROR_HERE(vmap(one, kUnbatched)(m), "vmap: no argument is batched");
  // A list has one entry per argument, result or leaf, even if there is only one; a number is for all.
  EXPECT_ERROR_HERE(vmap(f, {0})(m, m),
                    "vmap: in_axes has 1 entry for 2 arguments; a number without braces is for all");
  EXPECT_EQ(vmap(f, 0)(m, m).rank(), 2);
  EXPECT_EQ(vmap(one, {0})(m).rank(), 2);
  auto two = [](Value a) { return std::tuple(a, a); };
  EXPECT_ERROR_HERE(vmap(two, 0, {0})(m), "vmap: out_axes has 1 entry for 2 results");
  auto tree = [](const Weights<Value>& w) { return w.w * w.b; };
  const ArgumentAxes list{0};
  EXPECT_ERROR_HERE(vmap(tree, {list})(Weights<Array>{m, m}), "vmap: in_axes of argument 0 has 1 entry for 2 arrays");
}

}  // namespace
}  // namespace ricci::testing
