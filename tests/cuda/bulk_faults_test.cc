// Faults planted in copies of boxes by the GPU itself, in the barriers that count them and in products that read what
// they bring, a line each: the simulated GPU reports each, and nothing where all is as it should be.
#include "cuda/planted_blocks.h"

namespace ricci::testing { namespace {

// Rows and columns of ones of `g`, whose lines have 128 bytes; `b` gets a sum of each thread. In the first phase `full`
// has one arrival, and 10240 bytes.
constexpr const char* kParts = R"(
struct alignas(16 * sizeof(u64)) u64x16 { u64 at[16]; };
static __device__ void Box(u16* to, const u64x16& map, i32 row, u64* barrier) {
  const i32 at[] = {0, row};
  ricci_copy_box(to, &map, 2, at, barrier);
}
#define BEGIN if (t == 0) { ricci_mbarrier_init(&full, 1); ricci_mbarrier_init(&empty, 4); SHOW } BARRIER
#define ONE if (t == 0)
#define ARM(bytes) ricci_mbarrier_arrive(&full, bytes);
#define ROWS Box(x, rows, 0, &full);
#define COLUMNS Box(y, columns, 0, &full);
#define FILL ONE { ARM(10240) ROWS COLUMNS }
#define FULL(parity) ricci_meet_mbarrier_wait(&full, parity);
#define MULTIPLY ricci_meet_wgmma_fence(); ricci_meet_wgmma_bf16(s, 16, Matrix(x), Matrix(y), 0, 0); ricci_meet_wgmma_commit();
#define WAIT(but) ricci_meet_wgmma_wait(but);
#define DONE if (t % 32 == 0) ricci_mbarrier_arrive(&empty, 0);
#define EMPTY(parity) ricci_meet_mbarrier_wait(&empty, parity);
)";
constexpr const char* kOnce = "BEGIN FILL FULL(0) MULTIPLY WAIT(0) STORE";
constexpr const char* kAgain =
    "BEGIN FILL FULL(0) MULTIPLY WAIT(0) DONE ONE { EMPTY(0) } FILL FULL(1) MULTIPLY WAIT(0) STORE";

constexpr PlantedInBlock kPlantedInCopies[] = {
    // ---- what is read before it is there ----
    {"NobodyWaits", "race in shared memory: group of warps 0 of block 0 reads 16 bytes at x + ",
     "BEGIN FILL MULTIPLY WAIT(0) STORE"},
    {"OneThreadWaits", "race in shared memory: group of warps 0", "BEGIN FILL ONE { FULL(0) } MULTIPLY WAIT(0) STORE"},
    {"WrongParity", "race in shared memory: group of warps 0", "BEGIN FILL FULL(1) MULTIPLY WAIT(0) STORE"},
    {"WaitAfterABarrier", "race in shared memory: group of warps 0",
     "BEGIN FILL BARRIER MULTIPLY WAIT(0) STORE FULL(0)"},
    {"ReadByAThread", "race in shared memory: thread 7 of block 0 reads 2 bytes at x + 14",
     "BEGIN FILL if (t == 7) { const u16 early = x[7]; } FULL(0) MULTIPLY WAIT(0) STORE"},
    // ---- what is written over while it is read ----
    {"FilledWhileAProductReads", "race in shared memory: a copy for mbarrier 0 of block 0 writes 128 bytes at x + 0",
     "BEGIN FILL FULL(0) MULTIPLY FILL WAIT(0) STORE FULL(1)"},
    {"FilledBeforeAllHaveWaited", "race in shared memory: a copy for mbarrier 0",
     "BEGIN FILL FULL(0) MULTIPLY WAIT(0) DONE FILL FULL(1) STORE"},
    {"EmptyForTooFewWarps", "race in shared memory: a copy for mbarrier 0",
     "BEGIN ONE { ricci_mbarrier_init(&other, 3); } BARRIER FILL FULL(0) MULTIPLY if (t >= 32) { WAIT(0) } if (t >= 32 "
     "&& t % 32 == 0) ricci_mbarrier_arrive(&other, 0); ONE { ricci_meet_mbarrier_wait(&other, 0); } FILL if (t < 32) "
     "{ "
     "WAIT(0) } STORE FULL(1)"},
    {"WaitedForAnOlderGroup", "race in shared memory: a copy for mbarrier 0",
     "BEGIN FILL FULL(0) MULTIPLY MULTIPLY WAIT(1) DONE ONE { EMPTY(0) } FILL WAIT(0) STORE FULL(1)"},
    {"ReleasedBeforeTheWait", "race in shared memory: a copy for mbarrier 0",
     "BEGIN FILL FULL(0) MULTIPLY DONE ONE { EMPTY(0) } FILL WAIT(0) STORE FULL(1)"},
    {"WrongParityOfEmpty", "race in shared memory: a copy for mbarrier 0",
     "BEGIN FILL FULL(0) MULTIPLY WAIT(0) DONE ONE { EMPTY(1) } FILL FULL(1) STORE"},
    {"SourceWrittenMeanwhile", "race in global memory: thread 5 of block 0 writes 2 bytes",
     "BEGIN FILL if (t == 5) g[64] = 0x3f80; FULL(0) MULTIPLY WAIT(0) STORE"},
    {"TwoCopiesToOnePlace", "two copies to the same place: thread 0",
     "BEGIN ONE { ARM(16384) ROWS ROWS } FULL(0) STORE"},
    // ---- bytes and arrivals ----
    {"TooFewBytes", "mbarrier 0 expects 8192 bytes in phase 0, its copies bring 10240: thread 0",
     "BEGIN ONE { ARM(8192) ROWS COLUMNS } FULL(0) MULTIPLY WAIT(0) STORE"},
    {"TooFewBytesLater", "mbarrier 0 expects 8192 bytes in phase 0, its copies bring 10240",
     "BEGIN ONE { ROWS COLUMNS ARM(8192) } FULL(0) MULTIPLY WAIT(0) STORE"},
    {"TooManyBytes", "which lacks 0 arrivals and 16 bytes",
     "BEGIN ONE { ARM(10256) ROWS COLUMNS } FULL(0) MULTIPLY WAIT(0) STORE"},
    {"NobodyArrives", "which lacks 1 arrivals and 0 bytes", "BEGIN ONE { ROWS } FULL(0) STORE"},
    {"ArrivesTwice", "one arrives too many at mbarrier 0",
     "BEGIN ONE { ARM(10240) ARM(16) ROWS COLUMNS } FULL(0) STORE"},
    {"FilledBeforeAnybodySawThePhase", "one arrives too many at mbarrier 0", "BEGIN FILL FILL FULL(1) STORE"},
    {"NeverWaitedFor", "a copy that is never waited for, at mbarrier 0", "BEGIN FILL STORE"},
    // ---- barriers ----
    {"NotShown", "no fence.proxy.async after mbarrier 0 was begun",
     "ONE { ricci_mbarrier_init(&full, 1); } BARRIER FILL FULL(0) STORE"},
    {"ShownByAnother", "no fence.proxy.async after mbarrier 0 was begun",
     "ONE { ricci_mbarrier_init(&full, 1); } if (t == 1) { SHOW } BARRIER FILL FULL(0) STORE"},
    {"UsedBeforeABarrier", "race in shared memory: thread 1 of block 0 updates atomically 8 bytes at full + 0",
     "ONE { ricci_mbarrier_init(&full, 1); SHOW ricci_mbarrier_arrive(&full, 0); } if (t < 32) __shfl_sync(~0u, t, 0); "
     "if (t == 1) { FULL(0) } STORE"},
    {"NeverBegun", "something that is not an mbarrier is used as one: thread 0", "FILL FULL(0) STORE"},
    {"BegunTwice", "an mbarrier that is begun twice: thread 0",
     "BEGIN ONE { ricci_mbarrier_init(&full, 1); } FILL STORE"},
    {"WrittenOver", "mbarrier 0 was written over: thread 0", "BEGIN ONE { full = 0; } BARRIER FILL FULL(0) STORE"},
    {"Misaligned", "a misaligned mbarrier: thread 0",
     "ONE { ricci_mbarrier_init((u64*)((char*)&full + 4), 1); } STORE"},
    // ---- places and proxies ----
    {"MisalignedPlace", "a box that is copied to a misaligned place: thread 0",
     "BEGIN ONE { ARM(2048) Box(x + 32, columns, 0, &full); } FULL(0) STORE"},
    {"BeyondTheArray", "out of bounds: a copy for mbarrier 0",
     "BEGIN ONE { ARM(8192) Box(y, rows, 0, &full); } FULL(0) STORE"},
    {"NoMap", "a box is copied by something that is not a tensor map: thread 0",
     "BEGIN const u64x16 none = {}; ONE { ARM(8192) Box(x, none, 0, &full); } FULL(0) STORE"},
    {"OtherRank", "a box is copied by a tensor map of another rank: thread 0",
     "BEGIN ONE { const i32 at[] = {0, 0, 0}; ARM(8192) ricci_copy_box(x, &rows, 3, at, &full); } FULL(0) STORE"},
    {"WrittenByThreadsBefore", "no fence.proxy.async: a copy for mbarrier 0 of block 0 writes 128 bytes at x + 0",
     "BEGIN x[t] = 0; BARRIER FILL FULL(0) STORE"},
    {"ReadByThreadsBefore", "no fence.proxy.async: a copy for mbarrier 0",
     "BEGIN FILL FULL(0) s[0] = x[t]; BARRIER FILL FULL(1) STORE"},
};
// What is as it should be, and looks like a fault.
constexpr const char* kRight[] = {
    "BEGIN FILL FULL(0) s[0] = x[t]; SHOW BARRIER s[0] = 0; FILL FULL(1) MULTIPLY WAIT(0) STORE",
    "BEGIN x[t] = 0; SHOW BARRIER FILL FULL(0) MULTIPLY WAIT(0) STORE",
    "BEGIN ONE { ROWS COLUMNS ARM(10240) } FULL(0) MULTIPLY WAIT(0) STORE",
    "BEGIN FILL FULL(0) MULTIPLY WAIT(0) BARRIER FILL FULL(1) STORE",
    "BEGIN FILL FULL(0) BARRIER MULTIPLY WAIT(0) STORE",
};

std::string Kernel(const std::string& name, const char* body) {
  return "extern \"C\" __global__ void " + name +
         "(f32* b, u16* g, const __grid_constant__ u64x16 rows, const __grid_constant__ u64x16 columns) {  // with "
         "ricci_meet in its macros\n  __shared__ __align__(1024) u16 x[64 * 64];\n  __shared__ __align__(1024) u16 "
         "y[16 * 64];\n  __shared__ u64 full, empty, other;\n  const i32 t = threadIdx.x;\n  f32 s[12] = {};\n  " +
         body + "\n}\n";
}

class BulkFaults : public PlantedBlocks {
 protected:
  static constexpr uint64_t kLine = 64, kRows = 64, kColumns = 16;  // elements of 2 bytes

