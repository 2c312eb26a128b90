// Faults planted in kernels: the simulated GPU reports each with its kind and thread, and nothing for its right twin.
#include <gtest/gtest.h>

#include "cuda/bare_driver.h"

namespace ricci::testing { namespace {

struct Planted {
  const char *name, *kind, *who;  // with threads in order
  const char *wrong, *right;      // bodies of kernels
};

// Two blocks of 64 threads: `t` in the block, `i` in all; `a` has as many elements, of numbers; so has `b`, of zeros.
// 256 bytes of dynamic shared memory.
constexpr Planted kPlanted[] = {
    {"ReadBeyondEnd", "out of bounds", "thread 63 of block 1 reads 4 bytes at argument 0 + 512 of 512",  //
     "b[i] = a[i + 1];", "b[i] = a[i];"},
    {"WriteBeforeBegin", "out of bounds", "thread 0 of block 0 writes 4 bytes",  //
     "b[i - 1] = a[i];", "b[i] = a[i];"},
    {"PairAcrossEnd", "out of bounds", "thread 63 of block 1 reads 8 bytes at argument 0 + 508",
     "const two v = *(const two*)(a + i); b[i] = v.y;", "const two v = *(const two*)(a + i % 127); b[i] = v.y;"},
    {"BeyondSharedArray", "out of bounds", "thread 63 of block 0 writes 4 bytes at s + 256 of 256",
     "__shared__ f32 s[64]; __shared__ f32 u[64]; u[t] = 0; s[t + 1] = a[i];",
     "__shared__ f32 s[64]; __shared__ f32 u[64]; u[t] = 0; s[t] = a[i];"},
    {"BeyondDynamicArray", "out of bounds", "thread 32 of block 0 writes 4 bytes at s + 256 of 256",
     "extern __shared__ f32 s[]; s[2 * t] = a[i];", "extern __shared__ f32 s[]; s[t] = a[i];"},
    {"SharedNeverWritten", "uninitialised shared memory", "thread 0 of block 0 reads 4 bytes at s + 0",
     "__shared__ f32 s[64]; b[i] = s[t];", "__shared__ f32 s[64]; s[t] = a[i]; b[i] = s[t];"},
    {"SharedHalfWritten", "uninitialised shared memory", "thread 32 of block 0 reads 4 bytes at s + 128",
     "__shared__ f32 s[64]; if (t < 32) s[t] = a[i]; __syncthreads(); b[i] = s[t];",
     "__shared__ f32 s[64]; if (t < 32) s[t] = a[i]; __syncthreads(); b[i] = s[t % 32];"},
    {"SharedOfOtherBlock", "uninitialised shared memory", "thread 0 of block 1 reads 4 bytes at s + 0",
     "__shared__ f32 s[64]; if (blockIdx.x == 0) s[t] = a[i]; b[i] = s[t];",
     "__shared__ f32 s[64]; if (blockIdx.x == 1) s[t] = a[i]; b[i] = blockIdx.x == 1 ? s[t] : 0;"},
    {"SharedReadWithoutBarrier", "race in shared memory", "thread 32 of block 0 writes",
     "__shared__ f32 s[64]; s[t] = a[i]; b[i] = s[63 - t];",
     "__shared__ f32 s[64]; s[t] = a[i]; __syncthreads(); b[i] = s[63 - t];"},
    {"SharedWrittenAgainWithoutBarrier", "race in shared memory", "thread 32 of block 0 reads",
     "__shared__ f32 s[64]; s[t] = a[i]; __syncthreads(); b[i] = s[63 - t]; s[t] = 0;",
     "__shared__ f32 s[64]; s[t] = a[i]; __syncthreads(); b[i] = s[63 - t]; __syncthreads(); s[t] = 0;"},
    {"SyncwarpIsNoBarrier", "race in shared memory", "thread 32 of block 0 writes",
     "__shared__ f32 s[64]; s[t] = a[i]; __syncwarp(); b[i] = s[t ^ 32];",
     "__shared__ f32 s[64]; s[t] = a[i]; __syncwarp(); b[i] = s[t ^ 31];"},
    {"ShuffleDoesNotOrderMemory", "race in shared memory", "thread 0 of block 0 reads",
     "__shared__ f32 s[64]; s[t] = a[i]; __shfl_xor_sync(~0u, a[i], 1); b[i] = s[t ^ 1];",
     "__shared__ f32 s[64]; s[t] = a[i]; __shfl_xor_sync(~0u, a[i], 1); __syncwarp(); b[i] = s[t ^ 1];"},
    {"SyncwarpOfOtherLanes", "race in shared memory", "thread 0 of block 0 reads",
     "__shared__ f32 s[64]; s[t] = a[i]; __syncwarp(t % 32 < 16 ? 0xffffu : 0xffff0000u); b[i] = s[t ^ 16];",
     "__shared__ f32 s[64]; s[t] = a[i]; __syncwarp(t % 32 < 16 ? 0xffffu : 0xffff0000u); b[i] = s[t ^ 15];"},
    {"NeighbourBytes", "race in shared memory", "thread 1 of block 0 writes 2 bytes at s + 1",
     "__shared__ unsigned char s[65]; const bytes v = {1, 2}; *(bytes*)(s + t) = v;",
     "__shared__ unsigned char s[64]; s[t] = 1; b[i] = s[t];"},
    {"OneResultOfAllThreads", "race in global memory", "thread 1 of block 0 writes 4 bytes at argument 1 + 0",
     "b[0] = a[i];", "if (i == 0) b[0] = a[i];"},
    {"BarrierDoesNotOrderBlocks", "race in global memory", "thread 0 of block 1 reads 4 bytes at argument 1 + 0 of 512",
     "if (i == 0) b[0] = 1; __syncthreads(); if (i > 0) b[i] = b[0];",
     "if (i == 0) b[0] = 1; __syncthreads(); if (blockIdx.x == 0 && t > 0) b[t] = b[0];"},
    {"AtomicAndPlain", "race in global memory", "thread 5 of block 0 reads",
     "atomicAdd((u32*)b, 1u); if (i == 5) a[0] = b[0];", "atomicAdd((u32*)b, 1u); if (i == 5) b[1] = a[0];"},
    {"ReadAndWrittenByNeighbour", "race in global memory", "thread 0 of block 0 writes", "b[i] = a[i ^ 1]; a[i] = 0;",
     "b[i] = a[i ^ 1];"},
    // What the last of several blocks reads of the others: no fence gives it an order that the check knows.
    {"FenceBetweenBlocks", "race in global memory", "thread 0 of block 1 reads 4 bytes at argument 1 + 4 of 512",
     "if (t == 0) { b[1 + blockIdx.x] = a[i]; __threadfence(); if (atomicAdd((u32*)b, 1u) == 1) a[i] = b[1] + b[2]; }",
     "if (t == 0) { b[1 + blockIdx.x] = a[i]; __threadfence(); if (atomicAdd((u32*)b, 1u) == 1) a[i] = b[1 + "
     "blockIdx.x]; }"},
    {"FlagBetweenBlocks", "race in global memory", "thread 0 of block 1 reads 4 bytes at argument 1 + 4 of 512",
     "if (t == 0) { if (atomicAdd((u32*)b, 1u) == 0) b[1] = 1; __threadfence(); b[2] = b[1]; }",
     "if (t == 0) { if (atomicAdd((u32*)b, 1u) == 0) b[1] = 1; __threadfence(); b[2 + blockIdx.x] = 2; }"},
    {"FenceOfABlock", "race in shared memory", "thread 1 of block 0 writes",
     "__shared__ f32 s[64]; s[t] = a[i]; __threadfence_block(); b[i] = s[t ^ 1];",
     "__shared__ f32 s[64]; s[t] = a[i]; __threadfence_block(); __syncwarp(); b[i] = s[t ^ 1];"},
    {"BarrierInBranch", "divergent barrier", "thread 32 has ended",  //
     "if (t < 32) __syncthreads(); b[i] = a[i];", "if (t < 64) __syncthreads(); b[i] = a[i];"},
    {"BarrierInLoopOfDifferentTrips", "divergent barrier", "thread 0 has ended",
     "for (i32 k = 0; k <= t; ++k) __syncthreads();", "for (i32 k = 0; k <= blockIdx.x; ++k) __syncthreads();"},
    {"MaskOfAbsentLanes", "wrong mask", "thread 0 waits at __shfl_xor_sync, thread 16 has ended",
     "if (t % 32 < 16) b[i] = __shfl_xor_sync(~0u, a[i], 1);",
     "if (t % 32 < 16) b[i] = __shfl_xor_sync(0xffffu, a[i], 1);"},
    {"MaskWithoutItself", "wrong mask", "thread 16 waits at __shfl_xor_sync, whose mask does not name it",
     "b[i] = __shfl_xor_sync(0xffffu, a[i], 1);", "b[i] = __shfl_xor_sync(~0u, a[i], 1);"},
    {"DifferentShuffles", "wrong mask",
     "thread 0 waits at __shfl_xor_sync, thread 1 waits at __shfl_xor_sync elsewhere",
     "b[i] = t % 2 ? __shfl_xor_sync(~0u, a[i], 1) : __shfl_xor_sync(~0u, a[i], 2);",
     "b[i] = t / 32 ? __shfl_xor_sync(~0u, a[i], 1) : __shfl_xor_sync(~0u, a[i], 2);"},
    {"ShuffleBesideBarrier", "wrong mask", "thread 0 waits at __ballot_sync, thread 8 waits at __syncthreads",
     "if (t % 32 < 8) __ballot_sync(~0u, t); __syncthreads();", "__ballot_sync(~0u, t); __syncthreads();"},
    {"VectorOfOddElement", "misaligned", "thread 1 of block 0 reads 16 bytes at argument 0 + 4",
     "const quad v = *(const quad*)(a + i % 32); b[i] = v.w;",
     "const quad v = *(const quad*)(a + i % 32 * 4); b[i] = v.w;"},
    {"SharedVectorOfOddElement", "misaligned", "thread 1 of block 0 writes 8 bytes at s + 4",
     "__shared__ __align__(8) f32 s[66]; const pair v = {1, 2}; *(pair*)(s + t) = v;",
     "__shared__ __align__(8) f32 s[130]; const pair v = {1, 2}; *(pair*)(s + 2 * t) = v;"},
    {"WaitsForOtherThread", "never ends", "thread 0",  //
     "if (t == 0) while (b[i] == 0) { } else b[0] = 1;", "if (t == 0) while (a[i] == -1) { } else b[i] = 1;"},
    {"LoopWithoutEnd", "never ends", "thread 0",  //
     "for (u32 k = 1; k != 0; k += 2) { }", "for (u32 k = 1; k != 101; k += 2) { }"},
};

constexpr const char* kTypes =
    "typedef int i32;\ntypedef unsigned u32;\ntypedef float f32;\nstruct alignas(8) pair { f32 x, y; };\n"
    "struct alignas(16) quad { f32 x, y, z, w; };\nstruct two { f32 x, y; };\nstruct bytes { unsigned char x, y; };\n";

std::string KernelOf(const std::string& name, const char* body) {
  return "extern \"C\" __global__ void " + name + "(f32* a, f32* b) {\n  const i32 t = threadIdx.x, i = blockIdx.x * " +
         "blockDim.x + t;\n  " + body + "\n}\n";
}

class PlantedFaults : public ::testing::Test {
 protected:
  static constexpr uint32_t kThreads = 64, kBlocks = 2;
  static constexpr uint64_t kBytes = kThreads * kBlocks * sizeof(float);

