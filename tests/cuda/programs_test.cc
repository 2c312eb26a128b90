// Programs on the simulated GPU, against `ref`.
#include <gtest/gtest.h>

#include "cuda/simulated_gpu.h"
#include "ricci/plugin.hpp"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class SimulatedGpu : public ::testing::Test {
 protected:
  SimulatedGpu() { EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu))); }

  ProgramRunner runner_;
};

ricci_status* AttachWithoutDriver(ricci_ctx* ctx) {
  return cuda::AttachDevices(ctx, {{"libnothing.so.1"}, {RICCI_STANDIN}});
}

TEST(CudaPlugin, WithoutDriverNothingIsAttached) {
  ricci_ctx* ctx = nullptr;
  ASSERT_TRUE(Ok(ricci_context_create(nullptr, &ctx)));
  ricci_status* const s = ricci_context_add_plugin(ctx, QueryPluginThat<AttachWithoutDriver>);
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

Numbers Ramp(size_t n) {
  Numbers out(n);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<double>((i * 37) % 101) / 16 - 3;
  return out;
}

// Long rows are shared by the lanes of a warp, one long row by a block.
TEST_F(SimulatedGpu, TeamsShareLongRows) {
  const Program rows = runner_.Parse(R"(program f(%x: f32[5,200]) {
  %m: f32[5] = reduce_max(%x) axes=[1]
  %b: f32[5,200] = broadcast_in_dim(%m) shape=[5,200] broadcast_dimensions=[0]
  %d: f32[5,200] = sub(%x, %b)
  %e: f32[5,200] = exp(%d)
  %s: f32[5] = reduce_sum(%e) axes=[1]
  return %e, %s
})");
  EXPECT_NE(runner_.Dump(rows, "native", "cuda").find("// 32 threads for a point"), std::string::npos);
  const auto order = OfStandin<void(uint64_t)>("ricci_standin_seed");
  for (const uint64_t seed : {2, 1}) {  // threads from the last to the first, and back in order
    order(seed);
    runner_.RunEverywhere(rows, {Ramp(1000)}, 1e-5);
  }
  const Program total = runner_.Parse(R"(program f(%x: f64[5000]) {
  %s: f64[] = reduce_sum(%x) axes=[0]
  %m: f64[] = reduce_min(%x) axes=[0]
  return %s, %m
})");
  EXPECT_NE(runner_.Dump(total, "native", "cuda").find("// 256 threads for a point"), std::string::npos);
  runner_.RunEverywhere(total, {Ramp(5000)}, 1e-12);
}

// The lanes of a warp meet at every shuffle, whatever they compare.
TEST_F(SimulatedGpu, ExtremaOfIntegersInAWarp) {
  for (const std::string dtype : {"u32", "i32", "i64"}) {
    const Program f = runner_.Parse("program f(%x: " + dtype + "[32]) {\n  %m: " + dtype +
                                    "[] = reduce_max(%x) axes=[0]\n  %n: " + dtype +
                                    "[] = reduce_min(%x) axes=[0]\n  return %m, %n\n}");
    EXPECT_NE(runner_.Dump(f, "native", "cuda").find("__shfl_xor_sync"), std::string::npos);
    Numbers x(32);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i * 7 % 32);
    runner_.RunEverywhere(f, {x});
  }
}

