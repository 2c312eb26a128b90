// What hosts and users can get wrong with GPUs: the exact message of each, and that the context is still of use.
#include <gtest/gtest.h>

#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

constexpr std::string_view kAdd = "program plus(%x: f32[4], %y: f32[4]) {\n  %z: f32[4] = add(%x, %y)\n  return %z\n}";

std::string ErrorOf(ricci_status* s, uint32_t code = RICCI_INVALID_ARGUMENT) {
  EXPECT_EQ(ricci_status_code(s), code);
  return s == nullptr ? "" : Message(s);
}

class GpuBadInput : public ::testing::Test {
 protected:
  GpuBadInput() {
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
    gpu_ = GpuOf(runner_.ctx(), 0);
    other_ = GpuOf(runner_.ctx(), 1);
  }
  ~GpuBadInput() override { EXPECT_EQ(std::string(OfStandin<const char*()>("ricci_standin_complaints")()), ""); }

  ricci_call* CallOn(std::string_view text, ricci_device* device) {
    const Program f = runner_.Parse(text);
    ricci_compile_opts o = ricci_compile_opts_default();
    o.devices = &device;
    o.n_devices = 1;
    ricci_executable* x = nullptr;
    ricci_call* call = nullptr;
    EXPECT_TRUE(Ok(ricci_compile(f.get(), &o, &x)));
    EXPECT_TRUE(Ok(ricci_call_create(x, &call)));
    ricci_executable_release(x);
    return call;
  }
  ricci_type Four() {
    const int64_t dims = 4;
    const ricci_type_desc d = ricci_type_desc_of(RICCI_F32, 1, &dims);
    ricci_type t = 0;
    EXPECT_TRUE(Ok(ricci_type_make(runner_.ctx(), &d, &t)));
    return t;
  }
  ricci_array* On(ricci_device* device) {
    const float zeros[4] = {};
    ricci_array* a = nullptr;
    EXPECT_TRUE(Ok(ricci_array_from_host(device, Four(), zeros, nullptr, &a)));
    return a;
  }

  ProgramRunner runner_;
  ricci_device *gpu_ = nullptr, *other_ = nullptr;
};

TEST_F(GpuBadInput, PointersOfTheHostAndOfOtherGpus) {
  ricci_call *call = CallOn(kAdd, gpu_), *on_host = CallOn(kAdd, ricci_device_find(runner_.ctx(), "ref", 3));
  ricci_array *own = On(gpu_), *far_away = On(other_);
  alignas(16) float data[4] = {};
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 1, data, 16)),
            "call: the pointer for slot 1 (argument 1 of program plus) is not memory of device cuda:0; copy it there "
            "(ricci_array_from_host)");
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 0, ricci_array_device_data(far_away), 16)),
            "call: the pointer for slot 0 (argument 0 of program plus) is not memory of device cuda:0; copy it there "
            "(ricci_array_from_host)");
  EXPECT_EQ(ErrorOf(ricci_call_bind(on_host, 2, ricci_array_device_data(own), 16)),
            "call: the pointer for slot 2 (result 0 of program plus) is memory of device cuda:0, but device ref uses "
            "memory of the host");
  EXPECT_EQ(ErrorOf(ricci_call_bind(call, 0, static_cast<char*>(ricci_array_device_data(own)) + 1, 16)),
            "call: slot 0 (argument 0 of program plus) is not aligned to 4 bytes");
  EXPECT_EQ(ErrorOf(ricci_call_run(call), RICCI_FAILED_PRECONDITION),
            "call: slot 0 (argument 0 of program plus) is not bound");
  for (ricci_array* a : {own, far_away}) ricci_array_release(a);
  for (ricci_call* c : {call, on_host}) ricci_call_release(c);
}

TEST_F(GpuBadInput, StreamsOfOtherGpus) {
  ricci_call* call = CallOn(kAdd, gpu_);
  ricci_array *a = On(gpu_), *out = On(gpu_);
  uint32_t slot = 0;
  for (ricci_array* bound : {a, a, out}) {
    EXPECT_TRUE(Ok(ricci_call_bind(call, slot++, ricci_array_device_data(bound), 16)));
  }
  ricci_stream* s = nullptr;
  ASSERT_TRUE(Ok(ricci_stream_create(other_, &s)));
  ricci_run_opts o = ricci_run_opts_default();
  o.stream = s;
  EXPECT_EQ(ErrorOf(ricci_call_enqueue(call, &o, nullptr)),
            "run options: the stream is of device cuda:1, but program plus was compiled for cuda:0");
  EXPECT_TRUE(Ok(ricci_call_run(call))) << "in the device's own stream";
  ricci_stream_release(s);
  ricci_call_release(call);
  for (ricci_array* i : {a, out}) ricci_array_release(i);
}

