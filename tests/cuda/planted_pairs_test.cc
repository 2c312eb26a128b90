// Faults planted in the printed form for pairs of blocks (plugins/cuda/print/pairs_of_blocks_text.cc), each a word that
// is changed: the simulated GPU reports each, and nothing of the text as it is.
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

  // The text of the functions that the kernel calls, and its own.
  std::pair<std::string, std::string> Texts() {
    const Program f = Of(R"(program f(%x: T[48,R,K], %y: T[48,K,C]) {
  %z: S[48,R,C] = dot_general(%x, %y) lhs_contract=[2] rhs_contract=[1] lhs_batch=[0] rhs_batch=[0] preferred_element_type=S
  return %z
})",
                         {kRows, kRows, kTrips}, "bf16");
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
  // Of lines along the sum, or along the columns.
  cuda::CuTensorMap Map(size_t side) const {
    cuda::CuTensorMap map{};
    const uint64_t sizes[] = {side == 0 ? kTrips : kRows, side == 0 ? kRows : kTrips, kPairs},
                   strides[] = {sizes[0] * 2, kTrips * kRows * 2};
    const unsigned box[] = {64, side == 0 ? 128u : 64u, 1}, each[] = {1, 1, 1};
    void* const at = reinterpret_cast<void*>(static_cast<uintptr_t>(memory_[side]));
    EXPECT_EQ(driver_->cuTensorMapEncodeTiled(&map, cuda::kCuTensorU16, 3, at, sizes, strides, box, each,
                                              cuda::kCuTensorNoInterleave, cuda::kCuTensorSwizzle128,
                                              cuda::kCuTensorPromote256, cuda::kCuTensorFillZeros),
              0);
    return map;
  }
  // What is found while the kernel runs; sums_ is what it leaves.
  std::string Run(const std::string& kernel, uint64_t seed) {
    constexpr int kMostShared = 8;
    constexpr unsigned kShared = 229440;
    OfStandin<void(uint64_t)>("ricci_standin_seed")(seed);
    cuda::CuTensorMap rows = Map(0), columns = Map(1);
    void* arguments[] = {&memory_[0], &memory_[1], &memory_[2], &memory_[3], &rows, &columns};
    const cuda::CuFunction f = driver_.Find(module_, kernel);
    EXPECT_EQ(driver_->cuFuncSetAttribute(f, kMostShared, kShared), 0);
    driver_->cuMemsetD32Async(memory_[2], 0, sums_.size(), stream_);
    EXPECT_EQ(driver_->cuLaunchKernel(f, 2, 1, 1, 384, 1, 1, kShared, stream_, arguments, nullptr), 0);
    driver_->cuMemcpyDtoHAsync(sums_.data(), memory_[2], sums_.size() * sizeof(float), stream_);
    driver_->cuStreamSynchronize(stream_);
    return BareDriver::Complaints();
  }

  static constexpr uint64_t kFactor = kPairs * kRows * kTrips * 2;
  const BareDriver driver_;
  cuda::CuStream stream_ = nullptr;
  cuda::CuModule module_ = nullptr;
  std::vector<cuda::CuPointer> memory_;
  std::vector<float> sums_ = std::vector<float>(kPairs * kRows * kRows);
};

TEST_F(PlantedInPairs, AreReported) {
  auto [text, kernel] = Texts();
  const std::string name = "k0_dot_general_pairs";
  for (const PlantedInText& p : kPlanted) {
    std::string planted = kernel;
    Replace(planted, p.from, p.to, p.name);
    Replace(planted, name, p.name, p.name);
    text += planted;
  }
  Load(text + kernel);
  for (const uint64_t seed : {1, 2}) {
    EXPECT_EQ(Run(name, seed), "");
    EXPECT_EQ(std::count(sums_.begin(), sums_.end(), float{kTrips}), static_cast<std::ptrdiff_t>(sums_.size()));
    for (const PlantedInText& p : kPlanted) {
      const std::string found = Run(p.name, seed);
      EXPECT_NE(found, "") << p.name << ", seed " << seed;
      EXPECT_TRUE(seed != 1 || found.find(p.found) != found.npos) << p.name << ": " << found;
    }
  }
}

}}  // namespace ricci::testing