  BulkFaults() : PlantedBlocks(kParts) {
    g_ = driver_.Allocate(kLine * kRows * 2, stream_);
    driver_->cuMemsetD32Async(g_, 0x3f803f80, kLine * kRows / 2, stream_);
  }
  ~BulkFaults() override { driver_->cuMemFreeAsync(g_, stream_); }

  // Boxes of all lines of so many rows.
  cuda::CuTensorMap Map(unsigned rows) const {
    cuda::CuTensorMap map{};
    const uint64_t sizes[] = {kLine, kRows}, strides[] = {kLine * 2};
    const unsigned box[] = {static_cast<unsigned>(kLine), rows}, each[] = {1, 1};
    EXPECT_EQ(driver_->cuTensorMapEncodeTiled(&map, cuda::kCuTensorU16, 2, Pointer(g_), sizes, strides, box, each,
                                              cuda::kCuTensorNoInterleave, cuda::kCuTensorSwizzle128,
                                              cuda::kCuTensorPromote256, cuda::kCuTensorFillZeros),
              0);
    return map;
  }
  static void* Pointer(cuda::CuPointer p) { return reinterpret_cast<void*>(static_cast<uintptr_t>(p)); }
  std::string Run(cuda::CuModule m, const std::string& kernel, uint64_t seed) {
    cuda::CuTensorMap rows = Map(kRows), columns = Map(kColumns);
    void* arguments[] = {&b_, &g_, &rows, &columns};
    return PlantedBlocks::Run(m, kernel, seed, arguments);
  }

