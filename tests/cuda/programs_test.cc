// Programs on the simulated GPU, against `ref`.
#include <gtest/gtest.h>

#include "cuda/simulated_gpu.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class SimulatedGpu : public ::testing::Test {
 protected:
  SimulatedGpu() { EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu))); }

  ProgramRunner runner_;
};

TEST(CudaPlugin, WithoutDriverNothingIsAttached) {
  ricci_ctx* ctx = nullptr;
  ASSERT_TRUE(Ok(ricci_context_create(nullptr, &ctx)));
  static const auto query = [](const ricci_host_info*, const ricci_plugin** out) -> ricci_status* {
    const ricci_plugin* gpu = nullptr;
    QuerySimulatedGpu(nullptr, &gpu);
    static ricci_plugin plugin = *gpu;
    plugin.attach = [](void*, ricci_ctx* c) { return cuda::AttachDevices(c, {"libnothing.so.1", {RICCI_STANDIN}}); };
    *out = &plugin;
    return nullptr;
  };
  ricci_status* const s = ricci_context_add_plugin(ctx, query);
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(ricci_status_code(s), RICCI_NOT_FOUND);
  EXPECT_NE(Message(s).find("no CUDA device: libnothing.so.1 cannot be opened"), std::string::npos);
  EXPECT_EQ(ricci_device_find(ctx, "cuda", 4), nullptr);
  ricci_context_release(ctx);
}

TEST_F(SimulatedGpu, ComputesWhatRefComputes) {
  const Program f = runner_.Parse(R"(program f(%x: f32[5]) {
  %a: f32[5] = exp(%x)
  %b: f32[5] = sin(%a)
  %c: f32[] = reduce_sum(%b) axes=[0]
  return %b, %c
})");
  runner_.RunEverywhere(f, {{-1, 0, 0.5, 2, 30}}, 1e-5);
}

}}  // namespace ricci::testing
