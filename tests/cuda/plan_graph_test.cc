// Plans as graphs: which nodes wait for which, and which use which address.
#include "plan_graph.h"

#include <gtest/gtest.h>

#include "kernel/kernel.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

using Lists = std::vector<std::vector<uint32_t>>;

class PlanGraphs : public ::testing::Test {
 protected:
  uint32_t Buffer(uint32_t kind, uint32_t index, uint64_t offset = 0, uint64_t bytes = 64) {
    static const char data[64] = {};
    plan_.buffers.push_back({kind, index, bytes, offset, kind == RICCI_BUFFER_CONSTANT ? data : nullptr});
    return static_cast<uint32_t>(plan_.buffers.size() - 1);
  }
  void Kernel(uint32_t in, uint32_t out) {
    kernel::Kernel k;
    k.name = "k";
    for (const auto& [buffer, access] : {std::pair(in, RICCI_ACCESS_READ), std::pair(out, RICCI_ACCESS_WRITE)}) {
      k.buffers.push_back({RICCI_U8, static_cast<uint32_t>(access), static_cast<int64_t>(plan_.buffers[buffer].bytes)});
    }
    kernels_.push_back(k);
    plan_.Step(RICCI_STEP_KERNEL, static_cast<uint32_t>(kernels_.size() - 1), {in, out});
  }
  cuda::PlanGraph Make(const std::vector<int32_t>& alias = {}) {
    const kernel::KernelViews views(kernels_);
    ricci_plan p = plan_.View();
    p.output_alias = alias.empty() ? nullptr : alias.data();
    const ricci_compile_args a{{sizeof a, 0, nullptr}, views.data(), views.size(), 1, &p};
    cuda::PlanGraph g;
    EXPECT_TRUE(Ok(cuda::MakePlanGraph(a, std::vector<bool>(a.plan->n_steps), g)));
    return g;
  }

  kernel::Plan plan_;
  std::vector<kernel::Kernel> kernels_;
};

TEST_F(PlanGraphs, NoSteps) {
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(g.waits, (Lists{{}, {0}}));
  EXPECT_EQ(g.users, (Lists{{}, {0, 1}})) << "the arena, the word of failed checks";
}

TEST_F(PlanGraphs, StepsWaitForWhatTheyNeed) {
  plan_.n_inputs = plan_.n_constants = 1;
  plan_.n_outputs = 2;
  plan_.arena_bytes = 128;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0), constant = Buffer(RICCI_BUFFER_CONSTANT, 0);
  const uint32_t first = Buffer(RICCI_BUFFER_OUTPUT, 0), second = Buffer(RICCI_BUFFER_OUTPUT, 1);
  const uint32_t low = Buffer(RICCI_BUFFER_ARENA, 0, 0), middle = Buffer(RICCI_BUFFER_ARENA, 0, 32);
  Kernel(in, low);                               // node 1
  Kernel(constant, second);                      // node 2
  plan_.Step(RICCI_STEP_COPY, 0, {first, low});  // node 3
  Kernel(constant, middle);                      // node 4: its memory is read until then
  const cuda::PlanGraph g = Make();
  EXPECT_EQ(g.waits, (Lists{{}, {0}, {0}, {1}, {3}, {2, 4}}));
  EXPECT_EQ(g.users, (Lists{{1}, {3}, {2}, {2, 4}, {1, 3, 4}, {0, 1, 2, 4, 5}}));
}

TEST_F(PlanGraphs, AnOutputInTheMemoryOfAnInputWaitsForItsReaders) {
  plan_.n_inputs = 1;
  plan_.n_outputs = 2;
  const uint32_t in = Buffer(RICCI_BUFFER_INPUT, 0);
  const uint32_t first = Buffer(RICCI_BUFFER_OUTPUT, 0), second = Buffer(RICCI_BUFFER_OUTPUT, 1);
  Kernel(in, first);
  plan_.Step(RICCI_STEP_COPY, 0, {second, in});
  EXPECT_EQ(Make().waits, (Lists{{}, {0}, {0}, {1, 2}}));
  EXPECT_EQ(Make({-1, 0}).waits, (Lists{{}, {0}, {1}, {2}}));
}

}}  // namespace ricci::testing
