// Runs of plans with library calls: what is between two of them is one launch of a graph, in order with them.
#include <algorithm>

#include "cuda/conditional_programs.h"
#include "cuda/driver_calls.h"
#include "cuda/library_rows.h"

namespace ricci::testing { namespace {

// Three kernels, a call of the device, three kernels, a call of the host, three kernels.
constexpr std::string_view kThreeParts = R"(program f(%x: f32[7]) {
  %a: f32[7] = sort(%x) dimension=0 is_stable=true num_keys=1
  %s: f32[7] = mul(%a, %x)
  %b: f32[7] = sort(%s) dimension=0 is_stable=true num_keys=1
  %c: f32[7] = test.copy(%b)
  %t: f32[7] = neg(%c)
  %d: f32[7] = sort(%t) dimension=0 is_stable=true num_keys=1
  %u: f32[7] = mul(%d, %x)
  %e: f32[7] = sort(%u) dimension=0 is_stable=true num_keys=1
  %g: f32[7] = test.parts(%e)
  %v: f32[7] = sub(%g, %x)
  %h: f32[7] = sort(%v) dimension=0 is_stable=true num_keys=1
  %w: f32[7] = mul(%h, %x)
  %i: f32[7] = sort(%w) dimension=0 is_stable=true num_keys=1
  return %i, %c
})";
template <typename F>
Floats Sorted(const Floats& x, const Floats& y, F f) {
  Floats out(x.size());
  std::transform(x.begin(), x.end(), y.begin(), out.begin(), f);
  std::sort(out.begin(), out.end());
  return out;
}
std::vector<Floats> WantedOfThree(const Floats& x) {
  const auto product = [](float a, float b) { return a * b; };
  const auto first = [](float a, float) { return a; };
  const auto negative = [](float a, float) { return -a; };
  const auto one_more = [](float a, float b) { return a + 1 - b; };
  const Floats c = Sorted(Sorted(x, x, first), x, product);
  const Floats e = Sorted(Sorted(c, c, negative), x, product);
  return {Sorted(Sorted(e, x, one_more), x, product), c};
}
Floats Seven(float from) { return {from, from - 3, from + 2, 5 - from, 1, from * 2, -from}; }

// A loop with a call of the host in its body, after two kernels.
constexpr std::string_view kLoopOfHost = R"(program f(%k: i32[], %x: f32[1000]) {
  %n: i32[], %y: f32[1000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
    %five: i32[] = constant 5
    %less: bool[] = lt(%k, %five)
    return %less
  } body=program(%k: i32[], %v: f32[1000]) {
    %one: i32[] = constant 1
    %j: i32[] = add(%k, %one)
    %m: f32[] = reduce_max(%v) axes=[0]
    %b: f32[1000] = broadcast_in_dim(%m) shape=[1000] broadcast_dimensions=[]
    %r: f32[1000] = rev(%v) dimensions=[0]
    %s: f32[1000] = sub(%b, %r)
    %t: f32[1000] = test.parts(%s)
    return %j, %t
  }
  return %n, %y
})";

// A loop of known trips with a call in its body.
std::string ScanOf(const std::string& call) {
  return R"(program f(%x: f32[1000]) {
  %y: f32[1000] = scan(%x) length=12 num_consts=0 num_carry=1 body=program b(%v: f32[1000]) {
    %m: f32[] = reduce_max(%v) axes=[0]
    %b: f32[1000] = broadcast_in_dim(%m) shape=[1000] broadcast_dimensions=[]
    %r: f32[1000] = rev(%v) dimensions=[0]
    %s: f32[1000] = sub(%b, %r)
    %t: f32[1000] = )" +
         call + R"((%s)
    return %t
  }
  return %y
})";
}
constexpr int kTrips = 12;
Floats AfterScan(Floats x, float more) {
  for (int trip = 0; trip < kTrips; ++trip) {
    const float most = *std::max_element(x.begin(), x.end());
    std::reverse(x.begin(), x.end());
    for (float& v : x) v = most - v + more;
  }
  return x;
}