// The stand-in has 1 GiB: the arguments fit, what is between the sorts and the sum does not.
TEST_F(GpuBadInput, OutOfMemoryNamesTheLargestBuffers) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), R"(program wide(%x: f32[4]) {
  %w: f32[4,100000000] = broadcast_in_dim(%x) broadcast_dimensions=[0] shape=[4,100000000]
  %s: f32[4,100000000] = sort(%w) dimension=1 is_stable=true num_keys=1
  %t: f32[4,100000000] = sort(%s) dimension=0 is_stable=true num_keys=1
  %u: f32[4] = reduce_max(%t) axes=[1]
  return %u
})")));
  ASSERT_TRUE(Ok(f.Give({{1, 2, 3, 4}})));
  EXPECT_EQ(
      ErrorOf(f.Enqueue(), RICCI_RESOURCE_EXHAUSTED),
      "cuda: cuMemAllocAsync: CUDA_ERROR_OUT_OF_MEMORY: an error of the simulated driver: 4800004352 bytes of memory "
      "wanted on simulated GPU, 1073741808 of 1073741824 are free; program wide needs 4800004352 bytes of working "
      "memory, the largest: 1600000000 of broadcast_in_dim (test:2), 1600000000 of sort_tiles (test:3), 1600000000 of "
      "sort_tiles (test:3)");
  ricci_array* const a = On(gpu_);
  ASSERT_NE(a, nullptr) << "a small array still fits";
  ricci_array_release(a);
}

TEST_F(GpuBadInput, FailedCheckSaysWhere) {
  const Program f = runner_.Parse(R"(program f(%x: f32[4]) {
  %z: f32[] = constant 0.0
  %zero: f32[4] = broadcast_in_dim(%z) shape=[4] broadcast_dimensions=[]
  %b: bool[4] = ge(%x, %zero)
  %a: bool[] = reduce_and(%b) axes=[0]
  %y: f32[4] = check(%a, %x) code=9 message="some are negative"
  return %y
})");
  EXPECT_EQ(runner_.RunErrorOn(f, {{1, 2, -3, 4}}, "cuda"), "test:6: check: some are negative");
  EXPECT_EQ(runner_.Run(f, {{1, 2, 3, 4}}, "cuda")[0], (Numbers{1, 2, 3, 4}));
}

TEST_F(GpuBadInput, WhatTheCompilerDoesNotTellIsSaid) {
  const std::string text = runner_.Dump(runner_.Parse(kAdd), "decisions", "cuda");
  EXPECT_EQ(text,
            "kernel k0_add: a thread for a point: no reduction, scan or parallel loop of 32 trips; no vectors: points "
            "are few\n"
            "  launch: 1 block of 256 threads\n"
            "  a point: reads 8 bytes (least 8), writes 4 (least 4), about 4 operations\n"
            "  code: this compiler reports no registers\n"
            "a run launches one graph with all steps\n");
}

// ---- what is missing, or does not fit together ----
class GpuSetup : public ::testing::Test {
 protected:
  std::string Attach(std::string_view driver, std::string_view compiler, std::string_view architecture) {
    const std::pair<std::string_view, std::string_view> options[] = {
        {"cuda.driver", driver}, {"cuda.compiler", compiler}, {"cuda.arch", architecture}};
    ProgramRunner runner;
    for (const auto& [key, value] : options) {
      if (value.empty()) continue;
      EXPECT_TRUE(Ok(ricci_context_config(runner.ctx(), key.data(), key.size(), value.data(), value.size())));
    }
    ricci_status* const s = ricci_context_add_plugin(runner.ctx(), ricci_plugin_query_cuda);
    EXPECT_EQ(runner.Run(runner.Parse(kAdd), {{1, 2, 3, 4}, {1, 1, 1, 1}})[0], (Numbers{2, 3, 4, 5})) << "on ref";
    return s == nullptr ? "" : Message(s);
  }
};

TEST_F(GpuSetup, DriverThatIsNone) {
  EXPECT_EQ(
      Attach("libm.so.6", RICCI_STANDIN, ""),
      "cuda: no CUDA device: the driver libm.so.6 is older than CUDA 12; option cuda.arch=sm_90a compiles without a "
      "GPU");
}

}}  // namespace ricci::testing
