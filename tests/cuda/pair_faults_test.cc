// Faults planted in kernels whose blocks work in pairs, which copy for each other and wait for each other, a line each:
// the simulated GPU reports each, and nothing where all is as it should be.
#include "cuda/planted_blocks.h"

namespace ricci::testing { namespace {

// Of `g`, lines of 128 bytes of ones: each block copies 64 rows for itself, and half of 16 columns for both. `b` gets a
// sum of each thread of both blocks.
constexpr const char* kParts = R"(
struct alignas(16 * sizeof(u64)) u64x16 { u64 at[16]; };
static __device__ void OwnBox(u16* to, const u64x16& map, u64* barrier) {
  const i32 at[] = {0, 0};
  ricci_copy_box(to, &map, 2, at, barrier);
}
static __device__ void BoxOfBoth(u16* to, const u64x16& map, i32 row, u64* barrier, u32 blocks) {
  const i32 at[] = {0, row};
  ricci_copy_box_to_cluster(to, &map, 2, at, barrier, blocks);
}
#define ONE if (t == 0)
#define MEET ricci_meet_cluster();
#define INIT(warps) ONE { ricci_mbarrier_init(full, 1); ricci_mbarrier_init(empty, warps); ricci_fence_mbarrier_init(); SHOW }
#define BEGIN INIT(8) MEET
#define ARM(bytes) ricci_mbarrier_arrive(full, bytes);
#define ROWS OwnBox(x, rows, full);
#define HALF(blocks) BoxOfBoth(y + rank * 512, columns, rank * 8, full, blocks);
#define FILL ONE { ARM(10240) ROWS HALF(3) }
#define FULL(parity) ricci_meet_mbarrier_wait(full, parity);
#define MULTIPLY ricci_meet_wgmma_fence(); ricci_meet_wgmma_bf16(s, 16, Matrix(x), Matrix(y), 0, 0); ricci_meet_wgmma_commit();
#define WAIT ricci_meet_wgmma_wait(0);
#define DONE if (t % 32 < 2) ricci_mbarrier_arrive_in_cluster(empty, t % 32);
#define EMPTY(parity) ricci_meet_mbarrier_wait(empty, parity);
#define STORE_IN_PAIR b[rank * 128 + t] = s[0];
)";
constexpr const char* kOnce = "BEGIN FILL FULL(0) MULTIPLY WAIT STORE_IN_PAIR MEET";
constexpr const char* kAgain =
    "BEGIN FILL FULL(0) MULTIPLY WAIT DONE ONE { EMPTY(0) } FILL FULL(1) MULTIPLY WAIT STORE_IN_PAIR MEET";

constexpr PlantedInBlock kPlantedInPairs[] = {
    // ---- arrivals and phases ----
    {"ArrivesInItsOwnBlockOnly", "a phase that never completes: thread 0 waits at phase 0 of mbarrier 1",
     "BEGIN FILL FULL(0) MULTIPLY WAIT if (t % 32 == 0) ricci_mbarrier_arrive(empty, 0); ONE { EMPTY(0) } FILL FULL(1) "
     "MULTIPLY WAIT STORE_IN_PAIR MEET"},
    {"AWarpDoesNotArrive", "a phase that never completes",
     "BEGIN FILL FULL(0) MULTIPLY WAIT if (t >= 32) { DONE } ONE { EMPTY(0) } FILL FULL(1) MULTIPLY WAIT STORE_IN_PAIR "
     "MEET"},
    {"EmptyForOneBlock", "race in shared memory",
     "INIT(4) MEET FILL FULL(0) MULTIPLY WAIT if (t % 32 == 0) ricci_mbarrier_arrive(empty, 0); ONE { EMPTY(0) } FILL "
     "FULL(1) MULTIPLY WAIT STORE_IN_PAIR MEET"},
    {"WrongPhaseOfEmpty", "race in shared memory",
     "BEGIN FILL FULL(0) MULTIPLY WAIT DONE ONE { EMPTY(1) } FILL FULL(1) MULTIPLY WAIT STORE_IN_PAIR MEET"},
    {"WrongPhaseOfFull", "race in shared memory", "BEGIN FILL FULL(1) MULTIPLY WAIT STORE_IN_PAIR FULL(0) MEET"},
    {"ArrivesBeforeTheWait", "race in shared memory",
     "BEGIN FILL FULL(0) MULTIPLY DONE ONE { EMPTY(0) } FILL WAIT FULL(1) MULTIPLY WAIT STORE_IN_PAIR MEET"},
    // ---- what the other block copies ----
    {"ReadBeforeItIsThere", "race in shared memory", "BEGIN FILL MULTIPLY WAIT STORE_IN_PAIR FULL(0) MEET"},
    {"ReadByAThread", "race in shared memory",
     "BEGIN FILL if (t == 7) { const u16 early = y[rank == 0 ? 519 : 7]; } FULL(0) MULTIPLY WAIT STORE_IN_PAIR MEET"},
    {"ExpectsItsOwnHalfOnly", "expects 9216 bytes in phase 0",
     "BEGIN ONE { ARM(9216) ROWS HALF(3) } FULL(0) MULTIPLY WAIT STORE_IN_PAIR MEET"},
    {"HalfForItselfOnly", "a phase that never completes",
     "BEGIN ONE { ARM(10240) ROWS HALF(1u << rank) } FULL(0) MULTIPLY WAIT STORE_IN_PAIR MEET"},
    {"BothCopyTheSameHalf", "two copies to the same place",
     "BEGIN ONE { ARM(10240) ROWS BoxOfBoth(y, columns, 0, full, 3); } FULL(0) MULTIPLY WAIT STORE_IN_PAIR MEET"},
    // ---- beginning and end ----
    {"NotShownToTheOther", "no fence.mbarrier_init after mbarrier",
     "ONE { ricci_mbarrier_init(full, 1); ricci_mbarrier_init(empty, 8); SHOW } MEET FILL FULL(0) MULTIPLY WAIT "
     "STORE_IN_PAIR MEET"},
    {"NotShownToCopies", "no fence.proxy.async after mbarrier",
     "ONE { ricci_mbarrier_init(full, 1); ricci_mbarrier_init(empty, 8); ricci_fence_mbarrier_init(); } MEET FILL "
     "FULL(0) MULTIPLY WAIT STORE_IN_PAIR MEET"},
    {"NoMeetingAtTheEnd", "a block that has ended is used",
     "BEGIN FILL FULL(0) MULTIPLY WAIT STORE_IN_PAIR DONE if (rank == 0) { EMPTY(0) "
     "ricci_mbarrier_arrive_in_cluster(empty, 1); }"},
    {"ABlockThatIsNotThere", "a block that its cluster has not is used",
     "BEGIN ONE { ricci_mbarrier_arrive_in_cluster(empty, 2); } MEET"},
    {"OneBlockDoesNotMeet", "divergent barrier",
     "BEGIN FILL FULL(0) MULTIPLY WAIT STORE_IN_PAIR if (rank == 0) { MEET }"},
    // ---- registers ----
    {"RegistersOfHalfAGroup", "wrong mask or operation of a warp",
     "BEGIN if (t < 64) { ricci_meet_setmaxnreg(40); } STORE_IN_PAIR MEET"},
    {"NoSuchRegisters", "setmaxnreg of a wrong number", "ricci_meet_setmaxnreg(20); STORE_IN_PAIR MEET"},
};

std::string Kernel(const std::string& name, const char* body) {
  return "extern \"C\" __global__ __cluster_dims__(2, 1, 1) void " + name +
         "(f32* b, u16* g, const __grid_constant__ u64x16 rows, const __grid_constant__ u64x16 columns) {  // with "
         "ricci_meet in its macros\n  extern __shared__ __align__(1024) u16 x[];\n  u16* const y = x + 64 * 64;\n  "
         "u64* const full = (u64*)(y + 16 * 64), *const empty = full + 1;\n  const i32 t = threadIdx.x, rank = "
         "(i32)ricci_rank_in_cluster();\n  f32 s[12] = {};\n  " +
         body + "\n}\n";
}

class PairFaults : public PlantedBlocks {
 protected:
  static constexpr uint64_t kLine = 64, kRows = 64;  // elements of 2 bytes
  static constexpr unsigned kShared = (64 + 16) * 128 + 16;

