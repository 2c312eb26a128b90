// Each call of the driver fails once, then for good: a status says which, nothing is lost, and what comes after is
// right.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>

#include "cuda/gpu_program.h"
#include "cuda/scaled_row.h"
#include "cuda/while_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr int kOutOfMemory = 2, kLaunchFailed = 719, kUnknown = 999;

// ---- programs ----
struct Example {
  std::string name, text;
  std::vector<Floats> args;
  bool profiled = false;
  int driver = 12080;  // its version: one of 12.0 leaves loops and branches to the host
};

Floats Ramp(size_t n) {
  Floats out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<float>((i * 37) % 101) - 50;
  return out;
}

constexpr std::string_view kKernels = R"(program f(%x: f32[8,6]) {
  %s: f32[8] = reduce_sum(%x) axes=[1]
  %t: f32[8] = sort(%s) dimension=0 is_stable=true num_keys=1
  %m: f32[6] = reduce_max(%x) axes=[0]
  return %t, %m, %x
})";
constexpr std::string_view kSource = R"(program f(%x: f32[40]) {
  %w: f64[40] = convert_element_type(%x) new_dtype=f64
  %z: f64[40] = test.scaled(%w) a=1.5
  %y: f32[40] = convert_element_type(%z) new_dtype=f32
  return %y
})";
constexpr std::string_view kCase = R"(program f(%i: i32[], %x: f32[1000]) {
  %y: f32[1000] = cond(%i, %x) branches=[program(%x: f32[1000]) {
    %y: f32[1000] = mul(%x, %x)
    return %y
  }, program(%x: f32[1000]) {
    %y: f32[1000] = rev(%x) dimensions=[0]
    %z: f32[1000] = sub(%x, %y)
    return %z
  }]
  return %y
})";

constexpr std::string_view kCalls = R"(program f(%x: f32[9]) {
  %s: f32[9] = sort(%x) dimension=0 is_stable=true num_keys=1
  %y: f32[9] = io_callback(%s) callback="ricci.copy" results="f32[9]"
  %t: f32[] = reduce_sum(%y) axes=[0]
  return %y, %t
})";

constexpr size_t kExamples = 10;

std::array<Example, kExamples> Examples() {
  ProgramRunner runner;
  const Program one = runner.Parse(R"(program f(%x: f32[9]) {
  %s: f32[9] = sort(%x) dimension=0 is_stable=true num_keys=1
  %t: f32[] = reduce_sum(%s) axes=[0]
  return %s, %t
})");
  return {
      {{"kernels and a copy", std::string(kKernels), {Ramp(48)}},
       {"source", std::string(kSource), {Ramp(40)}},
       {"while", WhileBelow(2), {{1}, Ramp(1000)}},
       {"case", std::string(kCase), {{1}, Ramp(1000)}},
       {"case with a node for each branch", std::string(kCase), {{1}, Ramp(1000)}, /*profiled=*/false, 12040},
       {"while of the host", WhileBelow(2), {{1}, Ramp(1000)}, /*profiled=*/false, 12000},
       {"case of the host", std::string(kCase), {{1}, Ramp(1000)}, /*profiled=*/false, 12000},
       {"profile", "program f(%x: f32[9]) {\n  %y: f32[9] = add(%x, %x)\n  return %y\n}", {Ramp(9)}, /*profiled=*/true},
       {"function of the host", std::string(kCalls), {Ramp(9)}},
       {"vmap", runner.Print(runner.Vmap(one, {0}, {0, 0}, 3)), {Ramp(27)}}}};
}

// ---- what is done with one ----
class Attempt {
 public:
  Attempt(ricci_ctx* ctx, const Example& e)
      : ctx_(ctx),
        example_(e),
        first_(GpuOf(ctx)),
        second_(GpuOf(ctx, 1)),
        f_(first_, e.profiled),
        on_second_(second_) {}
  ~Attempt() {
    if (end_ != nullptr) ricci_status_free(ricci_event_wait(end_));  // bound memory must stay until then
    ricci_event_release(end_);
    ricci_call_release(call_);
    ricci_stream_release(stream_);
    for (ricci_array* a : {there_, back_}) ricci_array_release(a);
  }
  Attempt(const Attempt&) = delete;

