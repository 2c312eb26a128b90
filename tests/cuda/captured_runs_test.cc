// Runs that become part of a graph of the host: what each launch of that graph computes, what must outlive it, and what
// cannot be in it.
#include <algorithm>
#include <functional>
#include <thread>

#include "cuda/conditional_graphs.h"
#include "cuda/host_call.h"
#include "cuda/host_capture.h"

namespace ricci::testing { namespace {

// Kernels that hand over through working memory, a copy, two results.
constexpr std::string_view kSteps = R"(program steps(%x: f32[8,6], %y: f32[8,6]) {
  %a: f32[8] = reduce_sum(%x) axes=[1]
  %b: f32[8] = sort(%a) dimension=0 is_stable=true num_keys=1
  %c: f32[8] = reduce_max(%y) axes=[1]
  %d: f32[8] = sort(%c) dimension=0 is_stable=true num_keys=1
  %e: f32[8] = sub(%d, %b)
  %f: f32[8] = sort(%e) dimension=0 is_stable=true num_keys=1
  return %f, %y
})";

// Fails where the largest element is not below 20.
constexpr std::string_view kChecked = R"(program checked(%x: f32[8,6]) {
  %m: f32[] = reduce_max(%x) axes=[0,1]
  %most: f32[] = constant 20.0
  %p: bool[] = lt(%m, %most)
  %y: f32[] = check(%p, %m) code=3 message="too large"
  return %y
})";

Floats Ramp(float from) {
  Floats out(48);
  for (size_t i = 0; i < out.size(); ++i) out[i] = from + static_cast<float>((i * 29) % 47);
  return out;
}

class CapturedRuns : public ConditionalGraphs {
 protected:
  explicit CapturedRuns(int driver_version = 12080) {
    SetDriver(driver_version);
    driver_->cuStreamCreate(&theirs_, cuda::kCuStreamNonBlocking);
    EXPECT_TRUE(Ok(ricci_stream_wrap(Gpu(), theirs_, &stream_)));
  }
  ~CapturedRuns() override {
    ricci_stream_release(stream_);
    driver_->cuStreamDestroy(theirs_);
    EXPECT_EQ(BareDriver::Complaints(), "");
  }
  std::unique_ptr<HostCall> Call(std::string_view text, bool profiled = false) {
    return std::make_unique<HostCall>(ctx(), Gpu(), driver_, theirs_, text, profiled);
  }
  std::unique_ptr<HostCapture> Capture(int mode = cuda::kCuCaptureGlobal) const {
    return std::make_unique<HostCapture>(theirs_, mode);
  }
  // A launch of the graph, whose capture has ended, with these arguments must give what `ref` gives.
  void ExpectLaunch(HostCapture& graph, HostCall& call, std::string_view text, const std::vector<Floats>& args) {
    EXPECT_EQ(graph.End(), 0);
    call.Write(args);
    EXPECT_EQ(graph.Launch(theirs_), 0);
    EXPECT_EQ(call.Read(), OnRef(text, args));
  }
  void ExpectCaptured(std::string_view text, const std::vector<std::vector<Floats>>& arguments) {
    const std::unique_ptr<HostCall> call = Call(text);
    const std::unique_ptr<HostCapture> graph = Capture();
    EXPECT_TRUE(Ok(call->Enqueue(stream_)));
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      SetSeed(seed);
      for (const std::vector<Floats>& args : arguments) ExpectLaunch(*graph, *call, text, args);
    }
  }
  static std::string RefusalOf(ricci_status* s) {
    EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_FAILED_PRECONDITION});
    return s == nullptr ? "" : Message(s);
  }

  const BareDriver driver_;
  cuda::CuStream theirs_ = nullptr;
  ricci_stream* stream_ = nullptr;
};

