// Library calls that promise to do nothing but enqueue (RICCI_LIBRARY_ONLY_ENQUEUES): they are nodes of the graph of a
// plan, in loops and branches too, and end no part of it.
#include <cmath>
#include <set>

#include "cuda/conditional_graphs.h"
#include "cuda/enqueued_rows.h"
#include "cuda/host_call.h"
#include "cuda/host_capture.h"

namespace ricci::testing { namespace {

constexpr std::string_view kAlone = R"(program f(%x: f32[1000]) {
  %y: f32[1000] = test.enqueued(%x)
  return %y
})";

// Kernels before, between and after; the second call waits for nothing of the first one.
constexpr std::string_view kSequence = R"(program f(%x: f32[1000], %z: f32[1000]) {
  %a: f32[1000] = mul(%x, %x)
  %b: f32[1000] = test.enqueued(%a)
  %c: f32[1000] = neg(%z)
  %d: f32[1000] = test.enqueued(%c)
  %e: f32[1000] = add(%b, %d)
  %g: f32[1000] = test.enqueued(%e)
  %h: f32[1000] = rev(%g) dimensions=[0]
  %i: f32[1000] = add(%h, %x)
  return %i, %d
})";

constexpr std::string_view kInWhile = R"(program f(%k: i32[], %x: f32[1000]) {
  %n: i32[], %y: f32[1000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
    %five: i32[] = constant 5
    %less: bool[] = lt(%k, %five)
    return %less
  } body=program(%k: i32[], %v: f32[1000]) {
    %one: i32[] = constant 1
    %j: i32[] = add(%k, %one)
    %r: f32[1000] = rev(%v) dimensions=[0]
    %s: f32[1000] = test.enqueued(%r)
    %next: f32[1000] = add(%v, %s)
    return %j, %next
  }
  return %n, %y
})";

constexpr std::string_view kInScan = R"(program f(%x: f32[1000]) {
  %y: f32[1000] = scan(%x) length=12 num_consts=0 num_carry=1 body=program b(%v: f32[1000]) {
    %m: f32[] = reduce_max(%v) axes=[0]
    %b: f32[1000] = broadcast_in_dim(%m) shape=[1000] broadcast_dimensions=[]
    %r: f32[1000] = rev(%v) dimensions=[0]
    %s: f32[1000] = sub(%b, %r)
    %t: f32[1000] = test.enqueued(%s)
    return %t
  }
  return %y
})";

constexpr std::string_view kInBranches = R"(program f(%i: i32[], %x: f32[1000]) {
  %y: f32[1000] = cond(%i, %x) branches=[program(%x: f32[1000]) {
    %y: f32[1000] = mul(%x, %x)
    %z: f32[1000] = test.enqueued(%y)
    return %z
  }, program(%x: f32[1000]) {
    return %x
  }, program(%x: f32[1000]) {
    %y: f32[1000] = test.enqueued(%x)
    return %y
  }]
  %m: f32[] = reduce_max(%y) axes=[0]
  return %y, %m
})";

