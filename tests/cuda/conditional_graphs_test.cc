// Loops and branches in graphs: one launch gives what `ref` gives, in any order, again with other arguments, and where
// the driver has no such graphs the host decides.
#include "cuda/conditional_graphs.h"

#include <atomic>
#include <chrono>
#include <thread>

namespace ricci::testing { namespace {

TEST_F(ConditionalGraphs, ALoop) {
  ExpectOneLaunch(kWhile, {{{1}, Some(1000)}, {{4}, Some(1000)}, {{9}, Some(1000)}, {{-3}, Some(1000)}});
}

TEST_F(ConditionalGraphs, ABranch) {
  ExpectOneLaunch(kSwitch,
                  {{{0}, Some(1000)}, {{1}, Some(1000)}, {{2}, Some(1000)}, {{-7}, Some(1000)}, {{1e9f}, Some(1000)}});
}

TEST_F(ConditionalGraphs, ManyBranches) {
  for (const int n : {8, 9}) {
    std::vector<std::vector<Floats>> arguments;
    for (const int i : {-1, 0, 1, 7, 8, 9}) arguments.push_back({{static_cast<float>(i)}, Some(1000)});
    ExpectOneLaunch(BranchesOf(n), arguments);
  }
}

TEST_F(ConditionalGraphs, ALoopWithSlices) {
  for (const int length : {1, 2, 5, 8}) {
    ExpectOneLaunch(ScanOf(length), {{Some(1000), Some(static_cast<size_t>(length) * 1000)}});
  }
}

TEST_F(ConditionalGraphs, ALoopInABranchInALoop) {
  ExpectOneLaunch(kNested, {{{0}, Some(1000)}, {{1}, Some(1000)}, {{-2}, Some(1000)}});
}

TEST_F(ConditionalGraphs, AreExplained) {
  Gpu();
  const auto last_line = [&](std::string_view text) {
    const std::string said = runner_.Dump(runner_.Parse(text), "decisions", "cuda");
    return said.substr(said.find("a run "));
  };
  EXPECT_EQ(
      last_line(kSwitch),
      "a run launches one graph with all steps, in which the device decides about loops and branches; the branches of "
      "a choice are one node\n");
  EXPECT_EQ(
      last_line(kWhile),
      "a run launches one graph with all steps, in which the device decides about loops and branches; one that may "
      "be cancelled or has a deadline issues its steps individually\n");
}

// The programs have loops and branches in the plan, rather than in kernels.
TEST_F(ConditionalGraphs, PlansAreWhatNamesSay) {
  EXPECT_NE(Plan(kWhile).find("while"), std::string::npos);
  EXPECT_NE(Plan(kSwitch).find("case"), std::string::npos);
  EXPECT_NE(Plan(ScanOf(5)).find("while"), std::string::npos);
  const std::string nested = Plan(kNested);
  EXPECT_NE(nested.find("case", nested.find("while")), std::string::npos) << nested;
  EXPECT_NE(nested.find("while", nested.find("case")), std::string::npos) << nested;
}

// Nodes in bodies are changed like others.
TEST_F(ConditionalGraphs, OtherArgumentsChangeNodes) {
  for (const std::string_view text : {kWhile, kSwitch, kNested}) {
    GpuProgram f(Gpu());
    ASSERT_TRUE(Ok(f.Compile(ctx(), text)));
    const std::vector<std::string> first = CallsOfRun(f, text, {{2}, Some(1000)});
    EXPECT_EQ(CountOf(first, "cuGraphInstantiate"), 1);
    const std::vector<ricci_array*> kept = f.TakeOut();  // so that the next results are elsewhere
    const std::vector<std::string> second = CallsOfRun(f, text, {{1}, Floats(1000, 3)});
    EXPECT_EQ(CountOf(second, "cuGraphInstantiate"), 0);
    EXPECT_EQ(CountOf(second, "cuGraphAdd"), 0);
    EXPECT_GT(CountOf(second, "cuGraphExecKernelNodeSetParams"), 0);
    for (ricci_array* a : kept) ricci_array_release(a);
  }
}

TEST_F(ConditionalGraphs, TheDriverIsTriedOnce) {
  Gpu();
  Calls();
  GpuProgram first(Gpu()), second(Gpu());
  ASSERT_TRUE(Ok(first.Compile(ctx(), kWhile)));
  EXPECT_EQ(CountOf(Calls(), "cuGraphConditionalHandleCreate"), 1);
  ASSERT_TRUE(Ok(second.Compile(ctx(), kSwitch)));
  EXPECT_EQ(CountOf(Calls(), "cuGraphConditionalHandleCreate"), 2) << "an IF with two bodies and a SWITCH";
  GpuProgram third(Gpu());
  ASSERT_TRUE(Ok(third.Compile(ctx(), BranchesOf(2))));
  EXPECT_EQ(CountOf(Calls(), "cuGraph"), 0);
}

TEST_F(ConditionalGraphs, AFailedCheckInALoop) {
  Gpu();
  const Program f = runner_.Parse(R"(program f(%k: i32[], %x: f32[1000]) {
  %n: i32[], %y: f32[1000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
    %five: i32[] = constant 5
    %less: bool[] = lt(%k, %five)
    return %less
  } body=program(%k: i32[], %v: f32[1000]) {
    %one: i32[] = constant 1
    %j: i32[] = add(%k, %one)
    %r: f32[1000] = rev(%v) dimensions=[0]
    %s: f32[1000] = add(%v, %r)
    %m: f32[] = reduce_max(%s) axes=[0]
    %most: f32[] = constant 20.0
    %p: bool[] = lt(%m, %most)
    %c: f32[] = check(%p, %m) code=3 message="too large"
    %b: f32[1000] = broadcast_in_dim(%c) shape=[1000] broadcast_dimensions=[]
    %t: f32[1000] = max(%s, %b)
    return %j, %t
  }
  return %y
})");
  Calls();
  EXPECT_NE(runner_.RunError(f, {{0}, Numbers(1000, 1)}).find("too large"), std::string::npos);
  runner_.RunEverywhere(f, {{4}, Numbers(1000, 1)});
  EXPECT_EQ(CountOf(Calls(), "cuLaunchKernel"), 0);
}

// ---- where the host decides ----
TEST_F(ConditionalGraphs, AnOlderDriver) {
  SetDriver(12030);
  const std::string_view why = "the plan has loops or branches, and the driver is older than CUDA 12.4";
  ExpectThatTheHostDecides(kWhile, {{1}, Some(1000)}, why);
  ExpectThatTheHostDecides(kSwitch, {{1}, Some(1000)}, why);
}

TEST_F(ConditionalGraphs, ACompilerThatRefusesTheKernels) {
  Refuse("cudaGraphSetConditional");
  ExpectThatTheHostDecides(
      kWhile, {{1}, Some(1000)},
      "the plan has loops or branches, and NVRTC refuses a kernel for compute_75: ricci.cu(1): error: the "
      "test refuses cudaGraphSetConditional");
}

// Which says nothing of conditions: it is a failure, and the next program tries again.
TEST_F(ConditionalGraphs, ACompilerThatFailsOnce) {
  Gpu();
  OfStandin<void(uint32_t, int)>("ricci_standin_compiler_fails")(2, 1);  // after the plan's own kernels
  GpuProgram f(Gpu());
  ricci_status* const failed = f.Compile(ctx(), kWhile);
  EXPECT_EQ(ricci_status_code(failed), uint32_t{RICCI_INTERNAL});
  EXPECT_EQ(Message(failed), "cuda: NVRTC fails with error 1 for compute_75: ");
  ExpectOneLaunch(kWhile, {{{1}, Some(1000)}});
}

// Whichever call says that it does not know something, programs run, and --explain says which.
TEST_F(ConditionalGraphs, ADriverThatRefuses) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  std::vector<std::string> refused;
  for (uint64_t n = 1;; ++n) {
    ProgramRunner runner;
    ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
    const Program f = runner.Parse(kWhile);
    fail(n, cuda::kCuNotSupported, 0);
    GpuProgram g(GpuOf(runner.ctx()));
    ricci_status* const s = g.Compile(runner.ctx(), kWhile);
    const std::string call = failed();
    fail(0, 0, 0);
    const std::string message = s == nullptr ? "" : Message(s);
    if (call.empty()) break;
    if (!message.empty()) {  // before the driver is tried
      EXPECT_NE(message.find(call), message.npos) << message;
      continue;
    }
    std::vector<Floats> got;
    EXPECT_TRUE(Ok(g.Give({{1}, Some(1000)})) && Ok(g.Enqueue()) && Ok(g.Read(got)));
    EXPECT_EQ(got, OnRef(kWhile, {{1}, Some(1000)}));
    const std::string said = runner.Dump(f, "decisions", "cuda");
    if (said.find("the driver refuses them: " + call + ": CUDA_ERROR_SIMULATED") != said.npos) refused.push_back(call);
  }
  const auto has = [&](const char* call) { return std::find(refused.begin(), refused.end(), call) != refused.end(); };
  for (const char* call : {"cuModuleLoadData", "cuModuleGetFunction", "cuGraphCreate", "cuGraphConditionalHandleCreate",
                           "cuGraphAddKernelNode", "cuGraphAddNode", "cuGraphInstantiateWithFlags"}) {
    EXPECT_TRUE(has(call)) << call;
  }
}