// ---- what a launch computes ----
TEST_F(CapturedRuns, EachLaunchComputesWithWhatIsThere) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  const std::unique_ptr<HostCapture> graph = Capture();
  Calls();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  const std::vector<std::string> calls = Calls();
  for (const char* name :
       {"Launch", "cuEvent", "cuMemAlloc", "cuMemHostAlloc", "cuGraphInstantiate", "cuGraphCreate"}) {
    EXPECT_EQ(CountOf(calls, name), 0) << name;
  }
  EXPECT_EQ(CountOf(calls, "cuStreamUpdateCaptureDependencies"), 1);
  EXPECT_TRUE(graph->IsValid());
  for (const float from : {-7.f, 3.f, 100.f}) ExpectLaunch(*graph, *call, kSteps, {Ramp(from), Ramp(2 - from)});
  EXPECT_TRUE(Ok(ricci_event_wait(call->event())));
}

TEST_F(CapturedRuns, ALoop) { ExpectCaptured(kWhile, {{{1}, Some(1000)}, {{4}, Some(1000)}, {{9}, Some(1000)}}); }

TEST_F(CapturedRuns, BranchesAndLoopsInEachOther) {
  ExpectCaptured(kSwitch, {{{0}, Some(1000)}, {{1}, Some(1000)}, {{-7}, Some(1000)}, {{1e9f}, Some(1000)}});
  ExpectCaptured(kNested, {{{0}, Some(1000)}, {{1}, Some(1000)}});
  ExpectCaptured(kChoices, {{{0}, Some(1000)}, {{-2}, Some(1000)}});
  ExpectCaptured(kBatches, {{{0}, Some(1000)}, {{1}, Some(1000)}, {{2}, Some(1000)}});
}

class CapturedRunsOfCuda124 : public CapturedRuns {
 protected:
  CapturedRunsOfCuda124() : CapturedRuns(12040) {}
};

TEST_F(CapturedRunsOfCuda124, EachBranchIsANode) {
  ExpectCaptured(kSwitch, {{{0}, Some(1000)}, {{1}, Some(1000)}, {{2}, Some(1000)}});
}

// Work of the host before and after is in order with it.
TEST_F(CapturedRuns, BetweenWorkOfTheHost) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  const Floats x = Ramp(4), y = Ramp(-3);
  const cuda::CuPointer from = driver_.Allocate(192, theirs_), to = driver_.Allocate(32, theirs_);
  Floats got(8);
  call->Write({Ramp(0), y});
  driver_->cuMemcpyHtoDAsync(from, x.data(), 192, theirs_);
  driver_->cuStreamSynchronize(theirs_);
  {
    const std::unique_ptr<HostCapture> graph = Capture();
    driver_->cuMemcpyDtoDAsync(call->At(0), from, 192, theirs_);
    ASSERT_TRUE(Ok(call->Enqueue(stream_)));
    driver_->cuMemcpyDtoDAsync(to, call->At(2), 32, theirs_);
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SetSeed(seed);
      EXPECT_EQ(graph->Launch(theirs_), 0);
      driver_->cuMemcpyDtoHAsync(got.data(), to, 32, theirs_);
      driver_->cuStreamSynchronize(theirs_);
      EXPECT_EQ(got, OnRef(kSteps, {x, y})[0]);
    }
  }
  for (const cuda::CuPointer p : {from, to}) driver_->cuMemFreeAsync(p, theirs_);
  driver_->cuStreamSynchronize(theirs_);
}

// The second one reads what the first one writes.
TEST_F(CapturedRuns, TwoInOneGraph) {
  constexpr std::string_view kTwice = "program twice(%x: f32[8]) {\n  %y: f32[8] = add(%x, %x)\n  return %y\n}";
  const std::unique_ptr<HostCall> first = Call(kSteps), second = Call(kTwice);
  second->Share(0, *first, 2);
  const std::unique_ptr<HostCapture> graph = Capture();
  ASSERT_TRUE(Ok(first->Enqueue(stream_)) && Ok(second->Enqueue(stream_)));
  ASSERT_EQ(graph->End(), 0);
  for (const float from : {1.f, -20.f, 5.f}) {
    first->Write({Ramp(from), Ramp(-from)});
    EXPECT_EQ(graph->Launch(theirs_), 0);
    EXPECT_EQ(second->Read(), OnRef(kTwice, {OnRef(kSteps, {Ramp(from), Ramp(-from)})[0]}));
  }
}

