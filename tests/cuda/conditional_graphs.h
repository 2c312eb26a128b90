// ConditionalGraphs: programs with loops and branches on the simulated GPU, and with which calls of the driver they
// run.
#ifndef RICCI_TESTS_CUDA_CONDITIONAL_GRAPHS_H_
#define RICCI_TESTS_CUDA_CONDITIONAL_GRAPHS_H_
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cuda/conditional_programs.h"
#include "cuda/driver_calls.h"
#include "support/program_runner.h"

namespace ricci::testing {

inline void SetSeed(uint64_t seed) { OfStandin<void(uint64_t)>("ricci_standin_seed")(seed); }
inline void SetDriver(int version) { OfStandin<void(int)>("ricci_standin_version")(version); }
inline void SetDepth(uint32_t most) { OfStandin<void(uint32_t)>("ricci_standin_depth")(most); }
inline void Refuse(const char* word) { OfStandin<void(const char*)>("ricci_standin_refuse")(word); }

class ConditionalGraphs : public ::testing::Test {
 protected:
  ~ConditionalGraphs() override {
    SetSeed(1);
    SetDriver(12080);
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
  // Of loops and branches, since `why`; what is within them and between them may be graphs.
  void ExpectThatTheHostDecides(std::string_view text, const std::vector<Floats>& args, std::string_view why) {
    GpuProgram f(Gpu());
    ASSERT_TRUE(Ok(f.Compile(ctx(), text)));
    const std::vector<std::string> calls = CallsOfRun(f, text, args);
    EXPECT_EQ(CountOf(calls, "cuGraphConditional"), 0);
    EXPECT_GT(CountOf(calls, "cuStreamSynchronize"), 0);
    const std::string said = runner_.Dump(runner_.Parse(text), "decisions", "cuda");
    EXPECT_NE(said.find(why), said.npos) << said;
  }
  std::string Plan(std::string_view text) {
    Gpu();
    return runner_.Dump(runner_.Parse(text), "plan", "cuda");
  }

  ProgramRunner runner_;
  ricci_device* gpu_ = nullptr;
};

}  // namespace ricci::testing
#endif
