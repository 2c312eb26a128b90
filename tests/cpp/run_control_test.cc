// Runs that are cancelled, that pass their deadline, whose steps are collected; equations that make a NaN.
#include <thread>

#include "binding_fixture.h"

namespace ricci::testing { namespace {

class RunControl : public BindingTest {
 protected:
  // Runs until it is ended: 1 stays 1.
  static Value Endless(Value x) {
    return while_loop([](Value v) { return v > 0; }, [](Value v) { return sin(v) * 0 + 1; }, x);
  }
  template <typename F>
  static uint32_t CodeOf(F&& f) {
    try {
      f();
    } catch (const Error& e) {
      return e.code();
    }
    return 0;
  }
};

TEST_F(RunControl, AStopEndsRunsAndTheNextOnesUntilItIsCleared) {
  for (const Device device : ctx.devices()) {
    Stop stop;
    const auto f = jit(Endless, {.device = device, .run = {.stop = stop}});
    std::thread other([copy = stop] { copy.request(); });
    EXPECT_EQ(CodeOf([&] { f(Num(1)).block_until_ready(); }), RICCI_CANCELLED) << device.kind();
    other.join();
    EXPECT_TRUE(stop.requested());
    EXPECT_EQ(CodeOf([&] { f(Num(1)).block_until_ready(); }), RICCI_CANCELLED);
    stop.clear();
    EXPECT_EQ(f(Num(-1)).item<float>(), -1);
  }
}

TEST_F(RunControl, ADeadlineEndsRunsThatBeginAfterIt) {
  for (const Device device : ctx.devices()) {
    Stop stop;
    const auto f = jit(Endless, {.device = device, .run = {.stop = stop}});
    f.lower(Num(1));
    for (double seconds : {0.02, 0.0, -1.0}) {
      stop.set_deadline(seconds);
      EXPECT_EQ(CodeOf([&] { f(Num(1)).block_until_ready(); }), RICCI_DEADLINE_EXCEEDED) << device.kind();
    }
    for (double seconds : {60.0, 1e300, HUGE_VAL, static_cast<double>(NAN)}) {
      stop.set_deadline(seconds);
      EXPECT_EQ(f(Num(-1)).item<float>(), -1) << seconds;
    }
  }
}

TEST_F(RunControl, AProfileHasTheStepsOfItsRuns) {
  Profile profile;
  const auto f = jit([](Value x) { return sort(sin(x)); }, {.run = {.profile = profile}});
  const Array x = Count({1000});
  f(x).block_until_ready();
  const std::vector<ProfiledStep> steps = profile.steps();
  ASSERT_FALSE(steps.empty());
  for (const ProfiledStep& s : steps) {
    EXPECT_FALSE(s.name.empty());
    EXPECT_LE(s.begin_ns, s.end_ns);
    EXPECT_GE(s.seconds(), 0);
  }
  EXPECT_NE(steps[0].file.find("run_control_test.cc"), std::string::npos) << steps[0].file;
  f(x).block_until_ready();
  EXPECT_GT(profile.steps().size(), steps.size());
  profile.clear();
  EXPECT_TRUE(profile.steps().empty());
}

TEST_F(RunControl, ExecutablesTakeTheSameOptions) {
  const Program program = make_program(Endless, Num(1));
  const Executable x = Executable::compile(program, {.profiled = true});
  const RunOptions options{.stop = Stop(), .profile = Profile()};
  const Array one = Num(1), minus = Num(-1);
  const auto run = [&](const Array& a, const RunOptions& o) {
    ricci_array* in[] = {a.handle()};
    ricci_array* out[] = {nullptr};
    x.run(in, out, o);
    return Array(ctx.handle(), out[0]);
  };
  EXPECT_EQ(run(minus, options).item<float>(), -1);
  options.stop->request();
  EXPECT_EQ(CodeOf([&] { run(one, options); }), RICCI_CANCELLED);
  const Executable plain = Executable::compile(program);
  ricci_array* in[] = {minus.handle()};
  ricci_array* out[] = {nullptr};
  EXPECT_EQ(CodeOf([&] { plain.run(in, out, {.profile = Profile()}); }), RICCI_FAILED_PRECONDITION);
}

TEST_F(RunControl, AnEquationThatMakesANanIsNamed) {
  const auto f = jit([](Value x) { return log(x - 1) * 2; });
  f.check_finite(Vec({2, 3}));
  const std::string message = MessageOf([&] { f.check_finite(Vec({2, 0.5f})); });
  EXPECT_NE(message.find("log"), std::string::npos) << message;
  EXPECT_NE(message.find("run_control_test.cc"), std::string::npos) << message;
  EXPECT_EQ(CodeOf([&] { f.check_finite(Vec({2, 0.5f}) * 1); }), RICCI_OUT_OF_RANGE);  // pending
  const Array hidden = Vec({0, 1});
  const auto g = jit(grad([&](Value x) { return sum(sqrt(x * hidden)); }));
  EXPECT_EQ(CodeOf([&] { g.check_finite(Vec({1, 1})); }), RICCI_OUT_OF_RANGE);
}

}  // namespace
}  // namespace ricci::testing
