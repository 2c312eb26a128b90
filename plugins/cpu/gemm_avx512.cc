// GemmTile for avx512; CMakeLists.txt has this file's instruction set.
#include "gemm_kernel.h"

namespace ricci::cpu {

void GemmTileAvx512(const GemmTile& tile, const GemmScratch& scratch) { GemmKernel<64>::Run(tile, scratch); }

}  // namespace ricci::cpu
