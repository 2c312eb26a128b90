// Faults planted in the printed form for pairs of blocks (plugins/cuda/print/pairs_of_blocks_text.cc), each a word that
// is changed: the simulated GPU reports each, and nothing of the text as it is.
#include <cstring>
#include <span>

#include "cuda/bare_driver.h"
#include "cuda/tile/pair_tile.h"
#include "cuda/tile_programs.h"

namespace ricci::testing { namespace {

// `found`: in the order of the first seed; others find something too.
struct PlantedInText {
  const char *name, *from, *to, *found;
};
constexpr const char *kNeverCompletes = "a phase that never completes", *kRace = "race in shared memory";
constexpr PlantedInText kPlanted[] = {
    // ---- arrivals ----
    {"ArrivesInItsOwnBlockOnly", "if (lane < 2) ricci_dev_pair_arrive(empty + before, lane)",
     "if (lane == rank) ricci_dev_pair_arrive(empty + before, lane)", kNeverCompletes},
    {"TooManyWarpsAreWaitedFor", "ricci_dev_barrier_begin(empty + i, 16)", "ricci_dev_barrier_begin(empty + i, 17)",
     kNeverCompletes},
    {"TheOtherBlockIsNotWaitedFor", "ricci_dev_barrier_begin(empty + i, 16)", "ricci_dev_barrier_begin(empty + i, 8)",
     ""},
    // ---- phases ----
    {"WrongPhaseOfEmpty", "ricci_dev_pair_wait(empty + slot, phase ^ 1)", "ricci_dev_pair_wait(empty + slot, phase)",
     kNeverCompletes},
    {"WrongPhaseOfFull", "ricci_dev_barrier_wait(full + slot, phase)", "ricci_dev_barrier_wait(full + slot, phase ^ 1)",
     kRace},
    {"PhaseThatStays", "phase ^= slot == 0 ? 1 : 0", "phase ^= 0", ""},
    // ---- what is read early, or written over ----
    {"StepReadEarly", "ricci_dev_barrier_wait(full + slot, phase);", "", kRace},
    {"PlaceFilledEarly", "ricci_dev_pair_wait(empty + slot, phase ^ 1);", "", ""},
    {"HalfAtTheWrongPlace", "right + slot * 16384 + rank * 8192,", "right + slot * 16384,",
     "two copies to the same place"},
    {"TooFewBytes", "full + slot, 49152)", "full + slot, 32768)", "expects 32768 bytes"},
    {"ResultsStoredBeforeTheyAreThere", "__syncwarp();\n        #pragma unroll 1", "\n        #pragma unroll 1", kRace},
    {"ResultsWrittenOver", "__syncwarp();\n        #pragma unroll\n", "\n        #pragma unroll\n", kRace},
    // ---- beginning and end ----
    {"BarriersNotShown", "ricci_dev_pair_show_barriers();", "", "no fence."},
};
// Where the GPU stores results (plugins/cuda/print/pair_results_text.cc).
constexpr const char* kNeverWaitedFor = "a store of a box that is never waited for";
constexpr PlantedInText kPlantedInStores[] = {
    // ---- what is stored before it is there ----
    {"NotShown", "ricci_dev_show_to_tensor_cores();", "", "no fence.proxy.async"},
    {"StoredBeforeAllHaveCome", "ricci_dev_show_to_tensor_cores();\n        ricci_dev_group_meet(group);",
     "ricci_dev_show_to_tensor_cores();", kRace},
    {"GroupsMeetAtOneBarrier", "ricci_dev_group_meet(group)", "ricci_dev_group_meet(1)", ""},
    // ---- what is written over while it is read ----
    {"WrittenBeforeItIsRead", "if (stores) ricci_dev_stores_are_read_but_1();", "", kRace},
    {"OthersDoNotKnowThatItIsRead", "are_read_but_1();\n        ricci_dev_group_meet(group);", "are_read_but_1();",
     kRace},
    {"OnePieceOnly", "results + pass % 2 * 4096", "results", kRace},
    {"NeverAGroup", "ricci_dev_stores_commit();", "", kRace},
    // ---- who stores, and the end ----
    {"EachWarpStores", "stores = __shfl_sync(0xffffffffu, warp, 0) == 0 &&", "stores =", ""},
    {"NotWaitedForAtTheEnd", "if (stores) ricci_dev_stores_wait();", "", kNeverWaitedFor},
};

class PlantedInPairs : public Tiles {
 protected:
  // Of the program's tiles those that are computed: by one pair, so that places are filled again.
  static constexpr uint64_t kPairs = 6, kRows = 256, kTrips = kShortSums;

  PlantedInPairs() : Tiles(QueryPairingGpu) {
    driver_->cuStreamCreate(&stream_, 1);
    for (const uint64_t bytes : {kFactor, kFactor, kPairs * kRows * kRows * 4, uint64_t{4}}) {
      memory_.push_back(driver_.Allocate(bytes, stream_));
    }
    for (int i = 0; i < 2; ++i) driver_->cuMemsetD32Async(memory_[i], 0x3f803f80, kFactor / 4, stream_);
  }
  ~PlantedInPairs() override {
    OfStandin<void(uint64_t)>("ricci_standin_seed")(1);
    for (const cuda::CuPointer p : memory_) driver_->cuMemFreeAsync(p, stream_);
    driver_->cuStreamSynchronize(stream_);
    driver_->cuStreamDestroy(stream_);
    if (module_ != nullptr) driver_->cuModuleUnload(module_);
  }

