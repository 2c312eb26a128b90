// Faults planted in stores of boxes by the GPU itself, in what threads do before and after, and in barriers of some
// threads, a line each: the simulated GPU reports each, and nothing where all is as it should be.
#include "cuda/planted_blocks.h"

namespace ricci::testing { namespace {

// `g` has lines of 128 bytes. Threads write a box of 64 of them to `x`, in its swizzle, each half a line; then it is
// stored from that row on.
constexpr const char* kParts = R"(
struct alignas(16 * sizeof(u64)) u64x16 { u64 at[16]; };
static __device__ void Write(u16* x, i32 t, i32 first) {
  const i32 row = t / 2;
  for (i32 c = t % 2 * 32, e = 0; e < 32; ++c, ++e) x[row * 64 + (c / 8 ^ row % 8) * 8 + c % 8] = (first + row) * 64 + c;
}
static __device__ void Box(const u16* x, const u64x16& map, i32 row) {
  const i32 at[] = {0, row};
  ricci_store_box(&map, x, 2, at);
}
#define ONE if (t == 0)
#define WRITE(first) Write(x, t, first);
#define MEET ricci_meet_named_barrier(1, 128);
#define STORE_BOX(row) ONE { Box(x, map, row); }
#define COMMIT ONE { ricci_commit_stores(); }
#define READ(but) ONE { ricci_wait_for_stores(but, true); }
#define STORED(but) ONE { ricci_wait_for_stores(but, false); }
)";
constexpr const char *kOnce = "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT STORED(0)",
                     *kAgain =
                         "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT READ(0) MEET WRITE(64) SHOW MEET STORE_BOX(64) "
                         "COMMIT STORED(0)",
                     *kInTurn =
                         "WRITE(64) SHOW MEET STORE_BOX(64) COMMIT READ(0) MEET WRITE(0) SHOW MEET STORE_BOX(0) "
                         "COMMIT READ(0)";

constexpr PlantedInBlock kPlantedInStores[] = {
    // ---- what is stored before it is there ----
    {"NotShown", "no fence.proxy.async: a store of a box of block 0 reads 16 bytes at x + 0",
     "WRITE(0) MEET STORE_BOX(0) COMMIT STORED(0)"},
    {"ShownTooEarly", "no fence.proxy.async", "SHOW WRITE(0) MEET STORE_BOX(0) COMMIT STORED(0)"},
    {"ShownByOneThread", "no fence.proxy.async", "WRITE(0) ONE { SHOW } MEET STORE_BOX(0) COMMIT STORED(0)"},
    {"StoredBeforeAllHaveCome", "race in shared memory", "WRITE(0) SHOW STORE_BOX(0) COMMIT STORED(0) MEET"},
    {"HalfWritten", "uninitialised shared memory: a store of a box",
     "if (t < 64) { WRITE(0) } SHOW MEET STORE_BOX(0) COMMIT STORED(0)"},
    // ---- what is written over while it is read ----
    {"WrittenBeforeTheWait", "race in shared memory",
     "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT MEET WRITE(64) SHOW MEET STORE_BOX(64) COMMIT STORED(0)"},
    {"WrittenAfterABarrier", "race in shared memory",
     "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT BARRIER WRITE(64) SHOW MEET STORE_BOX(64) COMMIT STORED(0)"},
    {"OthersDoNotKnow", "race in shared memory",
     "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT READ(0) WRITE(64) SHOW MEET STORE_BOX(64) COMMIT STORED(0)"},
    {"AnotherThreadWaits", "race in shared memory",
     "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT if (t == 1) ricci_wait_for_stores(0, true); MEET WRITE(64) SHOW MEET "
     "STORE_BOX(64) COMMIT STORED(0)"},
    {"WaitedForAnOlderGroup", "race in shared memory",
     "WRITE(0) SHOW MEET STORE_BOX(64) COMMIT STORE_BOX(0) COMMIT READ(1) MEET WRITE(64) STORED(0)"},
    {"WaitedBeforeItIsAGroup", "race in shared memory",
     "WRITE(0) SHOW MEET STORE_BOX(0) READ(0) COMMIT MEET WRITE(64) STORED(0)"},
    // ---- the end ----
    {"NeverWaitedFor", "a store of a box that is never waited for: thread 0", "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT"},
    {"NeverAGroup", "a store of a box that is never waited for", "WRITE(0) SHOW MEET STORE_BOX(0) STORED(0)"},
    {"AllButTheLast", "a store of a box that is never waited for",
     "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT STORE_BOX(64) COMMIT STORED(1)"},
    // ---- memory of the device ----
    {"ResultReadEarly", "race in global memory",
     "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT READ(0) ONE { b[0] = g[64]; } STORED(0)"},
    {"ResultWrittenMeanwhile", "race in global memory",
     "WRITE(0) SHOW MEET STORE_BOX(0) COMMIT if (t == 5) g[64] = 0; STORED(0)"},
    // ---- places and maps ----
    {"MisalignedPlace", "a box that is stored from a misaligned place: thread 0",
     "WRITE(0) SHOW MEET ONE { Box(x + 32, map, 0); }"},
    {"BeyondTheArray", "out of bounds: a store of a box", "WRITE(0) SHOW MEET ONE { Box(x + 64, map, 0); }"},
    {"NoMap", "a box is stored by something that is not a tensor map: thread 0",
     "const u64x16 none = {}; WRITE(0) SHOW MEET ONE { Box(x, none, 0); }"},
    {"OtherRank", "a box is stored by a tensor map of another rank: thread 0",
     "const i32 at[] = {0, 0, 0}; WRITE(0) SHOW MEET ONE { ricci_store_box(&map, x, 3, at); }"},
    // ---- barriers of some threads, and matrices ----
    {"OthersNeverCome", "a barrier to which others never come: thread 0 waits at barrier 1", "if (t < 96) { MEET }"},
    {"OtherNumber", "a barrier to which others never come", "ricci_meet_named_barrier(t < 64 ? 1 : 2, 128);"},
    {"OtherThreads", "bar.sync of other threads at the same barrier",
     "ricci_meet_named_barrier(1, t < 64 ? 128 : 96);"},
    {"NoSuchBarrier", "bar.sync of no such barrier", "ricci_meet_named_barrier(16, 128);"},
    {"BarrierOfTheBlock", "bar.sync of no such barrier", "ricci_meet_named_barrier(0, 128);"},
    {"HalfOfAWarp", "wrong mask", "if (t % 2 == 0) { MEET }"},
    {"OrderOfOtherThreads", "race in shared memory",
     "if (t == 0) x[0] = 1; ricci_meet_named_barrier(1 + t / 64, 64); if (t == 64) b[0] = x[0];"},
    {"MatrixMisaligned", "misaligned: thread 0 of block 0 writes 16 bytes at x + 2",
     "const u32 in[4] = {}; ricci_meet_stmatrix(x + 1 + t * 8, in);"},
    {"MatrixOfHalfAWarp", "wrong mask", "const u32 in[4] = {}; if (t % 2) ricci_meet_stmatrix(x + t * 8, in);"},
};

std::string Kernel(const std::string& name, const char* body) {
  return "extern \"C\" __global__ void " + name +
         "(f32* b, u16* g, const __grid_constant__ u64x16 map) {  // with ricci_meet in its macros\n  __shared__ "
         "__align__(1024) u16 x[64 * 64];\n  const i32 t = threadIdx.x;\n  " +
         body + "\n}\n";
}

class StoreFaults : public PlantedBlocks {
 protected:
  static constexpr uint64_t kLine = 64, kRows = 128, kRowsOfBox = 64;  // elements of 2 bytes

