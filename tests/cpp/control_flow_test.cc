// scan, while_loop, fori_loop, cond and switch_ with captures, and their messages for wrong bodies.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using ControlFlow = BindingTest;

template <typename T>
struct State {
  T position, speed;
};

TEST_F(ControlFlow, ScanCarriesStructsAndStacks) {
  const auto f = jit([](const State<Value>& s, Value forces) {
    const Value friction = s.speed * 0.0 + 0.5;
    return scan(
        [&](const State<Value>& s, Value force) {
          const State<Value> next{s.position + s.speed, s.speed * friction + force};
          return std::pair(next, next.position);
        },
        s, forces);
  });
  const auto [last, path] = f(State<Array>{Array(ctx, 0.0f), Array(ctx, 4.0f)}, Vec({0, 1, 0}));
  ExpectClose(path, {4, 6, 8});
  ExpectClose(last.speed, {1});
}

TEST_F(ControlFlow, ScanReverseLengthAndUnroll) {
  const Array x = Vec({1, 2, 3});
  auto sums = [](ScanOptions o) {
    return jit(
        [o](Value v) { return scan([](Value c, Value e) { return std::pair(c + e, c + e); }, v[0] * 0, v, o).second; });
  };
  ExpectClose(sums({})(x), {1, 3, 6});
  ExpectClose(sums({.reverse = true})(x), {6, 5, 3});
  ExpectClose(sums({.unroll = 2})(x), {1, 3, 6});
}

TEST_F(ControlFlow, WhileAndFori) {
  const auto f = jit([](Value x, Value limit) {
    return while_loop([&](Value v) { return v < limit; }, [&](Value v) { return v * x; }, x);
  });
  EXPECT_EQ(f(Array(ctx, 2.0f), Array(ctx, 20.0f)).item<float>(), 32);
  const auto g = jit([](Value x, Value n) {
    auto step = [&](Value i, Value a) { return a * x + i; };
    return std::pair(fori_loop(0, 3, step, x), fori_loop(n * 0, n, step, x));
  });
  const auto [a, b] = g(Array(ctx, 2.0f), Array(ctx, 3));
  EXPECT_EQ(a.item<float>(), 20);
  EXPECT_EQ(b.item<float>(), 20);
  auto power = [](Value x) {
    return fori_loop(
        0, 3, [&](Value, Value a) { return a * x; }, x);
  };
  EXPECT_EQ(grad(power)(Array(ctx, 2.0f)).item<float>(), 32);
}

TEST_F(ControlFlow, BoundedWhileInReverse) {
  auto f = [](Value x) {
    return while_loop([](Value v) { return v < 20; }, [&](Value v) { return v * x; }, x, {.max_trips = 8});
  };
  const Array two(ctx, 2.0f);
  EXPECT_EQ(jit(f)(two).item<float>(), 32);
  EXPECT_EQ(grad(f)(two).item<float>(), 80);  // x^5
  const Array small(ctx, 1.01f);
  EXPECT_ERROR_HERE(
      jit([](Value x) { return while_loop([](Value v) { return v < 20; }, [&](Value v) { return v * x; }, x, {9}); })(
          small),
      "while: the condition still holds after 9 trips, the given bound; raise max_trips, or end the loop earlier");
  EXPECT_NE(MessageOf([&] { grad(f)(small); }).find("while: the condition still holds after 8 trips"),
            std::string::npos);
  EXPECT_EQ(grad(f)(two).item<float>(), 80);
}

TEST_F(ControlFlow, BranchesCapture) {
  const auto f = [](Value x, Value y) {
    return cond(
        sum(x) > 0, [&](Value v) { return v * y; }, [&](Value v) { return v - x; }, x);
  };
  ExpectClose(jit(f)(Vec({1, 2}), Vec({3, 4})), {3, 8});
  ExpectClose(jit(f)(Vec({-1, -2}), Vec({3, 4})), {0, 0});
  ExpectClose(vmap(f)(Mat(2, 1, {1, -2}), Mat(2, 1, {3, 4})), {3, 0});
  ExpectClose(grad([&](Value x, Value y) { return sum(f(x, y)); })(Vec({1, 2}), Vec({3, 4})), {3, 4});
  const auto g = jit([](Value i, Value x) {
    return switch_(i, std::tuple{[](Value v) { return v; }, [&](Value v) { return v * x; }, [](Value v) { return -v; }},
                   x);
  });
  const Array three = Vec({3});
  ExpectClose(g(Array(ctx, 1), three), {9});
  ExpectClose(g(Array(ctx, 7), three), {-3});
}

TEST_F(ControlFlow, Errors) {
  const Array x = Vec({1, 2});
  EXPECT_ERROR_HERE(
      jit([](Value v) { return scan([](Value c, Value e) { return std::pair(reshape(c, {1}), e); }, v[0], v); })(x),
      "scan: leaf 0 of the carry enters as f32[] and ends as f32[1]");
  EXPECT_ERROR_HERE(jit([](Value v) { return scan([](Value c, None) { return std::pair(c, None{}); }, v, None{}); })(x),
                    "scan: without inputs it needs a length");
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return cond(
                          v > 0, [](Value a) { return a; }, [](Value a) { return a; }, v);
                    })(x),
                    "cond: the predicate is bool[2], not a scalar");
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return cond(
                          v[0] > 0, [](Value a) { return a; }, [](Value a) { return a[0]; }, v);
                    })(x),
                    "cond: result 0 of the false branch is f32[] and of the true branch f32[2]");
}

}  // namespace
}  // namespace ricci::testing
