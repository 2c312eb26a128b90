// The laws of every row, with the simulated GPU as the device that is compared with `ref`.
#include <gtest/gtest.h>

#include <map>

#include "cuda/simulated_gpu.h"
#include "ricci/check.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

// Texts are compiled by NVRTC too.
class RealCompiler : public ::testing::Environment {
 public:
  void SetUp() override {
    EXPECT_EQ(OfStandin<int(const char*)>("ricci_standin_nvrtc")(RICCI_NVRTC), 1) << RICCI_NVRTC;
  }
  void TearDown() override {
    EXPECT_EQ(SimulatedGpuReport(), "");
    EXPECT_GT(OfStandin<uint32_t()>("ricci_standin_compiled")(), 0u);
  }
};
const ::testing::Environment* const kRealCompiler = ::testing::AddGlobalTestEnvironment(new RealCompiler);

std::vector<std::string> RowNames() {
  const ProgramRunner runner;
  std::vector<std::string> names;
  ricci_prim id = 0;
  for (uint32_t i = 0; const ricci_prim_def* row = ricci_prim_at(runner.ctx(), i, &id); ++i) {
    if (row->examples.len != 0) names.emplace_back(row->name.ptr, row->name.len);
  }
  return names;
}

// Rows that call functions of the host, which no GPU can.
bool CallsTheHost(std::string_view row) { return row == "pure_callback" || row == "io_callback"; }

class CudaRowLaws : public ::testing::TestWithParam<std::string> {};

TEST_P(CudaRowLaws, Hold) {
  if (CallsTheHost(GetParam())) GTEST_SKIP() << "it calls a function of the host";
  const ProgramRunner runner;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
  uint64_t compared = 0;
  ricci_check_opts o = ricci_check_opts_default();
  o.device = {"cuda", 4};
  o.sink = &compared;
  o.law = [](void* sink, const ricci_check_law* law) {
    if (std::string_view(law->name.ptr, law->name.len) == "device") *static_cast<uint64_t*>(sink) = law->comparisons;
  };
  EXPECT_TRUE(Ok(ricci_check_primitive(runner.ctx(), GetParam().data(), GetParam().size(), nullptr, 0, &o)));
  EXPECT_GT(compared, 0u);
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string out = info.param;
  for (char& c : out) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}
INSTANTIATE_TEST_SUITE_P(Rows, CudaRowLaws, ::testing::ValuesIn(RowNames()), TestName);

}}  // namespace ricci::testing
