// Ranges for profilers: their names, and that each is closed, whatever fails.
#include "cuda/gpu_program.h"
#include "cuda/while_program.h"
#include "support/plugin_that.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

ricci_status* AttachWithRanges(ricci_ctx* ctx) {
  cuda::Settings settings{{RICCI_STANDIN}, {RICCI_STANDIN}};
  settings.nvtx = RICCI_STANDIN;
  return cuda::AttachDevices(ctx, settings);
}

std::string Ranges() { return OfStandin<const char*()>("ricci_standin_ranges")(); }
int OpenRanges() { return OfStandin<int()>("ricci_standin_open_ranges")(); }

constexpr std::string_view kCalls = R"(program calls(%x: f32[4]) {
  %s: f32[4] = sort(%x) dimension=0 is_stable=true num_keys=1
  %y: f32[4] = io_callback(%s) callback="ricci.copy" results="f32[4]"
  %m: f32[] = reduce_sum(%y) axes=[0]
  return %m, %x
})";

class Nvtx : public ::testing::Test {
 protected:
  Nvtx() {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(r_.ctx(), QueryPluginThat<AttachWithRanges>)));
    Ranges();
  }
  std::string RangesOf(std::string_view text, const std::vector<Floats>& args, bool profiled = false) {
    GpuProgram f(GpuOf(r_.ctx()), profiled);
    EXPECT_TRUE(Ok(f.Compile(r_.ctx(), text)) && Ok(f.Give(args)));
    EXPECT_EQ(Ranges(), "");
    EXPECT_TRUE(Ok(f.Enqueue()));
    EXPECT_EQ(OpenRanges(), 0);
    return Ranges();
  }
  ProgramRunner r_;
};

TEST_F(Nvtx, ARunIsARange) { EXPECT_EQ(RangesOf(WhileBelow(2), {{0}, Floats(1000, 1)}), "f\n"); }

TEST_F(Nvtx, StepsAndPartsAreRangesWhereTheHostIssuesThem) {
  EXPECT_EQ(RangesOf(kCalls, {{4, 3, 2, 1}}), "calls\n  k0_sort\n  function of the host\n  graph 1 of 1\n");
  const std::string loop = RangesOf(WhileBelow(2), {{0}, Floats(1000, 1)}, /*profiled=*/true);
  EXPECT_EQ(loop.substr(0, 2), "f\n");
  size_t predicates = 0;
  for (size_t at = 0; (at = loop.find("_lt\n", at)) != loop.npos; ++at) ++predicates;
  EXPECT_EQ(predicates, 3u) << loop;
}

TEST_F(Nvtx, EachIsClosedWhateverFails) {
  const auto fail = OfStandin<void(uint64_t, int, int)>("ricci_standin_fail");
  const auto failed = OfStandin<const char*()>("ricci_standin_failed");
  GpuProgram f(GpuOf(r_.ctx()));
  ASSERT_TRUE(Ok(f.Compile(r_.ctx(), kCalls)) && Ok(f.Give({{4, 3, 2, 1}})));
  int refused = 0;
  for (uint64_t n = 1;; ++n) {
    fail(n, 999, 0);
    ricci_status* const s = f.Enqueue();
    const std::string call = failed();
    fail(0, 0, 0);
    EXPECT_EQ(OpenRanges(), 0) << call;
    refused += s != nullptr;
    ricci_status_free(s);
    if (call.empty()) break;
  }
  EXPECT_GT(refused, 6);
}

TEST_F(Nvtx, OthersHaveNone) {
  ProgramRunner plain;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(plain.ctx(), QuerySimulatedGpu)));
  plain.Run(plain.Parse(kCalls), {{4, 3, 2, 1}}, "cuda");
  EXPECT_EQ(Ranges(), "");
}

TEST(NvtxOption, WhatIsMissingIsNamed) {
  const auto attach = [](std::string_view path) {
    ProgramRunner r;
    const std::pair<std::string_view, std::string_view> options[] = {
        {"cuda.driver", RICCI_STANDIN}, {"cuda.compiler", RICCI_STANDIN}, {"cuda.nvtx", path}};
    for (const auto& [key, value] : options) {
      EXPECT_TRUE(Ok(ricci_context_config(r.ctx(), key.data(), key.size(), value.data(), value.size())));
    }
    ricci_status* const s = ricci_context_add_plugin(r.ctx(), ricci_plugin_query_cuda);
    return s == nullptr ? "" : Message(s);
  };
  EXPECT_EQ(attach(RICCI_STANDIN), "");
  EXPECT_EQ(attach("libm.so.6"),
            "cuda: option cuda.nvtx: libm.so.6 lacks nvtxRangePushA or nvtxRangePop; compile one from the headers of "
            "NVTX 3 with NVTX_EXPORT_API defined");
  EXPECT_EQ(attach("/no/nvtx.so").find("cuda: option cuda.nvtx: /no/nvtx.so cannot be opened: "), 0u);
}

}}  // namespace ricci::testing
