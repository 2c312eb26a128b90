// TileSize: how large the tiles of a product are, and how threads share one.
//
// From a table, by shape alone: so the text of a program does not depend on the GPU, nor do its bits. Large tiles reuse
// more of what they read, small ones keep more processors busy and waste less at the edges.
//
// The table is for 128 processors, whatever the GPU has. The products of an element are added in the order of the
// trips, whatever the tile. Tensor cores add 8 or 16 trips at once, in the order of the hardware. So sums depend
// neither on the GPU's size nor on addresses. Long sums of few tiles are cut into up to 32 parts, again by shape alone.
// Without tensor cores a thread has 4 to 64 sums in registers.
#ifndef RICCI_CUDA_TILE_SIZE_H_
#define RICCI_CUDA_TILE_SIZE_H_
#include <cstdint>

namespace ricci::cuda {

inline constexpr int64_t kTileThreads = 256;  // of a block

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// What multiplies: threads in their registers, warps on tensor cores (mma.sync, from sm_80 on), or groups of four warps
// on those that read shared memory themselves (wgmma, sm_90a only).
enum class TileKind : uint8_t { kRegisters, kWarps, kWarpgroups };

struct TileSize {
  int64_t extents[2] = {0, 0};  // rows and columns of a tile; 0: too few for tiles
  int64_t step = 0;             // trips of the sum that are in shared memory at once
  // Of few tiles, long sums are cut into so many parts, each of which has tiles of its own; a second launch adds them.
  int64_t cuts = 1;
  int64_t stages = 2;  // steps that are in shared memory: one is computed while others arrive
  // The warps, or groups of warps, of a block, in rows and columns. By registers rows and columns of a thread: 16 by 16
  // threads.
  int64_t parts[2] = {0, 0};
};

struct ProductShape {
  int64_t rows, columns, batch, trips;
  int64_t products = 1;  // sums of a point
  int64_t bytes = 4;     // of an element in shared memory
  bool on_tensor_cores = false;
};
TileSize TileSizeOf(const ProductShape& p);
// A tile for tensor cores, computed without them.
TileSize ByRegisters(const TileSize& tile);
// The same for groups of warps, with more of the sum at once; step 0: it has fewer rows than a group multiplies.
TileSize ByWarpgroups(const TileSize& tile, int64_t trips);

// Bytes of shared memory that every GPU gives a block without being asked.
inline constexpr int64_t kSharedBytes = 48 << 10;
// Of which two blocks find room in a processor of sm_90 (228 KB, 1 KB of each block reserved).
inline constexpr int64_t kWarpgroupSharedBytes = 112 << 10;
inline constexpr int64_t kRowsOfWarpgroup = 64;  // that one instruction multiplies

}  // namespace ricci::cuda
#endif
