// pure_callback, io_callback, debug_callback and debug_print in C++: types, exceptions, jit, vmap and custom rules.
#include "ricci/callbacks.hpp"

#include "binding_fixture.h"

namespace ricci::testing { namespace {

using CallbacksInCpp = BindingTest;

// Twice operand 0, as often as the result wants it.
void Double(std::span<const HostOperand> in, std::span<const HostResult> out) {
  const auto x = in[0].as<float>();
  const auto y = out[0].as<float>();
  for (size_t i = 0; i < y.size(); ++i) y[i] = 2 * x[i % x.size()];
}

TEST_F(CallbacksInCpp, PureCallbackGivesWhatTheFunctionWrites) {
  const auto f = [](Value x) { return pure_callback(Double, {{2}, DType::kF32}, {x}) + 1; };
  ExpectClose(jit(f)(Vec({1, 2})), {3, 5});
  const auto each = [](Value x) {
    return pure_callback(Double, ShapeDType{{}, DType::kF32}, {x, 7}, {.vmap_method = "sequential"});
  };
  ExpectClose(jit(vmap(each))(Vec({1, 2, 3})), {2, 4, 6});
  const auto known = custom_jvp(each, [&](const std::tuple<Value>& x, const std::tuple<Value>& t) {
    return std::pair(each(std::get<0>(x)), 2 * std::get<0>(t));
  });
  ExpectClose(vmap(grad(known))(Vec({1, 2})), {2, 2});
}

TEST_F(CallbacksInCpp, TypesOfOperandsAndResults) {
  std::vector<ShapeDType> seen;
  const auto f = [&](Value x, Value i) {
    const ShapeDType results[] = {{{2}, DType::kF32}, {{}, DType::kBool}};
    const Values y = io_callback(
        [&](std::span<const HostOperand> in, std::span<const HostResult> out) {
          for (const HostOperand& o : in) seen.push_back(o.type);
          for (const HostResult& o : out) seen.push_back(o.type);
          out[0].as<float>()[0] = 4, out[0].as<float>()[1] = 5;
          out[1].as<bool>()[0] = true;
        },
        results, {x, i, 1.5});
    return std::pair(y[0], y[1]);
  };
  const auto [a, b] = jit(f)(Vec({1, 2}), Array(ctx, int32_t{3}));
  ExpectClose(a, {4, 5});
  EXPECT_TRUE(b.item<bool>());
  const std::vector<ShapeDType> want = {
      {{2}, DType::kF32}, {{}, DType::kI32}, {{}, DType::kF32}, {{2}, DType::kF32}, {{}, DType::kBool}};
  EXPECT_EQ(seen, want);
}

TEST_F(CallbacksInCpp, AnExceptionIsTheErrorOfTheRun) {
  const auto f = jit([](Value x) {
    debug_callback(
        [](std::span<const HostOperand>, std::span<const HostResult>) { throw std::runtime_error("no luck"); }, {x});
    return x;
  });
  try {
    f(Vec({1, 2}));
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(std::string_view(e.what()).find("no luck"), std::string_view::npos) << e.what();
  }
}

TEST_F(CallbacksInCpp, DebugPrintTakesNumbersToo) {
  ::testing::internal::CaptureStderr();
  jit([](Value x) {
    debug_print("x = {}, and {}", {x, 2});
    return x;
  })(Vec({1, 2}));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "x = [1.0, 2.0], and 2\n");
}

TEST_F(CallbacksInCpp, NamesForPoliciesChangeNothing) {
  const auto f = checkpoint([](Value x) { return sin(checkpoint_name(sin(x), "inner")); }, "names:inner");
  const float x = 0.5f;
  EXPECT_NEAR(grad(f)(Num(x)).item<float>(), std::cos(std::sin(x)) * std::cos(x), 1e-6);
}

// sin(x) y for cos(x) y, so that results show which of them was used.
HostBatch SinTimes(int64_t size, const Values& xs, const std::vector<bool>& batched) {
  const Value y = batched[1] ? xs[1] : broadcast_to(xs[1], {size});
  return {{sin(xs[0]) * y}, {true}};
}

TEST_F(CallbacksInCpp, CustomVmapIsBatchedByItsRule) {
  const auto f = custom_vmap([](Value x, Value y) { return cos(x) * y; }, SinTimes);
  const float x = 0.5f;
  ExpectClose(jit(f)(Array(ctx, x), Array(ctx, 2.0f)), {2 * std::cos(x)});
  ExpectClose(jit(vmap(f))(Vec({x, 1}), Vec({1, 2})), {std::sin(x), 2 * std::sin(1.0f)});
  ExpectClose(jit(vmap(f, {0, kUnbatched}))(Vec({x, 1}), Array(ctx, 2.0f)), {2 * std::sin(x), 2 * std::sin(1.0f)});
  const auto total = [&](Value xs, Value ys) { return sum(vmap(f)(xs, ys)); };
  ExpectClose(jit(grad(total))(Vec({x, 1}), Vec({1, 1})), {std::cos(x), std::cos(1.0f)});
  const auto wrong = custom_vmap([](Value x) { return x; },
                                 [](int64_t, const Values&, const std::vector<bool>&) { return HostBatch{}; });
  EXPECT_NE(MessageOf([&] {
              jit(vmap(wrong))(Vec({1, 2}));
            }).find("custom_vmap: the rule gives 0 results and 0 flags; the function has 1 result"),
            std::string::npos);
  const auto captures = [](Value x, Value y) { return custom_vmap([&](Value z) { return y * z; }, SinTimes)(x); };
  EXPECT_NE(MessageOf([&] {
              jit(captures)(Vec({1, 2}), Vec({1, 2}));
            }).find("captures 1 value, which its rule would not see; make each an argument"),
            std::string::npos);
}

}}  // namespace ricci::testing