  StoreFaults() : PlantedBlocks(kParts) { g_ = driver_.Allocate(sizeof of_g_, stream_); }
  ~StoreFaults() override { driver_->cuMemFreeAsync(g_, stream_); }

  // Of so many of the rows.
  std::string Run(cuda::CuModule m, const std::string& kernel, uint64_t seed, uint64_t rows = kRows) {
    cuda::CuTensorMap map{};
    const uint64_t sizes[] = {kLine, rows}, strides[] = {kLine * 2};
    const unsigned box[] = {kLine, kRowsOfBox}, each[] = {1, 1};
    void* const g = reinterpret_cast<void*>(static_cast<uintptr_t>(g_));
    EXPECT_EQ(driver_->cuTensorMapEncodeTiled(&map, cuda::kCuTensorU16, 2, g, sizes, strides, box, each,
                                              cuda::kCuTensorNoInterleave, cuda::kCuTensorSwizzle128,
                                              cuda::kCuTensorPromote256, cuda::kCuTensorFillZeros),
              0);
    driver_->cuMemsetD32Async(g_, 0xffffffff, sizeof of_g_ / 4, stream_);
    void* arguments[] = {&b_, &g_, &map};
    const std::string found = PlantedBlocks::Run(m, kernel, seed, arguments);
    driver_->cuMemcpyDtoHAsync(of_g_, g_, sizeof of_g_, stream_);
    driver_->cuStreamSynchronize(stream_);
    return found;
  }
  // The rows up to this one have their numbers, others what they had.
  void ExpectRows(uint64_t rows, const std::string& kernel) const {
    for (uint64_t i = 0; i < kLine * kRows; ++i) {
      EXPECT_EQ(of_g_[i], i < kLine * rows ? i : 0xffff) << kernel << ", row " << i / kLine;
    }
  }