  PlantedFaults() {
    OfStandin<void(uint64_t)>("ricci_standin_bound")(100000);
    std::string text = kTypes, error;
    for (const Planted& p : kPlanted) {
      text += KernelOf(p.name + std::string("_wrong"), p.wrong) + KernelOf(p.name + std::string("_right"), p.right);
    }
    module_ = driver_.Load(text, error);
    EXPECT_NE(module_, nullptr) << error;
    driver_->cuStreamCreate(&stream_, 1);
    a_ = driver_.Allocate(kBytes, stream_);
    b_ = driver_.Allocate(kBytes, stream_);
  }
  ~PlantedFaults() override {
    OfStandin<void(uint64_t)>("ricci_standin_bound")(uint64_t{1} << 32);
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
    driver_->cuMemFreeAsync(a_, stream_);
    driver_->cuMemFreeAsync(b_, stream_);
    driver_->cuStreamSynchronize(stream_);
    driver_->cuStreamDestroy(stream_);
    driver_->cuModuleUnload(module_);
  }

  std::string Run(const std::string& kernel, uint64_t seed) { return RunOf(module_, kernel, seed); }
  std::string RunOf(cuda::CuModule module, const std::string& kernel, uint64_t seed) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    driver_->cuMemsetD32Async(a_, 0x3f800000, kBytes / 4, stream_);
    driver_->cuMemsetD32Async(b_, 0, kBytes / 4, stream_);
    void* arguments[] = {&a_, &b_};
    const cuda::CuFunction f = driver_.Find(module, kernel);
    driver_->cuLaunchKernel(f, kBlocks, 1, 1, kThreads, 1, 1, 256, stream_, arguments, nullptr);
    driver_->cuStreamSynchronize(stream_);
    return BareDriver::Complaints();
  }
  const BareDriver driver_;