// Plans that are less deep are graphs, before and after.
TEST_F(ConditionalGraphs, ADriverThatTakesFewInEachOther) {
  SetDepth(2);
  ExpectOneLaunch(kWhile, {{{1}, Some(1000)}});
  for (int i = 0; i < 2; ++i) {
    ExpectThatTheHostDecides(
        kNested, {{1}, Some(1000)},
        "the plan has loops or branches, and the driver refuses them: cuGraphInstantiateWithFlags: "
        "CUDA_ERROR_SIMULATED: an error of the simulated driver (3 in each other)");
  }
  ExpectOneLaunch(kSwitch, {{{1}, Some(1000)}});
}

// The inner loop is the device's: a trip of the outer one asks by one launch.
TEST_F(ConditionalGraphs, ALoopInWhatAsks) {
  const std::vector<Floats> args{{1}, Some(1000)};
  GpuProgram f(Gpu());
  ASSERT_TRUE(Ok(f.Compile(ctx(), kLoopThatAsks)));
  const std::vector<std::string> calls = CallsOfRun(f, kLoopThatAsks, args);
  EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), 1 + CountOf(calls, "cuStreamSynchronize")) << "one before the loop";
  EXPECT_GT(CountOf(calls, "cuGraphLaunch"), 2);
  EXPECT_EQ(CountOf(calls, "cuGraphInstantiate"), 2);
  EXPECT_NE(runner_.Dump(runner_.Parse(kLoopThatAsks), "decisions", "cuda")
                .find("the host takes part in a run, since what computes the predicate of a loop has loops or branches "
                      "itself; 2 parts are graphs, in which the device decides about loops and branches"),
            std::string::npos);
}

