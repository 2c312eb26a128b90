// Loops and branches in graphs: one launch gives what `ref` gives, in any order, again with other arguments, and where
// the driver has no such graphs the host decides.
#include <atomic>
#include <chrono>
#include <thread>

#include "cuda/driver_calls.h"
#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr std::string_view kWhile = R"(program f(%k: i32[], %x: f32[1000]) {
  %n: i32[], %y: f32[1000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
    %five: i32[] = constant 5
    %less: bool[] = lt(%k, %five)
    return %less
  } body=program(%k: i32[], %v: f32[1000]) {
    %one: i32[] = constant 1
    %j: i32[] = add(%k, %one)
    %r: f32[1000] = rev(%v) dimensions=[0]
    %next: f32[1000] = add(%v, %r)
    return %j, %next
  }
  return %n, %y
})";

// The second branch has no work of its own.
constexpr std::string_view kSwitch = R"(program f(%i: i32[], %x: f32[1000]) {
  %y: f32[1000] = cond(%i, %x) branches=[program(%x: f32[1000]) {
    %y: f32[1000] = mul(%x, %x)
    return %y
  }, program(%x: f32[1000]) {
    return %x
  }, program(%x: f32[1000]) {
    %y: f32[1000] = rev(%x) dimensions=[0]
    %z: f32[1000] = sub(%x, %y)
    return %z
  }]
  %m: f32[] = reduce_max(%y) axes=[0]
  return %y, %m
})";

// A list of branches, of which number i adds i times its argument backwards.
std::string BranchesOf(int n) {
  std::string text = "program f(%i: i32[], %x: f32[1000]) {\n  %y: f32[1000] = cond(%i, %x) branches=[";
  for (int i = 0; i < n; ++i) {
    text += std::string(i == 0 ? "" : ", ") + "program(%x: f32[1000]) {\n    %k: f32[1000] = constant " +
            std::to_string(i) + ".0\n    %r: f32[1000] = rev(%x) dimensions=[0]\n" +
            "    %s: f32[1000] = mul(%r, %k)\n    %y: f32[1000] = add(%x, %s)\n    return %y\n  }";
  }
  return text + "]\n  return %y, %i\n}";
}

// The carry is another array in each trip, or copied; a trip has slices of its own.
std::string ScanOf(int length) {
  const std::string n = std::to_string(length);
  return "program f(%c: f32[1000], %x: f32[" + n + ",1000]) {\n  %d: f32[1000], %y: f32[" + n +
         R"(,1000] = scan(%c, %x) num_consts=0 num_carry=1 length=)" + n +
         R"( body=program(%c: f32[1000], %x: f32[1000]) {
    %r: f32[1000] = rev(%c) dimensions=[0]
    %s: f32[1000] = sub(%r, %x)
    %m: f32[] = reduce_max(%s) axes=[0]
    %b: f32[1000] = broadcast_in_dim(%m) shape=[1000] broadcast_dimensions=[]
    %y: f32[1000] = sub(%b, %s)
    return %s, %y
  }
  return %d, %y
})";
}

// A loop in a branch in a loop.
constexpr std::string_view kNested = R"(program f(%n: i32[], %c: f32[1000]) {
  %k: i32[], %d: f32[1000] = scan(%n, %c) length=4 num_consts=0 num_carry=2 body=program(%n: i32[], %c: f32[1000]) {
    %two: i32[] = constant 2
    %odd: i32[] = rem(%n, %two)
    %e: f32[1000] = cond(%odd, %n, %c) branches=[program(%n: i32[], %c: f32[1000]) {
      %r: f32[1000] = rev(%c) dimensions=[0]
      %s: f32[1000] = sub(%c, %r)
      return %s
    }, program(%n: i32[], %c: f32[1000]) {
      %z: i32[], %w: f32[1000] = while(%n, %c) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
        %zero: i32[] = constant 0
        %more: bool[] = gt(%k, %zero)
        return %more
      } body=program(%k: i32[], %v: f32[1000]) {
        %one: i32[] = constant 1
        %less: i32[] = sub(%k, %one)
        %r: f32[1000] = rev(%v) dimensions=[0]
        %t: f32[1000] = add(%v, %r)
        return %less, %t
      }
      return %w
    }]
    %one: i32[] = constant 1
    %m: i32[] = add(%n, %one)
    return %m, %e
  }
  return %k, %d
})";

// What asks whether the outer loop goes on is a loop.
constexpr std::string_view kLoopThatAsks = R"(program f(%k: i32[], %x: f32[1000]) {
  %n: i32[], %y: f32[1000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
    %j: i32[], %w: f32[1000] = while(%k, %v) cond_nconsts=0 body_nconsts=0 cond=program(%k: i32[], %v: f32[1000]) {
      %three: i32[] = constant 3
      %less: bool[] = lt(%k, %three)
      return %less
    } body=program(%k: i32[], %v: f32[1000]) {
      %one: i32[] = constant 1
      %j: i32[] = add(%k, %one)
      %r: f32[1000] = rev(%v) dimensions=[0]
      %next: f32[1000] = add(%v, %r)
      return %j, %next
    }
    %m: f32[] = reduce_max(%w) axes=[0]
    %most: f32[] = constant 5000.0
    %less: bool[] = lt(%m, %most)
    return %less
  } body=program(%k: i32[], %v: f32[1000]) {
    %next: f32[1000] = add(%v, %v)
    return %k, %next
  }
  return %n, %y
})";