// Beside each other, in streams that come together again.
TEST_F(CapturedRuns, InForkedStreams) {
  cuda::CuStream other = nullptr;
  cuda::CuEvent fork = nullptr, join = nullptr;
  ricci_stream* wrapped = nullptr;
  driver_->cuStreamCreate(&other, cuda::kCuStreamNonBlocking);
  for (cuda::CuEvent* e : {&fork, &join}) driver_->cuEventCreate(e, cuda::kCuEventDisableTiming);
  ASSERT_TRUE(Ok(ricci_stream_wrap(Gpu(), other, &wrapped)));
  {
    const std::unique_ptr<HostCall> first = Call(kSteps), second = Call(kSteps);
    const std::unique_ptr<HostCapture> graph = Capture();
    driver_->cuEventRecord(fork, theirs_);
    driver_->cuStreamWaitEvent(other, fork, 0);
    ASSERT_TRUE(Ok(first->Enqueue(stream_)) && Ok(second->Enqueue(wrapped)));
    driver_->cuEventRecord(join, other);
    driver_->cuStreamWaitEvent(theirs_, join, 0);
    ASSERT_EQ(graph->End(), 0);
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SetSeed(seed);
      const std::vector<Floats> a{Ramp(1), Ramp(2)}, b{Ramp(static_cast<float>(seed)), Ramp(-5)};
      first->Write(a);
      second->Write(b);
      EXPECT_EQ(graph->Launch(theirs_), 0);
      EXPECT_EQ(first->Read(), OnRef(kSteps, a));
      EXPECT_EQ(second->Read(), OnRef(kSteps, b));
    }
  }
  ricci_stream_release(wrapped);
  for (const cuda::CuEvent e : {fork, join}) driver_->cuEventDestroy(e);
  driver_->cuStreamDestroy(other);
}

// The call's other runs go on as before.
TEST_F(CapturedRuns, BesideRunsThatAreNot) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  const std::vector<Floats> a{Ramp(1), Ramp(2)}, b{Ramp(-9), Ramp(30)};
  call->Write(a);
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));  // in flight when the capture begins
  const std::unique_ptr<HostCapture> graph = Capture();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  ASSERT_EQ(graph->End(), 0);
  EXPECT_EQ(call->Read(), OnRef(kSteps, a));
  ExpectLaunch(*graph, *call, kSteps, b);
  call->Write(a);
  ASSERT_TRUE(Ok(call->Enqueue(stream_)) && Ok(ricci_event_wait(call->event())));
  EXPECT_EQ(call->Read(), OnRef(kSteps, a));
  ExpectLaunch(*graph, *call, kSteps, b);
}

// Launches of the graph are in no order with a run in another stream, so that run ends before.
TEST_F(CapturedRuns, ARunInAnotherStreamEndsBefore) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  call->Write({Ramp(1), Ramp(2)});
  driver_->cuStreamSynchronize(theirs_);
  ASSERT_TRUE(Ok(call->Enqueue(nullptr)));
  const std::unique_ptr<HostCapture> graph = Capture();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  EXPECT_EQ(graph->Launch(theirs_), 0);
  EXPECT_EQ(call->Read(), OnRef(kSteps, {Ramp(1), Ramp(2)}));
  OfStandin<void()>("ricci_standin_run")();  // unawaited work, too
}