// What a loop of the device and a call come to.
std::string LoopBesideCall() {
  std::string text(kWhile);
  const std::string_view result = "  return %n, %y\n}";
  text.replace(text.rfind(result), result.size(), "  %z: f32[1000] = test.copy(%y)\n  return %n, %z\n}");
  return text;
}
Floats AfterLoop(int trips, Floats x) {
  for (int i = 0; i < trips; ++i) {
    const Floats before = x;
    for (size_t at = 0; at < x.size(); ++at) x[at] += before[x.size() - 1 - at];
  }
  return x;
}

class PartRuns : public LibraryCalls {
 protected:
  ~PartRuns() override {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
    OfStandin<void(int)>("ricci_standin_asking_takes_time")(1);
  }
  // The calls of a run that gives this.
  static std::vector<std::string> CallsOfRun(GpuProgram& f, const std::vector<Floats>& args,
                                             const std::vector<Floats>& want) {
    std::vector<Floats> got;
    EXPECT_TRUE(Ok(f.Give(args)));
    Calls();
    EXPECT_TRUE(Ok(f.Enqueue()) && Ok(ricci_array_wait(f.out()[0])));
    const std::vector<std::string> calls = Calls();
    EXPECT_TRUE(Ok(f.Read(got)));
    EXPECT_EQ(got, want);
    return calls;
  }
};

TEST_F(PartRuns, EachPartIsOneLaunch) {
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kThreeParts)));
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    const Floats x = Seven(static_cast<float>(seed));
    const std::vector<std::string> calls = CallsOfRun(f, {x}, WantedOfThree(x));
    EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), 3);
    EXPECT_EQ(CountOf(calls, "cuLaunchKernel"), 0);
    EXPECT_EQ(CountOf(calls, "cuGraphInstantiate"), seed == 1 ? 3 : 0);
    EXPECT_EQ(CountOf(calls, "cuStreamSynchronize"), 2) << "for the operands and results of the host's call";
  }
}

TEST_F(PartRuns, AreExplained) {
  EXPECT_NE(r_.Dump(r_.Parse(kThreeParts), "decisions", "cuda")
                .find("the host takes part in a run, since the plan has library calls; 3 parts are graphs\n"),
            std::string::npos);
}

// Only the nodes that use what is elsewhere are changed: the argument is read in each part.
TEST_F(PartRuns, OtherArgumentsChangeNodes) {
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kThreeParts)));
  CallsOfRun(f, {Seven(1)}, WantedOfThree(Seven(1)));
  const std::vector<ricci_array*> kept = f.TakeOut();  // so that the next results are elsewhere
  const std::vector<std::string> calls = CallsOfRun(f, {Seven(4)}, WantedOfThree(Seven(4)));
  EXPECT_EQ(CountOf(calls, "cuGraphInstantiate"), 0);
  EXPECT_GE(CountOf(calls, "cuGraphExecKernelNodeSetParams"), 3);
  for (ricci_array* a : kept) ricci_array_release(a);
}

// When all graphs are in flight, further runs issue their steps individually.
TEST_F(PartRuns, ManyInFlight) {
  constexpr int kRuns = 20, kWithGraphs = 16;
  OfStandin<void(int)>("ricci_standin_asking_takes_time")(0);
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), R"(program f(%x: f32[7]) {
  %a: f32[7] = sort(%x) dimension=0 is_stable=true num_keys=1
  %s: f32[7] = mul(%a, %x)
  %b: f32[7] = sort(%s) dimension=0 is_stable=true num_keys=1
  %c: f32[7] = test.copy(%b)
  return %c
})")) && Ok(f.Give({Seven(3)})));
  Calls();
  std::vector<std::vector<ricci_array*>> results;
  for (int i = 0; i < kRuns; ++i) {
    ASSERT_TRUE(Ok(f.Enqueue()));
    results.push_back(f.TakeOut());
  }
  for (const std::vector<ricci_array*>& out : results) {
    Floats got(7);
    EXPECT_TRUE(Ok(ricci_array_copy_to_host(out[0], got.data(), 28)));
    EXPECT_EQ(got, WantedOfThree(Seven(3))[1]);
    ricci_array_release(out[0]);
  }
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), kWithGraphs);
  EXPECT_EQ(CountOf(calls, "cuLaunchKernel"), 3 * (kRuns - kWithGraphs));
}

