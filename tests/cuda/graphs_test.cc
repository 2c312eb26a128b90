// Plans that run as graphs: in which orders, with which calls of the driver, on other memory, at the same time.
#include <algorithm>
#include <thread>

#include "cuda/bare_driver.h"
#include "cuda/driver_calls.h"
#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// Two chains that meet and one that does not.
constexpr std::string_view kBranches = R"(program f(%x: f32[8,6], %y: f32[8,6]) {
  %a: f32[8] = reduce_sum(%x) axes=[1]
  %b: f32[8] = sort(%a) dimension=0 is_stable=true num_keys=1
  %c: f32[8] = reduce_max(%y) axes=[1]
  %d: f32[8] = sort(%c) dimension=0 is_stable=true num_keys=1
  %e: f32[8] = sub(%d, %b)
  %f: f32[8] = sort(%e) dimension=0 is_stable=true num_keys=1
  %g: f32[6] = reduce_max(%x) axes=[0]
  %h: f32[6] = sort(%g) dimension=0 is_stable=true num_keys=1
  return %f, %h
})";
constexpr std::string_view kChecked = R"(program f(%x: f32[]) {
  %zero: f32[] = constant 0.0
  %p: bool[] = gt(%x, %zero)
  %y: f32[] = check(%p, %x) code=3 message="not positive"
  return %y
})";
Floats Some(float from) {
  Floats out(48);
  for (size_t i = 0; i < out.size(); ++i) out[i] = from + static_cast<float>((i * 29) % 47);
  return out;
}
// What kBranches computes.
std::vector<Floats> Wanted(const Floats& x, const Floats& y) {
  Floats b(8), d(8), f(8), h(6, -1e9f);
  for (size_t i = 0; i < 48; ++i) {
    b[i / 6] += x[i];
    d[i / 6] = std::max(i % 6 == 0 ? -1e9f : d[i / 6], y[i]);
    h[i % 6] = std::max(h[i % 6], x[i]);
  }
  std::sort(b.begin(), b.end());
  std::sort(d.begin(), d.end());
  std::sort(h.begin(), h.end());
  for (size_t i = 0; i < 8; ++i) f[i] = d[i] - b[i];
  std::sort(f.begin(), f.end());
  return {f, h};
}

class Graphs : public ::testing::Test {
 protected:
  Graphs() {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
    gpu_ = GpuOf(runner_.ctx());
    Calls();
  }
  ~Graphs() override {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
    OfStandin<void(int)>("ricci_standin_asking_takes_time")(1);
  }

  std::vector<Floats> ReadOf(const GpuProgram& f) {
    std::vector<Floats> out;
    EXPECT_TRUE(Ok(f.Read(out)));
    return out;
  }

  ProgramRunner runner_;
  ricci_device* gpu_ = nullptr;
};

// A call whose slots are arrays of its own.
class BoundProgram {
 public:
  BoundProgram(ricci_ctx* ctx, ricci_device* gpu, const Floats& x, const Floats& y) : f(gpu) {
    EXPECT_TRUE(Ok(f.Compile(ctx, kBranches)));
    EXPECT_TRUE(Ok(f.Give({x, y})));
    EXPECT_TRUE(Ok(f.Enqueue()));  // for memory of the results
    EXPECT_TRUE(Ok(ricci_array_wait(f.out()[0])));
    EXPECT_TRUE(Ok(ricci_call_create(f.executable(), &call_)));
    for (uint32_t i = 0; i < 4; ++i) Bind(i, i < 2 ? f.in()[i] : f.out()[i - 2]);
  }
  ~BoundProgram() { ricci_call_release(call_); }
  BoundProgram(const BoundProgram&) = delete;

  void Bind(uint32_t slot, const ricci_array* a) {
    EXPECT_TRUE(Ok(ricci_call_bind(call_, slot, ricci_array_device_data(a), ricci_array_bytes(a))));
  }
  void Run() { EXPECT_TRUE(Ok(ricci_call_run(call_))); }
  std::vector<Floats> Results() const {
    std::vector<Floats> out;
    EXPECT_TRUE(Ok(f.Read(out)));
    return out;
  }

  GpuProgram f;

 private:
  ricci_call* call_ = nullptr;
};

TEST_F(Graphs, AnyOrderThatEdgesAllowGivesTheSame) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), kBranches)));
  const Floats x = Some(-7), y = Some(11);
  ASSERT_TRUE(Ok(f.Give({x, y})));
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    ASSERT_TRUE(Ok(f.Enqueue()));
    EXPECT_EQ(ReadOf(f), Wanted(x, y)) << "seed " << seed;
  }
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), 40);
  EXPECT_EQ(CountOf(calls, "cuGraphInstantiate"), 1);
  EXPECT_GE(CountOf(calls, "cuGraphAddKernelNode"), 4);
  EXPECT_EQ(CountOf(calls, "cuLaunchKernel"), 0);
}