TEST_F(CapturedRuns, InEachModeAndOnAnotherThread) {
  for (const int mode : {cuda::kCuCaptureGlobal, cuda::kCuCaptureOfThread, cuda::kCuCaptureRelaxed}) {
    const std::unique_ptr<HostCall> call = Call(kSteps);
    const std::unique_ptr<HostCapture> graph = Capture(mode);
    ASSERT_TRUE(Ok(call->Enqueue(stream_)));
    std::thread([&] { EXPECT_TRUE(Ok(call->Enqueue(stream_))); }).join();
    ExpectLaunch(*graph, *call, kSteps, {Ramp(1), Ramp(2)});
  }
}

// ---- checks ----
// Each wait says what the last launch found.
TEST_F(CapturedRuns, FailedChecks) {
  const std::unique_ptr<HostCall> call = Call(kChecked);
  const std::unique_ptr<HostCapture> graph = Capture();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  EXPECT_TRUE(Ok(ricci_event_wait(call->event()))) << "no launch yet";
  ASSERT_EQ(graph->End(), 0);
  for (const float from : {-40.f, 1.f, 2.f, -40.f}) {
    call->Write({Ramp(from)});
    EXPECT_EQ(graph->Launch(theirs_), 0);
    driver_->cuStreamSynchronize(theirs_);
    for (int i = 0; i < 2; ++i) {
      ricci_status* const s = ricci_event_wait(call->event());
      const std::string said = s == nullptr ? "" : Message(s);
      EXPECT_EQ(said, from < 0 ? "" : "test:5: check: too large");
    }
  }
  uint32_t come = 0;
  EXPECT_TRUE(Ok(ricci_event_query(call->event(), &come)));
  EXPECT_EQ(come, 1u);
}

// ---- what must outlive the graph ----
TEST_F(CapturedRuns, TheExecutableMayGo) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  const std::unique_ptr<HostCapture> graph = Capture();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  call->ReleaseExecutable();
  for (const float from : {1.f, 2.f}) ExpectLaunch(*graph, *call, kSteps, {Ramp(from), Ramp(2)});
}

TEST_F(CapturedRuns, TheCallMayGoIfTheEventStays) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  const std::unique_ptr<HostCapture> graph = Capture();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  call->ReleaseExecutable();
  call->ReleaseCall();
  for (const float from : {1.f, 2.f}) ExpectLaunch(*graph, *call, kSteps, {Ramp(from), Ramp(2)});
  EXPECT_TRUE(Ok(ricci_event_wait(call->event())));
}

TEST_F(CapturedRuns, TheEventMayGoIfTheCallStays) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  const std::unique_ptr<HostCapture> graph = Capture();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  call->ReleaseEvent();
  ExpectLaunch(*graph, *call, kSteps, {Ramp(1), Ramp(2)});
}

// A mistake of the host, which the stand-in sees: so the tests above show that something is kept.
TEST_F(CapturedRuns, WithoutBothTheWorkingMemoryIsGone) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  const std::unique_ptr<HostCapture> graph = Capture();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  ASSERT_EQ(graph->End(), 0);
  call->ReleaseCall();
  call->ReleaseEvent();
  OfStandin<void()>("ricci_standin_run")();
  call->Write({Ramp(1), Ramp(2)});
  EXPECT_EQ(graph->Launch(theirs_), 0);
  driver_->cuStreamSynchronize(theirs_);
  const std::string said = BareDriver::Complaints();
  EXPECT_NE(said.find("has freed"), said.npos) << said;
}

// ---- what cannot be captured: the capture goes on without it ----
class RefusedCaptures : public CapturedRuns {
 protected:
  explicit RefusedCaptures(int driver_version = 12080) : CapturedRuns(driver_version) {}

  // Nothing was added: the graph still is only what is captured after that.
  void ExpectThatTheCaptureGoesOn(HostCapture& graph) {
    EXPECT_TRUE(graph.IsValid());
    const std::unique_ptr<HostCall> call = std::move(good_);
    EXPECT_TRUE(Ok(call->Enqueue(stream_)));
    Calls();
    ExpectLaunch(graph, *call, kSteps, {Ramp(1), Ramp(2)});
  }
  static constexpr const char* kCannot = "cuda: a run cannot be part of the graph that the host captures: ";