  PairFaults() : PlantedBlocks(kParts) {
    both_ = driver_.Allocate(sizeof of_both_, stream_);
    g_ = driver_.Allocate(kLine * kRows * 2, stream_);
    driver_->cuMemsetD32Async(g_, 0x3f803f80, kLine * kRows / 2, stream_);
  }
  ~PairFaults() override {
    driver_->cuMemFreeAsync(g_, stream_);
    driver_->cuMemFreeAsync(both_, stream_);
  }

  cuda::CuTensorMap Map(unsigned rows) const {
    cuda::CuTensorMap map{};
    const uint64_t sizes[] = {kLine, kRows}, strides[] = {kLine * 2};
    const unsigned box[] = {static_cast<unsigned>(kLine), rows}, each[] = {1, 1};
    void* const g = reinterpret_cast<void*>(static_cast<uintptr_t>(g_));
    EXPECT_EQ(driver_->cuTensorMapEncodeTiled(&map, cuda::kCuTensorU16, 2, g, sizes, strides, box, each,
                                              cuda::kCuTensorNoInterleave, cuda::kCuTensorSwizzle128,
                                              cuda::kCuTensorPromote256, cuda::kCuTensorFillZeros),
              0);
    return map;
  }
  cuda::CuResult Launch(cuda::CuModule m, const std::string& kernel, unsigned blocks) {
    cuda::CuTensorMap rows = Map(kRows), columns = Map(8);
    void* arguments[] = {&both_, &g_, &rows, &columns};
    return driver_->cuLaunchKernel(driver_.Find(m, kernel), blocks, 1, 1, kThreads, 1, 1, kShared, stream_, arguments,
                                   nullptr);
  }
  std::string Run(cuda::CuModule m, const std::string& kernel, uint64_t seed) {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    driver_->cuMemsetD32Async(both_, 0, 2 * kThreads, stream_);
    EXPECT_EQ(Launch(m, kernel, 2), 0);
    driver_->cuMemcpyDtoHAsync(of_both_, both_, sizeof of_both_, stream_);
    driver_->cuStreamSynchronize(stream_);
    return BareDriver::Complaints();
  }

