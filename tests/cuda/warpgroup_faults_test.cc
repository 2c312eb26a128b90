// Faults planted in products of groups of four warps, and in how much shared memory launches ask for: the simulated GPU
// reports each, and nothing where all is as it should be.
#include <cmath>

#include "cuda/planted_blocks.h"

namespace ricci::testing { namespace {

// Rows and columns of ones, in lines of 128 bytes; `b` gets a sum of each thread.
constexpr const char* kParts = R"(
#define FILL for (i32 i = t; i < 64 * 64; i += 128) { x[i] = 0x3f80; if (i < 16 * 64) y[i] = 0x3f80; }
#define FENCE ricci_meet_wgmma_fence();
#define MULTIPLY ricci_meet_wgmma_bf16(s, 16, Matrix(x), Matrix(y), 0, 0);
#define COMMIT ricci_meet_wgmma_commit();
#define WAIT ricci_meet_wgmma_wait(0);
)";
constexpr const char* kRight = "FILL SHOW BARRIER FENCE MULTIPLY COMMIT WAIT STORE";

constexpr PlantedInBlock kPlantedInProducts[] = {
    {"NotShown", "no fence.proxy.async: group of warps 0 of block 0 reads 16 bytes at x + ",
     "FILL BARRIER FENCE MULTIPLY COMMIT WAIT STORE"},
    {"ShownTooEarly", "no fence.proxy.async", "SHOW FILL BARRIER FENCE MULTIPLY COMMIT WAIT STORE"},
    {"ShownByOneThread", "no fence.proxy.async", "FILL if (t == 0) { SHOW } BARRIER FENCE MULTIPLY COMMIT WAIT STORE"},
    {"NoBarrier", "race in shared memory: group of warps 0", "FILL SHOW FENCE MULTIPLY COMMIT WAIT STORE"},
    {"WrittenBeforeTheWait", "race in shared memory", "FILL SHOW BARRIER FENCE MULTIPLY COMMIT x[t] = 0; WAIT STORE"},
    {"WrittenAfterABarrier", "race in shared memory",
     "FILL SHOW BARRIER FENCE MULTIPLY COMMIT BARRIER x[t] = 0; BARRIER WAIT STORE"},
    {"WrittenWhileALaterGroupReads", "race in shared memory",
     "FILL SHOW BARRIER FENCE MULTIPLY COMMIT MULTIPLY COMMIT ricci_meet_wgmma_wait(1); x[t] = 0; WAIT STORE"},
    {"NoFence", "wgmma.mma_async whose sums no wgmma.fence precedes", "FILL SHOW BARRIER MULTIPLY COMMIT WAIT STORE"},
    {"NoFenceAfterTheWait", "wgmma.mma_async whose sums no wgmma.fence precedes",
     "FILL SHOW BARRIER FENCE MULTIPLY COMMIT WAIT s[0] += 1; MULTIPLY COMMIT WAIT STORE"},
    {"NeverWaitedFor", "a product of a group of warps is never waited for", "FILL SHOW BARRIER FENCE MULTIPLY COMMIT"},
    {"NeverCommitted", "a product of a group of warps is never waited for",
     "FILL SHOW BARRIER FENCE MULTIPLY WAIT STORE"},
    {"HalfOfAGroup", "wrong mask or operation of a warp: thread 0 waits at wgmma.mma_async",
     "FILL SHOW BARRIER FENCE if (t < 64) { MULTIPLY } COMMIT WAIT STORE"},
    {"OtherRowsInEachWarp", "wgmma.mma_async: thread 32 gives other operands than thread 0",
     "FILL SHOW BARRIER FENCE ricci_meet_wgmma_bf16(s, 16, Matrix(x + t / 32 * 512), Matrix(y), 0, 0); COMMIT WAIT"},
    {"NoSwizzle", "a matrix descriptor without a swizzle",
     "FILL SHOW BARRIER FENCE ricci_meet_wgmma_bf16(s, 16, Matrix(x) & ~(3ull << 62), Matrix(y), 0, 0); COMMIT WAIT"},
    {"BeyondTheArray", "out of bounds: group of warps 0",
     "FILL SHOW BARRIER FENCE ricci_meet_wgmma_bf16(s, 24, Matrix(x), Matrix(y), 0, 0); COMMIT WAIT"},
    {"HalfWritten", "uninitialised shared memory",
     "if (t < 64) { FILL } SHOW BARRIER FENCE MULTIPLY COMMIT WAIT STORE"},
};

std::string Kernel(const std::string& name, const char* body) {
  return "extern \"C\" __global__ void " + name +
         "(f32* b) {  // with ricci_meet in its macros\n  __shared__ __align__(1024) u16 x[64 * 64];\n  __shared__ "
         "__align__(1024) u16 y[16 * 64];\n"
         "  const i32 t = threadIdx.x;\n  f32 s[12] = {};\n  " +
         body + "\n}\n";
}

class WarpgroupFaults : public PlantedBlocks {
 protected:
  WarpgroupFaults() : PlantedBlocks(kParts) {}