// ---- with loops ----
TEST_F(PartRuns, WithinALoopOfTheHost) {
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kLoopOfHost)));
  Floats x = Some(1000), want = x;
  for (int trip = 0; trip < 4; ++trip) {
    const float most = *std::max_element(want.begin(), want.end());
    std::reverse(want.begin(), want.end());
    for (float& v : want) v = most - v + 1;
  }
  const std::vector<std::string> calls = CallsOfRun(f, {{1}, x}, {{5}, want});
  EXPECT_EQ(CountOf(calls, "cuGraphInstantiate"), 2) << "what comes before the loop, and its body";
  EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), 1 + 4) << "trips";
}

// Its trips are known, so the host does not ask the device for them, in whatever order that goes on.
TEST_F(PartRuns, ALoopOfKnownTripsIsNotWaitedFor) {
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), ScanOf("test.copy"))));
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    const std::vector<std::string> calls = CallsOfRun(f, {Some(1000)}, {AfterScan(Some(1000), 0)});
    EXPECT_EQ(CountOf(calls, "cuStreamSynchronize"), 0);
    EXPECT_EQ(CountOf(calls, "cuMemcpyDtoHAsync"), 0) << "no predicate, and the plan has no checks";
    EXPECT_EQ(CountOf(calls, "cuMemcpyDtoDAsync"), kTrips) << "calls";
  }
}
TEST_F(PartRuns, ALoopOfKnownTripsWaitsForFunctionsOfTheHostAlone) {
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), ScanOf("test.parts"))));
  const std::vector<std::string> calls = CallsOfRun(f, {Some(1000)}, {AfterScan(Some(1000), 1)});
  EXPECT_EQ(CountOf(calls, "cuStreamSynchronize"), 2 * kTrips) << "their operands and results";
}
// Its condition is on the device.
TEST_F(PartRuns, ALoopOfUnknownTripsIsWaitedFor) {
  std::string text(kLoopOfHost);
  text.replace(text.find("test.parts"), 10, "test.copy");
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), text)) && Ok(f.Give({{1}, Some(1000)})));
  Calls();
  ASSERT_TRUE(Ok(f.Enqueue()));
  EXPECT_EQ(CountOf(Calls(), "cuStreamSynchronize"), 5) << "4 trips, and the condition that ends them";
}

// A run that may be ended is not more than a trip ahead of the device.
struct Ended {
  uint32_t word = 0;
  int calls = 0, at = 0;  // the call that sets the word
  bool fails = false;     // or fails
};
Ended ended;
ricci_status* LaunchEnding(void* state, const ricci_launch* l) {
  const bool is_it = ++ended.calls == ended.at;
  if (is_it && ended.fails) return ricci_status_make(RICCI_INTERNAL, "ending: no more", 15);
  if (is_it) ended.word = 1;
  return LaunchCopy(state, l);
}
constexpr ricci_library kEnding = {{sizeof(ricci_library), 0, nullptr}, PlanCopy, LaunchEnding, DropCopy};

class KnownTrips : public PartRuns {
 protected:
  KnownTrips() : f_(GpuOf(r_.ctx())) {
    EXPECT_TRUE(Ok(AddRow(r_.ctx(), "test.ending", kEnding, "cuda")));
    EXPECT_TRUE(Ok(f_.Compile(r_.ctx(), ScanOf("test.ending"))) && Ok(f_.Give({Some(1000)})));
    ended = {};
  }
  // With a word to cancel it.
  ricci_status* Run(ricci_array** out) {
    ricci_run_opts o = ricci_run_opts_default();
    o.cancel = &ended.word;
    return ricci_executable_enqueue(f_.executable(), f_.in().data(), 1, out, 1, &o);
  }
  GpuProgram f_;
};

