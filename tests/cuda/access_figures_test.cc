// How warps of typical kernels access memory, as the simulated GPU counts it: sectors of 32 bytes against the least
// that their bytes need, and lanes that wait for a bank of shared memory.
#include <gtest/gtest.h>

#include "cuda/bare_driver.h"
#include "cuda/counting.h"
#include "cuda/gpu_program.h"
#include "support/program_runner.h"

namespace ricci::testing { namespace {

using Figures = ricci_standin_figures;

struct Typical {
  const char *name, *text;
  bool has_shared;
  double least;  // the least sectors against those of its requests
};
constexpr Typical kTypical[] = {
    {"Elementwise",
     "program f(%x: f32[8192], %y: f32[8192]) {\n  %p: f32[8192] = mul(%x, %y)\n  %z: f32[8192] = add(%p, %x)\n"
     "  return %z\n}",
     false, 0.95},
    {"ElementwiseOfOddSize", "program f(%x: f32[8191]) {\n  %z: f32[8191] = exp(%x)\n  return %z\n}", false, 0.95},
    {"Bias",
     "program f(%x: f32[64,256], %b: f32[256]) {\n  %c: f32[64,256] = broadcast_in_dim(%b) shape=[64,256] "
     "broadcast_dimensions=[1]\n  %z: f32[64,256] = add(%x, %c)\n  return %z\n}",
     false, 0.95},
    {"SumsOfRows", "program f(%x: f32[40,512]) {\n  %s: f32[40] = reduce_sum(%x) axes=[1]\n  return %s\n}", false,
     0.95},
    {"SumsOfColumns", "program f(%x: f32[256,96]) {\n  %s: f32[96] = reduce_sum(%x) axes=[0]\n  return %s\n}", true,
     0.95},
    {"Total", "program f(%x: f32[20000]) {\n  %s: f32[] = reduce_sum(%x) axes=[0]\n  return %s\n}", true, 0.95},
    {"ScanInParts", "program f(%x: f32[20000]) {\n  %s: f32[20000] = cumsum(%x) axis=0 reverse=false\n  return %s\n}",
     true, 0.95},
    {"Softmax",
     "program f(%x: f32[16,512]) {\n  %m: f32[16] = reduce_max(%x) axes=[1]\n  %b: f32[16,512] = "
     "broadcast_in_dim(%m) shape=[16,512] broadcast_dimensions=[0]\n  %d: f32[16,512] = sub(%x, %b)\n"
     "  %e: f32[16,512] = exp(%d)\n  %s: f32[16] = reduce_sum(%e) axes=[1]\n  %c: f32[16,512] = "
     "broadcast_in_dim(%s) shape=[16,512] broadcast_dimensions=[0]\n  %z: f32[16,512] = div(%e, %c)\n  return %z\n}",
     false, 0.95},
    {"Transpose", "program f(%x: f32[128,128]) {\n  %z: f32[128,128] = transpose(%x) permutation=[1,0]\n  return %z\n}",
     true, 0.95},
};

Floats Uneven(float from) {
  Floats out(1 << 15);
  for (size_t i = 0; i < out.size(); ++i) out[i] = from + static_cast<float>(i * 37 % 101) / 16;
  return out;
}

// In each order of blocks, warps and lanes; results have the same bits.
TEST(AccessFigures, OfTypicalKernels) {
  ProgramRunner runner;
  ASSERT_TRUE(Ok(ricci_context_add_plugin(runner.ctx(), QuerySimulatedGpu)));
  for (const Typical& t : kTypical) {
    SCOPED_TRACE(t.name);
    GpuProgram f(GpuOf(runner.ctx()));
    ASSERT_TRUE(Ok(f.Compile(runner.ctx(), t.text)));
    ASSERT_TRUE(Ok(f.Give({Uneven(-3), Uneven(1)})));
    std::vector<Floats> first;
    for (const uint64_t seed : {1, 2, 3}) {
      OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
      const Counting counting;
      ASSERT_TRUE(Ok(f.Enqueue()));
      std::vector<Floats> out;
      ASSERT_TRUE(Ok(f.Read(out)));
      if (seed == 1) first = out;
      EXPECT_EQ(out, first);
      const Figures n = Counted();
      EXPECT_GT(n.requests, 0u);
      EXPECT_GE(static_cast<double>(n.least_sectors), t.least * static_cast<double>(n.sectors)) << n.sectors;
      EXPECT_EQ(n.shared_requests != 0, t.has_shared);
      EXPECT_EQ(n.conflicts, 0u) << n.shared_requests;
    }
  }
  OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
}

struct Known {
  const char *name, *body;
  Figures figures;
};
// One warp. What is counted is known from the text.
constexpr Known kKnown[] = {
    {"InOrder", "a[t] = 1;", {1, 4, 4, 0, 0}},
    {"Backwards", "a[31 - t] = 1;", {1, 4, 4, 0, 0}},
    {"OneForAll", "const float v = a[5];", {1, 1, 1, 0, 0}},
    {"EveryOther", "a[2 * t] = 1;", {1, 8, 4, 0, 0}},
    {"Apart", "a[8 * t] = 1;", {1, 32, 4, 0, 0}},
    {"AcrossSectors", "a[t + 1] = 1;", {1, 5, 4, 0, 0}},
    {"HalfOfTheLanes", "if (t < 16) a[t] = 1;", {1, 2, 2, 0, 0}},
    {"Vectors", "const quad v = {1}; *(quad*)(a + 4 * t) = v;", {1, 16, 16, 0, 0}},
    {"TwoTrips", "for (int i = 0; i < 2; ++i) a[32 * i + t] = 1;", {2, 8, 8, 0, 0}},
    {"SharedInOrder", "__shared__ float s[1024]; s[t] = 1;", {0, 0, 0, 1, 0}},
    {"SharedColumn", "__shared__ float s[1024]; s[32 * t] = 1;", {0, 0, 0, 1, 31}},
    {"SharedPaddedColumn", "__shared__ float s[33 * 32]; s[33 * t] = 1;", {0, 0, 0, 1, 0}},
    {"SharedEveryOther", "__shared__ float s[1024]; s[2 * t] = 1;", {0, 0, 0, 1, 1}},
    {"SharedOneForAll",
     "__shared__ float s[1]; if (t == 0) s[0] = 1; __syncwarp(); const float v = s[0];",
     {0, 0, 0, 2, 0}},
    {"SharedVectors",
     "__shared__ __align__(16) float s[128]; const quad v = {1}; *(quad*)(s + 4 * t) = v;",
     {0, 0, 0, 1, 0}},
};

TEST(AccessFigures, AreCountedAsKnown) {
  const BareDriver driver;
  std::string text = "struct __align__(16) quad { float x, y, z, w; };\n", error;
  for (const Known& k : kKnown) {
    text += "extern \"C\" __global__ void " + std::string(k.name) + "(float* a) {\n  const int t = threadIdx.x;\n  " +
            k.body + "\n}\n";
  }
  const cuda::CuModule module = driver.Load(text, error);
  ASSERT_NE(module, nullptr) << error;
  cuda::CuStream stream = nullptr;
  driver->cuStreamCreate(&stream, 1);
  cuda::CuPointer a = driver.Allocate(4096, stream);
  for (const Known& k : kKnown) {
    SCOPED_TRACE(k.name);
    const Counting counting;
    void* arguments[] = {&a};
    driver->cuLaunchKernel(driver.Find(module, k.name), 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr);
    driver->cuStreamSynchronize(stream);
    const Figures n = Counted();
    EXPECT_EQ(n.requests, k.figures.requests);
    EXPECT_EQ(n.sectors, k.figures.sectors);
    EXPECT_EQ(n.least_sectors, k.figures.least_sectors);
    EXPECT_EQ(n.shared_requests, k.figures.shared_requests);
    EXPECT_EQ(n.conflicts, k.figures.conflicts);
  }
  driver->cuMemFreeAsync(a, stream);
  driver->cuStreamSynchronize(stream);
  driver->cuStreamDestroy(stream);
  driver->cuModuleUnload(module);
  EXPECT_EQ(BareDriver::Complaints(), "");
}

}  // namespace
}  // namespace ricci::testing
