// scan, while_loop, fori_loop, cond and switch_ with trees, numbers and keys as carries and operands; wrong bodies.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using LoopTrees = BindingTest;

TEST_F(LoopTrees, ScanOverTreesOfInputsAndOutputs) {
  const auto f = jit([](const Model<Value>& m, const Weights<Value>& xs) {
    return scan(
        [](const Model<Value>& m, const Weights<Value>& x) {
          Model<Value> next = m;
          next.first.w = m.first.w + x.w;
          for (Weights<Value>& layer : next.rest) layer.b = layer.b * x.b;
          next.named["n"] = m.named.at("n") + m.depth;
          return std::pair(next, std::tuple(next.first.w, std::vector<Value>{x.w * x.b}));
        },
        m, xs);
  });
  const Model<Array> m{{Num(0), Num(0)}, {{Num(1), Num(1)}, {Num(2), Num(2)}}, {{"n", Array(ctx, 0)}}, 5};
  const auto [last, ys] = f(m, Weights<Array>{Vec({1, 2, 3}), Vec({2, 3, 4})});
  EXPECT_EQ(last.first.w.item<float>(), 6);
  EXPECT_EQ(last.rest[1].b.item<float>(), 48);
  EXPECT_EQ(last.named.at("n").item<int32_t>(), 15);
  ExpectClose(std::get<0>(ys), {1, 3, 6});
  ExpectClose(std::get<1>(ys)[0], {2, 6, 12});
}

TEST_F(LoopTrees, NumbersAsCarryAndOutput) {
  const auto [total, ones] =
      jit([](Value v) { return scan([](Value c, Value x) { return std::pair(c + x, 1.0); }, 0.0, v); })(Vec({1, 2}));
  EXPECT_EQ(total.item<float>(), 3);
  ExpectClose(ones, {1, 1});
  EXPECT_EQ(jit([](Value n) {
              return fori_loop(
                  0, n, [](Value i, Value c) { return c + i; }, 0);
            })(Array(ctx, 5))
                .item<int32_t>(),
            10);
  EXPECT_EQ(jit([](Value n) {
              return fori_loop(
                  n, 4, [](Value, Value c) { return c * 2; }, n);
            })(Array(ctx, 1))
                .item<int32_t>(),
            8);
  const auto wide = jit([](Value n) {
    return fori_loop(
        0, n, [](Value i, Value c) { return c + i; }, n * 0);
  });
  EXPECT_EQ(wide(Array(ctx, int64_t{4})).item<int64_t>(), 6);
}

TEST_F(LoopTrees, KeysAreCarried) {
  const auto f = jit([](Value key) {
    return fori_loop(
        0, 3,
        [](Value, const std::pair<Value, Value>& s) {
          const Values k = random::split(s.first);
          return std::pair(k[0], s.second + random::uniform(k[1]));
        },
        std::pair(key, random::uniform(key) * 0));
  });
  const auto [key, total] = f(random::key(ctx, 7));
  EXPECT_EQ(key.dtype(), DType::kKey);
  EXPECT_GT(total.item<float>(), 0);
  EXPECT_LT(total.item<float>(), 3);
}

TEST_F(LoopTrees, WhileOverStructsInForwardMode) {
  auto f = [](const Weights<Value>& s) {
    return while_loop([](const Weights<Value>& c) { return c.w < 100; },
                      [](const Weights<Value>& c) {
                        return Weights<Value>{c.w * c.b, c.b};
                      },
                      s);
  };
  const Weights<Array> s{Num(1), Num(3)};
  EXPECT_EQ(jit(f)(s).w.item<float>(), 243);
  const auto [y, dy] = jvp(f, std::tuple(s), std::tuple(Weights<Array>{Num(0), Num(1)}));
  EXPECT_EQ(dy.w.item<float>(), 5 * 81);
  EXPECT_EQ(jacfwd(f)(s).w.b.item<float>(), 5 * 81);
  ExpectClose(vmap(f)(Weights<Array>{Vec({1, 1}), Vec({3, 10})}).w, {243, 100});
}

TEST_F(LoopTrees, BranchesOverTreesAndWithoutOperands) {
  auto f = [](Value flag, const Weights<Value>& a) {
    return cond(
        flag, [](const Weights<Value>& a) { return std::pair(a, std::vector<Value>{a.w}); },
        [](const Weights<Value>& a) {
          return std::pair(Weights<Value>{a.b, a.w}, std::vector<Value>{a.b});
        },
        a);
  };
  const Weights<Array> a{Num(1), Num(2)};
  EXPECT_EQ(jit(f)(Array(ctx, true), a).first.w.item<float>(), 1);
  EXPECT_EQ(jit(f)(Array(ctx, false), a).second[0].item<float>(), 2);
  auto g = [](Value x) {
    return cond(
        x > 0, [&] { return x * 2; }, [&] { return x - 1; });
  };
  ExpectClose(vmap(grad(g))(Vec({1, -1})), {2, 1});
  // Numbers are constants, and may be the predicate.
  auto h = [](Value x) {
    return cond(
        x > 0, [](Value) { return 1.0; }, [](Value) { return -1.0; }, x);
  };
  ExpectClose(vmap(h)(Vec({3, -3})), {1, -1});
  ExpectClose(jit([](Value x) {
                return cond(
                           true, [](Value v) { return v; }, [](Value v) { return -v; }, x) +
                       switch_(1, std::tuple{[](Value v) { return v * 0; }, [](Value v) { return v * 10; }}, x);
              })(Num(2)),
              {22});
}

