#include "cuda/tile/tile_size.h"

#include <algorithm>
#include <limits>

namespace ricci::cuda {
namespace {

constexpr int64_t kLeastExtent = 4, kFullExtent = 16;  // rows and columns: for large products, and for all
constexpr double kManyProducts = 1 << 22;
constexpr int64_t kLeastTrips = 8;  // below which a sum is not worth its barriers
constexpr int64_t kLeastTensorTrips = 16;
constexpr int64_t kMostCuts = 32, kLeastTripsOfCut = 256;
constexpr double kCostOfLaunch = 5e5, kCostOfPart = 100;  // in products of a processor, without tensor cores
constexpr int64_t kWarps = kTileThreads / 32;
constexpr int64_t kProcessors = 128;  // of a large GPU
constexpr int64_t kStep = 16, kTensorStepBytes = 64, kTensorStages = 3;
constexpr int64_t kThreadsAlong = 16;  // the rows, and the columns, without tensor cores
constexpr int64_t kWarpgroups = kTileThreads / 128, kWarpgroupStep = 64, kMostWarpgroupStages = 4;
constexpr int64_t kBytesOfFactor = 2;  // on tensor cores

// `cost` of an element of a tile, relative to the largest one: each thread or warp reads shared memory for every row
// and column, and computes rows times columns.
struct Choice {
  int64_t rows, columns;
  double cost;
};
constexpr Choice kByRegisters[] = {{128, 128, 1}, {128, 64, 1.2}, {64, 128, 1.2}, {64, 64, 1.5},
                                   {32, 64, 2},   {32, 32, 3},    {16, 128, 2.6}, {128, 16, 2.6}};
constexpr Choice kByTensorCores[] = {{128, 128, 1}, {128, 64, 1.2}, {64, 128, 1.2}, {64, 64, 1.5},
                                     {32, 64, 2.2}, {16, 128, 2.6}, {128, 16, 2.6}};

int64_t BytesOf(const Choice& c, int64_t step, int64_t stages, int64_t bytes) {
  return (c.rows + c.columns) * step * stages * bytes;
}

// Sums that pass through shared memory at once at the end, from registers: for each of 16 rows of threads up to 16
// bytes (tile_sums.cc).
int64_t BytesOfResults(const Choice& c, const ProductShape& p) {
  const int64_t bytes = std::max<int64_t>(p.bytes, 4), rows = 16 * std::min<int64_t>(c.rows / 16, 16 / bytes);
  return rows * (c.columns + 8) * bytes * p.products;
}

// Sums of a thread that leave room for what else it holds in registers.
bool Fits(const Choice& c, const ProductShape& p, int64_t step) {
  constexpr int64_t kMostSums = 64 * 4;  // bytes of sums of a thread
  const int64_t sums = c.rows * c.columns / 256 * p.products * std::max<int64_t>(p.bytes, 4);
  return sums <= kMostSums && BytesOf(c, step, 2, p.bytes) <= kSharedBytes && BytesOfResults(c, p) <= kSharedBytes;
}

// Products of one processor: turns of all processors, times what a tile costs; and for parts what it takes to write and
// read them, and a launch.
double CostOf(const Choice& c, const ProductShape& p, int64_t cuts) {
  const double tiles = static_cast<double>(CeilDiv(p.rows, c.rows)) *
                       static_cast<double>(CeilDiv(p.columns, c.columns)) * static_cast<double>(p.batch * cuts);
  const double cost = std::max(tiles / kProcessors, 1.0) * static_cast<double>(c.rows * c.columns) * c.cost *
                      static_cast<double>(CeilDiv(p.trips, cuts));
  if (cuts == 1) return cost;
  const double speed = p.on_tensor_cores ? 8 : 1;
  const double parts =
      static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.batch * cuts);
  return cost + speed * (kCostOfLaunch + kCostOfPart * parts / kProcessors);
}

}  // namespace

// Tiles are mostly empty where there are few rows or columns, which pays only where much is read again otherwise.
static bool IsWorthTiles(const ProductShape& p) {
  const int64_t fewest = std::min(p.rows, p.columns);
  if (fewest < kLeastExtent || p.trips < (p.on_tensor_cores ? kLeastTensorTrips : kLeastTrips)) return false;
  const double products = static_cast<double>(p.rows) * static_cast<double>(p.columns) * static_cast<double>(p.trips);
  return fewest >= kFullExtent || products >= kManyProducts;
}

TileSize TileSizeOf(const ProductShape& p) {
  if (!IsWorthTiles(p)) return {};
  const int64_t step = p.on_tensor_cores ? kTensorStepBytes / p.bytes : p.trips <= kStep / 2 ? kStep / 2 : kStep;
  const Choice* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  int64_t best_cuts = 1;
  const auto consider = [&](const Choice& c) {
    if (!Fits(c, p, step)) return;
    for (int64_t cuts = 1; cuts == 1 || (cuts <= kMostCuts && p.trips / cuts >= kLeastTripsOfCut); cuts *= 2) {
      const double cost = CostOf(c, p, cuts);
      if (cost >= least) continue;
      best = &c;
      best_cuts = cuts;
      least = cost;
    }
  };
  if (p.on_tensor_cores) {
    for (const Choice& c : kByTensorCores) consider(c);
  } else {
    for (const Choice& c : kByRegisters) consider(c);
  }
  if (best == nullptr) return {};
  TileSize size{.extents = {best->rows, best->columns}, .step = step, .cuts = best_cuts};
  if (!p.on_tensor_cores) return ByRegisters(size);
  size.parts[0] = best->rows == 16 ? 1 : best->columns == 16 ? kWarps : 2;
  size.parts[1] = kWarps / size.parts[0];
  if (BytesOf(*best, step, kTensorStages, p.bytes) <= kSharedBytes) size.stages = kTensorStages;
  return size;
}

// A line of shared memory has 128 bytes, or 64 or 32 for a short sum. Tiles and parts stay as they are: so one launch
// is for all kinds.
TileSize ByWarpgroups(const TileSize& tile, int64_t trips) {
  if (tile.extents[0] < kRowsOfWarpgroup) return {};
  TileSize size = tile;
  size.step = kWarpgroupStep;
  while (size.step > kLeastTensorTrips && trips <= size.step / 2) size.step /= 2;
  size.parts[0] = size.extents[0] / kRowsOfWarpgroup;
  size.parts[1] = kWarpgroups / size.parts[0];
  const int64_t bytes = (size.extents[0] + size.extents[1]) * size.step * kBytesOfFactor;
  size.stages = std::min(kMostWarpgroupStages, kWarpgroupSharedBytes / bytes);
  return size;
}

TileSize ByRegisters(const TileSize& tile) {
  TileSize size{
      .extents = {tile.extents[0], tile.extents[1]}, .step = std::min<int64_t>(tile.step, kStep), .cuts = tile.cuts};
  for (int side = 0; side < 2; ++side) size.parts[side] = size.extents[side] / kThreadsAlong;
  return size;
}

}  // namespace ricci::cuda