  // The first failure; NULL: there was none.
  ricci_status* Run() {
    uint64_t total = 0, available = 0;
    if (ricci_status* s = ricci_device_memory(first_, &total, &available)) return s;
    if (ricci_status* s = f_.Compile(ctx_, example_.text)) return s;
    if (ricci_status* s = ricci_stream_create(first_, &stream_)) return s;
    for (const Step step : {&Attempt::RunArrays, &Attempt::RunBound, &Attempt::RunElsewhere}) {
      if (ricci_status* s = (this->*step)()) return s;
    }
    return nullptr;
  }
  // The same program again, on arrays.
  ricci_status* RunArrays() {
    if (ricci_status* s = f_.Give(example_.args)) return s;
    for (ricci_stream* stream : {stream_, static_cast<ricci_stream*>(nullptr)}) {
      if (ricci_status* s = f_.Enqueue(stream)) return s;
      if (ricci_status* s = f_.Read(got_)) return s;
    }
    return nullptr;
  }
  bool compiled() const { return f_.executable() != nullptr; }
  const std::vector<Floats>& got() const { return got_; }

 private:
  using Step = ricci_status* (Attempt::*)();

  ricci_status* RunBound() {
    if (ricci_status* s = ricci_call_create(f_.executable(), &call_)) return s;
    uint32_t slot = 0;
    for (const std::vector<ricci_array*>* list : {&f_.in(), &f_.out()}) {
      for (const ricci_array* a : *list) {
        const uint64_t bytes = ricci_array_bytes(a);
        if (ricci_status* s = ricci_call_bind(call_, slot++, ricci_array_device_data(a), bytes)) return s;
      }
    }
    if (ricci_status* s = ricci_call_run(call_)) return s;
    if (ricci_status* s = ricci_call_enqueue(call_, nullptr, &end_)) return s;
    if (ricci_status* s = ricci_event_wait(end_)) return s;
    return f_.Read(got_);
  }
  // A result to the second GPU and back, where the program runs too.
  ricci_status* RunElsewhere() {
    if (ricci_status* s = ricci_device_put(f_.out()[0], second_, &there_)) return s;
    if (ricci_status* s = ricci_device_put(there_, first_, &back_)) return s;
    Floats back(ricci_array_bytes(back_) / sizeof(float));
    if (ricci_status* s = ricci_array_copy_to_host(back_, back.data(), ricci_array_bytes(back_))) return s;
    EXPECT_EQ(back, got_[0]);
    if (ricci_status* s = on_second_.Compile(ctx_, example_.text)) return s;
    if (ricci_status* s = on_second_.Give(example_.args)) return s;
    if (ricci_status* s = on_second_.Enqueue()) return s;
    return on_second_.Read(got_);
  }

  ricci_ctx* const ctx_;
  const Example& example_;
  ricci_device *const first_, *const second_;
  GpuProgram f_, on_second_;
  std::vector<Floats> got_;
  ricci_stream* stream_ = nullptr;
  ricci_call* call_ = nullptr;
  ricci_event* end_ = nullptr;
  ricci_array *there_ = nullptr, *back_ = nullptr;
};

// A context without a GPU.
struct Context {
  Context() {
    EXPECT_TRUE(Ok(ricci_context_create(nullptr, &ctx)));
    for (const auto query : {ricci_plugin_query_lax, QueryScaledRow}) {
      EXPECT_TRUE(Ok(ricci_context_add_plugin(ctx, query)));
    }
  }
  ~Context() { ricci_context_release(ctx); }
  Context(const Context&) = delete;
  ricci_status* Attach() const { return ricci_context_add_plugin(ctx, QuerySimulatedGpu); }
  std::vector<Floats> RunOn(const char* kind, const Example& e) const {
    GpuProgram f(ricci_device_find(ctx, kind, std::strlen(kind)));
    std::vector<Floats> out;
    const bool ran = Ok(f.Compile(ctx, e.text)) && Ok(f.Give(e.args)) && Ok(f.Enqueue());
    EXPECT_TRUE(ran && Ok(f.Read(out)));
    return out;
  }

