// The memory pool of a GPU: what it keeps, trim, the limit, and the access of other GPUs.
#include <gtest/gtest.h>

#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

class DeviceMemory : public ::testing::Test {
 protected:
  DeviceMemory() {
    OfStandin<const char*()>("ricci_standin_calls")();
    EXPECT_TRUE(Ok(ricci_context_add_plugin(runner_.ctx(), QuerySimulatedGpu)));
    gpu_ = GpuOf(runner_.ctx(), 0);
  }

  ricci_memory_stats Stats() const {
    ricci_memory_stats s{};
    s.hdr.size = sizeof s;
    EXPECT_TRUE(Ok(ricci_device_memory_stats(gpu_, &s)));
    return s;
  }
  uint64_t FreeBytes() const {
    uint64_t total = 0, available = 0;
    EXPECT_TRUE(Ok(ricci_device_memory(gpu_, &total, &available)));
    return available;
  }
  ricci_array* Megabytes(int64_t n) {
    const int64_t dims = n << 18;
    const ricci_type_desc d = ricci_type_desc_of(RICCI_F32, 1, &dims);
    ricci_type t = 0;
    EXPECT_TRUE(Ok(ricci_type_make(runner_.ctx(), &d, &t)));
    ricci_array* a = nullptr;
    const Floats zeros(static_cast<size_t>(dims));
    EXPECT_TRUE(Ok(ricci_array_from_host(gpu_, t, zeros.data(), nullptr, &a)));
    return a;
  }
  // Work that was enqueued is done, frees too.
  void Wait() const {
    ricci_array* const small = const_cast<DeviceMemory*>(this)->Megabytes(1);
    ricci_array_release(small);
    OfStandin<void()>("ricci_standin_run")();
  }

  ProgramRunner runner_;
  ricci_device* gpu_ = nullptr;
};

constexpr uint64_t kMega = 1 << 20;

TEST_F(DeviceMemory, ThePoolKeepsWhatWasFreedUntilItIsTrimmed) {
  const uint64_t all = FreeBytes();
  ricci_array* const a = Megabytes(8);
  EXPECT_EQ(Stats().bytes_in_use, 8 * kMega);
  EXPECT_EQ(Stats().bytes_reserved, 8 * kMega);
  ricci_array_release(a);
  Wait();
  EXPECT_EQ(Stats().bytes_in_use, 0u);
  EXPECT_GE(Stats().bytes_reserved, 8 * kMega) << "though the host has waited";
  EXPECT_EQ(FreeBytes(), all) << "what is kept is free for us";
  ASSERT_TRUE(Ok(ricci_device_trim(gpu_, 2 * kMega)));
  EXPECT_EQ(Stats().bytes_reserved, 2 * kMega);
  ASSERT_TRUE(Ok(ricci_device_trim(gpu_, 0)));
  EXPECT_EQ(Stats().bytes_reserved, 0u);
  EXPECT_EQ(FreeBytes(), all);
  EXPECT_EQ(Stats().peak_bytes_in_use, 8 * kMega);
}

TEST_F(DeviceMemory, TrimTakesNothingThatIsInUse) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), "program f(%x: f32[4]) {\n  %y: f32[4] = add(%x, %x)\n  return %y\n}")));
  ASSERT_TRUE(Ok(f.Give({{1, 2, 3, 4}})));
  ASSERT_TRUE(Ok(f.Enqueue()));
  ASSERT_TRUE(Ok(ricci_device_trim(gpu_, 0)));
  EXPECT_GE(Stats().bytes_reserved, Stats().bytes_in_use);
  std::vector<Floats> out;
  ASSERT_TRUE(Ok(f.Read(out)));
  EXPECT_EQ(out[0], (Floats{2, 4, 6, 8}));
}

TEST_F(DeviceMemory, ARunPastTheLimitNamesItsLargestBuffers) {
  GpuProgram f(gpu_);
  ASSERT_TRUE(Ok(f.Compile(runner_.ctx(), R"(program wide(%x: f32[4]) {
  %w: f32[4,1000] = broadcast_in_dim(%x) broadcast_dimensions=[0] shape=[4,1000]
  %s: f32[4,1000] = sort(%w) dimension=1 is_stable=true num_keys=1
  %u: f32[4] = reduce_max(%s) axes=[1]
  return %u
})")));
  ASSERT_TRUE(Ok(f.Give({{1, 2, 3, 4}})));
  ASSERT_TRUE(Ok(ricci_device_set_memory_limit(gpu_, 1000)));
  ricci_status* const s = f.Enqueue();
  EXPECT_EQ(ricci_status_code(s), uint32_t{RICCI_RESOURCE_EXHAUSTED});
  const std::string why = Message(s);
  EXPECT_NE(why.find("device cuda:0: "), why.npos) << why;
  EXPECT_NE(
      why.find(" bytes of memory wanted, 16 are in use, the limit is 1000 (ricci_device_set_memory_limit); program "
               "wide needs "),
      why.npos)
      << why;
  EXPECT_NE(why.find("the largest: 16000 of "), why.npos) << why;
  ASSERT_TRUE(Ok(ricci_device_set_memory_limit(gpu_, 0)));
  EXPECT_TRUE(Ok(f.Enqueue()));
}

TEST_F(DeviceMemory, OtherGpusMayReachThePool) {
  const std::string calls = OfStandin<const char*()>("ricci_standin_calls")();
  size_t n = 0;
  for (size_t at = calls.find("cuMemPoolSetAccess\n"); at != calls.npos;
       at = calls.find("cuMemPoolSetAccess\n", at + 1))
    ++n;
  EXPECT_EQ(n, 2u) << "each of the two GPUs to the other one";
}

}}  // namespace ricci::testing