TEST_F(KnownTrips, MayBeCancelled) {
  ricci_array* out = nullptr;
  Calls();
  ASSERT_TRUE(Ok(Run(&out)));
  EXPECT_EQ(CountOf(Calls(), "cuStreamSynchronize"), kTrips + 1) << "for the condition of each";
  Floats got(1000);
  EXPECT_TRUE(Ok(ricci_array_copy_to_host(out, got.data(), 4000)));
  EXPECT_EQ(got, AfterScan(Some(1000), 0));
  ricci_array_release(out);
  ended = {.at = 3};
  EXPECT_EQ(Message(Run(&out)), "cuda: run cancelled by the host in the loop at test:2");
  EXPECT_EQ(ended.calls, 3);
}

TEST_F(KnownTrips, EndWithACallThatFails) {
  ended = {.at = 3, .fails = true};
  ricci_status* s = f_.Enqueue();
  if (s == nullptr) s = ricci_array_wait(f_.out()[0]);
  const std::string why = Message(s);
  EXPECT_NE(why.find("ending: no more"), why.npos) << why;
  EXPECT_EQ(ended.calls, 3);
  ended = {};
  CallsOfRun(f_, {Some(1000)}, {AfterScan(Some(1000), 0)});
}

// Whichever call of the driver fails, in whichever trip: a status says which, and the next run is right.
TEST_F(KnownTrips, EndWithACallOfTheDriverThatFails) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  int refused = 0;
  for (uint64_t n = 1;; n += 3) {
    fail(n, 999, 0);
    ricci_status* s = f_.Enqueue();
    if (s == nullptr) s = ricci_array_wait(f_.out()[0]);
    const std::string call = failed(), why = s == nullptr ? "" : Message(s);
    fail(0, 0, 0);
    if (call.empty()) break;
    const bool in_call = why.find("copy: the driver refuses") != why.npos;
    EXPECT_TRUE(why.empty() || in_call || why.find(call) != why.npos) << call << ": " << why;
    refused += !why.empty();
    CallsOfRun(f_, {Some(1000)}, {AfterScan(Some(1000), 0)});
  }
  EXPECT_GE(refused, kTrips);
}

// The device decides about it, and the host does not wait.
TEST_F(PartRuns, ALoopBesideACall) {
  GpuProgram f(GpuOf(r_.ctx()));
  const std::string text = LoopBesideCall();
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), text)));
  const std::vector<std::string> calls = CallsOfRun(f, {{1}, Some(1000)}, {{5}, AfterLoop(4, Some(1000))});
  EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), 1);
  EXPECT_EQ(CountOf(calls, "cuStreamSynchronize"), 0);
  EXPECT_NE(r_.Dump(r_.Parse(text), "decisions", "cuda").find("one part is a graph, in which the device decides about"),
            std::string::npos);
}

TEST_F(PartRuns, ALoopOfARunThatMayEndIsTheHosts) {
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), LoopBesideCall())) && Ok(f.Give({{1}, Some(1000)})));
  uint32_t word = 0;
  ricci_run_opts o = ricci_run_opts_default();
  o.cancel = &word;
  ricci_array* out[2] = {};
  Calls();
  ASSERT_TRUE(Ok(ricci_executable_enqueue(f.executable(), f.in().data(), 2, out, 2, &o)));
  Floats got(1000);
  EXPECT_TRUE(Ok(ricci_array_copy_to_host(out[1], got.data(), 4000)));
  EXPECT_EQ(got, AfterLoop(4, Some(1000)));
  EXPECT_EQ(CountOf(Calls(), "cuGraphLaunch"), 0);
  word = 1;
  ricci_array* none[2] = {};
  EXPECT_EQ(Message(ricci_executable_enqueue(f.executable(), f.in().data(), 2, none, 2, &o)),
            "cuda: run cancelled by the host");
  for (ricci_array* a : out) ricci_array_release(a);
}