  std::unique_ptr<HostCall> good_ = Call(kSteps);
};

TEST_F(RefusedCaptures, RunsThatMayBeEnded) {
  const std::unique_ptr<HostCall> call = Call(kSteps);
  const std::unique_ptr<HostCapture> graph = Capture();
  const uint32_t word = 0;
  const std::string why =
      std::string(kCannot) +
      "such a graph is not ended or profiled by Ricci; give the run no word to cancel it, no deadline "
      "and no profile";
  Calls();
  EXPECT_EQ(RefusalOf(call->Enqueue(stream_, &word)), why);
  EXPECT_EQ(RefusalOf(call->Enqueue(stream_, nullptr, ~uint64_t{0})), why);
  EXPECT_EQ(call->event(), nullptr);
  EXPECT_EQ(CountOf(Calls(), "cuGraph"), 0);
  ExpectThatTheCaptureGoesOn(*graph);
}

TEST_F(RefusedCaptures, ProfiledPrograms) {
  const std::unique_ptr<HostCall> call = Call(kSteps, /*profiled=*/true);
  const std::unique_ptr<HostCapture> graph = Capture();
  EXPECT_EQ(RefusalOf(call->Enqueue(stream_)),
            std::string(kCannot) +
                "it is not one graph, since runs can be profiled; compile it without RICCI_COMPILE_PROFILED");
  ExpectThatTheCaptureGoesOn(*graph);
}

TEST_F(RefusedCaptures, RunsThatReadTheDevice) {
  const std::unique_ptr<HostCall> call = Call(kLoopThatAsks);
  const std::unique_ptr<HostCapture> graph = Capture();
  EXPECT_EQ(RefusalOf(call->Enqueue(stream_)),
            std::string(kCannot) +
                "it is not one graph, since what computes the predicate of a loop has loops or branches itself; the "
                "host would have to read device memory during the run: run it before or after");
  ExpectThatTheCaptureGoesOn(*graph);
}

TEST_F(RefusedCaptures, RunsThatCallTheHost) {
  const std::unique_ptr<HostCall> call = Call(R"(program f(%x: f32[8,6]) {
  %y: f32[8,6] = io_callback(%x) callback="ricci.copy" results="f32[8,6]"
  return %y
})");
  const std::unique_ptr<HostCapture> graph = Capture();
  EXPECT_EQ(RefusalOf(call->Enqueue(stream_)),
            std::string(kCannot) +
                "it is not one graph, since the plan calls functions of the host; they are called while the run is "
                "enqueued: run it before or after");
  ExpectThatTheCaptureGoesOn(*graph);
}

class RefusedCapturesOfCuda123 : public RefusedCaptures {
 protected:
  RefusedCapturesOfCuda123() : RefusedCaptures(12030) {}
};

TEST_F(RefusedCapturesOfCuda123, Loops) {
  const std::unique_ptr<HostCall> call = Call(kWhile);
  const std::unique_ptr<HostCapture> graph = Capture();
  const std::string why = RefusalOf(call->Enqueue(stream_));
  EXPECT_NE(why.find("the plan has loops or branches, and the driver is older than CUDA 12.4; the host would have to"),
            why.npos)
      << why;
  ExpectThatTheCaptureGoesOn(*graph);
}

TEST_F(RefusedCaptures, RunsOnArrays) {
  GpuProgram f(Gpu());
  ASSERT_TRUE(Ok(f.Compile(ctx(), kSteps)) && Ok(f.Give({Ramp(1), Ramp(2)})));
  const std::unique_ptr<HostCapture> graph = Capture();
  const std::string why = RefusalOf(f.Enqueue(stream_));
  EXPECT_NE(why.find("only runs of bound calls can be part of its graph (ricci_call_enqueue)"), why.npos) << why;
  ExpectThatTheCaptureGoesOn(*graph);
}