TEST_F(Graphs, ABoundCallIsOneLaunch) {
  BoundProgram p(runner_.ctx(), gpu_, Some(1), Some(2));
  p.Run();
  for (int i = 0; i < 3; ++i) {
    Calls();
    p.Run();
    std::vector<std::string> calls = Calls();
    std::erase(calls, "cuEventDestroy");  // of earlier runs
    EXPECT_EQ(calls,
              (std::vector<std::string>{"cuGraphLaunch", "cuEventCreate", "cuEventRecord", "cuEventSynchronize"}));
  }
  EXPECT_EQ(p.Results(), Wanted(Some(1), Some(2)));
}

// No node sets or reads the word of failed checks, since the kernel has none.
TEST_F(Graphs, AProgramOfOneKernelIsOneNode) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), "program f(%x: f32[48]) {\n  %y: f32[48] = exp(%x)\n  return %y\n}")));
  ASSERT_TRUE(Ok(f.Give({Some(0)})));
  Calls();
  ASSERT_TRUE(Ok(f.Enqueue()) && Ok(ricci_array_wait(f.out()[0])));
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(CountOf(calls, "cuGraphAdd"), 1);
  EXPECT_EQ(CountOf(calls, "cuGraphAddKernelNode"), 1);
  EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), 1);
  EXPECT_EQ(CountOf(calls, "cuMemset") + CountOf(calls, "cuMemcpy"), 0);
}

TEST_F(Graphs, AProgramWithACheckSetsAndReadsAWord) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), kChecked)) && Ok(f.Give({{4}})));
  Calls();
  ASSERT_TRUE(Ok(f.Enqueue()) && Ok(ricci_array_wait(f.out()[0])));
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(CountOf(calls, "cuGraphAddMemsetNode"), 1);
  EXPECT_EQ(CountOf(calls, "cuGraphAddMemcpyNode"), 1);
  EXPECT_EQ(CountOf(calls, "cuGraphAdd"), 3);
}

// However many bytes a copy has: the driver refuses large pitches, here all of them.
TEST_F(Graphs, CopiesHaveNoPitch) {
  OfStandin<void(uint64_t)>("ricci_standin_pitch")(0);
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), R"(program f(%x: f32[48]) {
  %y: f32[48] = sort(%x) dimension=0 is_stable=true num_keys=1
  return %x, %y
})")));
  Floats x = Some(3);
  for (int run = 0; run < 2; ++run) {  // the second one changes the nodes
    ASSERT_TRUE(Ok(f.Give({x})));
    ASSERT_TRUE(Ok(f.Enqueue()));
    Floats sorted = x;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(ReadOf(f), (std::vector<Floats>{x, sorted}));
    x = Some(40);
  }
  OfStandin<void(uint64_t)>("ricci_standin_pitch")(INT32_MAX);
  EXPECT_GE(CountOf(Calls(), "cuGraphAddMemcpyNode"), 1);
}

// %y is read by one kernel, and by the first alone.
TEST_F(Graphs, OtherArgumentsChangeTheNodesThatUseThem) {
  BoundProgram p(runner_.ctx(), gpu_, Some(1), Some(2));
  p.Run();
  ricci_array* y = nullptr;
  ASSERT_TRUE(Ok(p.f.NewArray(p.f.param(1), Some(20), &y)));
  p.Bind(1, y);
  Calls();
  p.Run();
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(CountOf(calls, "cuGraphExec"), 1);
  EXPECT_EQ(CountOf(calls, "cuGraphExecKernelNodeSetParams"), 1);
  EXPECT_EQ(CountOf(calls, "cuGraphInstantiate"), 0);
  EXPECT_EQ(p.Results(), Wanted(Some(1), Some(20)));
  p.Bind(1, p.f.in()[1]);
  p.Run();
  EXPECT_EQ(p.Results(), Wanted(Some(1), Some(2)));
  ricci_array_release(y);
}