class EnqueuedCallsTest : public ConditionalGraphs {
 protected:
  explicit EnqueuedCallsTest(int driver_version = 12080) {
    SetDriver(driver_version);
    AddEnqueuedRow(ctx());
    driver_->cuStreamCreate(&theirs_, cuda::kCuStreamNonBlocking);
    EXPECT_TRUE(Ok(ricci_stream_wrap(Gpu(), theirs_, &stream_)));
  }
  ~EnqueuedCallsTest() override {
    ricci_stream_release(stream_);
    driver_->cuStreamDestroy(theirs_);
    EXPECT_EQ(BareDriver::Complaints(), "");
  }
  std::unique_ptr<HostCall> Call(std::string_view text) {
    return std::make_unique<HostCall>(ctx(), Gpu(), driver_, theirs_, text);
  }
  // The calls of the driver in a run that must give what `ref` gives.
  std::vector<std::string> CallsOf(HostCall& call, std::string_view text, const std::vector<Floats>& args) {
    call.Write(args);
    Calls();
    EXPECT_TRUE(Ok(call.Enqueue(stream_)));
    const std::vector<std::string> calls = Calls();
    const int launches = enqueued.launches;
    EXPECT_EQ(call.Read(), OnRef(text, args));
    EXPECT_EQ(enqueued.launches, launches) << "it ran on ref";
    return calls;
  }
  // A run is one launch of a graph with so many calls, which are captured once.
  void ExpectOneGraph(std::string_view text, const std::vector<std::vector<Floats>>& arguments, int calls) {
    const std::unique_ptr<HostCall> call = Call(text);
    enqueued.launches = 0;
    bool is_first = true;
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SetSeed(seed);
      for (const std::vector<Floats>& args : arguments) {
        const std::vector<std::string> made = CallsOf(*call, text, args);
        EXPECT_EQ(CountOf(made, "cuGraphLaunch"), 1);
        EXPECT_EQ(CountOf(made, "cuStreamBeginCapture"), is_first ? calls : 0);
        EXPECT_EQ(CountOf(made, "cuGraphAddChildGraphNode"), is_first ? calls : 0);
        EXPECT_EQ(CountOf(made, "cuGraphInstantiate"), is_first ? 1 : 0);
        EXPECT_EQ(CountOf(made, "cuMemcpyDtoDAsync"), is_first ? 2 * calls : 0) << "into captured streams alone";
        for (const char* name : {"cuLaunchKernel", "cuStreamSynchronize", "cuMemcpyDtoH"}) {
          EXPECT_EQ(CountOf(made, name), 0) << name;
        }
        is_first = false;
      }
    }
    EXPECT_EQ(enqueued.launches, calls);
  }
  std::string Decisions(std::string_view text) { return runner_.Dump(runner_.Parse(text), "decisions", "cuda"); }
  // What a run comes to that must fail, by its enqueueing or at its end.
  std::string FailureOf(HostCall& call, const std::vector<Floats>& args) {
    call.Write(args);
    ricci_status* s = call.Enqueue(stream_);
    if (s == nullptr) s = ricci_event_wait(call.event());
    EXPECT_NE(s, nullptr);
    code_ = s == nullptr ? 0 : ricci_status_code(s);
    return s == nullptr ? "" : Message(s);
  }

  const BareDriver driver_;
  cuda::CuStream theirs_ = nullptr;
  ricci_stream* stream_ = nullptr;
  uint32_t code_ = 0;
};

// ---- where they are ----
TEST_F(EnqueuedCallsTest, Alone) { ExpectOneGraph(kAlone, {{Some(1000)}}, 1); }

TEST_F(EnqueuedCallsTest, BetweenKernels) { ExpectOneGraph(kSequence, {{Some(1000), Floats(1000, 3)}}, 3); }

TEST_F(EnqueuedCallsTest, InALoop) {
  ExpectOneGraph(kInWhile, {{{0}, Some(1000)}, {{4}, Some(1000)}, {{9}, Some(1000)}}, 1);
  ExpectOneGraph(kInScan, {{Some(1000)}}, 1);
}

TEST_F(EnqueuedCallsTest, InBranches) {
  ExpectOneGraph(kInBranches, {{{0}, Some(1000)}, {{1}, Some(1000)}, {{2}, Some(1000)}}, 2);
}

TEST_F(EnqueuedCallsTest, Vmapped) {
  ExpectOneGraph(R"(program f(%x: f32[4,250]) {
  %y: f32[4,250] = vmap(%x) size=4 in_axes=[0] out_axes=[0] axis_name="" body=program(%v: f32[250]) {
    %s: f32[250] = mul(%v, %v)
    %t: f32[250] = test.enqueued(%s)
    %u: f32[250] = add(%t, %v)
    return %u
  }
  return %y
})",
                 {{Some(1000)}}, 1);
}

// A driver without conditional nodes: loops are the host's, and what is in a trip is a graph.
class EnqueuedCallsOfCuda123 : public EnqueuedCallsTest {
 protected:
  EnqueuedCallsOfCuda123() : EnqueuedCallsTest(12030) {}
};
TEST_F(EnqueuedCallsOfCuda123, InALoopOfTheHost) {
  const std::unique_ptr<HostCall> call = Call(kInWhile);
  const std::vector<std::string> made = CallsOf(*call, kInWhile, {{1}, Some(1000)});
  EXPECT_EQ(CountOf(made, "cuGraphLaunch"), 1 + 4) << "what comes before the loop, and its trips";
  EXPECT_EQ(CountOf(made, "cuStreamBeginCapture"), 1);
}