  cuda::CuPointer both_ = 0, g_ = 0;
  float of_both_[2 * kThreads];
};

TEST_F(PairFaults, AreReported) {
  std::string text;
  for (const PlantedInBlock& p : kPlantedInPairs) text += Kernel(p.name, p.body);
  const cuda::CuModule m = Load(text);
  for (const uint64_t seed : {1, 2, 3}) {
    for (const PlantedInBlock& p : kPlantedInPairs) ExpectReport(p, Run(m, p.name, seed), seed);
  }
}

TEST_F(PairFaults, NothingIsReportedOfWhatIsRight) {
  const cuda::CuModule m = Load(Kernel("once", kOnce) + Kernel("again", kAgain));
  for (const uint64_t seed : {1, 2, 3}) {
    EXPECT_EQ(Run(m, "once", seed), "");
    for (const float sum : of_both_) EXPECT_EQ(sum, 16);
    EXPECT_EQ(Run(m, "again", seed), "");
    for (const float sum : of_both_) EXPECT_EQ(sum, 32);
  }
}

TEST_F(PairFaults, BlocksThatAreNoPairs) {
  constexpr cuda::CuResult kInvalidClusterSize = 912;
  EXPECT_EQ(Launch(Load(Kernel("once", kOnce)), "once", 3), kInvalidClusterSize);
}

}}  // namespace ricci::testing
