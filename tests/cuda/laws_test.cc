// The laws of every row, with the simulated GPU as the device that is compared with `ref`.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "cuda/simulated_gpu.h"
#include "laws/example.h"
#include "ricci/attr.h"
#include "ricci/check.h"
#include "runtime/context/context.h"
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

std::vector<std::string> RowNames(bool with_examples = true) {
  const ProgramRunner runner;
  std::vector<std::string> names;
  ricci_prim id = 0;
  for (uint32_t i = 0; const ricci_prim_def* row = ricci_prim_at(runner.ctx(), i, &id); ++i) {
    if ((row->examples.len != 0) == with_examples) names.emplace_back(row->name.ptr, row->name.len);
  }
  return names;
}

class CudaRowLaws : public ::testing::TestWithParam<std::string> {};

// Counts the arrays that are compared with those of `ref`.
ricci_check_opts OnlyOnGpu(uint64_t& compared) {
  ricci_check_opts o = ricci_check_opts_default();
  o.device = {"cuda", 4};
  o.sink = &compared;
  o.law = [](void* sink, const ricci_check_law* law) {
    if (std::string_view(law->name.ptr, law->name.len) == "device") *static_cast<uint64_t*>(sink) = law->comparisons;
  };
  return o;
}

// With `example`, or the examples of the row if it is NULL.
void ExpectLaws(const ProgramRunner& runner, const std::string& row, const ricci_check_example* example) {
  uint64_t compared = 0;
  const ricci_check_opts o = OnlyOnGpu(compared);
  EXPECT_TRUE(Ok(ricci_check_primitive(runner.ctx(), row.data(), row.size(), example, example == nullptr ? 0 : 1, &o)));
  EXPECT_GT(compared, 0u);
}
void ExpectLaws(const std::string& row, ricci_plugin_query_fn plugin) {
  const ProgramRunner runner;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), plugin)));
  ExpectLaws(runner, row, nullptr);
}

TEST_P(CudaRowLaws, Hold) { ExpectLaws(GetParam(), QuerySimulatedGpu); }

// What is transposed before it runs, and what has no results (host_functions_test.cc).
TEST(CudaRows, OthersHaveNoExamples) {
  std::vector<std::string> names = RowNames(/*with_examples=*/false);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"custom_linear", "debug_callback", "debug_print"}));
}

// One example of every row, another one for each commit, without the programs that the laws make of it.
class CudaRowExamples : public ::testing::TestWithParam<std::string> {};
TEST_P(CudaRowExamples, OneRuns) {
  const ProgramRunner runner;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
  ricci_prim id = 0;
  ASSERT_TRUE(Ok(ricci_prim_find(runner.ctx(), GetParam().data(), GetParam().size(), &id)));
  prim::Registry& registry = runtime::FromAbi(runner.ctx())->registry();
  const auto examples = laws::ExamplesOf(registry, registry.Get(id));
  ASSERT_TRUE(examples.ok() && !examples->empty()) << examples.status();
  const laws::Example& e = (*examples)[RICCI_COMMIT_NUMBER % examples->size()];
  const ricci_type* types = nullptr;
  ricci_program_signature(e.program.get(), nullptr, &types, nullptr, nullptr);
  std::vector<ricci_check_operand> operands;
  for (const laws::Range& r : e.ranges) operands.push_back({types[operands.size()], 0, r.low, r.high});
  ricci_check_example given{};
  given.hdr.size = sizeof given;
  given.hdr.flags = e.flags | RICCI_CHECK_NO_DERIVATIVES | RICCI_CHECK_NO_BATCH;
  given.operands = operands.data();
  given.n_operands = static_cast<uint32_t>(operands.size());
  given.seed = e.seed;
  uint64_t compared = 0;
  const ricci_check_opts o = OnlyOnGpu(compared);
  EXPECT_TRUE(Ok(ricci_check_program(e.program.get(), &given, &o))) << e.name;
  EXPECT_GT(compared, 0u) << e.name;
}

// With all updates sorted, however few.
ricci_status* AttachSortingGpus(ricci_ctx* ctx) {
  cuda::Settings settings{{RICCI_STANDIN}, {RICCI_STANDIN}};
  settings.scatter = "sorted";
  return cuda::AttachDevices(ctx, settings);
}
class CudaRowLawsOfSortedScatters : public ::testing::TestWithParam<std::string> {};
TEST_P(CudaRowLawsOfSortedScatters, Hold) { ExpectLaws(GetParam(), QueryPluginThat<AttachSortingGpus>); }

// Lines that several blocks scan; of sums their derivatives too.
class CudaRowLawsOfLongLines : public ::testing::TestWithParam<std::string> {};
TEST_P(CudaRowLawsOfLongLines, Hold) {
  const ProgramRunner runner;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
  const int64_t n = 8200;
  const ricci_type_desc desc = ricci_type_desc_of(RICCI_F64, 1, &n);
  ricci_check_operand operand{};
  operand.low = -1, operand.high = 1;
  ASSERT_TRUE(Ok(ricci_type_make(runner.ctx(), &desc, &operand.type)));
  const ricci_attr attrs[] = {ricci_attr_int("axis", 0), ricci_attr_bool("reverse", 1)};
  ricci_check_example example{};
  example.hdr.size = sizeof example;
  example.hdr.flags = GetParam() == "cumsum" ? RICCI_CHECK_FIRST_ORDER : RICCI_CHECK_NO_DERIVATIVES;
  example.operands = &operand;
  example.n_operands = 1;
  example.attrs = attrs;
  example.n_attrs = 2;
  ExpectLaws(runner, GetParam(), &example);
}

std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string out = info.param;
  for (char& c : out) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}
INSTANTIATE_TEST_SUITE_P(Rows, CudaRowLawsOfLongLines,
                         ::testing::Values("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"), TestName);
INSTANTIATE_TEST_SUITE_P(Rows, CudaRowLawsOfSortedScatters,
                         ::testing::Values("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min",
                                           "scatter-max"),
                         TestName);
INSTANTIATE_TEST_SUITE_P(Rows, CudaRowLaws, ::testing::ValuesIn(RowNames()), TestName);
INSTANTIATE_TEST_SUITE_P(Rows, CudaRowExamples, ::testing::ValuesIn(RowNames()), TestName);

}}  // namespace ricci::testing