// A driver refuses that for the node of a copy.
TEST_F(Graphs, ACopyOfMemoryOfAnotherKindMakesTheGraphAgain) {
  const BareDriver driver;
  cuda::CuStream stream = nullptr;
  driver->cuStreamCreate(&stream, 1);
  const cuda::CuPointer theirs = driver.Allocate(16, stream);
  driver->cuMemsetD32Async(theirs, 0x3f800000, 4, stream);
  driver->cuStreamSynchronize(stream);
  OfStandin<void(cuda::CuPointer, int)>("ricci_standin_allocated_in")(theirs, /*is_primary=*/1);
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), "program f(%x: f32[4]) {\n  %y: f32[4] = add(%x, %x)\n  return %y, %x\n}")));
  ASSERT_TRUE(Ok(f.Give({{1, 2, 3, 4}})) && Ok(f.Enqueue()) && Ok(ricci_array_wait(f.out()[0])));
  ricci_call* call = nullptr;
  ASSERT_TRUE(Ok(ricci_call_create(f.executable(), &call)));
  void* const theirs_data = reinterpret_cast<void*>(static_cast<uintptr_t>(theirs));
  void* const data[] = {ricci_array_device_data(f.in()[0]), ricci_array_device_data(f.out()[0]),
                        ricci_array_device_data(f.out()[1])};
  for (uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(Ok(ricci_call_bind(call, i, data[i], 16)));
  for (void* x : {data[0], theirs_data, theirs_data, data[0]}) {
    const bool changes = ricci_call_bind(call, 0, x, 16) == nullptr;
    Calls();
    ASSERT_TRUE(changes && Ok(ricci_call_run(call)));
    std::vector<Floats> got;
    ASSERT_TRUE(Ok(f.Read(got)));
    const Floats want = x == theirs_data ? Floats{1, 1, 1, 1} : Floats{1, 2, 3, 4};
    EXPECT_EQ(got[1], want);
    EXPECT_EQ(got[0][3], 2 * want[3]);
  }
  EXPECT_EQ(CountOf(Calls(), "cuGraphInstantiate"), 1) << "since the last binding is of the first kind again";
  ricci_call_release(call);
  driver->cuMemFreeAsync(theirs, stream);
  driver->cuStreamSynchronize(stream);
  driver->cuStreamDestroy(stream);
}

TEST_F(Graphs, ThreadsRunOneProgramAtOnce) {
  std::vector<std::unique_ptr<BoundProgram>> programs;
  for (int i = 0; i < 3; ++i) {
    const auto from = static_cast<float>(i);
    programs.push_back(std::make_unique<BoundProgram>(runner_.ctx(), gpu_, Some(from), Some(-from)));
  }
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      const auto from = static_cast<float>(i);
      for (int run = 0; run < 30; ++run) {
        programs[static_cast<size_t>(i)]->Run();
        EXPECT_EQ(programs[static_cast<size_t>(i)]->Results(), Wanted(Some(from), Some(-from)));
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_LE(CountOf(Calls(), "cuGraphInstantiate"), 3);
}

// When all graphs are in flight, further runs issue their steps individually; later runs find the graphs again.
TEST_F(Graphs, ManyRunsInFlight) {
  constexpr int kRuns = 40, kGraphs = 16;
  OfStandin<void(int)>("ricci_standin_asking_takes_time")(0);
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), kBranches)));
  for (int round = 0; round < 2; ++round) {
    std::vector<std::vector<ricci_array*>> results;
    ASSERT_TRUE(Ok(f.Give({Some(3), Some(static_cast<float>(round))})));
    for (int i = 0; i < kRuns; ++i) {
      ASSERT_TRUE(Ok(f.Enqueue()));
      results.push_back(f.TakeOut());
    }
    for (auto last = results.rbegin(); last != results.rend(); ++last) {
      Floats got(6);
      EXPECT_TRUE(Ok(ricci_array_copy_to_host((*last)[1], got.data(), 24)));
      EXPECT_EQ(got, Wanted(Some(3), Some(0))[1]);
      for (ricci_array* a : *last) ricci_array_release(a);
    }
    const std::vector<std::string> calls = Calls();
    EXPECT_EQ(CountOf(calls, "cuGraphInstantiate"), round == 0 ? kGraphs : 0);
    EXPECT_EQ(CountOf(calls, "cuGraphLaunch"), kGraphs);
    EXPECT_GT(CountOf(calls, "cuLaunchKernel"), kRuns - kGraphs);
  }
}

TEST_F(Graphs, FailedChecksAreReported) {
  const Program f = runner_.Parse(R"(program f(%x: f64[4]) {
  %s: f64[] = reduce_min(%x) axes=[0]
  %zero: f64[] = constant 0.0
  %p: bool[] = gt(%s, %zero)
  %y: f64[] = check(%p, %s) code=3 message="not positive"
  return %y
})");
  Calls();
  EXPECT_NE(runner_.RunError(f, {{1, 2, -3, 4}}).find("not positive"), std::string::npos);
  runner_.RunEverywhere(f, {{1, 2, 3, 4}});
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(CountOf(calls, "cuLaunchKernel"), 0);
  EXPECT_GE(CountOf(calls, "cuGraphLaunch"), 2);
}

}}  // namespace ricci::testing