  ricci_ctx* ctx = nullptr;
};

class DriverFailures : public ::testing::TestWithParam<size_t> {
 protected:
  DriverFailures() : example_(Examples()[GetParam()]), want_(Context().RunOn("ref", example_)) {
    SetDriver(example_.driver);
  }
  ~DriverFailures() override {
    Fail(0, 0, false);
    SetDriver(12080);
  }
  static void SetDriver(int version) { OfStandin<void(int)>("ricci_standin_version")(version); }

  static void Fail(uint64_t n, int code, bool for_good) {
    OfStandin<void(uint64_t, int, int)>("ricci_standin_fail")(n, code, for_good ? 1 : 0);
  }
  static std::string Failed() { return OfStandin<const char*()>("ricci_standin_failed")(); }
  // Attaches and runs all; the results must be right unless a status came.
  std::string FirstFailure(const Context& c, std::unique_ptr<Attempt>& attempt) {
    if (ricci_status* s = c.Attach()) return Message(s);
    attempt = std::make_unique<Attempt>(c.ctx, example_);
    if (ricci_status* s = attempt->Run()) return Message(s);
    EXPECT_EQ(attempt->got(), want_);
    return "";
  }
  // As if nothing had happened.
  void ExpectThatAllWorks(const Context& c, Attempt* attempt) {
    EXPECT_TRUE(attempt != nullptr || Ok(c.Attach()));
    if (attempt != nullptr && attempt->compiled()) {
      EXPECT_TRUE(Ok(attempt->RunArrays()));
      EXPECT_EQ(attempt->got(), want_);
    }
    Attempt next(c.ctx, example_);
    EXPECT_TRUE(Ok(next.Run()));
    EXPECT_EQ(next.got(), want_);
  }

  // How many of the failures came as a status.
  int FailEachOnce(const std::function<int(uint64_t n)>& code) {
    int reported = 0;
    bool came = true;
    for (uint64_t n = 1; came && !HasFailure(); ++n) {
      Fail(n, code(n), false);
      {
        const Context c;
        std::unique_ptr<Attempt> attempt;
        const std::string why = FirstFailure(c, attempt);
        const std::string failed = Failed();
        SCOPED_TRACE(std::to_string(n) + ": " + failed + ": " + why);
        if (!why.empty()) {
          EXPECT_NE(why.find(failed), why.npos);
          EXPECT_NE(why.find("CUDA_ERROR_"), why.npos);
          ++reported;
        }
        if (!failed.empty()) ExpectThatAllWorks(c, attempt.get());
      }
      came = !Failed().empty();
      EXPECT_EQ(SimulatedGpuReport(), "") << n << ": " << Failed();
    }
    return reported;
  }

  const Example example_;
  const std::vector<Floats> want_;
};

// With RICCI_ALL_FAILURES in the environment each call fails with each code, else with one of them in turn.
TEST_P(DriverFailures, EachCallFailsOnce) {
  constexpr int kCodes[] = {kOutOfMemory, kUnknown, kLaunchFailed};
  const uint64_t rounds = std::getenv("RICCI_ALL_FAILURES") == nullptr ? 1 : std::size(kCodes);
  for (uint64_t round = 0; round < rounds && !HasFailure(); ++round) {
    const int reported = FailEachOnce([&](uint64_t n) { return kCodes[(n + round) % std::size(kCodes)]; });
    EXPECT_GT(reported, 30);
  }
}

