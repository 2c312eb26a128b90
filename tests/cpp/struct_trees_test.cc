// Structs as trees: many members, base classes, classes whose owner lists their members, and pending Values read as
// Arrays are.
#include "binding_fixture.h"

namespace ricci::testing { namespace {

// 17, 20 and 64 members, the last of which shows whether all were taken in order.
template <typename T>
struct Seventeen {
  T a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
template <typename T>
struct Twenty {
  T a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r;
  Weights<T> s;
  int t;
};
template <typename T>
struct SixtyFour {
  T a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7, c0, c1, c2, c3, c4, c5, c6, c7, d0, d1, d2, d3, d4,
      d5, d6, d7, e0, e1, e2, e3, e4, e5, e6, e7, f0, f1, f2, f3, f4, f5, f6, f7, g0, g1, g2, g3, g4, g5, g6, g7, h0,
      h1, h2, h3, h4, h5, h6, h7;
};

template <typename T>
struct Body {
  T mass, drag;
};
template <typename T>
struct Rocket : Body<T> {
  T fuel;
  int stages = 1;
};
// A class with private members, and one that is not a template over its leaf alone.
template <typename T>
class Layer {
 public:
  Layer() = default;
  Layer(T weights, T bias) : weights_(std::move(weights)), bias_(std::move(bias)) {}
  const T& weights() const { return weights_; }
  const T& bias() const { return bias_; }

 private:
  template <typename>
  friend struct ricci::TreeMembers;
  T weights_, bias_;
};
template <int kRank, typename T>
struct Field {
  Field() = default;
  explicit Field(T v) : values(std::move(v)) {}
  T values;
};

}  // namespace
}  // namespace ricci::testing

template <typename T>
struct ricci::TreeMembers<ricci::testing::Rocket<T>> {
  static auto of(auto& r) { return std::tie(r.mass, r.drag, r.fuel, r.stages); }
};
template <typename T>
struct ricci::TreeMembers<ricci::testing::Layer<T>> {
  static auto of(auto& layer) { return std::tie(layer.weights_, layer.bias_); }
};
template <int kRank, typename T>
struct ricci::TreeMembers<ricci::testing::Field<kRank, T>> {
  template <typename To>
  using rebind = ricci::testing::Field<kRank, Rebind<T, To>>;
  static auto of(auto& field) { return std::tie(field.values); }
};

namespace ricci::testing { namespace {

class StructTrees : public BindingTest {
 protected:
  // A tree of the numbers 1, 2, ...
  template <template <typename> class Tree>
  Tree<Array> Numbered() {
    Tree<Array> tree{};
    float next = 0;
    auto fill = [&](Array& leaf) { leaf = Num(++next); };
    ForEachLeaf(tree, fill);
    return tree;
  }
  // Squares of all leaves, in a tree of the same kind.
  template <template <typename> class Tree>
  void ExpectSquares(size_t n) {
    const Tree<Array> tree = Numbered<Tree>();
    const Tree<Array> squares =
        jit([](const Tree<Value>& t) { return tree_map([](Value x) { return x * x; }, t); })(tree);
    const std::vector<Array> leaves = LeavesOf<Array>(squares);
    ASSERT_EQ(leaves.size(), n);
    for (size_t i = 0; i < n; ++i) EXPECT_EQ(leaves[i].item<float>(), static_cast<float>((i + 1) * (i + 1))) << i;
  }
};

TEST_F(StructTrees, HaveUpTo64Members) {
  ExpectSquares<Seventeen>(17);
  ExpectSquares<Twenty>(20);
  ExpectSquares<SixtyFour>(64);
  EXPECT_EQ(Numbered<SixtyFour>().h7.item<float>(), 64);
  Twenty<Array> tree = Numbered<Twenty>();
  tree.t = 5;
  const Twenty<Array> out = grad([](const Twenty<Value>& v) { return v.s.b * v.a * v.t; })(tree);
  EXPECT_EQ(out.a.item<float>(), 100);
  EXPECT_EQ(out.s.b.item<float>(), 5);
  EXPECT_EQ(out.t, 5);
}

TEST_F(StructTrees, HaveBaseClassesIfTheirMembersAreListed) {
  Rocket<Array> rocket;
  rocket.mass = Num(2);
  rocket.drag = Num(3);
  rocket.fuel = Num(5);
  rocket.stages = 3;
  const auto f = [](const Rocket<Value>& r) { return r.mass * r.drag * r.fuel * r.stages; };
  EXPECT_EQ(jit(f)(rocket).item<float>(), 90);
  const Rocket<Array> slope = grad(f)(rocket);
  EXPECT_EQ(slope.mass.item<float>(), 45);
  EXPECT_EQ(slope.fuel.item<float>(), 18);
  EXPECT_EQ(slope.stages, 3);
  int traced = 0;
  const auto counted = jit([&](const Rocket<Value>& r) {
    ++traced;
    return r.fuel;
  });
  counted(rocket);
  rocket.stages = 4;  // a part of the structure
  counted(rocket);
  counted(rocket);
  EXPECT_EQ(traced, 2);
}

TEST_F(StructTrees, OfClassesWithPrivateMembers) {
  const Layer<Array> layer(Vec({1, 2}), Vec({3, 4}));
  const auto f = [](const Layer<Value>& l, Value x) { return sum(l.weights() * x + l.bias() * l.bias()); };
  const Layer<Array> slope = grad(f)(layer, Vec({5, 6}));
  ExpectClose(slope.weights(), {5, 6});
  ExpectClose(slope.bias(), {6, 8});
  const std::vector<Layer<Array>> layers{layer, layer};
  const auto next =
      jit([](const std::vector<Layer<Value>>& all) { return tree_map([](Value p) { return p * 2; }, all); })(layers);
  ExpectClose(next[1].bias(), {6, 8});
}

TEST_F(StructTrees, OfClassesWithAnotherKindOfParameter) {
  const Field<3, Array> field(Vec({1, 2}));
  const Field<3, Array> out = jit([](const Field<3, Value>& f) { return Field<3, Value>(f.values * 2); })(field);
  ExpectClose(out.values, {2, 4});
  const Field<3, Array> mapped = vmap([](const Field<3, Value>& f) { return Field<3, Value>(-f.values); })(field);
  ExpectClose(mapped.values, {-1, -2});
  const auto total =
      scan([](const Field<3, Value>& c, Value x) { return std::pair(Field<3, Value>(c.values + x), None{}); },
           Field<3, Value>(sum(Vec({0}))), Vec({1, 2, 3}) * 1)
          .first;
  ExpectClose(total.values, {6});
}

TEST_F(StructTrees, WhatAutoTakesIsReadAsAnArray) {
  const Array x = Vec({0, 1, 2});
  auto y = x * 2 + 1;
  auto z = exp(x - x);
  EXPECT_EQ(y.to_vector<float>(), (Floats{1, 3, 5}));
  EXPECT_EQ((y + z).to_vector<float>(), (Floats{2, 4, 6}));
  EXPECT_EQ(sum(y).item<float>(), 9);
  EXPECT_TRUE((sum(y) > 8).item<bool>());
  for (auto v : {y, z}) EXPECT_EQ(v.dim(0), 3);
  EXPECT_EQ(MessageOf([&] { jit([](Value v) { return v.item<float>() > 0 ? v : -v; })(x); }).find("no error"),
            std::string::npos);
  EXPECT_ERROR_HERE(y.item<int32_t>(), "array: its elements are f32, not i32");
}

}  // namespace
}  // namespace ricci::testing