// The host has broken a rule before.
TEST_F(RefusedCaptures, ACaptureThatHasFailed) {
  const std::unique_ptr<HostCapture> graph = Capture();
  EXPECT_NE(driver_->cuStreamSynchronize(theirs_), 0);
  BareDriver::Complaints();
  EXPECT_EQ(RefusalOf(good_->Enqueue(stream_)),
            "cuda: the host's capture of this stream has failed (an earlier call broke its rules): end it, and begin "
            "another one");
  EXPECT_EQ(graph->End(), 901);
}

TEST_F(RefusedCaptures, TheDefaultStream) {
  cuda::CuStream blocking = nullptr;
  ricci_stream* s = nullptr;
  driver_->cuStreamCreate(&blocking, 0);
  ASSERT_TRUE(Ok(ricci_stream_wrap(Gpu(), nullptr, &s)));
  {
    const HostCapture capture(blocking);
    EXPECT_EQ(
        RefusalOf(good_->Enqueue(s)),
        "cuda: the host captures a stream that is in order with the default stream, which is not captured itself: "
        "use another stream, or enqueue the run before or after");
    EXPECT_TRUE(capture.IsValid());
  }
  good_->Write({Ramp(1), Ramp(2)});
  driver_->cuStreamSynchronize(theirs_);
  EXPECT_TRUE(Ok(good_->Enqueue(s)) && Ok(ricci_event_wait(good_->event())));
  good_->ReleaseEvent();
  ricci_stream_release(s);
  driver_->cuStreamDestroy(blocking);
}

// Of such an edge the stand-in has none: the driver says that it would be lost.
TEST_F(RefusedCaptures, AfterAnEdgeOfAnotherKind) {
  constexpr uint64_t kMostCalls = 40;
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  const std::unique_ptr<HostCapture> graph = Capture();
  for (uint64_t n = 1; n < kMostCalls; ++n) {
    fail(n, cuda::kCuLossyQuery, 0);
    ricci_status* const s = good_->Enqueue(stream_);
    const std::string name = failed();
    fail(0, 0, 0);
    if (name != "cuStreamGetCaptureInfo") {
      ricci_status_free(s);
      continue;
    }
    const std::string why = RefusalOf(s);
    EXPECT_NE(why.find("has an edge of another kind (of a programmatic launch)"), why.npos) << why;
    EXPECT_TRUE(graph->IsValid());
    return;
  }
  FAIL() << "the call was never made";
}

// Whichever call fails: either nothing was added and the capture is of use, or the status says that it is not.
TEST_F(RefusedCaptures, ADriverThatFails) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  int in_part = 0, whole = 0;
  for (const std::string_view text : {kSteps, std::string_view(kSwitch)}) {
    const std::vector<Floats> args =
        text == kSteps ? std::vector<Floats>{Ramp(1), Ramp(2)} : std::vector<Floats>{{2}, Some(1000)};
    const std::unique_ptr<HostCall> call = Call(text);
    for (uint64_t n = 1;; ++n) {
      const std::unique_ptr<HostCapture> graph = Capture();
      fail(n, 999, 0);
      ricci_status* const s = call->Enqueue(stream_);
      const std::string name = failed(), message = s == nullptr ? "" : Message(s);
      fail(0, 0, 0);
      SCOPED_TRACE(std::to_string(n) + ": " + name + ": " + message);
      if (s == nullptr) {
        ExpectLaunch(*graph, *call, text, args);
        if (name.empty()) break;
        continue;  // what gives back
      }
      EXPECT_NE(message.find(name + ": CUDA_ERROR_UNKNOWN"), message.npos);
      if (message.find("end the capture and throw it away") != message.npos) {
        ++in_part;
        continue;
      }
      ++whole;
      EXPECT_TRUE(Ok(call->Enqueue(stream_)));
      ExpectLaunch(*graph, *call, text, args);
    }
  }
  EXPECT_GT(in_part, 5);
  EXPECT_GT(whole, 5);
}

}}  // namespace ricci::testing
