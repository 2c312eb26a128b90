// Which tiles the table chooses (plugins/cuda/tile/tile_size.h).
#include "cuda/tile/tile_size.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ricci::cuda { namespace {

// `128 x 64 / 2`: the tile, and the parts that the sum is cut into; `none`.
std::string Of(const ProductShape& p) {
  const TileSize size = TileSizeOf(p);
  if (size.step == 0) return "none";
  return std::to_string(size.extents[0]) + " x " + std::to_string(size.extents[1]) + " / " + std::to_string(size.cuts);
}
ProductShape Shape(int64_t rows, int64_t columns, int64_t trips, int64_t batch = 1) {
  return {.rows = rows, .columns = columns, .batch = batch, .trips = trips};
}

TEST(TileSize, LargeTilesWhereThereAreManySmallOnesWhereThereAreFew) {
  EXPECT_EQ(Of(Shape(4096, 4096, 4096)), "128 x 128 / 1");
  EXPECT_EQ(Of(Shape(1024, 1024, 1024)), "128 x 64 / 1");
  EXPECT_EQ(Of(Shape(256, 256, 256)), "32 x 32 / 1");
  EXPECT_EQ(Of(Shape(128, 128, 96, 64)), "128 x 64 / 1");
  EXPECT_EQ(Of(Shape(33, 20000, 512)), "64 x 128 / 1");
}

TEST(TileSize, LongSumsAreCut) {
  EXPECT_EQ(Of(Shape(256, 256, 1 << 16)), "128 x 128 / 32");
  EXPECT_EQ(Of(Shape(4096, 4096, 1 << 16)), "128 x 128 / 1");
}

TEST(TileSize, SmallProductsHaveNone) {
  EXPECT_EQ(Of(Shape(6, 6, 6, 65536)), "none");
  EXPECT_EQ(Of(Shape(1, 4096, 4096)), "none");
  EXPECT_EQ(Of(Shape(4096, 2, 4096)), "none");
  EXPECT_EQ(Of(Shape(64, 64, 7)), "none");
  EXPECT_EQ(Of(Shape(8, 64, 64)), "none");
  EXPECT_EQ(Of(Shape(8, 4096, 4096)), "16 x 128 / 4");
}

// As the same number of tiles; 64 rows for a group of warps, two groups.
TEST(TileSize, OfGroupsOfWarps) {
  const auto of = [](int64_t rows, int64_t columns, int64_t trips) {
    return ByWarpgroups({.extents = {rows, columns}, .step = 32, .cuts = 4}, trips);
  };
  for (const int64_t columns : {16, 64, 128}) {
    for (const int64_t rows : {64, 128}) {
      const TileSize size = of(rows, columns, 100);
      EXPECT_EQ(size.extents[0] / size.parts[0], 64);
      EXPECT_EQ(size.parts[0] * size.parts[1], 2);
      EXPECT_EQ(size.cuts, 4);
      EXPECT_EQ(size.step, 64);
      EXPECT_GE(size.stages, 3);
      EXPECT_LE((rows + columns) * size.step * size.stages * 2, kWarpgroupSharedBytes);
    }
  }
  EXPECT_EQ(of(64, 64, 33).step, 64);
  EXPECT_EQ(of(64, 64, 32).step, 32);
  EXPECT_EQ(of(64, 64, 1).step, 16);
  EXPECT_EQ(of(32, 64, 100).step, 0);
  EXPECT_EQ(of(16, 128, 100).step, 0);
}

// What a tile holds fits into shared memory and registers, for all types.
TEST(TileSize, Fits) {
  for (const bool on_tensor_cores : {false, true}) {
    for (const int64_t bytes : on_tensor_cores ? std::vector<int64_t>{1, 2, 4} : std::vector<int64_t>{4, 8}) {
      for (const int64_t products : {1, 2}) {
        for (const auto& [rows, columns] :
             {std::pair(32, 32), {100, 100}, {1000, 1000}, {10000, 10000}, {64, 20000}, {20000, 64}}) {
          const ProductShape p{.rows = rows,
                               .columns = columns,
                               .batch = 1,
                               .trips = 512,
                               .products = products,
                               .bytes = bytes,
                               .on_tensor_cores = on_tensor_cores};
          const TileSize size = TileSizeOf(p);
          ASSERT_NE(size.step, 0);
          if (on_tensor_cores) {
            EXPECT_EQ(size.step * bytes, 64);
          }
          EXPECT_LE((size.extents[0] + size.extents[1]) * size.step * size.stages * bytes, kSharedBytes);
          const int64_t sum = std::max<int64_t>(bytes, 4);
          const int64_t pass = 16 * std::min<int64_t>(size.extents[0] / 16, 16 / sum);  // rows of results at once
          EXPECT_LE(pass * (size.extents[1] + 8) * sum * products, kSharedBytes) << rows << " x " << columns;
          EXPECT_LE(size.extents[0] * size.extents[1] / kTileThreads * products * std::max<int64_t>(bytes, 4), 256);
        }
      }
    }
  }
}

}}  // namespace ricci::cuda