// ---- runs that the host may end ----
class EndedRuns : public ConditionalGraphs {
 protected:
  // With this word.
  static ricci_status* Run(const GpuProgram& f, uint32_t n_out, const uint32_t* cancel, uint64_t deadline_ns = 0) {
    ricci_run_opts o = ricci_run_opts_default();
    o.cancel = cancel;
    o.deadline_ns = deadline_ns;
    std::vector<ricci_array*> out(n_out);
    Calls();
    ricci_status* s = ricci_executable_enqueue(f.executable(), f.in().data(), static_cast<uint32_t>(f.in().size()),
                                               out.data(), n_out, &o);
    for (ricci_array* a : out) {
      if (s == nullptr) s = ricci_array_wait(a);
      ricci_array_release(a);
    }
    return s;
  }
};

TEST_F(EndedRuns, LoopsAreTheHosts) {
  constexpr uint64_t kNever = ~uint64_t{0};
  const uint32_t word = 0;
  for (const std::string_view text : {kWhile, kSwitch}) {
    GpuProgram f(Gpu());
    ASSERT_TRUE(Ok(f.Compile(ctx(), text)) && Ok(f.Give({{1}, Some(1000)})));
    EXPECT_TRUE(Ok(Run(f, 2, nullptr)));
    EXPECT_EQ(CountOf(Calls(), "cuGraphLaunch"), 1);
    const int64_t launches = text == kWhile ? 0 : 1;  // branches end
    EXPECT_TRUE(Ok(Run(f, 2, &word)));
    EXPECT_EQ(CountOf(Calls(), "cuGraphLaunch"), launches);
    EXPECT_TRUE(Ok(Run(f, 2, nullptr, kNever)));
    EXPECT_EQ(CountOf(Calls(), "cuGraphLaunch"), launches);
  }
}

TEST_F(EndedRuns, AnEndlessLoopCanBeEnded) {
  GpuProgram f(Gpu());
  ASSERT_TRUE(Ok(f.Compile(ctx(), kEndless)) && Ok(f.Give({Floats(1000, 0.5f)})));
  std::atomic<uint32_t> word{0};
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    word = 1;
  });
  const std::string message = Message(Run(f, 1, reinterpret_cast<const uint32_t*>(&word)));
  later.join();
  const std::string_view want = "cuda: run cancelled by the host in the loop at test:2, after ";
  EXPECT_EQ(message.substr(0, want.size()), want);
  EXPECT_GT(CountOf(Calls(), "cuLaunchKernel"), 2) << "it had begun";
}

}}  // namespace ricci::testing
