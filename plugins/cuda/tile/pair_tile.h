// PairTile: the tile of a product on sm_90a where blocks work in pairs (clusters of two) and keep at it until all tiles
// are computed.
//
// Each block has 128 rows and 256 columns: 64 rows for each of two groups of four warps that multiply. The two blocks
// of a pair have the same columns, of which each block copies a half for both. So 256 rows and 256 columns are read
// from the cache for 256 x 256 sums: 128 operations for each byte of 16-bit factors, where two blocks with tiles of 128
// x 128 do 64. That much pays only where it keeps the GPU busy: what has fewer tiles, parts of sums or factors that
// threads copy keeps the other form.
//
// On paper, a tile of 128 x 128 does 64 operations for each byte from L2. One of 128 x 256 alone would do 85, a pair
// does 128. So 800 TFLOP/s need 6.3 TB/s from L2 instead of 12.5. A step of a group is 4 instructions of 64 x 256 x 16
// in a row.
//
// It is chosen where the GPU copies all factors of one product, which has 1,024 trips or more (the option
// cuda.pairs_from) and no parts. Three of
// four blocks must have work in all turns of 128 processors together: 48 to 64 tiles of 256 x 256, 96 to 128, 144 and
// more. At most an eighth of what is computed may be beyond the edges. Sums are in the order of the other form, so
// alignment does not change bits. `--explain` says why a product has no pairs.
#ifndef RICCI_CUDA_PAIR_TILE_H_
#define RICCI_CUDA_PAIR_TILE_H_
#include "cuda/tile/result_form.h"

namespace ricci::cuda {

struct PairTile {
  static constexpr int64_t kBlocks = 2, kGroups = 2, kStages = 4;
  static constexpr int64_t kRows = kRowsOfWarpgroup * kGroups, kColumns = 256;  // of a block
  static constexpr int64_t kThreads = 128 * (kGroups + 1);                      // one group copies

  Tile tile;          // of a block; `reason` says what it is, or of a product on tensor cores why there is none
  int64_t pairs = 0;  // of tiles; 0: the product has another form
  ResultForm result;  // then `points` of the tile are those of pieces

  bool IsUsed() const { return pairs != 0; }
};
// `by_warpgroups`: the tile that it is otherwise; of another kind has no pairs.
PairTile PairTileOf(const ricci_kernel_table& k, const IndexRanges& ranges, const Tile& by_warpgroups,
                    const TextTarget& target);

}  // namespace ricci::cuda
#endif
