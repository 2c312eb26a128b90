// CASEs in graphs: one node with all branches where the driver takes that, else a node for each branch; both give what
// `ref` gives.
#include <algorithm>

#include "cuda/conditional_graphs.h"

namespace ricci::testing { namespace {

using Choices = ConditionalGraphs;

TEST_F(Choices, AChoiceInAChoiceInALoop) {
  ExpectOneLaunch(kChoices, {{{0}, Some(1000)}, {{-2}, Some(1000)}, {{1}, Some(1000)}});
}

TEST_F(Choices, BatchesInBranches) {
  ExpectOneLaunch(kBatches, {{{0}, Some(1000)}, {{1}, Some(1000)}, {{2}, Some(1000)}, {{4}, Some(1000)}});
}

TEST_F(Choices, AChoiceIsOneNode) {
  for (const std::string& text : {std::string(kSwitch), BranchesOf(2)}) {
    GpuProgram f(Gpu());
    ASSERT_TRUE(Ok(f.Compile(ctx(), text)));
    const std::vector<std::string> calls = CallsOfRun(f, text, {{1}, Some(1000)});
    EXPECT_EQ(CountOf(calls, "cuGraphConditionalHandleCreate"), 1);
    EXPECT_EQ(CountOf(calls, "cuGraphAddNode"), 1);
  }
}

// ---- where each branch is a node ----
class EachBranchANode : public ConditionalGraphs {
 protected:
  EachBranchANode() { SetDriver(12060); }
  std::string LastLine(std::string_view text) {
    Gpu();
    const std::string said = runner_.Dump(runner_.Parse(text), "decisions", "cuda");
    return said.substr(said.find("a run "));
  }
};

TEST_F(EachBranchANode, ABranch) {
  ExpectOneLaunch(kSwitch,
                  {{{0}, Some(1000)}, {{1}, Some(1000)}, {{2}, Some(1000)}, {{-7}, Some(1000)}, {{1e9f}, Some(1000)}});
}

TEST_F(EachBranchANode, ManyBranches) {
  for (const int n : {2, 8, 9}) {
    std::vector<std::vector<Floats>> arguments;
    for (const int i : {-1, 0, 1, 7, 8, 9}) arguments.push_back({{static_cast<float>(i)}, Some(1000)});
    ExpectOneLaunch(BranchesOf(n), arguments);
  }
}

TEST_F(EachBranchANode, InEachOther) {
  ExpectOneLaunch(kNested, {{{0}, Some(1000)}, {{1}, Some(1000)}});
  ExpectOneLaunch(kChoices, {{{0}, Some(1000)}, {{-2}, Some(1000)}});
}

TEST_F(EachBranchANode, IsExplained) {
  EXPECT_EQ(
      LastLine(kSwitch),
      "a run launches one graph with all steps, in which the device decides about loops and branches; each branch is "
      "a node: the driver is older than CUDA 12.8\n");
  EXPECT_EQ(LastLine(kWhile).find("each branch"), std::string::npos);
}

// Whichever call says that it does not know something, after what loops need was taken.
TEST_F(Choices, ADriverThatRefusesSeveralBodies) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  const std::vector<Floats> args{{2}, Some(1000)};
  std::vector<std::string> refused;
  for (uint64_t n = 1;; ++n) {
    ProgramRunner runner;
    ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
    GpuProgram first(GpuOf(runner.ctx())), g(GpuOf(runner.ctx()));
    ASSERT_TRUE(Ok(first.Compile(runner.ctx(), kWhile)));
    fail(n, cuda::kCuNotSupported, 0);
    ricci_status* const s = g.Compile(runner.ctx(), kSwitch);
    const std::string call = failed();
    fail(0, 0, 0);
    const std::string message = s == nullptr ? "" : Message(s);
    if (call.empty()) break;
    if (!message.empty()) {
      EXPECT_NE(message.find(call), message.npos) << message;
      continue;
    }
    std::vector<Floats> got;
    EXPECT_TRUE(Ok(g.Give(args)) && Ok(g.Enqueue()) && Ok(g.Read(got)));
    EXPECT_EQ(got, OnRef(kSwitch, args));
    const std::string said = runner.Dump(runner.Parse(kSwitch), "decisions", "cuda");
    if (said.find("each branch is a node: the driver refuses nodes with several bodies: " + call +
                  ": CUDA_ERROR_SIMULATED") != said.npos) {
      refused.push_back(call);
    }
  }
  for (const char* call : {"cuGraphCreate", "cuGraphConditionalHandleCreate", "cuGraphAddKernelNode", "cuGraphAddNode",
                           "cuGraphAddEmptyNode", "cuGraphInstantiateWithFlags"}) {
    EXPECT_NE(std::find(refused.begin(), refused.end(), call), refused.end()) << call;
  }
}

}}  // namespace ricci::testing
