// Which operands of a tile that groups of warps multiply the GPU copies by itself (tensor_form.h).
#ifndef RICCI_CUDA_TILE_FORMS_H_
#define RICCI_CUDA_TILE_FORMS_H_
#include "cuda/tile/product_tile.h"

namespace ricci::cuda {

// The dimensions that the tile has along this side, and those of the batch.
TensorSides SidesOf(const ricci_kernel_table& k, const Tile& tile, Side side);

// Sets their forms, and has_forms if all have one, else why not: where one has none, the others are not used.
void FindTensorForms(const ricci_kernel_table& k, Tile& tile);

}  // namespace ricci::cuda
#endif