 private:
  cuda::CuModule module_ = nullptr;
  cuda::CuStream stream_ = nullptr;
  cuda::CuPointer a_ = 0, b_ = 0;
};

// The order decides which thread is seen first, but not whether one is.
TEST_F(PlantedFaults, AreReportedWithKindAndThread) {
  for (const Planted& p : kPlanted) {
    for (const uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(std::string(p.name) + ", seed " + std::to_string(seed));
      const std::string found = Run(p.name + std::string("_wrong"), seed);
      EXPECT_NE(found.find(p.kind), found.npos) << found;
      if (seed == 1) {
        EXPECT_NE(found.find(p.who), found.npos) << found;
      }
      EXPECT_EQ(Run(p.name + std::string("_right"), seed), "");
    }
  }
}

// As a text is compiled.
TEST_F(PlantedFaults, AreNotSeenInTextsThatAreNotChecked) {
  const auto check = OfStandin<void(uint32_t)>("ricci_standin_check");
  for (const uint32_t every : {0, 1}) {
    check(every);
    std::string error;
    const std::string name = "every" + std::to_string(every);
    const cuda::CuModule module = driver_.Load(kTypes + KernelOf(name, "b[0] = a[i];"), error);
    ASSERT_NE(module, nullptr) << error;
    EXPECT_EQ(RunOf(module, name, 1).empty(), every == 0);
    driver_->cuModuleUnload(module);
  }
}

}  // namespace
}  // namespace ricci::testing