  cuda::CuPointer g_ = 0;
};

TEST_F(BulkFaults, AreReported) {
  std::string text;
  for (const PlantedInBlock& p : kPlantedInCopies) text += Kernel(p.name, p.body);
  const cuda::CuModule m = Load(text);
  for (const uint64_t seed : {1, 2, 3}) {
    for (const PlantedInBlock& p : kPlantedInCopies) ExpectReport(p, Run(m, p.name, seed), seed);
  }
}

TEST_F(BulkFaults, NothingIsReportedOfWhatIsRight) {
  std::string text = Kernel("once", kOnce) + Kernel("again", kAgain);
  for (size_t i = 0; i < std::size(kRight); ++i) text += Kernel("right" + std::to_string(i), kRight[i]);
  const cuda::CuModule m = Load(text);
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ(Run(m, "once", seed), "");
    for (const float sum : sums_) EXPECT_EQ(sum, 16);
    EXPECT_EQ(Run(m, "again", seed), "");
    for (const float sum : sums_) EXPECT_EQ(sum, 32);
    for (size_t i = 0; i < std::size(kRight); ++i) {
      EXPECT_EQ(Run(m, "right" + std::to_string(i), seed), "") << kRight[i];
      for (const float sum : sums_) EXPECT_EQ(sum, 16) << kRight[i];
    }
  }
}