// ---- what they enqueue ----
TEST_F(EnqueuedCallsTest, WhatForksAndComesBack) {
  enqueued.manner = Manner::kForks;
  const std::unique_ptr<HostCall> call = Call(kSequence);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SetSeed(seed);
    CallsOf(*call, kSequence, {Some(1000), Floats(1000, 3)});
  }
}

TEST_F(EnqueuedCallsTest, Nothing) {
  const std::unique_ptr<HostCall> call = Call(kAlone);
  enqueued.manner = Manner::kEnqueuesNothing;
  call->Write({Some(1000)});
  Calls();
  EXPECT_TRUE(Ok(call->Enqueue(stream_)));
  EXPECT_EQ(CountOf(Calls(), "cuGraphAddEmptyNode"), 1) << "so that the child graph is not empty";
  EXPECT_TRUE(std::isnan(call->Read()[0][0])) << "what was there before";
}

// ---- other addresses ----
TEST_F(EnqueuedCallsTest, OtherBuffersOfOneExecutable) {
  GpuProgram f(Gpu());
  ASSERT_TRUE(Ok(f.Compile(ctx(), kSequence)));
  std::vector<ricci_array*> kept;
  for (int run = 0; run < 3; ++run) {
    const std::vector<Floats> args{Some(1000), Floats(1000, static_cast<float>(run))};
    ASSERT_TRUE(Ok(f.Give(args)));
    Calls();
    ASSERT_TRUE(Ok(f.Enqueue()));
    const std::vector<std::string> made = Calls();
    EXPECT_EQ(CountOf(made, "cuGraphLaunch"), 1);
    EXPECT_EQ(CountOf(made, "cuGraphInstantiate"), run == 0 ? 1 : 0);
    EXPECT_EQ(CountOf(made, "cuGraphExecChildGraphNodeSetParams") > 0, run != 0);
    std::vector<Floats> got;
    EXPECT_TRUE(Ok(f.Read(got)));
    EXPECT_EQ(got, OnRef(kSequence, args));
    for (ricci_array* a : f.TakeOut()) kept.push_back(a);  // so that the next results are elsewhere
  }
  for (ricci_array* a : kept) ricci_array_release(a);
}

TEST_F(EnqueuedCallsTest, OtherBuffersOfABoundCall) {
  for (const std::string_view text : {kAlone, kInScan}) {
    const std::unique_ptr<HostCall> call = Call(text), other = Call(text);
    const std::vector<Floats> a{Some(1000)}, b{Floats(1000, 5)};
    CallsOf(*call, text, a);
    other->Write(b);
    call->Share(0, *other, 0);
    call->Share(1, *other, 1);
    call->Write(a);  // of no use to it any more
    Calls();
    ASSERT_TRUE(Ok(call->Enqueue(stream_)));
    const std::vector<std::string> made = Calls();
    EXPECT_EQ(CountOf(made, "cuGraphInstantiate"), 0);
    EXPECT_EQ(other->Read(), OnRef(text, b));
  }
}

// The driver refuses to change a node to another graph, so all is made again.
TEST_F(EnqueuedCallsTest, OtherWorkForOtherBuffers) {
  const std::unique_ptr<HostCall> call = Call(kInScan), other = Call(kInScan);
  CallsOf(*call, kInScan, {Some(1000)});
  enqueued.manner = Manner::kAddsAMemset;
  other->Write({Some(1000)});
  call->Share(0, *other, 0);
  call->Share(1, *other, 1);
  Calls();
  ASSERT_TRUE(Ok(call->Enqueue(stream_)));
  EXPECT_EQ(CountOf(Calls(), "cuGraphInstantiate"), 1);
  EXPECT_EQ(other->Read(), OnRef(kInScan, {Some(1000)}));
}