TEST_F(LoopTrees, NestedLoops) {
  auto f = [](Value x) {  // x^(2 * 3)
    return scan(
               [&](Value c, None) {
                 return std::pair(fori_loop(
                                      0, 3, [&](Value, Value d) { return d * x; }, c),
                                  None{});
               },
               ones_like(x), None{}, {.length = 2})
        .first;
  };
  EXPECT_EQ(jit(f)(Num(2)).item<float>(), 64);
  EXPECT_EQ(grad(f)(Num(2)).item<float>(), 6 * 32);
  EXPECT_EQ(grad(grad(f))(Num(2)).item<float>(), 30 * 16);
  ExpectClose(vmap(grad(checkpoint(f)))(Vec({1, 2})), {6, 192});
}

TEST_F(LoopTrees, Errors) {
  const Array x = Vec({1, 2});
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return scan([](Value c, Value) { return std::pair(astype(c, DType::kI32), c); }, v[0], v);
                    })(x),
                    "scan: leaf 0 of the carry enters as f32[] and ends as i32[]");
  EXPECT_ERROR_HERE(
      jit([](Value v) { return scan([](Value c, Value e) { return std::pair(c + e, e); }, v[0], v[1]); })(x),
      "scan: input f32[] has no dimension to run over");
  EXPECT_ERROR_HERE(
      jit([](Value v) { return scan([](Value c, Value e) { return std::pair(c, e); }, v[0], v, {.length = 3}); })(x),
      "scan: input f32[2] has 2 slices, not 3");
  EXPECT_ERROR_HERE(jit([](Value v) { return while_loop([](Value c) { return c; }, [](Value c) { return c; }, v); })(x),
                    "while_loop: the condition gives f32[2], not a bool scalar");
  EXPECT_ERROR_HERE(
      jit([](Value v) { return while_loop([](Value c) { return all(c < 3); }, [](Value c) { return sum(c); }, v); })(x),
      "while_loop: leaf 0 of the carry enters as f32[2] and ends as f32[]");
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return fori_loop(
                          0, v, [](Value, Value c) { return c; }, v);
                    })(x),
                    "fori_loop: a bound is f32[2], not an integer scalar");
  // Messages count leaves in the user's carry, whatever the loop is made of.
  const auto grows = [](Value, const std::pair<Value, Value>& c) {
    return std::pair(c.first, astype(c.second, DType::kF64));
  };
  EXPECT_ERROR_HERE(jit([&](Value v) { return fori_loop(0, 3, grows, std::pair(v, v)); })(x),
                    "fori_loop: leaf 1 of the carry enters as f32[2] and ends as f64[2]");
  EXPECT_ERROR_HERE(jit([&](Value v) { return fori_loop(0, sum(astype(v, DType::kI32)), grows, std::pair(v, v)); })(x),
                    "fori_loop: leaf 1 of the carry enters as f32[2] and ends as f64[2]");
  const auto longer = [](Value, const std::vector<Value>& c) { return std::vector<Value>{c[0], c[0]}; };
  EXPECT_ERROR_HERE(jit([&](Value v) { return fori_loop(0, 3, longer, std::vector<Value>{v})[0]; })(x),
                    "fori_loop: the body takes a carry of 1 array and gives one of 2");
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return switch_(v[0] > 0, std::tuple([](Value a) { return a; }, [](Value a) { return sum(a); }),
                                     v);
                    })(x),
                    "switch_: the index is bool[], not an integer scalar");
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return switch_(0, std::tuple([](Value a) { return a; }, [](Value a) { return sum(a); }), v);
                    })(x),
                    "switch_: result 0 of branch 0 is f32[2] and of branch 1 f32[]");
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return cond(
                          v[0] > 0, [](Value a) { return a; }, [](Value a) { return astype(a, DType::kI32); }, v);
                    })(x),
                    "cond: result 0 of the false branch is i32[2] and of the true branch f32[2]");
  using List = std::vector<Value>;
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return cond(
                          v[0] > 0, [](Value a) { return List{a}; },
                          [](Value a) {
                            return List{a, a};
                          },
                          v);
                    })(x),
                    "cond: the false branch gives 2 results and the true branch gives 1");
  EXPECT_ERROR_HERE(jit([](Value v) {
                      return cond(
                          v[0] > 0, [](Value a) { return std::pair(a, 1); }, [](Value a) { return std::pair(a, 2); },
                          v);
                    })(x),
                    "cond: the false branch and the true branch give other sizes, keys or numbers in their trees; keep "
                    "what differs in a "
                    "Value");
  EXPECT_ERROR_HERE(
      jit([](Value v) {
        return scan([](const std::pair<Value, int>& c,
                       None) { return std::pair(std::pair(c.first, c.second + 1), None{}); },
                    std::pair(v, 0), None{}, {.length = 2})
            .first;
      })(x),
      "scan: the carry leaves with other sizes, keys or numbers in its tree than it entered with; keep what "
      "changes in a Value");
}

}  // namespace
}  // namespace ricci::testing
