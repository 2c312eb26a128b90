// Faults planted in kernels of one block of 128 threads, in which tensor cores multiply 64 rows and 16 columns: what
// these kernels have in common, how they run, and what must be reported of them.
#ifndef RICCI_TESTS_CUDA_PLANTED_BLOCKS_H_
#define RICCI_TESTS_CUDA_PLANTED_BLOCKS_H_
#include <gtest/gtest.h>

#include <span>

#include "cuda/bare_driver.h"

namespace ricci::testing {

// A kernel, and what is found while it runs; that up to the first `:` whatever the order of threads.
struct PlantedInBlock {
  const char *name, *found, *body;
};

// For the simulated GPU only.
class PlantedBlocks : public ::testing::Test {
 protected:
  static constexpr uint32_t kThreads = 128;

  // `parts`: what kernels use besides these words.
  explicit PlantedBlocks(const char* parts) : parts_(parts) {
    driver_->cuStreamCreate(&stream_, 1);
    b_ = driver_.Allocate(kThreads * sizeof(float), stream_);
  }
  ~PlantedBlocks() override {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
    OfStandin<void(int)>("ricci_standin_capability")(90);
    driver_->cuMemFreeAsync(b_, stream_);
    driver_->cuStreamSynchronize(stream_);
    driver_->cuStreamDestroy(stream_);
    for (const cuda::CuModule m : modules_) driver_->cuModuleUnload(m);
  }

  cuda::CuModule Load(const std::string& kernels) {
    std::string error;
    modules_.push_back(
        driver_.Load(std::string("#ifndef __CUDA_ARCH__") + kWords + parts_ + kernels + "#endif\n", error));
    EXPECT_NE(modules_.back(), nullptr) << error;
    return modules_.back();
  }
  cuda::CuResult Launch(cuda::CuFunction f, std::span<void*> arguments, unsigned shared_bytes = 0) {
    return driver_->cuLaunchKernel(f, 1, 1, 1, kThreads, 1, 1, shared_bytes, stream_, arguments.data(), nullptr);
  }
  // What is found while the kernel runs; sums_ is what it leaves in `b`.
  std::string Run(cuda::CuModule m, const std::string& kernel, uint64_t seed, std::span<void*> arguments) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    driver_->cuMemsetD32Async(b_, 0, kThreads, stream_);
    EXPECT_EQ(Launch(driver_.Find(m, kernel), arguments), 0);
    driver_->cuMemcpyDtoHAsync(sums_, b_, sizeof sums_, stream_);
    driver_->cuStreamSynchronize(stream_);
    return BareDriver::Complaints();
  }
  static void ExpectReport(const PlantedInBlock& p, const std::string& found, uint64_t seed) {
    const std::string wanted = p.found;
    // Another order finds another thread first.
    EXPECT_NE(found.find(seed == 1 ? wanted : wanted.substr(0, wanted.find(':'))), std::string::npos)
        << p.name << ", seed " << seed << ": " << found;
  }

  const BareDriver driver_;
  cuda::CuStream stream_ = nullptr;
  cuda::CuPointer b_ = 0;
  std::vector<cuda::CuModule> modules_;
  float sums_[kThreads];

 private:
  static constexpr const char* kWords = R"(
typedef int i32; typedef unsigned u32; typedef unsigned short u16; typedef unsigned long long u64; typedef float f32;
static __device__ u64 Matrix(const u16* first) {
  return 1ull << 62 | (u64)(1024 >> 4) << 32 | 1ull << 16 | ricci_shared_address(first) >> 4;
}
#define SHOW ricci_fence_proxy_async();
#define BARRIER __syncthreads();
#define STORE b[t] = s[0];
)";
  const char* const parts_;
};

}  // namespace ricci::testing
#endif