// Halving never reaches 1.
constexpr std::string_view kEndless = R"(program f(%x: f32[1000]) {
  %y: f32[1000] = while(%x) cond_nconsts=0 body_nconsts=0 cond=program(%v: f32[1000]) {
    %m: f32[] = reduce_max(%v) axes=[0]
    %one: f32[] = constant 1.0
    %less: bool[] = lt(%m, %one)
    return %less
  } body=program(%v: f32[1000]) {
    %half: f32[1000] = constant 0.5
    %next: f32[1000] = mul(%v, %half)
    return %next
  }
  return %y
})";

Floats Some(size_t n) {
  Floats out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<float>((i * 29) % 47) - 20;
  return out;
}

void SetSeed(uint64_t seed) { OfStandin<void(uint64_t)>("ricci_standin_seed")(seed); }
void SetDriver(int version) { OfStandin<void(int)>("ricci_standin_version")(version); }
void SetDepth(uint32_t most) { OfStandin<void(uint32_t)>("ricci_standin_depth")(most); }
void Refuse(const char* word) { OfStandin<void(const char*)>("ricci_standin_refuse")(word); }

class ConditionalGraphs : public ::testing::Test {
 protected:
  ~ConditionalGraphs() override {
    SetSeed(1);
    SetDriver(12040);
    SetDepth(~0u);
    Refuse("");
    OfStandin<void(uint64_t, int, int)>("ricci_standin_fail")(0, 0, 0);
  }

  ricci_ctx* ctx() { return runner_.ctx(); }
  ricci_device* Gpu() {
    if (gpu_ == nullptr) Ok(ricci_context_add_plugin(ctx(), QuerySimulatedGpu));
    return gpu_ = GpuOf(ctx());
  }
  std::vector<Floats> OnRef(std::string_view text, const std::vector<Floats>& args) {
    GpuProgram f(ricci_device_find(ctx(), "ref", 3));
    std::vector<Floats> out;
    EXPECT_TRUE(Ok(f.Compile(ctx(), text)) && Ok(f.Give(args)) && Ok(f.Enqueue()) && Ok(f.Read(out)));
    return out;
  }
  // The calls of a run of `f`, which must give what `ref` gives.
  std::vector<std::string> CallsOfRun(GpuProgram& f, std::string_view text, const std::vector<Floats>& args) {
    EXPECT_TRUE(Ok(f.Give(args)));
    Calls();
    EXPECT_TRUE(Ok(f.Enqueue()));
    EXPECT_TRUE(Ok(ricci_array_wait(f.out()[0])));
    const std::vector<std::string> calls = Calls();
    std::vector<Floats> got;
    EXPECT_TRUE(Ok(f.Read(got)));
    EXPECT_EQ(got, OnRef(text, args));
    return calls;
  }
  void ExpectOneLaunch(std::string_view text, const std::vector<std::vector<Floats>>& arguments) {
    GpuProgram f(Gpu());
    ASSERT_TRUE(Ok(f.Compile(ctx(), text)));
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      SetSeed(seed);
      for (const std::vector<Floats>& args : arguments) {
        SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(args[0][0]));
        const std::vector<std::string> calls = CallsOfRun(f, text, args);
        EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), 1);
        for (const char* call : {"cuLaunchKernel", "cuMemcpy", "cuMemset", "cuStreamSynchronize"}) {
          EXPECT_EQ(CountOf(calls, call), 0) << call;
        }
      }
    }
  }
  void ExpectStepwise(std::string_view text, const std::vector<Floats>& args, std::string_view why) {
    GpuProgram f(Gpu());
    ASSERT_TRUE(Ok(f.Compile(ctx(), text)));
    const std::vector<std::string> calls = CallsOfRun(f, text, args);
    EXPECT_EQ(CountOf(calls, "cuGraph"), 0);
    EXPECT_GT(CountOf(calls, "cuLaunchKernel"), 0);
    const std::string said = runner_.Dump(runner_.Parse(text), "decisions", "cuda");
    EXPECT_NE(said.find("a run issues its steps one by one: " + std::string(why)), said.npos) << said;
  }
  std::string Plan(std::string_view text) {
    Gpu();
    return runner_.Dump(runner_.Parse(text), "plan", "cuda");
  }

  ProgramRunner runner_;
  ricci_device* gpu_ = nullptr;
};

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
  EXPECT_EQ(last_line(kSwitch),
            "a run launches one graph with all steps, in which the device decides about loops and branches\n");
  EXPECT_EQ(
      last_line(kWhile),
      "a run launches one graph with all steps, in which the device decides about loops and branches; one that may "
      "be cancelled or has a deadline issues its steps one by one\n");
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
  EXPECT_EQ(CountOf(Calls(), "cuGraphConditionalHandleCreate"), 0);
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
  ExpectStepwise(kWhile, {{1}, Some(1000)}, why);
  ExpectStepwise(kSwitch, {{1}, Some(1000)}, why);
}

TEST_F(ConditionalGraphs, ACompilerThatRefusesTheKernels) {
  Refuse("cudaGraphSetConditional");
  ExpectStepwise(kWhile, {{1}, Some(1000)},
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
    ExpectStepwise(kNested, {{1}, Some(1000)},
                   "the plan has loops or branches, and the driver refuses them: cuGraphInstantiateWithFlags: "
                   "CUDA_ERROR_SIMULATED: an error of the simulated driver (3 in each other)");
  }
  ExpectOneLaunch(kSwitch, {{{1}, Some(1000)}});
}

TEST_F(ConditionalGraphs, ALoopInWhatAsks) {
  ExpectStepwise(kLoopThatAsks, {{1}, Some(1000)},
                 "what computes the predicate of a loop has loops or branches itself");
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
  EXPECT_NE(message.find("run cancelled by the host"), message.npos) << message;
  EXPECT_GT(CountOf(Calls(), "cuLaunchKernel"), 2) << "it had begun";
}

}}  // namespace ricci::testing