  // The text of the functions that the kernel calls, and its own, with results of that type.
  std::pair<std::string, std::string> Texts(const std::string& result) {
    const Program f = Of(R"(program f(%x: T[48,R,K], %y: T[48,K,C]) {
  %z: f32[48,R,C] = dot_general(%x, %y) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] preferred_element_type=f32
  %r: S[48,R,C] = convert_element_type(%z) new_dtype=S
  return %r
})",
                         {kRows, kRows, kTrips}, "bf16", result);
    const std::string text = runner_.Dump(f, "native", "cuda");
    const std::string begin = "extern \"C\" __global__ __cluster_dims__", end = "\n}\n";
    const size_t kernel = text.find(begin);
    EXPECT_NE(kernel, text.npos) << text;
    std::string own = text.substr(kernel, text.find(end, kernel) + end.size() - kernel);
    Replace(own, "pair < 48", "pair < " + std::to_string(kPairs), "kernel");
    return {text.substr(0, text.find("extern \"C\" __global__")), own};
  }
  static void Replace(std::string& text, const std::string& from, const std::string& to, const char* name) {
    EXPECT_NE(text.find(from), text.npos) << name << ": " << from << "\n" << text;
    for (size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  }
  void Load(const std::string& text) {
    std::string error;
    module_ = driver_.Load("#ifndef __CUDA_ARCH__\n" + text + "#endif\n", error);
    ASSERT_NE(module_, nullptr) << error;
  }
  // Of lines of this many elements, so many of them for each tile; a box has 64 x `lines`.
  cuda::CuTensorMap Map(cuda::CuPointer memory, uint64_t line, uint64_t of_tile, unsigned lines) const {
    cuda::CuTensorMap map{};
    const uint64_t sizes[] = {line, of_tile, kPairs}, strides[] = {line * 2, line * of_tile * 2};
    const unsigned box[] = {64, lines, 1}, each[] = {1, 1, 1};
    void* const at = reinterpret_cast<void*>(static_cast<uintptr_t>(memory));
    EXPECT_EQ(driver_->cuTensorMapEncodeTiled(&map, cuda::kCuTensorU16, 3, at, sizes, strides, box, each,
                                              cuda::kCuTensorNoInterleave, cuda::kCuTensorSwizzle128,
                                              cuda::kCuTensorPromote256, cuda::kCuTensorFillZeros),
              0);
    return map;
  }
  // What is found while the kernel runs; results_ is what it leaves.
  std::string Run(const std::string& kernel, uint64_t seed) {
    constexpr int kMostShared = 8;
    constexpr unsigned kShared = 229440;
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    cuda::CuTensorMap rows = Map(memory_[0], kTrips, kRows, 128), columns = Map(memory_[1], kRows, kTrips, 64),
                      results = Map(memory_[2], kRows, kRows, 64);
    void* arguments[] = {&memory_[0], &memory_[1], &memory_[2], &memory_[3], &rows, &columns, &results};
    const cuda::CuFunction f = driver_.Find(module_, kernel);
    EXPECT_EQ(driver_->cuFuncSetAttribute(f, kMostShared, kShared), 0);
    driver_->cuMemsetD32Async(memory_[2], 0, results_.size() / 4, stream_);
    EXPECT_EQ(driver_->cuLaunchKernel(f, 2, 1, 1, 384, 1, 1, kShared, stream_, arguments, nullptr), 0);
    driver_->cuMemcpyDtoHAsync(results_.data(), memory_[2], results_.size(), stream_);
    driver_->cuStreamSynchronize(stream_);
    return BareDriver::Complaints();
  }
  // Nothing of the text as it is, whose results are all the same.
  template <typename Result>
  void ExpectReports(std::span<const PlantedInText> all, const std::string& type, Result result) {
    auto [text, kernel] = Texts(type);
    const size_t begin = kernel.find(" void ") + 6;
    const std::string name = kernel.substr(begin, kernel.find('(', begin) - begin);
    for (const PlantedInText& p : all) {
      std::string planted = kernel;
      Replace(planted, p.from, p.to, p.name);
      Replace(planted, name, p.name, p.name);
      text += planted;
    }
    Load(text + kernel);
    for (const uint64_t seed : {1, 2}) {
      EXPECT_EQ(Run(name, seed), "");
      std::vector<Result> results(kPairs * kRows * kRows);
      std::memcpy(results.data(), results_.data(), results.size() * sizeof(Result));
      EXPECT_EQ(std::count(results.begin(), results.end(), result), static_cast<std::ptrdiff_t>(results.size()));
      for (const PlantedInText& p : all) {
        const std::string found = Run(p.name, seed);
        EXPECT_NE(found, "") << p.name << ", seed " << seed;
        EXPECT_TRUE(seed != 1 || found.find(p.found) != found.npos) << p.name << ": " << found;
      }
    }
  }

  static constexpr uint64_t kFactor = kPairs * kRows * kTrips * 2;
  const BareDriver driver_;
  cuda::CuStream stream_ = nullptr;
  cuda::CuModule module_ = nullptr;
  std::vector<cuda::CuPointer> memory_;
  std::vector<char> results_ = std::vector<char>(kPairs * kRows * kRows * 4);
};

// Integers, which threads store.
TEST_F(PlantedInPairs, AreReported) { ExpectReports(kPlanted, "i32", int32_t{kTrips}); }

TEST_F(PlantedInPairs, AreReportedOfStores) {
  constexpr uint16_t kTripsAsBf16 = 0x4280;
  static_assert(kTrips == 64);
  ExpectReports(kPlantedInStores, "bf16", kTripsAsBf16);
}

}}  // namespace ricci::testing
