// jit: cache, captures, static values, donation; trees as arguments and results; what a function traces to.
#include <stdlib.h>

#include <filesystem>
#include <map>

#include "binding_fixture.h"

namespace ricci::testing { namespace {

using JitTest = BindingTest;

template <typename T>
struct Layer {
  T w, b;
};
template <typename T>
struct Net {
  std::vector<Layer<T>> layers;
  std::map<std::string, T> named;
  std::array<T, 2> pair;
  std::optional<T> maybe;
  int depth = 0;
};

TEST_F(JitTest, CompilesOncePerKindOfArgument) {
  int traced = 0;
  const auto f = jit([&](Value x, Static<int> n) {
    ++traced;
    return x * n.value;
  });
  ExpectClose(f(Vec({1, 2}), Static<int>{3}), {3, 6});
  ExpectClose(f(Vec({2, 2}), Static<int>{3}), {6, 6});
  EXPECT_EQ(traced, 1);
  ExpectClose(f(Vec({1, 2}), Static<int>{4}), {4, 8});
  ExpectClose(f(Vec({1}), Static<int>{4}), {4});
  EXPECT_EQ(traced, 3);
  EXPECT_EQ(f.cache_size(), 3u);
}

#ifdef RICCI_TEST_CPU
TEST_F(JitTest, AnotherContextFindsTheExecutableThatIsKept) {
  std::string folder = ::testing::TempDir() + "ricci-jit-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  for (const uint64_t found : {0u, 1u}) {
    Context c;
    c.config("cache_dir", folder);
    const auto f = jit([](Value x) { return sin(x) * x; });
    ExpectClose(f(Array(c, Floats{1, 2})), {std::sin(1.0f), 2 * std::sin(2.0f)});
    EXPECT_EQ(c.cache_stats().executable_hits, found);
    EXPECT_EQ(c.cache_stats().executable_stores, 1 - found);
  }
  std::filesystem::remove_all(folder);
}
#endif

enum class Activation { kTanh, kRelu };

TEST_F(JitTest, EnumsAndTextsAreStatic) {
  const auto f = jit([](Value x, Activation kind, const std::string& scale) {
    const Value y = kind == Activation::kTanh ? tanh(x) : maximum(x, 0);
    return scale == "double" ? y * 2 : y;
  });
  const std::string none, twice = "double";
  ExpectClose(f(Vec({-1, 2}), Activation::kRelu, none), {0, 2});
  ExpectClose(f(Vec({-1, 2}), Activation::kRelu, twice), {0, 4});
  ExpectClose(f(Vec({0}), Activation::kTanh, twice), {0});
  ExpectClose(f(Vec({3, 4}), Activation::kRelu, twice), {6, 8});
  EXPECT_EQ(f.cache_size(), 3u);
}

TEST_F(JitTest, CapturedArraysAreOperands) {
  const Array w = Vec({1, 2, 3});
  const auto g = jit([w](Value x) { return vmap([&](Value v) { return sum(v * w) + max(v - w); })(x); });
  ExpectClose(g(Count({2, 3})), {14 + 0, 32 + 3});
  EXPECT_EQ(g.lower(Count({2, 3})).program.params().size(), 2u);
}

TEST_F(JitTest, TreesOfEveryKind) {
  Net<Array> net{{{Vec({1}), Vec({2})}, {Vec({3}), Vec({4})}},
                 {{"a", Vec({5})}, {"b", Vec({6})}},
                 {Vec({7}), Vec({8})},
                 Vec({9}),
                 3};
  const auto f = jit([](const Net<Value>& n, std::tuple<Value, None> t) {
    Net<Value> out = n;
    out.layers[1].w = n.layers[0].w + n.named.at("b") * n.depth + std::get<0>(t);
    out.maybe.reset();
    return out;
  });
  const Net<Array> out = f(net, std::tuple(Vec({100}), None{}));
  ExpectClose(out.layers[1].w, {119});
  ExpectClose(out.pair[1], {8});
  ExpectClose(out.named.at("a"), {5});
  EXPECT_FALSE(out.maybe.has_value());
  EXPECT_EQ(out.depth, 3);
  // For another structure it traces again.
  const auto g = jit([](const Net<Value>& n) { return n.maybe.value_or(n.pair[0]); });
  ExpectClose(g(net), {9});
  net.maybe.reset();
  net.layers.pop_back();
  ExpectClose(g(net), {7});
  EXPECT_EQ(g.cache_size(), 2u);
}

TEST_F(JitTest, NumbersAreTracedArguments) {
  const auto f = jit([](Value x, Value s) { return x * s; });
  ExpectClose(f(Vec({1, 2}), 3.0), {3, 6});
  ExpectClose(f(Vec({1, 2}), 4.0), {4, 8});
  EXPECT_EQ(f.cache_size(), 1u);
  const auto alone = jit([](Value s) { return s + 1; }, {.context = ctx});
  EXPECT_EQ(alone(3).item<int32_t>(), 4);
}

TEST_F(JitTest, DonatedArgumentsAreUsedUp) {
  const auto f = jit([](Value x) { return x + 1; }, {.donate_argnums = {0}});
  Array x = Vec({1, 2});
  ExpectClose(f(x), {2, 3});
  EXPECT_EQ(x.data(), nullptr);
}

TEST_F(JitTest, RunsOnTheReferenceDevice) {
  const auto f = jit([](Value x) { return sin(x); }, {.device = ctx.device("ref")});
  const float one = 1;
  ExpectClose(f(Array(ctx.device("ref"), ctx, DType::kF32, {}, &one)), {std::sin(1.0f)});
  EXPECT_EQ(MessageOf([&] { ctx.device("tpu"); }), "context: no device of kind tpu");
}

TEST_F(JitTest, RunsWhereItsArraysAreCommitted) {
  const auto f = jit([](Value x) { return sin(x); });
  const float one = 1;
  for (const char* kind : {"ref", "cpu", "ref"}) {
    const Array y = f(Array(ctx.device(kind), ctx, DType::kF32, {}, &one));
    EXPECT_EQ(y.device().kind(), kind);
    ExpectClose(y, {std::sin(1.0f)});
  }
  EXPECT_EQ(f.cache_size(), 2);
  const auto g = jit([](Value x, Value y) { return x + y; });
  const Array free = Vec({1, 2}), held = device_put(free, ctx.device("ref"));
  EXPECT_FALSE(free.is_committed());
  EXPECT_TRUE(held.is_committed());
  const Array both = g(free, held), none = g(free, free);
  EXPECT_EQ(both.device().kind(), "ref") << "an array that is not committed follows";
  EXPECT_TRUE(both.is_committed());
  EXPECT_EQ(none.device(), ctx.device());
  EXPECT_FALSE(none.is_committed());
  ExpectClose(both.block_until_ready(), {2, 4});
  EXPECT_TRUE(both.is_ready());
  const Array elsewhere = device_put(free, ctx.device("cpu"));
  const std::string two = MessageOf([&] { g(held, elsewhere); });
  EXPECT_NE(two.find("argument 1 of program jit is committed to device cpu, not ref; copy it there"), two.npos) << two;
}

TEST_F(JitTest, Devices) {
  EXPECT_EQ(ctx.devices().size(), 2u);
  EXPECT_EQ(ctx.devices()[0], ctx.device());
  EXPECT_EQ(ctx.devices()[1].kind(), "ref");
  EXPECT_EQ(ctx.device("cpu", 0).ordinal(), 0);
  EXPECT_EQ(MessageOf([&] { ctx.device("cpu", 1); }), "context: no device of kind cpu with ordinal 1");
}

TEST_F(JitTest, ProgramsAndShapes) {
  const Program p = make_program([](Value x) { return x * 2.0 + 1; }, Vec({1, 2}));
  EXPECT_EQ(p.text(),
            "program make_program(%0: f32[2]) {\n  %1: f32[2] = constant 2.0\n  %2: f32[2] = mul(%0, %1)\n"
            "  %3: f32[2] = constant 1.0\n  %4: f32[2] = add(%2, %3)\n  return %4\n}\n");
  const auto [a, b] = eval_shape([](Value x) { return std::pair(sum(x), x > 0); }, Count({2, 3}));
  EXPECT_EQ(a, (ShapeDType{{}, DType::kF32}));
  EXPECT_EQ(b, (ShapeDType{{2, 3}, DType::kBool}));
}

TEST_F(JitTest, ArraysCheckWhatIsAsked) {
  EXPECT_ERROR_HERE(Vec({1}).item<double>(), "array: its elements are f32, not f64");
  EXPECT_ERROR_HERE((Vec({1, 2}).item<float>()), "array: item() needs one element, not f32[2]");
  EXPECT_ERROR_HERE((Array(ctx, Floats{1, 2}, {3})), "array: 2 elements do not fill shape [3]");
  EXPECT_EQ(Array(ctx, std::vector<bool>{true, false}).to_vector<bool>(), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace ricci::testing