// A box has zeros outside of the tensor, and counts whole.
TEST_F(BulkFaults, EdgesAreZeros) {
  const cuda::CuModule m =
      Load(Kernel("edge",
                  "BEGIN ONE { ARM(10240) Box(x, rows, 0, &full); Box(y, columns, 60, &full); } FULL(0) MULTIPLY "
                  "WAIT(0) b[t] = s[0] + s[1] + s[4] + s[5];"));
  EXPECT_EQ(Run(m, "edge", 1), "");
  // Of 16 columns the first 4 are there: those of lanes 0 and 1 of each row.
  for (uint32_t t = 0; t < kThreads; ++t) EXPECT_EQ(sums_[t], t % 4 < 2 ? 32 : 0) << t;
}

TEST_F(BulkFaults, MapsThatTheDriverRefuses) {
  constexpr int kInvalid = 1, kUnsupported = 801;
  struct Wanted {
    uint64_t address = 0, sizes[3] = {64, 64, 4}, strides[2] = {128, 8192};
    unsigned rank = 3, box[3] = {64, 64, 1}, each[3] = {1, 1, 1};
    int type = cuda::kCuTensorU16, swizzle = cuda::kCuTensorSwizzle128;
  };
  const auto encode = [&](Wanted w) {
    cuda::CuTensorMap map{};
    return driver_->cuTensorMapEncodeTiled(&map, w.type, w.rank, Pointer(g_ + w.address), w.sizes, w.strides, w.box,
                                           w.each, cuda::kCuTensorNoInterleave, w.swizzle, cuda::kCuTensorPromote256,
                                           cuda::kCuTensorFillZeros);
  };
  EXPECT_EQ(encode({}), 0);
  EXPECT_EQ(encode({.address = 8}), kInvalid);
  EXPECT_EQ(encode({.sizes = {64, 0, 4}}), kInvalid);
  EXPECT_EQ(encode({.strides = {136, 8192}}), kInvalid);
  EXPECT_EQ(encode({.strides = {128, 8208}}), kInvalid) << "no multiple of the stride before";
  EXPECT_EQ(encode({.strides = {128, uint64_t{1} << 40}}), kInvalid);
  EXPECT_EQ(encode({.rank = 6}), kInvalid);
  EXPECT_EQ(encode({.rank = 0}), kInvalid);
  EXPECT_EQ(encode({.box = {64, 257, 1}}), kInvalid);
  EXPECT_EQ(encode({.box = {4, 64, 1}}), kInvalid) << "lines of 8 bytes";
  EXPECT_EQ(encode({.box = {128, 64, 1}}), kInvalid) << "lines longer than the swizzle";
  EXPECT_EQ(encode({.swizzle = cuda::kCuTensorSwizzle64}), kInvalid);
  EXPECT_EQ(encode({.box = {32, 64, 1}, .swizzle = cuda::kCuTensorSwizzle64}), 0);
  EXPECT_EQ(encode({.each = {2, 1, 1}}), kInvalid);
  OfStandin<void(int)>("ricci_standin_capability")(80);
  EXPECT_EQ(encode({}), kUnsupported);
  OfStandin<void(int)>("ricci_standin_capability")(90);
}

}}  // namespace ricci::testing