  cuda::CuResult Launch(cuda::CuFunction f, unsigned shared_bytes) {
    void* arguments[] = {&b_};
    return PlantedBlocks::Launch(f, arguments, shared_bytes);
  }
  std::string Run(cuda::CuModule m, const std::string& kernel, uint64_t seed = 1) {
    void* arguments[] = {&b_};
    return PlantedBlocks::Run(m, kernel, seed, arguments);
  }
};

TEST_F(WarpgroupFaults, AreReported) {
  std::string text = Kernel("right", kRight);
  for (const PlantedInBlock& p : kPlantedInProducts) text += Kernel(p.name, p.body);
  const cuda::CuModule m = Load(text);
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ(Run(m, "right", seed), "");
    for (const float sum : sums_) EXPECT_EQ(sum, 16);
    for (const PlantedInBlock& p : kPlantedInProducts) ExpectReport(p, Run(m, p.name, seed), seed);
  }
}

TEST_F(WarpgroupFaults, SumsAreNoNumbersBeforeTheWait) {
  Run(Load(Kernel("early", "FILL SHOW BARRIER FENCE MULTIPLY COMMIT STORE WAIT")), "early");
  for (const float sum : sums_) EXPECT_TRUE(std::isnan(sum));
}

// Both lines of 64 and of 32 bytes, and lines along the rows (columns): each element is where PTX ISA says.
TEST_F(WarpgroupFaults, Swizzles) {
  // x(row, trip) = row, y(column, trip) = 1 only for trip 3 of column 2, else 0.
  const char* const kOther = R"(
#define AT(line, number, inner) ((number) * (line) + (((inner) / 8 ^ (number) * (line) * 2 / 128 % ((line) / 8)) * 8 + (inner) % 8))
#define KIND(line) ((line) == 64 ? 1ull : (line) == 32 ? 2ull : 3ull)
#define OTHER(at, line) (KIND(line) << 62 | (u64)((line) * 16 >> 4) << 32 | 1ull << 16 | ricci_shared_address(at) >> 4)
)";
  std::string text = kOther;
  for (const char* line : {"64", "32", "16"}) {
    const std::string l(line);
    text += Kernel(
        "along_sum_" + l,
        ("for (i32 i = t; i < 64 * " + l + "; i += 128) x[AT(" + l + ", i / " + l + ", i % " + l + ")] = i / " + l +
         " == 5 ? 0x3f80 : 0; for (i32 i = t; i < 16 * " + l + "; i += 128) y[AT(" + l + ", i / " + l + ", i % " + l +
         ")] = i == 2 * " + l + " + 3 ? 0x4000 : 0;" + "SHOW BARRIER FENCE ricci_meet_wgmma_bf16(s, 16, OTHER(x, " + l +
         "), OTHER(y, " + l + "), 0, 0); COMMIT WAIT b[t] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];")
            .c_str());
  }
  text += Kernel("along_columns",
                 "for (i32 i = t; i < 16 * 64; i += 128) x[AT(64, i / 64, i % 64)] = i == 3 * 64 + 5 ? 0x3f80 : 0;"
                 "for (i32 i = t; i < 16 * 16; i += 128) y[AT(16, i / 16, i % 16)] = i == 3 * 16 + 2 ? 0x4000 : 0;"
                 "SHOW BARRIER FENCE ricci_meet_wgmma_bf16(s, 16, OTHER(x, 64), OTHER(y, 16), 1, 1); COMMIT WAIT "
                 "b[t] = s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7];");
  const cuda::CuModule m = Load(text);
  for (const char* kernel : {"along_sum_64", "along_sum_32", "along_sum_16", "along_columns"}) {
    EXPECT_EQ(Run(m, kernel), "");
    // Row 5 is that of lanes 20 to 23, column 2 that of the second of these.
    for (uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(sums_[t], t == 21 ? 2 : 0) << kernel << t;
  }
}

TEST_F(WarpgroupFaults, SharedMemoryMustBeAskedFor) {
  constexpr int kMostShared = 8, kKilo = 1024, kInvalid = 1;
  const auto find = [&] {
    const std::string name = "f" + std::to_string(modules_.size());
    const cuda::CuModule m = Load(Kernel(name, "extern __shared__ f32 d[]; d[t] = 1; b[t] = d[t];"));
    return driver_.Find(m, name);
  };
  const auto launch = [&](int capability, unsigned bytes, int asked) {
    OfStandin<void(int)>("ricci_standin_capability")(capability);
    const cuda::CuFunction f = find();
    EXPECT_EQ(asked == 0 ? 0 : driver_->cuFuncSetAttribute(f, kMostShared, asked), 0);
    return Launch(f, bytes);
  };
  EXPECT_EQ(launch(90, 48 * kKilo, 0), 0);
  EXPECT_EQ(launch(90, 48 * kKilo + 1, 0), kInvalid);
  EXPECT_EQ(launch(90, 227 * kKilo, 227 * kKilo), 0);
  EXPECT_EQ(launch(90, 100 * kKilo, 99 * kKilo), kInvalid);
  const cuda::CuFunction f = find();
  EXPECT_EQ(driver_->cuFuncSetAttribute(f, kMostShared, 227 * kKilo + 1), kInvalid);
  OfStandin<void(int)>("ricci_standin_capability")(80);
  EXPECT_EQ(driver_->cuFuncSetAttribute(f, kMostShared, 164 * kKilo), kInvalid);
}

}}  // namespace ricci::testing