// When all graphs are in flight, further runs call launch, with their own stream.
TEST_F(EnqueuedCallsTest, ManyInFlight) {
  constexpr int kRuns = 20, kWithGraphs = 16;
  OfStandin<void(int)>("ricci_standin_asking_takes_time")(0);
  GpuProgram f(Gpu());
  ASSERT_TRUE(Ok(f.Compile(ctx(), kAlone)) && Ok(f.Give({Some(1000)})));
  enqueued.launches = 0;
  Calls();
  std::vector<ricci_array*> results;
  for (int i = 0; i < kRuns; ++i) {
    ASSERT_TRUE(Ok(f.Enqueue()));
    results.push_back(f.TakeOut()[0]);
  }
  const std::vector<std::string> made = Calls();
  EXPECT_EQ(CountOf(made, "cuGraphLaunch"), kWithGraphs);
  EXPECT_EQ(CountOf(made, "cuStreamBeginCapture"), kWithGraphs);
  EXPECT_EQ(enqueued.launches, kRuns);
  for (ricci_array* a : results) {
    Floats got(1000);
    EXPECT_TRUE(Ok(ricci_array_copy_to_host(a, got.data(), 4000)));
    EXPECT_EQ(got, Some(1000));
    ricci_array_release(a);
  }
  OfStandin<void(int)>("ricci_standin_asking_takes_time")(1);
}

// ---- a host that captures ----
TEST_F(EnqueuedCallsTest, InAGraphOfTheHost) {
  for (const std::string_view text : {kSequence, kInWhile}) {
    const bool is_loop = text == kInWhile;
    const std::vector<Floats> args =
        is_loop ? std::vector<Floats>{{1}, Some(1000)} : std::vector<Floats>{Some(1000), Some(1000)};
    const std::unique_ptr<HostCall> call = Call(text);
    HostCapture graph(theirs_);
    enqueued.launches = 0;
    ASSERT_TRUE(Ok(call->Enqueue(stream_)));
    EXPECT_TRUE(graph.IsValid());
    ASSERT_EQ(graph.End(), 0);
    for (int launch = 0; launch < 3; ++launch) {
      call->Write(args);
      EXPECT_EQ(graph.Launch(theirs_), 0);
      EXPECT_EQ(call->Read(), OnRef(text, args));
    }
    EXPECT_EQ(enqueued.launches, is_loop ? 1 : 3);
  }
}

// ---- broken promises ----
TEST_F(EnqueuedCallsTest, APromiseThatIsBroken) {
  struct Broken {
    Manner manner;
    const char *error, *complaint;
  };
  const Broken all[] = {{Manner::kWaits, "INVALIDATED", "cuStreamSynchronize of a stream that the host captures\n"},
                        {Manner::kAllocates, "INVALIDATED", "cuMemHostAlloc while the host captures a stream\n"},
                        {Manner::kLeavesAStream, "UNJOINED", ""},
                        {Manner::kEndsCapture, "SIMULATED", ""}};
  for (const std::string_view text : {kAlone, kInScan}) {
    for (const Broken& b : all) {
      const std::unique_ptr<HostCall> call = Call(text);
      enqueued.manner = b.manner;
      const std::string why = FailureOf(*call, {Some(1000)});
      EXPECT_EQ(code_, uint32_t{RICCI_FAILED_PRECONDITION});
      EXPECT_NE(why.find("test.enqueued: its launch breaks RICCI_LIBRARY_ONLY_ENQUEUES"), why.npos) << why;
      EXPECT_NE(why.find("cuStreamEndCapture: CUDA_ERROR_"), why.npos) << why;
      EXPECT_NE(why.find(b.error), why.npos) << why;
      EXPECT_EQ(BareDriver::Complaints().find(b.complaint), 0u) << b.complaint;
      enqueued.manner = Manner::kKeepsPromise;
      CallsOf(*call, text, {Some(1000)});
    }
  }
}

TEST_F(EnqueuedCallsTest, ALaunchThatFails) {
  for (const Manner manner : {Manner::kReturns, Manner::kThrows}) {
    const std::unique_ptr<HostCall> call = Call(kSequence);
    enqueued.manner = manner;
    const std::string why = FailureOf(*call, {Some(1000), Some(1000)});
    EXPECT_NE(why.find(manner == Manner::kThrows ? "enqueued: thrown" : "enqueued: no more"), why.npos) << why;
    EXPECT_NE(why.find("test.enqueued"), why.npos) << why;
    enqueued.manner = Manner::kKeepsPromise;
    CallsOf(*call, kSequence, {Some(1000), Some(1000)});
  }
}