// Long reductions of few points are made in parts, whose last ones may be cut or empty; what depends on one of them is
// not.
TEST_F(SimulatedGpu, LongReductionsTakeTwoLaunches) {
  const auto expect = [this](const std::string& text, const std::vector<Numbers>& in, const std::string& first) {
    const Program f = runner_.Parse(text);
    const std::string native = runner_.Dump(f, "native", "cuda");
    EXPECT_NE(native.find("// first of two launches: " + first), std::string::npos) << native;
    runner_.RunEverywhere(f, in, 1e-5);
  };
  const auto order = OfStandin<void(uint64_t)>("ricci_standin_seed");
  for (const uint64_t seed : {2, 1}) {
    order(seed);
    expect("program f(%x: f32[20000]) {\n  %s: f32[] = reduce_sum(%x) axes=[0]\n  return %s\n}", {Ramp(20000)},
           "4 parts");
    expect(
        "program f(%x: f64[3,9001]) {\n  %a: f64[3,9001] = abs(%x)\n  %m: f64[3] = reduce_max(%a) axes=[1]\n"
        "  return %m\n}",
        {Ramp(27003)}, "2 parts");
    // In a loop, whose steps are issued individually.
    expect(R"(program f(%x: f32[20000]) {
  %k: i32[] = constant 3
  %n: i32[], %y: f32[20000] = while(%k, %x) cond_nconsts=0 body_nconsts=0 cond=program(%i: i32[], %v: f32[20000]) {
    %zero: i32[] = constant 0
    %more: bool[] = gt(%i, %zero)
    return %more
  } body=program(%i: i32[], %v: f32[20000]) {
    %one: i32[] = constant 1
    %less: i32[] = sub(%i, %one)
    %s: f32[] = reduce_max(%v) axes=[0]
    %t: f32[20000] = broadcast_in_dim(%s) shape=[20000] broadcast_dimensions=[]
    %w: f32[20000] = sub(%v, %t)
    return %less, %w
  }
  return %y
})",
           {Ramp(20000)}, "4 parts");
  }
}

// Sums of columns: a block's rows of threads read neighbours. Also where the last 32 columns are not all there.
TEST_F(SimulatedGpu, TeamsAreColumnsOfABlock) {
  const auto order = OfStandin<void(uint64_t)>("ricci_standin_seed");
  for (const std::string n : {"64", "70"}) {
    const std::string rows = "[200," + n + "]", row = "[" + n + "]";
    const Program f = runner_.Parse(
        "program f(%x: f32" + rows + ", %i: i32" + rows + ") {\n  %m: f32" + row +
        " = reduce_max(%x) axes=[0]\n  %b: f32" + rows + " = broadcast_in_dim(%m) shape=" + rows +
        " broadcast_dimensions=[1]\n  %d: f32" + rows + " = sub(%x, %b)\n  %e: f32" + rows + " = exp(%d)\n  %s: f32" +
        row + " = reduce_sum(%e) axes=[0]\n  %t: i32" + row + " = reduce_sum(%i) axes=[0]\n  return %e, %s, %t\n}");
    EXPECT_NE(runner_.Dump(f, "native", "cuda")
                  .find("// 8 threads for a point: " + n + " points, loops of 200 rows of elements in order"),
              std::string::npos);
    for (const uint64_t seed : {2, 1}) {
      order(seed);
      const size_t size = 200 * static_cast<size_t>(std::stoi(n));
      Numbers whole(size);
      for (size_t i = 0; i < size; ++i) whole[i] = static_cast<double>(i * 31 % 100);
      runner_.RunEverywhere(f, {Ramp(size), whole}, 1e-5);
    }
  }
}

// Rows that are added to rows: their columns are apart; single numbers are added in order, integers in any.
TEST_F(SimulatedGpu, UpdatesOfTheSameElements) {
  const auto scatter = [this](const std::string& dtype, const std::string& x, const std::string& u,
                              const std::string& dims) {
    return runner_.Parse("program f(%x: " + dtype + x + ", %i: i32[6,1], %u: " + dtype + u + ") {\n  %y: " + dtype + x +
                         " = scatter-add(%x, %i, %u) " + dims + "\n  return %y\n}");
  };
  const std::string rows =
      "update_window_dims=[1] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"promise_in_bounds\"";
  const std::string numbers =
      "update_window_dims=[] inserted_window_dims=[0] scatter_dims_to_operand_dims=[0] mode=\"promise_in_bounds\"";
  const Numbers index = {2, 0, 2, 3, 2, 0};
  const auto expect = [&](const Program& f, size_t x, size_t u, const char* in_text) {
    EXPECT_NE(runner_.Dump(f, "native", "cuda").find(in_text), std::string::npos) << runner_.Dump(f, "native", "cuda");
    runner_.RunEverywhere(f, {Numbers(x, 1), index, Ramp(u)}, 1e-6);
  };
  expect(scatter("f32", "[4,40]", "[6,40]", rows), 160, 240, "% 40");
  expect(scatter("f32", "[4]", "[6]", numbers), 4, 6, "in order: 6 points in each of 1 groups");
  expect(scatter("i32", "[4]", "[6]", numbers), 4, 6, "atomicAdd");
}

}}  // namespace ricci::testing