// Other devices of the context go on.
TEST_P(DriverFailures, EachCallFailsForGood) {
  Fail(0, 0, false);
  bool came = true;
  for (uint64_t n = 1; came; ++n) {
    Fail(n, kLaunchFailed, true);
    {
      const Context c;
#ifdef RICCI_CUDA_TEST_CPU
      EXPECT_TRUE(Ok(ricci_context_add_plugin(c.ctx, ricci_plugin_query_cpu)));
#endif
      std::unique_ptr<Attempt> attempt;
      const std::string why = FirstFailure(c, attempt);
      SCOPED_TRACE(std::to_string(n) + ": " + Failed() + ": " + why);
      EXPECT_TRUE(why.empty() || why.find("CUDA_ERROR_LAUNCH_FAILED") != why.npos);
      if (!why.empty() && attempt != nullptr && attempt->compiled()) {
        ricci_status* const again = attempt->RunArrays();
        EXPECT_NE(again, nullptr);
        ricci_status_free(again);
      }
#ifdef RICCI_CUDA_TEST_CPU
      EXPECT_TRUE(n % 16 != 0 || c.RunOn("cpu", example_) == want_);
#endif
      EXPECT_TRUE(n % 4 != 0 || c.RunOn("ref", example_) == want_);
    }
    came = !Failed().empty();
    EXPECT_EQ(SimulatedGpuReport(), "") << n << ": " << Failed();
    if (HasFailure()) return;
  }
  Fail(0, 0, false);
  const Context c;
  EXPECT_TRUE(Ok(c.Attach()));
  ExpectThatAllWorks(c, std::make_unique<Attempt>(c.ctx, example_).get());
}

// How many calls each of the tests above lets fail.
TEST(DriverFailurePoints, AreMoreThanAThousand) {
  const auto calls_since_then = [] {
    const std::string calls = OfStandin<const char*()>("ricci_standin_calls")();
    return std::count(calls.begin(), calls.end(), '\n');
  };
  int64_t calls = 0;
  for (const Example& e : Examples()) {
    OfStandin<void(int)>("ricci_standin_version")(e.driver);
    calls_since_then();
    const Context c;
    ASSERT_TRUE(Ok(c.Attach()));
    ASSERT_TRUE(Ok(Attempt(c.ctx, e).Run()));
    calls += calls_since_then();
  }
  OfStandin<void(int)>("ricci_standin_version")(12040);
  RecordProperty("calls", std::to_string(calls));
  EXPECT_GE(calls, 1000);
}

// They are what their names say.
TEST(DriverFailureExamples, HaveControlInThePlan) {
  ProgramRunner runner;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
  EXPECT_NE(runner.Dump(runner.Parse(WhileBelow(2)), "plan", "cuda").find("while"), std::string::npos);
  EXPECT_NE(runner.Dump(runner.Parse(kCase), "plan", "cuda").find("case"), std::string::npos);
}

// The core drops the code of a run even if it could not wait for its end.
TEST(DriverFailureOnRelease, RunsInFlight) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  const Example e = Examples()[0];
  bool came = true;
  for (uint64_t n = 1; came; ++n) {
    {
      const Context c;
      ASSERT_TRUE(Ok(c.Attach()));
      GpuProgram f(GpuOf(c.ctx));
      ASSERT_TRUE(Ok(f.Compile(c.ctx, e.text)) && Ok(f.Give(e.args)) && Ok(f.Enqueue()));
      fail(n, kUnknown, 0);
    }
    came = *failed() != '\0';
    EXPECT_EQ(SimulatedGpuReport(), "") << n << ": " << failed();
    fail(0, 0, 0);
  }
}

std::string NameOf(const ::testing::TestParamInfo<size_t>& info) {
  std::string out = Examples()[info.param].name;
  std::replace(out.begin(), out.end(), ' ', '_');
  return out;
}
INSTANTIATE_TEST_SUITE_P(Programs, DriverFailures, ::testing::Range(size_t{0}, kExamples), NameOf);

}}  // namespace ricci::testing