TEST_F(EnqueuedCallsTest, PageableMemoryInALoop) {
  const std::unique_ptr<HostCall> call = Call(kInScan);
  enqueued.manner = Manner::kUsesPageableMemory;
  const std::string why = FailureOf(*call, {Some(1000)});
  EXPECT_EQ(code_, uint32_t{RICCI_FAILED_PRECONDITION});
  EXPECT_NE(why.find("test.enqueued: what its launch enqueues cannot be a node of this graph"), why.npos) << why;
  EXPECT_NE(BareDriver::Complaints().find("memory of the host that is not pinned"), std::string::npos);
}

// Whichever call of the driver fails: a status says which, or what the library says, and the next run is right.
void ExpectFailures(bool is_changed, const Floats& want, std::set<std::string>& names) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  for (uint64_t n = 1;; ++n) {
    ProgramRunner fresh;
    AddEnqueuedRow(fresh.ctx());
    ASSERT_TRUE(Ok(ricci_context_add_plugin(fresh.ctx(), QuerySimulatedGpu)));
    GpuProgram f(GpuOf(fresh.ctx()));
    ASSERT_TRUE(Ok(f.Compile(fresh.ctx(), kInScan)) && Ok(f.Give({Some(1000)})));
    if (is_changed) {
      ASSERT_TRUE(Ok(f.Enqueue()));
    }
    const std::vector<ricci_array*> kept = f.TakeOut();  // so that the next results are elsewhere
    for (ricci_array* a : kept) EXPECT_TRUE(Ok(ricci_array_wait(a)));
    fail(n, 999, 0);
    ricci_status* s = f.Enqueue();
    if (s == nullptr) s = ricci_array_wait(f.out()[0]);
    const std::string name = failed(), why = s == nullptr ? "" : Message(s);
    fail(0, 0, 0);
    names.insert(name);
    const bool is_said = why.find("enqueued: no more") != why.npos;
    EXPECT_TRUE(why.empty() || is_said || why.find(name) != why.npos) << name << ": " << why;
    std::vector<Floats> got;
    EXPECT_TRUE(Ok(f.Enqueue()) && Ok(f.Read(got))) << name;
    EXPECT_EQ(got[0], want) << name;
    for (ricci_array* a : kept) ricci_array_release(a);
    if (name.empty()) return;
  }
}
TEST_F(EnqueuedCallsTest, AFailureOfTheDriver) {
  const Floats want = OnRef(kInScan, {Some(1000)})[0];
  for (const bool is_changed : {false, true}) {  // a graph that is made, or changed
    std::set<std::string> names;
    ExpectFailures(is_changed, want, names);
    for (const char* name : {"cuStreamBeginCapture", "cuMemcpyDtoDAsync", "cuStreamEndCapture", "cuGraphGetNodes",
                             is_changed ? "cuGraphExecChildGraphNodeSetParams" : "cuGraphAddChildGraphNode"}) {
      EXPECT_EQ(names.count(name), 1u) << name;
    }
  }
}

// ---- rows ----
TEST_F(EnqueuedCallsTest, AreForOneTarget) {
  ricci_status* const s = AddRow(ctx(), "test.everywhere", kEnqueuing, "*");
  EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_INVALID_ARGUMENT});
  const std::string why = Message(s);
  EXPECT_NE(why.find("RICCI_LIBRARY_ONLY_ENQUEUES is for the lowering of one target"), why.npos) << why;
  ricci_library unknown = kEnqueuing;
  unknown.hdr.flags = 1u << 7;
  const std::string known = Message(AddRow(ctx(), "test.unknown", unknown, "cuda"));
  EXPECT_NE(known.find("RICCI_LIBRARY_ONLY_ENQUEUES"), known.npos) << known;
}

TEST_F(EnqueuedCallsTest, AreExplained) {
  const std::string said = Decisions(kSequence);
  EXPECT_NE(said.find("3 calls of test.enqueued: captured once, then nodes of the graph\n"), said.npos) << said;
  EXPECT_NE(said.find("a run launches one graph with all steps\n"), said.npos) << said;
}

}}  // namespace ricci::testing
