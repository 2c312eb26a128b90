// Ends of runs, which are events: without callbacks, the thread that sees that one has completed reports it.
#include <thread>

#include "cuda/bare_driver.h"
#include "cuda/driver_calls.h"
#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// The second result is that of a check: positive numbers only.
constexpr std::string_view kChecked = R"(program f(%x: f32[]) {
  %zero: f32[] = constant 0.0
  %p: bool[] = gt(%x, %zero)
  %y: f32[] = check(%p, %x) code=3 message="not positive"
  %z: f32[] = add(%y, %y)
  return %z
})";
constexpr std::string_view kPlain = R"(program f(%x: f32[16]) {
  %y: f32[16] = sort(%x) dimension=0 is_stable=true num_keys=1
  %z: f32[16] = add(%y, %x)
  return %z
})";

constexpr std::string_view kNotPositive = "test:4: check: not positive";

void TimePasses() { OfStandin<void()>("ricci_standin_run")(); }

// Nothing if all is well.
std::string Said(ricci_status* s) { return s == nullptr ? "" : Message(s); }

class RunEnds : public ::testing::Test {
 protected:
  RunEnds() {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
    gpu_ = GpuOf(runner_.ctx());
  }
  void Compile(GpuProgram& f, std::string_view text, const std::vector<Floats>& args) {
    ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), text)) && Ok(f.Give(args)));
  }
  static void Release(std::vector<ricci_array*> arrays) {
    for (ricci_array* a : arrays) ricci_array_release(a);
  }

  ProgramRunner runner_;
  ricci_device* gpu_ = nullptr;
};

// Later runs look at earlier ones, so that their graphs are used again, and ask in vain once for each of them.
TEST_F(RunEnds, RunsThatNobodyWaitsForGiveTheirGraphsBack) {
  constexpr int kRuns = 100;
  GpuProgram f(gpu_);
  Compile(f, kPlain, {Floats(16, 1.0f)});
  Calls();
  for (int i = 0; i < kRuns; ++i) {
    ASSERT_TRUE(Ok(f.Enqueue()));
    TimePasses();
  }
  std::vector<std::string> calls = Calls();
  EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), kRuns);
  EXPECT_LE(CountOf(calls, "cuGraphInstantiate"), 2);
  EXPECT_EQ(CountOf(calls, "cuLaunchHostFunc"), 0);
  EXPECT_EQ(CountOf(calls, "cuStreamSynchronize") + CountOf(calls, "cuEventSynchronize"), 0);
  EXPECT_LE(CountOf(calls, "cuEventQuery"), 2 * kRuns);
}

// What the runs before it report is asked for when it has come.
TEST_F(RunEnds, ARunReportsAFailureOfOneWhoseResultItUses) {
  GpuProgram f(gpu_);
  for (const float x : {2.0f, -2.0f}) {
    Compile(f, kChecked, {{x}});
    ASSERT_TRUE(Ok(f.Enqueue()));
    std::vector<ricci_array*> chain = f.TakeOut();
    for (int i = 0; i < 3; ++i) {
      ricci_array* out = nullptr;
      ASSERT_TRUE(Ok(ricci_executable_enqueue(f.executable(), &chain.back(), 1, &out, 1, nullptr)));
      chain.push_back(out);
    }
    const std::string want(x > 0 ? "" : kNotPositive);
    EXPECT_EQ(Said(ricci_array_wait(chain.back())), want);
    for (const ricci_array* a : chain) EXPECT_EQ(Said(ricci_array_wait(a)), want);
    Release(chain);
    f.Release();
  }
}

// Runs in other streams, the last one first.
TEST_F(RunEnds, InAnyOrder) {
  GpuProgram f(gpu_);
  Compile(f, kChecked, {{3}});
  std::vector<std::vector<ricci_array*>> outs;
  for (int i = 0; i < 6; ++i) {
    ricci_stream* stream = nullptr;
    ASSERT_TRUE(Ok(ricci_stream_create(gpu_, &stream)) && Ok(f.Enqueue(stream)));
    outs.push_back(f.TakeOut());
    ricci_stream_release(stream);
  }
  for (const size_t i : {5u, 0u, 3u, 1u, 4u}) {  // all without a wait
    float got = 0;
    EXPECT_TRUE(Ok(ricci_array_copy_to_host(outs[i][0], &got, sizeof got)));
    EXPECT_EQ(got, 6);
  }
  for (const std::vector<ricci_array*>& out : outs) Release(out);
}

TEST_F(RunEnds, AskingReports) {
  GpuProgram f(gpu_);
  Compile(f, kChecked, {{-1}});
  ASSERT_TRUE(Ok(f.Enqueue()));
  const auto asking_takes_time = OfStandin<void(int)>("ricci_standin_asking_takes_time");
  asking_takes_time(0);
  EXPECT_EQ(ricci_array_is_ready(f.out()[0]), 0u);
  asking_takes_time(1);
  int asked = 0;
  while (ricci_array_is_ready(f.out()[0]) == 0 && asked < 100) ++asked;
  EXPECT_LT(asked, 100);
  Calls();
  EXPECT_EQ(Said(ricci_array_wait(f.out()[0])), kNotPositive);
  EXPECT_EQ(CountOf(Calls(), "cuEvent"), 0) << "it is known";
}

