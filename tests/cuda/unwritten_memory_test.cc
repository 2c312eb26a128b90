// Unwritten memory of a device: the simulated GPU reports who reads it, a kernel with its line or a copy to the host,
// and nothing for the right twin of each mistake.
#include <gtest/gtest.h>

#include "cuda/driver_script.h"

namespace ricci::testing { namespace {

struct Planted {
  const char *name, *said;
  const char *wrong, *right;
};

// Scripts (driver_script.h), with `raw` memory.
constexpr Planted kScripts[] = {
    {"ReadByKernel", "kernel reads: unwritten memory: thread 0 of block 0 reads 4 bytes at argument 0 + 0 of 64",
     "raw c s; reads c s; free c s", "raw c s; writes c s; reads c s; free c s"},
    {"UpdatedByKernel", "kernel adds: unwritten memory: thread 0 of block 0 reads 4 bytes",
     "raw c s; adds c s; free c s", "raw c s; set c s; adds c s; free c s"},
    {"WrittenTooLate", "kernel reads: unwritten memory", "raw c s; reads c s; writes c s; free c s",
     "raw c s; writes c s; reads c s; writes c s; free c s"},
    {"CopiedToTheHost", "unwritten memory: cuMemcpyDtoHAsync in stream s reads byte 0 of 64",
     "raw c s; get c s; sync s; free c s", "raw c s; put c s; get c s; sync s; free c s"},
    {"CopiedAndRead", "kernel reads: unwritten memory", "raw c s; raw d s; copy d c s; reads d s; free c s; free d s",
     "raw c s; raw d s; writes c s; copy d c s; reads d s; free c s; free d s"},
    {"CopiedOverWhatWasWritten", "kernel reads: unwritten memory", "raw c s; copy b c s; reads b s; free c s",
     "raw c s; copy b c s; set b s; reads b s; free c s"},
    {"CopiedToAnotherGpuAndBack", "unwritten memory: cuMemcpyDtoHAsync in stream s reads byte 0 of 64",
     "raw c s; raw d s; peer d c s; get d s; sync s; free c s; free d s",
     "raw c s; raw d s; peer d a s; get d s; sync s; free c s; free d s"},
    {"OfAnEarlierLife", "kernel reads: unwritten memory", "raw c s; writes c s; free c s; raw c s; reads c s; free c s",
     "raw c s; writes c s; free c s; raw c s; writes c s; reads c s; free c s"},
    {"ReadByANode", "kernel reads: unwritten memory", "raw c s; node g reads c; launch g s; sync s; free c s",
     "raw c s; node g set c; node g reads c 0; launch g s; sync s; free c s"},
    {"ReadBeforeTheOtherStreamWrites", "kernel reads: unwritten memory",
     "raw c s; mark e s; wait e t; reads c t; mark f t; wait f s; writes c s; free c s",
     "raw c s; writes c s; mark e s; wait e t; reads c t; mark f t; wait f s; free c s"},
};

TEST(UnwrittenMemory, OfStepsIsReported) {
  for (const Planted& p : kScripts) {
    SCOPED_TRACE(p.name);
    const std::string found = RunDriverScript(p.wrong);
    EXPECT_NE(found.find(p.said), found.npos) << found;
    EXPECT_EQ(RunDriverScript(p.right), "");
  }
}

// Bodies of kernels of 64 threads: `a` has as many numbers, all written; all of `c` are unwritten.
constexpr Planted kBodies[] = {
    {"HalfOfTheNumbers", "thread 0 of block 0 reads 4 bytes at argument 1 + 0 of 256 (ricci.cu:8)",
     "if (t % 2 == 1) c[t] = a[t]; a[t] = c[t];", "c[t] = a[t]; a[t] = c[t];"},
    {"OneByteOfFour", "reads 4 bytes at argument 1 + 0 of 256 (ricci.cu:8), of which byte 1 was never written",
     "((unsigned char*)(c + t))[0] = 1; a[t] = c[t];",
     "for (int k = 0; k < 4; ++k) ((unsigned char*)(c + t))[k] = 1; a[t] = c[t];"},
    {"VectorBeyondWhatIsWritten",
     "reads 16 bytes at argument 1 + 0 of 256 (ricci.cu:8), of which byte 12 was never written",
     "if (t < 16) { for (int k = 0; k < 3; ++k) c[4 * t + k] = a[t]; const quad v = *(const quad*)(c + 4 * t); a[t] = "
     "v.x; }",
     "if (t < 16) { for (int k = 0; k < 4; ++k) c[4 * t + k] = a[t]; const quad v = *(const quad*)(c + 4 * t); a[t] = "
     "v.x; }"},
    {"LastOfAVector", "thread 15 of block 0 reads 16 bytes at argument 1 + 240 of 256",
     "if (t < 16) { for (int k = 0; k < 4 - t / 15; ++k) c[4 * t + k] = 1; const quad v = *(const quad*)(c + 4 * t); "
     "a[t] = v.x; }",
     "if (t < 16) { for (int k = 0; k < 4 - t / 15; ++k) c[4 * t + k] = 1; if (t < 15) { const quad v = *(const "
     "quad*)(c + 4 * t); "
     "a[t] = v.x; } }"},
    {"UpdatedAtomically", "thread 0 of block 0 updates atomically 4 bytes at argument 1 + 0",
     "atomicAdd((unsigned*)c, 1u);", "if (t == 0) c[t] = 0; __syncthreads(); if (t == 0) atomicAdd((unsigned*)c, 1u);"},
    {"BeyondAShorterLoop", "reads 4 bytes at argument 1 + 12",
     "if (t == 0) { for (int k = 0; k < 3; ++k) c[k] = 1; for (int k = 0; k <= 3; ++k) a[k] = c[k]; }",
     "if (t == 0) { for (int k = 0; k < 3; ++k) c[k] = 1; for (int k = 0; k < 3; ++k) a[k] = c[k]; }"},
};

constexpr const char* kTypes = "struct alignas(16) quad {\n  float x, y, z, w;\n};\n\n";
constexpr uint32_t kThreads = 64;

class UnwrittenMemoryOfKernels : public ::testing::Test {
 protected:
  UnwrittenMemoryOfKernels() { driver_->cuStreamCreate(&stream_, 1); }
  ~UnwrittenMemoryOfKernels() override {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
    driver_->cuStreamDestroy(stream_);
  }
  std::string Run(const std::string& body) {
    std::string error;
    const cuda::CuModule module = driver_.Load(std::string(kTypes) +
                                                   "extern \"C\" __global__ void k(float* a, float* c) {\n"
                                                   "  const int t = threadIdx.x;\n"
                                                   "\n  " +
                                                   body + "\n}\n",
                                               error);
    EXPECT_NE(module, nullptr) << error;
    cuda::CuPointer a = driver_.Allocate(kThreads * 4, stream_), c = driver_.Allocate(kThreads * 4, stream_);
    driver_->cuMemsetD32Async(a, 0, kThreads, stream_);
    void* arguments[] = {&a, &c};
    driver_->cuLaunchKernel(driver_.Find(module, "k"), 1, 1, 1, kThreads, 1, 1, 0, stream_, arguments, nullptr);
    for (const cuda::CuPointer p : {a, c}) driver_->cuMemFreeAsync(p, stream_);
    driver_->cuStreamSynchronize(stream_);
    driver_->cuModuleUnload(module);
    return BareDriver::Complaints();
  }
  const BareDriver driver_;

 private:
  cuda::CuStream stream_ = nullptr;
};

// Another order finds another thread first.
TEST_F(UnwrittenMemoryOfKernels, IsReportedWithThreadAndLine) {
  for (const Planted& p : kBodies) {
    for (const uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(std::string(p.name) + ", seed " + std::to_string(seed));
      OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
      const std::string found = Run(p.wrong);
      EXPECT_NE(found.find(seed == 1 ? p.said : "unwritten memory: thread"), found.npos) << found;
      EXPECT_EQ(Run(p.right), "");
    }
  }
}

// What a text that is not checked has written is not known, so all that it was given counts as written.
TEST_F(UnwrittenMemoryOfKernels, IsNotSeenInTextsThatAreNotChecked) {
  OfStandin<void(uint32_t)>("ricci_standin_check")(0);
  EXPECT_EQ(Run("if (t == 0) c[0] = c[1];"), "");
  OfStandin<void(uint32_t)>("ricci_standin_check")(1);
}

}  // namespace
}  // namespace ricci::testing
