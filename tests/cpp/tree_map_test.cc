// tree_map, LeavesOf and Fill on trees of every kind, inside and outside of a trace.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

using TreeMap = BindingTest;

Model<Array> SomeModel(const Context& ctx, float scale) {
  const auto num = [&](float v) { return Array(ctx, v * scale); };
  return {{num(1), num(2)}, {{num(3), num(4)}, {num(5), num(6)}}, {{"a", num(7)}, {"b", num(8)}}, 5};
}

TEST_F(TreeMap, UpdatesParameters) {
  const auto step = jit([](const Model<Value>& m, const Model<Value>& g) {
    return tree_map([](Value p, Value d) { return p - 0.5 * d; }, m, g);
  });
  const Model<Array> next = step(SomeModel(ctx, 1), SomeModel(ctx, 4));
  EXPECT_EQ(next.depth, 5);
  const std::vector<Array> leaves = LeavesOf<Array>(next);
  ASSERT_EQ(leaves.size(), 8u);
  for (size_t i = 0; i < leaves.size(); ++i) EXPECT_EQ(leaves[i].item<float>(), -static_cast<float>(i + 1));
}

TEST_F(TreeMap, OneTwoThreeAndMoreTrees) {
  const Weights<Array> w{Num(1), Num(2)};
  const auto f = jit([](const Weights<Value>& a) {
    return std::tuple(tree_map([](Value x) { return x * 2; }, a),
                      tree_map([](Value x, Value y, Value z) { return x + y * z; }, a, a, a),
                      tree_map([](Value x, Value y, Value z, Value u) { return x + y + z + u; }, a, a, a, a));
  });
  const auto [doubled, three, four] = f(w);
  EXPECT_EQ(doubled.b.item<float>(), 4);
  EXPECT_EQ(three.b.item<float>(), 6);
  EXPECT_EQ(four.b.item<float>(), 8);
}

TEST_F(TreeMap, OtherTypesOfLeaves) {
  // Shapes of Arrays, Arrays captured together with Values, numbers.
  const Weights<Array> w{Vec({1, 2}), Num(3)};
  const Weights<ShapeDType> shapes = tree_map([](const Array& a) { return ShapeDType{ShapeOfArray(a), a.dtype()}; }, w);
  EXPECT_EQ(shapes.w, (ShapeDType{{2}, DType::kF32}));
  const Weights<int64_t> ranks = tree_map([](const Array& a) { return a.rank(); }, w);
  EXPECT_EQ(ranks.w, 1);
  EXPECT_EQ(ranks.b, 0);
  const auto f =
      jit([&](const Weights<Value>& v) { return tree_map([](Value x, const Array& a) { return x + a; }, v, w); });
  ExpectClose(f(w).w, {2, 4});
}

TEST_F(TreeMap, LeavesOfAndFillAreInverse) {
  const Model<Array> m = SomeModel(ctx, 1);
  std::vector<Array> leaves = LeavesOf<Array>(m);
  std::reverse(leaves.begin(), leaves.end());
  const Model<Array> back = Fill<Array>(m, leaves);
  EXPECT_EQ(back.first.w.item<float>(), 8);
  EXPECT_EQ(back.named.at("b").item<float>(), 1);
  EXPECT_EQ(back.depth, 5);
}

TEST_F(TreeMap, Reductions) {
  const Model<Array> m = SomeModel(ctx, 1);  // leaves 1 to 8
  EXPECT_EQ(Array(tree_sum(m)).item<float>(), 36);
  EXPECT_EQ(Array(tree_vdot(m, m)).item<float>(), 204);
  EXPECT_FLOAT_EQ(Array(tree_norm(m)).item<float>(), std::sqrt(204.0F));
  EXPECT_EQ(tree_leaves(m).size(), 8u);
  const auto top = [](Value a, Value b) { return maximum(a, b); };
  const auto f = jit([&](const Model<Value>& v) {
    return std::tuple(tree_reduce(top, v), tree_reduce(top, v, 10.0), tree_sum(v), ravel_pytree(v).first);
  });
  const auto [largest, ten, sum, flat] = f(m);
  EXPECT_EQ(largest.item<float>(), 8);
  EXPECT_EQ(ten.item<float>(), 10);
  EXPECT_EQ(sum.item<float>(), 36);
  ExpectClose(flat, {1, 2, 3, 4, 5, 6, 7, 8});
  const Model<Array> g = grad([](const Model<Value>& v) { return tree_vdot(v, v); })(m);
  EXPECT_EQ(g.named.at("b").item<float>(), 16);
  const std::vector<Array> complex{Array(ctx, std::complex<float>(3, 4))};
  EXPECT_EQ(Array(tree_norm(complex)).item<float>(), 5);
  EXPECT_EQ(Array(tree_vdot(complex, complex)).item<std::complex<float>>(), std::complex<float>(25, 0));
}

TEST_F(TreeMap, ReductionsNeedLeavesOfOneStructure) {
  const std::vector<Array> none, one{Num(1)};
  const std::vector<Value> empty;
  const auto top = [](Value a, Value b) { return maximum(a, b); };
  EXPECT_ERROR_HERE(tree_sum(none), "tree_sum: the tree has no leaves");
  EXPECT_ERROR_HERE(tree_vdot(none, none), "tree_vdot: the tree has no leaves");
  EXPECT_ERROR_HERE(tree_norm(none), "tree_norm: the tree has no leaves");
  EXPECT_ERROR_HERE(tree_reduce(top, empty), "tree_reduce: the tree has no leaves");
  EXPECT_ERROR_HERE(tree_reduce(top, empty, 1.0), "tree_reduce: the tree has no leaves");
  EXPECT_ERROR_HERE(tree_vdot(one, none), "tree_vdot: tree 1 differs from tree 0 in its sizes, keys or numbers");
}

TEST_F(TreeMap, OtherStructuresAreAnError) {
  using List = std::vector<Array>;
  const auto add = [](const Array&, const Array&) { return 0; };
  EXPECT_ERROR_HERE(tree_map(add, List{Num(1)}, List{Num(1), Num(2)}),
                    "tree_map: tree 1 differs from tree 0 in its sizes, keys or numbers");
  Model<Array> other = SomeModel(ctx, 1);
  other.depth = 6;
  EXPECT_ERROR_HERE(tree_map(add, SomeModel(ctx, 1), other),
                    "tree_map: tree 1 differs from tree 0 in its sizes, keys or numbers");
}

}  // namespace
}  // namespace ricci::testing