// ---- failures ----
// Whichever call fails: a status says which, and the next run is right.
TEST_F(PartRuns, AFailureOfTheDriver) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  int refused = 0;
  for (uint64_t n = 1;; ++n) {
    ProgramRunner fresh;
    AddLibraryRows(fresh.ctx());
    GpuProgram f(GpuOf(fresh.ctx()));
    ASSERT_TRUE(Ok(f.Compile(fresh.ctx(), kThreeParts)) && Ok(f.Give({Seven(2)})));
    fail(n, 999, 0);
    ricci_status* s = f.Enqueue();
    if (s == nullptr) s = ricci_array_wait(f.out()[0]);
    const std::string call = failed(), why = s == nullptr ? "" : Message(s);
    fail(0, 0, 0);
    if (call.empty()) break;
    const bool in_call =
        why.find("copy: the driver refuses") != why.npos;  // of the library, which calls the driver too
    EXPECT_TRUE(why.empty() || in_call || why.find(call) != why.npos) << call << ": " << why;
    refused += why.find("cuGraph") != why.npos;
    CallsOfRun(f, {Seven(3)}, WantedOfThree(Seven(3)));
  }
  EXPECT_GE(refused, 3 * 3) << "of three graphs: made, instantiated, launched";
}

// A lowering that breaks the rule: it copies in a stream of its own. So the order of parts and calls is looked at.
struct Elsewhere {
  OnStream copy;
  cuda::CuStream stream = nullptr;
};
ricci_status* PlanElsewhere(void* self, const ricci_op* op, ricci_library_plan* plan) {
  if (ricci_status* s = PlanCopy(self, op, plan)) return s;
  const std::unique_ptr<OnStream> copy(static_cast<OnStream*>(plan->state));
  plan->state = new Elsewhere{std::move(*copy)};
  return nullptr;
}
ricci_status* LaunchElsewhere(void* state, const ricci_launch* l) {
  Elsewhere& s = *static_cast<Elsewhere*>(state);
  if (s.stream == nullptr) s.copy.driver->cuStreamCreate(&s.stream, cuda::kCuStreamNonBlocking);
  ricci_launch there = *l;
  there.stream = s.stream;
  return LaunchCopy(&s.copy, &there);
}
void DropElsewhere(void* state) {
  const std::unique_ptr<Elsewhere> s(static_cast<Elsewhere*>(state));
  s->copy.driver->cuStreamSynchronize(s->stream);
  s->copy.driver->cuStreamDestroy(s->stream);
}
constexpr ricci_library kElsewhere = {
    {sizeof(ricci_library), 0, nullptr}, PlanElsewhere, LaunchElsewhere, DropElsewhere};

TEST(PartOrders, ACallInAnotherStreamIsReported) {
  {
    ProgramRunner r;
    ASSERT_TRUE(Ok(AddRow(r.ctx(), "test.elsewhere", kElsewhere, "cuda")));
    ASSERT_TRUE(Ok(ricci_context_add_plugin(r.ctx(), QuerySimulatedGpu)));
    GpuProgram f(GpuOf(r.ctx()));
    ASSERT_TRUE(Ok(f.Compile(r.ctx(), R"(program f(%x: f32[7]) {
  %a: f32[7] = sort(%x) dimension=0 is_stable=true num_keys=1
  %s: f32[7] = mul(%a, %x)
  %b: f32[7] = sort(%s) dimension=0 is_stable=true num_keys=1
  %c: f32[7] = test.elsewhere(%b)
  %t: f32[7] = neg(%c)
  %d: f32[7] = sort(%t) dimension=0 is_stable=true num_keys=1
  return %d
})")));
    ASSERT_TRUE(Ok(f.Give({Seven(1)})) && Ok(f.Enqueue()) && Ok(ricci_array_wait(f.out()[0])));
    OfStandin<void()>("ricci_standin_run")();
  }
  const std::string said = BareDriver::Complaints();
  EXPECT_NE(said.find("not in order: cuMemcpyDtoDAsync in stream"), said.npos) << said;
  EXPECT_NE(said.find("(node 2) in stream"), said.npos) << said << "the sort of the first part";
}

}}  // namespace ricci::testing