  cuda::CuPointer g_ = 0;
  uint16_t of_g_[kLine * kRows];
};

TEST_F(StoreFaults, AreReported) {
  std::string text;
  for (const PlantedInBlock& p : kPlantedInStores) text += Kernel(p.name, p.body);
  const cuda::CuModule m = Load(text);
  for (const uint64_t seed : {1, 2, 3}) {
    for (const PlantedInBlock& p : kPlantedInStores) ExpectReport(p, Run(m, p.name, seed), seed);
  }
}

TEST_F(StoreFaults, NothingIsReportedOfWhatIsRight) {
  const cuda::CuModule m = Load(Kernel("once", kOnce) + Kernel("again", kAgain) + Kernel("in_turn", kInTurn));
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ(Run(m, "once", seed), "");
    ExpectRows(kRowsOfBox, "once");
    for (const char* kernel : {"again", "in_turn"}) {
      EXPECT_EQ(Run(m, kernel, seed), "");
      ExpectRows(kRows, kernel);
    }
  }
}

TEST_F(StoreFaults, WhatIsOutsideIsNotStored) {
  EXPECT_EQ(Run(Load(Kernel("again", kAgain)), "again", 1, 70), "");
  ExpectRows(70, "again");
}

// A box is read when its thread waits, not before: so what a fault leaves is wrong too.
TEST_F(StoreFaults, BoxesAreReadLate) {
  const cuda::CuModule m =
      Load(Kernel("late", "WRITE(64) SHOW MEET STORE_BOX(0) COMMIT MEET WRITE(0) SHOW MEET STORED(0)"));
  EXPECT_NE(Run(m, "late", 1), "");
  ExpectRows(kRowsOfBox, "late");
}

// Each element is where PTX ISA says: (row, column) of matrix j of warp w is its number.
TEST_F(StoreFaults, Matrices) {
  const cuda::CuModule m = Load(Kernel(
      "matrices",
      "u32 in[4]; const i32 lane = t % 32; for (i32 j = 0; j < 4; ++j) { const u32 first = (t / 32 * 4 + j) * 64 + "
      "lane "
      "* 2; in[j] = first | (first + 1) << 16; } ricci_meet_stmatrix(x + t * 8, in); BARRIER for (i32 i = t; i < 1024; "
      "i += 128) g[i] = x[i];"));
  EXPECT_EQ(Run(m, "matrices", 1), "");
  ExpectRows(16, "matrices");
}

}}  // namespace ricci::testing