// All get the same, whichever thread reports it.
TEST_F(RunEnds, ThreadsWaitForOneRun) {
  GpuProgram f(gpu_);
  Compile(f, kChecked, {{-5}});
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(Ok(f.Enqueue()));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        while (t == 0 && ricci_array_is_ready(f.out()[0]) == 0) {
        }
        EXPECT_EQ(Said(ricci_array_wait(f.out()[0])), kNotPositive);
      });
    }
    for (std::thread& t : threads) t.join();
  }
}

// Results, program, streams and context go while runs are in flight; the report of the stand-in at the end has all that
// was not given back.
TEST(RunEndsOfContexts, DestroyedInFlight) {
  for (const bool time_passes : {false, true}) {
    {
      ProgramRunner runner;
      ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
      GpuProgram f(GpuOf(runner.ctx()));
      ASSERT_TRUE(Ok(f.Compile(runner.ctx(), kChecked)) && Ok(f.Give({{-1}})));
      for (int i = 0; i < 5; ++i) {
        ricci_stream* stream = nullptr;
        ASSERT_TRUE(Ok(ricci_stream_create(GpuOf(runner.ctx()), &stream)) && Ok(f.Enqueue(stream)));
        ricci_stream_release(stream);
      }
      f.Release();
      if (time_passes) TimePasses();
    }
    EXPECT_EQ(SimulatedGpuReport(), "");
  }
}

// A microsecond for each operation of a stream: the graph, and what comes between.
TEST_F(RunEnds, EventsNoteTimes) {
  GpuProgram f(gpu_);
  Compile(f, kPlain, {Floats(16, 2.0f)});
  ASSERT_TRUE(Ok(f.Enqueue()) && Ok(ricci_array_wait(f.out()[0])));
  ricci_call* call = nullptr;
  ricci_stream* stream = nullptr;
  ASSERT_TRUE(Ok(ricci_call_create(f.executable(), &call)) && Ok(ricci_stream_create(gpu_, &stream)));
  const ricci_array* const bound[] = {f.in()[0], f.out()[0]};
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(Ok(ricci_call_bind(call, i, ricci_array_device_data(bound[i]), ricci_array_bytes(bound[i]))));
  }
  ricci_run_opts o = ricci_run_opts_default();
  o.stream = stream;
  ricci_event *first = nullptr, *begin = nullptr, *end = nullptr;
  ASSERT_TRUE(Ok(ricci_call_enqueue(call, &o, &first)) && Ok(ricci_event_wait(first)));
  ricci_event_release(first);
  ASSERT_TRUE(Ok(ricci_stream_record_timed(stream, &begin)));
  for (int i = 0; i < 5; ++i) {
    ricci_event* run = nullptr;
    ASSERT_TRUE(Ok(ricci_call_enqueue(call, &o, &run)));
    ricci_event_release(run);
  }
  ASSERT_TRUE(Ok(ricci_stream_record_timed(stream, &end)));
  double seconds = 0;
  ASSERT_TRUE(Ok(ricci_event_elapsed(begin, end, &seconds)));
  EXPECT_NEAR(seconds, 5e-6, 1e-12);
  ricci_event_release(begin), ricci_event_release(end);
  ricci_stream_release(stream);
  ricci_call_release(call);
}

TEST_F(RunEnds, TimesOfTwoGpusAreNotCompared) {
  ricci_event* events[2] = {};
  for (uint32_t i = 0; i < 2; ++i) {
    ricci_stream* stream = nullptr;
    ASSERT_TRUE(Ok(ricci_stream_create(GpuOf(runner_.ctx(), i), &stream)));
    ASSERT_TRUE(Ok(ricci_stream_record_timed(stream, &events[i])));
    ricci_stream_release(stream);
  }
  double seconds = 0;
  EXPECT_EQ(
      Message(ricci_event_elapsed(events[0], events[1], &seconds)),
      "ricci_event_elapsed: begin is of device cuda:0 and end of device cuda:1, whose clocks differ; record both on "
      "one device");
  for (ricci_event* e : events) ricci_event_release(e);
}

// What the driver refuses, the stand-in reports.
TEST(StandinTimes, OfEventsWithoutThem) {
  const BareDriver driver;
  cuda::CuStream stream = nullptr;
  cuda::CuEvent timed = nullptr, plain = nullptr, never = nullptr;
  driver->cuStreamCreate(&stream, cuda::kCuStreamNonBlocking);
  driver->cuEventCreate(&timed, 0), driver->cuEventCreate(&never, 0);
  driver->cuEventCreate(&plain, cuda::kCuEventDisableTiming);
  driver->cuEventRecord(timed, stream), driver->cuEventRecord(plain, stream);
  float milliseconds = 0;
  EXPECT_EQ(driver->cuEventElapsedTime(&milliseconds, timed, timed), cuda::kCuNotReady);
  for (const cuda::CuEvent wrong : {plain, never}) {
    EXPECT_EQ(driver->cuEventElapsedTime(&milliseconds, timed, wrong), cuda::kCuInvalidHandle);
    EXPECT_NE(driver.Complaints().find("cuEventElapsedTime of an event without a time"), std::string::npos);
  }
  driver->cuStreamSynchronize(stream);
  EXPECT_EQ(driver->cuEventElapsedTime(&milliseconds, timed, timed), cuda::kCuSuccess);
  EXPECT_EQ(milliseconds, 0);
  for (const cuda::CuEvent e : {timed, plain, never}) driver->cuEventDestroy(e);
  driver->cuStreamDestroy(stream);
}

}}  // namespace ricci::testing
