// ResultForm: whether the GPU stores the results of a product by pairs of blocks (pair_tile.h) itself, by a tensor map,
// while their groups of warps compute the next tile.
//
// What a point does with its sum is then computed where the sum is: in the registers of a lane, for two neighbours of a
// row. Each group of warps rounds a piece of 64 rows and lines of 128 bytes, leaves it in shared memory in the swizzle
// of the map, which is free of conflicts of banks, and one of its threads asks for the store. A group has two pieces,
// so one is stored while the other is written. Where threads store, 4 bytes of each sum pass through shared memory,
// both ways. In machine code for sm_90a a warp runs about 350 instructions for a tile after its last product, where it
// ran 1,470 (bf16, with a bias); for f32 400, where it ran 1,070.
//
// That is so for one result of bf16, f16 or f32 which a map can describe (tensor_form.h), as it describes factors.
// Threads store as before what is computed from arrays of rows and columns, such as a residual, which would come 4
// bytes for a lane. So they do where points compute much, since that is in the code once for each of the 128 sums of a
// thread: `tanh` would make it 7,200 instructions. Also what has several results, or updates its memory. `--explain`
// says why.
#ifndef RICCI_CUDA_RESULT_FORM_H_
#define RICCI_CUDA_RESULT_FORM_H_
#include <string>

#include "cuda/tile/product_tile.h"

namespace ricci::cuda {

struct ResultForm {
  static constexpr int64_t kRows = kRowsOfWarpgroup, kLineBytes = 128;  // of a piece
  static constexpr int64_t kPieces = 2;                                 // of a group
  static constexpr int64_t kPieceBytes = kRows * kLineBytes;

  uint32_t dtype = 0;  // of the result; 0: threads store
  uint32_t value = 0;  // what is kept: the result, or the f32 that it is rounded from
  bool is_rounded = false;
  VectorAccess points;  // that compute it
  TensorForm form;
  std::string why_not;  // threads store, of a product that pairs of blocks compute

  bool IsUsed() const { return dtype != 0; }
  int64_t columns() const { return kLineBytes / int64_t{ricci_dtype_size(dtype)}; }  // of a piece
};
// Of the points of `tile`.
ResultForm ResultFormOf(const ricci_kernel_table& k, const IndexRanges& ranges, const Tile& tile);

}  // namespace ricci::cuda
#endif
